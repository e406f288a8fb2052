"""The AgentForge source: what its documents become, whose weights a trial has, and what is refused where."""

import datetime as dt
import hashlib
from typing import Any

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from polars.testing import assert_frame_equal

from assets.attempts.contract import Attempts, Observations, RecordedValues, StageValues
from assets.contract import conform, schema, table_name
from assets.landing.contract import Quarantine
from assets.sources import agentforge, agentforge_reading
from assets.sources.documents import CANDIDATES, SIDE_FILES, Limits
from tests.assets.sources.agentforge_documents import (
    LIMITS,
    PACK,
    RESULT,
    TRIAL,
    assembled,
    decode,
    document,
    pack,
    packs,
    trial,
)
from tests.assets.sources.test_worldseq_fuzz import TOKENS, places, with_token
from tests.assets.sources.worldseq_documents import ABSENT, DAY, MODIFIED, as_bytes, changed, only

MADE = (Observations, Attempts, StageValues)


def values(frame: pl.DataFrame, *names: str) -> list[Any]:
    rows = frame.select(names).rows()
    return [row[0] for row in rows] if len(names) == 1 else rows


@pytest.mark.parametrize("trials", [[], [TRIAL, RESULT, b"{"]])
@pytest.mark.parametrize("versions", [[], [PACK, b"{"]])
def test_every_frame_fulfils_its_contract(trials: list[Any], versions: list[Any]) -> None:
    decoded, of_packs = decode(*trials), packs(*versions)
    assert dict(decoded.frames["agentforge_trials"].schema) == agentforge.PARTS["agentforge_trials"]
    assert dict(of_packs.frames["agentforge_packs"].schema) == agentforge.PACK_PARTS["agentforge_packs"]
    whole = agentforge.assemble({**decoded.frames, **of_packs.frames}, 7)
    assert whole.next_document == 7
    for contract, frames in [(RecordedValues, decoded.frames), *((contract, whole.frames) for contract in MADE)]:
        frame = frames[table_name(contract)]
        assert dict(frame.schema) == {"document": pl.Int64(), **schema(contract)}
        conform(contract, frame.drop("document"))
    for one in (decoded, of_packs, whole):
        assert (dict(one.candidates.schema), dict(one.side_files.schema)) == (CANDIDATES, SIDE_FILES)
        conform(Quarantine, one.quarantine)


def test_the_observation_of_a_trial() -> None:
    found = only(assembled([TRIAL])["observations"])
    nulls = ("model_name", "category", "pack_reason", "plan_strategy", "cost_usd", "started_at", "started_at_text")
    tokens = ("n_input_tokens", "n_cache_tokens", "n_output_tokens")
    assert found == dict.fromkeys((*nulls, *tokens, "finished_at_text")) | {
        "document": 0,
        "attempt_id": "agentforge:t-1",
        "source": "agentforge",
        "landed_on": DAY,
        "uri": "memory://store/agentforge/0.json",
        "format": "agentforge",
        "run_id": "j-1",
        "benchmark": "incident",
        "agent_name": "multi_agent",
        "task_id": "incident",
        "attempt_index": 1,
        "present": True,
        "running": False,
        "status": "completed",
        "error": False,
        "fatal": False,
        "metrics": [],
        "exceptions": [],
        "reward_recipe": "staged",
        "plan_k": 4,
        "finished_at": dt.datetime(2026, 11, 29, 3, tzinfo=dt.UTC),
    }


def test_the_attempt_of_a_trial() -> None:
    found = only(assembled([TRIAL | {"status": "agent_failure"}])["attempts"])
    assert {name: value for name, value in found.items() if value not in (None, 0, False)} == {
        "attempt_id": "agentforge:t-1",
        "source": "agentforge",
        "landed_on": DAY,
        "uri": "memory://store/agentforge/0.json",
        "shape": "trial",
        "task_id": "incident",
        "scenario_id": "eu",
        "repeat": 1,
        "agent_name": "multi_agent",
        "outcome": "agent_failure",
        "finished_at": dt.datetime(2026, 11, 29, 3, tzinfo=dt.UTC),
        "last_modified": MODIFIED,
    }


