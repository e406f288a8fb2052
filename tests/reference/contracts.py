"""The contract side of attempts: constraints and objectives whose limits lie on, above and below what happened.

Calm contracts hold. The others may also contradict themselves, or name kinds and metrics that nobody registered.
"""

from collections.abc import Callable
from dataclasses import dataclass
from random import Random
from typing import Any

from .hostile import Json, chance, identifier, unique

UNREGISTERED = ("madeUp", "day", "prices", "cash_cents", "CashCents", "<script>")
UNKNOWN_KINDS = ("mystery", "Cash_Floor", "token_budget", "objective", "required_conclusion", "=cmd()")
CENTS = ("cashCents", "minCashCents", "netAssetsCents", "earnedRevenueCents", "operatingMarginCents", "spendCents")
COUNTS = ("activePayingAccounts", "retainedAccounts")
UNITS = ("shortfallUnits", "lostWorkUnits")


@dataclass(frozen=True)
class _World:
    """What a contract is drawn up against."""

    rng: Random
    days: list[Json]
    horizon: int
    calm: bool
    agreements: list[Json]

    def values(self, metric: str) -> list[Any]:
        return [day[metric] for day in self.days if day.get(metric) is not None] or [0]

    def nudge(self) -> int:
        """How far a limit keeps its distance from the extreme value; below zero it is broken."""
        return self.rng.choice((0, 0, 1, 5000)) if self.calm else self.rng.choice((0, 0, 1, -1, -1, 100, -100))

    def fault(self) -> bool:
        return not self.calm and chance(self.rng, 0.07)

    def metric(self) -> str:
        return self.rng.choice(CENTS + COUNTS + UNITS + UNITS)


def constraints(rng: Random, days: list[Json], horizon: int, *, calm: bool) -> tuple[list[Json], list[Json]]:
    """Return the agreements that were made and the constraint rows of a task."""
    world = _World(rng, days, horizon, calm, [])
    kinds = [kind for kind in _DRAWN for _ in range(2) if chance(rng, 0.22)]
    if not calm and chance(rng, 0.08):
        kinds.append(rng.choice(UNKNOWN_KINDS))
    rng.shuffle(kinds)
    rows = [
        {"id": unique(rng, kind, number), "kind": kind, **_DRAWN.get(kind, _anything)(world)}
        for number, kind in enumerate(kinds)
    ]
    if chance(rng, 0.2):
        world.agreements.append({"agreementId": identifier(rng), "status": "signed", "onDay": 1})
    return world.agreements, rows


def objectives(rng: Random, days: list[Json], horizon: int, *, calm: bool) -> list[Json]:
    """Return objective rows: windows inside and across the horizon, bounds from either side or both."""
    world = _World(rng, days, horizon, calm, [])
    return [
        {"id": unique(rng, "objective", number), **_objective(world)}
        for number in range(rng.choice((0, 0, 1, 1, 2, 3)))
    ]


def _anything(world: _World) -> Json:
    return {"minCents": world.rng.randint(0, 9), "note": [1, None]}


def _spending_budget(world: _World) -> Json:
    if world.fault():
        return {}
    return {"maxCents": max(0, sum(world.values("spendCents")) + world.nudge())}


def _cash_floor(world: _World) -> Json:
    return {"minCents": None} if world.fault() else {"minCents": min(world.values("minCashCents")) - world.nudge()}


def _bounds(world: _World, low: int, high: int) -> Json:
    if world.fault():
        return world.rng.choice(({}, {"minCents": None, "maxCents": None}, {"minCents": high + 1, "maxCents": high}))
    lower, upper = {"minCents": low - world.nudge()}, {"maxCents": high + world.nudge()}
    bounds: Json = world.rng.choice((lower, upper, lower | upper))
    if len(bounds) == 2:
        bounds["maxCents"] = max(bounds.values())
    return bounds


def _cash_bounds(world: _World) -> Json:
    values = world.values("minCashCents") + world.values("cashCents")
    return _bounds(world, min(values), max(values))


def _price_bounds(world: _World) -> Json:
    prices = [price for day in world.days for price in (day.get("prices") or {}).values() if price is not None] or [900]
    return _bounds(world, min(prices), max(prices))


def _horizon(_world: _World) -> Json:
    return {}


