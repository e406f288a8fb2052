"""Rows of what runs recorded and what they come to."""

import datetime as dt
from collections.abc import Mapping, Sequence
from typing import Any

import polars as pl

from assets.attempts.contract import RecordedValues
from assets.benchmarks.contract import BenchmarkMetrics, RunTotals
from assets.contract import Contract, schema

DAY = dt.date(2026, 11, 29)

Row = Mapping[str, Any]


def table(contract: type[Contract], rows: Sequence[Row], **common: Any) -> pl.LazyFrame:
    """Rows of a table; what is not given is null."""
    columns = schema(contract)
    made = [{"landed_on": DAY, "rules": "v1", **common, **row} for row in rows]
    return pl.DataFrame([{name: row.get(name) for name in columns} for row in made], schema=columns).lazy()


def recorded(*rows: Row, **common: Any) -> pl.LazyFrame:
    """Rows of `recorded_values`: numbers, unless told otherwise."""
    return table(RecordedValues, rows, **{"value_type": "number", "recorded_in": "s/result.json"} | common)


def metrics(*rows: Row, **common: Any) -> pl.LazyFrame:
    """Overall rows of `benchmark_metrics`."""
    return table(BenchmarkMetrics, rows, **{"scope": "overall", "reducer": "mean", "total": 1} | common)


def totals(*rows: Row, **common: Any) -> pl.LazyFrame:
    """Rows of `run_totals` without tokens and cost."""
    nothing = dict.fromkeys(["n_input_tokens_n", "n_cache_tokens_n", "n_output_tokens_n", "cost_usd_n"], 0)
    return table(RunTotals, rows, **nothing | common)
