"""Which days have to be landed again: late, corrected and vanished artifacts, and what they are decoded with."""

import datetime as dt
import os
import shutil
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import dagster as dg
import pytest

from assets.attempts.assets import LAYER
from assets.contract import table_name
from pipelines.build import artifact_store, build_definitions, intake, table_store
from pipelines.late import Day, Decision, Look, decide, look
from pipelines.storage.errors import StoreError
from tests.integration.hostile import full, text
from tests.integration.test_packs import pack, trial
from tests.integration.warehouses import settings, write

DAYS = [dt.date(2026, 11, day) for day in (19, 20, 21)]
BEYOND = dt.date(2026, 11, 10)
LANDED = ["raw_artifacts", *map(table_name, LAYER)]
NOON = dt.datetime(2026, 11, 21, 12, tzinfo=dt.UTC)


def test_nothing_is_landed_where_everything_is_stored() -> None:
    assert decide(Look([Day("2026-11-20", "s")], "d")) == Decision({}, "d")
    assert decide(Look([], "d")) == Decision({}, "d")


@pytest.mark.parametrize("why", [{"arrived": 1}, {"vanished": 2}, {"undecoded": True}])
def test_a_day_that_is_not_stored_is_landed_and_everything_is_looked_at_once_more(why: dict[str, Any]) -> None:
    found = Look([Day("2026-11-20", "s"), Day("2026-11-21", "t")._replace(**why)], "d")
    assert decide(found) == Decision({"2026-11-21": "t"}, "")


