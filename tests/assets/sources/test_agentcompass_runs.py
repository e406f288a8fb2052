"""The files of AgentCompass runs together: which attempts and tasks count, and whose they are."""

import datetime as dt
from typing import Any

import pytest
from polars.testing import assert_frame_equal

from assets.attempts.precedence import resolve
from tests.assets.sources.agentcompass_documents import (
    DAY,
    HOME,
    RECORD,
    STORE,
    document,
    lines,
    metrics,
    normal,
    observations,
    record,
    refused,
    result,
    task,
    task_files,
    together,
)

CLEAN = {"status": "COMPLETED"}


def test_only_the_attempts_that_a_task_names_count() -> None:
    directory = normal()
    decoded = together(
        *task_files(directory, task(attempts=(1,)), [result(), result(correct=False)]),
        document(f"{directory}/attempt-1/retries/4f2a/result.json", result(correct=False)),
        document(f"{directory}/attempt-1/retries/t1.attempt1.run.json", b"{torn"),
        document(f"{directory}/attempt-1/checkpoint.json", {"schema_version": "agentcompass.attempt_checkpoint.v1"}),
        document(f"{directory}/attempt-1/artifacts/details/normal/x/task.json", task("x")),
    )
    assert [row["attempt_index"] for row in observations(decoded)] == [1]
    assert refused(decoded) == []


def test_a_named_attempt_that_left_nothing_is_kept() -> None:
    decoded = together(*task_files(normal(), task(attempts=(1, 2, 3)), [result(), b"{", {"retry_count": 2}]))
    rows = observations(decoded)
    assert [(row["attempt_index"], row["present"], row["status"]) for row in rows] == [
        (1, True, "completed"),
        (2, False, None),
        (3, False, None),
    ]
    assert [row["uri"] for row in rows[1:]] == [f"{STORE}{normal()}/task.json"] * 2
    assert not any(row["error"] or row["fatal"] or row["metrics"] for row in rows[1:])
    assert decoded.frames["attempts"].height == 1
    assert decoded.candidates["document"].n_unique() == len(rows)
    assert decoded.candidates["document"].max() < decoded.next_document
    assert refused(decoded) == [(f"{normal()}/attempt-2/result.json", "decode", "not_json", "byte 1")]


def test_a_task_without_any_attempt_does_not_vanish() -> None:
    (row,) = observations(together(*task_files(normal(), task(attempts=()))))
    assert (row["present"], row["running"], row["attempt_index"]) == (False, False, None)
    assert row["attempt_id"] == "agentcompass:nightly/gsm/t1/0"


def test_a_running_task_is_told_by_its_directory() -> None:
    directory = f"{HOME}/details/running/t1--0"
    decoded = together(*task_files(directory, task(attempts=(1, 2)), [result()]))
    assert [(row["present"], row["running"]) for row in observations(decoded)] == [(True, True), (False, True)]
    assert decoded.frames["attempts"].is_empty()


@pytest.mark.parametrize(
    ("fields", "running"),
    [
        ({}, [False, False]),
        ({"attempt_plan": None}, [False, False]),
        ({"category": None}, [False, False]),
        ({"attempt_plan": None, "category": None}, [False, True]),
    ],
)
def test_what_is_merely_allocated_is_running_until_it_left_something(
    fields: dict[str, Any], running: list[bool]
) -> None:
    index = task(attempts=(1, 2), schema_version="agentcompass.task.v2", **fields)
    decoded = together(*task_files(f"{HOME}/details/t1--0", index, [result()]))
    assert [row["running"] for row in observations(decoded)] == running


@pytest.mark.parametrize("index", [None, b"{", {"task_id": "t1"}])
def test_an_attempt_without_its_task_is_quarantined(index: Any) -> None:
    documents = task_files(normal(), index, [result()])
    decoded = together(*(documents[1:] if index is None else documents))
    assert observations(decoded) == []
    assert refused(decoded)[0] == (f"{normal()}/attempt-1/result.json", "decode", "unknown_shape", None)
    assert len(refused(decoded)) == (1 if index is None else 2)


