"""The spool keeps parts in order."""

from pathlib import Path

import polars as pl
import pytest

from pipelines.storage.errors import StoreUnavailableError
from pipelines.storage.spool import Spool

SCHEMA = {"a": pl.Int64()}


def test_parts_are_read_in_their_order_whatever_the_order_of_writing(tmp_path: Path) -> None:
    spool = Spool(tmp_path)
    for part in ("000000001-x", "000000000-x", "000000000-w"):
        spool.write("attempts", part, pl.DataFrame({"a": [int(part[:9]) * 10 + (part[-1] == "x")]}))
    spool.write("attempts_more", "000000000-x", pl.DataFrame({"a": [99]}))
    assert spool.scan("attempts", SCHEMA).collect()["a"].to_list() == [0, 1, 11]


def test_a_name_without_rows_is_an_empty_frame(tmp_path: Path) -> None:
    spool = Spool(tmp_path)
    spool.write("attempts", "000000000-x", pl.DataFrame(schema=SCHEMA))
    found = spool.scan("attempts", SCHEMA).collect()
    assert found.schema == SCHEMA
    assert found.is_empty()


def test_a_full_disk_is_told_with_the_way_out(tmp_path: Path) -> None:
    (tmp_path / "attempts.0.arrow").symlink_to("/dev/full")
    with pytest.raises(StoreUnavailableError, match=r"No space left on device.*set TMPDIR"):
        Spool(tmp_path).write("attempts", "0", pl.DataFrame({"a": [1]}))
