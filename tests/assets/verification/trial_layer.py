"""Small layers of benchmark attempts made by hand, and the result tables that the kernels make of them."""

from collections.abc import Mapping, Sequence
from typing import Any

import polars as pl

from assets.contract import conform
from assets.rewards import staged, trials
from assets.rewards.contract import Rewards, StageScores
from assets.rulesets.loader import RuleSet
from assets.verification.contract import Verifications
from assets.verification.trials import verifications
from tests.assets.verification.layer import COMPLETED, DAY, V1, Layer, Row, frames

OBSERVED: Row = {
    "uri": "store/a.json",
    "run_id": "run",
    "benchmark": "bench",
    "task_id": "task",
    "present": True,
    "running": False,
    "error": False,
    "fatal": False,
    "metrics": [],
    "exceptions": [],
}
SOURCE = {
    "harbor": "harbor",
    "terminal-bench": "harbor",
    "agentforge": "agentforge",
    "agentcompass-1": "agentcompass",
    "agentcompass-0": "agentcompass",
}


def metrics(**values: float | None) -> list[Row]:
    """What an attempt scored."""
    return [{"name": name, "value": value, "boolean": False} for name, value in values.items()]


def exceptions(*types: str | tuple[str, bool | None]) -> list[Row]:
    """Exceptions by type, or by type and the file's own ruling."""
    pairs = [(one, None) if isinstance(one, str) else one for one in types]
    return [{"type": type_, "has_valid_reward": ruling} for type_, ruling in pairs]


def trial(
    format_: str,
    *,
    attempt_id: str = "a",
    outcome: str = "completed",
    failure_kind: str | None = None,
    stages: Sequence[tuple[float, float | None] | tuple[float, float | None, bool]] = (),
    recorded: Mapping[str, float | None] | None = None,
    recorded_in: str = "store/a.json",
    **observed: Any,
) -> Layer:
    """The rows of one attempt: stages as (weight, value) or (weight, value, hidden), recorded figures by field."""
    key = {"attempt_id": attempt_id, "landed_on": DAY}
    whose = key | {"source": SOURCE[format_]}
    shape = "task" if format_.startswith("agentcompass") else "trial"
    how = {"shape": shape, "outcome": outcome, "failure_kind": failure_kind, "has_evidence": False}
    return {
        "attempts": [
            COMPLETED | {"primary_metric": None, "horizon_days": None, "finalization_status": None} | whose | how
        ],
        "observations": [OBSERVED | whose | {"format": format_} | observed],
        "stage_values": [
            key
            | {"position": position, "stage_id": f"s{position}", "metric_key": f"stage_s{position}", "hidden": True}
            | dict(zip(("weight", "value", "hidden"), stage, strict=False))
            | {"pack_key": "pack", "pack_sha256": "00"}
            for position, stage in enumerate(stages)
        ],
        "recorded_values": [
            whose
            | {"recorded_in": recorded_in, "shape": shape, "field": field, "value": value}
            | {"value_type": "null" if value is None else "number"}
            for field, value in (recorded or {}).items()
        ],
    }


def staged_trial(*stages: tuple[float, float | None] | tuple[float, float | None, bool], **columns: Any) -> Layer:
    """A staged trial with these stages."""
    return trial("agentforge", reward_recipe="staged", stages=stages, **columns)


def verdicts(tables: Mapping[str, pl.LazyFrame], rules: RuleSet = V1) -> pl.DataFrame:
    """The table `verifications` of these attempts, proven to fulfil its contract."""
    names = ("attempts", "observations", "stage_values", "recorded_values")
    return conform(Verifications, verifications(*(tables[name] for name in names), rules).collect(engine="streaming"))


def rewarded(tables: Mapping[str, pl.LazyFrame], rules: RuleSet = V1) -> pl.DataFrame:
    """The table `rewards` of these attempts, proven to fulfil its contract."""
    found = verdicts(tables, rules).lazy()
    known = (tables["observations"], tables["stage_values"], found, tables["recorded_values"])
    return conform(Rewards, trials.rewards(*known, rules).collect(engine="streaming"))


def stage_scores(tables: Mapping[str, pl.LazyFrame], rules: RuleSet = V1) -> pl.DataFrame:
    """The table `stage_scores` of these attempts, proven to fulfil its contract."""
    return conform(StageScores, staged.stage_scores(tables["stage_values"], rules).collect(engine="streaming"))


def verdict(one: Layer) -> Row:
    """The verdict of a single attempt."""
    return verdicts(frames(one)).row(0, named=True)


def reward(one: Layer) -> Row:
    """The reward of a single attempt."""
    return rewarded(frames(one)).row(0, named=True)
