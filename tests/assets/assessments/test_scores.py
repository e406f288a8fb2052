import math
import random
from typing import Any

import pytest

from tests.assets.verification.layer import attempt, days, frames, on_days, scores

CAUSE = {
    "kind": "categorical",
    "candidates": ["A", "B", "C"],
    "equivalence_groups": [["A", "B"], ["C"]],
    "truth": "A",
}
FORECAST = {"kind": "forecast", "metric": "cashCents", "outcome_on_day": 3, "scale": 100.0}
PRICE = {
    "kind": "counterfactual",
    "metric": "lostWorkUnits",
    "outcome_on_day": 5,
    "scale": 10.0,
    "checkpoint_day": 4,
    "factual_prefix_digest": "p1",
}
SOUND = [
    {"branch": "baseline", "day_values": [{"day": 5, "value": 40.0}]},
    {"branch": "intervention", "day_values": [{"day": 4, "value": 0.0}, {"day": 5, "value": 34.0}]},
]
CASH = on_days(cash_cents={0: 1, 3: 1000, 4: None})


def graded(
    question: dict[str, Any],
    *answers: dict[str, Any],
    trajectory: list[dict[str, Any]] | None = None,
    branches: list[dict[str, Any]] | None = None,
) -> dict[str, Any]:
    parts = {"questions": [question], "answers": answers, "branches": SOUND if branches is None else branches}
    return scores(frames(attempt(CASH if trajectory is None else trajectory, parts=parts))).row(0, named=True)


def told(**probabilities: float | None) -> dict[str, Any]:
    return {"probabilities": [{"candidate": name, "probability": value} for name, value in probabilities.items()]}


@pytest.mark.parametrize(
    ("probabilities", "truth", "error"),
    [
        ({"A": 0.4, "B": 0.4, "C": 0.2}, "A", 0.04),
        ({"A": 0.1, "B": 0.7, "C": 0.2}, "A", 0.04),
        ({"C": 0.2, "B": 0.8, "A": 0.0}, "B", 0.04),
        ({"A": 0.0, "B": 0.0, "C": 1.0}, "A", 1.0),
        ({"A": 0.5, "B": 0.5, "C": 0.0}, "B", 0.0),
        ({"A": 0.0, "B": 0.0, "C": 1.0 + 5e-10}, "A", None),
        ({"A": 0.0, "B": 5e-10, "C": 1.0}, "A", 1 - 5e-10),
    ],
)
def test_group_brier(probabilities: dict[str, float], truth: str, error: float | None) -> None:
    found = graded(CAUSE | {"truth": truth}, told(**probabilities))
    if error is None:
        assert (found["answer_status"], found["score"], found["error"]) == ("invalid", None, None)
    else:
        assert found["answer_status"] == "graded"
        assert found["error"] == pytest.approx(error, abs=1e-12)
        assert found["score"] == pytest.approx(1 - error, abs=1e-12)
    assert (found["error_kind"], found["prediction"], found["actual"], found["scale"]) == (
        "groupBrier",
        None,
        None,
        None,
    )


def test_one_group_only_has_no_loss() -> None:
    found = graded(CAUSE | {"equivalence_groups": [["C", "A", "B"]]}, told(A=0.2, B=0.3, C=0.5))
    assert (found["score"], found["error"]) == (1.0, 0.0)


def test_the_loss_adds_up_in_declared_order_bit_for_bit() -> None:
    rng = random.Random(5)
    names = [f"c{number}" for number in range(9)]
    for _ in range(40):
        weights = [rng.random() ** 3 for _ in names]
        given = {name: weight / sum(weights) for name, weight in zip(names, weights, strict=True)}
        rng.shuffle(names)
        groups = [names[:4], names[4:6], names[6:]]
        question = {"kind": "categorical", "candidates": names, "equivalence_groups": groups, "truth": names[5]}
        loss = 0.0
        for group in groups:
            mass = 0.0
            for name in group:
                mass += given[name]
            loss += (mass - (names[5] in group)) * (mass - (names[5] in group))
        found = graded(question, told(**given))
        assert (found["error"], found["score"]) == (0.5 * loss, 1 - 0.5 * loss)


