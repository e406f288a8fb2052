"""What the reference reads and returns: the constants of a rule set, the rows, and null-safe access to a document.

No rule is decided here, and nothing is shared with the tables' own code: the two readings must stay independent.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, Literal

Doc = Mapping[str, Any]
Outcome = Literal["pass", "fail", "inconclusive"]

METRICS = frozenset(
    {
        "cashCents",
        "minCashCents",
        "netAssetsCents",
        "spendCents",
        "earnedRevenueCents",
        "operatingMarginCents",
        "activePayingAccounts",
        "retainedAccounts",
        "shortfallUnits",
        "lostWorkUnits",
    }
)

UNITS: Mapping[str, str] = MappingProxyType(
    {
        "net_cash": "cents",
        "net_assets": "cents",
        "operating_margin": "cents",
        "active_paying_accounts": "accounts",
        "retained_accounts": "accounts",
        "recovery": "service units",
    }
)

# The reasons that the rules spell out; any other reason in a row is this reference's own wording.
STATED_REASONS = frozenset(
    {
        "not_finalized",
        "no_trajectory",
        "day_gap",
        "unknown_kind",
        "unknown_metric",
        "vacuous_contract",
        "primary_value_unavailable",
        "invalid_contract",
        "answer_missing",
        "action_reserved",
        "action_consumed",
        "ended_before_checkpoint",
        "action_unknown",
        "branch_missing",
        "branch_unverified",
        "branch_mismatch",
        "branch_value_missing",
    }
)


@dataclass(frozen=True)
class Rules:
    """The constants of a rule set, with the defaults of the first one."""

    accepted_decisions: int = 128
    player_calls: int = 1024
    elapsed_seconds: float = 7200.0
    token_budget: bool = True
    slack: float = 1e-9
    probability_tolerance: float = 1e-9
    reward_centre: float = 1.0
    reward_half_width: float = 0.5
    reward_ineligible: float = 0.0
    scales: Mapping[str, float] = field(
        default_factory=lambda: MappingProxyType(
            {
                "net_cash": 1_000_000.0,
                "net_assets": 1_000_000.0,
                "operating_margin": 1_000_000.0,
                "active_paying_accounts": 100.0,
                "retained_accounts": 100.0,
                "recovery": 100.0,
            }
        )
    )


@dataclass(frozen=True)
class Predicate:
    """One judged predicate; a null field was not observed or makes no sense for the kind."""

    kind: str
    predicate_id: str
    outcome: Outcome
    reason: str | None = None
    observed: float | None = None
    limit: float | None = None
    worst_value: float | None = None
    worst_day: int | None = None
    first_breach_day: int | None = None
    required_days: int | None = None
    observed_days: int | None = None
    missing_days: int | None = None


@dataclass(frozen=True)
class Assessment:
    """One graded question; `score` and `error` stand only where `answer_status` is `graded`."""

    question_id: str
    kind: str
    answer_status: str
    prediction: float | None
    actual: float | None
    scale: float | None
    score: float | None
    error: float | None
    error_kind: str
    required: bool


@dataclass(frozen=True)
class Reward:
    """The Harbor utility of an attempt; `reason` says why `reward` is null."""

    reward: float | None
    eligible: int | None
    verified: int
    primary_value: float | None
    reason: str | None


@dataclass(frozen=True)
class Expected:
    """Everything that the tables must say about one attempt."""

    class_: str
    reason: str | None
    eligible: bool | None
    verified: bool
    basis: str
    failed_predicates: list[str]
    inconclusive_predicates: list[str]
    primary_metric: str | None
    primary_value: float | None
    primary_unit: str | None
    net_assets_closing_cents: int | None
    predicates: list[Predicate]
    assessments: list[Assessment]
    reward: Reward


def finite(value: object) -> float | None:
    """Return `value` as a finite double; None for anything else, booleans and overflowing integers included."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    try:
        number = float(value)
    except OverflowError:
        return None
    return number if math.isfinite(number) else None


def mapping(value: object) -> Doc:
    """Return `value` when it is an object, else an empty one: an absent object and a null one are the same."""
    return value if isinstance(value, Mapping) else {}


def rows(doc: Doc, key: str) -> list[Doc]:
    """Return the list under `key`; absent and null are empty."""
    return list(doc.get(key) or ())


def present_days(doc: Doc) -> list[Doc]:
    """Return the trajectory in day order without the days beyond the horizon, which count for nothing."""
    horizon = doc["task"]["horizonDays"]
    return sorted((day for day in rows(doc, "trajectory") if day["day"] <= horizon), key=lambda day: day["day"])


def day_gap(days: list[Doc]) -> bool:
    """Tell whether the days up to the last present one are incomplete; an absent opening day counts."""
    return [day["day"] for day in days] != list(range(len(days)))


def value_on(days: list[Doc], day: int, metric: str) -> float | None:
    """Return the metric on that day; None for an absent day and for a null."""
    value: float | None = next((entry.get(metric) for entry in days if entry["day"] == day), None)
    return value
