"""Predicates that aggregates of a trajectory decide: spending, cash, prices, and reaching the horizon.

Each function is the finding of one kind, over a frame of task predicates beside `trajectory.facts` and either
`trajectory.first_breaches` or `trajectory.prices`. Cents are integers and compare exactly.
"""

import polars as pl

from assets.verification.findings import Finding, extremes, reasons

NO_TRAJECTORY = reasons((pl.col("days").is_null(), "no_trajectory"))
MIN, MAX = pl.col("min_cents"), pl.col("max_cents")
REQUIRED_DAYS = pl.col("last_day") + 1


def spending_budget() -> Finding:
    """The spend of all days is at most the maximum.

    Observed: total of the known spends, against the maximum. First breach: the day on which the running total passes.
    """
    return Finding(
        fault=reasons((MAX.is_null(), "vacuous_contract")),
        unseen=NO_TRAJECTORY,
        breach=reasons((pl.col("spent") > MAX, "breach")),
        gap=_missing("spend_days"),
        observed=pl.col("spent"),
        limit=MAX,
        first_breach_day=pl.col("first_breach_day"),
        **_days("spend_days"),
    )


def cash_floor() -> Finding:
    """The lowest cash inside every day is at least the minimum. Observed and worst: the lowest of all."""
    lowest = pl.col("floor_low")
    return Finding(
        fault=reasons((MIN.is_null(), "vacuous_contract")),
        unseen=NO_TRAJECTORY,
        breach=reasons((lowest < MIN, "breach")),
        gap=_missing("floor_days"),
        observed=lowest,
        limit=MIN,
        worst_value=lowest,
        worst_day=pl.col("floor_low_day"),
        first_breach_day=pl.col("first_breach_day"),
        **_days("floor_days"),
    )


def cash_bounds() -> Finding:
    """Closing cash and the lowest cash inside every day are within the bounds.

    Observed and worst: the value nearest to, or furthest beyond, a bound; the limit is that bound.
    """
    return _within("cash")._replace(gap=_missing("cash_days"), **_days("cash_days"))


def price_bounds() -> Finding:
    """Every known price is within the bounds; absent days and prices are no evidence of a price.

    Observed and worst: the price nearest to, or furthest beyond, a bound; the limit is that bound.
    """
    return _within("price")._replace(observed_days=pl.col("price_days"))


def horizon() -> Finding:
    """The last day present is the horizon or later. Observed: the last day, against the horizon."""
    last, needed = pl.col("last_day"), pl.col("horizon_days")
    return Finding(
        unseen=NO_TRAJECTORY,
        breach=reasons((last < needed, "short_trajectory")),
        observed=last,
        limit=needed,
    )


def is_broken() -> pl.Expr:
    """Whether some day breaks a predicate on spending or cash, so that the first such day is worth a look."""
    kind = pl.col("kind")
    return (
        ((kind == "spending_budget") & (pl.col("spent") > MAX))
        | ((kind == "cash_floor") & (pl.col("floor_low") < MIN))
        | ((kind == "cash_bounds") & ((pl.col("cash_low") < MIN) | (pl.col("cash_high") > MAX)))
    )


def _within(name: str) -> Finding:
    low, high = pl.col(f"{name}_low"), pl.col(f"{name}_high")
    return Finding(
        fault=reasons((MIN.is_null() & MAX.is_null(), "vacuous_contract"), (MIN > MAX, "vacuous_contract")),
        unseen=NO_TRAJECTORY,
        breach=reasons((low < MIN, "breach"), (high > MAX, "breach")),
        first_breach_day=pl.col("first_breach_day"),
        **extremes(f"{name}_low", f"{name}_high", "min_cents", "max_cents"),
    )


def _missing(known_days: str) -> pl.Expr:
    return reasons((pl.col("day_gap"), "day_gap"), (pl.col(known_days) < pl.col("days"), "value_missing"))


def _days(known_days: str) -> dict[str, pl.Expr]:
    known = pl.col(known_days)
    return {"required_days": REQUIRED_DAYS, "observed_days": known, "missing_days": REQUIRED_DAYS - known}
