"""What the reference of the benchmark tables is made of: groups of attempts, units of a figure, and their arithmetic.

No rule about a format is decided here, and nothing is shared with the tables' own code: the two readings must stay
independent.
"""

import math
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from typing import Any

Row = dict[str, Any]
Scores = Sequence[float | None]

GROUP = ("source", "run_id", "benchmark", "agent_name", "model_name", "landed_on")


@dataclass(frozen=True)
class Rules:
    """The constants of a rule set that benchmarks use, with the defaults of the first one."""

    voiding_exceptions: frozenset[str]
    id: str = "v1"
    pass_k_powers_of: int = 2
    pass_k_multiples_of: int = 5
    pass_threshold: float = 1.0
    staged_kind: str = "agentforge-staged/1"
    recorded_kind: str = "agentforge-recorded"


@dataclass(frozen=True)
class Plan:
    """How many attempts at a task count, and how they were scheduled."""

    k: int
    strategy: str


@dataclass(frozen=True)
class Group:
    """The attempts of one run, benchmark, agent and model.

    `rows` are those that metrics count, in key order; `rewards` is by attempt; `beyond` counts trials that the run
    registered and that left no row, `waiting` those that it says are running or pending; `unseen` tells that such
    trials may be missing here, whether or not they were counted.
    """

    names: Row
    rows: Sequence[Row]
    running: Sequence[Row]
    run: Row
    rewards: Mapping[str, float | None]
    beyond: int = 0
    waiting: int = 0
    unseen: bool = False

    @property
    def format(self) -> str:
        """The format of its rows; a group has one."""
        return next((str(row["format"]) for rows in (self.rows, self.running) for row in rows), "")

    @property
    def tasks(self) -> dict[str, list[Row]]:
        """The rows of each task, in key order."""
        found: dict[str, list[Row]] = {}
        for row in self.rows:
            found.setdefault(row["task_id"], []).append(row)
        return found

    @property
    def plan(self) -> Plan:
        """The run's own plan, else its tasks', else that of the data."""
        return self.plan_of(self.rows)

    def plan_of(self, rows: Sequence[Row]) -> Plan:
        """The plan of some of its attempts, as the run's is."""
        ks = [row["plan_k"] for row in rows if row["plan_k"] is not None]
        strategies = [row["plan_strategy"] for row in rows if row["plan_strategy"] is not None]
        largest = max((row["attempt_index"] or 1 for row in self.rows), default=1)
        return Plan(
            self.run.get("k") or max(ks, default=largest),
            self.run.get("strategy") or min(strategies, default="avg"),
        )

    @property
    def mixed(self) -> bool:
        """Whether its tasks have different plans: then no k is right for all of them."""
        plans = [{row[name] for row in self.rows} - {None} for name in ("plan_k", "plan_strategy")]
        return self.names["source"] == "agentcompass" and any(len(values) > 1 for values in plans)


@dataclass(frozen=True)
class Unit:
    """A task, or for `mean` a trial, under one figure: its value under each policy (None leaves the mean)."""

    values: Mapping[str, float | None]
    evaluated: bool
    error: bool = False
    invalidated: bool = False
    category: tuple[str, ...] = ()


@dataclass(frozen=True)
class Figure:
    """One metric under one reducer.

    `headline` is the policy to quote, None where there is none; `upper_bound` are the policies that would need trials
    that were registered, and that nothing is known of.
    """

    metric: str
    reducer: str
    k: int | None
    units: Sequence[Unit]
    headline: str | None = None
    upper_bound: Collection[str] = ()


def in_order(values: Iterable[float]) -> float:
    """Plain left-to-right double additions, as published: `sum` compensates its rounding from Python 3.12 on."""
    total = 0.0
    for value in values:
        total += value
    return total


def mean(values: Scores) -> float | None:
    """The mean of what there is, None of nothing. It is finite even where the sum is not."""
    known = [value for value in values if value is not None]
    if not known:
        return None
    total = in_order(known)
    return total / len(known) if math.isfinite(total) else float(sum(map(Fraction, known)) / len(known))


@cache
def pass_at_k(attempts: int, successes: int, k: int) -> float | None:
    """1 - C(n - c, k) / C(n, k), exact before it is rounded once; None with fewer attempts than k."""
    if attempts < k:
        return None
    return float(1 - Fraction(math.comb(attempts - successes, k), math.comb(attempts, k)))


def pass_within_k(passed: Scores) -> tuple[float | None, float]:
    """Whether one of k attempts passed, as far as it is known; and strictly: what is not known did not."""
    if any(one == 1 for one in passed):
        return 1.0, 1.0
    return None if None in passed else 0.0, 0.0


def reported_ks(largest: int, rules: Rules, *, first: int = 1, declared: int | None = None) -> list[int]:
    """The powers from `first` on, the multiples and the declared k, up to the largest count of a task."""
    found = set(range(rules.pass_k_multiples_of, largest + 1, rules.pass_k_multiples_of))
    while first <= largest:
        found.add(first)
        first *= rules.pass_k_powers_of
    return sorted(found | {k for k in (declared,) if k is not None and k <= largest})


def recorded_scores(row: Row) -> dict[str, float]:
    """What an attempt scored, by name; a null is no score."""
    return {entry["name"]: entry["value"] for entry in row["metrics"] if entry["value"] is not None}


def failed(row: Row) -> bool:
    """Whether an attempt ended in an error; a skipped one never did."""
    return bool(row["error"]) and row["status"] != "skipped"
