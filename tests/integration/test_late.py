"""Late and corrected artifacts, and a failed listing: exactly the right partitions are computed again, and no other.

Counted by what the commits of every table note, once for `scorehouse run` and once for what the daemon does by itself.
"""

import datetime as dt
import os
import shutil
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import dagster as dg
import pytest

from assets.campaigns.contract import CampaignRegistrations
from assets.contract import table_name
from assets.tables import LAYERS
from pipelines.build import table_store
from pipelines.campaigns import check, verdicts
from pipelines.cli.database import ask, connect
from pipelines.requests import MOST_RUNS
from pipelines.run import registered
from pipelines.settings import Settings
from pipelines.staleness import decoded_days
from pipelines.storage.errors import StoreError
from tests.integration.campaign_store import BETWEEN, EARLY, LATE, attempt, files, path
from tests.integration.daemon import Daemon, asked
from tests.integration.hostile import full, text
from tests.integration.warehouses import in_place, put_aside, ran, rows, settings, versions, write, written

NOON = dt.datetime(2026, 11, 25, 12, tzinfo=dt.UTC)
BEYOND = "2026-11-05"
DAYS = (EARLY, BETWEEN, LATE)
DECODED_OR_SCORED = [table_name(contract) for name in ("attempts", "results") for contract in LAYERS[name]]
LATER = {"status": "completed", "finalizedAt": "2026-11-29T09:00:00Z"}
FEWER = [{**day, "activePayingAccounts": 3} for day in full()["trajectory"]]
"""A trajectory that misses the objective."""


def failing(campaign: str, **changes: Any) -> bytes:
    return text(attempt(campaign, "control", "c1", trajectory=FEWER, **changes))


class Change(NamedTuple):
    """An object that arrives, the day and the campaign that follow, and what `_current` shows of the attempt then."""

    key: str
    content: bytes
    day: str
    campaign: str
    current: tuple[str, str, str]  # attempt, day, class
    superseded: list[str]


CHANGES = {
    "late": Change(  # another document about an attempt of the day, finalized later
        f"worldseq/{EARLY}/again.json",
        failing("cmp-early", finalization=LATER),
        EARLY,
        "cmp-early",
        ("worldseq:cmp-early-control-c1", EARLY, "ineligible"),
        ["cmp-early-control-c1.json"],
    ),
    "corrected": Change(
        path("cmp-late", "control", "c1"),
        failing("cmp-late"),
        LATE,
        "cmp-late",
        ("worldseq:cmp-late-control-c1", LATE, "ineligible"),
        [],
    ),
    "on another day": Change(  # each day keeps its own winner; the views and the campaign take the later one
        f"worldseq/{BETWEEN}/again.json",
        failing("cmp-early", finalization=LATER),
        BETWEEN,
        "cmp-early",
        ("worldseq:cmp-early-control-c1", BETWEEN, "ineligible"),
        [],
    ),
    "an older one": Change(  # lands later, and is superseded at once
        f"worldseq/{EARLY}/before.json",
        failing("cmp-early", finalization={**LATER, "finalizedAt": "2026-11-01T00:00:00Z"}),
        EARLY,
        "",
        ("worldseq:cmp-early-control-c1", EARLY, "eligible"),
        ["before.json"],
    ),
}


@pytest.fixture(scope="module")
def template(tmp_path_factory: pytest.TempPathFactory) -> Settings:
    folder = tmp_path_factory.mktemp("late")
    write(folder, files())
    for registration in (folder / "artifacts/campaigns").iterdir():
        touch(registration, dt.datetime.combine(dt.date.fromisoformat(EARLY), dt.time(12), dt.UTC))
    where = settings(folder)
    ran(where)
    put_aside(where)
    return where


@pytest.fixture
def where(template: Settings) -> Iterator[Settings]:
    """Two campaigns on two days and a day between, all of it stored; at its place, and of the same files."""
    with in_place(template) as placed:
        yield placed
    shutil.rmtree(Path(template.artifacts).with_name("gone"), ignore_errors=True)


@pytest.fixture
def daemon(where: Settings, tmp_path: Path) -> Iterator[Daemon]:
    """A daemon that has been at work: every rule set is registered, every sensor evaluated."""
    with Daemon(where, NOON, tmp_path) as made:
        for sensor in ("rules_bumped", "late_artifacts", "campaigns_touched"):
            assert asked(made.tick(sensor)) == []
        assert made.results_due() == []
        yield made


