"""`rewards` of trials: the staged reward, the recorded one of other recipes, and the reward of a Harbor trial.

Here: which of them a trial has. Not here: the verdict (`assets.verification.trials`), the rewards themselves (`staged`,
`recorded`, `harbor`), and worldseq attempts (`harbor_utility`). Other benchmark attempts have scores, and no reward.
"""

import polars as pl

from assets.attempts.evidence import KEY, ROW, finite, in_order
from assets.contract import to_contract
from assets.rewards.contract import Rewards
from assets.rewards.harbor import has_reward, recorded_reward, voiding_type
from assets.rewards.recorded import own_rewards
from assets.rewards.staged import staged_rewards
from assets.rulesets.loader import RuleSet

OBSERVED = ("format", "reward_recipe", "metrics", "exceptions")


def rewards(
    observations: pl.LazyFrame,
    stage_values: pl.LazyFrame,
    verifications: pl.LazyFrame,
    recorded_values: pl.LazyFrame,
    rules: RuleSet,
) -> pl.LazyFrame:
    """One row per AgentForge and Harbor trial that has ended, as `Rewards` declares it; only an eligible one has any.

    The recorded reward is told whatever became of the trial.
    """
    harbor = pl.col("format") == "harbor"
    staged = ~harbor & (pl.col("reward_recipe") == "staged").fill_null(value=False)
    eligible = pl.col("class") == "eligible"
    return (
        in_order(observations.filter(pl.col("format").is_in(["agentforge", "harbor"])).select(*KEY, *OBSERVED))
        .join(verifications.select(*KEY, "class", "reason"), on=KEY)
        .join(staged_rewards(observations, stage_values, rules), on=KEY, how="left")
        .join(own_rewards(observations, recorded_values), on=KEY, how="left")
        .with_columns(recorded_reward=pl.when(harbor).then(finite(recorded_reward())).otherwise("own_reward"))
        .with_columns(
            reward=pl.when(eligible).then(pl.when(staged).then("staged_reward").otherwise("recorded_reward")),
            reward_kind=pl.when(harbor)
            .then(pl.lit(rules.harbor.kind))
            .when(staged)
            .then(pl.lit(rules.staged.kind))
            .otherwise(pl.lit(rules.staged.recorded_kind)),
        )
        .with_columns(
            reason=pl.when(eligible & pl.col("reward").is_null())
            .then(pl.lit("no_primary_key"))
            .when(harbor & has_reward() & ~eligible)
            .then(pl.format("voided:{}", voiding_type(rules)))
            .otherwise("reason"),
            eligible=pl.when(eligible).then(pl.lit(1, pl.Int64)),
            verified=eligible.cast(pl.Int64),
            primary_value=pl.lit(None, pl.Float64),
            reward_transform_version=pl.lit(None, pl.Int64),
            rules=pl.lit(rules.id),
        )
        .sort(ROW)
        .pipe(to_contract, Rewards)
    )
