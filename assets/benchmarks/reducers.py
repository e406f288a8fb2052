"""From the attempts at a task to the value of the task, per reducer and policy.

Here: which series a metric has; units, which are what a figure is a mean of: tasks for `native`, `avg`, `pass` and
`pass_unbiased`, trials for `mean`; and the value of each unit under `strict` and `scored_only`. Not here: Harbor's own
policies (`harbor`), and means over units (`aggregation`).
"""

from collections.abc import Callable, Mapping

import polars as pl

from assets.benchmarks.runs import AGENTCOMPASS
from assets.benchmarks.sums import SMALL, quotient
from assets.rulesets.loader import RuleSet

SERIES = ["measure", "reducer", "k"]
"""What a figure is of: a metric of a group under one reducer and k; `mean` has no k."""

UNIT = ("series", "category", "error", "invalidated", "unseen", "scored_only", "strict")
"""Columns of a unit: its series, its category and state, and its value under each policy.

A null value is none, and leaves the mean. What is evaluated has a value under `scored_only`. `unseen` is the number of
units that the series should have besides: registered trials that left nothing.
"""

LISTED_K = 1000
"""`pass_unbiased` lists its k up to here: a plan may name any number, and each would be a row."""

BENCHMARK = pl.col("format").is_in(AGENTCOMPASS)
STOPS_EARLY = (pl.col("strategy") == "pass") & (pl.col("k") > 1)
FILL = pl.when("binary").then(0.0).otherwise(pl.col("missing_score").fill_null(0.0))
"""What a missing score counts as under `strict`."""


def is_averaged() -> pl.Expr:
    """Whether a measure has series `native` or `avg`: early stops leave no k values to average."""
    return BENCHMARK & ((pl.col("k") == 1) | (pl.col("averaged") & ~STOPS_EARLY))


def is_passed() -> pl.Expr:
    """Whether a measure has a series `pass`; early stops follow the primary metric, and are exact for no other."""
    repeated = BENCHMARK & (pl.col("k") > 1) & (pl.col("primary") | ~STOPS_EARLY)
    return pl.col("passing") & (repeated | (pl.col("format") == "agentforge"))


def is_passed_unbiased() -> pl.Expr:
    """Whether a measure has series `pass_unbiased`, which early stops would bias."""
    return pl.col("passing") & ~(BENCHMARK & STOPS_EARLY) & (pl.col("format") != "agentforge")


def has_series() -> pl.Expr:
    """Whether there is any figure to be had of a measure."""
    return ~BENCHMARK | is_averaged() | is_passed() | is_passed_unbiased()


def series(measures: pl.DataFrame, outcomes: pl.DataFrame, rules: RuleSet) -> pl.DataFrame:
    """The series of all measures, by `SERIES` and `unseen`, numbered as `series` in that order."""
    single = pl.when(pl.col("k") == 1).then(pl.lit("native")).otherwise(pl.lit("avg"))
    drawn = measures.join(listed_k(outcomes.filter(is_passed_unbiased()), rules), on="measure", suffix="_drawn")
    none = pl.lit(0, pl.Int64)
    return (
        pl.concat(
            [
                measures.filter(~BENCHMARK).select(
                    "measure", "unseen", reducer=pl.lit("mean"), k=pl.lit(None, pl.Int64)
                ),
                measures.filter(is_averaged()).select("measure", unseen=none, reducer=single, k="k"),
                measures.filter(is_passed()).select("measure", unseen=none, reducer=pl.lit("pass"), k="k"),
                drawn.select("measure", unseen=none, reducer=pl.lit("pass_unbiased"), k="k_drawn"),
            ]
        )
        .sort(SERIES)
        .with_row_index("series")
    )


def units(series_: pl.DataFrame, trials: pl.DataFrame, outcomes: pl.DataFrame) -> pl.DataFrame:
    """Every unit of every series, in order within it: a trial under `mean`, a task under the others."""
    tasks = outcomes.drop("k", "unseen")
    return pl.concat(
        UNITS[reducer](of.join(trials if reducer == "mean" else tasks, on="measure", maintain_order="right"))
        for (reducer,), of in series_.partition_by("reducer", include_key=False, as_dict=True).items()
    )


def means_of_trials(trials: pl.DataFrame) -> pl.DataFrame:
    """Reducer `mean`: every trial is a unit."""
    return trials.select(
        "series",
        "error",
        "unseen",
        category=pl.lit(None, pl.String),
        invalidated=pl.lit(value=False),
        scored_only="value",
        strict=pl.col("value").fill_null(0.0),
    ).select(UNIT)


