"""The worked examples of the rules, tried on the reference, and proof that the generator reaches every corner."""

import json
from collections import Counter
from typing import Any

import pytest

from .generate import attempts, to_bytes
from .hostile import HUGE
from .model import STATED_REASONS, Assessment, Expected, Predicate, Rules
from .worldseq import expected, expected_recorded

Json = dict[str, Any]

FULL_DAY: Json = {
    "cashCents": 100,
    "minCashCents": 100,
    "netAssetsCents": 100,
    "spendCents": 0,
    "operatingMarginCents": 0,
    "activePayingAccounts": 20,
    "retainedAccounts": 20,
    "shortfallUnits": 0.0,
    "lostWorkUnits": 0.0,
}
USAGE = {"acceptedDecisions": 128, "playerCalls": 1024, "elapsedSeconds": 7200}
BRANCH = {"verified": True, "prefixDigest": "p", "exogenousDigest": "x"}


def days(**series: list[Any]) -> list[Json]:
    length = max(len(values) for values in series.values())
    return [{"day": day, **FULL_DAY, **{name: values[day] for name, values in series.items()}} for day in range(length)]


def attempt(
    trajectory: list[Json] | None = None, task: Json | None = None, parts: Json | None = None, **identity: Any
) -> Json:
    return {
        "format": "worldseq-attempt/1",
        "attempt": {"attemptId": "a", "outcome": "completed", **identity},
        "task": {"horizonDays": 30, "primaryMetric": "net_cash", **(task or {})},
        "trajectory": [{"day": 0, **FULL_DAY}] if trajectory is None else trajectory,
        "usage": USAGE,
        "finalization": {"status": "completed"},
        **(parts or {}),
    }


def constraint(row: Json, trajectory: list[Json], **parts: Any) -> Predicate:
    doc = attempt(trajectory, {"constraints": [{"id": "c", **row}]}, parts)
    return next(found for found in expected(doc).predicates if found.predicate_id == "c")


def objective(row: Json, trajectory: list[Json]) -> Predicate:
    return expected(attempt(trajectory, {"objectives": [{"id": "o", **row}]})).predicates[-1]


def asked(question: Json, answers: list[Json], evidence: Json, trajectory: list[Json] | None = None) -> Expected:
    given = [{"questionId": "q", "status": "accepted", "submittedOnDay": 1, **answer} for answer in answers]
    parts = {"answers": given, "evidence": {"q": evidence}}
    return expected(attempt(trajectory, {"questions": [{"id": "q", "dueOnDay": 7, **question}]}, parts))


def graded(question: Json, answers: list[Json], evidence: Json, trajectory: list[Json] | None = None) -> Assessment:
    return asked(question, answers, evidence, trajectory).assessments[0]


FLOOR = {"kind": "cash_floor", "minCents": 0}
SPEND = {"kind": "spending_budget", "maxCents": 10}


def test_a_floor_breach_is_dated_and_not_erased_by_a_recovery() -> None:
    found = constraint(FLOOR, days(minCashCents=[100, -1, 50, 60]))
    assert (found.outcome, found.first_breach_day, found.worst_value, found.worst_day) == ("fail", 1, -1, 1)


