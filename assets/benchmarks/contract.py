"""Tables of the benchmark metrics: figures of a run with their denominators, and what the run consisted of."""

import datetime as dt
from typing import Annotated

import pandera.polars as pa
import polars as pl
from pandera.api.polars.types import PolarsData

from assets.contract import Contract, column
from assets.vocabulary import AGGREGATIONS, POLICIES, REDUCERS, SCOPES, SOURCES

Utc = Annotated[pl.Datetime, "us", "UTC"]
Strings = Annotated[pl.List, pl.String]

GROUP = ("source", "run_id", "benchmark", "agent_name", "model_name")
"""What a figure is of, beside its landing day: a null name is a name of its own."""
LANDED_TOGETHER = ("source", "run_id", "CASE source WHEN 'harbor' THEN '' ELSE benchmark END")
"""What a later day replaces: a Harbor job as a whole, whatever its groups were; of other runs each benchmark."""


class BenchmarkMetrics(Contract):
    """One row per figure of a run: metric, reducer, k and policy, overall or of a category or hierarchy node.

    A policy says what a missing score counts as: nothing (`strict`: incorrect, or 0), or not at all (`scored_only`). An
    invalidated task has no score. The counts describe the evidence and are the same under every policy: of tasks, for
    reducer `mean` of trials.

    Key: (source, run_id, benchmark, agent_name, model_name, metric, reducer, k, policy, scope, category, rules,
    landed_on).
    """

    source: str = column("Kind of artifact", isin=list(SOURCES))
    run_id: str = column("Run or job")
    benchmark: str = column("Benchmark, dataset or pack")
    agent_name: str = column("Agent or harness", nullable=True)
    model_name: str = column("Model", nullable=True)
    metric: str = column("Metric")
    reducer: str = column("How a task's attempts become one value", isin=list(REDUCERS))
    k: int = column("Attempts that the reducer takes; null for `mean`", nullable=True, ge=1)
    policy: str = column("What a missing score counts as", isin=list(POLICIES))
    aggregation: str = column("How task values become one", isin=list(AGGREGATIONS))
    scope: str = column("What the figure is of", isin=list(SCOPES))
    category: str = column("Category or node, its path joined with `/`; null overall", nullable=True)
    value: float = column("The figure; null where nothing was evaluated, or it is withheld", nullable=True)
    reference_value: float = column("The figure as it would be, where an invalidated task withholds it", nullable=True)
    headline: bool = column("The figure to quote: overall, of a primary metric, under the policy that the run declares")
    total: int = column("Registered tasks (trials for `mean`)", ge=0)
    evaluated: int = column("Of these with an official score", ge=0)
    error: int = column("Of these with an execution or evaluation error, or fewer attempts than k", ge=0)
    unavailable: int = column("Of these without an official score", ge=0)
    invalidated: int = column("Of these invalidated by a fatal issue", ge=0)
    reason: str = column(
        "Why there is no value: nothing_evaluated, invalidated, …; upper_bound: missing trials are in no figure of it",
        nullable=True,
    )
    rules: str = column("Rule set")
    landed_on: dt.date = column("Partition day")

    @pa.dataframe_check(description="evaluated + unavailable + invalidated = total, and no error beyond it")
    def counts_add_up(cls, data: PolarsData) -> pl.LazyFrame:  # noqa: N805 - pandera passes the class
        """Whether nothing left the denominator, or entered it twice."""
        parts = pl.sum_horizontal("evaluated", "unavailable", "invalidated")
        return data.lazyframe.select((parts == pl.col("total")) & (pl.col("error") <= pl.col("total")))

    class Config(Contract.Config):
        name = "benchmark_metrics"
        unique = [*GROUP, "metric", "reducer", "k", "policy", "scope", "category", "rules", "landed_on"]
        metadata = {"partition_by": ("landed_on", "rules"), "latest_by": LANDED_TOGETHER}


class RunTotals(Contract):
    """One row per run, benchmark, agent and model: how many attempts there should be, and what became of them.

    Each sum stands beside the number of attempts that it is over. Key: (source, run_id, benchmark, agent_name,
    model_name, rules, landed_on).
    """

    source: str = column("Kind of artifact", isin=list(SOURCES))
    run_id: str = column("Run or job")
    benchmark: str = column(
        "Benchmark, dataset or pack; null for trials that only the job's own file knows", nullable=True
    )
    agent_name: str = column("Agent or harness", nullable=True)
    model_name: str = column("Model", nullable=True)
    registered: int = column("Attempts that should be there", ge=0)
    present: int = column("Of these found", ge=0)
    valid: int = column("Of these with a valid score", ge=0)
    errors: int = column("Of these with an exception or error; may overlap with `valid`", ge=0)
    missing: int = column("Registered, and nothing was found", ge=0)
    running: int = column("Not finished yet", ge=0)
    n_input_tokens: int = column("Input tokens; null where none told or the sum is beyond 64 bits", nullable=True)
    n_input_tokens_n: int = column("Attempts that told their input tokens", ge=0)
    n_cache_tokens: int = column("Cached input tokens", nullable=True)
    n_cache_tokens_n: int = column("Attempts that told their cached tokens", ge=0)
    n_output_tokens: int = column("Output tokens", nullable=True)
    n_output_tokens_n: int = column("Attempts that told their output tokens", ge=0)
    cost_usd: float = column("Cost, US dollars", nullable=True)
    cost_usd_n: int = column("Attempts that told their cost", ge=0)
    first_start: Utc = column("Earliest start with an offset", nullable=True)
    last_finish: Utc = column("Latest end with an offset", nullable=True)
    revisions: Strings = column("Revisions as recorded, in order")
    reason: str = column("Why the run has no metrics: mixed_attempt_plans, strategy_not_supported", nullable=True)
    rules: str = column("Rule set")
    landed_on: dt.date = column("Partition day")

    class Config(Contract.Config):
        name = "run_totals"
        unique = [*GROUP, "rules", "landed_on"]
        metadata = {"partition_by": ("landed_on", "rules"), "latest_by": LANDED_TOGETHER}
