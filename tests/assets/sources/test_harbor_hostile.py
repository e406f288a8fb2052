"""Harbor files that cannot be read, and unusual ones that can: the fast path and the careful one agree."""

import json
from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from polars.testing import assert_frame_equal

from assets.sources import harbor, harbor_reading
from assets.sources.documents import Document, Limits
from tests.assets.sources.harbor_documents import (
    DAY,
    ENTRY,
    JOB,
    RUN,
    TIMEOUT,
    TRIAL,
    decode,
    document,
    joined,
    observed,
    refused,
    spliced,
    stepped,
    trial,
    used,
    verified,
)
from tests.assets.sources.test_worldseq_fuzz import TOKENS, places, with_token
from tests.assets.sources.worldseq_documents import ABSENT, as_bytes


@pytest.mark.parametrize("text", ["1.5", "1.0", "1e2", '"1"', "true", "[]"])
def test_tokens_are_whole_numbers(text: str) -> None:
    place = ("decode", "wrong_type", "$.agent_result.n_input_tokens")
    assert refused(spliced("agent_result.n_input_tokens", text)) == place


@pytest.mark.parametrize(
    ("path", "text", "reason", "place"),
    [
        ("agent_result.n_cache_tokens", "-1", "out_of_range", "$.agent_result.n_cache_tokens"),
        ("agent_result.n_output_tokens", str(2**53 + 1), "out_of_range", "$.agent_result.n_output_tokens"),
        ("agent_result.cost_usd", "1e999", "out_of_range", "$.agent_result.cost_usd"),
        ("agent_result.cost_usd", "true", "wrong_type", "$.agent_result.cost_usd"),
        ("verifier_result.rewards.reward", '"1"', "wrong_type", "$.verifier_result.rewards.reward"),
        ("verifier_result.rewards.reward", "1e999", "out_of_range", "$.verifier_result.rewards.reward"),
        ("verifier_result.rewards.reward", "[1]", "wrong_type", "$.verifier_result.rewards.reward"),
        ("verifier_result.rewards", "1", "wrong_type", "$.verifier_result.rewards"),
        ("verifier_result.rewards", '{"a":"x","a":1}', "wrong_type", "$.verifier_result.rewards.a"),
        ("exception_info", "{}", "missing_field", "$.exception_info.exception_type"),
        ("exception_info", '{"exception_type": 7}', "wrong_type", "$.exception_info.exception_type"),
        (
            "exception_info",
            '{"exception_type": "E", "policy_override": {"has_valid_reward": 1}}',
            "wrong_type",
            "$.exception_info.policy_override.has_valid_reward",
        ),
        ("id", "null", "missing_field", "$.id"),
        ("id", "7", "wrong_type", "$.id"),
        ("id", '""', "bad_identifier", "$.id"),
        ("id", f'"{"x" * 201}"', "bad_identifier", "$.id"),
        ("id", '"a\\u0000b"', "bad_identifier", "$.id"),
        ("task_name", '"\\ud800"', "bad_identifier", "$.task_name"),
        ("source", '"a\\nb"', "bad_identifier", "$.source"),
        ("schema_version", "2", "out_of_range", "$.schema_version"),
        ("agent_info", '"oracle"', "wrong_type", "$.agent_info"),
        ("agent_info.name", "[]", "wrong_type", "$.agent_info.name"),
        ("started_at", "1756728000", "wrong_type", "$.started_at"),
        ("reward_valid", "1", "wrong_type", "$.reward_valid"),
        ("step_results", "{}", "wrong_type", "$.step_results"),
        ("step_results", "[null]", "wrong_type", "$.step_results[0]"),
        (
            "step_results",
            '[{}, {"verifier_result": {"rewards": {"a": "1"}}}]',
            "wrong_type",
            "$.step_results[1].verifier_result.rewards.a",
        ),
    ],
)
def test_a_field_that_is_used_has_its_type(path: str, text: str, reason: str, place: str) -> None:
    assert refused(spliced(path, text)) == ("decode", reason, place)


@pytest.mark.parametrize("field", ["id", "task_name"])
def test_identity_is_needed(field: str) -> None:
    assert refused(trial(field, ABSENT)) == ("decode", "missing_field", f"$.{field}")


@pytest.mark.parametrize("text", ["7", '"x"', "[[1]]", "1e999", '"\\u0000"'])
@pytest.mark.parametrize(
    "path",
    ["trial_name", "trial_uri", "task_id", "task_checksum", "config", "agent_setup", "agent_info.model_info.provider"],
)
def test_a_field_that_is_not_used_may_be_anything(path: str, text: str) -> None:
    expected = observed(TRIAL)
    assert observed(spliced(path, text)) == expected


