from typing import Any

import polars as pl
import pytest

from tests.assets.verification.layer import Layer, attempt, days, frames, reconciled

PARTS: dict[str, list[dict[str, Any]]] = {
    "task_predicates": [
        {"predicate_id": "floor", "kind": "cash_floor", "min_cents": 0},
        {"predicate_id": "odd", "kind": "mystery", "position": 1},
        {
            "predicate_id": "keep",
            "part": "objectives",
            "position": 0,
            "kind": "objective",
            "metric": "cashCents",
            "from_day": 0,
            "to_day": 1,
            "min_value": 40.0,
        },
    ],
    "questions": [{"kind": "forecast", "metric": "cashCents", "outcome_on_day": 1, "scale": 10.0}],
    "answers": [{"prediction": 60.0}],
}


def told(field: str, value: float | None, value_type: str | None = None, **columns: Any) -> dict[str, Any]:
    kind = value_type or ("null" if value is None else "number")
    return {"field": field, "value": value, "value_type": kind, **columns}


def full(*figures: dict[str, Any], parts: dict[str, list[dict[str, Any]]] | None = None, **columns: Any) -> Layer:
    trajectory = days(min_cash_cents=[1, 1], cash_cents=[100, 50], net_assets_cents=[1, 777])
    given = PARTS if parts is None else parts
    return attempt(trajectory, parts={**given, "recorded_values": figures}, horizon_days=1, **columns)


def compared(made: Layer, *columns: str) -> list[tuple[Any, ...]]:
    return reconciled(frames(made)).select(columns or ("field", "recorded", "recomputed", "agrees", "reason")).rows()


@pytest.mark.parametrize(
    ("figure", "recomputed", "agrees", "reason"),
    [
        (told("constraint:floor", 1.0, "boolean"), 1.0, True, None),
        (told("constraint:floor", 0.0, "boolean"), 1.0, False, "differs"),
        (told("constraint:odd", None), None, True, None),
        (told("constraint:odd", 1.0, "boolean"), None, False, "not_recomputed"),
        (told("constraint:gameplay_budget", 1.0, "boolean"), 1.0, True, None),
        (told("objective:keep", 1.0, "boolean"), 1.0, True, None),
        (told("objective:keep", None), 1.0, False, "not_recorded"),
        (told("objective_worst:keep", 50.0), 50.0, True, None),
        (told("objective_worst:keep", 51.0), 50.0, False, "differs"),
        (told("primary_value", -50.0), -50.0, True, None),
        (told("primary_value", -50.0 * (1 + 9e-10)), -50.0, True, None),
        (told("primary_value", -50.0 * (1 + 2e-9)), -50.0, False, "differs"),
        (told("net_assets_closing", 777.0), 777.0, True, None),
        (told("score:q", -1.0), -1.0, True, None),
        (told("error:q", 1.0 + 5e-10), 1.0, True, None),
        (told("error:q", 0.0), 1.0, False, "differs"),
        # The odd constraint makes the attempt inconclusive: neither verified nor eligible, and without a reward.
        (told("verified", 0.0, "boolean"), 0.0, True, None),
        (told("verified", 1.0, "boolean"), 0.0, False, "differs"),
        (told("eligible", 0.0, "boolean"), None, True, None),
        (told("eligible", None), None, True, None),
        (told("eligible", 1.0, "boolean"), None, False, "not_recomputed"),
        (told("reward", 1.0), None, False, "not_recomputed"),
        (told("constraint:floor", None, "unreadable", text='"yes"'), 1.0, False, "unreadable"),
        (told("constraints", None, "unreadable", text="7"), None, False, "unreadable"),
        (told("primary_value", 1e308), -50.0, False, "differs"),
    ],
)
def test_a_recorded_figure_against_the_recomputed_one(
    figure: dict[str, Any], recomputed: float | None, agrees: bool, reason: str | None
) -> None:
    assert compared(full(figure)) == [(figure["field"], figure["value"], recomputed, agrees, reason)]


@pytest.mark.parametrize(("recorded", "agrees"), [(1.0, True), (1.0 + 1e-10, False), (0.0, False)])
def test_booleans_agree_exactly(recorded: float, agrees: bool) -> None:
    rows = compared(full(told("constraint:floor", recorded)), "agrees", "abs_diff")
    assert rows == [(agrees, pytest.approx(abs(recorded - 1.0)))]


