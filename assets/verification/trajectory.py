"""What a trajectory says about predicates: per attempt in one pass, and day by day only where a day decides.

Here: aggregates and look-ups of days. Not here: outcomes.
"""

import polars as pl

from assets.assessments.evidence import KEY, metric_value
from assets.attempts.contract import DAY_METRICS, MAX_DAY

PREDICATE = "predicate"
"""Number of a constraint or objective of a scored attempt."""

# A day rides in the low bits of the cents that it belongs to, so that one minimum finds the lowest value and the first
# day that has it; 64 bits hold both, since |cents| <= 10^13 and days are at most `MAX_DAY`.
DAYS = 2 ** MAX_DAY.bit_length()
LOWEST = ("floor_low", "cash_low", "price_low")
HIGHEST = ("cash_high", "price_high")


def facts(days: pl.LazyFrame) -> pl.LazyFrame:
    """One row per attempt that has a trajectory, by `KEY`.

    Columns: `days` present, `last_day`, `day_gap` (the days up to the last one are not exactly 0..last), `spent`, the
    numbers of days whose spend, floor, cash and price are known, and the extremes of floor, cash and price, each with
    its first `_day`.
    """
    day = pl.col("day")
    tagged = daily(days).with_columns(
        *(pl.col(name) * DAYS + day for name in LOWEST), *(pl.col(name) * DAYS + (DAYS - 1 - day) for name in HIGHEST)
    )
    found = tagged.group_by(KEY).agg(
        days=pl.len().cast(pl.Int64),
        last_day=day.max(),
        spent=pl.col("spend_cents").sum(),
        spend_days=pl.col("spend_cents").count().cast(pl.Int64),
        floor_days=pl.col("floor_low").count().cast(pl.Int64),
        cash_days=pl.col("cash_known").sum().cast(pl.Int64),
        price_days=pl.col("price_low").count().cast(pl.Int64),
        **{name: pl.col(name).min() for name in LOWEST},
        **{name: pl.col(name).max() for name in HIGHEST},
    )
    return found.with_columns(
        *(pl.col(name).floordiv(DAYS) for name in (*LOWEST, *HIGHEST)),
        day_gap=pl.col("days") != pl.col("last_day") + 1,
        **{f"{name}_day": pl.col(name).mod(DAYS) for name in LOWEST},
        **{f"{name}_day": DAYS - 1 - pl.col(name).mod(DAYS) for name in HIGHEST},
    )


def daily(days: pl.LazyFrame) -> pl.LazyFrame:
    """Per day the lowest cash inside it (`floor_low`), and the extremes of cash and prices, cents, beside the spend."""
    prices = pl.col("prices").list.eval(pl.element().struct.field("cents"))
    low, end = pl.col("min_cash_cents"), pl.col("cash_cents")
    return days.with_columns(
        floor_low=low,
        cash_known=low.is_not_null() & end.is_not_null(),
        cash_low=pl.min_horizontal(low, end),
        cash_high=pl.max_horizontal(low, end),
        price_low=prices.list.min(),
        price_high=prices.list.max(),
    )


def first_breaches(broken: pl.LazyFrame, days: pl.LazyFrame) -> pl.LazyFrame:
    """`PREDICATE` and `first_breach_day` of the money predicates in `broken`, by `KEY` with their limits and `kind`.

    A spending budget is broken on the day on which the running total passes it.
    """
    limits = broken.select(PREDICATE, *KEY, "kind", "min_cents", "max_cents")
    kind, running = pl.col("kind"), pl.col("spend_cents").cum_sum().over(PREDICATE, order_by="day")
    low = (
        pl.when(kind == "cash_floor")
        .then("floor_low")
        .when(kind == "cash_bounds")
        .then("cash_low")
        .when(kind == "price_bounds")
        .then("price_low")
    )
    high = (
        pl.when(kind == "spending_budget")
        .then(running)
        .when(kind == "cash_bounds")
        .then("cash_high")
        .when(kind == "price_bounds")
        .then("price_high")
    )
    return (
        daily(days.join(limits, on=KEY))
        .filter((low < pl.col("min_cents")) | (high > pl.col("max_cents")))
        .group_by(PREDICATE)
        .agg(first_breach_day=pl.col("day").min())
    )


def named_days(declared: pl.LazyFrame, days: pl.LazyFrame) -> pl.LazyFrame:
    """`PREDICATE` and what the days say that an objective or a growth names: no row where no such day has a value.

    Of an objective's window: `known_days` with a value, `lowest` and `highest` with the first `_day` of each, and
    `first_outside`, the first day whose value is out of bounds. Of a growth: the values `base` and `end` of its days.
    """
    day, first, last, value = pl.col("day"), pl.col("from_day"), pl.col("to_day"), pl.col("value")
    # Every column here is copied to every day of the attempt, hence no strings.
    wanted = declared.filter(pl.col("kind").is_in(["objective", "growth"])).select(
        PREDICATE,
        *KEY,
        pl.col("metric").cast(pl.Enum(list(DAY_METRICS)), strict=False),
        "from_day",
        "to_day",
        "min_value",
        "max_value",
        window=pl.col("kind") == "objective",
    )
    return (
        days.select(*KEY, "day", *DAY_METRICS.values())
        .join(wanted, on=KEY)
        .filter((day == first) | (day == last) | (pl.col("window") & day.is_between(first, last)))
        .select(PREDICATE, "day", "from_day", "to_day", "min_value", "max_value", value=metric_value())
        .filter(value.is_not_null())
        .group_by(PREDICATE)
        .agg(
            known_days=pl.len().cast(pl.Int64),
            lowest=value.min(),
            lowest_day=day.min_by(pl.struct(value, day)),
            highest=value.max(),
            highest_day=day.max_by(pl.struct(value, -day)),
            first_outside=pl.when((value < pl.col("min_value")) | (value > pl.col("max_value"))).then(day).min(),
            base=pl.when(day == first).then(value).max(),
            end=pl.when(day == last).then(value).max(),
        )
    )
