from typing import Any

import pytest

from tests.assets.verification.layer import V1, Layer, attempt, frames
from tests.assets.verification.trial_layer import exceptions, metrics, reward, rewarded, staged_trial, trial


def outcome(made: Layer) -> tuple[Any, ...]:
    found = reward(made)
    return tuple(found[name] for name in ("reward", "eligible", "verified", "recorded_reward", "reason"))


SOUND = ((0.4, 1.0), (0.35, 0.5), (0.25, 0.0))


@pytest.mark.parametrize(
    ("made", "expected"),
    [
        (staged_trial(*SOUND, recorded={"staged_reward": 0.5}), (0.575, 1, 1, 0.5, None)),
        (staged_trial(*SOUND, recorded={"staged_reward": None}), (0.575, 1, 1, None, None)),
        (
            staged_trial(*SOUND, recorded={"staged_reward": 0.575}, outcome="agent_failure"),
            (None, None, 0, 0.575, "agent_failure"),
        ),
        (
            staged_trial(*SOUND, outcome="infrastructure_failure"),
            (None, None, 0, None, "infrastructure_failure"),
        ),
        (
            staged_trial(pack_reason="pack_missing", recorded={"staged_reward": 0.5}),
            (None, None, 0, 0.5, "pack_missing"),
        ),
        (staged_trial(pack_reason="pack_invalid"), (None, None, 0, None, "pack_invalid")),
        (staged_trial((1.0, 2.0)), (None, None, 0, None, "stage_out_of_range")),
        (staged_trial((1.0, 0.25), (9.0, 9.0, False)), (0.25, 1, 1, None, None)),
    ],
)
def test_staged_trials(made: Layer, expected: tuple[Any, ...]) -> None:
    assert outcome(made) == expected
    assert reward(made)["reward_kind"] == V1.staged.kind


@pytest.mark.parametrize("recipe", ["binary", "continuous", "hybrid"])
def test_other_recipes_keep_their_recorded_reward(recipe: str) -> None:
    def recorded(value: float | None, **columns: Any) -> Layer:
        return trial("agentforge", reward_recipe=recipe, recorded={"reward": value}, **columns)

    assert outcome(recorded(0.123456)) == (0.123456, 1, 1, 0.123456, None)
    assert outcome(recorded(None)) == (None, None, 0, None, "no_reward")
    failed = recorded(1.0, outcome="agent_failure")
    assert outcome(failed) == (None, None, 0, 1.0, "agent_failure")
    assert reward(failed)["reward_kind"] == V1.staged.recorded_kind


def test_the_recorded_reward_is_the_winning_documents_own() -> None:
    elsewhere = trial("agentforge", reward_recipe="binary", recorded={"reward": 1.0}, recorded_in="store/b.json")
    assert outcome(elsewhere) == (None, None, 0, None, "no_reward")


@pytest.mark.parametrize(
    ("rewards", "raised", "expected"),
    [
        (metrics(reward=1.0, other=0.5), (), (1.0, 1, 1, 1.0, None)),
        (metrics(accuracy=0.0), (), (0.0, 1, 1, 0.0, None)),
        (metrics(a=1.0, b=0.0), (), (None, 1, 1, None, "no_primary_key")),
        (metrics(reward=0.5), ("AgentTimeoutError",), (0.5, 1, 1, 0.5, None)),
        (metrics(reward=0.5), ("AgentTimeoutError", "ApiError"), (None, None, 0, 0.5, "voided:ApiError")),
        (metrics(reward=0.5), (("Custom", False),), (None, None, 0, 0.5, "voided:Custom")),
        (metrics(reward=0.5), (("ApiError", True),), (0.5, 1, 1, 0.5, None)),
        ([], ("ApiError",), (None, None, 0, None, "ApiError")),
        ([], ("AgentTimeoutError",), (None, None, 0, None, "AgentTimeoutError")),
        ([], (), (None, None, 0, None, "no_reward")),
        (metrics(reward=0.5, other=None), (), (None, None, 0, 0.5, "no_reward")),
    ],
)
def test_harbor_trials(rewards: list[dict[str, Any]], raised: tuple[Any, ...], expected: tuple[Any, ...]) -> None:
    made = trial("harbor", metrics=rewards, exceptions=exceptions(*raised))
    assert outcome(made) == expected
    assert reward(made)["reward_kind"] == V1.harbor.kind


def test_scores_are_no_rewards_and_worldseq_has_its_own() -> None:
    made = [
        trial("terminal-bench", attempt_id="t", metrics=metrics(accuracy=1.0)),
        trial("agentcompass-1", attempt_id="c", metrics=metrics(score=1.0)),
        trial("agentcompass-0", attempt_id="d", metrics=metrics(score=1.0)),
        attempt(attempt_id="w"),
        trial("harbor", attempt_id="h", metrics=metrics(reward=1.0)),
        staged_trial((1.0, 1.0), attempt_id="a"),
    ]
    assert rewarded(frames(*made))["attempt_id"].to_list() == ["a", "h"]


def test_what_left_nothing_has_no_reward_row() -> None:
    absent = trial("harbor", present=False) | {"attempts": []}
    assert rewarded(frames(absent)).is_empty()
