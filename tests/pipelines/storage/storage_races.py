"""Races between writers, run in worker processes by the tests on local disk and on S3."""

import datetime as dt
import time
from collections.abc import Mapping, Sequence
from concurrent.futures import Executor
from typing import NamedTuple

import polars as pl

from pipelines.storage.options import store_options
from pipelines.storage.tables import Tables
from tests.pipelines.storage.storage_contracts import DAY, Attempts, day, rows

WRITERS = 8
ROUNDS = 3


class Place(NamedTuple):
    """Where the tables are, and the `AWS_*` variables that open it."""

    url: str
    variables: Mapping[str, str]


class Writer(NamedTuple):
    """One process: its name and the day that it overwrites."""

    name: str
    when: dt.date

    def rows(self, turn: int) -> pl.DataFrame:
        """Fifty rows that show who wrote them, and in which turn."""
        ids = [f"{self.name}-{number}" for number in range(50)]
        return rows(Attempts, day(self.when), ids, decisions=turn)


def opened(place: Place) -> Tables:
    """The tables at `place`."""
    return Tables(place.url, store_options(place.url, place.variables))


def overwrite(place: Place, writer: Writer, start: float) -> list[int]:
    """Overwrite the writer's day `ROUNDS` times from the moment `start` on; the versions committed."""
    store = opened(place)
    while time.time() < start:
        pass
    return [store.replace(Attempts, writer.rows(turn), [day(writer.when)]).version for turn in range(ROUNDS)]


def race(processes: Executor, place: Place, writers: Sequence[Writer]) -> list[int]:
    """All writers at once; the versions that they committed."""
    list(processes.map(opened, [place] * WRITERS))  # every process is up and has its imports
    start = time.time() + 0.2
    running = [processes.submit(overwrite, place, writer, start) for writer in writers]
    return sorted(version for future in running for version in future.result())


def different_days(processes: Executor, place: Place) -> None:
    """Eight writers, a day each, of a table that does not exist: every last round is there, once."""
    writers = [Writer(f"w{shift}", DAY + dt.timedelta(days=shift)) for shift in range(WRITERS)]

    versions = race(processes, place, writers)

    found = opened(place).scan(Attempts).collect()
    assert found.equals(pl.concat(writer.rows(ROUNDS - 1) for writer in writers))
    assert versions == list(range(1, WRITERS * ROUNDS + 1))


def same_day(processes: Executor, place: Place, count: int) -> None:
    """Several writers of one day, empty at first: at every moment it holds the rows of exactly one of them."""
    writers = [Writer(f"w{number}", DAY) for number in range(count)]
    store = opened(place)
    store.ensure([Attempts])

    versions = race(processes, place, writers)

    assert versions == list(range(1, count * ROUNDS + 1))
    written = [writer.rows(turn) for writer in writers for turn in range(ROUNDS)]
    for version in versions:
        assert any(store.scan(Attempts, version=version).collect().equals(frame) for frame in written)
    assert any(store.scan(Attempts).collect().equals(writer.rows(ROUNDS - 1)) for writer in writers)
