"""Harbor's trials: what each becomes, whatever its exceptions, steps and times."""

import datetime as dt
from typing import Any

import pytest

from tests.assets.sources.harbor_documents import (
    DAY,
    MODIFIED,
    STEP,
    TIMEOUT,
    TRIAL,
    attempt,
    decode,
    document,
    figures,
    observed,
    refused,
    rewards,
    spliced,
    stepped,
    trial,
    used,
    verified,
)
from tests.assets.sources.worldseq_documents import ABSENT, changed, only

NOON = dt.datetime(2026, 9, 1, 12, tzinfo=dt.UTC)


# What a trial becomes


def test_a_trial_is_an_observation_and_an_attempt() -> None:
    row = observed(TRIAL)
    assert {name: value for name, value in row.items() if value is not None} == {
        "document": 0,
        "attempt_id": "harbor:t-1",
        "source": "harbor",
        "landed_on": DAY,
        "uri": f"memory://store/harbor/{DAY}/nightly/fix-bug__AbC/result.json",
        "format": "harbor",
        "run_id": "nightly",
        "benchmark": "swe@1.0",
        "agent_name": "oracle",
        "model_name": "m-large",
        "task_id": "fix-bug",
        "present": True,
        "running": False,
        "status": "completed",
        "error": False,
        "fatal": False,
        "metrics": [{"name": "reward", "value": 1.0, "boolean": False}],
        "exceptions": [],
        "n_input_tokens": 100,
        "n_cache_tokens": 40,
        "n_output_tokens": 7,
        "cost_usd": 0.25,
        "started_at": NOON.replace(microsecond=123_456),
        "finished_at": NOON.replace(second=30),
    }
    row = attempt(TRIAL)
    assert (row["document"], row["attempt_id"], row["shape"]) == (0, "harbor:t-1", "trial")
    assert (row["outcome"], row["failure_kind"], row["failure_message"]) == ("completed", None, None)
    assert (row["agent_version"], row["repeat"], row["last_modified"]) == ("1.2", None, MODIFIED)
    assert (row["task_id"], row["has_evidence"], row["finalized_at"]) == ("fix-bug", False, None)


def test_a_candidate_is_the_whole_object() -> None:
    content = document(TRIAL)
    row = only(decode(content).candidates)
    assert (row["attempt_id"], row["shape"], row["path"]) == ("harbor:t-1", "trial", None)
    assert row["digest"] == row["sha256"] == content.sha256


def test_an_old_file_needs_no_more_than_an_id_and_a_task() -> None:
    row = observed({"id": "old", "task_name": "t"})
    assert (row["attempt_id"], row["task_id"], row["benchmark"]) == ("harbor:old", "t", "adhoc")
    assert (row["agent_name"], row["model_name"], row["n_input_tokens"], row["cost_usd"]) == (None, None, None, None)
    assert (row["metrics"], row["exceptions"], row["error"], row["status"]) == ([], [], False, "completed")
    assert figures(decode({"id": "old", "task_name": "t"})) == {}


@pytest.mark.parametrize(
    ("path", "run_id"),
    [
        ("nightly/fix__1/result.json", "nightly"),
        ("team/nightly/fix__1/result.json", "team/nightly"),
        ("fix__1/result.json", "fix__1"),
        ("result.json", "."),
        ("2026-09-01__12:00+02:00/a@b..c:1/result.json", "2026-09-01__12:00+02:00"),
    ],
)
def test_a_job_is_the_directory_above_its_trials(path: str, run_id: str) -> None:
    assert observed(TRIAL, path)["run_id"] == run_id


def test_attempts_of_one_task_are_told_apart_by_id_whatever_their_directories_are_called() -> None:
    trials = [changed("trial_name", "same", changed("id", name, TRIAL)) for name in ("b", "c", "a")]
    frame = decode(*trials).frames["observations"]
    assert frame["attempt_id"].to_list() == ["harbor:b", "harbor:c", "harbor:a"]
    assert frame["task_id"].to_list() == ["fix-bug"] * 3
    assert frame["attempt_index"].to_list() == [None] * 3


@pytest.mark.parametrize("name", ["a:b@1+x..y", "../../etc/passwd", "<script>", "=cmd()", "ü 'x' \"y\"", "x" * 200])
def test_names_are_only_names(name: str) -> None:
    row = observed({**TRIAL, "id": name, "task_name": name, "source": name, "agent_info": {"name": name}})
    assert (row["attempt_id"], row["task_id"], row["benchmark"], row["agent_name"]) == (f"harbor:{name}", *[name] * 3)


