"""Assets of the benchmark metrics: `benchmark_metrics`, `run_totals`."""

import polars as pl

from assets.benchmarks import metrics, totals
from assets.benchmarks.contract import BenchmarkMetrics, RunTotals
from assets.table_asset import Scope, results_asset


@results_asset(BenchmarkMetrics, group="benchmarks", code_version="1", by_day=("observations", "benchmark_runs"))
def benchmark_metrics(
    scope: Scope,
    observations: pl.LazyFrame,
    benchmark_runs: pl.LazyFrame,
    rewards: pl.LazyFrame,
) -> pl.LazyFrame:
    """Every figure of every run, under every policy."""
    return metrics.benchmark_metrics(observations, benchmark_runs, rewards, scope.rules)


@results_asset(RunTotals, group="benchmarks", code_version="1", by_day=("observations", "benchmark_runs"))
def run_totals(
    scope: Scope,
    observations: pl.LazyFrame,
    benchmark_runs: pl.LazyFrame,
    rewards: pl.LazyFrame,
) -> pl.LazyFrame:
    """What every run consisted of, and what became of it."""
    return totals.run_totals(observations, benchmark_runs, rewards, scope.rules)
