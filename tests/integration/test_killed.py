"""A run killed at a random moment: every table stands at a whole commit, and the next run heals everything."""

import json
import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import polars as pl
import pytest

from assets.tables import LAYERS
from pipelines.build import table_store
from pipelines.settings import Settings
from tests.integration.hostile import full, text
from tests.integration.warehouses import differing, everything, ran, rows, settings, write

DAYS = ("2026-11-27", "2026-11-28")
MOMENTS = 10
RUN = """
import sys
from pathlib import Path
from tests.integration.warehouses import ran, settings
ran(settings(Path(sys.argv[1]), batch_bytes=20_000))
"""


def store() -> dict[str, bytes]:
    good = {f"worldseq/{day}/{n}.json": text(full(f"{day}-{n}")) for day in DAYS for n in range(60)}
    return good | {f"worldseq/{DAYS[0]}/broken.json": b"{"}


def start(folder: Path) -> subprocess.Popen[bytes]:
    root = str(Path(__file__).parents[2])
    return subprocess.Popen(
        [sys.executable, "-W", "ignore", "-c", RUN, str(folder)],
        cwd=root,
        env={"PYTHONPATH": root, "HOME": str(folder), "PATH": os.environ["PATH"]},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )


def whole(where: Settings) -> list[str]:
    """Tables of which a reader sees part of a day only; a batch of `raw_artifacts` is whole by itself."""
    tables = table_store(where)
    found = []
    for contract in (*LAYERS["attempts"], *LAYERS["results"]):
        if not tables.exists(contract):
            continue
        name = str(contract.to_schema().name)
        frame = rows(where, name)
        if "attempt_id" not in frame.columns or frame.is_empty():
            continue
        counts = frame.group_by("landed_on").agg(pl.col("attempt_id").n_unique())["attempt_id"].to_list()
        if any(count != 60 for count in counts):
            found.append(f"{name}: {counts}")
    return found


@pytest.mark.slow
def test_killed_at_ten_random_moments_and_run_again(tmp_path: Path) -> None:
    undisturbed = tmp_path / "undisturbed"
    write(undisturbed, store())
    started = time.monotonic()
    assert start(undisturbed).wait() == 0
    length = time.monotonic() - started
    expected = everything(settings(undisturbed))

    folder = tmp_path / "killed"
    write(folder, store())
    where = settings(folder, batch_bytes=20_000)
    rng = random.Random(7)
    for moment in range(MOMENTS):
        process = start(folder)
        # From early to late, each at random within its tenth of an undisturbed run.
        time.sleep(length * (moment + rng.random()) / MOMENTS)
        process.send_signal(signal.SIGKILL)
        process.wait()
        assert whole(where) == [], json.dumps({"moment": moment})
    ran(where)
    assert differing(expected, everything(where)) == []
