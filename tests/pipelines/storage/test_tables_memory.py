"""A LazyFrame is written in bounded memory: four times the rows need hardly more of it."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

PROGRAM = """
import datetime as dt, resource, sys
import numpy as np
import polars as pl
from assets.contract import column
from pipelines.storage import partition_files
from pipelines.storage.tables import Tables
from tests.pipelines.storage.storage_contracts import DAY, Attempts, day, rows

class Documents(Attempts):
    '''One row per document.'''
    content: bytes = column("The bytes")
    class Config(Attempts.Config):
        name = "documents"

class Copies(Documents):
    '''One row per document.'''
    class Config(Documents.Config):
        name = "copies"

partition_files.BATCH_BYTES = partition_files.ROW_GROUP_BYTES = 2**20
partition_files.HELD_BYTES = 4 * 2**20
store, days = Tables(sys.argv[1]), int(sys.argv[2])
keys = [day(DAY + dt.timedelta(days=shift)) for shift in range(days)]
rng = np.random.default_rng(0)
for key in keys:
    frame = rows(Documents, key, [f"a{n}" for n in range(600)], content=b"")
    store.replace(Documents, frame.with_columns(content=pl.Series([rng.bytes(10_000) for _ in range(600)])), [key])
commit = store.replace(Copies, store.scan(Documents, keys), keys)
assert commit.rows == 600 * days and commit.bytes > 5_000_000 * days
print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)
"""


def peak(folder: Path, days: int) -> int:
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path), "POLARS_MAX_THREADS": "2"}
    command = [sys.executable, "-c", PROGRAM, str(folder), str(days)]
    done = subprocess.run(command, check=True, env=environment, stdout=subprocess.PIPE)
    return int(done.stdout)


@pytest.mark.slow
def test_four_times_the_documents_need_hardly_more_memory(tmp_path: Path) -> None:
    assert peak(tmp_path / "many", 24) < 1.3 * peak(tmp_path / "few", 6)
