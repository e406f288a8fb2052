"""Faults of benchmark figures elsewhere, each as the smallest store that shows it, with the right figures."""

import datetime as dt
import json
from collections.abc import Mapping
from typing import Any

import polars as pl
import pytest

from pipelines.settings import Settings
from pipelines.summary import RunSummary
from tests.integration.warehouses import ran, rows, settings, write

DAY = "2026-11-28"
Files = dict[str, bytes]


def trial(job: str, name: str, rewards: Any, *, task: str = "a", **changes: Any) -> Files:
    """A Harbor trial, by default one that ended without an exception."""
    body = {
        "id": f"{job}-{name}",
        "task_name": task,
        "trial_name": name,
        "source": "ds",
        "agent_info": {"name": "oracle", "version": "1", "model_info": {"name": "m", "provider": "p"}},
        "agent_result": {
            "n_input_tokens": 2_000_000_000,
            "n_cache_tokens": None,
            "n_output_tokens": 1,
            "cost_usd": 0.5,
        },
        "verifier_result": None if rewards is None else {"rewards": rewards},
        "exception_info": None,
        "started_at": "2026-11-28T01:00:00Z",
        "finished_at": "2026-11-28T02:00:00Z",
        **changes,
    }
    return {f"harbor/{DAY}/{job}/{name}/result.json": json.dumps(body).encode()}


def exception(kind: str) -> dict[str, Any]:
    return {"exception_type": kind, "exception_message": "m", "occurred_at": "2026-11-28T01:30:00Z"}


def job(name: str, registered: int) -> Files:
    body = {"id": name, "n_total_trials": registered, "stats": {"evals": {}}}
    return {f"harbor/{DAY}/{name}/result.json": json.dumps(body).encode()}


def records(run: str, *lines: Mapping[str, Any] | str) -> Files:
    """Task records of the older AgentCompass format, one a line; text stands as it is."""
    told = "\n".join(line if isinstance(line, str) else json.dumps(line) for line in lines)
    return {f"agentcompass/{DAY}/{run}/bench/results.jsonl": told.encode()}


def record(task: str, correct: bool | None = None, **changes: Any) -> dict[str, Any]:
    return {"task_id": task, "status": "COMPLETED", "correct": correct, "score": None, "error": "", **changes}


SURVIVOR = {
    **trial("survivor", "1", {"reward": 1.0}),
    **{
        key: content
        for number in "234"
        for key, content in trial("survivor", number, None, exception_info=exception("RateLimitError")).items()
    },
}
COPIED = {**trial("copied", "1", {"reward": 1.0}), **trial("copied", "2", {"reward": 0.0}), **job("copied", 2)}
STORE: Files = {
    **trial("denominator", "scored", {"reward": 1.0}),
    **trial("denominator", "errored", None, exception_info=exception("SandboxBuildFailedError")),
    **trial("denominator", "none", {"reward": None}),
    **trial("denominator", "nan", {"reward": float("nan")}),
    **job("denominator", 4),
    **SURVIVOR,
    **trial("few", "1", {"reward": 1.0}),
    **trial("timeout", "1", {"reward": 1.0}, exception_info=exception("AgentTimeoutError")),
    **trial("keys", "1", {"reward": 1.0, "speed": 0.5}),
    **trial("keys", "2", {"reward": 0.0}),
    **COPIED,
    **{key.replace("/copied/", "/outer/copied/"): content for key, content in COPIED.items()},
    **trial("absent", "1", {"reward": 1.0}),
    **job("absent", 4),
    **trial("naive", "1", {"reward": 1.0}, started_at="2026-11-28T01:00:00"),
    **trial(
        "steps",
        "1",
        {"reward": 1.0},
        step_results=[{"step_name": "s", "verifier_result": None, "exception_info": exception("CancelledError")}],
    ),
    **records("torn", record("a", correct=True), record("b", correct=False), '{"task_id": "c", "status": "COMP'),
    **records(
        "crashed",
        record("a", correct=True),
        record("b", status="RUN_ERROR", error="sandbox died"),
        record("c", status="EVAL_ERROR", correct=False, score=0.0, error="judge died"),
        record("d", correct=None),
    ),
}


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Settings:
    folder = tmp_path_factory.mktemp("faults")
    write(folder, STORE)
    return settings(folder)


@pytest.fixture(scope="module")
def summary(place: Settings) -> RunSummary:
    return ran(place)


@pytest.fixture
def metrics(place: Settings, summary: RunSummary) -> pl.DataFrame:
    assert summary.attempts
    return rows(place, "benchmark_metrics")


@pytest.fixture
def totals(place: Settings, summary: RunSummary) -> pl.DataFrame:
    assert summary.attempts
    return rows(place, "run_totals")


def figure(metrics: pl.DataFrame, run: str, policy: str, reducer: str = "mean", k: int | None = None) -> Any:
    """Value and counts of the one overall row; null where there is no row."""
    found = metrics.filter(
        pl.col("run_id") == run,
        pl.col("policy") == policy,
        pl.col("reducer") == reducer,
        pl.col("scope") == "overall",
        pl.col("metric").is_in(["reward", "accuracy"]),
        pl.col("k").eq_missing(pl.lit(k)),
    ).select("value", "total", "evaluated", "unavailable")
    assert found.height <= 1
    return found.row(0) if found.height else None


