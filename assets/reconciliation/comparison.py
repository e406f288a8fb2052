"""When a recorded figure and a recomputed one agree, and what is said where they do not.

Here: the comparison itself. Not here: which figures are compared (`recorded`, `trials`, `runs`).
"""

import polars as pl

from assets.rulesets.loader import RuleSet

BOOLEAN_FIELDS = "^(eligible|verified|constraint:|objective:|reward_valid|correct)"
UNREADABLE = pl.col("value_type") == "unreadable"
PLACE = ("field", "recorded_in", "recorded", "reason")
"""What figures of one attempt or run are sorted by: a document may record one of them several times."""


def compared(figures: pl.LazyFrame, rules: RuleSet) -> pl.LazyFrame:
    """Rows with `field`, `value`, `value_type` and `recomputed`, with `recorded`, `abs_diff`, `agrees` and `reason`."""
    return (
        figures.rename({"value": "recorded"})
        .with_columns(abs_diff=difference())
        .with_columns(agrees=~UNREADABLE & agreement(rules))
        .with_columns(
            reason=pl.when(UNREADABLE)
            .then(pl.lit("unreadable"))
            .when("agrees")
            .then(None)
            .when(pl.col("recorded").is_null())
            .then(pl.lit("not_recorded"))
            .when(pl.col("recomputed").is_null())
            .then(pl.lit("not_recomputed"))
            .otherwise(pl.lit("differs"))
        )
    )


def difference() -> pl.Expr:
    """|recorded - recomputed|, null where either is null or it overflows."""
    apart = (pl.col("recorded") - pl.col("recomputed")).abs()
    return pl.when(apart.is_finite()).then(apart)


def agreement(rules: RuleSet) -> pl.Expr:
    """Equal booleans agree, numbers where |recorded - recomputed| <= tolerance * max(1, |recomputed|), null with null.

    An attempt that is not verified has no eligibility: recorded false agrees with that as well. Staged rewards are
    rounded, and agree where they are equal.
    """
    recorded, recomputed, field = pl.col("recorded"), pl.col("recomputed"), pl.col("field")
    tolerance = (
        pl.when(field.str.contains(BOOLEAN_FIELDS) | (field == "staged_reward"))
        .then(0.0)
        .otherwise(rules.reconciliation.relative_tolerance * pl.max_horizontal(pl.lit(1.0), recomputed.abs()))
    )
    unverified = (field == "eligible") & recomputed.is_null() & (recorded == 0)
    return (
        (pl.col("abs_diff") <= tolerance).fill_null(value=False)
        | (recorded.is_null() & recomputed.is_null())
        | unverified.fill_null(value=False)
    )