def touch(path: Path, at: dt.datetime) -> None:
    os.utime(path, (at.timestamp(), at.timestamp()))


def put(where: Settings, key: str, content: bytes) -> None:
    (Path(where.artifacts) / key).unlink(missing_ok=True)
    write(Path(where.artifacts).parent, {key: content})


def once(day: str, campaign: str = "", keys: dict[str, str] | None = None) -> dict[str, Counter[tuple[str, ...]]]:
    """Every table of the day once but what only registrations change, and those of the campaign."""
    of_layer = {"landing": (day,), "attempts": (day,), "results": (day, "v1")}
    if campaign:
        of_layer["campaigns"] = ((keys or {})[campaign], "v1")
    return {
        table_name(contract): Counter({of_layer[name]: 1})
        for name, contracts in LAYERS.items()
        if name in of_layer
        for contract in contracts
        if contract is not CampaignRegistrations
    }


def campaign_keys(where: Settings) -> dict[str, str]:
    return {one.campaign_id: key for key, one in registered(table_store(where)).items()}


def seen(where: Settings, change: Change) -> None:
    """The right document counts, the other is told of, and every comparison is of what is stored."""
    query = (
        f"SELECT attempt_id, landed_on::TEXT, class FROM verifications_current WHERE attempt_id = '{change.current[0]}'"  # noqa: S608 - our own
    )
    assert ask(connect(where, query), query).fetchall() == [change.current]
    refused = rows(where, "quarantine").select("stage", "reason", "uri").rows()
    assert [(stage, reason, uri.rpartition("/")[2]) for stage, reason, uri in refused] == [
        ("duplicate", "superseded", name) for name in change.superseded
    ]
    assert [one.differing for one in check(where)] == [[], []]


@pytest.mark.parametrize("change", CHANGES.values(), ids=list(CHANGES))
def test_a_run_computes_what_changed_and_nothing_else(where: Settings, change: Change) -> None:
    begun = versions(where)
    put(where, change.key, change.content)
    assert ran(where).fetched == 1
    assert written(where, begun) == once(change.day, change.campaign, campaign_keys(where))
    seen(where, change)
    begun = versions(where)
    ran(where)
    assert written(where, begun) == {}


@pytest.mark.parametrize("change", CHANGES.values(), ids=list(CHANGES))
def test_the_daemon_computes_what_changed_and_nothing_else(daemon: Daemon, change: Change) -> None:
    where, begun = daemon.where, versions(daemon.where)
    put(where, change.key, change.content)
    assert daemon.follow("landing", daemon.tick("late_artifacts")) == [change.day]
    assert daemon.score() == [f"{change.day}|v1"]
    keys = campaign_keys(where)
    touched = [f"{keys[change.campaign]}|v1"] if change.campaign else []
    assert daemon.follow("campaigns", daemon.tick("campaigns_touched")) == touched
    assert written(where, begun) == once(change.day, change.campaign, keys)
    seen(where, change)
    for sensor in ("late_artifacts", "campaigns_touched"):
        assert asked(daemon.tick(sensor)) == []
    assert daemon.results_due() == []


def test_a_vanished_artifact_is_flagged_and_keeps_what_it_said(daemon: Daemon) -> None:
    where, begun = daemon.where, versions(daemon.where)
    before = {name: rows(where, name, drop=("vanished",)) for name in DECODED_OR_SCORED}
    gone = path("cmp-early", "control", "c1")
    (Path(where.artifacts) / gone).unlink()
    assert daemon.follow("landing", daemon.tick("late_artifacts")) == [EARLY]
    assert (daemon.score(), asked(daemon.tick("campaigns_touched"))) == ([f"{EARLY}|v1"], [])
    assert written(where, begun) == once(EARLY)
    assert vanished(where) == [gone]
    for name, held in before.items():
        assert rows(where, name, drop=("vanished",)).equals(held), name
    assert [one.differing for one in check(where)] == [[], []]
    put(where, gone, text(attempt("cmp-early", "control", "c1")))
    ran(where)
    assert vanished(where) == []


def vanished(where: Settings) -> list[str]:
    """The keys of the documents of attempts that are no longer in the store."""
    flagged = rows(where, "attempts").filter("vanished")["uri"]
    return sorted(uri.partition("/artifacts/")[2] for uri in flagged)


