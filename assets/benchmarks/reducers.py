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
    """The series of all measures, in order of `SERIES` and numbered as `series`, with all columns of their measure."""
    single = pl.when(pl.col("k") == 1).then(pl.lit("native")).otherwise(pl.lit("avg"))
    parts = [
        measures.filter(~BENCHMARK).with_columns(reducer=pl.lit("mean"), k=pl.lit(None, pl.Int64)),
        measures.filter(is_averaged()).with_columns(reducer=single),
        measures.filter(is_passed()).with_columns(reducer=pl.lit("pass")),
        listed_k(measures.filter(is_passed_unbiased()), outcomes, rules),
    ]
    return pl.concat(parts).sort(SERIES).with_row_index("series")


def listed_k(measures: pl.DataFrame, outcomes: pl.DataFrame, rules: RuleSet) -> pl.DataFrame:
    """The series `pass_unbiased`: every `k` that it is reported for, up to the largest number of attempts at a task."""
    listed = pl.concat_list(all_k(pl.col("n"), rules), pl.when(BENCHMARK).then("k")).list.unique()
    return (
        measures.join(outcomes.group_by("measure").agg(pl.col("n").max()), on="measure")
        .with_columns(k=listed, reducer=pl.lit("pass_unbiased"))
        .explode("k")
        .filter(pl.col("k") <= pl.col("n"))
        .drop("n")
    )


def all_k(largest: pl.Expr, rules: RuleSet) -> pl.Expr:
    """The list of the powers and the multiples that the rules name, up to `largest` and `LISTED_K`; 1 is a power."""
    base, step = rules.benchmark.pass_k_powers_of, rules.benchmark.pass_k_multiples_of
    exponents = range(LISTED_K.bit_length())
    powers = [base**exponent for exponent in exponents if base**exponent <= LISTED_K]
    return pl.int_ranges(step, largest.clip(upper_bound=LISTED_K) + 1, step).list.concat(pl.lit(powers))


def units(series_: pl.DataFrame, trials: pl.DataFrame, outcomes: pl.DataFrame) -> pl.DataFrame:
    """Every unit of every series, in order within it: a trial under `mean`, a task under the others."""
    tasks = outcomes.drop("k")
    named = series_.select("series", "measure", "reducer", "k").partition_by("reducer", as_dict=True)
    return pl.concat(
        UNITS[reducer](of.join(trials if reducer == "mean" else tasks, on="measure", maintain_order="right"))
        for (reducer,), of in named.items()
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

    They are drawn from the evaluated ones under `scored_only`, from the registered ones under `strict`. Tasks are many,
    and few of them differ in what the chance depends on.
    """
    incomplete = (pl.col("found") < pl.col("k")) & (pl.col("format") != "agentcompass-0")
    case = ["evaluated", "n", "correct", "k"]
    cases = tasks.select(case).unique()
    known = chances(pl.concat([cases.select("correct", "k", n="evaluated"), cases.select("correct", "k", "n")]))
    of_evaluated = known.rename({"n": "evaluated", "chance": "scored_only"})
    of_registered = known.rename({"chance": "strict"})
    valued = cases.join(of_evaluated, on=["evaluated", "correct", "k"]).join(of_registered, on=["n", "correct", "k"])
    return (
        tasks.with_columns(error=pl.col("error") | pl.col("invalidated") | incomplete)
        .join(valued, on=case, maintain_order="left")
        .select(UNIT)
    )


def chances(cases: pl.DataFrame) -> pl.DataFrame:
    """`n`, `correct`, `k` of each different case, and its `chance`: 1 - C(n - c, k) / C(n, k); null where n < k.

    The quotient is a product of min(c, k) factors.
    """
    n, k, index = pl.col("n"), pl.col("k"), pl.col("index")
    fewer, more = pl.min_horizontal("correct", "k"), pl.max_horizontal("correct", "k")
    none_succeeds = ((n - more - index) / (n - index)).cum_prod().last().fill_null(1.0)
    return (
        cases.select("n", "correct", "k")
        .unique()
        .with_columns(index=pl.int_ranges(0, fewer))
        .explode("index", empty_as_null=True)
        .group_by("n", "correct", "k")
        .agg(chance=pl.when(n.first() >= k.first()).then(1.0 - none_succeeds))
    )


UNITS: Mapping[str, Callable[[pl.DataFrame], pl.DataFrame]] = {
    "mean": means_of_trials,
    "native": averages,
    "avg": averages,
    "pass": passes,
    "pass_unbiased": unbiased,
}
"""From the trials or tasks of the series of one reducer, in order, to their `UNIT`s."""
