"""Verdict, primary value and reward of one worldseq attempt, from its parsed document: the reference's entry point.

Written from the rules alone, one attempt at a time and without any speed in mind, so that a table that agrees with it
was computed twice. Documents must already be valid; decoding and quarantine are not judged here.
"""

import math
from collections.abc import Mapping
from dataclasses import replace
from typing import Literal

from .model import (
    UNITS,
    Doc,
    Expected,
    Predicate,
    Reward,
    Rules,
    day_gap,
    finite,
    mapping,
    present_days,
    value_on,
)
from .predicates import contract_predicates
from .questions import assessment, execution_precondition, questions, required_conclusion

Shape = Literal["finalizer", "harbor", "summary"]
FAILURES = ("agent_failure", "infrastructure_failure")


def expected(doc: Doc, rules: Rules | None = None) -> Expected:
    """Recompute everything about a full attempt document from its own evidence.

    Args:
        doc: A valid full attempt, as `json.loads` returns it.
        rules: The rule set's constants; those of the first rule set when absent.
    """
    rules = rules or Rules()
    outcome, task = doc["attempt"]["outcome"], mapping(doc.get("task"))
    if outcome in FAILURES:
        return _assemble(rules, outcome, outcome, task.get("primaryMetric"), None)
    asked = questions(doc, rules)
    required = [question for question in asked if question.required]
    predicates = contract_predicates(doc, rules)
    predicates += [required_conclusion(question) for question in required]
    predicates += [
        execution_precondition(question) for question in required if question.spec["kind"] == "counterfactual"
    ]
    days = present_days(doc)
    value = _primary_value(task["primaryMetric"], days)
    class_, reason = _verdict(doc.get("finalization"), predicates, value)
    return replace(
        _assemble(rules, class_, reason, task["primaryMetric"], value),
        failed_predicates=_ids(predicates, "fail"),
        inconclusive_predicates=_ids(predicates, "inconclusive"),
        net_assets_closing_cents=days[-1].get("netAssetsCents") if days else None,
        predicates=predicates,
        assessments=[assessment(question) for question in asked],
    )


def expected_recorded(
    verification: Doc,
    finalization: Doc | None,
    shape: Shape,
    rules: Rules | None = None,
    outcome: str = "completed",
) -> Expected:
    """Take over a recorded verification as it is, for the shapes that carry no evidence.

    Args:
        verification: The recorded fields (`verification`, or the top level of a Harbor result).
        finalization: The finalization beside it, None when absent; an evaluation summary has none by design.
        shape: Which document it stood in.
        rules: The rule set's constants; those of the first rule set when absent.
        outcome: The attempt's own outcome, where its identity tells one.
    """
    rules = rules or Rules()
    recorded = verification.get("primaryMetric")
    metric = recorded if isinstance(recorded, str) and recorded in UNITS else None
    if outcome in FAILURES:
        return replace(_assemble(rules, outcome, outcome, metric, None), basis="recorded")
    class_, reason = _recorded_verdict(verification, finalization, shape)
    number = finite(verification.get("primaryValue"))
    taken = _assemble(rules, class_, reason, metric, None if number is None else number + 0.0)
    business = mapping(verification.get("business"))
    judged = [*_objects(verification.get("constraints")), *_objects(business.get("objectives"))]
    closing = mapping(business.get("metrics")).get("netAssetsCents")
    return replace(
        taken,
        basis="recorded",
        failed_predicates=[
            row["id"] for row in judged if row.get("satisfied") is False and isinstance(row.get("id"), str)
        ],
        net_assets_closing_cents=closing if isinstance(closing, int) and not isinstance(closing, bool) else None,
        reward=replace(taken.reward, reward=None, reason="not_finalized") if shape == "summary" else taken.reward,
    )


def _assemble(rules: Rules, class_: str, reason: str | None, metric: str | None, value: float | None) -> Expected:
    """Put together what follows from the class; predicates, assessments and another basis are put in by the caller."""
    verified = class_ in {"eligible", "ineligible"}
    eligible = class_ == "eligible" if verified else None
    reward = _reward(rules, class_, metric, value)
    unrewarded = ("primary_value_unavailable" if class_ == "eligible" else reason) if reward is None else None
    return Expected(
        class_=class_,
        reason=reason,
        eligible=eligible,
        verified=verified,
        basis="recomputed",
        failed_predicates=[],
        inconclusive_predicates=[],
        primary_metric=metric,
        primary_value=value,
        primary_unit=None if metric is None else UNITS[metric],
        net_assets_closing_cents=None,
        predicates=[],
        assessments=[],
        reward=Reward(reward, None if eligible is None else int(eligible), int(verified), value, unrewarded),
    )


def _reward(rules: Rules, class_: str, metric: str | None, value: float | None) -> float | None:
    if class_ == "ineligible":
        return rules.reward_ineligible
    if class_ != "eligible" or metric is None or value is None:
        return None
    return rules.reward_centre + rules.reward_half_width * value / (rules.scales[metric] + abs(value))


def _verdict(finalization: Doc | None, predicates: list[Predicate], value: float | None) -> tuple[str, str | None]:
    if mapping(finalization).get("status") != "completed":
        return "inconclusive", "not_finalized"
    outcomes = {predicate.outcome for predicate in predicates}
    if "fail" in outcomes:
        return "ineligible", "predicate_failed"
    if value is None:
        return "inconclusive", "primary_value_unavailable"
    return ("inconclusive", "predicate_inconclusive") if "inconclusive" in outcomes else ("eligible", None)


def _recorded_verdict(verification: Doc, finalization: Doc | None, shape: Shape) -> tuple[str, str | None]:
    if shape != "summary" and mapping(finalization).get("status") != "completed":
        return "inconclusive", "not_finalized"
    if verification.get("verified") is not True:
        return "inconclusive", "not_verified"
    eligible = verification.get("eligible")
    if eligible is True:
        return "eligible", None
    return ("ineligible", "recorded_ineligible") if eligible is False else ("inconclusive", "not_verified")


def _primary_value(metric: str, days: list[Doc]) -> float | None:
    if not days:
        return None
    if metric in _CHANGES:
        first, last = value_on(days, 0, _CHANGES[metric]), days[-1].get(_CHANGES[metric])
        return None if first is None or last is None else float(last - first)
    if metric in _CLOSING:
        closing = days[-1].get(_CLOSING[metric])
        return None if closing is None else float(closing)
    first_day, name = (1, "operatingMarginCents") if metric == "operating_margin" else (0, "shortfallUnits")
    values = [day[name] for day in days if day["day"] >= first_day and day.get(name) is not None]
    if day_gap(days) or len(values) < len(days) - first_day:
        return None
    if metric == "operating_margin":
        return float(sum(values))
    total = 0.0
    for value in values:  # Left to right, as published: `sum` compensates its rounding from Python 3.12 on.
        total += float(value)
    return 0.0 - total if math.isfinite(total) else None


def _ids(predicates: list[Predicate], outcome: str) -> list[str]:
    return [predicate.predicate_id for predicate in predicates if predicate.outcome == outcome]


def _objects(value: object) -> list[Doc]:
    return [item for item in value if isinstance(item, Mapping)] if isinstance(value, list) else []


_CHANGES = {"net_cash": "cashCents", "net_assets": "netAssetsCents"}
_CLOSING = {"active_paying_accounts": "activePayingAccounts", "retained_accounts": "retainedAccounts"}
