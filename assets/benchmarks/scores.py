"""What each attempt scored on each metric of its group, and what the attempts at a task come to together.

Here: the official score of an attempt on a metric, and counts per task. Not here: which metrics there are (`measures`),
and what a task's counts are worth (`reducers`).
"""

import polars as pl

from assets.benchmarks.measures import PLAN
from assets.benchmarks.runs import AGENTCOMPASS
from assets.benchmarks.sums import SMALL, plain_sums, sum_of

UNCATEGORIZED = "__uncategorized__"
SCORED = ("evaluated", "correct", "first_evaluated", "first_correct", "first_sum", "first_small")


def scores(measures: pl.DataFrame, figures: pl.DataFrame) -> pl.DataFrame:
    """One row per attempt and metric of its group that it has a figure of, in order of `attempt`.

    `recorded` is the figure that stands in its document, `value` the official score: null where there is none. A binary
    metric of a benchmark takes booleans only; a Harbor trial whose reward is void has no score.
    """
    official = (
        pl.when(pl.col("format").is_in(AGENTCOMPASS) & pl.col("binary"))
        .then("boolean")
        .when(pl.col("format") == "harbor")
        .then("valid")
        .otherwise(pl.lit(value=True))
    )
    return (
        figures.filter(pl.col("value").is_not_null())
        .join(measures.select("measure", "group", "binary", name="entry"), on=["group", "name"], maintain_order="left")
        .filter(pl.struct("measure", "attempt").is_first_distinct())
        .select(
            "measure",
            "attempt",
            "task",
            "first",
            recorded="value",
            value=pl.when(official).then("value"),
            found_index=pl.when("present").then("index"),
        )
    )


def trials(attempts: pl.DataFrame, measures: pl.DataFrame, scores_: pl.DataFrame) -> pl.DataFrame:
    """One row per metric and attempt of its group, whether it scored or not, in order; of jobs, not of benchmarks."""
    return (
        measures.filter(~pl.col("format").is_in(AGENTCOMPASS))
        .select("measure", "group", "format")
        .join(attempts.select("attempt", "group", "error", "valid"), on="group")
        .join(scores_.select("measure", "attempt", "recorded", "value"), on=["measure", "attempt"], how="left")
        .sort("measure", "attempt")
    )


def tasks(attempts: pl.DataFrame) -> pl.DataFrame:
    """One row per task, whatever the metric: what its attempts left.

    Of all of them: `n` registered, `planned`, `found`, `last` the number of the last one found, `error`, `invalidated`.
    Of attempts 1..k: `first_found`, `first_error`. `category`: a key, null where the source knows no categories.
    """
    failed = pl.col("error") | pl.col("fatal")
    return (
        attempts.with_columns(
            failed=failed,
            first_present=pl.col("first") & pl.col("present"),
            first_failed=pl.col("first") & failed,
            found_index=pl.when("present").then("index"),
        )
        .group_by("group", "task")
        .agg(
            pl.col("format").first(),
            pl.col("category").drop_nulls().first(),
            n=pl.max_horizontal(pl.col("index").max(), pl.col("k").first()),
            planned=pl.max_horizontal(pl.col("index").max(), pl.col("planned_k").first()),
            found=sum_of("present"),
            last=pl.col("found_index").max(),
            error=pl.col("failed").any(),
            invalidated=pl.col("fatal").any(),
            first_found=sum_of("first_present"),
            first_error=pl.col("first_failed").any(),
        )
        .with_columns(
            category=pl.when(pl.col("format").is_in(AGENTCOMPASS)).then(category_key().fill_null(UNCATEGORIZED))
        )
        .drop("format")
    )


def category_key() -> pl.Expr:
    """The category path as one key: its parts escaped as in a JSON pointer and joined with `/`."""
    part = pl.element().str.replace_all("~", "~0", literal=True).str.replace_all("/", "~1", literal=True)
    return pl.col("category").list.eval(part).list.join("/")


def outcomes(tasks_: pl.DataFrame, measures: pl.DataFrame, scores_: pl.DataFrame) -> pl.DataFrame:
    """One row per metric and task of its group, in order: what its attempts left, and what they scored on the metric.

    Of all its attempts: `evaluated`, `correct`. Of attempts 1..k: `first_evaluated`, `first_correct`, `first_sum`, and
    `first_small`, the sum of small parts. An invalidated task has no scores. `stopped`: under strategy `pass` the
    attempts up to a success were made, and no more.
    """
    success = pl.col("value") == 1
    scored = (
        scores_.filter(pl.col("value").is_not_null())
        .sort("measure", "attempt")
        .with_columns(
            outcome=pl.struct("measure", "task").rle_id(),
            success=success,
            first_success=pl.col("first") & success,
            first_sum=pl.when("first").then("value"),
            first_small=pl.when("first").then(pl.col("value") * SMALL),
            success_index=pl.when(success).then("found_index"),
        )
    )
    counted = (
        scored.group_by("outcome", "measure", "task")
        .agg(
            evaluated=pl.len().cast(pl.Int64),
            correct=sum_of("success"),
            first_evaluated=sum_of("first"),
            first_correct=sum_of("first_success"),
            last_success=pl.col("success_index").max(),
        )
        .join(plain_sums(scored, "outcome", "first_sum", "first_small"), on="outcome")
    )
    ended_early = (pl.col("last") == pl.col("found")) & (pl.col("last") == pl.col("last_success"))
    return (
        measures.select("measure", "group", "binary", "primary", "averaged", "passing", *PLAN)
        .join(tasks_, on="group")
        .join(counted, on=["measure", "task"], how="left")
        .with_columns(
            pl.when(~pl.col("invalidated")).then(pl.col(SCORED)).fill_null(0),
            stopped=((pl.col("strategy") == "pass") & ended_early).fill_null(value=False),
        )
        .sort("measure", "task")
    )
