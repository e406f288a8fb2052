"""From units to figures: counts and means, overall and per category.

Here: the aggregations `micro` and `category_mean`. Not here: category hierarchies (`hierarchy`), what a unit is worth
(`reducers`), and how a mean is taken (`sums`).
"""

import polars as pl

from assets.benchmarks.sums import count, means, sum_of

COUNTS = ("total", "evaluated", "error", "unavailable", "invalidated")
VALUED = ("scored_only", "strict")
"""The policies that units have a value under; `<policy>_n` is the number of units that a value is a mean of."""


def figures(units: pl.DataFrame, by: list[str]) -> pl.DataFrame:
    """One row per group of units: `COUNTS`, and per policy of `VALUED` the mean and the number of units behind it.

    A unit without an official score is unavailable, unless its task is invalidated. Unseen units are unavailable, and
    nothing under `strict`.
    """
    unseen = pl.col("unseen").first()
    total, evaluated, invalidated = pl.len().cast(pl.Int64) + unseen, count("scored_only"), sum_of("invalidated")
    counts = {
        "total": total,
        "evaluated": evaluated,
        "error": sum_of("error"),
        "unavailable": total - evaluated - invalidated,
        "invalidated": invalidated,
    }
    return means(units, by, {"scored_only": evaluated, "strict": count("strict") + unseen}, counts)


def category_means(categories: pl.DataFrame) -> pl.DataFrame:
    """`series` and the mean over the categories that have a value, per policy."""
    sizes = {policy: count(policy) for policy in VALUED}
    return categories.sort("series", "category").select("series", *VALUED).pipe(means, ["series"], sizes)