class Place:
    """A small warehouse and a look at it."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.settings, self.cursor = folder, settings(folder), ""
        self.specs = build_definitions(self.settings).resolve_all_asset_specs()

    def put(self, key: str, content: bytes, at: dt.datetime = NOON) -> None:
        self.path(key).unlink(missing_ok=True)
        write(self.folder, {key: content})
        os.utime(self.path(key), (at.timestamp(), at.timestamp()))

    def path(self, key: str) -> Path:
        return self.folder / "artifacts" / key

    def look(self, clock: Callable[[], dt.datetime] = lambda: NOON, **changes: Any) -> dict[str, dict[str, Any]]:
        """What is found not stored, by day, and the cursor for the next look."""
        where = replace(self.settings, **changes)
        found = look(
            artifact_store(where), table_store(where), intake(where, clock=clock), self.specs, DAYS, self.cursor
        )
        decision = decide(found)
        self.cursor = decision.cursor
        reasons = {one.day: one._asdict() for one in found.days if not one.stored}
        assert list(reasons) == list(decision.land)
        told = ("arrived", "vanished", "undecoded")
        return {day: {name: row[name] for name in told if row[name]} for day, row in reasons.items()}

    def land(self, *days: dt.date, only: Sequence[str] = LANDED, **changes: Any) -> None:
        """Land and decode these days, one after another."""
        job = build_definitions(replace(self.settings, **changes)).resolve_job_def("landing")
        chosen = [dg.AssetKey(name) for name in only]
        with dg.DagsterInstance.ephemeral() as instance:
            for day in days:
                job.execute_in_process(instance=instance, partition_key=day.isoformat(), asset_selection=chosen)

    def looked(self) -> bool:
        """Whether the next look would ask the tables."""
        clock = intake(self.settings, clock=lambda: NOON)
        return bool(
            look(artifact_store(self.settings), table_store(self.settings), clock, self.specs, DAYS, self.cursor).days
        )


@pytest.fixture(scope="module")
def template(tmp_path_factory: pytest.TempPathFactory) -> Place:
    """Worldseq on two days of the window and beyond it, a trial with its pack on one; all of it stored."""
    made = Place(tmp_path_factory.mktemp("late"))
    for day in (*DAYS[:2], BEYOND):
        made.put(f"worldseq/{day}/a.json", text(full(f"a{day}")))
    for key, content in trial("t1").items():
        made.put(key, content)
    made.put("agentforge-packs/incident.json", pack(0.5), NOON - dt.timedelta(days=1))
    made.land(*DAYS[:2], BEYOND)
    for name in ("artifacts", "tables"):
        made.path("").with_name(name).rename(made.folder / f"{name}-kept")
    return made


@pytest.fixture
def place(template: Place) -> Iterator[Place]:
    """The template, to be changed; at the same place, and of the same files, since both are what a listing tells."""
    artifacts, tables = template.folder / "artifacts", template.folder / "tables"
    shutil.copytree(template.folder / "artifacts-kept", artifacts, copy_function=os.link)
    shutil.copytree(template.folder / "tables-kept", tables)
    yield template
    template.cursor = ""
    for folder in (artifacts, tables, template.folder / "elsewhere"):
        shutil.rmtree(folder, ignore_errors=True)


def test_before_there_is_any_table_every_object_has_arrived(tmp_path: Path) -> None:
    fresh = Place(tmp_path)
    fresh.path("").mkdir()
    assert fresh.look() == {}
    fresh.put(f"worldseq/{DAYS[0]}/a.json", text(full()))
    fresh.put(f"worldseq/{BEYOND}/a.json", text(full()))
    assert fresh.look() == {"2026-11-19": {"arrived": 1}}


def test_what_is_stored_is_not_asked_for_again_and_the_cursor_stays_small(place: Place) -> None:
    assert place.look() == {}
    assert 0 < len(place.cursor) < 100
    assert not place.looked()


def test_new_corrected_and_vanished_objects(place: Place) -> None:
    place.look()
    place.put(f"worldseq/{DAYS[2]}/new.json", text(full("new")))
    assert place.look() == {"2026-11-21": {"arrived": 1}}
    place.put(f"worldseq/{DAYS[0]}/a.json", text(full("a2026-11-19", usage=None)))
    place.path(f"worldseq/{DAYS[1]}/a.json").unlink()
    expected = {"2026-11-19": {"arrived": 1}, "2026-11-20": {"vanished": 1}, "2026-11-21": {"arrived": 1}}
    assert place.look() == expected
    assert place.look() == expected  # until it is landed
    place.land(*DAYS)
    assert place.look() == {}


def test_a_corrected_object_of_the_same_size_is_another_one(place: Place) -> None:
    key = f"worldseq/{DAYS[0]}/a.json"
    content = place.path(key).read_bytes()
    place.put(key, content.replace(b"1900", b"1901"), NOON + dt.timedelta(hours=1))
    assert place.look() == {"2026-11-19": {"arrived": 1}}


def test_a_day_outside_of_the_window_is_not_seen(place: Place) -> None:
    place.put(f"worldseq/{BEYOND}/late.json", text(full("late")))
    assert place.look() == {}


def test_what_could_not_be_had_is_not_asked_for_for_ever(place: Place) -> None:
    large = full("large", usage=None)
    place.put(f"worldseq/{DAYS[2]}/large.json", text(large) + b" " * 10_000)
    assert place.look(max_object_bytes=5_000) == {"2026-11-21": {"arrived": 1}}
    place.land(DAYS[2], max_object_bytes=5_000)
    assert place.look(max_object_bytes=5_000) == {}


def test_a_day_that_was_landed_and_not_decoded(place: Place) -> None:
    place.put(f"worldseq/{DAYS[2]}/new.json", text(full("new")))
    place.land(DAYS[2], only=["raw_artifacts"])
    assert place.look() == {"2026-11-21": {"undecoded": True}}


def test_a_changed_limit_is_another_decoding_and_the_cursor_does_not_hide_it(place: Place) -> None:
    place.look()
    assert place.look(max_depth=20) == {f"2026-11-{day}": {"undecoded": True} for day in (19, 20)}


def test_a_corrected_pack_is_landed_first_and_then_the_days_that_it_weighs(place: Place) -> None:
    place.look()
    place.put("agentforge-packs/incident.json", pack(0.25), NOON)
    assert place.look() == {"2026-11-21": {"arrived": 1}, "2026-11-20": {"vanished": 1}}
    place.land(DAYS[2])
    assert place.look() == {"2026-11-20": {"undecoded": True}}  # that of the trial; its other documents are as before
    place.land(DAYS[1])
    assert place.look() == {}


def test_a_registration_from_beyond_the_window_is_landed_on_its_day(place: Place) -> None:
    before = dt.datetime.combine(BEYOND, dt.time(12), dt.UTC)
    place.put("campaigns/c.json", b"{}", before)
    assert place.look() == {"2026-11-10": {"arrived": 1}}
    place.land(BEYOND)
    assert place.look() == {}
    place.path("campaigns/c.json").unlink()
    assert place.look() == {"2026-11-10": {"vanished": 1}}


def test_the_state_of_a_day_is_also_that_of_its_companions(place: Place) -> None:
    def states() -> dict[str, str]:
        where = place.settings
        found = look(
            artifact_store(where), table_store(where), intake(where, clock=lambda: NOON), place.specs, DAYS, ""
        )
        return {one.day: one.state for one in found.days}

    before = states()
    place.put("agentforge-packs/other.json", pack(0.75))
    after = states()
    assert all(before[day] != after[day] for day in before)


def test_a_failed_listing_raises(place: Place) -> None:
    place.look()
    cursor = place.cursor
    place.path("").rename(place.folder / "elsewhere")
    with pytest.raises(StoreError):
        place.look()
    assert place.cursor == cursor


def test_an_empty_listing_that_succeeded_is_one(place: Place) -> None:
    place.path("").rename(place.folder / "elsewhere")
    place.path("").mkdir()
    assert place.look() == {"2026-11-19": {"vanished": 1}, "2026-11-20": {"vanished": 3}}


def test_the_clock_near_midnight_and_a_folder_of_tomorrow(place: Place) -> None:
    tomorrow = DAYS[2] + dt.timedelta(days=1)
    place.put(f"worldseq/{tomorrow}/early.json", text(full("early")))
    last = dt.datetime.combine(DAYS[2], dt.time(23, 59, 59, 999_999), dt.UTC)
    assert place.look(lambda: last) == {"2026-11-21": {"arrived": 1}}  # under no day that there is yet
    first = dt.datetime.combine(tomorrow, dt.time(0), dt.UTC)
    assert place.look(lambda: first) == {}


def test_hostile_names_are_landed_like_any_other(place: Place) -> None:
    folder = place.path(f"worldseq/{DAYS[2]}")
    folder.mkdir()
    (folder / os.fsdecode(b"\xff.json")).write_bytes(b"{}")
    (folder / "<script>'\"; =cmd() \n.json").write_bytes(text(full("odd")))
    for path in folder.iterdir():
        os.utime(path, (NOON.timestamp(), NOON.timestamp()))
    assert place.look() == {"2026-11-21": {"arrived": 2}}
    place.land(DAYS[2])
    assert place.look() == {}
