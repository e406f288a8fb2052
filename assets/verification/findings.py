"""What one predicate finds, as named expressions, and the one place where evidence becomes an outcome.

Here: the three-valued judgement that every kind shares. Not here: any kind of predicate.
"""

from collections.abc import Mapping
from typing import NamedTuple

import polars as pl

from assets.attempts.evidence import KEY, finite, signless_zero
from assets.contract import schema
from assets.verification.contract import PredicateResults

NOTHING = pl.lit(None, pl.Null)


class Finding(NamedTuple):
    """One kind of predicate: why it does not pass, in order of precedence, and what was observed.

    Each of the first four is a reason or null. `fault`: the contract contradicts itself (inconclusive). `unseen`: there
    is no trajectory to judge (inconclusive). `breach`: known evidence against it (fail). `gap`: missing evidence
    (inconclusive). The observations are columns of `predicate_results`.
    """

    fault: pl.Expr = NOTHING
    unseen: pl.Expr = NOTHING
    breach: pl.Expr = NOTHING
    gap: pl.Expr = NOTHING
    observed: pl.Expr = NOTHING
    limit: pl.Expr = NOTHING
    worst_value: pl.Expr = NOTHING
    worst_day: pl.Expr = NOTHING
    first_breach_day: pl.Expr = NOTHING
    required_days: pl.Expr = NOTHING
    observed_days: pl.Expr = NOTHING
    missing_days: pl.Expr = NOTHING


REASONS = Finding._fields[:4]
OBSERVATIONS = Finding._fields[4:]
PREDICATE = "predicate"
"""Number of a predicate: attempts, and within one its predicates, in the order of the table."""
IDENTITY = (*KEY, PREDICATE, "kind", "predicate_id")


def reasons(*cases: tuple[pl.Expr, str]) -> pl.Expr:
    """The reason of the first case that holds, else null."""
    return pl.coalesce([pl.when(holds).then(pl.lit(reason)) for holds, reason in cases])


def below(value: pl.Expr, limit: pl.Expr, slack: float) -> pl.Expr:
    """Whether a computed double is below its limit, counting |value - limit| <= slack * max(1, |limit|) as equal."""
    equal = limit.is_finite() & (limit - value <= slack * pl.max_horizontal(pl.lit(1.0), limit.abs()))
    return (value < limit) & ~equal


def extremes(low: str, high: str, lower: str, upper: str) -> dict[str, pl.Expr]:
    """Observations of values held against a lower and an upper bound, either of which may be null.

    Observed and worst: the value nearest to, or furthest beyond, a bound, the earlier of equals; the limit is that
    bound. `low` and `high` name the columns of the lowest and the highest value; their first days are in `<name>_day`.
    """
    below, above = pl.col(lower) - pl.col(low), pl.col(high) - pl.col(upper)
    earlier = pl.col(f"{high}_day") < pl.col(f"{low}_day")
    use_high = above.is_not_null() & (below.is_null() | (above > below) | ((above == below) & earlier))

    def choose(of_high: str, of_low: str) -> pl.Expr:
        return pl.when(use_high).then(pl.col(of_high)).when(below.is_not_null()).then(pl.col(of_low))

    return {
        "observed": choose(high, low),
        "limit": choose(upper, lower),
        "worst_value": choose(high, low),
        "worst_day": choose(f"{high}_day", f"{low}_day"),
    }


def by_kind(findings: Mapping[str, Finding]) -> Finding:
    """The finding of each row's own kind, for a frame of several kinds."""

    def choose(field: str) -> pl.Expr:
        return pl.coalesce(
            pl.when(pl.col("kind") == kind).then(getattr(finding, field)) for kind, finding in findings.items()
        )

    return Finding(*(choose(field) for field in Finding._fields))


def judge(predicates: pl.LazyFrame, finding: Finding) -> pl.LazyFrame:
    """Rows of `predicate_results`, with their number, from predicates beside their evidence.

    Known evidence decides first: a breach fails even where other evidence is missing. A contract that contradicts
    itself observes nothing.
    """
    types = schema(PredicateResults)
    fault, unseen, breach, gap = (pl.col(name) for name in REASONS)
    outcome = (
        pl.when(fault.is_not_null() | unseen.is_not_null())
        .then(pl.lit("inconclusive"))
        .when(breach.is_not_null())
        .then(pl.lit("fail"))
        .when(gap.is_not_null())
        .then(pl.lit("inconclusive"))
        .otherwise(pl.lit("pass"))
    )

    def observation(name: str) -> pl.Expr:
        value = finite(signless_zero(pl.col(name))) if types[name].is_float() else pl.col(name)
        return pl.when(fault.is_null()).then(value).alias(name)

    return predicates.select(
        *IDENTITY,
        *(getattr(finding, name).cast(pl.String).alias(name) for name in REASONS),
        *(getattr(finding, name).cast(types[name]).alias(name) for name in OBSERVATIONS),
    ).select(
        *IDENTITY,
        outcome.alias("outcome"),
        pl.coalesce(REASONS).alias("reason"),
        *(observation(name) for name in OBSERVATIONS),
    )
