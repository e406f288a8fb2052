"""`benchmark_metrics`: every figure of a run, under every policy, with the counts that it rests on.

Here: the steps from observations to rows, which policies a series has, which row is the headline, and what withholds a
value. Not here: each step itself; see `runs`, `measures`, `scores`, `reducers`, `harbor`, `aggregation`, `hierarchy`.
"""

import polars as pl

from assets.benchmarks.aggregation import COUNTS, VALUED, category_means, figures
from assets.benchmarks.contract import BenchmarkMetrics
from assets.benchmarks.harbor import own_figures
from assets.benchmarks.hierarchy import ROOT, nodes
from assets.benchmarks.measures import entries, measures
from assets.benchmarks.reducers import SERIES, series, units
from assets.benchmarks.runs import GROUP, Runs, runs
from assets.benchmarks.scores import outcomes, scores, tasks, trials
from assets.contract import empty, to_contract
from assets.rulesets.loader import RuleSet
from assets.vocabulary import POLICIES, SCOPES

OF_GROUP = ("aggregation", "hierarchy", "unplaced", "exclude_missing", *GROUP)
OF_METRIC = ("measure", "group", "metric", "primary", "format", "missing_score")


def benchmark_metrics(
    observations: pl.LazyFrame, benchmark_runs: pl.LazyFrame, rewards: pl.LazyFrame, rules: RuleSet
) -> pl.LazyFrame:
    """One row per figure, as `BenchmarkMetrics` declares it.

    A run whose tasks have different attempt plans has none; `run_totals` says so.
    """
    run = runs(observations, benchmark_runs, rewards, rules)
    shown = entries(run.attempts, rules)
    metrics = measures(run, shown)
    scored = scores(metrics, shown)
    left = outcomes(tasks(run.attempts), metrics, scored)
    single = trials(run.attempts, metrics, scored)
    all_series = series(metrics, left, rules)
    if all_series.is_empty():
        return empty(BenchmarkMetrics).lazy()
    known = (
        all_series.join(metrics.select(OF_METRIC), on="measure")
        .join(described(run), on="group")
        .join(own_figures(run.attempts, single, metrics, rules), on=SERIES, how="left", nulls_equal=True)
    )
    return (
        scopes(units(all_series, single, left), known)
        .join(known, on="series")
        .pipe(by_policy)
        .with_columns(headline=is_headline(), rules=pl.lit(rules.id))
        .pipe(withheld)
        .sort(
            "measure",
            pl.col("scope").replace_strict({name: rank for rank, name in enumerate(SCOPES)}, return_dtype=pl.Int64),
            "category",
            "series",
            "policy",
        )
        .lazy()
        .pipe(to_contract, BenchmarkMetrics)
    )


def described(run: Runs) -> pl.DataFrame:
    """`OF_GROUP` of each group, and whether it has `failed`: a fatal issue withholds every value of the report."""
    failed = run.attempts.group_by("group").agg(failed=pl.col("fatal").any())
    return run.groups.select("group", *OF_GROUP, registered_unseen="unseen").join(failed, on="group")


def scopes(parts: pl.DataFrame, known: pl.DataFrame) -> pl.DataFrame:
    """The figures of every series overall, of its categories and of the nodes of its hierarchy, one after another."""
    declared = known.select("series", "aggregation", "hierarchy")
    categories = figures(parts.filter(pl.col("category").is_not_null()), ["series", "category"])
    of = pl.col("aggregation")
    above = nodes(categories, declared.filter(of == "category_hierarchy").drop("aggregation"))
    means = category_means(categories.join(declared.filter(of == "category_mean"), on="series", how="semi"))
    aggregated = pl.concat(
        [means, above.filter(pl.col("category") == ROOT).select("series", *VALUED, "reason")], how="diagonal"
    )
    overall = (
        figures(parts, ["series"])
        .join(declared, on="series")
        .join(aggregated, on="series", how="left", suffix="_aggregated")
        .with_columns(
            pl.when(of == "micro").then(policy).otherwise(f"{policy}_aggregated").alias(policy) for policy in VALUED
        )
    )
    named = {
        "overall": overall.with_columns(category=None),
        "category": categories.with_columns(reason=None),
        "hierarchy": above,
    }
    text = [pl.col("category", "reason").cast(pl.String)]
    return pl.concat(
        [
            frame.with_columns(text).select("series", *COUNTS, *VALUED, "category", "reason", scope=pl.lit(scope))
            for scope, frame in named.items()
        ]
    )


def by_policy(wide: pl.DataFrame) -> pl.DataFrame:
    """One row per figure and policy that it is told under.

    Harbor's trials are told under its own policies as well: both of its means, and its pass@k where it reports one.
    """
    trials = (pl.col("format") == "harbor") & (pl.col("reducer") == "mean")
    told = {
        "strict": pl.lit(value=True),
        "scored_only": pl.lit(value=True),
        "harbor_0_26": trials | pl.col("harbor_0_26").is_not_null(),
        "harbor_0_25": trials,
    }
    return pl.concat(
        [
            wide.filter(told[policy]).with_columns(policy=pl.lit(policy), value=policy).drop(POLICIES)
            for policy in POLICIES
        ]
    )


def is_headline() -> pl.Expr:
    """Whether it is the figure to quote: overall, of a primary metric, under the policy that the run declares.

    A number for missing scores declares `strict`. Without a declaration, success at tasks is told over all of them, and
    scores are told of what was scored, as release 1.0 of AgentCompass and Harbor do.
    """
    format_, metric = pl.col("format"), pl.col("metric")
    over_all = (
        (format_ == "terminal-bench")
        | ((format_ == "agentforge") & (metric == "passed"))
        | ((format_ == "agentcompass-0") & (metric == "accuracy"))
    )
    strict = (
        pl.when(pl.col("missing_score").is_not_null())
        .then(pl.lit(value=True))
        .when(pl.col("exclude_missing").fill_null(value=False))
        .then(pl.lit(value=False))
        .otherwise(over_all)
    )
    declared = pl.when(strict).then(pl.lit("strict")).otherwise(pl.lit("scored_only"))
    quoted = (pl.col("reducer") != "pass_unbiased") & ~((format_ == "agentforge") & (pl.col("reducer") == "pass"))
    return (pl.col("scope") == "overall") & pl.col("primary") & quoted & (pl.col("policy") == declared)


def withheld(rows: pl.DataFrame) -> pl.DataFrame:
    """Values of a failed report as `reference_value` instead, and why there is no value, or what is wrong with it.

    `upper_bound`: attempts that were registered and left nothing are not in it, since nobody knows their task or group.
    """
    value, failed = pl.col("value"), pl.col("failed")
    unbiased, strict_mean = (
        pl.col("reducer") == "pass_unbiased",
        (pl.col("reducer") == "mean") & (pl.col("policy") == "strict"),
    )
    flatters = (unbiased & (pl.col("registered_unseen") + pl.col("unplaced") > 0)) | (
        strict_mean & (pl.col("unplaced") > 0)
    )
    return rows.with_columns(
        value=pl.when(~failed).then(value),
        reference_value=pl.when(failed).then(value),
        reason=pl.coalesce(
            "reason",
            pl.when(failed).then(pl.lit("invalidated")),
            pl.when(value.is_null()).then(pl.lit("nothing_evaluated")),
            pl.when(flatters).then(pl.lit("upper_bound")),
        ),
    )
