"""Assets of the rewards: `rewards` and `stage_scores`."""

import polars as pl

from assets.rewards import harbor_utility, staged, trials
from assets.rewards.contract import Rewards, StageScores
from assets.table_asset import Scope, results_asset


@results_asset(
    Rewards,
    group="rewards",
    code_version="2",
    by_day=("attempts", "observations", "stage_values", "recorded_values"),
)
def rewards(
    scope: Scope,
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
            harbor_utility.rewards(*of_worldseq, scope.rules),
            trials.rewards(*of_trials, scope.rules),
        ]
    )


@results_asset(StageScores, group="rewards", code_version="1", by_day=("stage_values",))
def stage_scores(
    scope: Scope,
    stage_values: pl.LazyFrame,
) -> pl.LazyFrame:
    """What every stage of every staged trial contributed to its reward."""
    return staged.stage_scores(stage_values, scope.rules)
