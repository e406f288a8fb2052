"""The sensors as the daemon evaluates them: real resources, real tables, real artifacts; what they ask for and skip."""

import dataclasses
import datetime as dt
import shutil
from collections.abc import Iterator
from pathlib import Path

import dagster as dg
import pytest

from pipelines.partitions import day_and_rules
from pipelines.requests import MOST_RUNS, STATE
from pipelines.sensors import offered
from pipelines.settings import Settings
from pipelines.staleness import Plan, Stale
from pipelines.storage.errors import StoreError
from tests.integration.backfills import bump
from tests.integration.daemon import Daemon, asked
from tests.integration.hostile import full, text
from tests.integration.warehouses import in_place, put_aside, ran, rows, settings, write
from tests.s3 import S3Server

YESTERDAY, TODAY = "2026-11-20", "2026-11-21"
NOON = dt.datetime(2026, 11, 21, 12, tzinfo=dt.UTC)


@pytest.fixture(scope="module")
def template(tmp_path_factory: pytest.TempPathFactory) -> Settings:
    folder = tmp_path_factory.mktemp("sensors")
    write(folder, {f"worldseq/{YESTERDAY}/a.json": text(full("a"))})
    where = settings(folder)
    with Daemon(where, NOON, tmp_path_factory.mktemp("instance")) as daemon:
        daemon.tick("rules_bumped")
        daemon.execute("landing", YESTERDAY)
        daemon.execute("results", day_and_rules(YESTERDAY, "v1"))
    put_aside(where)
    return where


@pytest.fixture
def where(template: Settings) -> Iterator[Settings]:
    """One day, stored; at its place, and of the same files."""
    with in_place(template) as placed:
        yield placed


@pytest.fixture
def daemon(where: Settings, tmp_path: Path) -> Iterator[Daemon]:
    with Daemon(where, NOON, tmp_path) as made:
        yield made


def put(where: Settings, key: str, content: bytes) -> None:
    path = Path(where.artifacts) / key
    path.unlink(missing_ok=True)
    write(Path(where.artifacts).parent, {key: content})


def test_late_artifacts_asks_for_the_days_that_changed_and_no_other(daemon: Daemon) -> None:
    told = daemon.tick("late_artifacts")
    assert (asked(told), told.skip_message) == ([], "2026-11-13 to 2026-11-21 are stored as they are listed")
    put(daemon.where, f"worldseq/{TODAY}/new.json", text(full("new")))
    told = daemon.tick("late_artifacts")
    assert asked(told) == [TODAY]
    assert told.run_requests[0].tags[STATE]
    assert told.cursor == ""


def test_two_ticks_at_once_ask_for_one_run(daemon: Daemon) -> None:
    put(daemon.where, f"worldseq/{TODAY}/new.json", text(full("new")))
    daemon.ended("landing", daemon.tick("late_artifacts"), dg.DagsterRunStatus.STARTED)
    assert asked(daemon.tick("late_artifacts")) == []


def test_a_failed_run_is_asked_for_thrice_and_another_state_afresh(daemon: Daemon) -> None:
    put(daemon.where, f"worldseq/{TODAY}/new.json", text(full("new")))
    for _ in range(MOST_RUNS):
        told = daemon.tick("late_artifacts")
        assert asked(told) == [TODAY]
        daemon.ended("landing", told)
    assert asked(daemon.tick("late_artifacts")) == []
    put(daemon.where, f"worldseq/{TODAY}/newer.json", text(full("newer")))
    assert asked(daemon.tick("late_artifacts")) == [TODAY]


def test_a_failed_listing_is_a_failed_tick_and_nothing_else(daemon: Daemon) -> None:
    daemon.tick("late_artifacts")
    before, landed = dict(daemon.cursors), rows(daemon.where, "raw_artifacts")
    Path(daemon.where.artifacts).rename(f"{daemon.where.artifacts}-gone")
    with pytest.raises(StoreError, match="cannot list"):
        daemon.tick("late_artifacts")
    Path(f"{daemon.where.artifacts}-gone").rename(daemon.where.artifacts)
    assert daemon.cursors == before
    assert before["late_artifacts"]
    assert daemon.instance.get_runs() == []
    assert rows(daemon.where, "raw_artifacts").equals(landed)
    assert asked(daemon.tick("late_artifacts")) == []


def test_a_store_that_lost_everything_is_landed_and_results_stay(daemon: Daemon) -> None:
    put(daemon.where, f"worldseq/{TODAY}/.keep", b"")
    shutil.rmtree(Path(daemon.where.artifacts) / "worldseq" / YESTERDAY)
    assert asked(daemon.tick("late_artifacts")) == [YESTERDAY]
    daemon.execute("landing", YESTERDAY)
    assert rows(daemon.where, "raw_artifacts")["vanished"].sort().to_list() == [False, True]
    assert asked(daemon.tick("late_artifacts")) == []
    assert rows(daemon.where, "verifications").height == 1


def test_without_looking_back_yesterday_and_today_are_looked_at(where: Settings, tmp_path: Path) -> None:
    put(where, "worldseq/2026-11-19/late.json", text(full("late")))
    put(where, f"worldseq/{YESTERDAY}/late.json", text(full("late")))
    put(where, f"worldseq/{TODAY}/new.json", text(full("new")))
    with Daemon(dataclasses.replace(where, look_back_days=0), NOON, tmp_path) as daemon:
        assert asked(daemon.tick("late_artifacts")) == [YESTERDAY, TODAY]
        assert asked(daemon.night()) == [YESTERDAY]


