"""Assets of the reconciliation: `reconciliation` and `rule_changes`."""

import datetime as dt

import dagster as dg
import polars as pl

from assets.contract import empty
from assets.landing.land import TableStore
from assets.reconciliation import recorded, runs, trials
from assets.reconciliation import rule_changes as changes
from assets.reconciliation.contract import Reconciliation, RuleChanges
from assets.reconciliation.rule_changes import Outcomes
from assets.rewards.contract import Rewards
from assets.table_asset import Scope, results_asset
from assets.verification.contract import PredicateResults, Verifications


def compared(rows: pl.DataFrame) -> dict[str, int]:
    """How many figures were compared, and how many of them differ."""
    return {"compared": rows.height, "disagreements": int((~rows["agrees"]).sum())}


@results_asset(
    Reconciliation,
    figures=compared,
    group="reconciliation",
    code_version="2",
    by_day=("attempts", "recorded_values", "observations"),
)
def reconciliation(
    scope: Scope,
    attempts: pl.LazyFrame,
    recorded_values: pl.LazyFrame,
    observations: pl.LazyFrame,
    predicate_results: pl.LazyFrame,
    verifications: pl.LazyFrame,
    assessment_scores: pl.LazyFrame,
    rewards: pl.LazyFrame,
    benchmark_metrics: pl.LazyFrame,
    run_totals: pl.LazyFrame,
) -> pl.LazyFrame:
    """Every recorded figure against the recomputed one: of worldseq attempts, of trials, and of whole runs."""
    computed, rules = (predicate_results, verifications, assessment_scores, rewards), scope.rules
    return pl.concat(
        [
            recorded.reconciliation(attempts, recorded_values, *computed, rules),
            trials.reconciliation(recorded_values, observations, rewards, rules),
            runs.reconciliation(recorded_values, benchmark_metrics, run_totals, rules),
        ]
    )


@results_asset(RuleChanges, group="reconciliation", code_version="1", by_day=(), by_predecessor=True)
def rule_changes(
    scope: Scope,
    tables: dg.ResourceParam[TableStore],
    verifications: pl.LazyFrame,
    rewards: pl.LazyFrame,
    predicate_results: pl.LazyFrame,
) -> pl.LazyFrame:
    """The attempts that come out otherwise than under the predecessor, on the days that it was computed for."""
    days = computed_days(tables, scope)
    if not days:
        return empty(RuleChanges).lazy()
    mine = pl.col("landed_on").is_in(days)
    after = Outcomes(*(frame.filter(mine) for frame in (verifications, rewards, predicate_results)))
    keys = [{"landed_on": day, "rules": scope.rules.predecessor} for day in days]
    before = Outcomes(*(tables.scan(contract, keys) for contract in (Verifications, Rewards, PredicateResults)))
    return changes.rule_changes(before, after, scope.rules)


def computed_days(tables: TableStore, scope: Scope) -> list[dt.date]:
    """The days of the scope that have results under the predecessor of its rule set."""
    held = tables.provenance(Verifications)
    return [day for day in scope.days if (day.isoformat(), scope.rules.predecessor) in held]