@pytest.mark.parametrize(
    "answer",
    [
        {},
        told(),
        told(A=0.4, B=0.6),
        told(A=0.4, B=0.4, C=0.2, D=0.0),
        told(A=0.4, B=0.4, D=0.2),
        told(A=0.4, B=0.4, C=None),
        told(A=-0.1, B=0.9, C=0.2),
        told(A=1.1, B=-0.3, C=0.2),
        told(A=0.4, B=0.4, C=0.2 + 1e-8),
        {"prediction": 1.0},
    ],
)
def test_an_answer_that_is_no_distribution_is_invalid(answer: dict[str, Any]) -> None:
    for truth in ("A", None):
        found = graded(CAUSE | {"truth": truth}, answer)
        assert (found["answer_status"], found["score"], found["error"]) == ("invalid", None, None)


@pytest.mark.parametrize(
    "changes",
    [
        {"candidates": ["A", "A", "C"], "equivalence_groups": [["A", "C"]]},
        {"candidates": ["A", "A", "C"], "equivalence_groups": [["A", "A"], ["C"]]},
        {"equivalence_groups": []},
        {"equivalence_groups": [["A", "B", "C"], []]},
        {"equivalence_groups": [["A", "B"]]},
        {"equivalence_groups": [["A", "B"], ["B", "C"]]},
        {"equivalence_groups": [["A", "B"], ["C", "D"]]},
        {"candidates": [], "equivalence_groups": [], "truth": None},
        {"truth": "D"},
        FORECAST | {"scale": 0.0},
        FORECAST | {"scale": -1.0},
        FORECAST | {"scale": None},
        FORECAST | {"scale": math.inf},
        FORECAST | {"scale": math.nan},
        FORECAST | {"metric": "cash_cents"},
        PRICE | {"metric": "nothing"},
        PRICE | {"scale": 0.0},
        PRICE | {"checkpoint_day": None},
        PRICE | {"required": True, "supported_conclusion": []},
    ],
)
def test_a_faulty_contract_comes_before_everything(changes: dict[str, Any]) -> None:
    for answers in ((), (told(A=0.4, B=0.4, C=0.2) | {"prediction": 1.0},)):
        found = graded(CAUSE | changes, *answers)
        assert (found["answer_status"], found["score"], found["error"]) == ("invalid_contract", None, None)


def test_an_optional_counterfactual_needs_no_supported_conclusion() -> None:
    assert graded(PRICE | {"supported_conclusion": []}, {"prediction": -6.0})["answer_status"] == "graded"


@pytest.mark.parametrize(
    ("answers", "status"),
    [
        ([], "missing"),
        ([{"submitted_on_day": 10}], "missing"),
        ([{"status": "rejected"}], "missing"),
        ([{"question_id": "other"}], "missing"),
        ([{"status": "pending"}], "pending"),
        ([{"status": "pending", "submitted_on_day": 10}], "missing"),
        ([{"status": "pending"}, {"submitted_on_day": 10}], "pending"),
        ([{"status": "pending"}, {"submitted_on_day": 9}], "graded"),
        ([{"submitted_on_day": 0}, {"status": "pending"}], "graded"),
    ],
)
def test_only_accepted_answers_before_the_due_day_count(answers: list[dict[str, Any]], status: str) -> None:
    found = graded(FORECAST, *({"prediction": 1000.0} | answer for answer in answers))
    assert (found["answer_status"], found["score"]) == (status, 0.0 if status == "graded" else None)


@pytest.mark.parametrize(
    ("answers", "prediction"),
    [
        ([{"submitted_on_day": 2}, {"submitted_on_day": 1}], 0.0),
        ([{"sequence": 7}, {"sequence": 3}], 0.0),
        ([{"sequence": 0}, {"sequence": None}], 0.0),
        ([{"sequence": None}, {"sequence": 0}], 1.0),
        ([{"sequence": None}, {"sequence": None}], 1.0),
        ([{"sequence": 3}, {"sequence": 3}], 1.0),
        ([{"submitted_on_day": 2, "sequence": 1}, {"submitted_on_day": 1, "sequence": 9}], 0.0),
        ([{"sequence": 1}, {"sequence": 9, "status": "pending"}], 0.0),
        ([{"sequence": 1}, {"sequence": 9, "submitted_on_day": 10}], 0.0),
    ],
)
def test_the_latest_accepted_answer_is_graded(answers: list[dict[str, Any]], prediction: float) -> None:
    rows = ({"prediction": float(number)} | answer for number, answer in enumerate(answers))
    assert graded(FORECAST, *rows)["prediction"] == prediction


def test_a_better_earlier_answer_is_not_searched_for() -> None:
    found = graded(FORECAST, {"prediction": 1000.0}, {"prediction": None, "submitted_on_day": 2})
    assert found["answer_status"] == "invalid"


