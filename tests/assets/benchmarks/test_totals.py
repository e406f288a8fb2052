"""`run_totals`: what runs consisted of."""

import datetime as dt

import polars as pl
import pytest

from tests.assets.benchmarks.layer import DAY, ERROR, Row, attempts, observed, run, scored, totals

COUNTS = ("registered", "present", "valid", "errors", "missing", "running")


def told(*inputs: list[Row]) -> list[tuple[int, ...]]:
    return totals(*inputs).select(COUNTS).rows()


def trials(number: int, **columns: object) -> list[Row]:
    return observed("harbor", *[scored(reward=1.0)] * number, **columns)


def job(registered: int | None, **columns: object) -> list[Row]:
    return [run(source="harbor", registered=registered, **columns)]


def test_valid_and_errors_overlap() -> None:
    timeout = {"error": True, "exceptions": [{"type": "AgentTimeoutError"}]} | scored(reward=1.0)
    voided = {"error": True, "exceptions": [{"type": "ApiError"}]} | scored(reward=1.0)
    assert told(observed("harbor", timeout, voided, scored(reward=0.0), {})) == [(4, 4, 2, 2, 0, 0)]


def test_what_a_job_registered_and_left_nothing_is_missing() -> None:
    assert told(trials(391), job(400)) == [(400, 391, 391, 0, 9, 0)]
    assert told(trials(3), job(7, duplicates=2)) == [(5, 3, 3, 0, 2, 0)]
    assert told(trials(3), job(2)) == [(3, 3, 3, 0, 0, 0)]
    assert told(trials(3), job(None)) == [(3, 3, 3, 0, 0, 0)]


def test_a_job_without_trials_has_a_row_with_null_names() -> None:
    rows = totals([], job(5, running=2, revision="r1"))
    assert rows.select("run_id", "benchmark", "agent_name", "model_name", *COUNTS).rows() == [
        ("run", None, None, None, 5, 0, 0, 0, 5, 2)
    ]
    assert rows["revisions"].to_list() == [["r1"]]
    assert told([], job(0)) == []


def test_of_two_groups_none_claims_the_missing_trials() -> None:
    rows = totals(trials(2) + trials(1, model_name=None), job(6, running=1))
    assert rows.select("benchmark", "agent_name", "model_name", "registered", "missing", "running").rows() == [
        (None, None, None, 3, 3, 1),
        ("bench", "agent", None, 1, 0, 0),
        ("bench", "agent", "model", 2, 0, 0),
    ]


def test_a_job_made_only_of_duplicates_has_no_row() -> None:
    assert told([], job(3, duplicates=3)) == told([], job(5, duplicates=3)) == []


def test_attempts_that_left_nothing_are_registered() -> None:
    made = attempts("a", True, ERROR, None) + attempts("b", False, plan_k=None)
    assert told(made) == [(6, 3, 2, 1, 3, 0)]


def test_a_success_ends_the_attempts_of_strategy_pass() -> None:
    plan = {"plan_k": 3, "plan_strategy": "pass"}
    made = attempts("a", False, True, **plan) + attempts("b", False, **plan) + attempts("c", True, ERROR, None, **plan)
    assert told(made) == [(8, 5, 4, 1, 3, 0)]


def test_running_attempts_are_only_running() -> None:
    assert told(attempts("a", True) + attempts("b", True, True, running=True)) == [(1, 1, 1, 0, 0, 2)]
    assert told(attempts("b", True, running=True)) == [(0, 0, 0, 0, 0, 1)]
    assert told(trials(2), job(4, running=1)) == [(4, 2, 2, 0, 2, 1)]


def test_skipped_attempts_are_no_errors() -> None:
    assert told(attempts("a", {"status": "skipped", "error": True})) == [(1, 1, 0, 0, 0, 0)]


def test_why_a_run_has_no_metrics() -> None:
    plans = attempts("a", True, True, plan_k=2) + attempts("b", True, plan_k=3)
    rows = totals(
        [*plans, *attempts("a", 0.5, plan_k=2, plan_strategy="pass", run_id="two"), *attempts("a", True, run_id="z")]
    )
    assert rows.select("run_id", "reason", "registered", "present").rows() == [
        ("run", "mixed_attempt_plans", 5, 3),
        ("two", "strategy_not_supported", 2, 1),
        ("z", None, 1, 1),
    ]


@pytest.mark.parametrize(
    ("tokens", "total"),
    [
        ([1, None, 2**31], 2**31 + 1),
        ([2**53] * 1023, 2**53 * 1023),
        ([2**53] * 1024, None),
        ([None], None),
        ([0, 0], 0),
    ],
)
def test_sums_of_tokens_never_overflow(tokens: list[int | None], total: int | None) -> None:
    made = [row | {"n_output_tokens": given} for row, given in zip(trials(len(tokens)), tokens, strict=True)]
    row = totals(made).row(0, named=True)
    assert (row["n_output_tokens"], row["n_output_tokens_n"]) == (total, sum(given is not None for given in tokens))
    assert (row["n_input_tokens"], row["n_input_tokens_n"]) == (None, 0)


def test_cost_is_a_plain_sum_in_order() -> None:
    costs = [0.1, 0.2, 0.3, None, 1e-3, 7.7]
    made = [row | {"cost_usd": cost} for row, cost in zip(trials(len(costs)), costs, strict=True)]
    row = totals(made).row(0, named=True)
    assert (row["cost_usd"], row["cost_usd_n"]) == (0.1 + 0.2 + 0.3 + 1e-3 + 7.7, 5)
    assert totals([row | {"cost_usd": 1.7e308} for row in trials(2)])["cost_usd"].to_list() == [None]


def test_first_start_and_last_finish() -> None:
    times = [dt.datetime(2026, 11, 28, hour, tzinfo=dt.UTC) for hour in (3, 1, 2)]
    made = [row | {"started_at": at, "finished_at": at} for row, at in zip(trials(3), times, strict=True)]
    rows = totals(made + trials(1))
    assert rows.select("first_start", "last_finish").rows() == [(times[1], times[0])]


def test_revisions_of_all_files_about_a_run() -> None:
    files = [run(uri=uri, revision=revision) for uri, revision in (("a", "r2"), ("b", None), ("c", "r1"), ("d", "r2"))]
    assert totals(attempts("t", True), files)["revisions"].to_list() == [["r1", "r2"]]
    assert totals(attempts("t", True))["revisions"].to_list() == [[]]


def test_days_stand_apart() -> None:
    later = DAY + dt.timedelta(days=1)
    made = [*trials(2), *trials(1, landed_on=later)]
    rows = totals(made, [*job(3), *job(2, landed_on=later)])
    assert rows.select("landed_on", "registered", "missing").rows() == [(DAY, 3, 1), (later, 2, 1)]
    assert rows["rules"].to_list() == ["v1", "v1"]


def test_no_observations_no_totals() -> None:
    assert totals([]).is_empty()
    assert isinstance(totals([]), pl.DataFrame)
