"""Primary values: the one raw business outcome of an attempt, in the unit of its metric."""

import polars as pl

from assets.attempts.evidence import KEY, finite, negated, ordered_sums
from assets.rulesets.loader import RuleSet

NET_CHANGES = {"net_cash": "cash_cents", "net_assets": "net_assets_cents"}
CLOSINGS = {"active_paying_accounts": "active_paying_accounts", "retained_accounts": "retained_accounts"}


def primary_values(attempts: pl.LazyFrame, days: pl.LazyFrame) -> pl.LazyFrame:
    """`KEY`, `primary_value` and `net_assets_closing_cents` of the given attempts that have a trajectory.

    Net cash and net assets: closing balance - that of day 0. Operating margin: sum over days >= 1. Accounts: closing
    count. Recovery: the negated sum of the shortfall, in day order; 0 is best, and never -0. Closing is the last day
    present. A missing input (no day 0 of a change, a null, a day gap of a sum) gives null.
    """
    day, margin = pl.col("day"), pl.col("operating_margin_cents")
    facts = days.group_by(KEY).agg(
        gapless=pl.len() == day.max() + 1,
        margin=pl.when(day > 0).then(margin).sum(),
        margin_known=(margin.is_not_null() | (day == 0)).all(),
        shortfall_known=pl.col("shortfall_units").is_not_null().all(),
        **{f"opening_{name}": pl.when(day == 0).then(name).max() for name in NET_CHANGES.values()},
        **{f"closing_{name}": pl.col(name).max_by("day") for name in (*NET_CHANGES.values(), *CLOSINGS.values())},
    )
    metric = pl.col("primary_metric")
    changes = [
        pl.when(metric == name).then((pl.col(f"closing_{column}") - pl.col(f"opening_{column}")).cast(pl.Float64))
        for name, column in NET_CHANGES.items()
    ]
    closings = [
        pl.when(metric == name).then(pl.col(f"closing_{column}").cast(pl.Float64)) for name, column in CLOSINGS.items()
    ]
    whole = pl.when(pl.col("gapless"))
    sums = [
        whole.then(pl.when((metric == "operating_margin") & pl.col("margin_known")).then("margin").cast(pl.Float64)),
        whole.then(
            pl.when((metric == "recovery") & pl.col("shortfall_known")).then(negated(pl.col("shortfall_units")))
        ),
    ]
    shortfalls = ordered_sums(
        days.select(*KEY, "day", "shortfall_units").join(attempts.filter(metric == "recovery"), on=KEY, how="semi"),
        "shortfall_units",
        by=KEY,
        order="day",
    )
    return (
        attempts.select(*KEY, "primary_metric")
        .join(facts, on=KEY)
        .join(shortfalls, on=KEY, how="left")
        .select(
            *KEY,
            primary_value=finite(pl.coalesce(*changes, *closings, *sums)),
            net_assets_closing_cents="closing_net_assets_cents",
        )
    )


def primary_unit(rules: RuleSet) -> pl.Expr:
    """The unit of the column `primary_metric`."""
    return _of_metric({name: primary.unit for name, primary in rules.primary.items()}, pl.String())


def transform_scale(rules: RuleSet) -> pl.Expr:
    """The scale of the reward transform for the column `primary_metric`, in the metric's unit."""
    return _of_metric({name: primary.scale for name, primary in rules.primary.items()}, pl.Float64())


def _of_metric(values: dict[str, str] | dict[str, float], dtype: pl.DataType) -> pl.Expr:
    return pl.col("primary_metric").replace_strict(values, default=None, return_dtype=dtype)
