"""Comparisons that reports are made of: a conclusive one, others without a conclusion, and one of hostile names."""

import random
from collections.abc import Callable, Sequence
from functools import cache
from typing import Any, NamedTuple

import polars as pl

from assets.campaigns.comparison import Compared, comparison
from assets.campaigns.contract import CASE, CampaignComparisons, CampaignPairs
from assets.campaigns.pairs import Paired
from assets.campaigns.registration import Registration
from assets.contract import conform, schema
from assets.rulesets.loader import load_all

Case = tuple[str, str, str, str, int]
Side = tuple[str, float | None, str | None]
"""Class, value and reason."""

RULES = load_all()["v1"]
FAILED = {"arm": pl.String, "kind": pl.String, "predicate_id": pl.String, "attempts": pl.Int64}
UNREGISTERED = {"attempt_id": pl.String, "arm_id": pl.String, **dict.fromkeys(CASE[:4], pl.String), "repeat": pl.Int64}
MISSING: Side = ("missing", None, "no_artifact")
HOSTILE = (
    "<script>alert(1)</script>",
    "<img src=x onerror=alert(2)>",
    "\"'><svg/onload=alert(3)>",
    "{{ 7 * 7 }}{% raw %}",
    "&lt;b&gt; \u202eevil\u202c \u2067right\u2069",
    "مهمة التسعير",
    "bell\x07 null\x00 line\nbreak\u2028 \x9b31m",
    "x" * 200,
)


class Reported(NamedTuple):
    """What `report` takes."""

    compared: Compared
    registration: Registration
    failed_predicates: pl.DataFrame
    unregistered: pl.DataFrame


def cases(families: int, companies: int, tasks: int, scenarios: int) -> list[Case]:
    names = (["pricing", "hiring", "recovery"], ["acme", "bolt", "cargo"], ["raise-price", "keep-cash", "win-back"])
    kinds = [*zip(names, ("family", "company", "task"), (families, companies, tasks), strict=True)]
    keys = [[known[n] if n < len(known) else f"{kind}-{n:03}" for n in range(size)] for known, kind, size in kinds]
    return sorted(
        (family, company, task, f"s{scenario}", 1)
        for family in keys[0]
        for company in keys[1]
        for task in keys[2]
        for scenario in range(1, scenarios + 1)
    )


def registration(inventory: Sequence[Case], **changes: Any) -> Registration:
    declared = {
        "campaign_id": "cmp-planner",
        "campaign_key": "cmp-planner-3f1c9a7e",
        "registration_digest": "5e" * 32,
        "title": "Planner 2.1 against Planner 2.0",
        "metric": "objectiveSuccess",
        "direction": "higher_is_better",
        "baseline_arm": "planner-2.0",
        "treatment_arm": "planner-2.1",
        "expectation": "improvement",
        "tolerance": 0.05,
        "inventory": [dict(zip(CASE, case, strict=True)) for case in inventory],
    }
    return Registration(**declared | changes)


def pairs(of: Registration, sides: Callable[[Case, int], Side], *, refused: bool = False) -> pl.DataFrame:
    """The pairs of a registration: what `sides` says of a case in the baseline (0) and in the treatment (1)."""
    rows = []
    for case in sorted(tuple(entry[name] for name in CASE) for entry in of.inventory):
        row = {"campaign_id": of.campaign_id, "campaign_key": of.campaign_key, "rules": "v1", "metric": of.metric}
        row |= dict(zip(CASE, case, strict=True))
        for place, arm in enumerate(("baseline", "treatment")):
            class_, value, reason = sides(case, place)
            absent = class_ == "missing" or reason == "duplicate_case"
            row |= {f"{arm}_class": class_, f"{arm}_value": value, f"{arm}_reason": reason}
            row[f"{arm}_attempt_id"] = None if absent else f"worldseq:{arm}-{'-'.join(map(str, case))}"
        baseline, treatment = row["baseline_value"], row["treatment_value"]
        if baseline is not None and treatment is not None and not refused:
            effect = treatment - baseline if of.higher_is_better else baseline - treatment
            row |= {"effect": effect, "result": result(effect, of.tolerance)}
        rows.append(row)
    return conform(CampaignPairs, pl.DataFrame(rows, schema=schema(CampaignPairs)))


def result(effect: float, tolerance: float) -> str:
    return "win" if effect > tolerance else "loss" if effect < -tolerance else "tie"


def reported(
    of: Registration,
    paired: pl.DataFrame,
    *refusals: str,
    failed_predicates: Sequence[tuple[str, str, str, int]] = (),
    beside: Sequence[tuple[Any, ...]] = (),
) -> Reported:
    """What a report takes of these pairs: the comparison is the real one."""
    unregistered = pl.DataFrame(beside, schema=UNREGISTERED, orient="row")
    made = comparison(of, Paired(paired, unregistered, list(refusals)), RULES)
    conform(CampaignComparisons, made.comparison)
    return Reported(made, of, pl.DataFrame(failed_predicates, schema=FAILED, orient="row"), unregistered)


