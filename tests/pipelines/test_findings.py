"""What is found in stored partitions: each question, on a few rows."""

import datetime as dt
from pathlib import Path

import pytest

from assets.attempts.contract import Attempts
from assets.benchmarks.contract import BenchmarkMetrics, RunTotals
from assets.contract import empty, partition_by
from assets.landing.contract import Quarantine, RawArtifacts
from assets.reconciliation.contract import Reconciliation
from assets.rulesets.loader import load_all
from assets.tables import TABLES
from assets.verification.assets import verifications
from assets.verification.contract import Verifications
from pipelines.findings import (
    Finding,
    headline_unavailable,
    one_day_each,
    one_verdict_each,
    quarantine_rates,
    recorded_agrees,
    runs_finished,
    usual_volume,
)
from pipelines.staleness import recipe
from pipelines.storage.tables import Tables
from tests.pipelines.cli.warehouse import DAY_1, DAY_2, arrival, attempt, store, verdict

NEVER = dt.date(2026, 1, 1)


@pytest.fixture
def tables(tmp_path: Path) -> Tables:
    made = Tables(str(tmp_path))
    made.ensure(TABLES.values())
    return made


def test_an_attempt_on_two_days_is_named(tables: Tables) -> None:
    store(tables, Attempts, attempt("worldseq:a", DAY_1), attempt("worldseq:a", DAY_2), attempt("worldseq:b", DAY_1))
    assert one_day_each(tables, [{"landed_on": DAY_1}]) == [Finding(2, [f"worldseq:a also landed on {DAY_2}"])]
    empty, second = one_day_each(tables, [{"landed_on": NEVER}, {"landed_on": DAY_2}])
    assert (empty, second) == (Finding(0, []), Finding(1, [f"worldseq:a also landed on {DAY_1}"]))


def test_each_attempt_has_one_verdict(tables: Tables) -> None:
    store(tables, Attempts, attempt("worldseq:a", DAY_1), attempt("worldseq:b", DAY_1))
    store(tables, Verifications, verdict("worldseq:b", DAY_1, "eligible"), verdict("worldseq:c", DAY_1, "eligible"))
    found = one_verdict_each(load_all())(tables, {"landed_on": DAY_1, "rules": "v1"})
    assert found == Finding(2, ["worldseq:a has no verdict", "worldseq:c is no attempt"])


def test_attempts_that_were_decoded_after_their_verdicts_are_nobodys_fault(tables: Tables) -> None:
    store(tables, Attempts, attempt("worldseq:a", DAY_1), attempt("worldseq:b", DAY_1))
    store(tables, Verifications, verdict("worldseq:b", DAY_1, "eligible"))
    key = {"landed_on": DAY_1, "rules": "v1"}
    for name in recipe(verifications.get_asset_spec()).inputs:
        if name != "attempts":
            keys = {column: key[column] for column in partition_by(TABLES[name])}
            tables.replace(TABLES[name], empty(TABLES[name]), [keys])
    assert one_verdict_each(load_all())(tables, key) == Finding(2, [])


def test_a_figure_that_differs_is_named(tables: Tables) -> None:
    row = {"attempt_id": "worldseq:a", "field": "eligible", "recorded_in": "x", "rules": "v1", "landed_on": DAY_1}
    differs = {**row, "recorded": 1.0, "recomputed": 0.0, "abs_diff": 1.0, "agrees": False, "reason": "differs"}
    store(tables, Reconciliation, {**row, "field": "verified", "agrees": True}, differs)
    found = recorded_agrees(tables, {"landed_on": DAY_1, "rules": "v1"})
    assert found == Finding(2, ["worldseq:a eligible: 1.0 recorded, 0.0 recomputed"])


def test_of_many_figures_that_differ_the_first_are_told_and_the_others_counted(tables: Tables) -> None:
    row = {"field": "eligible", "recorded_in": "x", "rules": "v1", "landed_on": DAY_1, "agrees": False}
    differs = {"recorded": 1.0, "recomputed": 0.0, "abs_diff": 1.0, "reason": "differs"}
    store(tables, Reconciliation, *(row | differs | {"attempt_id": f"worldseq:{n:03}"} for n in range(25)))
    rows, problems, untold = recorded_agrees(tables, {"landed_on": DAY_1, "rules": "v1"})
    assert (rows, len(problems), untold) == (25, 10, 15)
    assert problems[-1] == "worldseq:009 eligible: 1.0 recorded, 0.0 recomputed"


@pytest.mark.parametrize(("documents", "problems"), [(20, []), (19, ["1 of 19 documents: 1 x decode not_json"])])
def test_a_twentieth_in_quarantine_is_no_warning_yet(tables: Tables, documents: int, problems: list[str]) -> None:
    store(tables, RawArtifacts, *(arrival(f"/store/{number}.json", b"{}") for number in range(documents)))
    row = {"uri": "/store/0.json", "source": "worldseq", "landed_on": DAY_1, "stage": "decode", "reason": "not_json"}
    store(tables, Quarantine, row)
    found = quarantine_rates(tables, [{"landed_on": NEVER}, {"landed_on": DAY_1}])
    assert found == [Finding(0, []), Finding(documents, problems)]


def test_the_most_frequent_reasons_are_told(tables: Tables) -> None:
    store(tables, RawArtifacts, *(arrival(f"/store/{number}.json", b"{}") for number in range(9)))
    row = {"source": "worldseq", "landed_on": DAY_1, "stage": "decode"}
    reasons = enumerate(("a", "b", "b", "c", "c", "c", "d", "d", "d"))
    store(tables, Quarantine, *({**row, "uri": f"/store/{number}.json", "reason": why} for number, why in reasons))
    [finding] = quarantine_rates(tables, [{"landed_on": DAY_1}])
    assert finding.problems == ["9 of 9 documents: 3 x decode c, 3 x decode d, 2 x decode b, …"]


def test_volume_is_asked_of_days_that_are_over(tables: Tables) -> None:
    today = dt.datetime.now(dt.UTC).date()
    days = [today - dt.timedelta(days=back) for back in range(7)]
    for day in days[2:]:
        store(tables, Attempts, *(attempt(f"worldseq:{day}-{number}", day) for number in range(4)))
    for day in days[:2]:
        store(tables, Attempts, attempt(f"worldseq:{day}", day))
    found = usual_volume(tables, [{"landed_on": day} for day in days[:3]])
    assert found == [Finding(0, []), Finding(1, ["worldseq: 1 attempts, where 4 are usual"]), Finding(1, [])]


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
    assert finding == Finding(2, ["on ds: 2 running"])
