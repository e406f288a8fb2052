"""Races between writers, run in worker processes by the tests on local disk and on S3."""

import datetime as dt
import time
from collections.abc import Mapping
from concurrent.futures import Executor

import polars as pl

from pipelines.storage.options import store_options
from pipelines.storage.tables import Tables
from tests.pipelines.storage.storage_contracts import DAY, Attempts, day, rows

WRITERS = 8
ROUNDS = 3


def opened(url: str, variables: Mapping[str, str]) -> Tables:
    """The tables at `url`."""
    return Tables(url, store_options(url, variables))


def overwrite(
    url: str, variables: Mapping[str, str], start: float, when: dt.date, writer: str, rounds: int
) -> list[int]:
    """Overwrite one day `rounds` times from the moment `start` on; each time with rows that name writer and round."""
    store = opened(url, variables)
    while time.time() < start:
        pass
    return [store.replace(Attempts, rows_of(writer, when, turn), [day(when)]).version for turn in range(rounds)]


def rows_of(writer: str, when: dt.date, turn: int) -> pl.DataFrame:
    """Fifty rows that show who wrote them, and in which turn."""
    return rows(Attempts, day(when), [f"{writer}-{number}" for number in range(50)], decisions=turn)


def different_days(processes: Executor, url: str, variables: Mapping[str, str]) -> None:
    """Eight writers, a day each, of a table that does not exist: every last round is there, once."""
    days = [DAY + dt.timedelta(days=shift) for shift in range(WRITERS)]
    versions = race(processes, url, variables, [(f"w{shift}", when) for shift, when in enumerate(days)])

    found = opened(url, variables).scan(Attempts).collect()
    expected = pl.concat(rows_of(f"w{shift}", when, ROUNDS - 1) for shift, when in enumerate(days))
    assert found.equals(expected)
    assert sorted(versions) == list(range(1, WRITERS * ROUNDS + 1))


def same_day(processes: Executor, url: str, variables: Mapping[str, str], writers: int) -> None:
    """Several writers of one day, which is empty at first: the rows of exactly one of them are there in the end."""
    opened(url, variables).ensure([Attempts])
    versions = race(processes, url, variables, [(f"w{number}", DAY) for number in range(writers)])

    found = opened(url, variables).scan(Attempts).collect()
    assert any(found.equals(rows_of(f"w{number}", DAY, ROUNDS - 1)) for number in range(writers))
    assert sorted(versions) == list(range(1, writers * ROUNDS + 1))
    for version in versions:  # and so it was at every moment
        assert opened(url, variables).scan(Attempts, version=version).collect()["decisions"].n_unique() == 1
        assert opened(url, variables).scan(Attempts, version=version).collect().height == len(found)


def race(processes: Executor, url: str, variables: Mapping[str, str], writers: list[tuple[str, dt.date]]) -> list[int]:
    """All writers at once; the versions that they committed."""
    list(processes.map(opened, [url] * WRITERS, [variables] * WRITERS))  # every process is up and has its imports
    start = time.time() + 0.2
    running = [processes.submit(overwrite, url, variables, start, when, writer, ROUNDS) for writer, when in writers]
    return [version for future in running for version in future.result()]