@pytest.mark.parametrize(
    "path", ["agent_info", "agent_info.name", "agent_info.model_info", "agent_info.model_info.name"]
)
@pytest.mark.parametrize("value", [None, ABSENT])
def test_agent_and_model_may_be_unknown(path: str, value: Any) -> None:
    row = observed(trial(path, value))
    assert (row["agent_name"] is None) == (path in {"agent_info", "agent_info.name"})
    assert (row["model_name"] is None) == (path != "agent_info.name")


@pytest.mark.parametrize("value", [None, ABSENT])
def test_a_trial_without_a_dataset_is_ad_hoc(value: Any) -> None:
    assert observed(trial("source", value))["benchmark"] == "adhoc"


# Rewards and exceptions


def test_a_timeout_keeps_its_reward() -> None:
    row = observed(trial("exception_info", TIMEOUT))
    assert row["metrics"] == [{"name": "reward", "value": 1.0, "boolean": False}]
    assert (row["error"], row["status"]) == (True, "agenttimeouterror")
    assert row["exceptions"] == [{"type": "AgentTimeoutError", "has_valid_reward": None}]
    assert attempt(trial("exception_info", TIMEOUT))["outcome"] == "completed"


@pytest.mark.parametrize("result", [None, {}, {"rewards": None}, {"rewards": {}}, {"rewards": {"reward": None}}])
def test_an_exception_without_a_reward_is_a_failure_not_a_zero(result: Any) -> None:
    message = "no\nsandbox " * 1_000
    failure = {**TIMEOUT, "exception_type": "SandboxBuildFailedError", "exception_message": message}
    content = {**TRIAL, "verifier_result": result, "exception_info": failure}
    row = attempt(content)
    assert (row["outcome"], row["failure_kind"]) == ("infrastructure_failure", "SandboxBuildFailedError")
    assert row["failure_message"] == message
    assert [metric["value"] for metric in observed(content)["metrics"] if metric["value"] is not None] == []


def test_a_trial_that_has_nothing_and_recorded_no_exception_has_completed() -> None:
    assert attempt(trial("verifier_result", None))["outcome"] == "completed"


def test_everything_null_after_a_failed_set_up() -> None:
    nothing = dict.fromkeys(TRIAL, None)
    row = observed({**nothing, "id": "t", "task_name": "x", "exception_info": {**TIMEOUT, "exception_message": None}})
    assert (row["error"], row["metrics"], row["started_at"], row["started_at_text"]) == (True, [], None, None)


def test_rewards_keep_their_order_and_kind() -> None:
    content = spliced("verifier_result.rewards", '{"z": true, "a": 0.5, "m": null, "b": false, "c": 1}')
    assert observed(content)["metrics"] == [
        {"name": "z", "value": 1.0, "boolean": True},
        {"name": "a", "value": 0.5, "boolean": False},
        {"name": "m", "value": None, "boolean": False},
        {"name": "b", "value": 0.0, "boolean": True},
        {"name": "c", "value": 1.0, "boolean": False},
    ]


def test_the_careful_reading_knows_boolean_rewards_too() -> None:
    content = b"\xef\xbb\xbf" + spliced("verifier_result.rewards", '{"z": true, "a": 0.5}')
    assert [metric["boolean"] for metric in observed(content)["metrics"]] == [True, False]


def test_an_override_in_the_file_is_read_and_the_policy_beside_it_is_not() -> None:
    override = {"has_valid_reward": True, "should_retry": False}
    first = {**TIMEOUT, "exception_type": "CancelledError", "policy_override": override, "policy": "nonsense"}
    second = {**TIMEOUT, "exception_type": "Custom", "policy_override": {"has_valid_reward": False}}
    third = {**TIMEOUT, "policy_override": {}}
    content = stepped({"exception_info": second}, {"exception_info": third}, exception_info=first)
    assert observed(content)["exceptions"] == [
        {"type": "CancelledError", "has_valid_reward": True},
        {"type": "Custom", "has_valid_reward": False},
        {"type": "AgentTimeoutError", "has_valid_reward": None},
    ]


def test_an_exception_in_a_step_alone_is_one() -> None:
    content = stepped(verified(reward=1.0), {"exception_info": TIMEOUT}, verifier_result={"rewards": {"reward": 1.0}})
    row = observed(content)
    assert (row["error"], row["status"]) == (True, "agenttimeouterror")
    assert row["exceptions"] == [{"type": "AgentTimeoutError", "has_valid_reward": None}]


# Multi-step trials


def test_rewards_of_the_trial_win_over_its_steps() -> None:
    content = stepped(verified(reward=0.0, other=1.0), verifier_result={"rewards": {"reward": 0.75}})
    assert rewards(content) == {"reward": 0.75}