@pytest.mark.parametrize(
    "figure",
    [
        told("constraint:undeclared", 1.0, "boolean"),
        told("score:unasked", 1.0),
        told("primary_metric", None, "text", text="net_cash"),
        told("reward_transform_version", 1.0),
    ],
)
def test_what_nobody_computes_makes_no_row(figure: dict[str, Any]) -> None:
    assert compared(full(figure)) == []


def test_figures_of_a_whole_document_make_a_row_only_when_unreadable() -> None:
    summary = {"attempt_id": None, "recorded_in": "store/s.json", "shape": "summary"}
    made = full(told("summary:completed", 3.0, **summary), told("summary:failed", None, "unreadable", **summary))
    assert compared(made, "attempt_id", "field", "reason") == [(None, "summary:failed", "unreadable")]


def test_a_declared_constraint_is_meant_before_the_undeclared_budget_of_its_id() -> None:
    rows = [{"predicate_id": "gameplay_budget", "kind": "cash_floor", "min_cents": 5}]
    made = full(told("constraint:gameplay_budget", 0.0, "boolean"), parts={"task_predicates": rows})
    assert compared(made, "recomputed", "agrees") == [(0.0, True)]


def test_a_figure_that_a_document_records_several_times_is_compared_each_time_in_one_order() -> None:
    unreadable = told("primary_value", None, "unreadable", text="?")
    given = [*(told("primary_value", float(value)) for value in range(40)), unreadable, told("primary_value", None)]
    rows = [("not_recorded", None), ("unreadable", None), *(("differs", float(value)) for value in range(40))]
    for figures in (given, given[::-1]):
        assert compared(full(*figures), "reason", "recorded") == rows


def test_an_eligible_attempt_agrees_with_its_record() -> None:
    figures = [told("eligible", 1.0, "boolean"), told("verified", 1.0, "boolean"), told("reward", 1 - 25 / 1_000_050)]
    rows = compared(full(*figures, parts={}), "field", "agrees")
    assert rows == [("eligible", True), ("reward", True), ("verified", True)]


def test_documents_that_lost_are_compared_with_the_winner() -> None:
    lost = {"recorded_in": "store/late.json", "shape": "summary"}
    made = full(told("primary_value", -50.0), told("primary_value", 9.0, **lost))
    assert compared(made, "recorded_in", "recorded", "recomputed", "agrees") == [
        ("store/a.json", -50.0, -50.0, True),
        ("store/late.json", 9.0, -50.0, False),
    ]


def test_a_failed_attempt_has_only_its_class_to_compare() -> None:
    figures = [told("verified", 0.0, "boolean"), told("constraint:floor", 1.0, "boolean"), told("primary_value", 5.0)]
    assert compared(full(*figures, outcome="agent_failure"), "field", "agrees", "reason") == [
        ("primary_value", False, "not_recomputed"),
        ("verified", True, None),
    ]


RECORDED = {
    "has_evidence": False,
    "shape": "harbor",
    "recorded_verified": True,
    "recorded_eligible": True,
    "recorded_primary_value": 250_000.0,
}


def test_a_record_is_not_compared_with_itself_but_its_reward_is() -> None:
    own = [
        told("eligible", 1.0, "boolean"),
        told("primary_value", 250_000.0),
        told("constraint:floor", 1.0, "boolean"),
        told("constraint:roof", None, "unreadable"),
        told("reward", 1.2),
    ]
    side_file = {"recorded_in": "store/reward.json", "shape": "harbor"}
    others = [
        told("eligible", 0.0, **side_file),
        told("primary_value", 250_000.0, **side_file),
        told("constraint:floor", 0.0, "boolean", **side_file),
    ]
    made = attempt([], parts={"recorded_values": [*own, *others]}, **RECORDED)
    assert compared(made, "field", "recorded_in", "recomputed", "agrees", "reason") == [
        ("constraint:floor", "store/reward.json", 1.0, False, "differs"),
        ("constraint:roof", "store/a.json", None, False, "unreadable"),
        ("eligible", "store/reward.json", 1.0, False, "differs"),
        ("primary_value", "store/reward.json", 250_000.0, True, None),
        ("reward", "store/a.json", pytest.approx(1 + 0.5 * 0.2), False, "differs"),
    ]


def test_rows_carry_rule_set_and_day_and_no_run() -> None:
    rows = reconciled(frames(full(told("primary_value", -50.0))))
    assert rows.select("rules", "run_id", pl.col("landed_on").is_not_null()).rows() == [("v1", None, True)]
