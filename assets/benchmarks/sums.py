"""Counts, plain sums and the means made of them.

Here: arithmetic that every step shares. Not here: what is counted.
"""

from collections.abc import Mapping, Sequence

import numpy as np
import polars as pl

from assets.attempts.evidence import finite

SMALL = 2.0**-64
"""A part of a double so small that sums of such parts do not overflow; a power of two leaves its digits alone."""

LARGE = 2.0**1023 * SMALL
"""Sums of smaller doubles than this do not overflow either."""


def count(name: str) -> pl.Expr:
    """How many are not null."""
    return pl.col(name).count().cast(pl.Int64)


def sum_of(flag: str) -> pl.Expr:
    """How many have the flag."""
    return pl.col(flag).sum().cast(pl.Int64)


def plain_sum(value: pl.Expr) -> pl.Expr:
    """The plain sum of doubles in the order of the rows, null counting nothing."""
    return value.fill_null(0.0).cum_sum().last()


def plain_sums(values: pl.Series, groups: pl.Series) -> pl.Series:
    """The plain sum of each group, where rows tell the number of their group, from 0 on without a gap.

    `bincount` adds one weight after another. Where groups are many and small, a running sum in each takes far longer.
    """
    return pl.Series(np.bincount(groups.to_numpy(), values.fill_null(0.0).to_numpy()), dtype=pl.Float64)


def quotient(total: pl.Expr, small: pl.Expr, size: pl.Expr) -> pl.Expr:
    """The mean of numbers with this `total`; where that is beyond the doubles, from the total of their small parts.

    Polars keeps one value for a column that a join filled from a single row, and divides by one value through its
    reciprocal, which gives other last bits. A shift, even by nothing, makes it a column again.
    """
    each = size.shift(0)
    return pl.coalesce(finite(total / each), finite(small / each / SMALL))


def means(
    rows: pl.DataFrame, by: Sequence[str], sizes: Mapping[str, pl.Expr], counts: Mapping[str, pl.Expr] | None = None
) -> pl.DataFrame:
    """One row per group: the counts, and the mean of each column that `sizes` names, with its size as `<column>_n`.

    A mean is the plain sum in the order of the rows, divided by the size; null of nothing.
    """
    named = {f"{name}_n": size for name, size in sizes.items()} | dict(counts or {})
    total = {name: plain_sum(pl.col(name)) for name in sizes}
    overflows = rows.select(pl.any_horizontal((pl.col(list(sizes)).abs() > LARGE).any())).item()
    none = pl.lit(None, pl.Float64)
    small = {f"{name}_small": plain_sum(pl.col(name) * SMALL) if overflows else none for name in sizes}
    mean = {name: quotient(pl.col(name), pl.col(f"{name}_small"), pl.col(f"{name}_n")) for name in sizes}
    return (
        rows.group_by(by)
        .agg(**total, **small, **named)
        .select(*by, *named, **{name: pl.when(pl.col(f"{name}_n") > 0).then(value) for name, value in mean.items()})
    )