def test_the_candidates_of_a_batch() -> None:
    content = as_bytes(TRIAL)
    lines = document(content + b"\r\n\n" + as_bytes(RESULT) + b"\n", "many.jsonl")
    decoded = agentforge.decode([document(RESULT, "z.json"), document(TRIAL), lines], LIMITS, 100)
    assert decoded.next_document == 104
    assert values(decoded.candidates, "document", "attempt_id", "shape", "path") == [
        (100, "agentforge:t-1", "trial", None),
        (101, "agentforge:t-1", "trial", "line 1"),
        (102, None, "run", None),
        (103, None, "run", "line 3"),
    ]
    digest = hashlib.sha256(content).hexdigest()
    assert values(decoded.candidates.head(2), "digest") == [digest, digest]
    assert values(decoded.candidates, "sha256")[1] == lines.sha256
    assert decoded.frames["agentforge_trials"]["document"].to_list() == [100, 101]


def test_what_was_recorded() -> None:
    other = trial("t-2", rewardRecipe="binary", reward=1)
    found = decode(TRIAL, other, trial("t-3", reward=None), RESULT | {"passAtK": None}).frames["recorded_values"]
    assert values(
        found.sort("document", "field"), "document", "attempt_id", "run_id", "field", "value", "value_type"
    ) == [
        (0, "agentforge:t-1", "j-1", "staged_reward", 0.575, "number"),
        (1, "agentforge:t-2", "j-1", "reward", 1.0, "number"),
        (2, "agentforge:t-3", "j-1", "staged_reward", None, "null"),
        (3, None, "j-1", "job:mean_reward", 0.6, "number"),
        (3, None, "j-1", "job:pass_at_1", 0.25, "number"),
        (3, None, "j-1", "job:pass_at_k", None, "null"),
    ]
    assert values(found.filter(pl.col("document") == 3), "shape", "recorded_in")[0] == (
        "run",
        "memory://store/agentforge/3.json",
    )


def test_the_stages_of_a_trial() -> None:
    found = assembled([TRIAL])["stage_values"]
    assert values(found, "position", "stage_id", "metric_key", "weight", "hidden", "value") == [
        (0, "health-restored", "stage_health_restored", 0.4, True, 1.0),
        (1, "data-preserved", "kept", 0.35, True, 0.5),
        (2, "root-cause", "stage_root_cause", 0.25, True, None),
        (3, "style", "stage_style", 7.0, False, None),
    ]
    assert found["pack_key"].unique().item() == "incident"
    assert found["pack_sha256"].unique().item() == hashlib.sha256(as_bytes(PACK)).hexdigest()


def test_a_trial_may_leave_out_all_that_it_need_not_say() -> None:
    least = {name: TRIAL[name] for name in ("format", "trialId", "jobId", "status")}
    found = assembled([least | {"configuration": {"attemptCount": 8, "rewardRecipe": "hybrid"}}], [])
    row = only(found["observations"])
    assert (row["benchmark"], row["task_id"], row["plan_k"]) == ("unknown", "unknown", 8)
    assert row["agent_name"] is row["attempt_index"] is row["finished_at"] is row["pack_reason"] is None


def test_without_a_pack_the_scenario_is_the_benchmark() -> None:
    row = only(assembled([trial("t", packKey=None, rewardRecipe="binary")])["observations"])
    assert (row["benchmark"], row["pack_reason"]) == ("eu", None)


def test_a_time_without_an_offset_is_kept_as_text() -> None:
    row = only(assembled([trial("t", finishedAt="2026-11-29T03:00:00")])["observations"])
    assert (row["finished_at"], row["finished_at_text"]) == (None, "2026-11-29T03:00:00")


def at(hour: int) -> dt.datetime:
    return MODIFIED.replace(hour=hour)


def weights(trials: list[Any], versions: list[Any]) -> dict[str, list[float]]:
    found = assembled(trials, versions)["stage_values"].group_by("attempt_id").agg(pl.col("weight"))
    return {name.removeprefix("agentforge:"): own for name, own in found.iter_rows()}


EARLY = document(pack(1.0), "p.json", at(2))
MIDDLE = document(pack(0.5, 0.5), "p.json", at(4))
BROKEN = document(pack(0.5, 0.4), "p.json", at(5))
LATE = document(pack(0.25, 0.75), "p.json", at(6))


@pytest.mark.parametrize(
    ("hour", "expected"),
    [(1, [1.0]), (2, [1.0]), (3, [1.0]), (4, [0.5, 0.5]), (5, [0.5, 0.5]), (6, [0.25, 0.75]), (9, [0.25, 0.75])],
)
def test_a_trial_has_the_weights_of_its_time(hour: int, expected: list[float]) -> None:
    one = document(trial("t"), modified=at(hour))
    for versions in ([EARLY, MIDDLE, BROKEN, LATE], [LATE, BROKEN, MIDDLE, EARLY]):
        assert weights([one], versions) == {"t": expected}


