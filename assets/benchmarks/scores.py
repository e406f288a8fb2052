"""What each attempt scored on each metric of its group, and what the attempts at a task come to together.

Here: the official score of an attempt on a metric, and counts per task. Not here: which metrics there are (`measures`),
and what a task's counts are worth (`reducers`).
"""

import polars as pl

from assets.benchmarks.runs import AGENTCOMPASS
from assets.benchmarks.sums import SMALL, plain_sums, sum_of

UNCATEGORIZED = "__uncategorized__"
SCORED = ("evaluated", "correct", "first_evaluated", "first_correct", "first_sum", "first_small")


def scores(measures: pl.DataFrame, figures: pl.DataFrame) -> pl.DataFrame:
    """One row per metric and attempt that has a figure of it, in order; of several of one name the first.

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
        .sort("measure", "attempt", maintain_order=True)
        .filter(pl.any_horizontal(pl.col("measure", "attempt").diff().fill_null(1) != 0))
        .select(
            "measure",
            "attempt",
            "task",
            "format",
            "first",
            recorded="value",
            value=pl.when(official).then("value"),
            found_index=pl.when("present").then("index"),
        )
    )


def trials(attempts: pl.DataFrame, measures: pl.DataFrame, scores_: pl.DataFrame) -> pl.DataFrame:
    """One row per metric and attempt of its group, whether it scored or not, in order; of jobs, not of benchmarks."""
    of_jobs = ~pl.col("format").is_in(AGENTCOMPASS)
    scored = scores_.filter(of_jobs).select("measure", "attempt", "recorded", "value")
    return (
        measures.filter(of_jobs)
        .select("measure", "group", "format", "unseen")
        .join(attempts.select("attempt", "group", "error", "valid"), on="group")
        .join(scored, on=["measure", "attempt"], how="left")
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
            category=pl.when(pl.col("category").list.len() > 0).then("category"),
        )
        .group_by("group", "task", maintain_order=True)
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
        .pipe(with_category_keys)
    )


def with_category_keys(tasks_: pl.DataFrame) -> pl.DataFrame:
    """The tasks with their category path as one key; many have the same, which is put together once."""
    keys = tasks_.select("format", "category").unique().with_columns(key=category_key())
    return (
        tasks_.join(keys, on=["format", "category"], how="left", nulls_equal=True, maintain_order="left")
        .drop("format", "category")
        .rename({"key": "category"})
    )


def category_key() -> pl.Expr:
    """The parts escaped as in a JSON pointer and joined with `/`; null where the source knows no categories."""
    part = pl.element().str.replace_all("~", "~0", literal=True).str.replace_all("/", "~1", literal=True)
    named = pl.col("category").list.eval(pl.element().str.strip_chars() != "").list.any()
    key = pl.when(named).then(pl.col("category").list.eval(part).list.join("/")).otherwise(pl.lit(UNCATEGORIZED))
    return pl.when(pl.col("format").is_in(AGENTCOMPASS)).then(key)


def outcomes(tasks_: pl.DataFrame, measures: pl.DataFrame, scores_: pl.DataFrame) -> pl.DataFrame:
    """One row per metric and task of its group, in order: what its attempts left, and what they scored on the metric.

    Of all its attempts: `evaluated`, `correct`. Of attempts 1..k: `first_evaluated`, `first_correct`, `first_sum`, and
    `first_small`, the sum of small parts. An invalidated task has no scores. `stopped`: under strategy `pass` the
    attempts up to a success were made, and no more. `unseen`: 0, since no task is known of attempts without a row.
    """
    success = pl.col("value") == 1
    scored = scores_.filter(pl.col("value").is_not_null()).with_columns(
        success=success,
        first_success=pl.col("first") & success,
        first_value=pl.when("first").then("value"),
        success_index=pl.when(success).then("found_index"),
    )
    number = scored.select(pl.struct("measure", "task").rle_id()).to_series()
    counted = (
        scored.group_by("measure", "task", maintain_order=True)
        .agg(
            evaluated=pl.len().cast(pl.Int64),
            correct=sum_of("success"),
            first_evaluated=sum_of("first"),
            first_correct=sum_of("first_success"),
            last_success=pl.col("success_index").max(),
        )
        .with_columns(
            first_sum=plain_sums(scored["first_value"], number),
            first_small=plain_sums(scored["first_value"] * SMALL, number),
        )
    )
    ended_early = (pl.col("last") == pl.col("found")) & (pl.col("last") == pl.col("last_success"))
    return (
        measures.select("measure", "group", "format", "binary", "k", "strategy", "missing_score")
        .join(tasks_, on="group", maintain_order="left_right")
        .join(counted, on=["measure", "task"], how="left", maintain_order="left")
        .with_columns(
            pl.when(~pl.col("invalidated")).then(pl.col(SCORED)).fill_null(0),
            stopped=((pl.col("strategy") == "pass") & ended_early).fill_null(value=False),
            unseen=pl.lit(0, pl.Int64),
        )
    )
