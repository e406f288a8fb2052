"""Dagster's instance for a process that is not Dagster's own.

Here: making and opening it. Not here: what is run in it (`run`).
"""

import os
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from pathlib import Path

import dagster as dg
from filelock import FileLock

from pipelines.storage.errors import StoreConfigurationError

INSTANCE_CONFIG = "telemetry:\n  enabled: false\nnux:\n  enabled: false\n"


@contextmanager
def instance_in(home: Path) -> Iterator[dg.DagsterInstance]:
    """Dagster's instance in `home`, created on first use, without telemetry.

    Raises:
        StoreConfigurationError: the folder cannot be made or written.
    """
    config = home / "dagster.yaml"
    try:
        home.mkdir(parents=True, exist_ok=True)
        # Of several processes that make Dagster's SQLite storage at once most fail. A folder that cannot be written
        # holds the configuration of a storage elsewhere.
        with FileLock(home / ".opening.lock") if os.access(home, os.W_OK) else nullcontext():
            if not config.exists():
                config.write_text(INSTANCE_CONFIG, encoding="utf-8")
            instance = dg.DagsterInstance.from_config(str(home))
    except OSError as error:
        reason = error.strerror or type(error).__name__
        raise StoreConfigurationError(f"{home}: cannot hold Dagster's storage: {reason}; set DAGSTER_HOME") from None
    with instance as opened:
        yield opened
