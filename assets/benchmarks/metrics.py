"""`benchmark_metrics`: every figure of a run, under every policy, with the counts that it rests on.

Here: the steps from observations to rows, which policies a series has, which row is the headline, and what withholds a
value. Not here: each step itself; see `runs`, `measures`, `scores`, `reducers`, `harbor`, `aggregation`, `hierarchy`.
"""

import polars as pl

from assets.attempts.evidence import signless_zero
from assets.benchmarks.aggregation import COUNTS, VALUED, category_means, figures
from assets.benchmarks.contract import BenchmarkMetrics
from assets.benchmarks.harbor import own_figures
from assets.benchmarks.hierarchy import ROOT, nodes
from assets.benchmarks.measures import entries, measures
from assets.benchmarks.reducers import SERIES, series, units
from assets.benchmarks.runs import runs
from assets.benchmarks.scores import outcomes, scores, tasks, trials
from assets.contract import empty, to_contract
from assets.rulesets.loader import RuleSet
from assets.vocabulary import POLICIES, SCOPES


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
    of_tasks = outcomes(tasks(run.attempts), metrics, scored)
    of_trials = trials(run.attempts, metrics, scored)
    all_series = series(metrics, of_tasks, rules)
    if all_series.is_empty():
        return empty(BenchmarkMetrics).lazy()
    own = own_figures(run.attempts, of_trials, metrics, rules)
    known = all_series.join(own, on=SERIES, how="left", nulls_equal=True)
    return (
        scopes(units(all_series, of_trials, of_tasks), known)
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


def scopes(parts: pl.DataFrame, known: pl.DataFrame) -> pl.DataFrame:
    """The figures of every series overall, of its categories and of the nodes of its hierarchy, one after another."""
    aggregation = known.select("series", "hierarchy", "aggregation").filter(pl.col("aggregation") != "micro")
    categories = figures(parts.filter(pl.col("category").is_not_null()), ["series", "category"])
    of_categories = categories.join(aggregation, on="series")
    hierarchical = pl.col("aggregation") == "category_hierarchy"
    above = nodes(of_categories.filter(hierarchical))
    means = category_means(of_categories.filter(~hierarchical))
    roots = above.filter(pl.col("category") == ROOT).select("series", *VALUED, "reason")
    aggregated = pl.concat([means, roots], how="diagonal").with_columns(aggregated=pl.lit(value=True))
    overall = (
        figures(parts, ["series"])
        .join(aggregated, on="series", how="left", suffix="_aggregated")
        .with_columns(
            pl.when("aggregated").then(f"{policy}_aggregated").otherwise(policy).alias(policy) for policy in VALUED
        )
    )
    named = {"overall": overall, "category": categories, "hierarchy": above}
    return pl.concat(
        [frame.with_columns(scope=pl.lit(scope)) for scope, frame in named.items()], how="diagonal"
    ).select("series", "scope", "category", *COUNTS, *VALUED, "reason")


def by_policy(wide: pl.DataFrame) -> pl.DataFrame:
    """One row per figure and policy that it is told under.

    Harbor's trials are told under its own policies as well: both of its means, and its pass@k where it reports one.
    """
    policy = pl.col("policy")
    trials = (pl.col("format") == "harbor") & (pl.col("reducer") == "mean")
    own = (policy == "harbor_0_26") & pl.col("value").is_not_null()
    return wide.unpivot(
        POLICIES, index=pl.selectors.exclude(POLICIES), variable_name="policy", value_name="value"
    ).filter(policy.is_in(VALUED) | trials | own)


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
    flatters = (unbiased & (pl.col("unseen") + pl.col("unplaced") > 0)) | (strict_mean & (pl.col("unplaced") > 0))
    return rows.with_columns(value=signless_zero(value)).with_columns(
        value=pl.when(~failed).then(value),
        reference_value=pl.when(failed).then(value),
        reason=pl.coalesce(
            "reason",
            pl.when(failed).then(pl.lit("invalidated")),
            pl.when(value.is_null()).then(pl.lit("nothing_evaluated")),
            pl.when(flatters).then(pl.lit("upper_bound")),
        ),
    )
