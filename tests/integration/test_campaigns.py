"""Campaigns end to end: from registrations and attempts in a store to verdicts, reports, and what makes them stale."""

import datetime as dt
import json
import subprocess
import sys
from pathlib import Path

import dagster as dg
import polars as pl
import pytest

from assets.campaigns.contract import CampaignComparisons
from assets.campaigns.current import current, failed_predicates, paired, stale
from assets.contract import empty
from assets.rulesets.loader import load_all
from assets.tables import TABLES
from pipelines.build import build_definitions, report_store, table_store
from pipelines.campaigns import check, verdicts
from pipelines.cli import demo_campaigns, demo_worldseq
from pipelines.cli.demo_campaigns import CONCLUSIVE, INCOMPLETE
from pipelines.jobs import day_range, day_range_of_rules
from pipelines.run import UnknownCampaignError, compare, registered
from pipelines.sensors import campaigns_touched
from pipelines.settings import Settings
from pipelines.storage.errors import StoreError
from tests.integration import campaign_store
from tests.integration.hostile import text
from tests.integration.warehouses import ran, rows, settings, write

V1 = [load_all()["v1"]]


def campaign_files() -> dict[str, bytes]:
    made = [*demo_campaigns.files(1), *demo_worldseq.files(1)]
    return {file.key: file.content for file in made if "campaigns/" in file.key or "/cmp-" in file.key}


def failed(where: Settings) -> pl.DataFrame:
    """The failed predicates that the report of the campaign that concludes tells of."""
    tables = table_store(where)
    (registration,) = registered(tables, [CONCLUSIVE]).values()
    found = current(tables, [CONCLUSIVE], V1[0])
    return failed_predicates(registration, paired(registration, found, V1[0]), found)


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Settings:
    folder = tmp_path_factory.mktemp("campaigns")
    write(folder, campaign_files())
    where = settings(folder)
    ran(where)
    return where


def test_each_campaign_ends_in_a_verdict_with_its_reasons(place: Settings) -> None:
    found = {row["campaign_id"]: row for row in verdicts(place)}
    assert (found[CONCLUSIVE]["verdict"], found[CONCLUSIVE]["reasons"]) == ("pass", [])
    assert found[CONCLUSIVE]["ci_low"] > found[CONCLUSIVE]["tolerance"]
    assert (found[INCOMPLETE]["verdict"], found[INCOMPLETE]["reasons"]) == ("inconclusive", ["incomplete_inventory"])
    assert all(found[INCOMPLETE][name] is None for name in ("effect", "ci_low", "ci_high", "wins", "ties", "losses"))
    counted = found[INCOMPLETE]["baseline_classes"]
    assert sum(counted.values()) == found[INCOMPLETE]["pairs"] == 48


def test_every_registered_case_is_one_pair(place: Settings) -> None:
    pairs = rows(place, "campaign_pairs")
    assert dict(pairs.group_by("campaign_id").len().iter_rows()) == {CONCLUSIVE: 48, INCOMPLETE: 48}
    numeric = pairs.filter(pl.col("campaign_id") == CONCLUSIVE)["effect"]
    assert numeric.null_count() == 0


def test_each_has_a_report(place: Settings) -> None:
    for row in verdicts(place):
        text = report_store(place).read(row["campaign_key"], row["rules"])
        assert row["campaign_id"] in text
        assert text.startswith("<!doctype html>")


def test_what_is_stored_is_what_its_inputs_give(place: Settings) -> None:
    assert [one.differing for one in check(place)] == [[], []]
    assert list(stale(table_store(place), V1)) == []


def test_a_campaign_that_nobody_registered(place: Settings) -> None:
    with pytest.raises(UnknownCampaignError, match="no campaign 'nope'"):
        registered(table_store(place), ["nope"])


def test_what_changed_is_stale_until_it_is_compared(tmp_path: Path) -> None:
    files = campaign_files()
    write(tmp_path, files)
    where = settings(tmp_path)
    ran(where)
    key = f"campaigns/{CONCLUSIVE}.json"
    registration = json.loads(files[key])
    write(tmp_path, {key: json.dumps({**registration, "tolerance": 0.5}).encode()})
    ran(where)
    assert next(row for row in verdicts(where) if row["campaign_id"] == CONCLUSIVE)["tolerance"] == 0.5
    table = table_store(where)
    lost = next(key for key in files if f"{CONCLUSIVE}/planner-control-001" in key)
    document = json.loads(files[lost])
    write(tmp_path, {lost: json.dumps({**document, "finalization": {"status": "failed"}}).encode()})
    ran(where)
    assert list(stale(table, V1)) == []
    found = next(row for row in verdicts(where) if row["campaign_id"] == CONCLUSIVE)
    assert (found["verdict"], found["numeric_pairs"]) == ("inconclusive", 47)
    assert compare(where, [CONCLUSIVE]).rules == ["v1"]
    (tmp_path / "artifacts" / key).unlink()
    ran(where)
    assert [row["campaign_id"] for row in verdicts(where)] == [CONCLUSIVE, INCOMPLETE]


def test_a_report_that_is_not_of_what_is_stored(place: Settings) -> None:
    reports, (key,) = report_store(place), registered(table_store(place), [CONCLUSIVE])
    kept = reports.read(key, "v1")
    reports.write(key, "v1", kept.replace("pass", "fail"))
    assert [one.differing for one in check(place)] == [["report"], []]
    Path(reports.uri(key, "v1")).unlink()
    with pytest.raises(StoreError, match="there is no such report; `scorehouse compare` makes it"):
        check(place)
    reports.write(key, "v1", kept)
    assert [one.differing for one in check(place)] == [[], []]


