"""What a day is decoded from: any change of it is another fingerprint, and the days beside it are none of its."""

import datetime as dt
from pathlib import Path

import pytest

from assets.attempts.inputs import NOTHING, fingerprints
from assets.landing.contract import RawArtifacts
from assets.sources.documents import Limits
from pipelines.storage.tables import Tables
from tests.pipelines.cli.warehouse import DAY_1, DAY_2, NOON, arrival, store

LATER = NOON + dt.timedelta(minutes=1)
EMPTY_DAY = DAY_2 + dt.timedelta(days=1)
DAYS = [DAY_1, DAY_2, EMPTY_DAY]
PACK = {"uri": "/p.json", "content": b"4", "landed_on": DAY_2, "source": "agentforge-packs"}


@pytest.fixture
def tables(tmp_path: Path) -> Tables:
    made = Tables(str(tmp_path))
    store(
        made,
        RawArtifacts,
        arrival("/b.json", b"1", batch="b1"),
        arrival("/a.json", b"2", batch="b2"),
        arrival("/c.json", b"3", batch="b3", landed_on=DAY_2, source="agentforge"),
        arrival("/p.json", b"4", batch="b4", landed_on=DAY_2, source="agentforge-packs"),
    )
    return made


def test_a_day_has_the_same_one_whichever_are_asked_for_together(
    tables: Tables, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = fingerprints(tables, DAYS, Limits())
    assert found[EMPTY_DAY] == NOTHING
    assert len(set(found.values())) == 3
    assert {day: fingerprints(tables, [day], Limits())[day] for day in DAYS} == found
    monkeypatch.setattr("assets.attempts.inputs.DAYS_AT_ONCE", 2)
    assert fingerprints(tables, DAYS[::-1], Limits()) == found


@pytest.mark.parametrize(
    ("change", "days"),
    [
        ({"uri": "/a.json", "content": b"2", "etag": "2", "last_modified": LATER}, [DAY_1]),
        ({"uri": "/a.json", "content": b"22", "etag": "2", "sha256": "22"}, [DAY_1]),
        ({"uri": "/new.json", "content": b"2"}, [DAY_1]),
        (
            {"uri": "/p.json", "content": b"44", "sha256": "44", "landed_on": DAY_1, "source": "agentforge-packs"},
            [DAY_1, DAY_2],
        ),
        (PACK, []),
    ],
)
def test_what_changes_it(tables: Tables, change: dict[str, object], days: list[dt.date]) -> None:
    before = fingerprints(tables, DAYS, Limits())
    store(tables, RawArtifacts, arrival(**{"batch": "new", "ingested_at": LATER, **change}))  # type: ignore[arg-type]  # columns by name
    after = fingerprints(tables, DAYS, Limits())
    assert [day for day in DAYS if before[day] != after[day]] == days


def test_the_limits_belong_to_it_but_not_to_a_day_of_nothing(tables: Tables) -> None:
    before, after = (fingerprints(tables, DAYS, Limits(max_depth=depth)) for depth in (64, 63))
    assert [day for day in DAYS if before[day] != after[day]] == [DAY_1, DAY_2]
