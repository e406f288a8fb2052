"""Harbor's own figures: its mean under both of its rules, and its pass@k.

Here: what the policies `harbor_0_26` and `harbor_0_25` make of a job's trials. Not here: which rewards are valid
(`assets.rewards.harbor`), and the policies of all sources (`reducers`).
"""

from collections.abc import Mapping

import polars as pl

from assets.benchmarks.reducers import all_k, chances
from assets.benchmarks.sums import count, means
from assets.rulesets.loader import RuleSet

FIGURES: Mapping[str, pl.DataType] = {
    "measure": pl.UInt32(),
    "reducer": pl.String(),
    "k": pl.Int64(),
    "harbor_0_26": pl.Float64(),
    "harbor_0_25": pl.Float64(),
}


def own_figures(attempts: pl.DataFrame, trials: pl.DataFrame, measures: pl.DataFrame, rules: RuleSet) -> pl.DataFrame:
    """The values under Harbor's own policies, by `FIGURES`; none without Harbor's trials."""
    harbor = pl.col("format") == "harbor"
    of_jobs = trials.filter(harbor)
    if of_jobs.is_empty():
        return pl.DataFrame(schema=dict(FIGURES))
    figures = [reward_means(of_jobs), passes(attempts.filter(harbor, pl.col("valid")), measures, rules)]
    return pl.concat(figures, how="diagonal").select(list(FIGURES))


def reward_means(trials: pl.DataFrame) -> pl.DataFrame:
    """The mean of every reward key under both rules.

    Since 0.26 it is over the valid trials, a missing key counting 0; null where no valid trial has the key. Up to 0.25
    it is over every trial found, and any reward counts, whatever the exception.
    """
    until = pl.col("recorded").fill_null(0.0)
    valid = pl.when("valid").then(pl.col("value").fill_null(0.0))
    own = {name: count(name) for name in ("harbor_0_26", "harbor_0_25")}
    return (
        trials.with_columns(harbor_0_26=valid, harbor_0_25=until)
        .pipe(means, ["measure"], own, {"evaluated": count("value")})
        .select(
            "measure",
            "harbor_0_25",
            reducer=pl.lit("mean"),
            k=pl.lit(None, pl.Int64),
            harbor_0_26=pl.when(pl.col("evaluated") > 0).then("harbor_0_26"),
        )
    )


def passes(valid: pl.DataFrame, measures: pl.DataFrame, rules: RuleSet) -> pl.DataFrame:
    """pass@k of valid trials as the framework reports it, `harbor_0_26`, under the group's primary key.

    It takes the only reward of each trial, whatever its name; none at all where one has several, or one that is neither
    0 nor 1. k goes up to the smallest number of valid trials among the tasks that have any; 1 is not reported.
    """
    reward = pl.col("metrics").list.first().struct.field("value")
    only = (pl.col("metrics").list.len() == 1) & reward.is_in([0.0, 1.0])
    tasks = (
        valid.select("group", "task", reward=reward, only=only)
        .filter(pl.col("only").all().over("group"))
        .group_by("group", "task")
        .agg(n=pl.len().cast(pl.Int64), correct=pl.col("reward").sum().cast(pl.Int64))
    )
    smallest = pl.col("n").min().over("group")
    listed = all_k(smallest, rules).list.unique()
    drawn = tasks.with_columns(k=listed).explode("k").filter(pl.col("k") > 1, pl.col("k") <= smallest)
    return (
        drawn.join(chances(drawn).rename({"chance": "harbor_0_26"}), on=["n", "correct", "k"])
        .join(measures.filter("passing").select("measure", "group"), on="group")
        .sort("measure", "k", "task")
        .pipe(means, ["measure", "k"], {"harbor_0_26": pl.len().cast(pl.Int64)})
        .select("measure", "k", "harbor_0_26", reducer=pl.lit("pass_unbiased"))
    )
