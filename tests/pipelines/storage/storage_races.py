"""Races between writers, run in worker processes by the tests on local disk and on S3."""

import datetime as dt
import time
from collections.abc import Mapping, Sequence
from concurrent.futures import Executor
from typing import NamedTuple

import polars as pl

from pipelines.storage.artifact_store import ArtifactStore
from pipelines.storage.log_files import LogFiles
from pipelines.storage.options import store_options
from pipelines.storage.tables import Tables
from pipelines.storage.upkeep import maintain
from tests.pipelines.storage.aged import age
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


def keep(place: Place, retention: dt.timedelta, start: float) -> None:
    """Maintain the table `ROUNDS` times from the moment `start` on."""
    store = opened(place)
    while time.time() < start:
        pass
    for _ in range(ROUNDS):
        maintain(store, Attempts, retention)


def upkeep_beside_writers(processes: Executor, place: Place) -> None:
    """Four writers, a day each, and three that maintain the table: nothing is lost, and every version can be read."""
    writers = [Writer(f"w{shift}", DAY + dt.timedelta(days=shift)) for shift in range(4)]
    store = opened(place)
    store.ensure([Attempts])
    list(processes.map(opened, [place] * WRITERS))
    start = time.time() + 0.2
    running = [processes.submit(overwrite, place, writer, start) for writer in writers]
    kept = [processes.submit(keep, place, dt.timedelta(days=7), start) for _ in range(3)]
    written = [version for future in running for version in future.result()]
    for future in kept:
        future.result()

    expected = pl.concat(writer.rows(ROUNDS - 1) for writer in writers)
    assert len(set(written)) == 4 * ROUNDS
    assert store.scan(Attempts).collect().equals(expected)
    assert store.provenance(Attempts).keys() == {(str(writer.when),) for writer in writers}
    for version in written:
        assert store.scan(Attempts, version=version).collect().height % 50 == 0


def upkeep_beside_itself(processes: Executor, place: Place) -> None:
    """Four processes that maintain a table of which nearly everything is too old to be kept."""
    store = opened(place)
    for turn in range(25):
        store.replace(Attempts, Writer("w", DAY).rows(turn), [day()], {"run_id": str(turn)})
        if turn % 5 == 4:
            age(store, Attempts, 40)
    expected = store.scan(Attempts).collect()
    list(processes.map(opened, [place] * WRITERS))
    start = time.time() + 0.2
    for future in [processes.submit(keep, place, dt.timedelta(days=7), start) for _ in range(4)]:
        future.result()

    assert store.scan(Attempts).collect().equals(expected)
    assert store.provenance(Attempts)[str(DAY),].run_id == "24"
    left = [info.key for info in ArtifactStore(store.uri(Attempts), store.options).list_objects()]
    assert sum(not key.startswith("_delta_log/") for key in left) == 1
    assert LogFiles.of(store, Attempts).oldest == 19  # the newest checkpoint that is old enough
