"""`verifications` of benchmark attempts: the class of each trial, and why it is not eligible.

They carry no evidence that predicates could judge: eligible is what ran and was scored. Not here: worldseq attempts
(`assets.verification.verdicts`).
"""

import polars as pl

from assets.attempts.evidence import KEY, ROW, in_order
from assets.contract import schema, to_contract
from assets.rewards.harbor import reward_valid, voiding_type
from assets.rewards.recorded import own_rewards
from assets.rewards.staged import staged_rewards
from assets.rulesets.loader import RuleSet
from assets.verification.contract import Verifications
from assets.verification.verdicts import classed

OBSERVED = ("format", "reward_recipe", "metrics", "exceptions", "fatal")
ELIGIBLE = classed(pl.lit("eligible"), pl.lit(None, pl.String))


def verifications(
    attempts: pl.LazyFrame,
    observations: pl.LazyFrame,
    stage_values: pl.LazyFrame,
    recorded_values: pl.LazyFrame,
    rules: RuleSet,
) -> pl.LazyFrame:
    """One row per attempt of every source but worldseq, as `Verifications` declares it."""
    verified = pl.col("class") == "eligible"
    return (
        in_order(attempts.filter(pl.col("source") != "worldseq").select(*KEY, "outcome", "failure_kind"))
        .join(observations.select(*KEY, *OBSERVED), on=KEY, how="left")
        .join(staged_rewards(observations, stage_values, rules), on=KEY, how="left")
        .join(own_rewards(observations, recorded_values), on=KEY, how="left")
        .with_columns(class_and_reason(rules).struct.unnest())
        .with_columns(
            **{name: pl.lit(None, schema(Verifications)[name]) for name in UNKNOWN},
            failed_predicates=pl.lit([], pl.List(pl.String)),
            inconclusive_predicates=pl.lit([], pl.List(pl.String)),
            verified=verified,
            eligible=pl.when(verified).then(verified),
            basis=pl.lit("recorded"),
            rules=pl.lit(rules.id),
        )
        .sort(ROW)
        .pipe(to_contract, Verifications)
    )


UNKNOWN = ("primary_metric", "primary_value", "primary_unit", "net_assets_closing_cents")
"""What only a worldseq attempt has."""


def class_and_reason(rules: RuleSet) -> pl.Expr:
    """Struct of `class` and `reason`, by the format of the document."""
    format_ = pl.col("format")
    return (
        pl.when(format_ == "agentforge")
        .then(_rewarded())
        .when(format_ == "harbor")
        .then(_harbor(rules))
        .otherwise(_scored())
    )


def _rewarded() -> pl.Expr:
    """An AgentForge trial: eligible with a sound staged reward, or with a recorded one of another recipe."""
    staged = pl.col("reward_recipe") == "staged"
    reward = pl.when(staged).then("staged_reward").otherwise("own_reward")
    return (
        pl.when(pl.col("outcome") != "completed")
        .then(_failed())
        .when(reward.is_not_null())
        .then(ELIGIBLE)
        .otherwise(_inconclusive(pl.coalesce("staged_reason", pl.lit("no_reward"))))
    )


def _harbor(rules: RuleSet) -> pl.Expr:
    """A Harbor trial: eligible with a valid reward, whatever ended it; else by the exception that took the reward."""
    voided_by, raised = voiding_type(rules), pl.col("exceptions").list.first().struct.field("type")
    return (
        pl.when(reward_valid(rules))
        .then(ELIGIBLE)
        .when(voided_by.is_not_null())
        .then(classed(pl.lit("infrastructure_failure"), voided_by))
        .when(raised.is_not_null())
        .then(classed(pl.lit("agent_failure"), raised))
        .otherwise(_inconclusive(pl.lit("no_reward")))
    )


def _scored() -> pl.Expr:
    """Any other attempt: eligible with a score, also beside an error, unless a fatal issue invalidates it."""
    scored = pl.col("metrics").list.eval(pl.element().struct.field("value").is_not_null()).list.any()
    return (
        pl.when(scored & ~pl.col("fatal"))
        .then(ELIGIBLE)
        .when(pl.col("outcome") != "completed")
        .then(_failed())
        .otherwise(_inconclusive(pl.lit("no_score")))
    )


def _failed() -> pl.Expr:
    return classed(pl.col("outcome"), pl.coalesce("failure_kind", "outcome"))


def _inconclusive(reason: pl.Expr) -> pl.Expr:
    return classed(pl.lit("inconclusive"), reason)