@pytest.mark.parametrize(
    ("content", "reason", "place"),
    [
        (b"", "empty", "byte 0"),
        (as_bytes(TRIAL)[:-1], "not_json", f"byte {len(as_bytes(TRIAL)) - 1}"),
        (as_bytes(TRIAL) + b"}", "not_json", f"byte {len(as_bytes(TRIAL))}"),
        (spliced("config", "NaN"), "not_json", None),
        (spliced("config", '"@@@"').replace(b"@@@", b"\xff"), "not_utf8", None),
        (spliced("config", "[" * 64 + "]" * 64), "too_deep", None),
        (b"[]", "unknown_shape", "$"),
        (b"7", "unknown_shape", "$"),
        (b"{}", "unknown_shape", "$"),
        (b'{"eligible": true, "reward": 1}', "unknown_shape", "$"),
    ],
)
def test_what_is_no_result(content: bytes, reason: str, place: str | None) -> None:
    stage, found, path = refused(content)
    assert (stage, found) == ("decode", reason)
    assert path == place if place else str(path).startswith("byte ")


def test_nesting_up_to_the_limit_is_fine() -> None:
    assert observed(spliced("config", "[" * 63 + "]" * 63))["attempt_id"] == "harbor:t-1"


def test_the_quarantine_names_the_trial_where_it_can() -> None:
    decoded = decode(trial("agent_result.cost_usd", "free"), trial("id", 7))
    assert decoded.quarantine["attempt_id"].to_list() == ["harbor:t-1", None]


def test_unusual_but_sound_documents() -> None:
    pretty = json.dumps(TRIAL, indent=4).encode()
    marked = b"\xef\xbb\xbf" + pretty
    repeated = as_bytes(TRIAL)[:-1] + b',"id":"t-2"}'
    surrogate = spliced("agent_info.name", '"a\\ud800"')
    frame = decode(pretty, marked, repeated, surrogate).frames["observations"]
    assert frame["attempt_id"].to_list() == ["harbor:t-1", "harbor:t-1", "harbor:t-2", "harbor:t-1"]
    assert frame["agent_name"].to_list() == ["oracle", "oracle", "oracle", "a\\ud800"]


# Anything at all


BASES = (TRIAL, stepped({**verified(a=1.0), "exception_info": TIMEOUT}, used(n_input_tokens=1)), JOB)


@st.composite
def spoiled(draw: st.DrawFn, bases: Sequence[Any] = BASES) -> bytes:
    base = draw(st.sampled_from(bases))
    if draw(st.booleans()):
        return with_token(base, draw(st.sampled_from(places(base))), draw(st.sampled_from(TOKENS)))
    content = as_bytes(base)
    start = draw(st.integers(0, len(content)))
    stop = draw(st.integers(start, min(len(content), start + 20)))
    return content[:start] + draw(st.binary(max_size=6)) + content[stop:]


@settings(max_examples=80, deadline=None)
@given(st.lists(spoiled() | st.binary(max_size=30), min_size=1, max_size=6))
def test_the_careful_reading_agrees_with_the_fast_one(contents: list[bytes]) -> None:
    fast = decode(*contents)
    ended = [*fast.candidates["uri"], *fast.quarantine["uri"]]
    assert sorted(ended) == sorted(
        f"memory://store/harbor/{DAY}/nightly/t{i}/result.json" for i in range(len(contents))
    )
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(harbor, "_glance", lambda *_: None)
        careful = decode(*contents)
    for name, frame in fast.frames.items():
        assert_frame_equal(frame, careful.frames[name])
    assert_frame_equal(fast.candidates, careful.candidates)
    assert_frame_equal(fast.quarantine, careful.quarantine)


def test_the_fast_path_is_taken(monkeypatch: pytest.MonkeyPatch) -> None:
    def careful(document: Document, _: int) -> harbor_reading.Reading:
        raise AssertionError(document.uri)

    monkeypatch.setattr(harbor, "read_result", careful)
    decoded = harbor.decode([document(base) for base in BASES[:2]], Limits())
    assert decoded.frames["observations"].height == 2


@settings(max_examples=80, deadline=None)
@given(st.lists(spoiled((RUN, ENTRY, {"reward": True})), min_size=1, max_size=4))
def test_files_beside_trials_stop_nothing(contents: list[bytes]) -> None:
    files = [
        document(content, path)
        for number, content in enumerate(contents)
        for path in (
            f"r/h/t{number}/results.json",
            f"r/t{number}/verifier/reward.json",
            f"r/t{number}/verifier/reward.txt",
        )
    ]
    decoded = decode(document(RUN, "r/results.json"), *files, TRIAL)
    assert decoded.frames["observations"]["attempt_id"].to_list() == ["harbor:t-1"]
    assert {"harbor:e-1", "harbor:e-2"} <= {*joined(decoded).frames["observations"]["attempt_id"]}
