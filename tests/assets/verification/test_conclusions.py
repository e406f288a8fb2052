from typing import Any

import polars as pl
import pytest

from tests.assets.verification.layer import attempt, days, frames, predicates

CAUSE = {
    "kind": "categorical",
    "required": True,
    "candidates": ["A", "B", "C"],
    "equivalence_groups": [["A", "B"], ["C"]],
    "truth": "A",
}
PRICE = {
    "kind": "counterfactual",
    "required": True,
    "metric": "lostWorkUnits",
    "outcome_on_day": 5,
    "scale": 10.0,
    "checkpoint_day": 4,
    "one_shot_action": "raise_price",
    "action_state": "available",
    "supported_conclusion": ["decrease"],
    "factual_prefix_digest": "p1",
}
CONCLUSION = {"conclusion": ["B", "A"], "unresolved": True}
SOUND = [
    {"branch": "baseline", "day_values": [{"day": 4, "value": 1.0}, {"day": 5, "value": 40.0}]},
    {"branch": "intervention", "day_values": [{"day": 5, "value": 34.0}]},
]


def judged(
    kind: str,
    question: dict[str, Any],
    answers: list[dict[str, Any]] | None = None,
    branches: list[dict[str, Any]] | None = None,
    last_day: int | None = 5,
) -> tuple[str, str | None]:
    trajectory = [] if last_day is None else days(cash_cents=[0] * (last_day + 1))
    parts = {"questions": [question], "answers": answers or [], "branches": SOUND if branches is None else branches}
    table = predicates(frames(attempt(trajectory, parts=parts)))
    outcome, reason = table.filter(pl.col("kind") == kind).select("outcome", "reason").row(0)
    return outcome, reason


@pytest.mark.parametrize(
    ("answer", "outcome"),
    [
        (CONCLUSION, "pass"),
        (CONCLUSION | {"conclusion": ["A", "B", "A"]}, "pass"),
        (CONCLUSION | {"probabilities": [{"candidate": "A", "probability": 7.0}]}, "pass"),
        (CONCLUSION | {"unresolved": False}, "fail"),
        (CONCLUSION | {"unresolved": None}, "fail"),
        (CONCLUSION | {"conclusion": ["A"]}, "fail"),
        (CONCLUSION | {"conclusion": ["A", "B", "C"]}, "fail"),
        (CONCLUSION | {"conclusion": []}, "fail"),
        (CONCLUSION | {"conclusion": None}, "fail"),
    ],
)
def test_the_conclusion_is_the_group_that_holds_the_truth(answer: dict[str, Any], outcome: str) -> None:
    expected = (outcome, None if outcome == "pass" else "conclusion_differs")
    assert judged("required_conclusion", CAUSE, [answer]) == expected


@pytest.mark.parametrize(
    ("answer", "outcome"),
    [
        ({"conclusion": ["C"], "unresolved": False}, "pass"),
        ({"conclusion": ["C"], "unresolved": True}, "fail"),
    ],
)
def test_a_single_member_is_resolved(answer: dict[str, Any], outcome: str) -> None:
    assert judged("required_conclusion", CAUSE | {"truth": "C"}, [answer])[0] == outcome


@pytest.mark.parametrize(
    ("supported", "conclusion", "unresolved", "outcome"),
    [
        (["decrease"], ["decrease"], False, "pass"),
        (["decrease", "decrease"], ["decrease"], False, "pass"),
        (["decrease", "none"], ["none", "decrease"], True, "pass"),
        (["decrease", "none"], ["none", "decrease"], False, "fail"),
        (["decrease"], ["increase"], False, "fail"),
    ],
)
def test_the_conclusion_of_a_counterfactual(
    supported: list[str], conclusion: list[str], unresolved: bool, outcome: str
) -> None:
    answer = {"conclusion": conclusion, "unresolved": unresolved}
    assert judged("required_conclusion", PRICE | {"supported_conclusion": supported}, [answer])[0] == outcome


LATE = CONCLUSION | {"submitted_on_day": 10}
PENDING = CONCLUSION | {"status": "pending"}


@pytest.mark.parametrize("answers", [[], [LATE], [PENDING], [CONCLUSION | {"status": "Accepted"}]])
def test_no_accepted_answer_in_time_fails_even_without_the_truth(answers: list[dict[str, Any]]) -> None:
    for truth in ("A", None):
        assert judged("required_conclusion", CAUSE | {"truth": truth}, answers) == ("fail", "answer_missing")


