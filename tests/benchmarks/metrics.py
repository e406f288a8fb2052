"""Benchmark metrics: the kernel against the framework's own report of the same run, else the plain reference."""

import datetime as dt
import json
import random
import tempfile
from pathlib import Path
from typing import Any

import polars as pl

from assets.attempts.contract import BenchmarkRuns, Observations
from assets.benchmarks.metrics import benchmark_metrics
from assets.contract import schema
from assets.rewards.contract import Rewards
from assets.rulesets.loader import load_all
from tests.benchmarks.peers import Peer, measured
from tests.benchmarks.ratios import Ratio, best
from tests.reference import benchmarks
from tests.reference.benchmark_model import Rules
from tests.reference.benchmark_rows import Draft, Runs, scored

TASKS, K = 10_000, 4
CATEGORIES = 20
DAY = dt.date(2026, 11, 29)


def drawn() -> tuple[Runs, list[dict[str, Any]]]:
    """One run as rows, and its tasks as the framework takes them: one attempt in twenty has failed."""
    rng = random.Random(1)
    run, details = Draft(rng, "agentcompass", "run", DAY), []
    run.describe(benchmark="bench", k=K, strategy="avg", aggregation="category_mean")
    plan = {"plan_k": K, "plan_strategy": "avg"}
    for number in range(TASKS):
        task, category, attempts = f"task-{number:05}", f"category-{number % CATEGORIES}", {}
        for index in range(1, K + 1):
            failed, correct = rng.random() < 0.05, rng.random() < 0.6
            status = "run_error" if failed else "completed"
            issue = {"severity": "error", "phase": "run", "code": "agent_timeout", "message": "timeout"}
            attempts[str(index)] = {
                "status": status,
                "metrics": {} if failed else {"correct": correct},
                "issues": [issue] if failed else [],
            }
            names = {"format": "agentcompass-1", "benchmark": "bench", "task_id": task, "category": [category]}
            metrics = [] if failed else [scored("correct", correct)]
            run.observe(**names, **plan, attempt_index=index, status=status, error=failed, metrics=metrics)
        settled = {"category": category, "attempt_plan": {"k": K, "strategy": "avg"}}
        details.append({"task_id": task, "attempts": attempts, **settled})
    return run.rows, details


def main() -> list[Ratio]:
    """(f) All figures of 10,000 tasks with 4 attempts each, both from records in memory."""
    rules = load_all()["v1"]
    rows, details = drawn()
    observed, described, worth = (
        pl.DataFrame(part, schema=schema(contract), orient="row").lazy()
        for contract, part in zip((Observations, BenchmarkRuns, Rewards), rows, strict=True)
    )
    with tempfile.TemporaryDirectory() as name:
        asked = {"details": details, "k": K, "strategy": "avg", "aggregation_mode": "category_mean"}
        (Path(name) / "run.json").write_text(json.dumps(asked), encoding="utf-8")
        peer = measured("agentcompass", Path(name))
    if peer is None:
        constants = Rules(frozenset(rules.harbor.voiding_exceptions))
        peer = Peer("plain Python", best(lambda: benchmarks.benchmark_metrics(*rows, constants), 1))
    kernel = best(lambda: benchmark_metrics(observed, described, worth, rules).collect())
    return [
        Ratio(
            f"(f) benchmark metrics, 10,000 tasks of 4 attempts, runs/s ÷ {peer.name}",
            peer.seconds / kernel,
            "≥ 20",
            f"{kernel * 1e3:,.0f} ms against {peer.seconds * 1e3:,.0f} ms",
        )
    ]