@pytest.mark.parametrize(
    ("row", "series", "present", "outcome", "reason"),
    [
        (FLOOR, {"minCashCents": [50, 0, 50]}, {0, 2}, "inconclusive", "day_gap"),
        (FLOOR, {"minCashCents": [50, 0, -1]}, {0, 2}, "fail", "breach"),
        (FLOOR, {"minCashCents": [0, 0, 0]}, {0, 1, 2}, "pass", None),
        (FLOOR, {"minCashCents": [50, 50, 50]}, {1, 2}, "inconclusive", "day_gap"),
        (SPEND, {"spendCents": [20, None]}, {0, 1}, "fail", "breach"),
        (SPEND, {"spendCents": [5, None]}, {0, 1}, "inconclusive", "value_missing"),
        (SPEND, {"spendCents": [5, 5]}, {0, 1}, "pass", None),
        ({"kind": "cash_bounds", "maxCents": 100}, {"cashCents": [100, 101]}, {0, 1}, "fail", "breach"),
        (
            {"kind": "cash_bounds", "minCents": 5, "maxCents": 4},
            {"cashCents": [1]},
            {0},
            "inconclusive",
            "vacuous_contract",
        ),
        ({"kind": "price_bounds", "minCents": 5}, {"prices": [{"a": 5, "b": None}, None, {}]}, {0, 2}, "pass", None),
        ({"kind": "price_bounds", "minCents": 5}, {"prices": [{"a": 5, "b": 4}]}, {0}, "fail", "breach"),
        ({"kind": "horizon"}, {"cashCents": [0] * 31}, {0, 30}, "pass", None),
        ({"kind": "horizon"}, {"cashCents": [0] * 40}, {0, 29, 39}, "fail", "short_trajectory"),
        ({"kind": "mystery"}, {"cashCents": [0]}, set(), "inconclusive", "unknown_kind"),
        (FLOOR, {"cashCents": [0]}, set(), "inconclusive", "no_trajectory"),
        ({"kind": "cash_floor"}, {"cashCents": [0]}, set(), "inconclusive", "vacuous_contract"),
    ],
)
def test_constraints(row: Json, series: Json, present: set[int], outcome: str, reason: str | None) -> None:
    found = constraint(row, [day for day in days(**series) if day["day"] in present])
    assert (found.outcome, found.reason) == (outcome, reason)


@pytest.mark.parametrize(
    ("values", "change", "outcome", "reason"),
    [
        ([50, 55], {"minRatio": 1.1}, "pass", None),
        ([50, 54], {"minRatio": 1.1}, "fail", "below_ratio"),
        ([0, 54], {"minRatio": 1.1}, "fail", "base_not_positive"),
        ([10**12, 10**12 + 4], {"minDelta": 5}, "fail", "below_delta"),
        ([10, None], {"minDelta": 5}, "fail", "value_missing"),
        ([10, 20], {}, "inconclusive", "vacuous_contract"),
        ([10, 20], {"metric": "day", "minDelta": 1}, "inconclusive", "unknown_metric"),
    ],
)
def test_growth(values: list[Any], change: Json, outcome: str, reason: str | None) -> None:
    row = {"kind": "growth", "metric": "cashCents", "fromDay": 0, "toDay": 1, **change}
    found = constraint(row, days(cashCents=values))
    assert (found.outcome, found.reason) == (outcome, reason)


@pytest.mark.parametrize(
    ("entries", "by_day", "outcome"),
    [
        ([("signed", 14)], 20, "pass"),
        ([("signed", 21)], 20, "fail"),
        ([("signed", 3), ("cancelled", 3)], None, "fail"),
        ([("cancelled", None), ("signed", 0)], None, "pass"),
        ([("signed", 5), ("cancelled", None)], None, "pass"),
        ([], None, "fail"),
    ],
)
def test_agreement(entries: list[tuple[str, int | None]], by_day: int | None, outcome: str) -> None:
    made = [{"agreementId": "s", "status": status, "onDay": day} for status, day in entries]
    row = {"kind": "agreement", "agreementId": "s", "status": "signed", "byDay": by_day}
    assert constraint(row, [], agreements=made).outcome == outcome


def test_an_objective_reports_its_worst_day() -> None:
    row = {"metric": "activePayingAccounts", "fromDay": 2, "toDay": 4, "min": 20}
    found = objective(row, days(activePayingAccounts=[0, 0, 25, 19, 30]))
    assert (found.outcome, found.worst_value, found.worst_day, found.first_breach_day) == ("fail", 19, 3, 3)
    assert (found.required_days, found.observed_days, found.missing_days) == (3, 3, 0)


def test_a_missing_day_fails_an_objective() -> None:
    row = {"metric": "activePayingAccounts", "fromDay": 2, "toDay": 4, "min": 20}
    present = [day for day in days(activePayingAccounts=[20] * 5) if day["day"] != 3]
    found = objective(row, present)
    assert (found.outcome, found.missing_days) == ("fail", 1)


