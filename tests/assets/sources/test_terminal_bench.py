"""Run files of terminal-bench: their trials, their figures, and the trials that left no file of their own."""

import datetime as dt
from typing import Any

import polars as pl
import pytest

from assets.attempts.precedence import resolve
from assets.sources import harbor
from tests.assets.sources.harbor_documents import (
    DAY,
    ENTRY,
    RUN,
    TRIAL,
    assembled,
    decode,
    document,
    figures,
    joined,
)
from tests.assets.sources.worldseq_documents import ABSENT, as_bytes, changed, only

PATH = "2025-09-01__run/results.json"
NEXT_DAY = DAY + dt.timedelta(days=1)


def run(*entries: Any, **fields: Any) -> dict[str, Any]:
    """The file of a run with these trials."""
    return {**RUN, "results": list(entries), **fields}


def entry(number: int, **fields: Any) -> dict[str, Any]:
    """The trial with an id and a name of its own."""
    return {**ENTRY, "id": f"e-{number}", "trial_name": f"hello.{number}", **fields}


def trial_file(name: str, content: Any = None, day: dt.date = DAY, above: str = "2025-09-01__run") -> Any:
    """A trial's own file, in the directory of that name."""
    return document({"task_id": "hello", **(content or {})}, f"{above}/hello/{name}/results.json", day)


def observations(*contents: Any) -> list[dict[str, Any]]:
    """Observations of the trials of all documents together."""
    return list(assembled(*contents).frames["observations"].iter_rows(named=True))


def found(*contents: Any) -> list[bool]:
    """Of each trial whether it counts as found."""
    return [row["present"] for row in observations(*contents)]


def refused(content: Any, path: str = PATH) -> list[tuple[str, str, str | None]]:
    """Stage, reason and path of each quarantine row."""
    return decode(document(content, path)).quarantine.select("stage", "reason", "path").rows()


def test_each_trial_of_a_run_is_an_observation_and_an_attempt() -> None:
    decoded = assembled(document(RUN, PATH))
    row = decoded.frames["observations"].row(0, named=True)
    assert {name: value for name, value in row.items() if value is not None} == {
        "document": 0,
        "attempt_id": "harbor:e-1",
        "source": "harbor",
        "landed_on": DAY,
        "uri": f"memory://store/harbor/{DAY}/{PATH}",
        "format": "terminal-bench",
        "run_id": "2025-09-01__run",
        "benchmark": "terminal-bench",
        "task_id": "hello",
        "present": True,
        "running": False,
        "status": "unset",
        "error": False,
        "fatal": False,
        "metrics": [{"name": "accuracy", "value": 1.0, "boolean": True}],
        "exceptions": [],
        "n_input_tokens": 2**33,
        "n_output_tokens": 12,
    }
    attempts = decoded.frames["attempts"]
    assert attempts["attempt_id"].to_list() == ["harbor:e-1", "harbor:e-2"]
    assert attempts["shape"].to_list() == ["run", "run"]
    assert attempts["outcome"].to_list() == ["completed", "completed"]
    assert decoded.candidates["path"].to_list() == ["$.results[0]", "$.results[1]"]
    assert decoded.candidates["document"].to_list() == [0, 1]
    assert decoded.frames["observations"]["metrics"].list.first().struct.field("value").to_list() == [1.0, 0.0]


@pytest.mark.parametrize("value", [None, ABSENT])
def test_a_trial_that_could_not_be_judged_is_a_failure_not_a_zero(value: Any) -> None:
    decoded = assembled(document(run(changed("is_resolved", value, entry(1, failure_mode="TEST_timeout"))), PATH))
    row = only(decoded.frames["observations"])
    assert (row["metrics"], row["error"], row["status"]) == ([], True, "test_timeout")
    row = only(decoded.frames["attempts"])
    assert (row["outcome"], row["failure_kind"]) == ("infrastructure_failure", "TEST_timeout")


def test_a_timeout_may_have_solved_its_task() -> None:
    decoded = assembled(document(run(entry(1, failure_mode="agent_timeout")), PATH))
    row = only(decoded.frames["observations"])
    assert (row["error"], row["status"], row["metrics"][0]["value"]) == (False, "agent_timeout", 1.0)
    assert only(decoded.frames["attempts"])["failure_kind"] is None


@pytest.mark.parametrize(
    ("fields", "attempt_id"),
    [
        ({"id": "a", "uuid": "b"}, "harbor:a"),
        ({"id": None, "uuid": "b"}, "harbor:b"),
        ({"id": ABSENT, "uuid": "b"}, "harbor:b"),
    ],
)
def test_identity_is_the_id_or_else_the_uuid(fields: dict[str, Any], attempt_id: str) -> None:
    content = ENTRY
    for name, value in fields.items():
        content = changed(name, value, content)
    assert observations(document(run(content), PATH))[0]["attempt_id"] == attempt_id