def test_rules_bumped_registers_what_is_active_and_offers_what_is_due(daemon: Daemon) -> None:
    told = daemon.tick("rules_bumped")
    (added,) = told.dynamic_partitions_requests
    assert (added.partition_keys, told.skip_message) == (["v1"], "v1 is up to date")
    daemon.instance.add_dynamic_partitions("rules", ["v1"])
    assert not daemon.tick("rules_bumped").dynamic_partitions_requests


def test_rules_bumped_takes_back_what_ended(where: Settings, tmp_path: Path) -> None:
    own = tmp_path / "own"
    own.mkdir()
    v1 = (Path(__file__).parents[2] / "assets/rulesets/v1.toml").read_text(encoding="utf-8")
    for id_, status in (("v0a", "retired"), ("v2", "active")):
        made = v1.replace('id = "v1"', f'id = "{id_}"').replace('status = "active"', f'status = "{status}"')
        predecessor = '\npredecessor = "v1"' if id_ == "v2" else ""
        (own / f"{id_}.toml").write_text(made.replace(f'id = "{id_}"', f'id = "{id_}"{predecessor}'), encoding="utf-8")
    with Daemon(dataclasses.replace(where, rulesets=own), NOON, tmp_path) as daemon:
        daemon.instance.add_dynamic_partitions("rules", ["v0a", "v1", "by-hand"])
        told = daemon.tick("rules_bumped")
        assert daemon.instance.get_dynamic_partitions("rules") == ["v1", "v2"]
    added, taken = told.dynamic_partitions_requests
    assert (added.partition_keys, taken.partition_keys) == (["v2"], ["v0a", "by-hand"])
    assert told.skip_message == (
        "v1 is up to date; v2 is not up to date (1 x not computed yet): scorehouse backfill --rules v2"
    )


@pytest.mark.filterwarnings("ignore:Non-compliant tag keys")  # Dagster's own, of partitions of two dimensions
def test_results_of_a_run_that_came_before_its_predecessors_are_scored_again(tmp_path: Path) -> None:
    where = settings(tmp_path, rulesets=tmp_path / "own")
    bump(where, "v2", "v1", ("player_calls = 1024", "player_calls = 5"), status="active")
    put(where, f"worldseq/{YESTERDAY}/a.json", text(full("a")))
    ran(where)
    with Daemon(where, NOON, tmp_path) as daemon:
        daemon.instance.add_dynamic_partitions("rules", ["v1", "v2"])
        for _ in range(2):
            assert asked(daemon.tick("results_behind")) == []
        put(where, f"worldseq/{YESTERDAY}/b.json", text(full("b")))
        daemon.execute("landing", YESTERDAY)
        # Of more days than rule sets, Dagster makes a run per rule set, in whatever order.
        for rules in ("v2", "v1"):
            daemon.execute("results", day_and_rules(YESTERDAY, rules))
        assert rows(where, "rule_changes").height == 1  # the attempt that v1 had not scored yet
        assert asked(daemon.tick("results_behind")) == []
        told = daemon.tick("results_behind")
        assert asked(told) == [f"{YESTERDAY}|v2"]
        daemon.ended("results", told, dg.DagsterRunStatus.STARTED)
        assert daemon.tick("results_behind").skip_message == "runs are under way"
        daemon.execute("results", day_and_rules(YESTERDAY, "v2"))
        assert rows(where, "rule_changes").height == 0


def test_what_is_due_is_told_by_reason() -> None:
    days = [dt.date(2026, 11, day) for day in (1, 2, 3)]
    plan = Plan([Stale(day, "v2", ("verifications",), f"r{day.day > 1}") for day in days], 0, 0)
    assert offered(["v1", "v2"], plan) == (
        "v1 is up to date; v2 is not up to date (2 x rTrue, 1 x rFalse): scorehouse backfill --rules v2"
    )


def test_before_anything_is_stored_every_sensor_skips(tmp_path: Path) -> None:
    (tmp_path / "artifacts").mkdir()
    with Daemon(settings(tmp_path), NOON, tmp_path) as daemon:
        for name in ("late_artifacts", "campaigns_touched", "results_behind", "rules_bumped"):
            assert asked(daemon.tick(name)) == []


def test_on_s3_a_late_object_is_asked_for_and_a_bucket_that_is_gone_is_one_clear_line(
    tmp_path: Path, s3_server: S3Server, s3_bucket: str
) -> None:
    key = f"store/worldseq/{YESTERDAY}/<late> \u00e9.json"
    s3_server.put(s3_bucket, key, text(full("late")))
    changes = {"artifacts": f"s3://{s3_bucket}/store", "tables": f"s3://{s3_bucket}/tables"}
    where = settings(tmp_path, aws=s3_server.variables(), **changes)
    with Daemon(where, NOON, tmp_path) as daemon:
        assert daemon.follow("landing", daemon.tick("late_artifacts")) == [YESTERDAY]
        assert asked(daemon.tick("late_artifacts")) == []
        cursors = dict(daemon.cursors)
        s3_server.put(s3_bucket, key, text(full("late", usage=None)))
        assert asked(daemon.tick("late_artifacts")) == [YESTERDAY]
    gone = dataclasses.replace(where, artifacts=f"s3://{s3_bucket}-gone/store")
    with Daemon(gone, NOON, tmp_path) as daemon:
        daemon.cursors |= cursors
        with pytest.raises(StoreError, match=f"s3://{s3_bucket}-gone/store: cannot list") as failed:
            daemon.tick("late_artifacts")
    assert where.aws["AWS_SECRET_ACCESS_KEY"] not in str(failed.value)
    assert daemon.cursors == cursors