@pytest.mark.parametrize(
    ("usage", "rules", "outcomes"),
    [
        (USAGE, Rules(), ["pass"]),
        (USAGE | {"playerCalls": 1025}, Rules(), ["fail"]),
        (USAGE | {"playerCalls": 1025}, Rules(player_calls=1025), ["pass"]),
        (None, Rules(), ["inconclusive"]),
        (USAGE | {"playerCalls": None}, Rules(), ["inconclusive"]),
        (USAGE | {"playerCalls": None, "acceptedDecisions": 129}, Rules(), ["fail"]),
        (USAGE | {"tokenBudget": 5, "reportedTokens": 5}, Rules(), ["pass", "pass"]),
        (USAGE | {"tokenBudget": 5, "reportedTokens": 6}, Rules(), ["pass", "fail"]),
        (USAGE | {"tokenBudget": 5}, Rules(), ["pass", "inconclusive"]),
        (USAGE | {"tokenBudget": 5, "reportedTokens": 6}, Rules(token_budget=False), ["pass"]),
    ],
)
def test_budgets(usage: Json | None, rules: Rules, outcomes: list[str]) -> None:
    found = expected(attempt(parts={"usage": usage}), rules).predicates
    assert [row.outcome for row in found] == outcomes
    assert [row.predicate_id for row in found] == ["gameplay_budget", "token_budget"][: len(outcomes)]


def test_each_declaring_row_replaces_the_implicit_budget() -> None:
    rows = [{"id": "g", "kind": "gameplay_budget", "acceptedDecisions": 90}, {"id": "h", "kind": "gameplay_budget"}]
    found = expected(attempt(task={"constraints": rows})).predicates
    assert [(row.predicate_id, row.outcome) for row in found] == [("g", "fail"), ("h", "pass")]


@pytest.mark.parametrize(
    ("metric", "series", "value"),
    [
        ("net_cash", {"cashCents": [100, None, 350]}, 250.0),
        ("net_cash", {"cashCents": [None, 100]}, None),
        ("net_assets", {"netAssetsCents": [6_000_000, 6_250_000]}, 250_000.0),
        ("operating_margin", {"operatingMarginCents": [None, 5, -8]}, -3.0),
        ("operating_margin", {"operatingMarginCents": [99]}, 0.0),
        ("operating_margin", {"operatingMarginCents": [0, None, 1]}, None),
        ("active_paying_accounts", {"activePayingAccounts": [None, 7]}, 7.0),
        ("retained_accounts", {"retainedAccounts": [7, None]}, None),
        ("recovery", {"shortfallUnits": [150, 50.0]}, -200.0),
        ("recovery", {"shortfallUnits": [0.0, -0.0]}, 0.0),
        ("recovery", {"shortfallUnits": [0.1, 0.2, 0.3]}, -(0.1 + 0.2 + 0.3)),
        ("recovery", {"shortfallUnits": [1e308, 1e308]}, None),
    ],
)
def test_primary_value(metric: str, series: Json, value: float | None) -> None:
    found = expected(attempt(days(**series), {"primaryMetric": metric}))
    assert repr(found.primary_value) == repr(value)
    assert found.reason == ("primary_value_unavailable" if value is None else None)


@pytest.mark.parametrize(
    ("metric", "present"), [("recovery", {0, 2}), ("recovery", {1, 2}), ("operating_margin", {0, 2})]
)
def test_a_sum_needs_every_day(metric: str, present: set[int]) -> None:
    trajectory = [day for day in days(cashCents=[1, 1, 1]) if day["day"] in present]
    assert expected(attempt(trajectory, {"primaryMetric": metric})).primary_value is None


def test_days_beyond_the_horizon_count_for_nothing() -> None:
    trajectory = days(cashCents=[1, 5, 999], netAssetsCents=[1, 2, 3], minCashCents=[1, 5, -999])
    found = expected(attempt(trajectory, {"horizonDays": 1, "constraints": [{"id": "c", **FLOOR}]}))
    assert (found.class_, found.primary_value, found.net_assets_closing_cents) == ("eligible", 4.0, 2)


