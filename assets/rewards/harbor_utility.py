"""`rewards` of worldseq attempts: the Harbor utility, a transform of the primary value that keeps a task's order."""

import polars as pl

from assets.attempts.evidence import KEY, ROW, in_order
from assets.contract import to_contract
from assets.rewards.contract import Rewards
from assets.rulesets.loader import RuleSet
from assets.verification.primary import transform_scale
from assets.vocabulary import SHAPES


def rewards(
    attempts: pl.LazyFrame, verifications: pl.LazyFrame, recorded_values: pl.LazyFrame, rules: RuleSet
) -> pl.LazyFrame:
    """One row per worldseq attempt, as `Rewards` declares it.

    An evaluation summary is not finalized by design: it has no reward.
    """
    documents = in_order(attempts.filter(pl.col("source") == "worldseq").select(*KEY, "shape", "uri"))
    summary, decided = pl.col("shape") == "summary", pl.col("class").is_in(["eligible", "ineligible"])
    return (
        documents.join(verifications, on=KEY)
        .join(recorded_rewards(documents, recorded_values), on=KEY, how="left")
        .with_columns(reward=pl.when(~summary).then(utility(rules)))
        .with_columns(
            reason=pl.when(summary & decided)
            .then(pl.lit("not_finalized"))
            .when((pl.col("class") == "eligible") & pl.col("reward").is_null())
            .then(pl.lit("primary_value_unavailable"))
            .otherwise("reason"),
            eligible=pl.col("eligible").cast(pl.Int64),
            verified=pl.col("verified").cast(pl.Int64),
            reward_kind=pl.lit(rules.reward.kind),
            reward_transform_version=pl.when(pl.col("reward").is_not_null()).then(
                pl.lit(rules.reward.transform_version, pl.Int64)
            ),
            rules=pl.lit(rules.id),
        )
        .sort(ROW)
        .pipe(to_contract, Rewards)
    )


def utility(rules: RuleSet) -> pl.Expr:
    """Center + spread * x / (scale + |x|) of an eligible primary value x; a constant where ineligible; else null."""
    value, class_ = pl.col("primary_value"), pl.col("class")
    transformed = rules.reward.center + rules.reward.spread * value / (transform_scale(rules) + value.abs())
    return pl.when(class_ == "eligible").then(transformed).when(class_ == "ineligible").then(rules.reward.ineligible)


def recorded_rewards(documents: pl.LazyFrame, recorded_values: pl.LazyFrame) -> pl.LazyFrame:
    """`KEY` and `recorded_reward`: the winning document's own, else that of the next by precedence of shape and uri."""
    own = pl.col("recorded_in") == pl.col("uri")
    precedence = pl.col("shape").replace_strict({name: rank for rank, name in enumerate(SHAPES)}, default=len(SHAPES))
    return (
        recorded_values.filter(pl.col("field") == "reward", pl.col("value").is_not_null())
        .join(documents.select(*KEY, "uri"), on=KEY)
        .sort(~own, precedence, "recorded_in", descending=[False, False, True])
        .group_by(KEY)
        .agg(recorded_reward=pl.col("value").first())
    )
