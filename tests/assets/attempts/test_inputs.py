"""What a day is decoded from: any change of it is another fingerprint, and the days beside it are none of its."""

import datetime as dt
from pathlib import Path
from typing import Any

import pytest

from assets.attempts.contract import PARTS
from assets.attempts.inputs import NOTHING, Together, current, fingerprints
from assets.campaigns.contract import CampaignRegistrations
from assets.landing.contract import Quarantine, RawArtifacts
from assets.sources.documents import Limits
from pipelines.storage.tables import Tables
from tests.pipelines.cli.warehouse import DAY_1, DAY_2, NOON, arrival, store

LATER = NOON + dt.timedelta(minutes=1)
EMPTY_DAY = DAY_2 + dt.timedelta(days=1)
DAYS = [DAY_1, DAY_2, EMPTY_DAY]
PACK = {"uri": "/p.json", "content": b"4", "landed_on": DAY_2, "source": "agentforge-packs"}
REGISTRATION = {"source": "campaigns", "landed_on": DAY_2}
REGISTRATIONS, REFUSED = (CampaignRegistrations,), (Quarantine,)
VANISHED = {"content": None, "vanished": True}


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


def land(tables: Tables, **change: Any) -> None:
    store(tables, RawArtifacts, arrival(**{"batch": "new", "ingested_at": LATER, "content": b"5", **change}))


def others(tables: Tables, before: dict[Together, dict[dt.date, str]]) -> dict[Together, list[dt.date]]:
    """The days that are decoded from something else than before, by tables."""
    after = fingerprints(tables, DAYS, Limits())
    changed = {together: [day for day in DAYS if before[together][day] != after[together][day]] for together in after}
    return {together: days for together, days in changed.items() if days}


def test_a_day_has_the_same_one_whichever_are_asked_for_together(
    tables: Tables, monkeypatch: pytest.MonkeyPatch
) -> None:
    land(tables, uri="/r.json", **REGISTRATION)
    found = fingerprints(tables, DAYS, Limits())
    assert {together: of[EMPTY_DAY] for together, of in found.items()} == dict.fromkeys(found, NOTHING)
    assert len(set(found[PARTS].values())) == 3
    for day in DAYS:
        alone = fingerprints(tables, [day], Limits())
        assert alone == {together: {day: of[day]} for together, of in found.items()}
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
        ({"uri": "/a.json", **VANISHED}, [DAY_1]),
        (PACK, []),
    ],
)
def test_what_changes_it(tables: Tables, change: dict[str, object], days: list[dt.date]) -> None:
    before = fingerprints(tables, DAYS, Limits())
    land(tables, **change)
    assert others(tables, before) == ({PARTS: days, REFUSED: days} if days else {})


def test_a_registration_is_what_its_table_and_the_quarantine_are_decoded_from_and_nothing_else(tables: Tables) -> None:
    before = fingerprints(tables, DAYS, Limits())
    assert before[REGISTRATIONS] == dict.fromkeys(DAYS, NOTHING)
    assert before[PARTS] == before[REFUSED]
    land(tables, uri="/r.json", **REGISTRATION)
    assert others(tables, before) == {REGISTRATIONS: [DAY_2], REFUSED: [DAY_2]}
    before = fingerprints(tables, DAYS, Limits())
    land(tables, uri="/r.json", batch="newer", content=b"6", sha256="6", **REGISTRATION)
    assert others(tables, before) == {REGISTRATIONS: [DAY_2], REFUSED: [DAY_2]}
    before = fingerprints(tables, DAYS, Limits())
    land(tables, uri="/c.json", batch="c", sha256="7", landed_on=DAY_2, source="agentforge")
    assert others(tables, before) == {PARTS: [DAY_2], REFUSED: [DAY_2]}


def test_a_registration_of_another_day_decides_which_is_superseded(tables: Tables) -> None:
    land(tables, uri="/r.json", **REGISTRATION)
    before = fingerprints(tables, DAYS, Limits())
    land(tables, uri="/s.json", source="campaigns", landed_on=EMPTY_DAY)
    assert others(tables, before) == {REGISTRATIONS: [EMPTY_DAY], REFUSED: [DAY_2, EMPTY_DAY]}


def test_what_is_back_is_as_if_it_had_never_vanished(tables: Tables) -> None:
    before = fingerprints(tables, DAYS, Limits())
    land(tables, uri="/a.json", **VANISHED)
    rows = current(tables, DAYS).select("uri", "vanished").collect()
    assert rows.filter("vanished")["uri"].to_list() == ["/a.json"]
    land(tables, uri="/a.json", content=b"2", batch="back", ingested_at=LATER + dt.timedelta(minutes=1))
    assert others(tables, before) == {}


def test_what_vanished_without_a_day_of_its_own_is_of_none(tables: Tables) -> None:
    land(tables, uri="/odd.json", content=None, fetch_reason="no_partition")
    before = fingerprints(tables, DAYS, Limits())
    land(tables, uri="/odd.json", batch="gone", ingested_at=LATER + dt.timedelta(minutes=1), **VANISHED)
    assert others(tables, before) == {PARTS: [DAY_1], REFUSED: [DAY_1]}
    assert "/odd.json" not in current(tables, DAYS).collect()["uri"]


def test_the_limits_belong_to_it_but_not_to_a_day_of_nothing(tables: Tables) -> None:
    before, after = (fingerprints(tables, DAYS, Limits(max_depth=depth)) for depth in (64, 63))
    assert [day for day in DAYS if before[PARTS][day] != after[PARTS][day]] == [DAY_1, DAY_2]