CAUSE: Json = {"kind": "categorical", "candidates": ["A", "B", "C"], "equivalenceGroups": [["A", "B"], ["C"]]}
GOOD: Json = {"A": 0.4, "B": 0.4, "C": 0.2}
TRUTH = {"truth": "A"}


@pytest.mark.parametrize(
    ("probabilities", "score", "error"),
    [
        (GOOD, 0.96, 0.04),
        ({"A": 0.8, "B": 0.0, "C": 0.2}, 0.96, 0.04),
        ({"A": 0, "B": 0, "C": 1}, 0.0, 1.0),
        ({"A": 0, "B": 1, "C": 0}, 1.0, 0.0),
    ],
)
def test_grouped_brier(probabilities: Json, score: float, error: float) -> None:
    found = graded(CAUSE, [{"probabilities": probabilities}], TRUTH)
    assert found.answer_status == "graded"
    assert found.score == pytest.approx(score, abs=1e-12)
    assert found.error == pytest.approx(error, abs=1e-12)


def test_one_group_has_no_loss() -> None:
    found = graded(CAUSE | {"equivalenceGroups": [["A", "B", "C"]]}, [{"probabilities": GOOD}], TRUTH)
    assert found.score == pytest.approx(1)


@pytest.mark.parametrize(
    ("change", "answers", "evidence", "status"),
    [
        ({"candidates": ["A", "A", "C"]}, [], TRUTH, "invalid_contract"),
        ({"equivalenceGroups": [["A", "B"]]}, [], TRUTH, "invalid_contract"),
        ({"equivalenceGroups": [["A", "B"], ["C"], []]}, [], TRUTH, "invalid_contract"),
        ({}, [], {"truth": "Z"}, "invalid_contract"),
        ({}, [], TRUTH, "missing"),
        ({}, [{"probabilities": GOOD, "submittedOnDay": 7}], TRUTH, "missing"),
        ({}, [{"status": "pending"}], TRUTH, "pending"),
        ({}, [{"status": "withdrawn"}], TRUTH, "missing"),
        ({}, [{"probabilities": GOOD}, {"status": "pending", "submittedOnDay": 6}], TRUTH, "graded"),
        ({}, [{"probabilities": GOOD}, {"probabilities": {}, "submittedOnDay": 6}], TRUTH, "invalid"),
        ({}, [{"probabilities": {}, "sequence": None}, {"probabilities": GOOD, "sequence": 0}], TRUTH, "graded"),
        ({}, [{"probabilities": GOOD, "sequence": 0}, {"probabilities": {}, "sequence": None}], TRUTH, "graded"),
        ({}, [{"probabilities": GOOD}, {"probabilities": "x"}], TRUTH, "invalid"),
        ({}, [{"probabilities": GOOD | {"A": 0.4 + 5e-10}}], TRUTH, "graded"),
        ({}, [{"probabilities": GOOD | {"A": 0.4 + 5e-9}}], TRUTH, "invalid"),
        ({}, [{"probabilities": {"A": True, "B": 0, "C": 0}}], TRUTH, "invalid"),
        ({}, [{"probabilities": {"A": HUGE, "B": 0, "C": 0}}], TRUTH, "invalid"),
        ({}, [{"probabilities": GOOD | {"D": 0}}], TRUTH, "invalid"),
        ({}, [{"probabilities": GOOD}], {}, "outcome_unavailable"),
        ({}, [{"probabilities": "x"}], {}, "invalid"),
    ],
)
def test_the_first_answer_status_that_applies(change: Json, answers: list[Json], evidence: Json, status: str) -> None:
    found = graded(CAUSE | change, answers, evidence)
    assert found.answer_status == status
    assert (found.score is None) == (status != "graded")


FORECAST: Json = {"kind": "forecast", "metric": "cashCents", "outcomeOnDay": 1, "scale": 10}