@pytest.mark.parametrize("own", [None, {}, {"rewards": None}, {"rewards": {}}])
def test_without_them_each_key_is_averaged_over_the_verified_steps(own: Any) -> None:
    steps = (verified(b=1.0, a=True), verified(), {"verifier_result": {}}, verified(a=False, c=0.5), {}, STEP)
    assert rewards(stepped(*steps, verifier_result=own)) == {"b": 0.25, "a": 0.25, "c": 0.125}


def test_a_key_that_no_step_has_a_number_for_is_null() -> None:
    assert rewards(stepped(verified(a=None, b=None), verified(a=1.0, b=None))) == {"a": 0.5, "b": None}


def test_steps_without_a_verifier_give_no_rewards() -> None:
    assert rewards(stepped({}, {})) == {}


def test_sums_over_steps_run_from_left_to_right() -> None:
    values = [0.1, 0.2, 0.3, 1e16, -1e16, 0.7]
    total = 0.0
    for value in values:
        total += value
    row = observed(stepped(*({**verified(r=value), **used(cost_usd=value)} for value in values)))
    assert row["metrics"][0]["value"] == total / 6
    assert row["cost_usd"] == total


def test_usage_is_the_trials_own_or_the_sum_over_its_steps() -> None:
    big = 2**31
    steps = (used(n_input_tokens=big, n_cache_tokens=0), used(n_input_tokens=big, n_cache_tokens=None), {})
    row = observed(stepped(*steps))
    assert (row["n_input_tokens"], row["n_cache_tokens"]) == (2 * big, 0)
    assert (row["n_output_tokens"], row["cost_usd"]) == (None, None)
    row = observed(stepped(*steps, agent_result={"n_output_tokens": 5}))
    assert (row["n_input_tokens"], row["n_output_tokens"]) == (None, 5)


@pytest.mark.parametrize(
    "step",
    [used(n_input_tokens=2**53), used(cost_usd=1.7e308), verified(reward=1.7e308)],
)
def test_a_sum_that_no_column_holds_is_refused(step: dict[str, Any]) -> None:
    assert refused(stepped(step, step)) == ("decode", "out_of_range", "$.step_results")


# Times


@pytest.mark.parametrize(
    ("text", "at", "kept"),
    [
        ("2026-09-01T12:00:00Z", NOON, None),
        ("2026-09-01T12:00:00.5Z", NOON.replace(microsecond=500_000), None),
        ("2026-09-01T12:00:00.123456Z", NOON.replace(microsecond=123_456), None),
        ("2026-09-01T12:00:00.123456999Z", NOON.replace(microsecond=123_456), None),
        ("2026-09-01T14:00:00+02:00", NOON, None),
        ("2026-09-01T12:00:00+00:00", NOON, None),
        ("2026-12-31T23:59:60Z", dt.datetime(2027, 1, 1, tzinfo=dt.UTC), None),
        ("0999-09-01T12:00:00Z", NOON.replace(year=999), None),
        *[
            (text, None, text)
            for text in (
                "2026-09-01T12:00:00",
                "2026-09-01T12:00:00.123456",
                "2026-09-01 12:00:00Z",
                "2026-02-30T12:00:00Z",
                "2026-9-1T12:00:00Z",
                "2026-09-01T24:00:00Z",
                "2026-09-01T12:00Z",
                "yesterday",
                "",
                " 2026-09-01T12:00:00Z",
                "2026-09-01T12:00:00Z\n",
                "٢026-09-01T12:00:00Z",
            )
        ],
        (None, None, None),
    ],
)
def test_only_a_time_with_an_offset_is_one_and_any_other_keeps_its_text(
    text: str | None, at: dt.datetime | None, kept: str | None
) -> None:
    row = observed({**TRIAL, "started_at": text, "finished_at": "2026-09-01T12:00:00Z"})
    assert (row["started_at"], row["started_at_text"]) == (at, kept)
    assert (row["finished_at"], row["finished_at_text"]) == (NOON, None)


def test_times_of_a_batch_stay_with_their_trials() -> None:
    texts = ["2026-09-01T12:00:00Z", "nonsense", None, "2026-09-01T14:00:00+02:00", "2026-09-01T12:00:00", "nonsense"]
    frame = decode(*({**TRIAL, "id": f"{i}", "started_at": text} for i, text in enumerate(texts))).frames[
        "observations"
    ]
    assert frame["started_at"].to_list() == [NOON, None, None, NOON, None, None]
    assert frame["started_at_text"].to_list() == [None, "nonsense", None, None, "2026-09-01T12:00:00", "nonsense"]
