"""Fixtures of the storage tests."""

from collections.abc import Iterator

import polars as pl
import pytest

from pipelines.storage import partition_files

PIECE = 10  # rows


@pytest.fixture
def in_pieces(monkeypatch: pytest.MonkeyPatch) -> None:
    """A write of a LazyFrame leaves a file for every few rows."""

    def pieces(frame: pl.LazyFrame) -> Iterator[pl.DataFrame]:
        yield from frame.collect().iter_slices(PIECE)

    monkeypatch.setattr(partition_files, "_batches", pieces)
    monkeypatch.setattr(partition_files, "HELD_BYTES", 1)
