"""The predicates of the task contract: constraints, objectives and budgets. Questions have their own file.

A known breach fails whatever else is missing; a fault of the contract itself comes before anything that was observed.
"""

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

from .model import METRICS, Doc, Outcome, Predicate, Rules, day_gap, mapping, present_days, rows, value_on


@dataclass(frozen=True)
class Evidence:
    """What the predicates of one attempt are judged from."""

    days: list[Doc]
    horizon: int
    agreements: list[Doc]
    usage: Doc
    rules: Rules


def contract_predicates(doc: Doc, rules: Rules) -> list[Predicate]:
    """Judge constraints in declared order, the budgets nobody declared, then objectives."""
    task = doc["task"]
    evidence = Evidence(
        present_days(doc), task["horizonDays"], rows(doc, "agreements"), mapping(doc.get("usage")), rules
    )
    judged = [_constraint(row, evidence) for row in rows(task, "constraints")]
    if not any(row["kind"] == "gameplay_budget" for row in rows(task, "constraints")):
        judged.append(_gameplay_budget({"kind": "gameplay_budget", "id": "gameplay_budget"}, evidence))
    if rules.token_budget and evidence.usage.get("tokenBudget") is not None:
        judged.append(_token_budget(evidence.usage))
    judged += [_objective(row, evidence) for row in rows(task, "objectives")]
    return judged


def _constraint(row: Doc, evidence: Evidence) -> Predicate:
    kind = row["kind"]
    if kind not in _JUDGES:
        return _inconclusive(row, "unknown_kind")
    fault = _FAULTS.get(kind, _no_fault)(row)
    if fault:
        return _inconclusive(row, fault)
    if kind not in {"agreement", "gameplay_budget"} and not evidence.days:
        return _inconclusive(row, "no_trajectory")
    return _JUDGES[kind](row, evidence)


def _spending_budget(row: Doc, evidence: Evidence) -> Predicate:
    limit, total, first, null = row["maxCents"], 0, None, False
    for day in evidence.days:
        spend = day.get("spendCents")
        if spend is None:
            null = True
            continue
        total += spend
        if total > limit and first is None:
            first = day["day"]
    outcome, reason = _settle(total > limit, _missing(evidence.days, null))
    return Predicate(row["kind"], row["id"], outcome, reason, observed=total, limit=limit, first_breach_day=first)


def _cash_floor(row: Doc, evidence: Evidence) -> Predicate:
    return _levels(row, evidence, ("minCashCents",))


def _cash_bounds(row: Doc, evidence: Evidence) -> Predicate:
    return _levels(row, evidence, ("minCashCents", "cashCents"))


def _levels(row: Doc, evidence: Evidence, metrics: tuple[str, ...]) -> Predicate:
    lower, upper = row.get("minCents"), row.get("maxCents") if row["kind"] == "cash_bounds" else None
    values = [(day["day"], day.get(metric)) for day in evidence.days for metric in metrics]
    found = _extremes(values, lower, upper)
    missing = _missing(evidence.days, any(value is None for _, value in values))
    outcome, reason = _settle(found.first_breach_day is not None, missing)
    return Predicate(row["kind"], row["id"], outcome, reason, **vars(found))


def _price_bounds(row: Doc, evidence: Evidence) -> Predicate:
    values = [(day["day"], price) for day in evidence.days for price in mapping(day.get("prices")).values()]
    found = _extremes(values, row.get("minCents"), row.get("maxCents"))
    outcome, reason = _settle(found.first_breach_day is not None, None)
    return Predicate(row["kind"], row["id"], outcome, reason, **vars(found))


def _horizon(row: Doc, evidence: Evidence) -> Predicate:
    last = evidence.days[-1]["day"]
    outcome: Outcome = "pass" if last >= evidence.horizon else "fail"
    reason = None if outcome == "pass" else "short_trajectory"
    return Predicate("horizon", row["id"], outcome, reason, observed=last, limit=evidence.horizon)


def _agreement(row: Doc, evidence: Evidence) -> Predicate:
    by_day = row.get("byDay")
    entries = [
        (-1 if entry.get("onDay") is None else entry["onDay"], position, entry["status"])
        for position, entry in enumerate(evidence.agreements)
        if entry["agreementId"] == row["agreementId"]
        and (by_day is None or (entry.get("onDay") is not None and entry["onDay"] <= by_day))
    ]
    if not entries:
        return Predicate("agreement", row["id"], "fail", "no_agreement")
    signed = max(entries)[2] == row["status"]
    return Predicate("agreement", row["id"], "pass" if signed else "fail", None if signed else "status_differs")


def _growth(row: Doc, evidence: Evidence) -> Predicate:
    start, end = (value_on(evidence.days, row[key], row["metric"]) for key in ("fromDay", "toDay"))
    ratio, delta = row.get("minRatio"), row.get("minDelta")
    if start is None or end is None:
        return Predicate("growth", row["id"], "fail", "value_missing", observed=end)
    needed = [] if ratio is None else [float(ratio) * start]
    needed += [] if delta is None else [start + delta]
    reason = None
    if ratio is not None and start <= 0:
        reason = "base_not_positive"
    elif ratio is not None and not _at_least(float(end), float(ratio) * start, evidence.rules.slack):
        reason = "below_ratio"
    elif delta is not None and not _at_least(end - start, delta, evidence.rules.slack):
        reason = "below_delta"
    return Predicate("growth", row["id"], "fail" if reason else "pass", reason, observed=end, limit=max(needed))


