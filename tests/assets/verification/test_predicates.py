import datetime as dt
from typing import Any

import msgspec
import polars as pl
import pytest
from polars.testing import assert_frame_equal

from assets.contract import conform, empty
from assets.verification.contract import PredicateResults
from assets.verification.predicates import predicate_results
from tests.assets.verification.layer import DAY, V1, Layer, attempt, days, frames, predicates

NEXT_DAY = DAY + dt.timedelta(days=1)
QUESTION = {"kind": "categorical", "required": True, "candidates": ["A"], "equivalence_groups": [["A"]], "truth": "A"}
ALL_PARTS: dict[str, list[dict[str, Any]]] = {
    "task_predicates": [
        {"predicate_id": "z", "kind": "mystery", "position": 0},
        {"predicate_id": "keep", "part": "objectives", "kind": "objective", "position": 0, "metric": "cashCents"}
        | {"from_day": 0, "to_day": 0, "min_value": 0.0},
        {"predicate_id": "a", "kind": "horizon", "position": 1},
        {"predicate_id": "token_budget", "kind": "token_budget", "position": 2},
        {"predicate_id": "o", "kind": "objective", "position": 3, "metric": "cashCents", "from_day": 0, "to_day": 0},
    ],
    "questions": [QUESTION],
}


def busy(**changes: Any) -> Layer:
    return attempt(days(cash_cents=[1]), parts=ALL_PARTS, token_budget=5, reported_tokens=1, **changes)


def test_predicates_come_in_the_order_of_the_contract() -> None:
    assert predicates(frames(busy())).select("kind", "predicate_id", "outcome", "reason").rows() == [
        ("mystery", "z", "inconclusive", "unknown_kind"),
        ("horizon", "a", "pass", None),
        ("token_budget", "token_budget", "inconclusive", "unknown_kind"),
        ("objective", "o", "inconclusive", "unknown_kind"),
        ("gameplay_budget", "gameplay_budget", "pass", None),
        ("token_budget", "token_budget", "pass", None),
        ("objective", "keep", "pass", None),
        ("required_conclusion", "q", "fail", "answer_missing"),
    ]


@pytest.mark.parametrize(
    "columns",
    [
        {"outcome": "agent_failure"},
        {"outcome": "infrastructure_failure"},
        {"has_evidence": False, "shape": "finalizer"},
    ],
)
def test_only_completed_attempts_with_evidence_are_judged(columns: dict[str, Any]) -> None:
    assert_frame_equal(predicates(frames(busy(**columns))), empty(PredicateResults))


def test_an_attempt_that_was_not_finalized_is_judged_all_the_same() -> None:
    assert predicates(frames(busy(finalization_status=None))).height == 8


def test_an_attempt_on_two_days_is_judged_twice_each_from_its_own_rows() -> None:
    floor = {"kind": "cash_floor", "min_cents": 0}
    one = attempt(days(min_cash_cents=[1]), parts={"task_predicates": [floor]})
    other = attempt(days(min_cash_cents=[-1]), landed_on=NEXT_DAY, parts={"task_predicates": [floor]})
    table = predicates(frames(one, other)).filter(pl.col("kind") == "cash_floor")
    assert table.select("landed_on", "outcome").rows() == [(DAY, "pass"), (NEXT_DAY, "fail")]


def test_results_do_not_depend_on_the_order_of_rows() -> None:
    tables = frames(*(busy(attempt_id=f"a{number}", landed_on=day) for number in range(9) for day in (NEXT_DAY, DAY)))
    shuffled = {name: frame.collect().sample(fraction=1, shuffle=True, seed=3).lazy() for name, frame in tables.items()}
    assert_frame_equal(predicates(shuffled), predicates(tables))
    assert predicates(tables)["landed_on"].is_sorted()


def test_rule_sets_are_judged_side_by_side_in_one_query() -> None:
    other = msgspec.structs.replace(V1, id="v2", gameplay=msgspec.structs.replace(V1.gameplay, player_calls=0))
    tables = frames(busy())
    names = ("attempts", "trajectory_days", "task_predicates", "agreements", "questions", "answers", "branches")
    both = pl.concat([predicate_results(*(tables[name] for name in names), rules) for rules in (V1, other)])
    rows = conform(PredicateResults, both.collect(engine="streaming"))
    assert rows["rules"].to_list() == ["v1"] * 8 + ["v2"] * 8
    assert rows.filter(pl.col("kind") == "gameplay_budget")["outcome"].to_list() == ["pass", "fail"]
