"""Volume: is what came on a day about as much as the days before let expect?

Here: the decision, on counts per day and source, and the counts themselves. Not here: the check as Dagster knows it
(`checks`).
"""

import datetime as dt
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

import polars as pl

from assets.attempts.contract import Attempts
from assets.landing.contract import RawArtifacts
from assets.landing.land import TableStore
from assets.vocabulary import SOURCES

WINDOW_DAYS = 14
"""Days before a day that it is held against."""
LEAST_DAYS = 5
"""Days among them that must have had anything of a source before a figure of it is judged."""
BELOW, ABOVE = 0.5, 2.0
"""Shares of the median that are still usual."""


class Unusual(NamedTuple):
    """What came of a source on a day, where the days before let expect something else."""

    day: dt.date
    source: str
    came: int
    median: float


def unusual(counts: pl.DataFrame, days: Iterable[dt.date]) -> list[Unusual]:
    """The counts of `days` below half or above double the median of those days before that had any of the source.

    A source with nothing on a day is unusual there if it had something on most of the days before.

    Args:
        counts: `day`, `source` and `count`, without rows of nothing.
        days: the days to judge, each by the `WINDOW_DAYS` before it.
    """
    later = pl.DataFrame({"offset": range(1, WINDOW_DAYS + 1)})
    before = (
        counts.join(later, how="cross")
        .with_columns(pl.col("day") + pl.duration(days="offset"))
        .filter(pl.col("day").is_in(sorted(set(days))))
        .group_by("day", "source")
        .agg(had=pl.len(), median=pl.col("count").median())
    )
    held = before.join(counts, on=["day", "source"], how="left").with_columns(pl.col("count").fill_null(0))
    outside = ~pl.col("count").is_between(BELOW * pl.col("median"), ABOVE * pl.col("median"))
    silent = pl.col("count") == 0
    found = held.filter(
        pl.when(silent).then(2 * pl.col("had") > WINDOW_DAYS).otherwise((pl.col("had") >= LEAST_DAYS) & outside)
    )
    return [Unusual(*row) for row in found.select("day", "source", "count", "median").sort("day", "source").rows()]


def told(tables: TableStore, days: Sequence[dt.date]) -> Iterator[tuple[dt.date, str]]:
    """What is unusual on these days, each with its day; a table is read once for all of them."""
    read = {day - dt.timedelta(days=back) for day in days for back in range(WINDOW_DAYS + 1)}
    keys = [{"landed_on": day} for day in sorted(read)]
    for name, counted in (("attempts", attempts_of), ("documents", documents_of)) if keys else ():
        for one in unusual(counted(tables, keys), days):
            yield one.day, f"{one.source}: {one.came} {name}, where {one.median:g} are usual"


def attempts_of(tables: TableStore, keys: Sequence[Mapping[str, object]]) -> pl.DataFrame:
    """`day`, `source` and `count` of the attempts in these partitions."""
    rows = tables.scan(Attempts, keys).select("source", day="landed_on")
    return _counted(rows, pl.len())


def documents_of(tables: TableStore, keys: Sequence[Mapping[str, object]]) -> pl.DataFrame:
    """`day`, `source` and `count` of the documents that landed in these partitions, of the sources of attempts."""
    rows = tables.scan(RawArtifacts, keys).filter(~pl.col("vanished"), pl.col("source").is_in(SOURCES))
    return _counted(rows.select("source", "uri", day="landed_on"), pl.col("uri").n_unique())


def _counted(rows: pl.LazyFrame, count: pl.Expr) -> pl.DataFrame:
    made = rows.group_by("day", "source").agg(count=count.cast(pl.Int64))
    return made.select("day", "source", "count").collect(engine="streaming")
