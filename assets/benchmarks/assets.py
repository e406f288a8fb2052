"""Assets of the benchmark metrics: `benchmark_metrics`, `run_totals`."""

import dagster as dg
import polars as pl

from assets.benchmarks import metrics, totals
from assets.benchmarks.contract import BenchmarkMetrics, RunTotals
from assets.table_asset import Ledger, per_rule_set, results_asset


@results_asset(BenchmarkMetrics, group="benchmarks", code_version="1", by_day=("observations", "benchmark_runs"))
def benchmark_metrics(
    context: dg.AssetExecutionContext,
    ledger: dg.ResourceParam[Ledger],
    observations: pl.LazyFrame,
    benchmark_runs: pl.LazyFrame,
    rewards: pl.LazyFrame,
) -> pl.LazyFrame:
    """Every figure of every run, under every policy."""
    return per_rule_set(context, ledger, metrics.benchmark_metrics, observations, benchmark_runs, rewards)


@results_asset(RunTotals, group="benchmarks", code_version="1", by_day=("observations", "benchmark_runs"))
def run_totals(
    context: dg.AssetExecutionContext,
    ledger: dg.ResourceParam[Ledger],
    observations: pl.LazyFrame,
    benchmark_runs: pl.LazyFrame,
    rewards: pl.LazyFrame,
) -> pl.LazyFrame:
    """What every run consisted of, and what became of it."""
    return per_rule_set(context, ledger, totals.run_totals, observations, benchmark_runs, rewards)
