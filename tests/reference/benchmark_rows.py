"""A generated benchmark run while it is drawn: rows with their tables' columns, unremarkable until told otherwise."""

import datetime as dt
from random import Random
from typing import Any, NamedTuple

from .benchmark_model import Row
from .hostile import identifier

START = dt.datetime(2026, 11, 29, 1, 2, 3, tzinfo=dt.UTC)
MAX_COUNT = 2**53
SCORES = (0.0, 1.0, 0.25, 0.5, -1.5, 1 / 3, 0.1, 1e-9, 1e12, -0.0)


class Runs(NamedTuple):
    """Rows of the three tables that benchmark metrics are made from."""

    observations: list[Row]
    benchmark_runs: list[Row]
    rewards: list[Row]


class Draft:
    """One run while it is drawn."""

    def __init__(self, rng: Random, source: str, run_id: str, day: dt.date) -> None:
        self.rng, self.day, self.rows = rng, day, Runs([], [], [])
        self.names = {"source": source, "run_id": run_id, "landed_on": day}
        self.uri = f"memory://{source}/{day}/{run_id}"

    def one_in(self, few: int) -> bool:
        return self.rng.randrange(few) == 0

    def observe(self, **columns: Any) -> Row:
        """Add an attempt: found, finished, without a score, unless told otherwise."""
        rng = self.rng
        row = self.names | {
            "attempt_id": f"{self.names['source']}:{self.names['run_id']}/{len(self.rows.observations)}",
            "uri": self.uri,
            "agent_name": None,
            "model_name": None,
            "attempt_index": None,
            "present": True,
            "running": False,
            "category": None,
            "status": "completed",
            "error": False,
            "fatal": False,
            "metrics": [],
            "exceptions": [],
            "reward_recipe": None,
            "pack_reason": None,
            "plan_k": None,
            "plan_strategy": None,
            "n_input_tokens": rng.choice((None, 0, 7, rng.randrange(10**6), 3 * 10**9, MAX_COUNT)),
            "n_cache_tokens": rng.choice((None, None, None, 5)),
            "n_output_tokens": rng.choice((None, rng.randrange(10**4))),
            "cost_usd": rng.choice((None, 0.0, 0.1, rng.random(), 1e-7, 2.5)),
            "started_at": rng.choice((None, START + dt.timedelta(microseconds=rng.randrange(10**9)))),
            "started_at_text": None,
            "finished_at": rng.choice((None, START + dt.timedelta(seconds=rng.randrange(10**6)))),
            "finished_at_text": None,
            **columns,
        }
        if not row["present"]:
            row |= dict.fromkeys(("n_input_tokens", "n_cache_tokens", "n_output_tokens", "cost_usd", "status"))
            row |= dict.fromkeys(("started_at", "finished_at"))
        self.rows.observations.append(row)
        return row

    def describe(self, **columns: Any) -> Row:
        """Add the run's own file: it tells nothing unless told otherwise."""
        row = self.names | {
            "uri": f"{self.uri}/run.json",
            "benchmark": None,
            "registered": None,
            "running": None,
            "duplicates": 0,
            "k": None,
            "strategy": None,
            "aggregation": None,
            "score_key": None,
            "missing_score": None,
            "exclude_missing": None,
            "revision": self.rng.choice((None, "r1", identifier(self.rng))),
            "hierarchy": None,
            "metric_contract": None,
            **columns,
        }
        self.rows.benchmark_runs.append(row)
        return row


def scored(name: str, value: float | bool | None) -> Row:
    return {"name": name, "value": None if value is None else float(value), "boolean": isinstance(value, bool)}


def tasks(rng: Random, most: int) -> list[str]:
    return [f"task-{number}" + rng.choice(("", f" {identifier(rng)}")) for number in range(rng.randint(1, most))]
