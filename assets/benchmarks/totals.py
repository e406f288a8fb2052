"""`run_totals`: what a run consisted of, and what became of it.

Here: counts and sums over attempts, with the number behind each sum. Not here: figures of what they scored (`metrics`).
"""

import polars as pl

from assets.attempts.evidence import finite, signless_zero
from assets.benchmarks.contract import RunTotals
from assets.benchmarks.measures import entries, measures
from assets.benchmarks.reducers import has_series, is_passed
from assets.benchmarks.runs import GROUP, RUN, Runs, revisions, runs
from assets.benchmarks.scores import outcomes, scores, tasks
from assets.benchmarks.sums import count, plain_sum, sum_of
from assets.contract import to_contract
from assets.rulesets.loader import RuleSet

TOKENS = ("n_input_tokens", "n_cache_tokens", "n_output_tokens")
SUMMED = (*TOKENS, "cost_usd")
COUNTS = (
    "registered",
    "present",
    "valid",
    "errors",
    "missing",
    "running",
    *(f"{name}_n" for name in SUMMED),
)


def run_totals(
    observations: pl.LazyFrame, benchmark_runs: pl.LazyFrame, rewards: pl.LazyFrame, rules: RuleSet
) -> pl.LazyFrame:
    """One row per group of attempts, as `RunTotals` declares it.

    What a job registered beyond its trials, and no group can claim, has a row of its own with null names.
    """
    run = runs(observations, benchmark_runs, rewards, rules, also=(*SUMMED, "started_at", "finished_at"))
    shown = entries(run.attempts, rules)
    metrics = measures(run, shown)
    each = tasks(run.attempts)
    followed = metrics.filter(is_passed() & pl.col("primary") & (pl.col("strategy") == "pass"))
    stopped = outcomes(each, followed, scores(followed, shown)).filter("stopped")
    measured = metrics.group_by("group").agg(measured=has_series().any())
    reason = (
        pl.when("mixed")
        .then(pl.lit("mixed_attempt_plans"))
        .when((pl.col("rows") > 0) & ~pl.col("measured"))
        .then(pl.lit("strategy_not_supported"))
    )
    groups = (
        run.groups.join(sums(run.attempts), on="group", how="left")
        .join(planned(each, stopped), on="group", how="left")
        .join(measured, on="group", how="left")
        .with_columns(registered=registered(), reason=reason)
        .with_columns(missing=pl.col("registered") - pl.col("present").fill_null(0))
    )
    return (
        pl.concat([groups, unclaimed(run)], how="diagonal_relaxed")
        .with_columns(
            pl.col(COUNTS).fill_null(0),
            pl.col("revisions").fill_null(pl.lit([], pl.List(pl.String))),
            rules=pl.lit(rules.id),
        )
        .sort(GROUP)
        .lazy()
        .pipe(to_contract, RunTotals)
    )


def sums(attempts: pl.DataFrame) -> pl.DataFrame:
    """Per group the counts and sums over its attempts, each sum with the number of attempts that told it."""
    return attempts.group_by("group").agg(
        present=sum_of("present"),
        valid=sum_of("valid"),
        errors=sum_of("error"),
        **{name: whole_sum(name) for name in TOKENS},
        cost_usd=pl.when(count("cost_usd") > 0).then(signless_zero(finite(plain_sum(pl.col("cost_usd"))))),
        **{f"{name}_n": count(name) for name in SUMMED},
        first_start=pl.col("started_at").min(),
        last_finish=pl.col("finished_at").max(),
    )


def whole_sum(name: str) -> pl.Expr:
    """The sum of whole numbers; null where there is none, or where 64 bits do not hold it."""
    exact = pl.col(name).cast(pl.Int128).sum().cast(pl.Int64, strict=False)
    return pl.when(count(name) > 0).then(exact)


def planned(tasks_: pl.DataFrame, stopped: pl.DataFrame) -> pl.DataFrame:
    """`group` and how many attempts its tasks should have: k, or as many as there are; a success may end them early."""
    enough = stopped.group_by("task").agg(enough=pl.col("last").max())
    return (
        tasks_.join(enough, on="task", how="left").group_by("group").agg(planned=pl.coalesce("enough", "planned").sum())
    )


def registered() -> pl.Expr:
    """Attempts that should be there: of benchmarks by their tasks' plans, else what is found and what is unseen."""
    return pl.when(pl.col("source") == "agentcompass").then("planned").otherwise(pl.col("rows") + pl.col("unseen"))


def unclaimed(run: Runs) -> pl.DataFrame:
    """A row per run whose registered or running trials no one group can claim; a run of duplicates only has none."""
    found = run.groups.group_by("run").agg(groups=pl.len(), rows=pl.col("rows").sum())
    none = pl.col("groups").is_null()
    beyond = pl.col("registered") - pl.col("rows").fill_null(0) - pl.col("duplicates")
    return (
        run.told.join(found, on="run", how="left")
        .filter(none | (pl.col("groups") > 1), ~(none & (pl.col("duplicates") > 0)))
        .group_by(RUN)
        .agg(missing=beyond.clip(0).sum(), running=pl.col("running").sum(), revisions=revisions())
        .filter((pl.col("missing") > 0) | (pl.col("running") > 0))
        .with_columns(registered="missing")
    )
