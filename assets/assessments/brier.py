"""The grouped Brier loss of categorical answers."""

import polars as pl

from assets.assessments.answers import QUESTION, same_set
from assets.attempts.evidence import ordered_sums
from assets.rulesets.loader import RuleSet


def is_distribution(rules: RuleSet) -> pl.Expr:
    """Whether `probabilities` gives each of `candidates`, and nothing else, a number in [0, 1], with a sum of 1."""
    probabilities, candidates = pl.col("probabilities"), pl.col("candidates")
    names = probabilities.list.eval(pl.element().struct.field("candidate"))
    numbers = probabilities.list.eval(pl.element().struct.field("probability"))
    proper = numbers.list.eval(pl.element().is_between(0.0, 1.0).fill_null(value=False)).list.all()
    whole = (numbers.list.sum() - 1.0).abs() <= rules.assessment.probability_sum_tolerance
    return ((names.list.len() == candidates.list.len()) & same_set(names, candidates) & proper & whole).fill_null(
        value=False
    )


def group_brier(answered: pl.LazyFrame, rules: RuleSet) -> pl.LazyFrame:
    """`QUESTION` and `brier` of the categorical answers whose truth is known; meaningless unless a distribution.

    With p the sum of a group's probabilities and y = 1 for the group that holds the truth, else 0: brier_factor times
    the sum of (p - y)^2 over the groups, clipped to [0, 1] against rounding. Groups and the candidates within them add
    up in declared order.
    """
    dropped = {"empty_as_null": False, "keep_nulls": False}
    # Chosen, not filtered: a filter would be pushed into what `answered` shares with its other readers, and end that.
    groups = pl.when(pl.col("kind") == "categorical").then("equivalence_groups")
    members = (
        answered.select(QUESTION, "truth", candidate=groups, group=pl.int_ranges(groups.list.len()))
        .explode("candidate", "group", **dropped)
        .with_columns(
            hit=pl.col("candidate").list.contains(pl.col("truth")).cast(pl.Float64),
            member=pl.int_ranges(pl.col("candidate").list.len()),
        )
        .filter(pl.col("truth").is_not_null())
        .explode("candidate", "member", **dropped)
    )
    told = answered.select(QUESTION, "probabilities").explode("probabilities", **dropped).unnest("probabilities")
    terms = members.join(told, on=[QUESTION, "candidate"])
    miss = pl.col("probability") - pl.col("hit")
    return (
        ordered_sums(terms, "probability", by=[QUESTION, "group", "hit"], order="member")
        .select(QUESTION, "group", loss=miss * miss)
        .pipe(ordered_sums, "loss", by=[QUESTION], order="group")
        .select(QUESTION, brier=(rules.assessment.brier_factor * pl.col("loss")).clip(0.0, 1.0))
    )
