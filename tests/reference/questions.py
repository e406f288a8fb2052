"""Questions: the graded answer, its score, the required conclusion and the execution precondition.

What a player wrote may be of any type: nonsense makes an answer invalid or a conclusion fail, never an error.
"""

import math
from dataclasses import dataclass
from functools import cached_property

from .model import METRICS, Assessment, Doc, Predicate, Rules, finite, mapping, present_days, rows, value_on


@dataclass(frozen=True)
class Question:
    """One question with everything that it is graded from."""

    spec: Doc
    answers: list[Doc]
    evidence: Doc
    days: list[Doc]
    rules: Rules

    @property
    def required(self) -> bool:
        """Whether a supported conclusion is required."""
        return self.spec.get("requirement") is not None

    @cached_property
    def answer(self) -> Doc | None:
        """The latest accepted answer before the due day, by (day, sequence with null first, position)."""
        in_time = [
            (row["submittedOnDay"], -1 if row.get("sequence") is None else row["sequence"], position)
            for position, row in enumerate(self.answers)
            if row["status"] == "accepted" and row["submittedOnDay"] < self.spec["dueOnDay"]
        ]
        return self.answers[max(in_time)[2]] if in_time else None

    @property
    def pending(self) -> bool:
        """Whether a pending answer was submitted before the due day."""
        return any(row["status"] == "pending" and row["submittedOnDay"] < self.spec["dueOnDay"] for row in self.answers)

    @cached_property
    def invalid_contract(self) -> bool:
        """Whether the question cannot be graded whatever anyone answers."""
        spec = self.spec
        if spec["kind"] == "categorical":
            candidates, groups = spec["candidates"], spec["equivalenceGroups"]
            members = [member for group in groups for member in group]
            truth = self.evidence.get("truth")
            return (
                len(set(candidates)) < len(candidates)
                or not groups
                or not all(groups)
                or sorted(members) != sorted(candidates)
                or (truth is not None and truth not in candidates)
            )
        scale = finite(spec["scale"])
        if scale is None or scale <= 0 or spec["metric"] not in METRICS:
            return True
        if spec["kind"] == "forecast":
            return False
        return spec.get("checkpointDay") is None or (self.required and self.evidence.get("supportedConclusion") == [])

    @cached_property
    def branch_fault(self) -> str | None:
        """The first fault of the two branches, in the order in which they are told."""
        evidence = self.evidence
        branches = [evidence.get("baseline"), evidence.get("intervention")]
        if any(branch is None for branch in branches):
            return "branch_missing"
        baseline, intervention = (mapping(branch) for branch in branches)
        if not (baseline.get("verified") is True and intervention.get("verified") is True):
            return "branch_unverified"
        prefix, exogenous = evidence.get("factualPrefixDigest"), baseline.get("exogenousDigest")
        if (
            prefix is None
            or exogenous is None
            or baseline.get("prefixDigest") != prefix
            or intervention.get("prefixDigest") != prefix
            or intervention.get("exogenousDigest") != exogenous
        ):
            return "branch_mismatch"
        day = str(self.spec["outcomeOnDay"])
        values = [mapping(branch.get("values")).get(day) for branch in (baseline, intervention)]
        return "branch_value_missing" if None in values else None

    @cached_property
    def actual(self) -> float | None:
        """The number that a forecast or counterfactual is held against."""
        spec = self.spec
        if spec["kind"] != "categorical" and spec["metric"] not in METRICS:
            return None
        if spec["kind"] == "forecast":
            return value_on(self.days, spec["outcomeOnDay"], spec["metric"])
        if spec["kind"] == "categorical" or self.branch_fault:
            return None
        day = str(spec["outcomeOnDay"])
        effect: float = self.evidence["intervention"]["values"][day] - self.evidence["baseline"]["values"][day]
        return effect

    @cached_property
    def probabilities(self) -> dict[str, float] | None:
        """The graded answer's distribution over the candidates; None when it is no distribution over exactly them."""
        given = (self.answer or {}).get("probabilities")
        candidates = self.spec["candidates"]
        if not isinstance(given, dict) or set(given) != set(candidates):
            return None
        numbers = {candidate: finite(given[candidate]) for candidate in candidates}
        valid = {key: number for key, number in numbers.items() if number is not None and 0 <= number <= 1}
        if len(valid) < len(candidates) or abs(sum(valid.values()) - 1) > self.rules.probability_tolerance:
            return None
        return valid

    @property
    def supported(self) -> set[str] | None:
        """The conclusion that the evidence supports."""
        if self.spec["kind"] == "categorical":
            truth = self.evidence.get("truth")
            return next((set(group) for group in self.spec["equivalenceGroups"] if truth in group), None)
        if self.spec["kind"] == "counterfactual":
            supported = self.evidence.get("supportedConclusion")
            return None if supported is None else set(supported)
        return None