def averages(tasks: pl.DataFrame) -> pl.DataFrame:
    """Reducers `native` (k = 1) and `avg`: the mean of attempts 1..k, which needs all of them under `scored_only`."""
    k, found, total, small = pl.col("k"), pl.col("first_evaluated"), pl.col("first_sum"), pl.col("first_small")
    missing = k - found
    return tasks.with_columns(
        error=first_error(),
        scored_only=pl.when(found == k).then(quotient(total, small, k)),
        strict=quotient(total + FILL * missing, small + FILL * SMALL * missing, k),
    ).select(UNIT)


def passes(tasks: pl.DataFrame) -> pl.DataFrame:
    """Reducer `pass`: whether one of attempts 1..k succeeded; that none did, only all of them can say."""
    success, complete = pl.col("first_correct") > 0, pl.col("first_evaluated") >= pl.col("k")
    return tasks.with_columns(
        error=first_error(),
        scored_only=pl.when(success | complete).then(success.cast(pl.Float64)),
        strict=success.cast(pl.Float64),
    ).select(UNIT)


def first_error() -> pl.Expr:
    """Whether there is an error in attempts 1..k; missing ones are one but in the first generation."""
    incomplete = (pl.col("first_found") < pl.col("k")) & ~pl.col("stopped")
    return pl.col("first_error") | pl.col("invalidated") | (incomplete & (pl.col("format") != "agentcompass-0"))


def unbiased(tasks: pl.DataFrame) -> pl.DataFrame:
    """Reducer `pass_unbiased`: the chance that one of k attempts drawn from all of the task's succeeds.

    They are drawn from the evaluated ones under `scored_only`, from the registered ones under `strict`.
    """
    incomplete = (pl.col("found") < pl.col("k")) & (pl.col("format") != "agentcompass-0")
    case = ["evaluated", "n", "correct", "k"]
    few = tasks.select(case).unique()
    chances = few.pipe(with_chance, "evaluated", "scored_only").pipe(with_chance, "n", "strict")
    return (
        tasks.with_columns(error=pl.col("error") | pl.col("invalidated") | incomplete)
        .join(chances, on=case, how="left", maintain_order="left")
        .select(UNIT)
    )


UNITS: Mapping[str, Callable[[pl.DataFrame], pl.DataFrame]] = {
    "mean": means_of_trials,
    "native": averages,
    "avg": averages,
    "pass": passes,
    "pass_unbiased": unbiased,
}
"""From the trials or tasks of the series of one reducer, in order, to their `UNIT`s."""


def listed_k(tasks: pl.DataFrame, rules: RuleSet) -> pl.DataFrame:
    """`measure` and every `k` that `pass_unbiased` is reported for, up to the largest number of attempts at a task."""
    declared = pl.when(BENCHMARK).then("k")
    return (
        tasks.group_by("measure")
        .agg(pl.col("n").max(), declared=declared.first())
        .with_columns(k=pl.concat_list(all_k(pl.col("n"), rules), "declared"))
        .select("measure", "n", "k")
        .explode("k")
        .filter(pl.col("k") <= pl.col("n"))
        .unique(["measure", "k"])
        .select("measure", "k")
    )


def all_k(largest: pl.Expr, rules: RuleSet) -> pl.Expr:
    """The list of the powers and the multiples that the rules name, up to `largest` and `LISTED_K`; 1 is a power."""
    base, step = rules.benchmark.pass_k_powers_of, rules.benchmark.pass_k_multiples_of
    exponents = range(LISTED_K.bit_length())
    powers = [base**exponent for exponent in exponents if base**exponent <= LISTED_K]
    return pl.int_ranges(step, largest.clip(upper_bound=LISTED_K) + 1, step).list.concat(pl.lit(powers))


def with_chance(drawn: pl.DataFrame, attempts: str, name: str) -> pl.DataFrame:
    """The frame with `name`: 1 - C(n - c, k) / C(n, k) for n `attempts` of which c are `correct`; null where n < k.

    The quotient is a product of min(c, k) factors, and few different ones occur.
    """
    n, fewer, more = pl.col(attempts), pl.min_horizontal("correct", "k"), pl.max_horizontal("correct", "k")
    index, case = pl.col("index"), [attempts, "correct", "k"]
    chances = (
        drawn.select(case)
        .filter(pl.col("correct") > 0, n >= pl.col("k"))
        .unique()
        .with_columns(index=pl.int_ranges(0, fewer))
        .explode("index")
        .group_by(case)
        .agg(none_succeeds=((n - more - index) / (n - index)).cum_prod().last())
    )
    succeeds = pl.when(n >= pl.col("k")).then(1.0 - pl.col("none_succeeds").fill_null(1.0))
    return drawn.join(chances, on=case, how="left").with_columns(succeeds.alias(name)).drop("none_succeeds")
