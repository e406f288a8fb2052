"""Predicates on the days that they name: objectives over a window, and growth between two days.

Each function is the finding of one kind, over a frame of task predicates beside `trajectory.named_days`. A required
day that is absent or null fails: the player had to reach it.
"""

import polars as pl

from assets.attempts.contract import DAY_METRICS, TrajectoryDays
from assets.attempts.evidence import is_registered
from assets.contract import schema
from assets.rulesets.loader import RuleSet
from assets.verification.findings import Finding, below, extremes, reasons
from assets.verification.money import NO_TRAJECTORY

WHOLE_METRICS = [name for name, column in DAY_METRICS.items() if schema(TrajectoryDays)[column].is_integer()]


def objective() -> Finding:
    """Every day of the inclusive window is present with a value within the bounds, compared exactly.

    Observed and worst: the value nearest to, or furthest beyond, a bound; the limit is that bound.
    """
    lower, upper = pl.col("min_value"), pl.col("max_value")
    lowest, highest = pl.col("lowest"), pl.col("highest")
    first, last = pl.col("from_day"), pl.col("to_day")
    required, observed = last - first + 1, pl.col("known_days").fill_null(0)
    return Finding(
        fault=reasons(
            (~is_registered(), "unknown_metric"),
            (first > last, "vacuous_contract"),
            (lower.is_null() & upper.is_null(), "vacuous_contract"),
            (lower > upper, "vacuous_contract"),
        ),
        unseen=NO_TRAJECTORY,
        breach=reasons((lowest < lower, "breach"), (highest > upper, "breach"), (observed < required, "value_missing")),
        first_breach_day=pl.col("first_outside"),
        required_days=required,
        observed_days=observed,
        missing_days=required - observed,
        **extremes("lowest", "highest", "min_value", "max_value"),
    )


def growth(rules: RuleSet) -> Finding:
    """The end value is at least the ratio times the base value, and at least the delta above it, as declared.

    A ratio from a base of zero or less fails. A product and a difference of doubles are computed, and meet their limit
    with the rule set's slack; a difference of whole numbers is exact. Observed: the end value; limit: what it had to
    reach.
    """
    base, end = pl.col("base"), pl.col("end")
    ratio, delta = pl.col("min_ratio"), pl.col("min_delta")
    grown, gained = ratio * base, end - base
    whole = pl.col("metric").is_in(WHOLE_METRICS)
    slack = rules.comparison.slack
    observed = base.is_not_null().cast(pl.Int64) + end.is_not_null().cast(pl.Int64)
    return Finding(
        fault=reasons((~is_registered(), "unknown_metric"), (ratio.is_null() & delta.is_null(), "vacuous_contract")),
        unseen=NO_TRAJECTORY,
        breach=reasons(
            (base.is_null() | end.is_null(), "value_missing"),
            (ratio.is_not_null() & (base <= 0), "base_not_positive"),
            (below(end, grown, slack), "below_ratio"),
            (pl.when(whole).then(gained < delta).otherwise(below(gained, delta, slack)), "below_delta"),
        ),
        observed=end,
        limit=pl.max_horizontal(grown, base + delta),
        required_days=pl.lit(2),
        observed_days=observed,
        missing_days=2 - observed,
    )
