"""What a trial, or a file beside it, recorded against what counts."""

from typing import Any

import pytest

from assets.attempts.contract import Observations
from assets.contract import conform
from assets.reconciliation.contract import Reconciliation
from assets.reconciliation.trials import reconciliation
from assets.rewards.contract import Rewards
from assets.rulesets.loader import load_all
from tests.assets.reconciliation.benchmark_rows import recorded, table

V1 = load_all()["v1"]
TRIAL = {"attempt_id": "harbor:1", "source": "harbor"}
OBSERVED = {
    **TRIAL,
    "format": "harbor",
    "metrics": [{"name": "reward", "value": 0.5, "boolean": False}],
    "exceptions": [{"type": "CancelledError", "has_valid_reward": None}],
}
STAGED = {"attempt_id": "agentforge:1", "source": "agentforge", "reward_kind": V1.staged.kind, "reward": 0.575}


def compared(*told: dict[str, Any], **common: Any) -> list[tuple[Any, ...]]:
    rows = reconciliation(
        recorded(*told, **common), table(Observations, [OBSERVED]), table(Rewards, [STAGED]), V1
    ).collect()
    return conform(Reconciliation, rows).select("field", "recorded", "recomputed", "agrees", "reason").rows()


def test_a_side_file_that_says_something_else() -> None:
    told = [{"field": "reward:reward", "value": value} for value in (0.5, 0.7)]
    assert compared(*told, **TRIAL) == [
        ("reward:reward", 0.5, 0.5, True, None),
        ("reward:reward", 0.7, 0.5, False, "differs"),
    ]


def test_a_side_file_that_speaks_of_what_the_result_does_not() -> None:
    told = {"field": "reward:speed", "value": 1.0}
    assert compared(told, **TRIAL) == [("reward:speed", 1.0, None, False, "not_recomputed")]


@pytest.mark.parametrize(("value", "agrees"), [(0.0, True), (1.0, False)])
def test_whether_the_reward_is_valid(value: float, agrees: bool) -> None:
    told = {"field": "reward_valid", "value": value, "value_type": "boolean"}
    assert compared(told, **TRIAL)[0][2:4] == (0.0, agrees)


@pytest.mark.parametrize(
    ("value", "agrees", "reason"),
    [(0.575, True, None), (0.5750000001, False, "differs"), (0.5751, False, "differs"), (None, False, "not_recorded")],
)
def test_a_staged_reward_agrees_exactly(value: float | None, agrees: bool, reason: str | None) -> None:
    told = {"field": "staged_reward", "value": value}
    found = compared(told, attempt_id="agentforge:1", source="agentforge")
    assert found == [("staged_reward", value, 0.575, agrees, reason)]


def test_a_reward_that_is_taken_over_is_not_compared_with_itself() -> None:
    assert compared({"field": "reward", "value": 0.5}, attempt_id="agentforge:1", source="agentforge") == []


def test_a_verdict_on_a_crash() -> None:
    told = [{"field": "correct", "value": 1.0, "value_type": "boolean"}, {"field": "score", "value": 0.0}]
    found = compared(*told, attempt_id="agentcompass:r/b/t/1", source="agentcompass")
    assert [row[2:] for row in found] == [(None, False, "contradicts_status")] * 2
