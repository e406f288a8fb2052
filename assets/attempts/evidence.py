"""What every kernel starts from: the attempts that are scored, and the rows of other tables that belong to them.

Here: which attempts have evidence that is scored, their order, the value that a named day metric has, and arithmetic
that the engine does not do by itself. Not here: what any of it decides.
"""

from collections.abc import Sequence

import polars as pl

from assets.attempts.contract import DAY_METRICS

KEY = ["attempt_id", "landed_on"]
"""An attempt on a landing day: the same attempt may stand on several days, each with a document of its own."""

ROW = "row"
"""Number of an attempt by landing day and id: the order of every result, and cheap to sort by."""


def in_order(attempts: pl.LazyFrame) -> pl.LazyFrame:
    """The attempts numbered by `ROW`: tables come out of joins in any order, results have always the same."""
    return attempts.sort("landed_on", "attempt_id").with_row_index(ROW)


def scored(attempts: pl.LazyFrame) -> pl.LazyFrame:
    """The attempts that are scored from evidence (completed, with a task contract), numbered by `ROW`."""
    return in_order(attempts.filter(pl.col("outcome") == "completed", pl.col("has_evidence")))


# A document of at most 64 MiB holds fewer members in a list, and an attempt has fewer lists.
POSITIONS, LISTS = 2**26, 2**3


def number(part: pl.Expr | None = None) -> pl.Expr:
    """A number for the member at `position` of a list of the attempt `ROW`; `part` tells several lists apart.

    It comes from the content alone, so that a table that is read twice, in whatever order, is numbered alike. Members
    sort by it as attempts, lists and positions do.
    """
    row = pl.col(ROW).cast(pl.Int64) * LISTS
    return (row if part is None else row + part) * POSITIONS + pl.col("position")


def attempt_of(number_: pl.Expr) -> pl.Expr:
    """The `ROW` of the attempt that a numbered member belongs to: a cheaper group than the strings of its key."""
    return number_.floordiv(LISTS * POSITIONS)


def numbered(table: pl.LazyFrame, name: str, attempts: pl.LazyFrame, part: pl.Expr | None = None) -> pl.LazyFrame:
    """The rows of `table` that belong to the given attempts, with their `ROW`, and a number of their own as `name`.

    Filter the table before, not after: a filter on the result is pushed into the join, and attempts that several
    readers share are then numbered for each of them anew.
    """
    return table.join(attempts.select(*KEY, ROW), on=KEY).with_columns(number(part).alias(name))


def metric_value() -> pl.Expr:
    """The day's value of the metric that the column `metric` names; null where it is null or nobody registered it.

    Cents and counts are at most 2**53: as doubles they are exact.
    """
    return pl.coalesce(
        pl.when(pl.col("metric") == name).then(pl.col(column).cast(pl.Float64)) for name, column in DAY_METRICS.items()
    )


def is_registered() -> pl.Expr:
    """Whether the column `metric` names a registered day metric."""
    return pl.col("metric").is_in(list(DAY_METRICS)).fill_null(value=False)


def finite(value: pl.Expr) -> pl.Expr:
    """The value where it is a finite number, else null: a table holds no overflow."""
    return pl.when(value.is_finite()).then(value)


def signless_zero(value: pl.Expr) -> pl.Expr:
    """The value, with +0 for -0. Polars drops the addition of zero and makes a negation, hence -0, of `0.0 - x`."""
    return pl.when(value == 0).then(0.0).otherwise(value)


def negated(value: pl.Expr) -> pl.Expr:
    """The negated value; +0 for zero, never -0."""
    return signless_zero(-value)


def ordered_sums(terms: pl.LazyFrame, value: str, *, by: Sequence[str], order: str) -> pl.LazyFrame:
    """`by` and `value`: per group the plain left-to-right sum of doubles in that order.

    A grouped, parallel or compensated sum differs from it in the last bits; a running sum adds one term after another,
    and rows keep their order within a group.
    """
    return terms.sort(*by, order).group_by(by).agg(pl.col(value).cum_sum().last())
