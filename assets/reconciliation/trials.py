"""`reconciliation` of benchmark attempts: what a trial, or a file beside it, recorded against what counts.

Here: which figures of a trial are comparable. Not here: any rule, and when two figures agree (`comparison`).
"""

import polars as pl

from assets.attempts.evidence import KEY
from assets.contract import to_contract
from assets.reconciliation.comparison import PLACE, compared
from assets.reconciliation.contract import Reconciliation
from assets.rewards.harbor import reward_valid
from assets.rulesets.loader import RuleSet

FIGURE = [*KEY, "field"]
TAKEN_OVER = "reward"
"""The reward of a recipe that is not recomputed: the record is the result."""
OF_A_STEP = "step_reward:"
"""What a step's own file says: only the trial as a whole is computed."""


def reconciliation(
    recorded_values: pl.LazyFrame, observations: pl.LazyFrame, rewards: pl.LazyFrame, rules: RuleSet
) -> pl.LazyFrame:
    """One row per figure that a trial or its side file recorded, as `Reconciliation` declares it.

    A verdict that contradicts its own status has no recomputed counterpart: a crash is neither right nor wrong.
    """
    told = recorded_values.filter(
        pl.col("source") != "worldseq",
        pl.col("attempt_id").is_not_null(),
        pl.col("value_type") != "null",
        pl.col("field") != TAKEN_OVER,
        ~pl.col("field").str.starts_with(OF_A_STEP),
    )
    return (
        told.join(figures(observations, rewards, rules), on=FIGURE, how="left")
        .pipe(compared, rules)
        .with_columns(
            # Nothing recorded where nothing is computed agrees in general, but not for a verdict on a crash.
            agrees=pl.col("agrees") & ~CONTRADICTS,
            reason=pl.when(CONTRADICTS).then(pl.lit("contradicts_status")).otherwise("reason"),
            run_id=pl.lit(None, pl.String),
            rules=pl.lit(rules.id),
        )
        .sort("landed_on", "attempt_id", *PLACE)
        .pipe(to_contract, Reconciliation)
    )


CONTRADICTS = pl.col("field").is_in(["correct", "score"])


def figures(observations: pl.LazyFrame, rewards: pl.LazyFrame, rules: RuleSet) -> pl.LazyFrame:
    """Every figure of a trial that counts: `FIGURE` and `recomputed`; a boolean is 0 or 1."""
    harbor = observations.filter(pl.col("format") == "harbor")
    rewarded = harbor.select(*KEY, "metrics").explode("metrics").filter(pl.col("metrics").is_not_null())
    name, value = pl.col("metrics").struct.field("name"), pl.col("metrics").struct.field("value")
    staged = rewards.filter(pl.col("reward_kind") == rules.staged.kind)
    return pl.concat(
        [
            rewarded.select(*KEY, field=pl.format("reward:{}", name), recomputed=value),
            harbor.select(*KEY, field=pl.lit("reward_valid"), recomputed=reward_valid(rules).cast(pl.Float64)),
            staged.select(
                *KEY,
                field=pl.lit("staged_reward"),
                recomputed=pl.col("reward").round(rules.reconciliation.staged_reward_decimals),
            ),
        ]
    )