@pytest.mark.parametrize(
    ("prediction", "change", "status", "score"),
    [
        (500, {}, "graded", "0.0"),
        (510, {}, "graded", "-1.0"),
        (480.0, {}, "graded", "-4.0"),
        (1e308, {"scale": 1e-300}, "invalid", "None"),
        (HUGE, {}, "invalid", "None"),
        (True, {}, "invalid", "None"),
        ("500", {}, "invalid", "None"),
        (500, {"scale": 0}, "invalid_contract", "None"),
        (500, {"scale": -1}, "invalid_contract", "None"),
        (500, {"metric": "prices"}, "invalid_contract", "None"),
        (500, {"outcomeOnDay": 2}, "outcome_unavailable", "None"),
    ],
)
def test_forecast(prediction: Any, change: Json, status: str, score: str) -> None:
    found = graded(FORECAST | change, [{"prediction": prediction}], {}, days(cashCents=[0, 500]))
    assert (found.answer_status, repr(found.score)) == (status, score)


EFFECT: Json = {
    "kind": "counterfactual",
    "metric": "lostWorkUnits",
    "outcomeOnDay": 25,
    "scale": 10,
    "checkpointDay": 0,
}
EFFECT |= {"oneShotAction": "raise", "requirement": {"kind": "supported_conclusion"}}
SOUND: Json = {
    "oneShotAction": "available",
    "supportedConclusion": ["decrease"],
    "factualPrefixDigest": "p",
    "baseline": BRANCH | {"values": {"25": 40.0}},
    "intervention": BRANCH | {"values": {"25": 34.0}},
}
RIGHT: Json = {"prediction": -3.0, "conclusion": ["decrease"]}


def test_a_counterfactual_is_intervention_minus_baseline() -> None:
    found = asked(EFFECT, [RIGHT], SOUND)
    assert (found.class_, found.assessments[0].actual) == ("eligible", -6.0)
    assert found.assessments[0].score == pytest.approx(-0.09)


@pytest.mark.parametrize(
    ("change", "evidence", "trajectory", "outcome", "reason"),
    [
        ({"scale": 0}, {"oneShotAction": "reserved"}, None, "inconclusive", "invalid_contract"),
        ({"checkpointDay": None}, {}, None, "inconclusive", "invalid_contract"),
        ({}, {"supportedConclusion": []}, None, "inconclusive", "invalid_contract"),
        ({}, {"oneShotAction": "reserved"}, [], "fail", "action_reserved"),
        ({}, {"oneShotAction": "consumed", "baseline": None}, None, "fail", "action_consumed"),
        ({"checkpointDay": 1}, {"oneShotAction": None}, None, "fail", "ended_before_checkpoint"),
        ({"checkpointDay": 1}, {"oneShotAction": None}, [], "inconclusive", "no_trajectory"),
        ({}, {"oneShotAction": None, "baseline": None}, None, "inconclusive", "action_unknown"),
        ({"oneShotAction": None}, {"oneShotAction": "reserved"}, None, "pass", None),
        ({}, {"oneShotAction": "cancelled"}, None, "pass", None),
        ({}, {"baseline": None}, None, "inconclusive", "branch_missing"),
        ({}, {"baseline": BRANCH | {"verified": None}}, None, "inconclusive", "branch_unverified"),
        ({}, {"factualPrefixDigest": "other"}, None, "inconclusive", "branch_mismatch"),
        ({}, {"baseline": BRANCH | {"exogenousDigest": None}}, None, "inconclusive", "branch_mismatch"),
        ({}, {"baseline": BRANCH | {"values": {"24": 1}}}, None, "inconclusive", "branch_value_missing"),
    ],
)
def test_execution_precondition(
    change: Json, evidence: Json, trajectory: list[Json] | None, outcome: str, reason: str | None
) -> None:
    found = asked(EFFECT | change, [RIGHT], SOUND | evidence, trajectory).predicates[-1]
    assert (found.kind, found.outcome, found.reason) == ("execution_precondition", outcome, reason)


