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
from assets.table_asset import Ledger, Scope, only, per_rule_set, results_asset
from assets.verification.contract import PredicateResults, Verifications


@results_asset(
    Reconciliation, group="reconciliation", code_version="2", by_day=("attempts", "recorded_values", "observations")
)
def reconciliation(
    context: dg.AssetExecutionContext,
    ledger: dg.ResourceParam[Ledger],
    attempts: pl.LazyFrame,
    recorded_values: pl.LazyFrame,
    observations: pl.LazyFrame,
    predicate_results: pl.LazyFrame,
    verifications: pl.LazyFrame,
    assessment_scores: pl.LazyFrame,
    rewards: pl.LazyFrame,
    benchmark_metrics: pl.LazyFrame,
    run_totals: pl.LazyFrame,
) -> pl.DataFrame:
    """Every recorded figure against the recomputed one: of worldseq attempts, of trials, and of whole runs."""
    computed = (predicate_results, verifications, assessment_scores, rewards)
    rows = pl.concat(
        [
            per_rule_set(context, ledger, recorded.reconciliation, attempts, recorded_values, *computed),
            per_rule_set(context, ledger, trials.reconciliation, recorded_values, observations, rewards),
            per_rule_set(context, ledger, runs.reconciliation, recorded_values, benchmark_metrics, run_totals),
        ]
    ).collect(engine="streaming")
    context.add_output_metadata({"compared": rows.height, "disagreements": int((~rows["agrees"]).sum())})
    return rows


@results_asset(RuleChanges, group="reconciliation", code_version="1", by_day=(), by_predecessor=True)
def rule_changes(
    context: dg.AssetExecutionContext,
    ledger: dg.ResourceParam[Ledger],
    tables: dg.ResourceParam[TableStore],
    verifications: pl.LazyFrame,
    rewards: pl.LazyFrame,
    predicate_results: pl.LazyFrame,
) -> pl.DataFrame:
    """The attempts that come out otherwise than under the predecessor, on the days that it was computed for."""
    rows = [empty(RuleChanges)]
    not_compared = 0
    for scope in ledger.scopes(context):
        days = computed_days(tables, scope)
        not_compared += len(scope.days) - len(days) if scope.rules.predecessor else 0
        if days:
            within = scope._replace(days=days)
            after = Outcomes(*(only(frame, within) for frame in (verifications, rewards, predicate_results)))
            keys = [{"landed_on": day, "rules": scope.rules.predecessor} for day in days]
            before = Outcomes(*(tables.scan(contract, keys) for contract in (Verifications, Rewards, PredicateResults)))
            rows.append(changes.rule_changes(before, after, scope.rules).collect(engine="streaming"))
    context.add_output_metadata({"days_not_compared": not_compared})
    return pl.concat(rows)


def computed_days(tables: TableStore, scope: Scope) -> list[dt.date]:
    """The days of the scope that have results under the predecessor of its rule set."""
    held = tables.provenance(Verifications)
    return [day for day in scope.days if (day.isoformat(), scope.rules.predecessor) in held]
