from typing import Any

import polars as pl
import pytest

from assets.verification.contract import Verifications
from tests.assets.verification.layer import V1, Layer, attempt, frames
from tests.assets.verification.layer import verdicts as worldseq_verdicts
from tests.assets.verification.trial_layer import exceptions, metrics, staged_trial, trial, verdict, verdicts

SOUND = ((0.5, 1.0), (0.5, 0.5))


def recorded(recipe: str, value: float | None) -> Layer:
    return trial("agentforge", reward_recipe=recipe, recorded={"reward": value})


def harbor(rewards: list[dict[str, Any]], *types: str | tuple[str, bool | None], **columns: Any) -> Layer:
    return trial("harbor", metrics=rewards, exceptions=exceptions(*types), **columns)


@pytest.mark.parametrize(
    ("made", "class_", "reason"),
    [
        (staged_trial(*SOUND), "eligible", None),
        (staged_trial(*SOUND, outcome="agent_failure"), "agent_failure", "agent_failure"),
        (staged_trial(*SOUND, outcome="infrastructure_failure"), "infrastructure_failure", "infrastructure_failure"),
        (staged_trial(pack_reason="pack_missing", outcome="agent_failure"), "agent_failure", "agent_failure"),
        (staged_trial(pack_reason="pack_missing"), "inconclusive", "pack_missing"),
        (staged_trial(pack_reason="pack_invalid"), "inconclusive", "pack_invalid"),
        (staged_trial((0.5, 1.0), (0.4, 1.0)), "inconclusive", "pack_invalid"),
        (staged_trial((0.5, 1.5), (0.5, 1.0)), "inconclusive", "stage_out_of_range"),
        (staged_trial(*SOUND, recorded={"staged_reward": None}), "eligible", None),
        (recorded("binary", 1.0), "eligible", None),
        (recorded("continuous", -3.0), "eligible", None),
        (recorded("hybrid", None), "inconclusive", "no_reward"),
        (trial("agentforge", reward_recipe="binary"), "inconclusive", "no_reward"),
        (harbor(metrics(reward=0.0)), "eligible", None),
        (harbor(metrics(reward=1.0), "AgentTimeoutError"), "eligible", None),
        (harbor(metrics(reward=1.0), "ApiError"), "infrastructure_failure", "ApiError"),
        (harbor(metrics(reward=1.0), ("ApiError", True)), "eligible", None),
        (harbor([], "AgentTimeoutError", "CancelledError"), "infrastructure_failure", "CancelledError"),
        (harbor([], "AgentTimeoutError", "NonZeroAgentExitCodeError"), "agent_failure", "AgentTimeoutError"),
        (harbor(metrics(reward=1.0, other=None), "Unheard"), "agent_failure", "Unheard"),
        (harbor([], outcome="infrastructure_failure"), "inconclusive", "no_reward"),
        (harbor(metrics(reward=None)), "inconclusive", "no_reward"),
        (trial("terminal-bench", metrics=metrics(accuracy=0.0)), "eligible", None),
        (
            trial("terminal-bench", outcome="infrastructure_failure", failure_kind="agent_timeout"),
            "infrastructure_failure",
            "agent_timeout",
        ),
        (trial("terminal-bench"), "inconclusive", "no_score"),
        (
            trial("agentcompass-1", metrics=metrics(correct=1.0), error=True, outcome="infrastructure_failure"),
            "eligible",
            None,
        ),
        (
            trial(
                "agentcompass-1",
                metrics=metrics(correct=1.0),
                fatal=True,
                outcome="infrastructure_failure",
                failure_kind="fatal_issue",
            ),
            "infrastructure_failure",
            "fatal_issue",
        ),
        (trial("agentcompass-1", metrics=metrics(a=None, b=0.0)), "eligible", None),
        (trial("agentcompass-1", metrics=metrics(a=None)), "inconclusive", "no_score"),
        (
            trial("agentcompass-0", outcome="infrastructure_failure", failure_kind="eval_error"),
            "infrastructure_failure",
            "eval_error",
        ),
    ],
)
def test_the_class_of_an_attempt(made: Layer, class_: str, reason: str | None) -> None:
    found = verdict(made)
    assert (found["class"], found["reason"]) == (class_, reason)
    assert found["verified"] == (class_ == "eligible")
    assert found["eligible"] == (True if class_ == "eligible" else None)


def test_a_trial_has_no_predicates_and_no_primary_value() -> None:
    found = verdict(staged_trial(*SOUND))
    assert (found["basis"], found["rules"]) == ("recorded", V1.id)
    assert (found["failed_predicates"], found["inconclusive_predicates"]) == ([], [])
    assert found["primary_metric"] is found["primary_value"] is found["net_assets_closing_cents"] is None


def test_every_attempt_is_judged_once_by_its_own_kernel() -> None:
    made = frames(
        staged_trial(*SOUND, attempt_id="c"), attempt(attempt_id="b"), harbor(metrics(reward=1.0), attempt_id="a")
    )
    assert verdicts(made)["attempt_id"].to_list() == ["a", "c"]
    assert worldseq_verdicts(made)["attempt_id"].to_list() == ["b"]


def test_what_only_was_registered_or_still_runs_is_no_attempt() -> None:
    absent = trial("agentcompass-1", attempt_id="z", present=False) | {"attempts": []}
    assert verdicts(frames(absent)).equals(pl.DataFrame(schema=verdicts(frames(staged_trial(*SOUND))).schema))


def test_nothing_at_all_is_an_empty_table() -> None:
    assert verdicts(frames()).columns == list(Verifications.to_schema().columns)