@cache
def conclusive() -> Reported:
    """108 pairs of three families, in which the treatment meets the objectives clearly more often."""
    of = registration(cases(3, 3, 3, 4))
    draw = random.Random(7)
    sides = {case: [draw.random() < chance + 0.03 * len(case[1]) for chance in (0.3, 0.62)] for case in _keys(of)}

    def side(case: Case, place: int) -> Side:
        met = sides[case][place]
        return ("eligible", 1.0, None) if met else ("ineligible", 0.0, None)

    paired = pairs(of, side)
    predicates = [
        ("planner-2.0", "cash_floor", "floor-0", 31),
        ("planner-2.1", "cash_floor", "floor-0", 12),
        ("planner-2.0", "objective", "retain-40-accounts", 18),
        ("planner-2.1", "objective", "retain-40-accounts", 15),
        ("planner-2.0", "gameplay_budget", "gameplay_budget", 6),
        ("planner-2.1", "required_conclusion", "why-churn", 4),
    ]
    return reported(of, paired, failed_predicates=predicates)


@cache
def money() -> Reported:
    """A metric in cents of which less is better, that does not decide."""
    of = registration(
        cases(3, 4, 2, 2),
        campaign_id="cmp-spend",
        title="Spending of the frugal agent",
        metric="closing:spendCents",
        direction="lower_is_better",
        expectation="equivalence",
        tolerance=25_000.0,
    )
    draw = random.Random(11)
    values = {case: [draw.gauss(410_000, 60_000), draw.gauss(402_000, 60_000)] for case in _keys(of)}
    paired = pairs(of, lambda case, place: ("eligible", round(values[case][place]) * 1.0, None))
    return reported(of, paired)


@cache
def incomplete() -> Reported:
    """A missing case, a failure of either kind, a duplicate, an ineligible attempt, and attempts beside it all."""
    of = registration(cases(2, 2, 2, 2), metric="primaryValue", expectation="no_regression", tolerance=0.0)
    gaps: dict[tuple[int, int], Side] = {
        (0, 1): MISSING,
        (3, 0): ("infrastructure_failure", None, "sandbox_lost"),
        (3, 1): ("agent_failure", None, "crashed"),
        (6, 1): ("inconclusive", None, "duplicate_case"),
        (9, 0): ("ineligible", None, "cash_floor"),
        (9, 1): ("ineligible", None, "cash_floor"),
    }
    order = _keys(of)

    def side(case: Case, place: int) -> Side:
        number = order.index(case)
        return gaps.get((number, place), ("eligible", 120_000.0 + 5_000 * number + 12_500 * place, None))

    beside = [
        ("worldseq:stray-1", "planner-1.9", "pricing", "acme", "raise-price", "s1", 1),
        ("worldseq:stray-2", None, "pricing", None, None, None, None),
    ]
    predicates = [("planner-2.0", "cash_floor", "floor-0", 1), ("planner-2.1", "cash_floor", "floor-0", 1)]
    return reported(of, pairs(of, side), failed_predicates=predicates, beside=beside)


@cache
def refused() -> Reported:
    """Values on every side, in units that do not mix."""
    of = registration(cases(2, 3, 1, 2), metric="primaryValue")
    paired = pairs(of, lambda case, place: ("eligible", 100.0 * place + len(case[2]), None), refused=True)
    return reported(of, paired, "mixed_units", "contract_mismatch")


@cache
def hostile() -> Reported:
    """Every name of the artifacts is an attack on the page, or on its reader."""
    inventory = [(family, company, HOSTILE[0], HOSTILE[1], 1) for family in HOSTILE[:4] for company in HOSTILE[4:]]
    names = {"title": HOSTILE[0], "campaign_id": HOSTILE[1], "baseline_arm": HOSTILE[4], "treatment_arm": HOSTILE[2]}
    of = registration(inventory, metric=f"score:{HOSTILE[0]}", **names)

    def side(case: Case, place: int) -> Side:
        return "eligible", len(case[0]) / 100 * place - len(case[1]) / 1000, None

    predicates = [(HOSTILE[4], name, name, place) for place, name in enumerate(HOSTILE, 1)]
    beside = [(name, name, name, name, name, name, 1) for name in HOSTILE]
    return reported(of, pairs(of, side), failed_predicates=predicates, beside=beside)


def _keys(of: Registration) -> list[Case]:
    return [tuple(entry[name] for name in CASE) for entry in of.inventory]


ALL = {of.__name__: of for of in (conclusive, money, incomplete, refused, hostile)}
