"""Results under two rule sets, made by hand or at random, and the table `rule_changes` of them."""

import datetime as dt
from pathlib import Path
from typing import Any

import polars as pl

from assets.contract import Contract, conform, schema
from assets.reconciliation.contract import RuleChanges
from assets.reconciliation.rule_changes import Outcomes, rule_changes
from assets.rewards.contract import Rewards
from assets.rulesets.loader import parse
from assets.verification.contract import PredicateResults, Verifications
from tests.reference.rule_changes import Side

V1_TEXT = (Path(__file__).parents[3] / "assets" / "rulesets" / "v1.toml").read_text(encoding="utf-8")
V2_TEXT = V1_TEXT.replace('id = "v1"', 'id = "v2"\npredecessor = "v1"')
V2 = parse(V2_TEXT, "v2.toml")
DAY = dt.date(2026, 11, 29)
UTILITY = "worldseq-harbor-utility/1"

Row = dict[str, Any]


def verdict(class_: str, value: float | None = None, attempt_id: str = "a", **given: Any) -> Row:
    return {"attempt_id": attempt_id, "landed_on": DAY, "class": class_, "primary_value": value, **given}


def paid(reward: float | None, kind: str = UTILITY, attempt_id: str = "a", **given: Any) -> Row:
    return {"attempt_id": attempt_id, "landed_on": DAY, "reward_kind": kind, "reward": reward, **given}


def judged(id_: str, outcome: str, position: int = 0, kind: str = "cash_floor", **given: Any) -> Row:
    key = {"attempt_id": "a", "landed_on": DAY}
    return {**key, "kind": kind, "predicate_id": id_, "outcome": outcome, "position": position, **given}


def frame(contract: type[Contract], rows: Any) -> pl.LazyFrame:
    declared = schema(contract)
    full = [{name: row.get(name) for name in declared} for row in rows]
    return pl.DataFrame(full, schema=declared, strict=False).lazy()


def outcomes(side: Side) -> Outcomes:
    return Outcomes(
        frame(Verifications, side.verifications),
        frame(Rewards, side.rewards),
        frame(PredicateResults, side.predicate_results),
    )


def changed(before: Side, after: Side) -> pl.DataFrame:
    """The table, proven to fulfil its contract."""
    rows = rule_changes(outcomes(before), outcomes(after), V2)
    return conform(RuleChanges, rows.collect(engine="streaming"))