def test_editing_a_pack_changes_no_trial_that_was_there_before() -> None:
    before = document(trial("old"), "old.json", at(3))
    after = document(trial("new"), "new.json", at(7))
    assert weights([before], [EARLY]) == {"old": [1.0]}
    assert weights([before, after], [EARLY, LATE]) == {"old": [1.0], "new": [0.25, 0.75]}


def test_of_versions_of_one_moment_the_last_by_uri_counts() -> None:
    one, other = document(pack(1.0), "a.json", at(4)), document(pack(0.5, 0.5), "b.json", at(4))
    for hour in (3, 5):
        assert weights([document(trial("t"), modified=at(hour))], [other, one]) == {"t": [0.5, 0.5]}


@pytest.mark.parametrize(
    ("configuration", "reason"),
    [
        ({}, "pack_invalid"),
        ({"packKey": "torn"}, "pack_invalid"),
        ({"packKey": "v1.2"}, "pack_invalid"),
        ({"packKey": "elsewhere"}, "pack_missing"),
        ({"packKey": None}, "pack_missing"),
        ({"packKey": "sound"}, None),
        ({"packKey": "elsewhere", "rewardRecipe": "binary"}, None),
        ({"packKey": "sound", "rewardRecipe": "continuous"}, None),
    ],
)
def test_why_a_staged_trial_has_no_stages(configuration: dict[str, Any], reason: str | None) -> None:
    versions = [
        document(pack(0.5), "some.json"),
        document(b"{", "dir/torn.json"),
        document(b"[]", "v1.2.json"),
        document(pack(1.0, key="sound"), "sound.json"),
    ]
    found = assembled([trial("t", **configuration)], versions)
    assert only(found["observations"])["pack_reason"] == reason
    staged = reason is None and "rewardRecipe" not in configuration
    assert found["stage_values"].height == (1 if staged else 0)


CONFIGURATION = "configuration."
RAW = as_bytes(TRIAL)