def test_a_document_that_was_moved_to_a_later_day_and_back_counts_as_it_stands_now(where: Settings) -> None:
    """And what it said on the later day is kept there, behind it."""
    here, there = path("cmp-early", "control", "c1"), path("cmp-early", "control", "c1", BETWEEN)
    right, wrong = text(attempt("cmp-early", "control", "c1")), failing("cmp-early")

    def classes() -> list[tuple[str, str]]:
        query = (
            "SELECT landed_on::TEXT, class FROM verifications_current "
            "WHERE attempt_id = 'worldseq:cmp-early-control-c1'"
        )
        return ask(connect(where, query), query).fetchall()

    def successes() -> list[float | None]:
        pairs = rows(where, "campaign_pairs").filter(campaign_id="cmp-early", company_id="c1")
        return pairs["baseline_value"].to_list()

    def follow() -> None:
        ran(where)
        assert [one.differing for one in check(where)] == [[], []]

    def move(source: str, target: str) -> None:
        (Path(where.artifacts) / target).parent.mkdir(parents=True, exist_ok=True)
        (Path(where.artifacts) / source).rename(Path(where.artifacts) / target)
        follow()
        assert vanished(where) == [source]

    assert (classes(), successes()) == ([(EARLY, "eligible")], [1.0])
    move(here, there)
    assert (classes(), successes()) == ([(BETWEEN, "eligible")], [1.0])
    move(there, here)
    assert classes() == [(EARLY, "eligible")]
    put(where, here, wrong)
    follow()
    assert (classes(), successes()) == ([(EARLY, "ineligible")], [0.0])
    assert rows(where, "verifications").filter(landed_on=dt.date.fromisoformat(BETWEEN), rules="v1").height == 2
    put(where, here, right)
    follow()
    assert (classes(), successes()) == ([(EARLY, "eligible")], [1.0])
    begun = versions(where)
    ran(where)
    assert written(where, begun) == {}


def test_a_corrected_registration_is_decoded_on_its_day_and_compared(daemon: Daemon) -> None:
    """Of a registration the day is that of its last modification: here it moves to one that has nothing else."""
    where, begun = daemon.where, versions(daemon.where)
    path = Path(where.artifacts) / "campaigns/cmp-late.json"
    content = path.read_bytes().replace(b"0.05", b"0.07")
    path.unlink()
    path.write_bytes(content)
    touch(path, NOON)
    daemon.follow("landing", daemon.tick("late_artifacts"))
    daemon.follow("landing", daemon.tick("late_artifacts"))
    assert asked(daemon.tick("late_artifacts")) == []
    assert daemon.score() == []
    key = campaign_keys(where)["cmp-late"]
    assert daemon.follow("campaigns", daemon.tick("campaigns_touched")) == [f"{key}|v1"]
    assert written(where, begun) == registered_on(EARLY, NOON.date().isoformat()) | compared(key)
    assert [one.differing for one in check(where)] == [[], []]
    run = versions(where)
    ran(where)
    assert written(where, run) == {}
    assert (decoded_days(table_store(where)), daemon.results_due()) == (set(map(dt.date.fromisoformat, DAYS)), [])


def registered_on(*days: str) -> dict[str, Counter[tuple[str, ...]]]:
    """All that is written of registrations that change on these days."""
    return {name: Counter((day,) for day in days) for name in ("raw_artifacts", "campaign_registrations", "quarantine")}


def compared(key: str) -> dict[str, Counter[tuple[str, ...]]]:
    return {table_name(contract): Counter([(key, "v1")]) for contract in LAYERS["campaigns"]}


def test_a_registration_that_is_edited_on_the_day_of_attempts_leaves_them_alone(where: Settings) -> None:
    begun = versions(where)
    path = Path(where.artifacts) / "campaigns/cmp-early.json"
    content = path.read_bytes().replace(b"0.05", b"0.07")
    path.unlink()
    path.write_bytes(content)
    touch(path, dt.datetime.combine(dt.date.fromisoformat(EARLY), dt.time(13), dt.UTC))
    assert (ran(where).scored, ran(where).fetched) == ({}, 0)
    assert written(where, begun) == registered_on(EARLY) | compared(campaign_keys(where)["cmp-early"])
    assert [one.differing for one in check(where)] == [[], []]