@pytest.mark.parametrize(
    ("prediction", "error"), [(1000.0, 0.0), (1100.0, 1.0), (900.0, 1.0), (800.0, 4.0), (1e100, 1e196)]
)
def test_a_forecast_is_not_clipped(prediction: float, error: float) -> None:
    found = graded(FORECAST, {"prediction": prediction})
    assert (found["answer_status"], found["error_kind"]) == ("graded", "normalizedSquaredError")
    assert found["error"] == pytest.approx(error, rel=1e-12)
    assert found["score"] == -found["error"]
    assert (found["prediction"], found["actual"], found["scale"]) == (prediction, 1000.0, 100.0)


@pytest.mark.parametrize("question", [FORECAST, PRICE])
def test_a_perfect_score_is_plus_zero(question: dict[str, Any]) -> None:
    found = graded(question, {"prediction": 1000.0 if question is FORECAST else -6.0})
    assert (found["score"], math.copysign(1.0, found["score"])) == (0.0, 1.0)


@pytest.mark.parametrize("changes", [{}, {"scale": 1e-300}])
def test_an_overflow_is_invalid(changes: dict[str, Any]) -> None:
    found = graded(FORECAST | changes, {"prediction": 1e308})
    assert (found["answer_status"], found["score"], found["error"]) == ("invalid", None, None)


@pytest.mark.parametrize(
    "trajectory", [[], on_days(cash_cents={3: None}), on_days(cash_cents={2: 5, 4: 5}), days(spend_cents=[1] * 5)]
)
def test_a_forecast_without_an_outcome_is_not_graded(trajectory: list[dict[str, Any]]) -> None:
    found = graded(FORECAST, {"prediction": 1.0}, trajectory=trajectory)
    assert (found["answer_status"], found["score"], found["error"]) == ("outcome_unavailable", None, None)


def test_no_truth_is_no_outcome() -> None:
    found = graded(CAUSE | {"truth": None}, told(A=0.4, B=0.4, C=0.2))
    assert (found["answer_status"], found["score"]) == ("outcome_unavailable", None)


def test_a_counterfactual_is_held_against_intervention_minus_baseline() -> None:
    found = graded(PRICE, {"prediction": -3.0})
    assert (found["actual"], found["error"], found["score"]) == (-6.0, pytest.approx(0.09), pytest.approx(-0.09))


@pytest.mark.parametrize(
    "branches",
    [
        [],
        SOUND[:1],
        [SOUND[0], SOUND[1] | {"verified": False}],
        [SOUND[0], SOUND[1] | {"verified": None}],
        [SOUND[0], SOUND[1] | {"prefix_digest": "p2"}],
        [SOUND[0], SOUND[1] | {"exogenous_digest": "x2"}],
        [row | {"exogenous_digest": None} for row in SOUND],
        [SOUND[0], SOUND[1] | {"day_values": [{"day": 4, "value": 0.0}]}],
        [SOUND[0], SOUND[1] | {"day_values": None}],
    ],
)
def test_an_unsound_branch_is_no_outcome(branches: list[dict[str, Any]]) -> None:
    found = graded(PRICE, {"prediction": -3.0}, branches=branches)
    assert (found["answer_status"], found["actual"], found["score"]) == ("outcome_unavailable", None, None)


def test_an_effect_that_overflows_is_invalid() -> None:
    branches = [
        SOUND[0] | {"day_values": [{"day": 5, "value": -1e308}]},
        SOUND[1] | {"day_values": [{"day": 5, "value": 1e308}]},
    ]
    found = graded(PRICE, {"prediction": -3.0}, branches=branches)
    assert (found["answer_status"], found["actual"], found["score"]) == ("invalid", None, None)


def test_rows_follow_the_questions_of_completed_attempts() -> None:
    parts = {"questions": [FORECAST | {"question_id": "z"}, CAUSE | {"question_id": "a", "required": True}]}
    made = frames(
        attempt(CASH, attempt_id="b", parts=parts),
        attempt(CASH, attempt_id="a", parts=parts),
        attempt(CASH, attempt_id="c", parts=parts, outcome="agent_failure"),
    )
    assert scores(made).select("attempt_id", "question_id", "required", "rules").rows() == [
        ("a", "z", False, "v1"),
        ("a", "a", True, "v1"),
        ("b", "z", False, "v1"),
        ("b", "a", True, "v1"),
    ]
