"""Tables of the reconciliation: recorded against recomputed, and new rules against old. Neither changes a result."""

import datetime as dt
from typing import Annotated

import polars as pl

from assets.contract import Contract, column
from assets.rewards.contract import REWARD_KINDS
from assets.vocabulary import CLASSES

Strings = Annotated[pl.List, pl.String]


class Reconciliation(Contract):
    """One row per recorded figure that the rules also compute, per rule set and document that recorded it."""

    attempt_id: str = column("Attempt", nullable=True)
    run_id: str = column("Run, for figures of a whole run", nullable=True)
    field: str = column("eligible, verified, primary_value, reward, constraint:<id>, score:<question>, …")
    recorded_in: str = column("Document that recorded it")
    recorded: float = column("The recorded number; a boolean is 0 or 1", nullable=True)
    recomputed: float = column("The recomputed number; a boolean is 0 or 1", nullable=True)
    abs_diff: float = column("|recorded - recomputed|; null where either is null or not a number", nullable=True)
    agrees: bool = column("Equal: exact for booleans, within the relative tolerance for numbers, null equals null")
    reason: str = column(
        "differs, not_recomputed, contradicts_status, …; of a run's figure that agrees, the policy it agrees under",
        nullable=True,
    )
    rules: str = column("Rule set")
    landed_on: dt.date = column("Partition day")

    class Config(Contract.Config):
        name = "reconciliation"
        metadata = {"partition_by": ("landed_on", "rules")}


class RuleChanges(Contract):
    """One row per attempt whose class, primary value or reward differs under a rule set and its predecessor.

    Null equals null; an attempt that only one of the two has results of differs, with nulls on the other side. Key:
    (attempt_id, rules, landed_on).
    """

    attempt_id: str = column("Attempt")
    rules: str = column("Rule set")
    landed_on: dt.date = column("Partition day")
    predecessor: str = column("Rule set that it is compared with: the predecessor that its file names")
    changed: Strings = column("What differs: class, primary_value, reward, in this order")
    class_before: str = column("Class under the predecessor", nullable=True, isin=list(CLASSES))
    class_after: str = column("Class under the rule set", nullable=True, isin=list(CLASSES))
    reason_before: str = column("Why it was not eligible", nullable=True)
    reason_after: str = column("Why it is not eligible", nullable=True)
    primary_value_before: float = column("Primary value under the predecessor, in its unit", nullable=True)
    primary_value_after: float = column("Primary value under the rule set, in its unit", nullable=True)
    reward_kind_before: str = column(
        "Which reward: of several the first that differs, else the first",
        nullable=True,
        isin=list(REWARD_KINDS),
    )
    reward_kind_after: str = column("Which reward, likewise", nullable=True, isin=list(REWARD_KINDS))
    reward_before: float = column("Reward under the predecessor", nullable=True)
    reward_after: float = column("Reward under the rule set", nullable=True)
    predicates: Strings = column(
        "Ids of the predicates whose outcome differs, by position; one that does not apply counts as passed"
    )
    predicate_kinds: Strings = column("The kind of each of them")

    class Config(Contract.Config):
        name = "rule_changes"
        unique = ["attempt_id", "rules", "landed_on"]
        metadata = {"partition_by": ("landed_on", "rules")}