def _agreement(world: _World) -> Json:
    """Add entries so that the latest one in time decides, ties by position, null days first."""
    rng, name = world.rng, f"deal-{len(world.agreements)}-{identifier(world.rng)}"
    if not world.calm and chance(rng, 0.15):
        return {"agreementId": name, "status": "signed"}
    by_day = rng.choice((None, 3))
    early = [
        {
            "agreementId": name,
            "status": rng.choice(("draft", "signed", "cancelled")),
            "onDay": rng.choice((None, 0, 1, 3)),
        }
        for _ in range(rng.randint(0, 3))
    ]
    decisive = {"agreementId": name, "status": "signed", "onDay": 3}
    late = [{"agreementId": name, "status": "cancelled", "onDay": 4}] if by_day is not None and chance(rng, 0.5) else []
    world.agreements.extend([*late, *early, *([decisive] if world.calm or chance(rng, 0.5) else [])])
    return {"agreementId": name, "status": "signed"} | rng.choice(({"byDay": by_day}, {"byDay": by_day, "extra": 1}))


def _growth(world: _World) -> Json:
    rng, metric = world.rng, world.metric()
    known = {day["day"]: day[metric] for day in world.days if day.get(metric) is not None}
    if world.fault():
        return rng.choice(
            (
                {"metric": rng.choice(UNREGISTERED), "fromDay": 0, "toDay": 1, "minRatio": 1},
                {"metric": metric, "fromDay": 0, "toDay": 1},
                {"metric": metric, "fromDay": 0, "toDay": 1, "minRatio": None, "minDelta": None},
            )
        )
    absent = not known or (not world.calm and chance(rng, 0.15))
    start, end = (world.horizon + 1, 0) if absent else (rng.choice(list(known)), rng.choice(list(known)))
    row: Json = {"metric": metric, "fromDay": start, "toDay": end}
    first, last = known.get(start, 0), known.get(end, 0)
    exact = [0, -1] if world.calm else [0, 1, -1]
    delta = last - first + (rng.choice(exact) if metric not in UNITS else rng.choice((0, 5e-10, -0.5, *exact)))
    # Slack decides at 1 + 1e-10, and no longer at 1 + 1e-6.
    factor = rng.choice((1, 1 + 1e-10, 0.9) if world.calm else (1, 1 + 1e-10, 1 + 1e-6, 0.9, 1.5))
    ratio = last / first * factor if first > 0 else 1.1
    if world.calm and first <= 0:
        return row | {"minDelta": delta}
    return row | rng.choice(({"minDelta": delta}, {"minRatio": ratio}, {"minRatio": ratio, "minDelta": delta}))


def _gameplay_budget(world: _World) -> Json:
    if world.calm:
        return world.rng.choice(({}, {"acceptedDecisions": 2**53, "elapsedSeconds": 7200.5}, {"playerCalls": None}))
    return world.rng.choice(
        ({}, {"acceptedDecisions": 90}, {"playerCalls": 400}, {"elapsedSeconds": 3100.5}, {"acceptedDecisions": 129})
    )


def _objective(world: _World) -> Json:
    rng, metric = world.rng, world.metric()
    start = rng.randint(0, world.horizon)
    end = rng.randint(start, world.horizon)
    if not world.calm and chance(rng, 0.05):
        end = rng.choice((world.horizon + 1, 100_000))
    window = {"metric": metric, "fromDay": start, "toDay": end}
    if world.fault():
        return window | rng.choice(
            (
                {"metric": rng.choice(UNREGISTERED), "min": 1},
                {"fromDay": 1, "toDay": 0, "min": 0},
                {},
                {"min": None, "max": None},
                {"min": 2, "max": 1},
            )
        )
    values = world.values(metric)
    low, high = {"min": min(values) - world.nudge()}, {"max": max(values) + world.nudge()}
    bounds: Json = rng.choice((low, high, low | high))
    if len(bounds) == 2:
        bounds["max"] = max(bounds.values())
    return window | bounds


_DRAWN: dict[str, Callable[[_World], Json]] = {
    "spending_budget": _spending_budget,
    "cash_floor": _cash_floor,
    "cash_bounds": _cash_bounds,
    "price_bounds": _price_bounds,
    "horizon": _horizon,
    "agreement": _agreement,
    "growth": _growth,
    "gameplay_budget": _gameplay_budget,
}
