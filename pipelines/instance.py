"""Dagster's instance for a process that is not Dagster's own.

Here: making and opening it. Not here: what is run in it (`run`).
"""

import os
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from pathlib import Path

import dagster as dg
from filelock import FileLock
from sqlalchemy import event
from sqlalchemy.engine import Engine

from pipelines.storage import whole_files
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
                # Half of it would not say that nothing is sent anywhere.
                whole_files.replace(config, INSTANCE_CONFIG.encode())
            instance = dg.DagsterInstance.from_config(str(home))
    except OSError as error:
        reason = error.strerror or type(error).__name__
        raise StoreConfigurationError(f"{home}: cannot hold Dagster's storage: {reason}; set DAGSTER_HOME") from None
    event.listen(Engine, "connect", _without_a_sync_per_event)
    try:
        with instance as opened:
            yield opened
    finally:
        event.remove(Engine, "connect", _without_a_sync_per_event)


def _without_a_sync_per_event(connection: object, _: object) -> None:
    """Dagster commits every event by itself, and SQLite would wait for the disk each time: most of a small run.

    What is lost when the power fails are the last events of the log; the tables say what is stored.
    """
    if isinstance(connection, sqlite3.Connection):
        connection.execute("PRAGMA synchronous = NORMAL")
