"""What a trajectory says about a predicate: per attempt in one pass, and per day only where a day decides.

Here: aggregates and look-ups of days. Not here: limits and outcomes.
"""

import polars as pl

from assets.assessments.evidence import ROW, metric_value

PREDICATE = [ROW, "position"]
"""One constraint or objective of one attempt, within its own list of the contract."""


def facts(days: pl.LazyFrame) -> pl.LazyFrame:
    """One row per attempt that has a trajectory.

    Columns: `days` present, `last_day`, `day_gap` (the days up to the last one are not exactly 0..last), `spent` with
    `spend_days`, and for the lowest cash inside a day, the cash of a day, and the prices: extremes, the first day that
    has each, and on how many days they are known.
    """
    cents = daily_extremes(days)
    first_day = {
        f"{name}_day": pl.col("day").filter(pl.col(name) == getattr(pl.col(name), extreme)()).min()
        for name, extreme in EXTREMES.items()
    }
    return cents.group_by(ROW).agg(
        days=pl.len().cast(pl.Int64),
        last_day=pl.col("day").max(),
        spent=pl.col("spend_cents").sum(),
        spend_days=pl.col("spend_cents").count().cast(pl.Int64),
        floor_days=pl.col("min_cash_cents").count().cast(pl.Int64),
        cash_days=(pl.col("min_cash_cents").is_not_null() & pl.col("cash_cents").is_not_null()).sum().cast(pl.Int64),
        price_days=pl.col("price_low").count().cast(pl.Int64),
        **{name: getattr(pl.col(name), extreme)() for name, extreme in EXTREMES.items()},
        **first_day,
    ).with_columns(day_gap=pl.col("days") != pl.col("last_day") + 1)


EXTREMES = {"min_cash_cents": "min", "cash_low": "min", "cash_high": "max", "price_low": "min", "price_high": "max"}


def daily_extremes(days: pl.LazyFrame) -> pl.LazyFrame:
    """Per day the lowest and highest cash and price, cents, beside the day's spend."""
    prices = pl.col("prices").list.eval(pl.element().struct.field("cents"))
    return days.select(
        ROW,
        "day",
        "spend_cents",
        "min_cash_cents",
        "cash_cents",
        cash_low=pl.min_horizontal("min_cash_cents", "cash_cents"),
        cash_high=pl.max_horizontal("min_cash_cents", "cash_cents"),
        price_low=prices.list.min(),
        price_high=prices.list.max(),
    )


def first_breaches(broken: pl.LazyFrame, days: pl.LazyFrame) -> pl.LazyFrame:
    """`PREDICATE` and `first_breach_day` of the money predicates in `broken`, which carry their limits and `kind`.

    A spending budget is broken on the day on which the running total passes it.
    """
    daily = daily_extremes(days).join(broken, on=ROW).sort(*PREDICATE, "day")
    kind = pl.col("kind")
    low = (
        pl.when(kind == "cash_floor")
        .then("min_cash_cents")
        .when(kind == "cash_bounds")
        .then("cash_low")
        .when(kind == "price_bounds")
        .then("price_low")
    )
    high = (
        pl.when(kind == "spending_budget")
        .then(pl.col("spend_cents").cum_sum().over(PREDICATE))
        .when(kind == "cash_bounds")
        .then("cash_high")
        .when(kind == "price_bounds")
        .then("price_high")
    )
    beyond = (low < pl.col("min_cents")) | (high > pl.col("max_cents"))
    return daily.filter(beyond).group_by(PREDICATE).agg(first_breach_day=pl.col("day").min())


def windows(objectives: pl.LazyFrame, days: pl.LazyFrame) -> pl.LazyFrame:
    """`PREDICATE` and what the days of an objective's window say: none where no day of it is present.

    Columns: `observed_days` with a value, `lowest` and `highest` with the first day of each, `first_breach_day`.
    """
    inside = (
        objectives.select(*PREDICATE, "metric", "from_day", "to_day", "min_value", "max_value")
        .join(days, on=ROW)
        .filter(pl.col("day").is_between("from_day", "to_day"))
        .select(*PREDICATE, "day", "min_value", "max_value", value=metric_value())
        .filter(pl.col("value").is_not_null())
    )
    value, day = pl.col("value"), pl.col("day")
    return inside.group_by(PREDICATE).agg(
        observed_days=pl.len().cast(pl.Int64),
        lowest=value.min(),
        lowest_day=day.filter(value == value.min()).min(),
        highest=value.max(),
        highest_day=day.filter(value == value.max()).min(),
        first_breach_day=day.filter((value < pl.col("min_value")) | (value > pl.col("max_value"))).min(),
    )


def ends(growths: pl.LazyFrame, days: pl.LazyFrame) -> pl.LazyFrame:
    """`PREDICATE`, `base` and `end`: a growth's metric on its two days, null where absent."""
    values = days.join(growths.select(*PREDICATE, "metric", "from_day", "to_day"), on=ROW).filter(
        (pl.col("day") == pl.col("from_day")) | (pl.col("day") == pl.col("to_day"))
    )
    return (
        values.with_columns(value=metric_value())
        .group_by(PREDICATE)
        .agg(
            base=pl.col("value").filter(pl.col("day") == pl.col("from_day")).max(),
            end=pl.col("value").filter(pl.col("day") == pl.col("to_day")).max(),
        )
    )
