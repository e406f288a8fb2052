"""The landing pass against a store that misbehaves: what is committed stays, and a failed listing changes nothing."""

import datetime as dt
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from assets.landing.contract import RawArtifacts
from assets.landing.land import Intake, days_in_store, land
from assets.landing.layout import pattern
from pipelines.storage.artifact_store import ArtifactStore, Fetched, ObjectInfo
from pipelines.storage.errors import StoreUnavailableError
from pipelines.storage.tables import Tables

DAY = dt.date(2026, 11, 29)
NOW = dt.datetime(2026, 11, 30, 12, tzinfo=dt.UTC)
INTAKE = Intake([pattern("worldseq")], dt.date(2020, 1, 1), batch_bytes=100, clock=lambda: NOW)


class Misbehaving(ArtifactStore):
    """A local store that fails to list, or to fetch what comes after a key."""

    def list_objects(self, prefix: str = "") -> list[ObjectInfo]:
        if (Path(self.url) / "fail-listing").exists():
            raise StoreUnavailableError("the listing failed")
        return super().list_objects(prefix)

    def fetch(self, objects: Sequence[ObjectInfo], limit_bytes: int | None = None) -> list[Fetched]:
        if any(info.key.endswith("9.json") for info in objects) and (Path(self.url) / "fail-fetch").exists():
            raise StoreUnavailableError("the fetch failed")
        return super().fetch(objects, limit_bytes)


@pytest.fixture
def tables(tmp_path: Path) -> Tables:
    made = Tables(str(tmp_path / "tables"))
    made.ensure([RawArtifacts])
    return made


@pytest.fixture
def store(tmp_path: Path) -> Misbehaving:
    folder = tmp_path / "artifacts" / "worldseq" / DAY.isoformat()
    folder.mkdir(parents=True)
    for number in range(10):
        (folder / f"{number}.json").write_bytes(b"x" * 50)
    return Misbehaving(str(tmp_path / "artifacts"))


def landed(tables: Tables) -> pl.DataFrame:
    return tables.scan(RawArtifacts).collect().sort("uri")


def test_a_failed_listing_is_not_an_empty_one(store: Misbehaving, tables: Tables) -> None:
    land(store, tables, INTAKE.of([DAY]), {})
    before = landed(tables)
    (Path(store.url) / "fail-listing").touch()
    with pytest.raises(StoreUnavailableError):
        land(store, tables, INTAKE.of([DAY]), {})
    assert landed(tables).equals(before)


def test_what_was_committed_before_a_failure_stays_and_is_not_fetched_again(store: Misbehaving, tables: Tables) -> None:
    (Path(store.url) / "fail-fetch").touch()
    with pytest.raises(StoreUnavailableError):
        land(store, tables, INTAKE.of([DAY]), {})
    kept = landed(tables)
    assert 0 < kept.height < 10
    (Path(store.url) / "fail-fetch").unlink()
    assert land(store, tables, INTAKE.of([DAY]), {}).fetched == 10 - kept.height
    assert landed(tables).height == 10


def test_progress_is_told_to_the_end(store: Misbehaving, tables: Tables) -> None:
    told: list[Any] = []
    land(store, tables, INTAKE.of([DAY]), {}, lambda *step: told.append(step))
    assert told[-1] == ("landing", 10, 10)
    assert [done for _, done, _ in told] == sorted(done for _, done, _ in told)


def test_an_object_above_the_limit_is_not_fetched(store: Misbehaving, tables: Tables) -> None:
    small = Intake(INTAKE.patterns, INTAKE.first_day, max_object_bytes=49, clock=lambda: NOW)
    assert land(store, tables, small.of([DAY]), {})[:5] == (10, 0, 0, 0, 10)
    rows = landed(tables)
    assert set(rows["fetch_reason"]) == {"too_large"}
    assert rows["content"].null_count() == 10
    assert rows["fetch_detail"][0] == "50 bytes; at most 49 are read"


def test_the_lag_is_from_the_newest_object_to_the_pass(store: Misbehaving, tables: Tables) -> None:
    newest = NOW - dt.timedelta(minutes=2)
    for age, file in enumerate(sorted((Path(store.url) / "worldseq" / DAY.isoformat()).iterdir())):
        at = (newest - dt.timedelta(hours=age)).timestamp()
        os.utime(file, (at, at))
    for _ in range(2):  # also where nothing was fetched
        made = land(store, tables, INTAKE.of([DAY]), {})
        assert (made.newest_modified, made.lag_seconds) == (newest, 120)
    nothing = land(store, tables, INTAKE.of([dt.date(2026, 11, 28)]), {})
    assert (nothing.newest_modified, nothing.lag_seconds) == (None, None)


def test_only_the_days_of_the_pass_are_landed(store: Misbehaving, tables: Tables) -> None:
    assert land(store, tables, INTAKE.of([dt.date(2026, 11, 28)]), {}).listed == 0
    assert days_in_store(store, INTAKE.of([])) == [DAY]


def test_a_clock_that_is_behind_lands_what_is_current(store: Misbehaving, tables: Tables) -> None:
    land(store, tables, INTAKE.of([DAY]), {})
    behind = INTAKE.of([DAY])._replace(now=NOW - dt.timedelta(hours=1))
    folder = Path(store.url) / "worldseq" / DAY.isoformat()
    (folder / "0.json").write_bytes(b"corrected")
    (folder / "1.json").unlink()
    assert land(store, tables, behind, {})[:4] == (9, 1, 8, 1)
    assert land(store, tables, behind, {})[:4] == (9, 0, 9, 0)
    assert land(store, tables, INTAKE.of([DAY]), {})[:4] == (9, 0, 9, 0)
