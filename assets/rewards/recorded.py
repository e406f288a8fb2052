"""Rewards as upstream recorded them: the result itself where the recipe is not recomputed.

Not here: whether they agree with anything (`assets.reconciliation`).
"""

import polars as pl

from assets.attempts.evidence import KEY

FIELDS = ("reward", "staged_reward")


def own_rewards(observations: pl.LazyFrame, recorded_values: pl.LazyFrame) -> pl.LazyFrame:
    """`KEY` and `own_reward`: what the winning document of a trial recorded; of a figure recorded twice the greater."""
    documents = observations.select(*KEY, recorded_in="uri")
    return (
        recorded_values.filter(pl.col("field").is_in(FIELDS))
        .join(documents, on=[*KEY, "recorded_in"])
        .group_by(KEY)
        .agg(own_reward=pl.col("value").max())
    )