def _gameplay_budget(row: Doc, evidence: Evidence) -> Predicate:
    usage, rules = evidence.usage, evidence.rules
    limits = {
        "acceptedDecisions": rules.accepted_decisions,
        "playerCalls": rules.player_calls,
        "elapsedSeconds": rules.elapsed_seconds,
    }
    limits |= {key: row[key] for key in limits if row.get(key) is not None}
    used = {key: usage.get(key) for key in limits}
    over = [key for key, value in used.items() if value is not None and value > limits[key]]
    missing = "usage_missing" if any(value is None for value in used.values()) else None
    outcome, reason = _settle(bool(over), missing)
    if over:
        return Predicate("gameplay_budget", row["id"], outcome, reason, observed=used[over[0]], limit=limits[over[0]])
    return Predicate("gameplay_budget", row["id"], outcome, reason)


def _token_budget(usage: Doc) -> Predicate:
    limit, reported = usage["tokenBudget"], usage.get("reportedTokens")
    missing = "usage_missing" if reported is None else None
    outcome, reason = _settle(reported is not None and reported > limit, missing)
    return Predicate("token_budget", "token_budget", outcome, reason, observed=reported, limit=limit)


def _objective(objective: Doc, evidence: Evidence) -> Predicate:
    row = {**objective, "kind": "objective"}
    fault = _objective_fault(row)
    if fault or not evidence.days:
        return _inconclusive(row, fault or "no_trajectory")
    start, end, metric = row["fromDay"], row["toDay"], row["metric"]
    values = [(day["day"], day.get(metric)) for day in evidence.days if start <= day["day"] <= end]
    found = _extremes(values, row.get("min"), row.get("max"))
    required, observed = end - start + 1, sum(value is not None for _, value in values)
    reason = "breach" if found.first_breach_day is not None else "value_missing" if observed < required else None
    return Predicate(
        "objective",
        row["id"],
        "fail" if reason else "pass",
        reason,
        required_days=required,
        observed_days=observed,
        missing_days=required - observed,
        **vars(found),
    )


@dataclass(frozen=True)
class _Extremes:
    """The value nearest to, or farthest beyond, a bound, and the bound that it is measured against."""

    observed: float | None = None
    limit: float | None = None
    worst_value: float | None = None
    worst_day: int | None = None
    first_breach_day: int | None = None


def _extremes(values: Iterable[tuple[int, Any]], lower: float | None, upper: float | None) -> _Extremes:
    """Find the worst value (the smallest margin to a bound, the earliest of equals) and the first day out of bounds."""
    worst: tuple[float, int, float, float] | None = None
    first = None
    for day, value in values:
        if value is None:
            continue
        margins = [] if lower is None else [(value - lower, lower)]
        margins += [] if upper is None else [(upper - value, upper)]
        margin, limit = min(margins, key=lambda pair: pair[0])
        if worst is None or margin < worst[0]:
            worst = (margin, day, value, limit)
        # Compared directly: a difference of doubles may round to zero where the two differ.
        outside = (lower is not None and value < lower) or (upper is not None and value > upper)
        if outside and first is None:
            first = day
    if worst is None:
        return _Extremes()
    return _Extremes(worst[2], worst[3], worst[2], worst[1], first)


def _at_least(value: float, limit: float, slack: float) -> bool:
    """Compare integers exactly and doubles with slack."""
    if isinstance(value, int) and isinstance(limit, int):
        return value >= limit
    if not (math.isfinite(value) and math.isfinite(limit)):
        return value >= limit
    return value >= limit or abs(value - limit) <= slack * max(1.0, abs(limit))


def _settle(breach: bool, missing: str | None) -> tuple[Outcome, str | None]:
    if breach:
        return "fail", "breach"
    return ("inconclusive", missing) if missing else ("pass", None)


def _missing(days: list[Doc], null: bool) -> str | None:
    if day_gap(days):
        return "day_gap"
    return "value_missing" if null else None


def _inconclusive(row: Doc, reason: str) -> Predicate:
    return Predicate(row["kind"], row["id"], "inconclusive", reason)


def _no_fault(_row: Doc) -> str | None:
    return None


def _bounds_fault(row: Doc, lower: str, upper: str) -> str | None:
    low, high = row.get(lower), row.get(upper)
    vacuous = (low is None and high is None) or (low is not None and high is not None and low > high)
    return "vacuous_contract" if vacuous else None


def _growth_fault(row: Doc) -> str | None:
    if row["metric"] not in METRICS:
        return "unknown_metric"
    return "vacuous_contract" if row.get("minRatio") is None and row.get("minDelta") is None else None


def _objective_fault(row: Doc) -> str | None:
    if row["metric"] not in METRICS:
        return "unknown_metric"
    return "vacuous_contract" if row["fromDay"] > row["toDay"] else _bounds_fault(row, "min", "max")


_FAULTS: dict[str, Callable[[Doc], str | None]] = {
    "spending_budget": lambda row: "vacuous_contract" if row.get("maxCents") is None else None,
    "cash_floor": lambda row: "vacuous_contract" if row.get("minCents") is None else None,
    "cash_bounds": lambda row: _bounds_fault(row, "minCents", "maxCents"),
    "price_bounds": lambda row: _bounds_fault(row, "minCents", "maxCents"),
    "growth": _growth_fault,
}

_JUDGES: dict[str, Callable[[Doc, Evidence], Predicate]] = {
    "spending_budget": _spending_budget,
    "cash_floor": _cash_floor,
    "cash_bounds": _cash_bounds,
    "price_bounds": _price_bounds,
    "horizon": _horizon,
    "agreement": _agreement,
    "growth": _growth,
    "gameplay_budget": _gameplay_budget,
}
