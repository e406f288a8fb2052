"""Predicates on what an attempt used: the gameplay budget, and the reported tokens."""

import polars as pl

from assets.rulesets.loader import RuleSet
from assets.verification.findings import Finding, reasons

USED = {"accepted_decisions": "used_decisions", "player_calls": "used_calls", "elapsed_seconds": "used_seconds"}
"""Limit of the gameplay budget, as a task may override it, to the column of the attempt's own usage."""


def gameplay_budget(rules: RuleSet) -> Finding:
    """Accepted decisions, player calls and elapsed seconds are each at most their limit; equal passes.

    A row's own override replaces the rule set's limit. Observed and limit: those of the first one that is passed.
    """
    limits = {name: pl.col(name).fill_null(getattr(rules.gameplay, name)) for name in USED}
    passed = {name: pl.col(used) > limits[name] for name, used in USED.items()}
    return Finding(
        breach=reasons(*((over, "breach") for over in passed.values())),
        gap=reasons((pl.any_horizontal(pl.col(used).is_null() for used in USED.values()), "usage_missing")),
        observed=pl.coalesce(
            pl.when(over).then(pl.col(USED[name]).cast(pl.Float64)) for name, over in passed.items()
        ),
        limit=pl.coalesce(pl.when(over).then(limits[name].cast(pl.Float64)) for name, over in passed.items()),
    )


def token_budget() -> Finding:
    """The reported tokens are at most the budget that the runner registered."""
    reported, limit = pl.col("reported_tokens"), pl.col("token_budget")
    return Finding(
        breach=reasons((reported > limit, "breach")),
        gap=reasons((reported.is_null(), "usage_missing")),
        observed=reported,
        limit=limit,
    )