@pytest.mark.parametrize(
    "question", [CAUSE | {"truth": None}, PRICE | {"supported_conclusion": None}, PRICE | {"kind": "forecast"}]
)
def test_a_missing_truth_is_never_a_failure(question: dict[str, Any]) -> None:
    assert judged("required_conclusion", question, [CONCLUSION]) == ("inconclusive", "evidence_missing")


def test_an_earlier_better_conclusion_is_not_searched_for() -> None:
    later = {"conclusion": ["C"], "submitted_on_day": 2}
    assert judged("required_conclusion", CAUSE, [CONCLUSION, later]) == ("fail", "conclusion_differs")


@pytest.mark.parametrize(
    "question", [CAUSE | {"candidates": ["A", "A", "C"]}, PRICE | {"scale": 0.0}, PRICE | {"supported_conclusion": []}]
)
def test_a_faulty_question_is_inconclusive_whatever_was_answered(question: dict[str, Any]) -> None:
    assert judged("required_conclusion", question) == ("inconclusive", "invalid_contract")


def other(branch: int, **changes: Any) -> list[dict[str, Any]]:
    return [row | (changes if number == branch else {}) for number, row in enumerate(SOUND)]


@pytest.mark.parametrize(
    ("changes", "branches", "last_day", "outcome", "reason"),
    [
        ({}, SOUND, 5, "pass", None),
        ({}, SOUND, 4, "pass", None),
        ({"checkpoint_day": None, "action_state": "reserved"}, SOUND, 5, "inconclusive", "invalid_contract"),
        ({"action_state": "reserved"}, [], 3, "fail", "action_reserved"),
        ({"action_state": "consumed"}, [], None, "fail", "action_consumed"),
        ({"action_state": "reserved", "one_shot_action": None}, SOUND, 5, "pass", None),
        ({"action_state": None, "one_shot_action": None}, SOUND, 5, "pass", None),
        ({"action_state": "cancelled"}, SOUND, 5, "pass", None),
        ({"action_state": None}, SOUND, 3, "fail", "ended_before_checkpoint"),
        ({"action_state": None}, SOUND, None, "inconclusive", "no_trajectory"),
        ({"action_state": None}, SOUND, 5, "inconclusive", "action_unknown"),
        ({"action_state": "Available"}, [], 5, "inconclusive", "action_unknown"),
        ({}, [], 5, "inconclusive", "branch_missing"),
        ({}, SOUND[:1], 5, "inconclusive", "branch_missing"),
        ({}, other(1, verified=None), 5, "inconclusive", "branch_unverified"),
        ({}, other(0, verified=False, prefix_digest="p2"), 5, "inconclusive", "branch_unverified"),
        ({}, other(0, prefix_digest="p2"), 5, "inconclusive", "branch_mismatch"),
        ({}, other(0, prefix_digest=None), 5, "inconclusive", "branch_mismatch"),
        ({}, other(1, exogenous_digest="x2"), 5, "inconclusive", "branch_mismatch"),
        ({}, other(1, exogenous_digest=None), 5, "inconclusive", "branch_mismatch"),
        (
            {},
            [row | {"exogenous_digest": None} for row in SOUND],
            5,
            "inconclusive",
            "branch_mismatch",
        ),
        ({"factual_prefix_digest": None}, SOUND, 5, "inconclusive", "branch_mismatch"),
        ({}, other(0, day_values=None), 5, "inconclusive", "branch_value_missing"),
        ({}, other(0, day_values=[]), 5, "inconclusive", "branch_value_missing"),
        ({}, other(0, day_values=[{"day": 5, "value": None}]), 5, "inconclusive", "branch_value_missing"),
        ({}, other(0, day_values=[{"day": 4, "value": 1.0}]), 5, "inconclusive", "branch_value_missing"),
    ],
)
def test_the_precondition_of_a_counterfactual(
    changes: dict[str, Any], branches: list[dict[str, Any]], last_day: int | None, outcome: str, reason: str | None
) -> None:
    assert judged("execution_precondition", PRICE | changes, [], branches, last_day) == (outcome, reason)


def test_only_a_required_counterfactual_has_a_precondition() -> None:
    questions = [
        PRICE | {"question_id": "optional", "required": False},
        CAUSE | {"question_id": "cause"},
        PRICE | {"question_id": "required"},
    ]
    table = predicates(frames(attempt(parts={"questions": questions})))
    assert table.select("kind", "predicate_id").rows() == [
        ("gameplay_budget", "gameplay_budget"),
        ("required_conclusion", "cause"),
        ("required_conclusion", "required"),
        ("execution_precondition", "required"),
    ]