def test_times_are_there_in_one_variant() -> None:
    times = {"trial_started_at": "2025-07-13T01:02:03.000004+00:00", "trial_ended_at": "2025-07-13T01:12:03"}
    row = observations(document(run(entry(1, **times)), PATH))[0]
    assert row["started_at"] == dt.datetime(2025, 7, 13, 1, 2, 3, 4, tzinfo=dt.UTC)
    assert (row["started_at_text"], row["finished_at"]) == (None, None)
    assert row["finished_at_text"] == "2025-07-13T01:12:03"


def test_agent_and_model_are_known_only_where_the_file_says() -> None:
    row = observations(document(run(entry(1), agent_name="terminus", model_name="m"), PATH))[0]
    assert (row["agent_name"], row["model_name"]) == ("terminus", "m")


@pytest.mark.parametrize(
    ("path", "run_id"), [(PATH, "2025-09-01__run"), ("a/b/results.json", "a/b"), ("results.json", ".")]
)
def test_a_run_is_the_directory_of_its_file(path: str, run_id: str) -> None:
    decoded = decode(document(RUN, path))
    assert only(decoded.frames["benchmark_runs"])["run_id"] == run_id
    assert [row["run_id"] for row in observations(document(RUN, path))] == [run_id, run_id]


def test_the_file_describes_its_run_and_records_its_figures() -> None:
    decoded = decode(document(RUN, PATH))
    row = only(decoded.frames["benchmark_runs"])
    assert (row["benchmark"], row["registered"], row["running"], row["document"]) == ("terminal-bench", 2, None, 2)
    assert figures(decoded) == {
        "job:accuracy": 0.5,
        "job:n_resolved": 1.0,
        "job:n_unresolved": 1.0,
        "job:pass@2": 1.0,
    }
    assert decoded.frames["recorded_values"]["run_id"].unique().to_list() == ["2025-09-01__run"]
    candidate = only(decoded.candidates)
    assert (candidate["attempt_id"], candidate["shape"], candidate["document"]) == (None, "run", 2)


def test_a_run_without_figures_or_trials() -> None:
    decoded = decode(document({"results": [], "pass_at_k": {"2": None}}, PATH))
    assert figures(decoded) == {}
    assert only(decoded.frames["benchmark_runs"])["registered"] == 0


@pytest.mark.parametrize(
    ("path", "value", "reason", "place"),
    [
        ("is_resolved", 1, "wrong_type", "$.results[1].is_resolved"),
        ("total_input_tokens", 1.5, "wrong_type", "$.results[1].total_input_tokens"),
        ("total_output_tokens", -1, "out_of_range", "$.results[1].total_output_tokens"),
        ("task_id", ABSENT, "missing_field", "$.results[1].task_id"),
        ("task_id", "", "bad_identifier", "$.results[1].task_id"),
        ("id", ABSENT, "missing_field", "$.results[1].id"),
        ("id", "a\nb", "bad_identifier", "$.results[1].id"),
        ("failure_mode", 7, "wrong_type", "$.results[1].failure_mode"),
        ("trial_started_at", 7, "wrong_type", "$.results[1].trial_started_at"),
    ],
)
def test_one_broken_trial_leaves_the_others_and_the_count_alone(path: str, value: Any, reason: str, place: str) -> None:
    content = document(run(entry(0), changed(path, value, entry(1)), entry(2)), PATH)
    decoded = decode(content)
    assert decoded.quarantine.select("stage", "reason", "path").rows() == [("decode", reason, place)]
    assert only(decoded.frames["benchmark_runs"])["registered"] == 3
    assert [row["attempt_id"] for row in observations(content)] == ["harbor:e-0", "harbor:e-2"]


def test_the_quarantine_names_the_trial_where_it_can() -> None:
    content = run(entry(0, task_id=7), 7, changed("id", ABSENT, entry(1, task_id=7, uuid="u")))
    assert decode(document(content, PATH)).quarantine["attempt_id"].to_list() == ["harbor:e-0", None, "harbor:u"]


def test_a_broken_figure_of_the_run_leaves_its_trials_alone() -> None:
    content = document({**RUN, "accuracy": "high"}, PATH)
    decoded = decode(content)
    assert decoded.quarantine.select("reason", "path").rows() == [("wrong_type", "$.accuracy")]
    assert decoded.frames["benchmark_runs"].is_empty()
    assert len(observations(content)) == 2


@pytest.mark.parametrize("field", ["instruction", "parser_results", "recording_path", "agent_started_at"])
def test_a_field_that_is_not_used_may_be_anything(field: str) -> None:
    assert refused(run(entry(1, **{field: 7}))) == []


