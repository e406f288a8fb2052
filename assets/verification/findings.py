"""What one predicate finds, as named expressions, and the one place where evidence becomes an outcome.

Here: the three-valued judgement that every kind shares. Not here: any kind of predicate.
"""

from collections.abc import Mapping
from typing import NamedTuple

import polars as pl

from assets.contract import schema
from assets.verification.contract import PredicateResults

NOTHING = pl.lit(None, pl.Null)

OBSERVATIONS = (
    "observed",
    "limit",
    "worst_value",
    "worst_day",
    "first_breach_day",
    "required_days",
    "observed_days",
    "missing_days",
)


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


def judged(finding: Finding) -> list[pl.Expr]:
    """`outcome`, `reason` and the observations of a frame's rows, typed as in `predicate_results`.

    Known evidence decides first: a breach fails even where other evidence is missing.
    """
    text = {name: getattr(finding, name).cast(pl.String) for name in ("fault", "unseen", "breach", "gap")}
    undecided = text["fault"].is_not_null() | text["unseen"].is_not_null()
    types = schema(PredicateResults)
    outcome = (
        pl.when(undecided)
        .then(pl.lit("inconclusive"))
        .when(text["breach"].is_not_null())
        .then(pl.lit("fail"))
        .when(text["gap"].is_not_null())
        .then(pl.lit("inconclusive"))
        .otherwise(pl.lit("pass"))
    )
    return [
        outcome.alias("outcome"),
        pl.coalesce(text.values()).alias("reason"),
        *(_observation(getattr(finding, name), types[name]).alias(name) for name in OBSERVATIONS),
    ]


def _observation(value: pl.Expr, dtype: pl.DataType) -> pl.Expr:
    typed = value.cast(dtype)
    return pl.when(typed.is_finite()).then(typed) if dtype.is_float() else typed


def by_kind(findings: Mapping[str, Finding], otherwise: Finding) -> Finding:
    """The finding of each row's own kind, for a frame of several kinds."""
    chosen = {}
    for name in Finding._fields:
        stated = {kind: getattr(finding, name) for kind, finding in findings.items()}
        cases = [
            pl.when(pl.col("kind") == kind).then(expression)
            for kind, expression in stated.items()
            if expression is not NOTHING
        ]
        rest = getattr(otherwise, name)
        if rest is not NOTHING:
            cases.append(pl.when(~pl.col("kind").is_in(list(findings))).then(rest))
        chosen[name] = pl.coalesce(cases) if cases else NOTHING
    return Finding(**chosen)