@pytest.mark.parametrize(
    ("home", "run_id", "benchmark"),
    [("r", "r", "r"), ("r/b", "r", "b"), ("team/r/b", "team/r", "b"), ("r\nx/b", "r\nx", "b")],
)
def test_a_run_is_named_by_its_directory(home: str, run_id: str, benchmark: str) -> None:
    for documents in (task_files(normal(home=home), task()), [document(f"{home}/results.jsonl", lines(record()))]):
        (row,) = observations(together(*documents))
        assert (row["run_id"], row["benchmark"], row["agent_name"], row["model_name"]) == (
            run_id,
            benchmark,
            None,
            None,
        )


def test_a_runs_file_names_the_run_and_who_ran_it() -> None:
    run = {"runId": "r-7", "benchmark": "gsm8k", "model": "m-large", "harness": "react"}
    decoded = together(
        document(f"{HOME}/run.json", run),
        *task_files(normal(), task()),
        document(f"{HOME}/deeper/t2.json", record("t2")),
        document("nightly/other/t3.json", record("t3")),
    )
    rows = {row["task_id"]: row for row in observations(decoded)}
    for name in ("t1", "t2"):
        row = rows[name]
        assert (row["run_id"], row["benchmark"], row["agent_name"], row["model_name"]) == (
            "r-7",
            "gsm8k",
            "react",
            "m-large",
        )
    assert (rows["t3"]["run_id"], rows["t3"]["model_name"]) == ("nightly", None)


def test_a_file_above_the_benchmarks_of_a_run_does_not_merge_them() -> None:
    decoded = together(
        document("nightly/run.json", {"model": "m"}),
        document("nightly/gsm/t.json", record()),
        document("nightly/swe/t.json", record()),
    )
    assert [row["benchmark"] for row in observations(decoded)] == ["gsm", "swe"]


def test_a_run_goes_on_without_its_broken_file() -> None:
    decoded = together(document(f"{HOME}/run.json", {"runId": "r-7", "k": "3"}), *task_files(normal(), task()))
    assert observations(decoded)[0]["run_id"] == "nightly"
    assert decoded.frames["benchmark_runs"].is_empty()
    assert refused(decoded) == [(f"{HOME}/run.json", "decode", "wrong_type", "$.k")]


def test_equal_files_of_two_runs_are_two() -> None:
    decoded = together(document("a/b/run.json", {"k": 1}), document("c/b/run.json", {"k": 1}))
    assert decoded.frames["benchmark_runs"]["run_id"].to_list() == ["a", "c"]
    assert decoded.candidates["digest"].n_unique() == 2
    assert decoded.candidates["attempt_id"].to_list() == [None, None]
    assert decoded.candidates["shape"].to_list() == ["run", "run"]


def test_of_two_files_of_one_run_the_newest_counts() -> None:
    named = {"runId": "r", "benchmark": "b"}
    decoded = together(
        document("a/run.json", {**named, "k": 1}, later=1),
        document("b/run.json", {**named, "k": 2}),
        document("c/run.json", {**named, "k": 1}),
    )
    assert decoded.frames["benchmark_runs"]["k"].to_list() == [1, 1]
    assert decoded.candidates["digest"].n_unique() == 1
    assert refused(decoded) == [("b/run.json", "duplicate", "superseded", None)]


OLD = f"{HOME}/details/error/t1--0"


def test_of_a_task_twice_the_newest_counts_whole() -> None:
    decoded = together(
        *task_files(OLD, task(attempts=(1, 2)), [result(correct=False), result()]),
        *task_files(normal(), task(attempts=(1,)), [result()], later=1),
    )
    rows = observations(decoded)
    assert [(row["attempt_index"], metrics(row)) for row in rows] == [(1, {"correct": 1.0})]
    assert refused(decoded) == [(f"{OLD}/task.json", "duplicate", "superseded", None)]
    assert decoded.candidates.height == 1


def test_a_task_with_another_result_is_not_the_same() -> None:
    decoded = together(*task_files(OLD, task(), [result()]), *task_files(normal(), task(), [result(correct=False)]))
    assert [metrics(row) for row in observations(decoded)] == [{"correct": 0.0}]
    assert refused(decoded) == [(f"{OLD}/task.json", "duplicate", "superseded", None)]


def test_a_task_that_runs_again_is_not_the_same() -> None:
    running = f"{HOME}/details/running/t1--0"
    decoded = together(*task_files(running, task(), [result()]), *task_files(normal(), task(), [result()], later=1))
    assert [row["running"] for row in observations(decoded)] == [False]
    assert refused(decoded) == [(f"{running}/task.json", "duplicate", "superseded", None)]