def test_compare_check_tells_by_its_exit_status(place: Settings) -> None:
    environment = {
        "PYTHONPATH": str(Path(__file__).parents[2]),
        "SCOREHOUSE_ARTIFACTS": place.artifacts,
        "SCOREHOUSE_TABLES": place.tables,
        "DAGSTER_HOME": str(place.dagster_home),
        "HOME": str(place.dagster_home),
    }
    command = [sys.executable, "-m", "pipelines.cli.main", "compare", "--check"]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False, timeout=120)
    assert (done.returncode, done.stdout.strip(), done.stderr) == (0, "identical", "")


def test_an_attempt_outside_of_the_inventory_is_counted_and_compared_with_nothing(tmp_path: Path) -> None:
    files = campaign_files()
    write(tmp_path, files)
    where = settings(tmp_path)
    ran(where)
    before = failed(where)
    key = next(key for key in files if f"{CONCLUSIVE}/planner-control-001" in key)
    document = json.loads(files[key])
    document["attempt"] |= {"attemptId": "stray", "scenarioId": "nowhere"}
    document["usage"]["playerCalls"] = 5_000
    write(tmp_path, {key.replace("planner-control-001", "stray"): json.dumps(document).encode()})
    with dg.DagsterInstance.ephemeral() as instance:
        definitions = build_definitions(where)
        instance.add_dynamic_partitions("rules", ["v1"])
        day = dt.date.fromisoformat(key.split("/")[1])
        for job, tags in (("landing", day_range(day, day)), ("results", day_range_of_rules(day, day, "v1"))):
            assert definitions.resolve_job_def(job).execute_in_process(instance=instance, tags=tags).success
    (found,) = stale(table_store(where), V1)
    assert found.campaign_key.startswith(CONCLUSIVE)
    compare(where, [CONCLUSIVE])
    assert list(stale(table_store(where), V1)) == []
    row = next(row for row in verdicts(where) if row["campaign_id"] == CONCLUSIVE)
    assert (row["verdict"], row["unregistered"]) == ("pass", 1)
    assert "worldseq:stray" in report_store(where).read(found.campaign_key, "v1")
    assert failed(where).equals(before)


def test_an_id_stands_before_a_key(place: Settings) -> None:
    table = table_store(place)
    (key,) = registered(table, [CONCLUSIVE])
    assert list(registered(table, [key])) == [key]
    assert list(registered(table, [CONCLUSIVE, key])) == [key]


def test_the_sensor_asks_for_what_is_stale_and_registers_its_partitions(tmp_path: Path) -> None:
    write(tmp_path, campaign_files())
    where = settings(tmp_path)
    sensor = campaigns_touched(load_all())
    with dg.DagsterInstance.ephemeral() as instance:
        tables = table_store(where)
        tables.ensure(TABLES.values())
        context = dg.build_sensor_context(instance=instance, resources={"tables": tables})
        assert isinstance(sensor(context), dg.SkipReason)
        ran(where)
        tables.replace(
            CampaignComparisons,
            empty(CampaignComparisons),
            [{"campaign_key": key, "rules": "v1"} for key in registered(tables)],
        )
        context = dg.build_sensor_context(instance=instance, resources={"tables": tables})
        asked = sensor(context)
        assert isinstance(asked, dg.SensorResult)
        keys = sorted(str(request.partition_key) for request in asked.run_requests or ())
        assert keys == sorted(f"{key}|v1" for key in registered(tables))
        (added,) = asked.dynamic_partitions_requests or ()
        assert sorted(added.partition_keys) == sorted(registered(tables))


def test_a_report_is_made_again_where_only_what_it_tells_beside_the_pairs_changed(tmp_path: Path) -> None:
    where, tables = settings(tmp_path), table_store(settings(tmp_path))
    id_, day = "cmp-early", campaign_store.EARLY

    def put(arm: str, **last_day: int) -> None:
        made = campaign_store.attempt(id_, arm, "c1")
        made["trajectory"][-1] |= last_day
        write(tmp_path, {campaign_store.path(id_, arm, "c1"): text(made)})

    def report() -> str:
        (key,) = registered(tables, [id_])
        return Path(report_store(where).uri(key, "v1")).read_text(encoding="utf-8")

    write(tmp_path, {f"campaigns/{id_}.json": campaign_store.registration(id_)})
    put("control", minCashCents=-1)
    put("treatment")
    ran(where)
    pairs, before = rows(where, "campaign_pairs"), report()
    assert ("floor" in before, "keep" in before) == (True, False)
    put("control", minCashCents=-1, activePayingAccounts=1)
    assert [key for key, _ in ran(where).compared] == [*registered(tables, [id_])]
    assert rows(where, "campaign_pairs").equals(pairs)
    assert ("floor" in report(), "keep" in report()) == (True, True)
    assert ran(where).compared == []
    # One attempt outside of the registration in place of another: their number stays.
    for arm in ("spare", "other"):
        made = text(campaign_store.attempt(id_, arm, "c1"))
        write(tmp_path, {f"worldseq/{day}/beside.json": made})
        assert len(ran(where).compared) == 1
        assert f"{id_}-{arm}-c1" in report()