def test_a_withdrawn_registration_is_flagged_and_its_comparison_stays(daemon: Daemon) -> None:
    where, begun = daemon.where, versions(daemon.where)
    before = rows(where, "campaign_comparisons")
    (Path(where.artifacts) / "campaigns/cmp-early.json").unlink()
    assert daemon.follow("landing", daemon.tick("late_artifacts")) == [EARLY]
    assert (daemon.score(), asked(daemon.tick("campaigns_touched"))) == ([], [])
    assert written(where, begun) == registered_on(EARLY)
    assert rows(where, "campaign_comparisons").equals(before)
    assert [(row["campaign_id"], row["withdrawn"]) for row in verdicts(where)] == [
        ("cmp-early", True),
        ("cmp-late", False),
    ]
    begun = versions(where)
    ran(where)
    assert written(where, begun) == {}


def test_a_listing_that_fails_changes_nothing(daemon: Daemon) -> None:
    where, before = daemon.where, dict(daemon.cursors)
    begun = versions(where)
    Path(where.artifacts).rename(Path(where.artifacts).with_name("gone"))
    with pytest.raises(StoreError, match="cannot list"):
        ran(where)
    with pytest.raises(StoreError, match="cannot list"):
        daemon.tick("late_artifacts")
    assert daemon.cursors == before
    assert written(where, begun) == {}


def test_a_day_beyond_the_window_is_found_by_a_run_and_not_by_the_sensor(daemon: Daemon) -> None:
    where = daemon.where
    put(where, f"worldseq/{BEYOND}/late.json", text(full("late")))
    assert asked(daemon.tick("late_artifacts")) == []
    begun = versions(where)
    ran(where)
    assert written(where, begun) == once(BEYOND)


def test_a_night_over_unchanged_days_asks_for_no_result(daemon: Daemon) -> None:
    begun = versions(daemon.where)
    night = daemon.night()
    nights = [dt.date(2026, 11, 17) + dt.timedelta(number) for number in range(8)]
    assert asked(night) == [day.isoformat() for day in nights]
    skipped = {f"{name}_checks" for name in ("attempts_layer", "campaign_registrations", "quarantine")}
    for one in night.run_requests:
        done = daemon.execute("landing", one.partition_key, tags=one.tags)
        assert done.success
        steps = {event.step_key: event.event_type for event in done.all_events if event.is_step_skipped}
        if one.partition_key in DAYS:
            assert steps == dict.fromkeys(skipped, dg.DagsterEventType.STEP_SKIPPED)
    assert {day for table, keys in written(daemon.where, begun).items() for (day,) in keys}.isdisjoint(DAYS)
    assert [key for key in daemon.results_due() if key.split("|")[0] in DAYS] == []


def test_a_sensor_while_a_run_is_under_way(daemon: Daemon) -> None:
    """Both land the same object: the rows are there once."""
    change, where = CHANGES["late"], daemon.where
    put(where, change.key, change.content)
    told = daemon.tick("late_artifacts")  # asked for before the run lands it
    ran(where)
    assert daemon.follow("landing", told) == [EARLY]
    seen(where, change)
    assert rows(where, "raw_artifacts")["uri"].is_unique().all()
    assert asked(daemon.tick("late_artifacts")) == []


def test_a_registration_that_is_edited_and_put_back_is_compared_each_time_and_given_up_after_three_failures(
    daemon: Daemon,
) -> None:
    where = daemon.where
    registered = Path(where.artifacts) / "campaigns/cmp-early.json"
    key = f"{campaign_keys(where)['cmp-early']}|v1"
    at = dt.datetime.combine(dt.date.fromisoformat(EARLY), dt.time(13), dt.UTC)
    before = registered.read_bytes()
    for hour, content in enumerate((before.replace(b"0.05", b"0.07"), before, before.replace(b"0.05", b"0.07"))):
        registered.unlink()
        registered.write_bytes(content)
        touch(registered, at + dt.timedelta(hours=hour))
        assert daemon.follow("landing", daemon.tick("late_artifacts")) == [EARLY]
        assert daemon.follow("campaigns", daemon.tick("campaigns_touched")) == [key]
    registered.unlink()
    registered.write_bytes(before)
    touch(registered, at + dt.timedelta(hours=9))
    daemon.follow("landing", daemon.tick("late_artifacts"))
    for _ in range(MOST_RUNS):
        told = daemon.tick("campaigns_touched")
        assert asked(told) == [key]
        daemon.ended("campaigns", told)
    assert asked(daemon.tick("campaigns_touched")) == []
