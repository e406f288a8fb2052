"""What every kernel starts from: the attempts that are scored, and the rows of other tables that belong to them.

Here: which attempts have evidence that is scored, their order, and the value that a named day metric has. Not here: what
any of it decides.
"""

import polars as pl

from assets.attempts.contract import DAY_METRICS

KEY = ["attempt_id", "landed_on"]
"""An attempt on a landing day: the same attempt may stand on several days, each with a document of its own."""

ROW = "row"
"""Number of an attempt in its table: results keep that order, and an integer sorts in a fraction of the time."""


def scored(attempts: pl.LazyFrame) -> pl.LazyFrame:
    """The attempts that are scored from evidence (completed, with a task contract), numbered by `ROW`."""
    return attempts.filter(pl.col("outcome") == "completed", pl.col("has_evidence")).with_row_index(ROW)


def numbered(table: pl.LazyFrame, index: str, attempts: pl.LazyFrame) -> pl.LazyFrame:
    """The rows of `table` that belong to the scored attempts, with `ROW` and a number of their own as `index`."""
    return table.with_row_index(index).join(attempts.select(*KEY, ROW), on=KEY)


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


def ordered_sum(value: str, by: str) -> pl.Expr:
    """Aggregation: the plain left-to-right sum of doubles in order of `by`, which no parallel or compensated sum gives.

    A null among the values is passed over; the sum of nothing is null.
    """
    return pl.col(value).sort_by(by).drop_nulls().cum_sum().last()
