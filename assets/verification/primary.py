"""Primary values: the one raw business outcome of an attempt, in its own unit. Values of different metrics never meet."""

import polars as pl

from assets.assessments.evidence import ROW, finite, ordered_sum
from assets.rulesets.loader import RuleSet

NET_CHANGES = {"net_cash": "cash_cents", "net_assets": "net_assets_cents"}
CLOSINGS = {"active_paying_accounts": "active_paying_accounts", "retained_accounts": "retained_accounts"}


def primary_values(numbered: pl.LazyFrame, days: pl.LazyFrame) -> pl.LazyFrame:
    """`ROW`, `primary_value` and `net_assets_closing_cents` of every attempt that has a trajectory.

    Net cash and net assets: closing balance - that of day 0. Operating margin: sum over days >= 1. Accounts: closing
    count. Recovery: the negated sum of the shortfall, in day order; 0 is best, and never -0. Closing is the last day
    present. A missing input (no day 0 of a change, a null, a day gap of a sum) gives null.
    """
    opening, closing = pl.col("day") == 0, pl.col("day") == pl.col("day").max()
    balances = {name: pl.col(name) for name in (*NET_CHANGES.values(), *CLOSINGS.values())}
    margin = pl.col("operating_margin_cents").filter(pl.col("day") > 0)
    facts = days.group_by(ROW).agg(
        gapless=(pl.len() == pl.col("day").max() + 1),
        margin=pl.when(margin.null_count() == 0).then(margin.sum()),
        shortfall=pl.when(pl.col("shortfall_units").null_count() == 0).then(ordered_sum("shortfall_units", "day")),
        **{f"opening_{name}": value.filter(opening).max() for name, value in balances.items()},
        **{f"closing_{name}": value.filter(closing).max() for name, value in balances.items()},
    )
    metric = pl.col("primary_metric")
    changes = [
        pl.when(metric == name).then((pl.col(f"closing_{column}") - pl.col(f"opening_{column}")).cast(pl.Float64))
        for name, column in NET_CHANGES.items()
    ]
    closings = [
        pl.when(metric == name).then(pl.col(f"closing_{column}").cast(pl.Float64)) for name, column in CLOSINGS.items()
    ]
    sums = [
        pl.when((metric == "operating_margin") & pl.col("gapless")).then(pl.col("margin").cast(pl.Float64)),
        # 0 - 0 is +0, where a negation would give -0.
        pl.when((metric == "recovery") & pl.col("gapless")).then(0.0 - pl.col("shortfall")),
    ]
    return (
        numbered.select(ROW, "primary_metric")
        .join(facts, on=ROW)
        .select(
            ROW,
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