@pytest.mark.parametrize(
    ("content", "stage", "reason", "path"),
    [
        (changed("status", "timed_out", TRIAL), "decode", "unknown_value", "$.status"),
        (changed("status", "COMPLETED", TRIAL), "decode", "unknown_value", "$.status"),
        (changed("status", ABSENT, TRIAL), "decode", "missing_field", "$.status"),
        (
            changed(CONFIGURATION + "rewardRecipe", "best", TRIAL),
            "decode",
            "unknown_value",
            "$.configuration.rewardRecipe",
        ),
        (
            changed(CONFIGURATION + "rewardRecipe", None, TRIAL),
            "decode",
            "missing_field",
            "$.configuration.rewardRecipe",
        ),
        (changed(CONFIGURATION + "attemptCount", 0, TRIAL), "decode", "out_of_range", "$.configuration.attemptCount"),
        (changed(CONFIGURATION + "attemptCount", 9, TRIAL), "decode", "out_of_range", "$.configuration.attemptCount"),
        (changed(CONFIGURATION + "attemptCount", 4.0, TRIAL), "decode", "wrong_type", "$.configuration.attemptCount"),
        (changed(CONFIGURATION + "packKey", "", TRIAL), "decode", "bad_identifier", "$.configuration.packKey"),
        (
            changed(CONFIGURATION + "scenarioKey", "a\n", TRIAL),
            "decode",
            "bad_identifier",
            "$.configuration.scenarioKey",
        ),
        (changed("configuration", ABSENT, TRIAL), "decode", "missing_field", "$.configuration"),
        (changed("trialId", ABSENT, TRIAL), "decode", "missing_field", "$.trialId"),
        (changed("trialId", "x" * 201, TRIAL), "decode", "bad_identifier", "$.trialId"),
        (changed("jobId", 7, TRIAL), "decode", "wrong_type", "$.jobId"),
        (changed("attempt", 0, TRIAL), "decode", "out_of_range", "$.attempt"),
        (changed("attempt", "1", TRIAL), "decode", "wrong_type", "$.attempt"),
        (changed("metrics", [], TRIAL), "decode", "wrong_type", "$.metrics"),
        (changed("metrics.kept", "0.5", TRIAL), "decode", "wrong_type", "$.metrics.kept"),
        (changed("metrics.kept", True, TRIAL), "decode", "wrong_type", "$.metrics.kept"),
        (RAW.replace(b":0.5", b":1e999"), "decode", "out_of_range", "$.metrics.kept"),
        (RAW.replace(b":0.575", b":NaN"), "decode", "not_json", f"byte {RAW.index(b'0.575')}"),
        (changed("reward", "0.5", TRIAL), "decode", "wrong_type", "$.reward"),
        (changed("finishedAt", "yesterday", TRIAL), "decode", "bad_time", "$.finishedAt"),
        (changed("finishedAt", "2026-11-31T00:00:00Z", TRIAL), "decode", "bad_time", "$.finishedAt"),
        (changed("format", "agentforge-trial/2", TRIAL), "decode", "unknown_shape", "$.format"),
        (changed("format", ABSENT, TRIAL), "decode", "unknown_shape", "$"),
        (PACK, "decode", "unknown_shape", "$.format"),
        ([TRIAL], "decode", "unknown_shape", "$"),
        (RAW[:-1], "decode", "not_json", f"byte {len(RAW) - 1}"),
        (b"", "decode", "empty", "byte 0"),
        (TRIAL | {"extra": "\xff"}, None, None, None),
        (RAW.replace(b"s3://", b"\xff3://"), "decode", "not_utf8", f"byte {RAW.index(b's3:')}"),
        (
            as_bytes(TRIAL | {"x": "@"}).replace(b'"@"', b"[" * 64 + b"]" * 64),
            "decode",
            "too_deep",
            f"byte {len(RAW) + 67}",
        ),
        (as_bytes(TRIAL | {"x": "@"}).replace(b'"@"', b"[" * 63 + b"]" * 63), None, None, None),
        (TRIAL | {"trajectoryUri": None, "note": {"any": [1e9]}}, None, None, None),
        (b"\xef\xbb\xbf" + as_bytes(TRIAL), None, None, None),
        (changed("jobId", ABSENT, RESULT), "decode", "missing_field", "$.jobId"),
        (changed("passAt1", "1", RESULT), "decode", "wrong_type", "$.passAt1"),
        ({"format": RESULT["format"], "jobId": "j"}, None, None, None),
    ],
)
def test_what_is_refused_and_where(content: Any, stage: str | None, reason: str | None, path: str | None) -> None:
    decoded = decode(trial("before"), content, trial("after"))
    found = decoded.frames["agentforge_trials"]["attempt_id"].to_list()
    assert found[0] == "agentforge:before"
    assert found[-1] == "agentforge:after"
    expected = [] if reason is None else [("memory://store/agentforge/1.json", stage, reason, path)]
    assert values(decoded.quarantine, "uri", "stage", "reason", "path") == expected
    assert decoded.next_document == 3 - len(expected)


def test_a_refused_trial_says_which_it_is() -> None:
    refused = decode(changed("status", "lost", TRIAL), changed("trialId", "", TRIAL), RESULT | {"passAtK": "x"})
    assert values(refused.quarantine, "attempt_id") == ["agentforge:t-1", None, None]


def test_a_torn_last_line_is_one_refused_record() -> None:
    lines = as_bytes(trial("a")) + b"\n" + as_bytes(trial("b"))[:100]
    decoded = agentforge.decode([document(lines, "trials.jsonl")], LIMITS)
    assert values(decoded.frames["agentforge_trials"], "attempt_id") == ["agentforge:a"]
    assert values(decoded.quarantine, "reason", "path") == [("not_json", "line 2: byte 100")]


def test_of_repeated_members_the_last_wins() -> None:
    content = RAW.replace(b'"status":', b'"status":"agent_failure","status":')
    row = only(assembled([content.replace(b'"kept":', b'"kept":0.25,"kept":')])["attempts"])
    assert row["outcome"] == "completed"