@pytest.mark.parametrize(
    ("content", "reason", "place"),
    [
        (b"[]", "unknown_shape", "$"),
        (b"{}", "unknown_shape", "$"),
        (b'{"results": null}', "unknown_shape", "$"),
        (b'{"accuracy": 1}', "unknown_shape", "$"),
        (b'{"results": {}}', "wrong_type", "$.results"),
        (as_bytes(RUN)[:100], "not_json", "byte 100"),
    ],
)
def test_what_is_no_results(content: bytes, reason: str, place: str) -> None:
    assert refused(content) == [("decode", reason, place)]


def test_the_file_of_a_single_trial_tells_nothing_by_itself() -> None:
    decoded = decode(trial_file("hello.1", ENTRY))
    assert decoded.quarantine.is_empty()
    assert decoded.candidates.is_empty()
    assert decoded.frames["recorded_values"].is_empty()
    assert observations(trial_file("hello.1", ENTRY)) == []


# Which trials are missing


def test_where_no_trial_files_were_landed_nothing_is_missing() -> None:
    assert found(document(run(entry(1), entry(2)), PATH)) == [True, True]


def test_where_some_were_landed_a_trial_without_one_is_missing_and_keeps_its_verdict() -> None:
    decoded = assembled(document(run(entry(1), entry(2), entry(3)), PATH), trial_file("hello.1"), trial_file("hello.3"))
    frame = decoded.frames["observations"]
    assert frame["present"].to_list() == [True, False, True]
    assert frame["metrics"].list.len().to_list() == [1, 1, 1]
    assert decoded.frames["attempts"]["attempt_id"].to_list() == ["harbor:e-1", "harbor:e-3"]
    assert decoded.candidates["attempt_id"].to_list() == ["harbor:e-1", "harbor:e-2", "harbor:e-3"]


def test_a_trial_file_is_known_by_its_directory_or_by_what_it_says() -> None:
    run_file = document(run(entry(1), entry(2)), PATH)
    assert found(run_file, trial_file("renamed", {"trial_name": "hello.1"})) == [True, False]
    for nonsense in (7, [], {}, "\ud800", "", "x" * 201):
        assert found(run_file, trial_file("hello.2", {"trial_name": nonsense})) == [False, True]


def test_a_trial_without_a_name_is_not_said_to_be_missing() -> None:
    assert found(document(run(entry(1, trial_name=None), entry(2)), PATH), trial_file("hello.9")) == [True, False]


@pytest.mark.parametrize(
    "elsewhere",
    [
        trial_file("hello.1", day=NEXT_DAY),
        trial_file("hello.1", above="another__run"),
        trial_file("hello.1", above="2025-09-01__run/deeper"),
        document({"task_id": "hello"}, "results.json"),
    ],
)
def test_files_of_another_run_or_day_say_nothing(elsewhere: Any) -> None:
    assert found(document(run(entry(1), entry(2)), PATH), elsewhere) == [True, True]


def test_a_run_in_the_folder_of_the_day_itself() -> None:
    above = document({"task_id": "hello"}, "hello/hello.1/results.json")
    assert found(document(run(entry(1), entry(2)), "results.json"), above) == [True, False]


# Copies


def test_a_run_file_copied_elsewhere_counts_once() -> None:
    decoded = decode(document(RUN, PATH), document(RUN, f"backup/{PATH}"))
    resolution = resolve(
        pl.concat([decoded.candidates, joined(decoded).candidates]),
        decoded.frames["recorded_values"],
        decoded.side_files,
        harbor.PRECEDENCE,
    )
    assert resolution.winners["identical_copies"].to_list() == [1, 1]
    assert resolution.quarantine.is_empty()
    kept = decoded.frames["benchmark_runs"].join(resolution.recorded, on="document", how="semi")
    # The copy of the run has no trials of its own: it makes no row of totals.
    assert kept["run_id"].to_list() == ["2025-09-01__run", "backup/2025-09-01__run"]


def test_the_same_trial_elsewhere_in_another_notation_is_a_copy() -> None:
    pretty = (
        as_bytes(RUN).replace(b'"is_resolved":true,', b"").replace(b'"task_id"', b'"is_resolved" : true , "task_id"')
    )
    assert pretty != as_bytes(RUN)
    digests = assembled(document(RUN, PATH), document(pretty, "b/results.json")).candidates["digest"].to_list()
    assert digests[:2] == digests[2:]


def test_one_batch_numbers_everything_once() -> None:
    contents = (
        trial_file("hello.1"),
        document(RUN, PATH),
        document(TRIAL),
        document({"reward": 1}, "j/t/verifier/reward.json"),
    )
    decoded = decode(*contents, first=10)
    assert decoded.frames["observations"]["document"].to_list() == [10]
    assert decoded.frames["terminal_bench_trials"]["document"].to_list() == [11, 12]
    assert decoded.frames["terminal_bench_files"]["document"].unique().to_list() == [13]
    assert decoded.frames["benchmark_runs"]["document"].to_list() == [14]
    assert decoded.side_files["document"].to_list() == [15]
    assert decoded.next_document == 16
