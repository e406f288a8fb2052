"""Freshness: which day is expected when, what counts as landed, and who asks."""

import datetime as dt
from collections.abc import Iterator
from pathlib import Path

import dagster as dg
import pytest

from pipelines.build import build_definitions
from pipelines.checks import warned
from pipelines.freshness import expected_day, overdue
from pipelines.jobs import day_range, day_range_of_rules
from pipelines.logs import RUN_CONFIG
from pipelines.partitions import day_and_rules
from pipelines.settings import Settings

DAY = dt.date(2026, 11, 29)


@pytest.mark.parametrize(
    ("now", "day"),
    [
        ("2026-11-30T05:59:59+00:00", dt.date(2026, 11, 28)),
        ("2026-11-30T06:00:00+00:00", DAY),
        ("2026-12-01T05:59:59+00:00", DAY),
        ("2026-11-30T23:00:00-08:00", dt.date(2026, 11, 30)),
    ],
)
def test_yesterday_is_expected_from_the_deadline_on(now: str, day: dt.date) -> None:
    assert expected_day(dt.datetime.fromisoformat(now)) == day


@pytest.mark.parametrize(
    ("updated", "problem"),
    [
        (None, "never"),
        ("2026-11-29T23:59:59+00:00", "last at 2026-11-29T23:59:59Z, before the day was over"),
        ("2026-11-30T00:00:00+00:00", None),
        ("2026-11-30T02:10:00+00:00", None),
    ],
)
def test_a_day_is_whole_once_it_was_updated_after_its_end(updated: str | None, problem: str | None) -> None:
    assert overdue(DAY, dt.datetime.fromisoformat(updated) if updated else None) == problem


@pytest.fixture(scope="module")
def definitions(tmp_path_factory: pytest.TempPathFactory) -> dg.Definitions:
    folder = tmp_path_factory.mktemp("workspace")
    (folder / "artifacts").mkdir()
    return build_definitions(Settings(str(folder / "artifacts"), str(folder / "tables"), folder / "dagster"))


@pytest.fixture
def instance() -> Iterator[dg.DagsterInstance]:
    with dg.DagsterInstance.ephemeral() as opened:
        yield opened


def problems(definitions: dg.Definitions, instance: dg.DagsterInstance) -> dict[str, list[str]]:
    """What the job of the schedule finds, by asset."""
    result = definitions.resolve_job_def("freshness").execute_in_process(instance=instance)
    evaluations = result.get_asset_check_evaluations()
    assert {one.asset_key.to_user_string() for one in evaluations} == {"raw_artifacts", "verifications"}
    assert all(one.passed or one.severity == dg.AssetCheckSeverity.WARN for one in evaluations)
    return {one.table: one.examples for one in warned(evaluations)}


def test_the_newest_day_that_is_over_must_be_landed(definitions: dg.Definitions, instance: dg.DagsterInstance) -> None:
    day = expected_day(dt.datetime.now(dt.UTC))
    never = {"raw_artifacts": [f"{day}: never"]}
    assert problems(definitions, instance) == never
    # A backfill of other days, today's included, changes nothing.
    for other in (day - dt.timedelta(days=1), day + dt.timedelta(days=1)):
        instance.report_runless_asset_event(dg.AssetMaterialization("raw_artifacts", partition=other.isoformat()))
    assert problems(definitions, instance) == never
    instance.report_runless_asset_event(dg.AssetMaterialization("raw_artifacts", partition=day.isoformat()))
    assert problems(definitions, instance) == {}


@pytest.mark.slow
def test_the_newest_day_that_is_over_must_be_scored(tmp_path: Path) -> None:
    day = expected_day(dt.datetime.now(dt.UTC))
    folder = tmp_path / "artifacts" / "worldseq" / day.isoformat()
    folder.mkdir(parents=True)
    (folder / "a.json").write_bytes(b"{")
    settings = Settings(str(tmp_path / "artifacts"), str(tmp_path / "tables"), tmp_path / "dagster")
    definitions = build_definitions(settings)
    scored = str(day_and_rules(day.isoformat(), "v1"))
    with dg.DagsterInstance.ephemeral() as instance:
        instance.add_dynamic_partitions("rules", ["v1"])
        landing = definitions.resolve_job_def("landing")
        landing.execute_in_process(instance=instance, tags=day_range(day, day), run_config=RUN_CONFIG)
        assert problems(definitions, instance) == {"verifications": [f"{scored}: not computed yet"]}
        results = definitions.resolve_job_def("results")
        tags = day_range_of_rules(day, day, "v1")
        results.execute_in_process(instance=instance, tags=tags, run_config=RUN_CONFIG)
        assert problems(definitions, instance) == {}


@pytest.mark.parametrize("job", ["landing", "results"])
def test_no_run_of_partitions_asks(definitions: dg.Definitions, job: str) -> None:
    names = {key.name for key in definitions.resolve_job_def(job).asset_layer.asset_graph.asset_check_keys}
    assert "contract" in names
    assert "fresh" not in names
