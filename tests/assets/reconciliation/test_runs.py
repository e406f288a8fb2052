"""What a run's own file reports against what its trials come to."""

from typing import Any

import polars as pl
import pytest

from assets.contract import conform
from assets.reconciliation.contract import Reconciliation
from assets.reconciliation.runs import reconciliation
from assets.rulesets.loader import load_all
from tests.assets.reconciliation.benchmark_rows import metrics, recorded, totals

V1 = load_all()["v1"]
JOB = {"source": "harbor", "run_id": "job"}
ORACLE = {"agent_name": "oracle", "model_name": "m1", "benchmark": "demo"}
MEANS = [
    {"metric": "reward", "policy": "scored_only", "value": 0.6},
    {"metric": "reward", "policy": "harbor_0_26", "value": 0.6},
    {"metric": "reward", "policy": "harbor_0_25", "value": 0.4},
    {"metric": "reward", "policy": "strict", "value": 0.3},
]
TOTALS = {"valid": 5, "errors": 3, "present": 7, "n_input_tokens": 70, "n_input_tokens_n": 7}


def compared(told: pl.LazyFrame, of_metrics: pl.LazyFrame, of_totals: pl.LazyFrame) -> list[tuple[Any, ...]]:
    rows = reconciliation(told, of_metrics, of_totals, V1).collect()
    return conform(Reconciliation, rows).select("field", "recorded", "recomputed", "agrees", "reason").rows()


@pytest.mark.parametrize(
    ("value", "recomputed", "agrees", "reason"),
    [
        (0.6, 0.6, True, "harbor_0_26"),
        (0.4, 0.4, True, "harbor_0_25"),
        (0.4 + 1e-11, 0.4, True, "harbor_0_25"),
        (0.3, 0.3, True, "strict"),
        (0.5, 0.6, False, "differs"),
        (None, 0.6, False, "not_recorded"),
    ],
)
def test_a_mean_is_compared_under_whichever_rule_it_was_made(
    value: float | None, recomputed: float, agrees: bool, reason: str
) -> None:
    told = recorded({"field": "job:mean:oracle__m1__demo", "value": value}, **JOB)
    found = compared(told, metrics(*MEANS, **JOB, **ORACLE), totals(**JOB))
    assert found == [("job:mean:oracle__m1__demo", value, recomputed, agrees, reason)]


def test_counts_tokens_and_pass_at_k_of_an_evaluation() -> None:
    told = recorded(
        {"field": "job:n_trials:oracle__m1__demo", "value": 5.0},
        {"field": "job:n_errors:oracle__m1__demo", "value": 4.0},
        {"field": "job:n_input_tokens", "value": 70.0},
        {"field": "job:n_cache_tokens", "value": 1.0},
        {"field": "job:n_errored_trials", "value": 3.0},
        {"field": "job:pass@2:oracle__m1__demo", "value": 1.0},
        {"field": "job:invented", "value": 1.0},
        **JOB,
    )
    passes = metrics(
        {"metric": "reward", "reducer": "pass_unbiased", "k": 2, "policy": "harbor_0_26", "value": 1.0}, **JOB, **ORACLE
    )
    assert compared(told, passes, totals(TOTALS, **JOB, **ORACLE)) == [
        ("job:n_cache_tokens", 1.0, None, False, "not_recomputed"),
        ("job:n_errored_trials", 3.0, 3.0, True, None),
        ("job:n_errors:oracle__m1__demo", 4.0, 3.0, False, "differs"),
        ("job:n_input_tokens", 70.0, 70.0, True, None),
        ("job:n_trials:oracle__m1__demo", 5.0, 5.0, True, None),
        ("job:pass@2:oracle__m1__demo", 1.0, 1.0, True, "harbor_0_26"),
    ]


def test_several_reward_keys_are_reported_by_their_names() -> None:
    told = recorded({"field": "job:speed:oracle__demo", "value": 0.5}, **JOB)
    rows = [{"metric": key, "policy": "harbor_0_26", "value": 0.5} for key in ("reward", "speed")]
    named = {**ORACLE, "model_name": None}
    assert compared(told, metrics(*rows, **JOB, **named), totals(**JOB))[0][3:] == (True, "harbor_0_26")


def test_another_day_of_the_same_run_is_another_run() -> None:
    told = recorded({"field": "job:mean:oracle__m1__demo", "value": 0.6}, **JOB)
    elsewhere = metrics(*MEANS, **JOB, **ORACLE).with_columns(pl.col("landed_on").dt.offset_by("1d"))
    assert compared(told, elsewhere, totals(**JOB)) == []


def test_a_terminal_bench_run() -> None:
    run = {"source": "harbor", "run_id": "run", "benchmark": "terminal-bench"}
    told = recorded(
        {"field": "job:accuracy", "value": 0.25},
        {"field": "job:n_resolved", "value": 1.0},
        {"field": "job:n_unresolved", "value": 3.0},
        {"field": "job:pass@2", "value": 0.5},
        source="harbor",
        run_id="run",
    )
    rows = metrics(
        {"metric": "accuracy", "policy": "strict", "value": 0.25, "total": 4},
        {"metric": "accuracy", "policy": "scored_only", "value": 0.5, "total": 4},
        {"metric": "accuracy", "policy": "strict", "reducer": "pass_unbiased", "k": 2, "value": 0.5, "total": 2},
        **run,
    )
    assert [row[2:] for row in compared(told, rows, totals({}, **run))] == [
        (0.25, True, "strict"),
        (1.0, True, None),
        (3.0, True, None),
        (0.5, True, "strict"),
    ]


def test_an_agentforge_job() -> None:
    job = {"source": "agentforge", "run_id": "j-1"}
    told = recorded(
        {"field": "job:mean_reward", "value": 0.6},
        {"field": "job:pass_at_1", "value": 0.25},
        {"field": "job:pass_at_k", "value": 1.0},
        **job,
    )
    rows = metrics(
        {"metric": "reward", "policy": "strict", "value": 0.6},
        {"metric": "reward", "policy": "scored_only", "value": 0.8},
        {"metric": "passed", "policy": "strict", "value": 0.25},
        {"metric": "passed", "policy": "strict", "reducer": "pass", "k": 4, "value": 0.0},
        **job,
    )
    assert compared(told, rows, totals(**job)) == [
        ("job:mean_reward", 0.6, 0.6, True, "strict"),
        ("job:pass_at_1", 0.25, 0.25, True, "strict"),
        ("job:pass_at_k", 1.0, 0.0, False, "differs"),
    ]
