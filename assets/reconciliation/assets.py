"""Asset of the reconciliation: `reconciliation`."""

import dagster as dg
import polars as pl

from assets.reconciliation import recorded, runs, trials
from assets.reconciliation.contract import Reconciliation
from assets.table_asset import Ledger, per_rule_set, results_asset


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
