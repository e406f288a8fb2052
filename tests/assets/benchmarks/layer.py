"""Small observations made by hand, and the figures that the kernels make of them."""

import datetime as dt
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import polars as pl

from assets.attempts.contract import BenchmarkRuns, Observations
from assets.benchmarks.contract import BenchmarkMetrics, RunTotals
from assets.benchmarks.metrics import benchmark_metrics
from assets.benchmarks.totals import run_totals
from assets.contract import conform, schema
from assets.rewards.contract import Rewards
from assets.rulesets.loader import RuleSet, load_all

Row = dict[str, Any]

COUNTS = ("total", "evaluated", "error", "unavailable", "invalidated")

V1 = load_all()["v1"]
DAY = dt.date(2026, 11, 29)
COMMON: Row = {
    "landed_on": DAY,
    "uri": "store/a.json",
    "run_id": "run",
    "benchmark": "bench",
    "agent_name": "agent",
    "model_name": "model",
    "task_id": "t",
    "present": True,
    "running": False,
    "status": "completed",
    "error": False,
    "fatal": False,
    "exceptions": [],
}
SOURCE = {
    "harbor": "harbor",
    "terminal-bench": "harbor",
    "agentforge": "agentforge",
    "agentcompass-1": "agentcompass",
    "agentcompass-0": "agentcompass",
}
MISSING: Row = {"present": False}
ERROR: Row = {"error": True, "status": "run_error"}


def scored(**figures: float | bool | None) -> Row:
    """What an attempt scored, by name; a boolean stays one."""
    return {
        "metrics": [
            {
                "name": name,
                "value": None if value is None else float(value),
                "boolean": isinstance(value, bool),
            }
            for name, value in figures.items()
        ]
    }


def observed(format_: str, *rows: Row, **columns: Any) -> list[Row]:
    """Attempts of one format, in order; an attempt has no score unless it is given one."""
    return [{"format": format_, "metrics": [], **columns, **row} for row in rows]


def attempts(
    task_id: str, *outcomes: Row | bool | float | None, format_: str = "agentcompass-1", **columns: Any
) -> list[Row]:
    """The attempts 1, 2, … at a task: a boolean is `correct`, a number a `score`, null a missing one."""
    return observed(
        format_,
        *(
            {"task_id": task_id, "attempt_index": number} | (MISSING if outcome is None else told(outcome))
            for number, outcome in enumerate(outcomes, start=1)
        ),
        **columns,
    )


def told(outcome: Row | bool | float) -> Row:
    """An outcome as columns."""
    if isinstance(outcome, dict):
        return outcome
    return scored(correct=outcome) if isinstance(outcome, bool) else scored(score=outcome)


def run(**columns: Any) -> Row:
    """What a run's own file declares."""
    return {
        "source": "agentcompass",
        "landed_on": DAY,
        "uri": "store/run.json",
        "run_id": "run",
        "duplicates": 0,
        **columns,
    }


def reward(attempt_id: str, value: float | None, kind: str = "agentforge-staged/1") -> Row:
    """The reward of a staged trial."""
    return {
        "attempt_id": attempt_id,
        "rules": "v1",
        "landed_on": DAY,
        "reward_kind": kind,
        "reward": value,
        "verified": int(value is not None),
    }


def frame(rows: Iterable[Row], columns: Mapping[str, pl.DataType]) -> pl.LazyFrame:
    """A table of these rows; columns that a row lacks are null."""
    given = list(rows)
    unknown = {name for row in given for name in row} - set(columns)
    assert not unknown, f"no such columns: {unknown}"
    return pl.DataFrame(
        [{name: row.get(name) for name in columns} for row in given], schema=columns, strict=False
    ).lazy()


def tables(
    observations: Sequence[Row], runs: Sequence[Row] = (), rewards: Sequence[Row] = ()
) -> tuple[pl.LazyFrame, pl.LazyFrame, pl.LazyFrame]:
    """The inputs of the kernels; attempts are named by their position unless they have a name."""
    rows = [
        COMMON | {"source": SOURCE[row["format"]], "attempt_id": f"a{number:04}"} | row
        for number, row in enumerate(observations)
    ]
    return frame(rows, schema(Observations)), frame(runs, schema(BenchmarkRuns)), frame(rewards, schema(Rewards))


def figure(rows: pl.DataFrame, **where: Any) -> Row:
    """The one figure with these columns; overall, unless a scope is named."""
    wanted = {"scope": "overall"} | where
    found = rows.filter(*(pl.col(name).eq_missing(pl.lit(value)) for name, value in wanted.items()))
    assert found.height == 1, f"{found.height} figures with {wanted}"
    return found.row(0, named=True)


def both(rows: pl.DataFrame, **where: Any) -> tuple[float | None, float | None]:
    """The values under `scored_only` and under `strict`, whose counts must be the same."""
    loose, strict = (figure(rows, policy=policy, **where) for policy in ("scored_only", "strict"))
    assert [loose[name] for name in COUNTS] == [strict[name] for name in COUNTS]
    return loose["value"], strict["value"]


def counts(row: Row) -> tuple[int, ...]:
    """Total, evaluated, error, unavailable, invalidated."""
    return tuple(row[name] for name in COUNTS)


def metrics(*inputs: Sequence[Row], rules: RuleSet = V1) -> pl.DataFrame:
    """The table `benchmark_metrics`, proven to fulfil its contract."""
    rows = benchmark_metrics(*tables(*inputs), rules)
    return conform(BenchmarkMetrics, rows.collect(engine="streaming"))


def totals(*inputs: Sequence[Row], rules: RuleSet = V1) -> pl.DataFrame:
    """The table `run_totals`, proven to fulfil its contract."""
    rows = run_totals(*tables(*inputs), rules)
    return conform(RunTotals, rows.collect(engine="streaming"))
