"""The grouped Brier loss of categorical answers."""

import polars as pl

from assets.assessments.answers import QUESTION
from assets.assessments.evidence import ordered_sum
from assets.rulesets.loader import RuleSet


def group_brier(answered: pl.LazyFrame, rules: RuleSet) -> pl.LazyFrame:
    """`QUESTION`, `distribution` (true) and `brier` of the answers that are a distribution over exactly the candidates.

    With p the sum of a group's probabilities and y = 1 for the group that holds the truth, else 0: brier_factor times
    the sum of (p - y)^2 over the groups, clipped to [0, 1] against rounding. Groups and the candidates within them add
    up in declared order. Null where the truth is unknown; a malformed answer has no row.
    """
    truth, probability, total = pl.col("truth"), pl.col("probability"), pl.col("total")
    miss = total - pl.col("holds_truth").cast(pl.Float64)
    members = (
        answered.select(
            QUESTION,
            "truth",
            candidate="equivalence_groups",
            keys=pl.col("probabilities").list.len(),
            group=pl.int_ranges(pl.col("equivalence_groups").list.len()),
        )
        .explode("candidate", "group", empty_as_null=False, keep_nulls=False)
        .with_columns(
            holds_truth=pl.when(truth.is_not_null()).then(pl.col("candidate").list.contains(truth)),
            member=pl.int_ranges(pl.col("candidate").list.len()),
        )
        .explode("candidate", "member", empty_as_null=False, keep_nulls=False)
    )
    told = (
        answered.select(QUESTION, "probabilities")
        .explode("probabilities", empty_as_null=False, keep_nulls=False)
        .unnest("probabilities")
    )
    groups = (
        members.join(told, on=[QUESTION, "candidate"], how="left")
        .group_by(QUESTION, "group")
        .agg(
            pl.col("holds_truth", "keys").first(),
            members=pl.len(),
            proper=(probability.is_finite() & probability.is_between(0.0, 1.0)).fill_null(value=False).all(),
            total=ordered_sum("probability", "member"),
        )
        .with_columns(squared=miss * miss)
    )
    tolerance = rules.assessment.probability_sum_tolerance
    return (
        groups.group_by(QUESTION)
        .agg(
            pl.col("keys").first(),
            pl.col("members").sum(),
            pl.col("proper").all(),
            ordered_sum("total", "group"),
            ordered_sum("squared", "group"),
        )
        .filter("proper", pl.col("keys") == pl.col("members"), (total - 1.0).abs() <= tolerance)
        .select(
            QUESTION,
            distribution=pl.lit(value=True),
            brier=(rules.assessment.brier_factor * pl.col("squared")).clip(0.0, 1.0),
        )
    )
