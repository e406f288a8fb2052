"""Predicates on what an attempt used: the gameplay budget, and the reported tokens."""

import polars as pl

from assets.rulesets.loader import RuleSet
from assets.verification.findings import Finding, reasons

USAGE = {
    "used_decisions": "accepted_decisions",
    "used_calls": "player_calls",
    "used_seconds": "elapsed_seconds",
}
"""What an attempt used, to the limit of the gameplay budget that it counts against: the names that a task overrides."""


def gameplay_budget(rules: RuleSet) -> Finding:
    """Accepted decisions, player calls and elapsed seconds are each at most their limit; equal passes.

    A row's own override replaces the rule set's limit. Observed and limit: those of the first one that is passed.
    """
    over = {used: pl.col(used) > limit for used, limit in _limits(rules).items()}
    return Finding(
        breach=reasons((pl.any_horizontal(over.values()), "breach")),
        gap=reasons((pl.any_horizontal(pl.col(used).is_null() for used in USAGE), "usage_missing")),
        observed=pl.coalesce(pl.when(passed).then(pl.col(used).cast(pl.Float64)) for used, passed in over.items()),
        limit=pl.coalesce(pl.when(over[used]).then(limit.cast(pl.Float64)) for used, limit in _limits(rules).items()),
    )


def _limits(rules: RuleSet) -> dict[str, pl.Expr]:
    return {used: pl.col(name).fill_null(getattr(rules.gameplay, name)) for used, name in USAGE.items()}


def token_budget() -> Finding:
    """The reported tokens are at most the budget that the runner registered."""
    reported, limit = pl.col("reported_tokens"), pl.col("token_budget")
    return Finding(
        breach=reasons((reported > limit, "breach")),
        gap=reasons((reported.is_null(), "usage_missing")),
        observed=reported,
        limit=limit,
    )
