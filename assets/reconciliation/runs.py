"""`reconciliation` of whole runs: what a run's own file reports against what its trials come to.

Here: which reported figures have a counterpart, and under which rules they may have been made. Not here: when two
figures agree (`comparison`).
"""

import polars as pl

from assets.contract import to_contract
from assets.reconciliation.comparison import PLACE, compared
from assets.reconciliation.contract import Reconciliation
from assets.rulesets.loader import RuleSet

RUN = ["source", "landed_on", "run_id"]
REPORTED = "reported"
SUMS = ("n_input_tokens", "n_cache_tokens", "n_output_tokens", "cost_usd")
HARBOR_POLICIES = ("harbor_0_26", "harbor_0_25", "scored_only", "strict")
SCORED_FIRST = ("scored_only", "strict")
STRICT_FIRST = ("strict", "scored_only")


def reconciliation(
    recorded_values: pl.LazyFrame, benchmark_metrics: pl.LazyFrame, run_totals: pl.LazyFrame, rules: RuleSet
) -> pl.LazyFrame:
    """One row per reported figure that is also computed, as `Reconciliation` declares it.

    A figure that several rules may have made is compared under the first that it agrees with, else under the first;
    `reason` names that rule where it agrees.
    """
    told = recorded_values.filter(
        pl.col("run_id").is_not_null(), pl.col("attempt_id").is_null(), pl.col("value_type") != "null"
    )
    candidates = told.with_row_index(REPORTED).join(figures(benchmark_metrics, run_totals), on=[*RUN, "field"])
    return (
        candidates.pipe(compared, rules)
        .sort(REPORTED, ~pl.col("agrees"), "rank")
        .group_by(REPORTED, maintain_order=True)
        .first()
        .with_columns(
            reason=pl.when("agrees").then("policy").otherwise("reason"),
            attempt_id=pl.lit(None, pl.String),
            rules=pl.lit(rules.id),
        )
        .sort(*RUN, *PLACE)
        .pipe(to_contract, Reconciliation)
    )


def figures(benchmark_metrics: pl.LazyFrame, run_totals: pl.LazyFrame) -> pl.LazyFrame:
    """Every computed figure of a run: `RUN`, `field`, `recomputed`, `policy`, and the `rank` of that policy."""
    overall = benchmark_metrics.filter(pl.col("scope") == "overall")
    return pl.concat(
        [
            *harbor(overall.filter(pl.col("source") == "harbor"), run_totals),
            *terminal_bench(overall.filter(pl.col("source") == "harbor", pl.col("metric") == "accuracy")),
            *agentforge(overall.filter(pl.col("source") == "agentforge")),
        ]
    )


def harbor(metrics: pl.LazyFrame, totals: pl.LazyFrame) -> list[pl.LazyFrame]:
    """Of each of a job's evaluations its counts, means and pass@k; of the whole job errors, tokens and cost."""
    metrics = metrics.with_columns(evaluation=EVALUATION)
    # An evaluation with a single reward key reports its mean as `mean`, one with several as the key itself.
    means = metrics.filter(pl.col("reducer") == "mean").with_columns(
        figure=pl.when(pl.col("metric").n_unique().over(*RUN, "evaluation") == 1)
        .then(pl.lit("mean"))
        .otherwise("metric")
    )
    passes = metrics.filter(pl.col("reducer") == "pass_unbiased").with_columns(figure=pl.format("pass@{}", "k"))
    totals = totals.filter(pl.col("source") == "harbor")
    jobs = totals.group_by(RUN).agg(pl.col("errors").sum(), pl.col("present").sum(), *(summed(name) for name in SUMS))
    named = pl.col("agent_name").is_not_null() | pl.col("model_name").is_not_null() | pl.col("benchmark").is_not_null()
    evaluations = totals.filter(named).with_columns(evaluation=EVALUATION)
    return [
        _figure(means, pl.format("job:{}:{}", "figure", "evaluation"), pl.col("value"), HARBOR_POLICIES),
        _figure(passes, pl.format("job:{}:{}", "figure", "evaluation"), pl.col("value"), HARBOR_POLICIES),
        _figure(evaluations, pl.format("job:n_trials:{}", "evaluation"), pl.col("valid")),
        _figure(evaluations, pl.format("job:n_errors:{}", "evaluation"), pl.col("errors")),
        _figure(jobs, pl.lit("job:n_errored_trials"), pl.col("errors")),
        _figure(jobs, pl.lit("job:n_completed_trials"), pl.col("present")),
        *(_figure(jobs, pl.lit(f"job:{name}"), pl.col(name)) for name in SUMS),
    ]


EVALUATION = pl.concat_str(
    "agent_name", pl.col("model_name").replace("", None), "benchmark", separator="__", ignore_nulls=True
)
"""Name of an evaluation in a job's own file."""


def summed(name: str) -> pl.Expr:
    """The sum of what the groups of a job told; null where none told anything."""
    return pl.when(pl.col(f"{name}_n").sum() > 0).then(pl.col(name).cast(pl.Float64).sum()).alias(name)


def terminal_bench(metrics: pl.LazyFrame) -> list[pl.LazyFrame]:
    """Accuracy, the resolved and the unresolved, and pass@k of a run, which a job's file would name otherwise."""
    accuracy = metrics.filter(pl.col("reducer") == "mean")
    strict = accuracy.filter(pl.col("policy") == "strict")
    resolved = (pl.col("value") * pl.col("total")).round()
    passes = metrics.filter(pl.col("reducer") == "pass_unbiased")
    return [
        _figure(accuracy, pl.lit("job:accuracy"), pl.col("value"), STRICT_FIRST),
        _figure(strict, pl.lit("job:n_resolved"), resolved),
        _figure(strict, pl.lit("job:n_unresolved"), pl.col("total") - resolved),
        _figure(passes, pl.format("job:pass@{}", "k"), pl.col("value"), STRICT_FIRST),
    ]


def agentforge(metrics: pl.LazyFrame) -> list[pl.LazyFrame]:
    """Mean reward, pass@1 and pass@k of a job."""
    reward = metrics.filter(pl.col("metric") == "reward", pl.col("reducer") == "mean")
    passed = metrics.filter(pl.col("metric") == "passed")
    return [
        _figure(reward, pl.lit("job:mean_reward"), pl.col("value"), SCORED_FIRST),
        _figure(passed.filter(pl.col("reducer") == "mean"), pl.lit("job:pass_at_1"), pl.col("value"), STRICT_FIRST),
        _figure(passed.filter(pl.col("reducer") == "pass"), pl.lit("job:pass_at_k"), pl.col("value"), STRICT_FIRST),
    ]


def _figure(
    frame: pl.LazyFrame, field: pl.Expr, value: pl.Expr, policies: tuple[str, ...] | None = None
) -> pl.LazyFrame:
    """The figure under each of `policies`, the first first; without any, under no rule in particular."""
    policy = pl.col("policy") if policies else pl.lit(None, pl.String)
    ranks = {name: rank for rank, name in enumerate(policies or ())}
    return frame.select(
        *RUN,
        field=field,
        recomputed=value.cast(pl.Float64),
        policy=policy,
        rank=policy.replace_strict(ranks, default=len(ranks), return_dtype=pl.Int64),
    )
