"""Rewards of Harbor trials: which are valid, and which of a trial's figures is its reward.

Here: named expressions over the columns `metrics` and `exceptions` of `observations`. Not here: the rows of `rewards`
(`assets.rewards.trials`), and figures over several trials (`assets.benchmarks`).
"""

import polars as pl

from assets.rulesets.loader import RuleSet

PRIMARY_KEY = "reward"
"""The reward key that a trial is told by where it has several."""

VALUE = pl.element().struct.field("value")


def reward_valid(rules: RuleSet) -> pl.Expr:
    """Whether the trial has rewards, each a finite number, and no exception of it or of its steps voids them."""
    return has_reward() & voiding_type(rules).is_null()


def has_reward() -> pl.Expr:
    """Whether there is any reward at all, and each is a finite number; whatever the exceptions say."""
    finite = pl.col("metrics").list.eval(VALUE.is_finite().fill_null(value=False)).list.all()
    return (pl.col("metrics").list.len() > 0) & finite


def voiding_type(rules: RuleSet) -> pl.Expr:
    """Type of the first exception that voids the rewards; null where none does.

    What the file itself says of an exception decides; else its type, and an unknown type voids nothing.
    """
    type_, says_valid = pl.element().struct.field("type"), pl.element().struct.field("has_valid_reward")
    voids = pl.coalesce(~says_valid, type_.is_in(list(rules.harbor.voiding_exceptions)), pl.lit(value=False))
    return pl.col("exceptions").list.eval(type_.filter(voids)).list.first()


def recorded_reward() -> pl.Expr:
    """The reward as recorded, voided or not: the one named `reward`, else the only one; null where there is neither."""
    of_key = pl.col("metrics").list.eval(VALUE.filter(pl.element().struct.field("name") == PRIMARY_KEY)).list.first()
    only = pl.when(pl.col("metrics").list.len() == 1).then(pl.col("metrics").list.first().struct.field("value"))
    return pl.coalesce(of_key, only)
