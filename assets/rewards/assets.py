"""Asset of the rewards: `rewards`."""

from collections.abc import Mapping

import dagster as dg
import polars as pl

from assets.rewards import harbor_utility
from assets.rewards.contract import Rewards
from assets.rulesets.loader import RuleSet
from assets.table_asset import per_rule_set, results_asset


@results_asset(Rewards, group="rewards", code_version="1", by_day=("attempts", "recorded_values"))
def rewards(
    context: dg.AssetExecutionContext,
    rule_sets: dg.ResourceParam[Mapping[str, RuleSet]],
    attempts: pl.LazyFrame,
    verifications: pl.LazyFrame,
    recorded_values: pl.LazyFrame,
) -> pl.LazyFrame:
    """What every attempt's outcome is worth."""
    return per_rule_set(context, rule_sets, harbor_utility.rewards, attempts, verifications, recorded_values)
