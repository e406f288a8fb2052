"""Pairs of a campaign in plain Python, case by case: from a registration as JSON and rows of the tables.

Nothing here knows Polars or the tables' modules; a row is a mapping by column name.
"""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

Row = Mapping[str, Any]
Case = tuple[Any, ...]

FIELDS = ("familyId", "companyId", "taskId", "scenarioId", "repeat")
COLUMNS = ("family_id", "company_id", "task_id", "scenario_id", "repeat")
DAY_COLUMNS = {
    "cashCents": "cash_cents",
    "netAssetsCents": "net_assets_cents",
    "shortfallUnits": "shortfall_units",
}


@dataclass(frozen=True)
class Side:
    """One arm of a case."""

    class_: str
    attempt_id: str | None = None
    value: float | None = None
    unit: str | None = None
    digest: str | None = None
    reason: str | None = None


@dataclass(frozen=True)
class Pair:
    """A registered case."""

    case: Case
    baseline: Side
    treatment: Side
    effect: float | None
    result: str | None


@dataclass(frozen=True)
class Tables:
    """Rows of the current tables; those of results are of one rule set."""

    attempts: Sequence[Row] = ()
    verifications: Sequence[Row] = ()
    rewards: Sequence[Row] = ()
    assessment_scores: Sequence[Row] = ()
    trajectory_days: Sequence[Row] = ()


@dataclass
class Comparison:
    """What a campaign's attempts come to before any mean."""

    pairs: list[Pair] = field(default_factory=list)
    unregistered: list[str] = field(default_factory=list)
    refusals: list[str] = field(default_factory=list)


def compare(registration: Mapping[str, Any], tables: Tables, slack: float = 1e-9) -> Comparison:
    """Every registered case in key order, with both sides."""
    inventory = sorted(tuple(case[name] for name in FIELDS) for case in registration["inventory"])
    arms = (registration["baselineArm"], registration["treatmentArm"])
    found: dict[tuple[str, Case], list[Row]] = {(arm, case): [] for arm in arms for case in inventory}
    made = Comparison()
    for attempt in tables.attempts:
        if attempt["campaign_id"] == registration["campaignId"]:
            place = (attempt["arm_id"], tuple(attempt[name] for name in COLUMNS))
            if place in found:
                found[place].append(attempt)
            else:
                made.unregistered.append(attempt["attempt_id"])
    made.unregistered.sort()
    sides = {place: _side(registration, attempts, tables) for place, attempts in found.items()}
    made.refusals = _refusals(inventory, arms, sides)
    for case in inventory:
        baseline, treatment = (sides[arm, case] for arm in arms)
        effect = None if made.refusals else _effect(registration["direction"], baseline.value, treatment.value)
        result = None if effect is None else _result(effect, registration["tolerance"], slack)
        made.pairs.append(Pair(case, baseline, treatment, effect, result))
    return made


def _side(registration: Mapping[str, Any], attempts: Sequence[Row], tables: Tables) -> Side:
    if not attempts:
        return Side("missing", reason="no_artifact")
    if len(attempts) > 1:
        return Side("inconclusive", reason="duplicate_case")
    attempt_id, digest = attempts[0]["attempt_id"], attempts[0]["case_digest"]
    verdict = _only(tables.verifications, attempt_id)
    if verdict is None:
        return Side("inconclusive", attempt_id, digest=digest, reason="not_verified")
    metric, class_ = registration["metric"], verdict["class"]
    value, unit = None, None
    if metric == "objectiveSuccess":
        value = {"eligible": 1.0, "ineligible": 0.0}.get(class_)
    elif class_ == "eligible":
        value, unit = _number(metric, registration["direction"], attempt_id, verdict, tables)
    if value is not None:
        return Side(class_, attempt_id, value, unit, digest)
    return Side(class_, attempt_id, digest=digest, reason="no_value" if class_ == "eligible" else verdict["reason"])


def _number(
    metric: str, direction: str, attempt_id: str, verdict: Row, tables: Tables
) -> tuple[float | None, str | None]:
    """The value of an eligible attempt, and what it is measured in where that may differ."""
    if metric == "primaryValue":
        return verdict["primary_value"], verdict["primary_metric"]
    if metric == "reward":
        row = _only((one for one in tables.rewards if one["reward_kind"].startswith("worldseq-")), attempt_id)
        return (row and row["reward"]), None
    kind, _, about = metric.partition(":")
    if kind == "closing":
        days = [row for row in tables.trajectory_days if row["attempt_id"] == attempt_id]
        closing = max(days, key=lambda row: row["day"])[DAY_COLUMNS[about]] if days else None
        return (None if closing is None else float(closing)), None
    row = _only((one for one in tables.assessment_scores if one["question_id"] == about), attempt_id)
    if row is None:
        return None, None
    return row["score" if direction == "higher_is_better" else "error"], row["error_kind"]


def _only(rows: Iterable[Row], attempt_id: str) -> Row | None:
    return next((row for row in rows if row["attempt_id"] == attempt_id), None)


def _refusals(inventory: Sequence[Case], arms: tuple[str, str], sides: Mapping[tuple[str, Case], Side]) -> list[str]:
    refusals = []
    if len({side.unit for side in sides.values() if side.value is not None}) > 1:
        refusals.append("mixed_units")
    for case in inventory:
        digests = [sides[arm, case].digest for arm in arms]
        if None not in digests and digests[0] != digests[1]:
            refusals.append("contract_mismatch")
            break
    return refusals


def _effect(direction: str, baseline: float | None, treatment: float | None) -> float | None:
    if baseline is None or treatment is None:
        return None
    effect = treatment - baseline if direction == "higher_is_better" else baseline - treatment
    return (effect or 0.0) if math.isfinite(effect) else None


def _result(effect: float, tolerance: float, slack: float) -> str:
    if abs(effect) <= tolerance or abs(abs(effect) - tolerance) <= slack * max(1.0, tolerance):
        return "tie"
    return "win" if effect > 0 else "loss"