def questions(doc: Doc, rules: Rules) -> list[Question]:
    """Return the task's questions in declared order, each with its own answers and evidence."""
    days, evidence = present_days(doc), mapping(doc.get("evidence"))
    answers = rows(doc, "answers")
    return [
        Question(
            spec,
            [row for row in answers if row["questionId"] == spec["id"]],
            mapping(evidence.get(spec["id"])),
            days,
            rules,
        )
        for spec in rows(doc["task"], "questions")
    ]


def assessment(question: Question) -> Assessment:
    """Grade one question; the first status that applies is told, and only `graded` carries numbers."""
    spec, categorical = question.spec, question.spec["kind"] == "categorical"
    prediction = None if categorical else finite((question.answer or {}).get("prediction"))
    status, error = _status(question, prediction)
    score = None if error is None else (1 - error if categorical else 0.0 - error)
    return Assessment(
        question_id=spec["id"],
        kind=spec["kind"],
        answer_status=status,
        prediction=prediction,
        actual=None if question.actual is None else float(question.actual),
        scale=None if categorical else float(spec["scale"]),
        score=score,
        error=error,
        error_kind="groupBrier" if categorical else "normalizedSquaredError",
        required=question.required,
    )


def _status(question: Question, prediction: float | None) -> tuple[str, float | None]:
    categorical = question.spec["kind"] == "categorical"
    if question.invalid_contract:
        return "invalid_contract", None
    if question.answer is None:
        return "pending" if question.pending else "missing", None
    if (question.probabilities if categorical else prediction) is None:
        return "invalid", None
    if (question.evidence.get("truth") if categorical else question.actual) is None:
        return "outcome_unavailable", None
    error = _group_brier(question) if categorical else _squared_error(question, prediction)
    return ("graded", error) if math.isfinite(error) else ("invalid", None)


def _group_brier(question: Question) -> float:
    probabilities, truth = question.probabilities or {}, question.evidence["truth"]
    loss = 0.0
    for group in question.spec["equivalenceGroups"]:
        miss = sum(probabilities[candidate] for candidate in group) - (1 if truth in group else 0)
        loss += miss * miss
    return min(1.0, max(0.0, 0.5 * loss))


def _squared_error(question: Question, prediction: float | None) -> float:
    if prediction is None or question.actual is None:
        return math.nan
    units = (prediction - float(question.actual)) / float(question.spec["scale"])
    return units * units


def required_conclusion(question: Question) -> Predicate:
    """Judge the conclusion of the graded answer, whatever its numbers are worth."""
    question_id = question.spec["id"]
    if question.invalid_contract:
        return Predicate("required_conclusion", question_id, "inconclusive", "invalid_contract")
    if question.answer is None:
        return Predicate("required_conclusion", question_id, "fail", "answer_missing")
    supported = question.supported
    if supported is None:
        return Predicate("required_conclusion", question_id, "inconclusive", "evidence_missing")
    given, unresolved = question.answer.get("conclusion"), question.answer.get("unresolved")
    # A boolean only: 1 == True in Python, and 1 is nonsense here.
    told = unresolved is None or isinstance(unresolved, bool)
    named = isinstance(given, list) and all(isinstance(item, str) for item in given) and set(given) == supported
    if told and named and bool(unresolved) == (len(supported) > 1):
        return Predicate("required_conclusion", question_id, "pass")
    return Predicate("required_conclusion", question_id, "fail", "conclusion_differs")


def execution_precondition(question: Question) -> Predicate:
    """Judge whether the counterfactual could be carried out; the first row that applies decides."""
    spec, action = question.spec, question.evidence.get("oneShotAction")
    one_shot = spec.get("oneShotAction") is not None
    fault = None
    if question.invalid_contract:
        fault = "invalid_contract"
    elif one_shot and action in {"reserved", "consumed"}:
        return Predicate("execution_precondition", spec["id"], "fail", f"action_{action}")
    elif question.days and question.days[-1]["day"] < spec["checkpointDay"]:
        return Predicate("execution_precondition", spec["id"], "fail", "ended_before_checkpoint")
    elif not question.days:
        fault = "no_trajectory"
    elif one_shot and action not in {"available", "cancelled"}:
        fault = "action_unknown"
    else:
        fault = question.branch_fault
    return Predicate("execution_precondition", spec["id"], "inconclusive" if fault else "pass", fault)