@pytest.mark.parametrize(
    ("answer", "outcome"),
    [
        ({"conclusion": ["B", "A"], "unresolved": True}, "pass"),
        ({"conclusion": ["B", "A", "B"], "unresolved": True, "probabilities": "nonsense"}, "pass"),
        ({"conclusion": ["A", "B"]}, "fail"),
        ({"conclusion": ["A"], "unresolved": True}, "fail"),
        ({"conclusion": ["A", "B"], "unresolved": 1}, "fail"),
        ({"conclusion": ["A", "B", None], "unresolved": True}, "fail"),
        ({"conclusion": {"A": 1, "B": 1}, "unresolved": True}, "fail"),
        ({"status": "pending", "conclusion": ["A", "B"], "unresolved": True}, "fail"),
        ({"unresolved": True}, "fail"),
    ],
)
def test_required_conclusion(answer: Json, outcome: str) -> None:
    question = CAUSE | {"requirement": {"kind": "supported_conclusion"}}
    assert asked(question, [answer], TRUTH).predicates[-1].outcome == outcome


def test_a_missing_truth_is_never_the_players_failure() -> None:
    question = CAUSE | {"requirement": {"kind": "supported_conclusion"}}
    assert asked(question, [{"conclusion": ["Z"]}], {}).class_ == "inconclusive"
    assert asked(question, [], {}).class_ == "ineligible"


@pytest.mark.parametrize(
    ("metric", "value", "reward"),
    [
        ("net_assets", 250_000, 1.1),
        ("net_cash", -1_000_000, 0.75),
        ("recovery", -50, 0.8333333333333334),
        ("recovery", 0, 1.0),
    ],
)
def test_reward(metric: str, value: float, reward: float) -> None:
    recorded = {"verified": True, "eligible": True, "primaryMetric": metric, "primaryValue": value}
    found = expected_recorded(recorded, {"status": "completed"}, "harbor")
    assert found.basis == "recorded"
    assert found.reward.reward == pytest.approx(reward, abs=1e-15)


@pytest.mark.parametrize(
    ("verified", "eligible", "status", "class_", "reward"),
    [
        (True, True, "completed", "eligible", 1.0),
        (True, False, "completed", "ineligible", 0.0),
        (False, True, "completed", "inconclusive", None),
        (True, True, "failed", "inconclusive", None),
        (True, True, None, "inconclusive", None),
    ],
)
def test_recorded_verdicts(
    verified: bool, eligible: bool, status: str | None, class_: str, reward: float | None
) -> None:
    recorded = {"verified": verified, "eligible": eligible, "primaryMetric": "net_cash", "primaryValue": 0}
    found = expected_recorded(recorded, None if status is None else {"status": status}, "finalizer")
    assert (found.class_, found.reward.reward) == (class_, reward)


def test_a_summary_has_a_class_and_no_reward() -> None:
    recorded = {"verified": True, "eligible": True, "primaryMetric": "net_cash", "primaryValue": 0}
    found = expected_recorded(recorded, None, "summary")
    assert (found.class_, found.reward.reward, found.reward.reason) == ("eligible", None, "not_finalized")


def test_finalization_is_the_first_gate_and_predicates_are_still_reported() -> None:
    found = expected(attempt(parts={"finalization": None, "usage": USAGE | {"playerCalls": 1025}}))
    assert (found.class_, found.reason, found.failed_predicates) == (
        "inconclusive",
        "not_finalized",
        ["gameplay_budget"],
    )
    assert (found.primary_value, found.verified, found.eligible, found.reward.reward) == (0.0, False, None, None)


@pytest.mark.parametrize("outcome", ["agent_failure", "infrastructure_failure"])
def test_a_failed_attempt_is_never_scored(outcome: str) -> None:
    found = expected(attempt(outcome=outcome))
    assert (found.class_, found.predicates, found.assessments) == (outcome, [], [])
    assert (found.primary_value, found.reward.reward, found.verified) == (None, None, False)
    assert expected({"attempt": {"outcome": outcome}}).class_ == outcome


