"""`rule_changes`: what a rule set changed against its predecessor, attempt by attempt, and which predicates did it.

Here: the comparison of two sets of results of the same attempts. Not here: any rule, and which results are compared.
"""

from typing import NamedTuple

import polars as pl

from assets.attempts.evidence import KEY, ROW, in_order
from assets.contract import empty, to_contract
from assets.reconciliation.contract import RuleChanges
from assets.rulesets.loader import RuleSet

PREDICATE = ["kind", "predicate_id"]
"""What a predicate of an attempt is known by: its position depends on what else the rule set asks."""


class Outcomes(NamedTuple):
    """The results of attempts under one rule set."""

    verifications: pl.LazyFrame
    rewards: pl.LazyFrame
    predicate_results: pl.LazyFrame


def rule_changes(before: Outcomes, after: Outcomes, rules: RuleSet) -> pl.LazyFrame:
    """One row per attempt whose class, primary value or reward differs, as `RuleChanges` declares it.

    Args:
        before: results under the predecessor that `rules` names; nothing changes where it names none.
        after: results of the same days under `rules`.
        rules: the new rule set.
    """
    if rules.predecessor is None:
        return empty(RuleChanges).lazy()
    changed = in_order(differing(before, after))
    responsible = responsible_predicates(changed, before.predicate_results, after.predicate_results)
    return (
        changed.join(responsible, on=ROW, how="left")
        .with_columns(
            pl.col("predicates", "predicate_kinds").fill_null(pl.lit([], pl.List(pl.String))),
            rules=pl.lit(rules.id),
            predecessor=pl.lit(rules.predecessor),
        )
        .sort(ROW)
        .pipe(to_contract, RuleChanges)
    )


def differing(before: Outcomes, after: Outcomes) -> pl.LazyFrame:
    """The attempts that differ: `KEY`, `changed`, and class, reason, primary value and reward before and after."""
    verdicts = _beside(
        *(side.verifications.select(*KEY, "class", "reason", "primary_value") for side in (before, after)), on=KEY
    )
    differs = {
        "class": _differs("class"),
        "primary_value": _differs("primary_value"),
        "reward": pl.col("reward_differs").fill_null(value=False),
    }
    return (
        verdicts.join(rewards_beside(before.rewards, after.rewards), on=KEY, how="full", coalesce=True)
        .filter(pl.any_horizontal(differs.values()))
        .with_columns(
            changed=pl.concat_list(
                pl.when(differs_).then(pl.lit(name)) for name, differs_ in differs.items()
            ).list.drop_nulls()
        )
    )


def rewards_beside(before: pl.LazyFrame, after: pl.LazyFrame) -> pl.LazyFrame:
    """`KEY`, `reward_differs`, and `reward_kind` and `reward` before and after.

    Rewards are compared kind by kind; of an attempt with several the first kind that differs is told, else the first.
    """
    columns = [*KEY, "reward_kind", "reward"]
    rewards = _beside(
        *(side.select(*columns, present=pl.lit(value=True)) for side in (before, after)), on=[*KEY, "reward_kind"]
    )
    differs = _differs("reward") | _differs("present")
    rank = pl.format("{}{}", (~differs).cast(pl.Int8), "reward_kind")
    first = {side: pl.when(f"present_{side}").then(rank) for side in ("before", "after")}
    return rewards.group_by(KEY).agg(
        differs.any().alias("reward_differs"),
        *(pl.col("reward_kind").min_by(rank).alias(f"reward_kind_{side}") for side, rank in first.items()),
        *(pl.col(f"reward_{side}").min_by(rank) for side, rank in first.items()),
    )


def responsible_predicates(changed: pl.LazyFrame, before: pl.LazyFrame, after: pl.LazyFrame) -> pl.LazyFrame:
    """`ROW`, and `predicates` and `predicate_kinds` of those whose outcome differs, in order of position.

    The verdict is an AND: a predicate that does not apply under one of the rule sets weighs as one that passes there.
    Predicates of one kind and id of an attempt are told apart by nothing; their outcomes are compared together.
    """
    weighed = pl.concat([side.with_columns(weight=pl.lit(weight)) for side, weight in ((before, -1), (after, 1))])
    return (
        weighed.filter(pl.col("outcome") != "pass")
        .select(*KEY, *PREDICATE, "outcome", "position", "weight")
        .join(changed.select(*KEY, ROW), on=KEY)
        .group_by(ROW, *PREDICATE, "outcome")
        .agg(pl.col("weight").sum(), pl.col("position").min())
        .filter(pl.col("weight") != 0)
        .group_by(ROW, *PREDICATE)
        .agg(pl.col("position").min())
        .sort(ROW, "position", *PREDICATE)
        .group_by(ROW)
        .agg(predicates="predicate_id", predicate_kinds="kind")
    )


def _beside(before: pl.LazyFrame, after: pl.LazyFrame, *, on: list[str]) -> pl.LazyFrame:
    """Rows of both sides beside each other, null where one side has none; all but `on` as `<name>_before`, `_after`."""

    def named(frame: pl.LazyFrame, side: str) -> pl.LazyFrame:
        return frame.select(*on, pl.exclude(on).name.suffix(f"_{side}"))

    return named(before, "before").join(named(after, "after"), on=on, how="full", coalesce=True)


def _differs(name: str) -> pl.Expr:
    """Whether the two sides differ: null equals null and nothing else, and the sign of a zero is no difference."""
    return pl.col(f"{name}_before").ne_missing(pl.col(f"{name}_after"))
