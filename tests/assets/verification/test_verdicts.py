from typing import Any

import polars as pl
import pytest

from tests.assets.verification.layer import attempt, days, frames, verdicts

FLOOR = {"predicate_id": "floor", "kind": "cash_floor", "min_cents": 0}
BREACHED = {"min_cash_cents": [-1], "cash_cents": [0]}
KNOWN = {"min_cash_cents": [1], "cash_cents": [0]}


def verdict(trajectory: dict[str, list[Any]], rows: list[dict[str, Any]] | None = None, **columns: Any) -> Any:
    made = attempt(days(**trajectory), parts={"task_predicates": rows or []}, **columns)
    return verdicts(frames(made)).row(0, named=True)


@pytest.mark.parametrize(
    ("trajectory", "rows", "columns", "class_", "reason"),
    [
        (KNOWN, [FLOOR], {}, "eligible", None),
        (BREACHED, [FLOOR], {}, "ineligible", "predicates_failed"),
        (BREACHED, [FLOOR, {"kind": "mystery"}], {}, "ineligible", "predicates_failed"),
        (KNOWN, [{"kind": "mystery"}], {}, "inconclusive", "predicates_inconclusive"),
        ({"min_cash_cents": [1]}, [FLOOR], {}, "inconclusive", "primary_value_unavailable"),
        ({"min_cash_cents": [-1]}, [FLOOR], {}, "ineligible", "predicates_failed"),
        (BREACHED, [FLOOR], {"finalization_status": None}, "inconclusive", "not_finalized"),
        (KNOWN, [FLOOR], {"finalization_status": "failed"}, "inconclusive", "not_finalized"),
        (KNOWN, [FLOOR], {"finalization_status": "inconclusive"}, "inconclusive", "not_finalized"),
        (BREACHED, [FLOOR], {"outcome": "agent_failure"}, "agent_failure", "agent_failure"),
        (KNOWN, [], {"outcome": "agent_failure", "failure_kind": "timeout"}, "agent_failure", "timeout"),
        (KNOWN, [], {"outcome": "infrastructure_failure"}, "infrastructure_failure", "infrastructure_failure"),
    ],
)
def test_the_first_class_that_applies(
    trajectory: dict[str, Any], rows: list[dict[str, Any]], columns: dict[str, Any], class_: str, reason: str | None
) -> None:
    found = verdict(trajectory, rows, **columns)
    assert (found["class"], found["reason"], found["basis"]) == (class_, reason, "recomputed")
    assert found["verified"] == (class_ in {"eligible", "ineligible"})
    assert found["eligible"] == {"eligible": True, "ineligible": False}.get(class_)


def test_predicates_are_listed_in_order_and_reported_without_finalization() -> None:
    rows = [
        FLOOR | {"predicate_id": "z"},
        {"predicate_id": "y", "kind": "mystery"},
        FLOOR | {"predicate_id": "b"},
        {"predicate_id": "x", "kind": "spending_budget"},
        FLOOR | {"predicate_id": "a"},
    ]
    found = verdict(BREACHED, rows, finalization_status=None)
    assert found["failed_predicates"] == ["z", "b", "a"]
    assert found["inconclusive_predicates"] == ["y", "x"]


def test_lists_of_predicates_are_empty_never_null() -> None:
    found = verdict(KNOWN, outcome="agent_failure")
    assert (found["failed_predicates"], found["inconclusive_predicates"]) == ([], [])


def test_an_ineligible_attempt_keeps_its_raw_primary_value_and_a_failed_one_has_none() -> None:
    trajectory = {"min_cash_cents": [1, -1], "cash_cents": [5, 12], "net_assets_cents": [1, 2]}
    ineligible = verdict(trajectory, [FLOOR], horizon_days=1)
    assert (ineligible["class"], ineligible["primary_value"]) == ("ineligible", 7.0)
    assert (ineligible["primary_unit"], ineligible["net_assets_closing_cents"]) == ("cents", 2)
    failed = verdict(trajectory, [FLOOR], outcome="agent_failure")
    assert (failed["primary_value"], failed["net_assets_closing_cents"]) == (None, None)


RECORDED = {"has_evidence": False, "shape": "harbor", "recorded_primary_value": 250_000.0}


@pytest.mark.parametrize(
    ("columns", "class_", "reason"),
    [
        ({"recorded_verified": True, "recorded_eligible": True}, "eligible", None),
        ({"recorded_verified": True, "recorded_eligible": False}, "ineligible", "recorded_ineligible"),
        ({"recorded_verified": False, "recorded_eligible": True}, "inconclusive", "recorded_unverified"),
        ({"recorded_verified": None, "recorded_eligible": True}, "inconclusive", "recorded_unverified"),
        ({"recorded_verified": True, "recorded_eligible": None}, "inconclusive", "eligible_not_recorded"),
        (
            {"recorded_verified": True, "recorded_eligible": True, "finalization_status": None},
            "inconclusive",
            "not_finalized",
        ),
        (
            {"recorded_verified": True, "recorded_eligible": True, "finalization_status": None, "shape": "summary"},
            "eligible",
            None,
        ),
        ({"outcome": "agent_failure", "recorded_verified": True}, "agent_failure", "agent_failure"),
    ],
)
def test_a_record_is_taken_as_it_is(columns: dict[str, Any], class_: str, reason: str | None) -> None:
    found = verdicts(frames(attempt([], **RECORDED | columns))).row(0, named=True)
    assert (found["class"], found["reason"], found["basis"]) == (class_, reason, "recorded")
    assert found["primary_value"] == (None if class_ == "agent_failure" else 250_000.0)


def test_a_recorded_minus_zero_is_plus_zero() -> None:
    found = verdicts(frames(attempt([], **RECORDED | {"recorded_primary_value": -0.0})))
    assert str(found["primary_value"].item()) == "0.0"


def test_attempts_come_by_day_and_id() -> None:
    made = frames(*(attempt(attempt_id=name) for name in "cab"))
    assert verdicts(made)["attempt_id"].to_list() == ["a", "b", "c"]
    assert verdicts(made).select(pl.col("rules").unique()).item() == "v1"
