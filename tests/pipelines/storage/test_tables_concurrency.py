"""Several processes write one table on a local disk: nothing is lost, nothing is doubled."""

from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

import pytest

from tests.pipelines.storage.storage_races import (
    Place,
    different_days,
    same_day,
    upkeep_beside_itself,
    upkeep_beside_writers,
)


def test_eight_processes_fill_a_table_that_did_not_exist(processes: ProcessPoolExecutor, tmp_path: Path) -> None:
    different_days(processes, Place(str(tmp_path), {}))


@pytest.mark.parametrize("writers", [2, 4])
def test_several_processes_overwrite_the_same_day(processes: ProcessPoolExecutor, tmp_path: Path, writers: int) -> None:
    same_day(processes, Place(str(tmp_path), {}), writers)


def test_upkeep_beside_writers(processes: ProcessPoolExecutor, tmp_path: Path) -> None:
    upkeep_beside_writers(processes, Place(str(tmp_path), {}))


def test_upkeep_beside_itself(processes: ProcessPoolExecutor, tmp_path: Path) -> None:
    upkeep_beside_itself(processes, Place(str(tmp_path), {}))
