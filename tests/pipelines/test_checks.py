"""Asset checks: which partitions they look at, and what they say."""

from collections.abc import Iterator
from pathlib import Path

import dagster as dg
import pytest

from assets.attempts.contract import Attempts
from assets.benchmarks.contract import BenchmarkMetrics, RunTotals
from assets.landing.contract import Quarantine, RawArtifacts
from assets.reconciliation.contract import Reconciliation
from assets.rewards.contract import Rewards
from assets.rulesets.loader import load_all
from assets.tables import TABLES
from assets.verification.contract import Verifications
from pipelines.build import build_definitions, table_store
from pipelines.checks import (
    headline_unavailable,
    one_day_each,
    one_verdict_each,
    quarantine_rate,
    recorded_agrees,
    runs_finished,
)
from pipelines.jobs import day_range_of_rules
from pipelines.partitions import day_and_rules
from pipelines.settings import Settings
from pipelines.storage.tables import Tables
from tests.pipelines.cli.warehouse import DAY_1, DAY_2, arrival, attempt, store, verdict


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    (tmp_path / "artifacts").mkdir()
    return Settings(str(tmp_path / "artifacts"), str(tmp_path / "tables"), tmp_path / "dagster")


@pytest.fixture
def instance() -> Iterator[dg.DagsterInstance]:
    with dg.DagsterInstance.ephemeral() as opened:
        opened.add_dynamic_partitions("rules", ["v1"])
        for day in (DAY_1, DAY_2):
            key = day_and_rules(day.isoformat(), "v1")
            opened.report_runless_asset_event(dg.AssetMaterialization("rewards", partition=key))
        yield opened


@pytest.fixture
def tables(settings: Settings) -> Tables:
    made = table_store(settings)
    made.ensure(TABLES.values())
    reward = {"rules": "v1", "reward_kind": "worldseq-harbor-utility/1", "verified": 0, "reason": "crash"}
    landed = enumerate((DAY_1, DAY_2, DAY_2))
    store(made, Rewards, *({**reward, "attempt_id": f"worldseq:{number}", "landed_on": day} for number, day in landed))
    return made


@pytest.mark.parametrize(
    ("tags", "rows"),
    [({}, 3), (day_range_of_rules(DAY_1, DAY_1, "v1"), 1), ({"dagster/partition": f"{DAY_2}|v1"}, 2)],
    ids=["by itself: everything materialized", "a range", "one partition"],
)
def test_a_check_looks_at_the_partitions_of_its_run(
    settings: Settings, instance: dg.DagsterInstance, tables: Tables, tags: dict[str, str], rows: int
) -> None:
    check = dg.AssetSelection.checks(dg.AssetCheckKey(dg.AssetKey("rewards"), "contract"))
    definitions = dg.Definitions.merge(
        build_definitions(settings, tables=tables), dg.Definitions(jobs=[dg.define_asset_job("alone", check)])
    )
    result = definitions.resolve_job_def("alone").execute_in_process(instance=instance, tags=tags)
    [evaluation] = result.get_asset_check_evaluations()
    assert evaluation.passed
    assert evaluation.metadata["rows"].value == rows


def test_an_attempt_on_two_days_is_named(tables: Tables) -> None:
    store(tables, Attempts, attempt("worldseq:a", DAY_1), attempt("worldseq:a", DAY_2), attempt("worldseq:b", DAY_1))
    found = one_day_each(tables, {"landed_on": DAY_1})
    assert found == (2, [f"worldseq:a also landed on {DAY_2}"])


def test_each_attempt_has_one_verdict(tables: Tables) -> None:
    store(tables, Attempts, attempt("worldseq:a", DAY_1), attempt("worldseq:b", DAY_1))
    store(tables, Verifications, verdict("worldseq:b", DAY_1, "eligible"), verdict("worldseq:c", DAY_1, "eligible"))
    found = one_verdict_each(tables, {"landed_on": DAY_1, "rules": "v1"})
    assert found == (2, ["worldseq:a has no verdict", "worldseq:c is no attempt"])


def test_a_figure_that_differs_is_named(tables: Tables) -> None:
    row = {"attempt_id": "worldseq:a", "field": "eligible", "recorded_in": "x", "rules": "v1", "landed_on": DAY_1}
    differs = {**row, "recorded": 1.0, "recomputed": 0.0, "abs_diff": 1.0, "agrees": False, "reason": "differs"}
    store(tables, Reconciliation, {**row, "field": "verified", "agrees": True}, differs)
    found = recorded_agrees(tables, {"landed_on": DAY_1, "rules": "v1"})
    assert found == (2, ["worldseq:a eligible: 1.0 recorded, 0.0 recomputed"])


@pytest.mark.parametrize(("documents", "problems"), [(20, []), (19, ["1 of 19 documents: 1 x decode not_json"])])
def test_a_twentieth_in_quarantine_is_no_warning_yet(tables: Tables, documents: int, problems: list[str]) -> None:
    store(tables, RawArtifacts, *(arrival(f"/store/{number}.json", b"{}") for number in range(documents)))
    row = {"uri": "/store/0.json", "source": "worldseq", "landed_on": DAY_1, "stage": "decode", "reason": "not_json"}
    store(tables, Quarantine, row)
    assert quarantine_rate(tables, {"landed_on": DAY_1}) == (documents, problems)


@pytest.mark.parametrize(
    ("unavailable", "policy", "headline", "warned"),
    [
        (1, "scored_only", True, False),
        (2, "scored_only", True, True),
        (2, "strict", True, False),
        (2, "scored_only", False, False),
    ],
)
def test_a_headline_of_survivors_is_named(
    unavailable: int, policy: str, headline: bool, warned: bool, tables: Tables
) -> None:
    figure = {
        "source": "harbor",
        "run_id": "job",
        "benchmark": "ds",
        "metric": "reward",
        "reducer": "mean",
        "policy": policy,
        "aggregation": "micro",
        "scope": "overall",
        "value": 1.0,
        "headline": headline,
        "total": 10,
        "evaluated": 10 - unavailable,
        "error": 0,
        "unavailable": unavailable,
        "invalidated": 0,
        "rules": "v1",
        "landed_on": DAY_1,
    }
    store(tables, BenchmarkMetrics, figure)
    finding = headline_unavailable(load_all())(tables, {"landed_on": DAY_1, "rules": "v1"})
    assert finding.problems == (["job ds: reward (mean) leaves out 2 of 10"] if warned else [])


def test_a_run_with_running_trials_is_named(tables: Tables) -> None:
    counts = ("registered", "present", "valid", "errors", "missing")
    told = ("n_input_tokens_n", "n_cache_tokens_n", "n_output_tokens_n", "cost_usd_n")
    row = {"source": "harbor", "benchmark": "ds", "rules": "v1", "landed_on": DAY_1, "revisions": []}
    row |= dict.fromkeys([*counts, *told], 0)
    store(tables, RunTotals, {**row, "run_id": "done", "running": 0}, {**row, "run_id": "on", "running": 2})
    finding = runs_finished(tables, {"landed_on": DAY_1, "rules": "v1"})
    assert (finding.rows, finding.problems) == (2, ["on ds: 2 running"])