def total(totals: pl.DataFrame, run: str, *columns: str) -> tuple[Any, ...]:
    return totals.filter(pl.col("run_id") == run).select(columns).row(0)


def test_errored_nan_and_null_scores_stay_in_the_denominator(metrics: pl.DataFrame, totals: pl.DataFrame) -> None:
    assert figure(metrics, "denominator", "strict") == (0.25, 4, 1, 3)
    assert figure(metrics, "denominator", "scored_only") == (1.0, 4, 1, 3)
    assert total(totals, "denominator", "registered", "present", "valid", "missing") == (4, 3, 1, 1)


def test_an_infrastructure_failure_is_no_zero(place: Settings, summary: RunSummary) -> None:
    assert summary.attempts
    reward = rows(place, "rewards").filter(pl.col("attempt_id") == "harbor:denominator-errored")
    assert reward.select("reward", "reason").row(0) == (None, "SandboxBuildFailedError")


def test_a_crash_is_neither_right_nor_wrong(metrics: pl.DataFrame) -> None:
    assert figure(metrics, "crashed", "scored_only", "native", 1) == (1.0, 4, 1, 3)
    assert figure(metrics, "crashed", "strict", "native", 1) == (0.25, 4, 1, 3)


def test_the_single_surviving_trial_does_not_make_pass_at_1(metrics: pl.DataFrame) -> None:
    assert figure(metrics, "survivor", "strict", "pass_unbiased", 1)[0] == 0.25
    assert figure(metrics, "survivor", "strict") == (0.25, 4, 1, 3)
    assert figure(metrics, "survivor", "scored_only") == (1.0, 4, 1, 3)


def test_a_headline_of_survivors_is_warned_of(summary: RunSummary) -> None:
    assert any(warning.table == "benchmark_metrics" for warning in summary.warnings)


def test_fewer_trials_than_k_never_pass(metrics: pl.DataFrame) -> None:
    claimed = metrics.filter(pl.col("run_id") == "few", pl.col("reducer") == "pass_unbiased", pl.col("k") > 1)
    assert claimed["value"].drop_nulls().is_empty()


def test_a_timed_out_trial_keeps_its_reward(metrics: pl.DataFrame, totals: pl.DataFrame) -> None:
    assert figure(metrics, "timeout", "strict") == (1.0, 1, 1, 0)
    assert total(totals, "timeout", "valid", "errors") == (1, 1)


def test_extra_reward_keys_do_not_cancel_pass_at_k(metrics: pl.DataFrame) -> None:
    assert figure(metrics, "keys", "strict", "pass_unbiased", 2)[0] == 1.0
    assert figure(metrics, "keys", "strict", "pass_unbiased", 1)[0] == 0.5
    assert (figure(metrics, "keys", "harbor_0_26", "pass_unbiased", 2) or (None,))[0] is None


def test_a_torn_last_line_is_one_record(place: Settings, metrics: pl.DataFrame) -> None:
    assert figure(metrics, "torn", "strict", "native", 1)[0] == 0.5
    torn = rows(place, "quarantine").filter(pl.col("uri").str.contains("/torn/"))
    assert torn.select("stage", "reason").rows() == [("decode", "not_json")]
    assert torn["path"].item().startswith("line 3")


def test_a_job_copied_inside_another_counts_once(place: Settings, metrics: pl.DataFrame, totals: pl.DataFrame) -> None:
    assert figure(metrics, "copied", "strict") == (0.5, 2, 2, 0)
    assert total(totals, "copied", "registered", "present", "missing") == (2, 2, 0)
    assert totals.filter(pl.col("run_id").str.starts_with("outer")).is_empty()
    copies = rows(place, "attempts").filter(pl.col("attempt_id").str.starts_with("harbor:copied-"))
    assert copies["identical_copies"].to_list() == [1, 1]


def test_trials_that_left_no_file_are_missing(metrics: pl.DataFrame, totals: pl.DataFrame) -> None:
    assert figure(metrics, "absent", "strict") == (0.25, 4, 1, 3)
    assert total(totals, "absent", "registered", "present", "missing") == (4, 1, 3)


def test_a_naive_time_is_not_utc(place: Settings, summary: RunSummary) -> None:
    assert summary.attempts
    seen = rows(place, "observations").filter(pl.col("run_id") == "naive")
    assert seen.select("started_at", "started_at_text", "finished_at").row(0) == (
        None,
        "2026-11-28T01:00:00",
        dt.datetime(2026, 11, 28, 2, tzinfo=dt.UTC),
    )


def test_an_exception_recorded_only_in_a_step_is_seen(metrics: pl.DataFrame, totals: pl.DataFrame) -> None:
    assert total(totals, "steps", "valid", "errors") == (0, 1)
    assert figure(metrics, "steps", "strict") == (0.0, 1, 0, 1)
    assert figure(metrics, "steps", "harbor_0_25")[0] == 1.0


def test_token_sums_are_beyond_32_bits(totals: pl.DataFrame) -> None:
    assert total(totals, "survivor", "n_input_tokens", "n_input_tokens_n", "n_cache_tokens") == (8_000_000_000, 4, None)