def test_a_failed_predicate_keeps_the_raw_primary_value() -> None:
    found = expected(attempt(days(cashCents=[0, 7]), parts={"usage": USAGE | {"playerCalls": 1025}}))
    assert (found.class_, found.primary_value, found.reward.reward, found.reward.verified) == (
        "ineligible",
        7.0,
        0.0,
        1,
    )


@pytest.fixture(scope="module")
def generated() -> list[tuple[Json, Expected]]:
    return [(doc, expected(doc)) for doc in attempts(seed=7, count=5_000)]


CONSTRAINT_KINDS = ("spending_budget", "cash_floor", "cash_bounds", "price_bounds", "horizon", "growth", "agreement")
QUESTION_KINDS = ("categorical", "forecast", "counterfactual")
STATUSES = ("invalid_contract", "missing", "pending", "invalid", "outcome_unavailable", "graded")


def test_the_generator_reaches_every_predicate_and_outcome(generated: list[tuple[Json, Expected]]) -> None:
    kinds = (
        *CONSTRAINT_KINDS,
        "gameplay_budget",
        "token_budget",
        "objective",
        "required_conclusion",
        "execution_precondition",
    )
    # An agreement is never inconclusive: no entry is a fact, not a gap.
    wanted = {(kind, outcome) for kind in kinds for outcome in ("pass", "fail", "inconclusive")} - {
        ("agreement", "inconclusive")
    }
    seen: Counter[tuple[str, str]] = Counter(
        (row.kind, row.outcome) for _, found in generated for row in found.predicates if row.reason != "unknown_kind"
    )
    assert min(seen[key] for key in wanted) >= 20
    assert set(seen) == wanted


def test_the_generator_reaches_every_status_class_metric_and_reason(generated: list[tuple[Json, Expected]]) -> None:
    statuses = Counter((row.kind, row.answer_status) for _, found in generated for row in found.assessments)
    classes = Counter(found.class_ for _, found in generated)
    rewarded = Counter(found.primary_metric for _, found in generated if found.class_ == "eligible")
    reasons = Counter(row.reason for _, found in generated for row in found.predicates)
    reasons.update(found.reason for _, found in generated)
    assert min(statuses[kind, status] for kind in QUESTION_KINDS for status in STATUSES) >= 20
    assert set(classes) == {"eligible", "ineligible", "inconclusive", "agent_failure", "infrastructure_failure"}
    assert min(classes.values()) >= 200
    assert len(rewarded) == 6
    assert min(rewarded.values()) >= 100
    assert min(reasons[reason] for reason in STATED_REASONS) >= 15


def test_single_flaws_decide_verdicts(generated: list[tuple[Json, Expected]]) -> None:
    alone: Counter[tuple[str, str]] = Counter()
    for _, found in generated:
        decisive = {(row.kind, row.outcome) for row in found.predicates if row.outcome != "pass"}
        if found.class_ in {"ineligible", "inconclusive"} and len(decisive) == 1:
            alone.update(decisive)
    assert len(alone) >= 20


def test_generated_documents_are_reproducible_and_survive_json(generated: list[tuple[Json, Expected]]) -> None:
    again = list(attempts(seed=7, count=300))
    assert again == [doc for doc, _ in generated[:300]]
    for doc, _ in generated:
        assert json.loads(to_bytes(doc)) == doc


def test_generated_documents_keep_the_limits_of_a_valid_one(generated: list[tuple[Json, Expected]]) -> None:
    ids = [doc["attempt"]["attemptId"] for doc, _ in generated]
    assert len(set(ids)) == len(ids)
    for doc, _ in generated:
        task = doc.get("task") or {}
        for name in ("constraints", "objectives", "questions"):
            names = [row["id"] for row in task.get(name) or ()]
            assert len(set(names)) == len(names)
        entries = doc.get("trajectory") or []
        assert len({entry["day"] for entry in entries}) == len(entries)
        cents = [
            value
            for row in (*entries, *(task.get("constraints") or ()))
            for key, value in row.items()
            if "Cents" in key
        ]
        assert all(value is None or abs(value) <= 10**13 for value in cents)