def test_a_copy_leaves_nothing_but_a_count() -> None:
    files = (task(attempts=(1, 2)), [result()])
    decoded = together(*task_files(OLD, *files), *task_files(normal(), *files))
    assert refused(decoded) == []
    resolution = resolve(decoded.candidates, decoded.frames["recorded_values"], decoded.side_files)
    assert resolution.winners["identical_copies"].to_list() == [1, 1]
    assert resolution.quarantine.is_empty()


def test_of_a_record_twice_the_newest_then_the_greatest_uri_then_the_later_line_counts() -> None:
    older, first, second = record(score=1), record(score=2), record(score=3)
    decoded = together(
        document(f"{HOME}/z.json", older, later=-1),
        document(f"{HOME}/a.jsonl", lines(record(score=9))),
        document(f"{HOME}/results.jsonl", lines(first, second, second)),
    )
    assert {metrics(row)["score"] for row in observations(decoded)} == {3.0}
    assert refused(decoded) == [
        (f"{HOME}/a.jsonl", "duplicate", "superseded", "line 1"),
        (f"{HOME}/results.jsonl", "duplicate", "superseded", "line 1"),
        (f"{HOME}/z.json", "duplicate", "superseded", None),
    ]
    resolution = resolve(decoded.candidates, decoded.frames["recorded_values"], decoded.side_files)
    assert resolution.winners["identical_copies"].to_list() == [1]


def test_a_record_with_several_attempts_is_superseded_once() -> None:
    attempts = [CLEAN, {"status": "ERROR", "correct": True}]
    decoded = together(
        document(f"{HOME}/results.jsonl", lines(record(attempts=attempts), record())),
    )
    assert refused(decoded) == [(f"{HOME}/results.jsonl", "duplicate", "superseded", "line 1")]
    assert decoded.frames["recorded_values"].is_empty()


def test_both_generations_of_one_task_are_one_task() -> None:
    decoded = together(*task_files(normal(), task(), [result()]), document(RECORD, record(), later=1))
    assert [row["format"] for row in observations(decoded)] == ["agentcompass-0"]
    assert refused(decoded) == [(f"{normal()}/task.json", "duplicate", "superseded", None)]


def test_days_do_not_meet() -> None:
    other = DAY + dt.timedelta(days=1)
    decoded = together(
        *task_files(normal(), task(), [result()]),
        *task_files(normal(), task(), landed_on=other),
        document(f"{HOME}/run.json", {"model": "m"}, landed_on=other),
        document(RECORD, record("t2")),
        document(RECORD, record("t2", score=0), landed_on=other),
    )
    rows = {(row["landed_on"], row["task_id"]): row for row in observations(decoded)}
    assert [rows[day, "t1"]["present"] for day in (DAY, other)] == [True, False]
    assert [rows[day, "t1"]["model_name"] for day in (DAY, other)] == [None, "m"]
    assert [metrics(rows[day, "t2"])["score"] for day in (DAY, other)] == [1.0, 0.0]
    assert refused(decoded) == []


def test_batches_come_to_the_same_in_any_cut() -> None:
    documents = [
        *(
            file
            for number in range(7)
            for file in task_files(normal(f"t{number}"), task(f"t{number}", (1, 2)), [result()])
        ),
        document(f"{HOME}/run.json", {"model": "m"}),
        document(f"{HOME}/results.jsonl", lines(record("r1"), record("t3"))),
    ]
    whole, parts = together(*documents), together(*documents, batches=3)
    assert_frame_equal(
        whole.frames["observations"].drop("document").sort("attempt_id"),
        parts.frames["observations"].drop("document").sort("attempt_id"),
    )
    assert refused(whole) == refused(parts)


def test_no_two_attempts_share_an_id() -> None:
    decoded = together(
        document("r/b/x.json", record("t/1")),
        document("r/b/t/x.json", record("1")),
        document("r/b/y.json", record("t~11")),
        document("q/run.json", {"runId": "r", "benchmark": "b/t"}),
        document("q/x.json", record("1")),
    )
    ids = decoded.frames["observations"]["attempt_id"].to_list()
    assert sorted(ids) == [
        "agentcompass:r/b/t/1/1",
        "agentcompass:r/b/t~011/1",
        "agentcompass:r/b/t~11/1",
        "agentcompass:r/b~1t/1/1",
    ]
