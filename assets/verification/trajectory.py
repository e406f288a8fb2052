"""What a trajectory says about predicates: per attempt in one pass, and day by day only where a day decides.

Here: aggregates and look-ups of days. Not here: outcomes.
"""

from collections.abc import Sequence

import polars as pl

from assets.attempts.contract import DAY_METRICS, MAX_DAY
from assets.attempts.evidence import KEY, metric_value
from assets.verification.findings import PREDICATE

# A day rides in the low bits of the cents that it belongs to, so that one minimum finds the lowest value and the first
# day that has it; 64 bits hold both, since |cents| <= 10^13 and days are at most `MAX_DAY`.
DAYS = 2 ** MAX_DAY.bit_length()


def facts(days: pl.LazyFrame) -> pl.LazyFrame:
    """One row per attempt that has a trajectory, by `KEY`.

    Columns: `days` present, `last_day`, `day_gap` (the days up to the last one are not exactly 0..last), `spent`, the
    numbers of days whose spend, floor and cash are known, and the lowest cash inside a day (`floor_low`), the lowest
    and the highest cash altogether, each with its first `_day`.
    """
    found = (
        daily_cash(days)
        .group_by(KEY)
        .agg(
            days=pl.len().cast(pl.Int64),
            last_day=pl.col("day").max(),
            spent=pl.col("spend_cents").sum(),
            spend_days=pl.col("spend_cents").count().cast(pl.Int64),
            floor_days=pl.col("floor_low").count().cast(pl.Int64),
            cash_days=pl.col("cash_known").sum().cast(pl.Int64),
            **extreme_cents("floor_low", "cash_low", highest=["cash_high"]),
        )
    )
    return found.with_columns(
        *untagged("floor_low", "cash_low", highest=["cash_high"]), day_gap=pl.col("days") != pl.col("last_day") + 1
    )


def extreme_cents(*lowest: str, highest: Sequence[str]) -> dict[str, pl.Expr]:
    """Aggregations: the lowest or highest cents of each column, tagged with the first day that has it."""
    day = pl.col("day")
    return {name: (pl.col(name) * DAYS + day).min() for name in lowest} | {
        name: (pl.col(name) * DAYS + (DAYS - 1 - day)).max() for name in highest
    }


def untagged(*lowest: str, highest: Sequence[str]) -> list[pl.Expr]:
    """The cents of `extreme_cents` by their names, and the day of each as `<name>_day`."""
    cents = [pl.col(name).floordiv(DAYS) for name in (*lowest, *highest)]
    first_days = [pl.col(name).mod(DAYS).alias(f"{name}_day") for name in lowest]
    return cents + first_days + [(DAYS - 1 - pl.col(name).mod(DAYS)).alias(f"{name}_day") for name in highest]


def daily_cash(days: pl.LazyFrame) -> pl.LazyFrame:
    """Per day the lowest cash inside it (`floor_low`) and the extremes of all its cash, cents, beside the spend."""
    low, end = pl.col("min_cash_cents"), pl.col("cash_cents")
    return days.with_columns(
        floor_low=low,
        cash_known=low.is_not_null() & end.is_not_null(),
        cash_low=pl.min_horizontal(low, end),
        cash_high=pl.max_horizontal(low, end),
    )


def first_breaches(broken: pl.LazyFrame, days: pl.LazyFrame) -> pl.LazyFrame:
    """`PREDICATE` and `first_breach_day` of the broken predicates on spending and cash, by `KEY` with kind and limits.

    A spending budget is broken on the day on which the running total passes it.
    """
    limits = broken.select(PREDICATE, *KEY, "kind", "min_cents", "max_cents")
    kind, running = pl.col("kind"), pl.col("spend_cents").cum_sum().over(PREDICATE, order_by="day")
    low = pl.when(kind == "cash_floor").then("floor_low").when(kind == "cash_bounds").then("cash_low")
    high = pl.when(kind == "spending_budget").then(running).when(kind == "cash_bounds").then("cash_high")
    return (
        daily_cash(days.join(limits, on=KEY))
        .filter((low < pl.col("min_cents")) | (high > pl.col("max_cents")))
        .group_by(PREDICATE)
        .agg(first_breach_day=pl.col("day").min())
    )


def prices(bounds: pl.LazyFrame, days: pl.LazyFrame) -> pl.LazyFrame:
    """`PREDICATE` and what the known prices say about each of the price bounds.

    Columns: `price_days` with a known price, the lowest and the highest price with the first `_day` of each, and
    `first_breach_day`.
    """
    wanted = bounds.select(PREDICATE, *KEY, "min_cents", "max_cents")
    cents = pl.col("prices").list.eval(pl.element().struct.field("cents"))
    outside = (pl.col("price_low") < pl.col("min_cents")) | (pl.col("price_high") > pl.col("max_cents"))
    return (
        days.select(*KEY, "day", price_low=cents.list.min(), price_high=cents.list.max())
        .join(wanted, on=KEY)
        .group_by(PREDICATE)
        .agg(
            price_days=pl.col("price_low").count().cast(pl.Int64),
            first_breach_day=pl.when(outside).then("day").min(),
            **extreme_cents("price_low", highest=["price_high"]),
        )
        .with_columns(untagged("price_low", highest=["price_high"]))
    )


def named_days(named: pl.LazyFrame, days: pl.LazyFrame) -> pl.LazyFrame:
    """`PREDICATE` and what the days say that objectives and growths name: no row where no such day has a value.

    Of an objective's window: `known_days` with a value, `lowest` and `highest` with the first `_day` of each, and
    `first_outside`, the first day whose value is out of bounds. Of a growth: the values `base` and `end` of its days.
    """
    day, first, last, value = pl.col("day"), pl.col("from_day"), pl.col("to_day"), pl.col("value")
    # Every column here is copied to every day of the attempt, hence no strings.
    wanted = named.select(
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
