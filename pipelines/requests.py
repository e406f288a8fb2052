"""What a sensor asks for: runs of partitions whose state is not what it should be, without asking twice for one thing.

Here: the decision, from the states and the runs that were asked for before, and reading those runs. Not here: what is
out of date (`late`, `assets.campaigns.current`). A run key would ask once for ever: for a state that comes back, or
whose run failed, it would never ask again.
"""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import dagster as dg

from pipelines.jobs import PARTITION

STATE = "scorehouse/state"
"""Run tag: the state that a run was asked for."""
MOST_RUNS = 3
"""So often one state is asked for; whoever mends what made the runs fail starts the next one."""


class Asked(NamedTuple):
    """A run of a partition, newest first among others: whether it has ended, and the state that it was asked for."""

    finished: bool
    state: str


class Decision(NamedTuple):
    """The partitions to ask for; those whose run is under way; those that were asked for often enough in vain."""

    ask: list[str]
    under_way: list[str]
    given_up: list[str]


def decide(states: Mapping[str, str], runs: Mapping[str, Sequence[Asked]]) -> Decision:
    """What to ask for.

    Args:
        states: partition key -> the state that it is to be brought to.
        runs: partition key -> its runs, newest first.
    """
    found = Decision([], [], [])
    for key, state in states.items():
        before = runs.get(key, ())
        same = [run.state == state for run in before[:MOST_RUNS]]
        if any(not run.finished for run in before):
            found.under_way.append(key)
        elif len(same) == MOST_RUNS and all(same):
            found.given_up.append(key)
        else:
            found.ask.append(key)
    return found


def runs_before(instance: dg.DagsterInstance, job: str, keys: Sequence[str]) -> dict[str, list[Asked]]:
    """The latest runs of each of a job's partitions, newest first."""
    found = {}
    for key in keys:
        runs = instance.get_runs(dg.RunsFilter(job_name=job, tags={PARTITION: key}), limit=MOST_RUNS)
        found[key] = [Asked(run.is_finished, run.tags.get(STATE, "")) for run in runs]
    return found


def under_way(instance: dg.DagsterInstance) -> bool:
    """Whether any run is waiting or running, of whatever job."""
    ended = {dg.DagsterRunStatus.SUCCESS, dg.DagsterRunStatus.FAILURE, dg.DagsterRunStatus.CANCELED}
    statuses = [status for status in dg.DagsterRunStatus if status not in ended]
    return bool(instance.get_runs(dg.RunsFilter(statuses=statuses), limit=1))


def told(decision: Decision) -> str:
    """The decision in one line."""
    parts = {
        "asked for": decision.ask,
        "under way": decision.under_way,
        f"given up after {MOST_RUNS} runs, look at them": decision.given_up,
    }
    return "; ".join(f"{what}: {', '.join(keys)}" for what, keys in parts.items() if keys)
