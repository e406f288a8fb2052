"""The staged reward: a weighted sum over a pack's hidden stages, and what each stage contributed to it.

Here: the sum in its fixed order, the rounding, and why a trial has no staged reward. Not here: which version of a pack
gave the weights (they stand in `stage_values`), and rewards that are taken as recorded (`assets.rewards.recorded`).
"""

import polars as pl

from assets.attempts.evidence import KEY, ROW, in_order, signless_zero
from assets.contract import to_contract
from assets.rewards.contract import StageScores
from assets.rulesets.loader import RuleSet

HALF = 0.5
WEIGHT, VALUE, HIDDEN = pl.col("weight"), pl.col("value"), pl.col("hidden")


def staged_rewards(observations: pl.LazyFrame, stage_values: pl.LazyFrame, rules: RuleSet) -> pl.LazyFrame:
    """`KEY`, `staged_reward` and `staged_reason` of every staged trial, however it ended: one of the two is null.

    The reason is `pack_missing`, `pack_invalid` (hidden weights that are negative or do not make 1) or
    `stage_out_of_range` (a hidden stage's value outside [0, 1]).
    """
    staged = in_order(observations.filter(pl.col("reward_recipe") == "staged").select(*KEY, "pack_reason"))
    sums = stage_values.filter(HIDDEN).join(staged.select(*KEY, ROW), on=KEY).pipe(hidden_sums)
    whole = (pl.col("weights") - 1.0).abs() <= rules.staged.weight_sum_tolerance
    reason = pl.coalesce(
        "pack_reason",
        pl.when(~(whole & pl.col("weights_sound")).fill_null(value=False)).then(pl.lit("pack_invalid")),
        pl.when(~pl.col("in_range")).then(pl.lit("stage_out_of_range")),
    )
    return (
        staged.join(sums, on=ROW, how="left")
        .with_columns(staged_reason=reason)
        .select(
            *KEY,
            "staged_reason",
            staged_reward=pl.when(pl.col("staged_reason").is_null()).then(
                rounded(pl.col("total"), rules.staged.decimals)
            ),
        )
    )


def hidden_sums(hidden: pl.LazyFrame) -> pl.LazyFrame:
    """Per `ROW`: `weights` and `total`, plain sums in declared order, and whether the summands may stand in them.

    A running sum adds one term after another; a grouped or parallel sum has other bits, and they decide a rounding.
    """
    return (
        hidden.sort(ROW, "position")
        .group_by(ROW)
        .agg(
            weights=WEIGHT.cum_sum().last(),
            total=contribution().cum_sum().last(),
            weights_sound=(WEIGHT.is_finite() & (WEIGHT >= 0)).all(),
            in_range=in_range().all(),
        )
    )


def contribution() -> pl.Expr:
    """What a hidden stage adds to the sum; a stage without a value counts 0."""
    return WEIGHT * VALUE.fill_null(0.0)


def in_range() -> pl.Expr:
    """Whether a stage's value, if it has one, is within [0, 1]."""
    return VALUE.is_between(0.0, 1.0).fill_null(value=True)


def rounded(value: pl.Expr, decimals: int) -> pl.Expr:
    """The value clamped to [0, 1] and rounded half up, as `Math.round` does.

    `floor(y + 0.5)` is another function: below a half the addition itself rounds up. Half to even differs as well.
    """
    scale = 10.0**decimals
    share = value.clip(0.0, 1.0) * scale
    floor = share.floor()
    steps = floor + (share - floor >= HALF).cast(pl.Float64)
    # Polars divides a column by a constant as it multiplies by its reciprocal, which has other bits: 1 in 3 differs.
    return steps / (steps * 0.0 + scale)


def stage_scores(stage_values: pl.LazyFrame, rules: RuleSet) -> pl.LazyFrame:
    """One row per stage of a staged trial, as `StageScores` declares it."""
    reason = (
        pl.when(~HIDDEN)
        .then(pl.lit("not_hidden"))
        .when(~in_range())
        .then(pl.lit("stage_out_of_range"))
        .when(VALUE.is_null())
        .then(pl.lit("no_value"))
    )
    return (
        stage_values.with_columns(
            contribution=pl.when(HIDDEN & in_range()).then(signless_zero(contribution())),
            reason=reason,
            rules=pl.lit(rules.id),
        )
        .sort("landed_on", "attempt_id", "position")
        .pipe(to_contract, StageScores)
    )