@pytest.mark.parametrize(
    ("content", "stage", "reason", "path"),
    [
        (pack(0.5, 0.4), "contract", "weight_sum", "$.stages"),
        (pack(), "contract", "weight_sum", "$.stages"),
        (changed("stages.0.hidden", False, PACK), "contract", "weight_sum", "$.stages"),
        (pack(1.0, 2e-9), "contract", "weight_sum", "$.stages"),
        (pack(1.0, 5e-10), None, None, None),
        (pack(1.5, -0.5), "contract", "bad_weight", "$.stages[1].weight"),
        (changed("stages.3.weight", -1, PACK), None, None, None),
        (as_bytes(PACK).replace(b"0.4", b"1e999"), "decode", "out_of_range", "$.stages[0].weight"),
        (changed("stages.1.metricKey", "stage_root_cause", PACK), "contract", "duplicate_metric_key", "$.stages[2].id"),
        (changed("stages.3.metricKey", "kept", PACK), "contract", "duplicate_metric_key", "$.stages[3].metricKey"),
        (changed("stages.2.id", "health_restored", PACK), "contract", "duplicate_metric_key", "$.stages[2].id"),
        (changed("stages.1.id", "health-restored", PACK), "contract", "duplicate_id", "$.stages[1].id"),
        (changed("stages.0.hidden", ABSENT, PACK), "decode", "missing_field", "$.stages[0].hidden"),
        (changed("stages.0.hidden", 1, PACK), "decode", "wrong_type", "$.stages[0].hidden"),
        (changed("stages.0.weight", None, PACK), "decode", "missing_field", "$.stages[0].weight"),
        (changed("stages.0.id", "", PACK), "decode", "bad_identifier", "$.stages[0].id"),
        (changed("stages", ABSENT, PACK), "decode", "missing_field", "$.stages"),
        (changed("packKey", ABSENT, PACK), "decode", "missing_field", "$.packKey"),
        (changed("format", "agentforge-pack/2", PACK), "decode", "unknown_shape", "$.format"),
        (TRIAL, "decode", "unknown_shape", "$.format"),
        (b"{", "decode", "not_json", "byte 1"),
    ],
)
def test_which_packs_are_refused(content: Any, stage: str | None, reason: str | None, path: str | None) -> None:
    decoded = packs(pack(1.0, key="before"), content, pack(1.0, key="after"))
    expected = [] if reason is None else [("memory://store/agentforge-packs/1.json", stage, reason, path)]
    assert values(decoded.quarantine, "uri", "stage", "reason", "path") == expected
    found = decoded.frames["agentforge_packs"]
    assert found["reason"].to_list() == [None, "pack_invalid" if reason else None, None]
    assert found["stages"].is_null().to_list() == [False, reason is not None, False]


def test_a_pack_that_cannot_be_read_is_known_by_its_key_or_else_its_file() -> None:
    keyed = changed("stages", 7, PACK)
    decoded = packs(
        document(keyed, "x.json"), document(b"{", "deep/y.z.json"), document(keyed | {"packKey": ""}, "z.json")
    )
    assert values(decoded.frames["agentforge_packs"], "pack_key") == ["incident", "y.z", "z"]


SPOILED = st.sampled_from([TRIAL, RESULT]).flatmap(
    lambda base: st.tuples(st.just(base), st.sampled_from(places(base)), st.sampled_from(TOKENS))
)


@given(st.lists(SPOILED.map(lambda spoiled: with_token(*spoiled)) | st.binary(max_size=30), min_size=1, max_size=8))
@settings(max_examples=100, deadline=None)
def test_whatever_the_bytes_the_fast_reading_is_the_careful_one(contents: list[bytes]) -> None:
    fast = decode(TRIAL, *contents)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(agentforge_reading, "_glance", lambda *_: None)
        careful = decode(TRIAL, *contents)
    for name, frame in fast.frames.items():
        assert_frame_equal(frame, careful.frames[name])
    assert_frame_equal(fast.candidates, careful.candidates)
    assert_frame_equal(fast.quarantine, careful.quarantine)
    assert fast.candidates.height + fast.quarantine.height == len(contents) + 1


@given(
    st.lists(
        st.sampled_from(places(PACK)).flatmap(
            lambda path: st.sampled_from(TOKENS).map(lambda token: with_token(PACK, path, token))
        ),
        max_size=8,
    )
)
@settings(max_examples=60, deadline=None)
def test_whatever_the_packs_a_trial_has_stages_or_a_reason(contents: list[bytes]) -> None:
    found = assembled([TRIAL], contents)
    conform(StageValues, found["stage_values"].drop("document"))
    reason = only(found["observations"])["pack_reason"]
    assert (reason is None) == (found["stage_values"].height > 0)


def test_the_depth_limit_is_that_of_the_settings() -> None:
    assert agentforge.decode([document(TRIAL)], Limits(max_depth=1)).quarantine["reason"].to_list() == ["too_deep"]
