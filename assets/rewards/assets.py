"""Assets of the rewards: `rewards` and `stage_scores`."""

import dagster as dg
import polars as pl

from assets.rewards import harbor_utility, staged, trials
from assets.rewards.contract import Rewards, StageScores
from assets.table_asset import Ledger, per_rule_set, results_asset


@results_asset(
    Rewards,
    group="rewards",
    code_version="2",
    by_day=("attempts", "observations", "stage_values", "recorded_values"),
)
def rewards(
    context: dg.AssetExecutionContext,
    ledger: dg.ResourceParam[Ledger],
    attempts: pl.LazyFrame,
    observations: pl.LazyFrame,
    stage_values: pl.LazyFrame,
    verifications: pl.LazyFrame,
    recorded_values: pl.LazyFrame,
) -> pl.LazyFrame:
    """What every attempt's outcome is worth."""
    of_worldseq = (attempts, verifications, recorded_values)
    of_trials = (observations, stage_values, verifications, recorded_values)
    return pl.concat(
        [
            per_rule_set(context, ledger, harbor_utility.rewards, *of_worldseq),
            per_rule_set(context, ledger, trials.rewards, *of_trials),
        ]
    )


@results_asset(StageScores, group="rewards", code_version="1", by_day=("stage_values",))
def stage_scores(
    context: dg.AssetExecutionContext,
    ledger: dg.ResourceParam[Ledger],
    stage_values: pl.LazyFrame,
) -> pl.LazyFrame:
    """What every stage of every staged trial contributed to its reward."""
    return per_rule_set(context, ledger, staged.stage_scores, stage_values)
