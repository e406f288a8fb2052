"""Tables of the verification: what each predicate found, and the verdict of each attempt."""

import datetime as dt
from typing import Annotated

import polars as pl

from assets.contract import Contract, column
from assets.vocabulary import BASES, CLASSES, PREDICATE_OUTCOMES

Strings = Annotated[pl.List, pl.String]


class PredicateResults(Contract):
    """One row per attempt, rule set and applicable predicate of a completed attempt that carries evidence."""

    attempt_id: str = column("Attempt")
    rules: str = column("Rule set")
    landed_on: dt.date = column("Partition day")
    kind: str = column("Kind of predicate: a constraint's kind, objective, required_conclusion, …")
    predicate_id: str = column(
        "The row's own id; `gameplay_budget` where none is declared; `token_budget`; the question for conclusions"
    )
    outcome: str = column("pass, fail or inconclusive", isin=list(PREDICATE_OUTCOMES))
    reason: str = column("Why it failed or is inconclusive; null where it passes", nullable=True)
    observed: float = column("What was observed, in the unit of the limit", nullable=True)
    limit: float = column("What it was held against; of two bounds the one that was broken", nullable=True)
    worst_value: float = column("The value nearest to, or furthest beyond, the limit", nullable=True)
    worst_day: int = column("First day with the worst value", nullable=True)
    first_breach_day: int = column("First day beyond the limit", nullable=True)
    required_days: int = column("Days that the window requires", nullable=True)
    observed_days: int = column("Days of the window that have a value", nullable=True)
    missing_days: int = column("Days of the window without a value", nullable=True)
    position: int = column("Place among the attempt's predicates, from 0: constraints as declared, budgets, …", ge=0)

    class Config(Contract.Config):
        name = "predicate_results"
        metadata = {"partition_by": ("landed_on", "rules")}


class Verifications(Contract):
    """One row per attempt and rule set: its class and why. Key: (attempt_id, rules, landed_on)."""

    attempt_id: str = column("Attempt")
    rules: str = column("Rule set")
    landed_on: dt.date = column("Partition day")
    class_: str = column(
        "infrastructure_failure, agent_failure, inconclusive, ineligible or eligible", alias="class", isin=list(CLASSES)
    )
    reason: str = column("Why it is not eligible", nullable=True)
    eligible: bool = column("Every predicate passed; null unless verified", nullable=True)
    verified: bool = column("The evidence decides: eligible or ineligible")
    basis: str = column("recomputed from the evidence, or as recorded", isin=list(BASES))
    failed_predicates: Strings = column("Ids of the predicates that failed")
    inconclusive_predicates: Strings = column("Ids of the predicates that are inconclusive")
    primary_metric: str = column("The task's primary metric", nullable=True)
    primary_value: float = column("Primary value, in its unit", nullable=True)
    primary_unit: str = column("Unit of the primary value", nullable=True)
    net_assets_closing_cents: int = column("Net assets on the last day present, cents", nullable=True)

    class Config(Contract.Config):
        name = "verifications"
        unique = ["attempt_id", "rules", "landed_on"]
        metadata = {"partition_by": ("landed_on", "rules")}
