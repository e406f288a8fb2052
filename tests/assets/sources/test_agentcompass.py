"""AgentCompass files: what each one of them tells, and what becomes of those that cannot be read."""

import json
from typing import Any

import pytest
from polars.testing import assert_frame_equal

from assets.attempts.contract import Attempts, BenchmarkRuns, Observations, RecordedValues
from assets.contract import conform, schema, table_name
from assets.landing.contract import Quarantine
from assets.sources import agentcompass
from assets.sources.agentcompass import place
from assets.sources.documents import CANDIDATES, SIDE_FILES, Decoded, Document, Limits
from tests.assets.sources.agentcompass_documents import (
    DAY,
    HOME,
    MODIFIED,
    RECORD,
    STORE,
    document,
    issue,
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

TABLES = (Observations, Attempts, BenchmarkRuns, RecordedValues)


def of_result(**fields: Any) -> dict[str, Any]:
    """The observation of one attempt of release 1.0."""
    (row,) = observations(together(*task_files(normal(), task(), [result(**fields)])))
    return row


def of_record(**fields: Any) -> Decoded:
    """One record of the generation before."""
    return together(document(RECORD, record(**fields)))


def test_every_frame_fulfils_its_contract() -> None:
    mixed = [
        *task_files(normal(), task(attempts=(1, 2)), [result()]),
        document(RECORD, record("t2", status="ERROR")),
        document(f"{HOME}/run.json", {"k": 2, "metrics": {"correct": {"kind": "binary_success", "primary": True}}}),
        document(f"{HOME}/notes.json", b"{"),
    ]
    for decoded in (together(*mixed), together()):
        for contract in TABLES:
            frame = decoded.frames[table_name(contract)]
            assert dict(frame.schema) == {"document": CANDIDATES["document"], **schema(contract)}
            conform(contract, frame.drop("document"))
        conform(Quarantine, decoded.quarantine)
        assert dict(decoded.candidates.schema) == CANDIDATES
        assert dict(decoded.side_files.schema) == SIDE_FILES
    for name, frame in agentcompass.decode(mixed, Limits()).frames.items():
        assert dict(frame.schema) == dict(agentcompass.PARTS[name])


def test_an_attempt_of_release_1() -> None:
    path = f"{normal()}/attempt-1/result.json"
    decoded = together(*task_files(normal(), task("HumanEval/0"), [result()]))
    (row,) = observations(decoded)
    assert {name: value for name, value in row.items() if value is not None} == {
        "document": 1,
        "attempt_id": "agentcompass:nightly/gsm/HumanEval~10/1",
        "source": "agentcompass",
        "landed_on": DAY,
        "uri": STORE + path,
        "format": "agentcompass-1",
        "run_id": "nightly",
        "benchmark": "gsm",
        "task_id": "HumanEval/0",
        "attempt_index": 1,
        "present": True,
        "running": False,
        "category": ["py"],
        "status": "completed",
        "error": False,
        "fatal": False,
        "metrics": [{"name": "correct", "value": 1.0, "boolean": True}],
        "exceptions": [],
        "plan_k": 1,
        "plan_strategy": "avg",
        "n_input_tokens": 1200,
    }
    (attempt,) = decoded.frames["attempts"].to_dicts()
    assert attempt["document"] == 1
    assert (attempt["shape"], attempt["outcome"], attempt["repeat"]) == ("task", "completed", 1)
    (candidate,) = decoded.candidates.to_dicts()
    assert candidate["document"] == 1
    assert (candidate["attempt_id"], candidate["uri"]) == (row["attempt_id"], row["uri"])
    assert (candidate["last_modified"], candidate["path"]) == (MODIFIED, None)


def test_an_attempt_may_say_that_it_is_running() -> None:
    row = of_result(status="running")
    assert (row["present"], row["running"], row["metrics"]) == (True, True, [])


@pytest.mark.parametrize(
    ("fields", "error", "fatal", "values"),
    [
        ({}, False, False, {"correct": 1.0}),
        ({"issues": [issue("warning")]}, False, False, {"correct": 1.0}),
        ({"issues": [issue("error")]}, True, False, {"correct": 1.0}),
        ({"issues": [issue("fatal")]}, True, True, {"correct": 1.0}),
        ({"status": "eval_error", "issues": [issue("error")]}, True, False, {"correct": 1.0}),
        ({"status": "run_error"}, True, False, {"correct": 1.0}),
        ({"status": "run_error_or_eval_error"}, True, False, {"correct": 1.0}),
        ({"status": "skipped"}, False, False, {}),
        ({"status": "cancelled"}, False, False, {}),
        ({"status": "interrupted", "issues": [issue("error")]}, True, False, {}),
        ({"issues": None, "error": "old"}, True, False, {"correct": 1.0}),
        ({"issues": None, "error": ""}, False, False, {"correct": 1.0}),
        ({"metrics": {"score": 3, "ok": False, "left": None}}, False, False, {"score": 3.0, "ok": 0.0, "left": None}),
        ({"metrics": None}, False, False, {}),
    ],
)
def test_status_issues_and_metrics_are_kept_apart(
    fields: dict[str, Any], error: bool, fatal: bool, values: dict[str, float | None]
) -> None:
    row = of_result(**fields)
    assert (row["error"], row["fatal"], metrics(row)) == (error, fatal, values)


def test_the_failure_of_an_attempt_is_told_whole() -> None:
    issues = [issue("warning", "slow"), issue("error", "no judge"), issue("fatal", "no disk\nleft")]
    decoded = together(*task_files(normal(), task(), [result(status="eval_error", issues=issues)]))
    (attempt,) = decoded.frames["attempts"].to_dicts()
    assert attempt["outcome"] == "infrastructure_failure"
    assert (attempt["failure_kind"], attempt["failure_message"]) == ("eval_error", "no judge; no disk\nleft")


@pytest.mark.parametrize(
    ("fields", "kind"),
    [
        ({}, None),
        ({"status": "run_error"}, "run_error"),
        ({"issues": [issue("fatal")]}, "fatal_issue"),
        ({"issues": [issue("error")]}, "error_recorded"),
    ],
)
def test_a_failure_is_never_named_completed(fields: dict[str, Any], kind: str | None) -> None:
    decoded = together(*task_files(normal(), task(), [result(**fields)]))
    assert decoded.frames["attempts"]["failure_kind"].to_list() == [kind]


@pytest.mark.parametrize(
    ("telemetry", "told"),
    [
        (
            {"n_input_tokens": 2**53, "n_cache_tokens": 0, "n_output_tokens": 7, "cost_usd": 0.25},
            (2**53, 0, 7, 0.25),
        ),
        ({"n_input_tokens": 2**53 + 1, "n_output_tokens": -1, "cost_usd": -1}, (None,) * 4),
        ({"n_input_tokens": 1.5, "n_output_tokens": "7", "cost_usd": True}, (None,) * 4),
        ("nonsense", (None,) * 4),
    ],
)
def test_tokens_are_taken_where_they_are_valid(telemetry: Any, told: tuple[Any, ...]) -> None:
    names = ("n_input_tokens", "n_cache_tokens", "n_output_tokens", "cost_usd")
    meta = {"harness": {"telemetry": telemetry}}
    row = of_result(meta=meta)
    assert tuple(row[name] for name in names) == told
    assert tuple(observations(of_record(meta=meta))[0][name] for name in names) == told


def test_an_overflow_in_telemetry_is_left_out() -> None:
    content = json.dumps(result(meta={"harness": {"telemetry": {"cost_usd": 7}}})).replace("7}", "1e999}").encode()
    (row,) = observations(together(*task_files(normal(), task(), [content])))
    assert (row["cost_usd"], metrics(row)) == (None, {"correct": 1.0})


@pytest.mark.parametrize(
    ("fields", "error", "values", "contradicted"),
    [
        ({}, False, {"correct": 1.0, "score": 1.0}, {}),
        ({"correct": False, "score": 0}, False, {"correct": 0.0, "score": 0.0}, {}),
        ({"correct": None, "score": None}, False, {}, {}),
        ({"status": "run_error", "correct": None, "score": None, "error": "x"}, True, {}, {}),
        ({"status": "Eval_Error", "correct": False, "score": None}, True, {}, {}),
        ({"status": "ERROR", "correct": True, "score": None}, True, {}, {"correct": 1.0}),
        ({"status": "ERROR", "correct": False, "score": 0.5}, True, {}, {"score": 0.5}),
        ({"error": "the judge died"}, True, {}, {"correct": 1.0, "score": 1.0}),
        ({"error": "the judge died", "correct": False, "score": None}, True, {}, {"correct": 0.0}),
        ({"error": "the judge died", "correct": None, "score": None}, True, {}, {}),
        (
            {"metrics": {"correct": 0, "score": 9, "pass": 1.0, "ok": True, "note": "x", "deep": {"a": [1]}}},
            False,
            {"correct": 1.0, "score": 1.0, "pass": 1.0, "ok": 1.0},
            {},
        ),
        ({"correct": None, "score": None, "metrics": {"score": 9}}, False, {}, {}),
    ],
)
def test_a_verdict_counts_only_where_its_status_allows(
    fields: dict[str, Any], error: bool, values: dict[str, float], contradicted: dict[str, float]
) -> None:
    decoded = of_record(**fields)
    (row,) = observations(decoded)
    assert (row["format"], row["status"]) == ("agentcompass-0", fields.get("status", "COMPLETED").lower())
    assert (row["error"], row["fatal"], metrics(row)) == (error, False, values)
    recorded = decoded.frames["recorded_values"]
    assert dict(recorded.select("field", "value").iter_rows()) == contradicted
    assert set(recorded["attempt_id"]) <= {row["attempt_id"]}
    assert decoded.frames["attempts"]["outcome"].to_list() == ["infrastructure_failure" if error else "completed"]


@pytest.mark.parametrize(
    "attempts",
    [
        [{"status": "COMPLETED", "correct": False}, None, {"status": "ERROR", "error": "x"}],
        {"3": {"status": "ERROR", "error": "x"}, "1": {"status": "COMPLETED", "correct": False}, "2": None},
    ],
)
def test_attempts_replace_the_verdict_of_the_record(attempts: Any) -> None:
    decoded = of_record(attempts=attempts, category=["code", "py"], attempt_plan={"k": 3, "strategy": "pass"})
    rows = observations(decoded)
    told = [(row["attempt_index"], row["present"], row["status"], metrics(row)) for row in rows]
    assert told == [(1, True, "completed", {"correct": 0.0}), (2, False, None, {}), (3, True, "error", {})]
    assert {(*row["category"], row["plan_k"], row["plan_strategy"]) for row in rows} == {("code", "py", 3, "pass")}
    assert decoded.candidates["path"].str.starts_with("$.attempts").all()
    assert decoded.candidates["document"].n_unique() == len(rows)


@pytest.mark.parametrize("attempts", [[], {}, None])
def test_without_attempts_the_verdict_is_the_records_own(attempts: Any) -> None:
    (row,) = observations(of_record(attempts=attempts))
    assert (row["attempt_index"], metrics(row)) == (1, {"correct": 1.0, "score": 1.0})


def test_a_torn_last_line_is_one_document_of_its_file() -> None:
    torn = lines(record("t1"), b"", record("t2"))[:-1] + b'\n{"task_id": "t3", "sta'
    decoded = together(document(f"{HOME}/results.jsonl", torn))
    assert [row["task_id"] for row in observations(decoded)] == ["t1", "t2"]
    assert decoded.candidates.sort("document")["path"].to_list() == ["line 1", "line 3"]
    assert refused(decoded) == [(f"{HOME}/results.jsonl", "decode", "not_json", "line 4: byte 22")]


@pytest.mark.parametrize(
    ("category", "path"),
    [
        ("py", ["py"]),
        (" py ", ["py"]),
        ("web/nav", ["web/nav"]),
        ("", None),
        (None, None),
        ([], []),
        (["code", "py"], ["code", "py"]),
    ],
)
def test_a_category_is_a_path(category: Any, path: list[str] | None) -> None:
    for decoded in (of_record(category=category), together(*task_files(normal(), task(category=category)))):
        assert observations(decoded)[0]["category"] == path


def broken_task(**fields: Any) -> Document:
    return document(f"{normal()}/task.json", {**task(), **fields})


def broken_record(**fields: Any) -> Document:
    return document(RECORD, record(**fields))


CLEAN = {"status": "COMPLETED"}


@pytest.mark.parametrize(
    ("broken", "reason", "path"),
    [
        (broken_task(schema_version="agentcompass.task.v1"), "unknown_value", "$.schema_version"),
        (broken_task(schema_version=None), "missing_field", "$.schema_version"),
        (broken_task(task_id=""), "bad_identifier", "$.task_id"),
        (broken_task(task_id="a\x00"), "bad_identifier", "$.task_id"),
        (broken_task(task_id="x" * 201), "bad_identifier", "$.task_id"),
        (broken_task(task_id="\ud800"), "bad_identifier", "$.task_id"),
        (broken_task(attempts=None), "missing_field", "$.attempts"),
        (broken_task(attempts={"1": "attempt-2"}), "unknown_value", "$.attempts.1"),
        (broken_task(attempts={"01": "attempt-1"}), "wrong_type", "$.attempts.01"),
        (broken_task(attempts={"0": "attempt-0"}), "out_of_range", "$.attempts.0"),
        (broken_task(attempts={"1": None}), "wrong_type", "$.attempts.1"),
        (broken_task(category=7), "wrong_type", "$.category"),
        (broken_task(category=["py", 7]), "wrong_type", "$.category[1]"),
        (broken_task(attempt_plan={"k": 0}), "out_of_range", "$.attempt_plan.k"),
        (broken_task(attempt_plan={"k": 1.0}), "wrong_type", "$.attempt_plan.k"),
        (broken_task(attempt_plan={"strategy": "best"}), "unknown_value", "$.attempt_plan.strategy"),
        (broken_record(task_id=7), "wrong_type", "$.task_id"),
        (broken_record(task_id=None), "missing_field", "$.task_id"),
        (broken_record(status=None), "missing_field", "$.status"),
        (broken_record(status="DONE"), "unknown_value", "$.status"),
        (broken_record(correct=1), "wrong_type", "$.correct"),
        (broken_record(score="1"), "wrong_type", "$.score"),
        (broken_record(score=True), "wrong_type", "$.score"),
        (broken_record(error=["x"]), "wrong_type", "$.error"),
        (broken_record(category={}), "wrong_type", "$.category"),
        (broken_record(metrics=[]), "wrong_type", "$.metrics"),
        (broken_record(metrics={"a\n": 1}), "bad_identifier", "$.metrics.a\n"),
        (broken_record(attempts="two"), "wrong_type", "$.attempts"),
        (broken_record(attempts=[CLEAN, {"status": "DONE"}]), "unknown_value", "$.attempts[1].status"),
        (broken_record(attempts=[CLEAN, {"correct": True}]), "missing_field", "$.attempts[1].status"),
        (broken_record(attempts={"2": {"status": "ERROR", "score": []}}), "wrong_type", "$.attempts.2.score"),
        (broken_record(attempts={"one": CLEAN}), "wrong_type", "$.attempts.one"),
        (document(RECORD, json.dumps(record()).replace("1.0", "1e999").encode()), "out_of_range", "$.score"),
        (
            document(RECORD, json.dumps(record(metrics={"m": 7})).replace("7", "1e999").encode()),
            "out_of_range",
            "$.metrics.m",
        ),
        (document(RECORD, b'{"task_id": 7, "task_id": "t", "status": "ERROR"}'), "wrong_type", "$.task_id"),
        (
            document(RECORD, b'{"task_id": "t", "status": "ERROR", "category": 1, "category": ""}'),
            "wrong_type",
            "$.category",
        ),
        (document(RECORD, b'{"task_id": "t", "status": NaN}'), "not_json", "byte 27"),
        (document(RECORD, {"mean": 0.5}), "unknown_shape", "$"),
        (document(RECORD, [record()]), "unknown_shape", "$"),
        (document("t1.json", record()), "unknown_shape", "$"),
        (document("details/normal/t1/task.json", task()), "unknown_shape", "$"),
        (document(f"{HOME}/run_info.json", {"status": "completed"}), "unknown_shape", "$"),
        (document(f"{normal()}/attempt-one/result.json", record()), "unknown_shape", "$"),
    ],
)
def test_what_cannot_be_read_says_where(broken: Document, reason: str, path: str) -> None:
    other = document(f"{HOME}/other.json", record("other"))
    decoded = together(broken, other)
    key = broken.uri.removeprefix(STORE)
    assert refused(decoded) == [(key, "decode", reason, path)]
    assert [row["task_id"] for row in observations(decoded)] == ["other"]


@pytest.mark.parametrize(
    ("content", "reason", "path"),
    [
        (result(status=None), "missing_field", "$.status"),
        (result(status="done"), "unknown_value", "$.status"),
        (result(status="COMPLETED"), "unknown_value", "$.status"),
        (result(metrics={"m": "1"}), "wrong_type", "$.metrics.m"),
        (result(metrics={"m": [1]}), "wrong_type", "$.metrics.m"),
        (b'{"status": "completed", "metrics": {"m": "1", "m": 1}}', "wrong_type", "$.metrics.m"),
        (b'{"status": "completed", "metrics": {"m": 1e999}}', "out_of_range", "$.metrics.m"),
        (result(metrics={"": 1}), "bad_identifier", "$.metrics."),
        (result(issues=[{"severity": "bad"}]), "unknown_value", "$.issues[0].severity"),
        (result(issues={}), "wrong_type", "$.issues"),
        (result(error=7), "wrong_type", "$.error"),
        ({}, "missing_field", "$.status"),
    ],
)
def test_an_attempt_that_cannot_be_read_says_where(content: Any, reason: str, path: str) -> None:
    decoded = together(*task_files(normal(), task(), [content]))
    assert refused(decoded) == [(f"{normal()}/attempt-1/result.json", "decode", reason, path)]
    assert [row["present"] for row in observations(decoded)] == [False]


def test_nesting_is_limited_everywhere() -> None:
    deep = b"[" * 70 + b"]" * 70
    content = json.dumps(result(trajectory="…")).encode().replace(b'"\\u2026"', deep)
    decoded = together(*task_files(normal(), task(), [content]))
    assert [reason for _, _, reason, _ in refused(decoded)] == ["too_deep"]


def test_the_careful_reading_agrees_with_the_fast_one() -> None:
    documents = [
        *task_files(normal(), task(attempts=(1, 2)), [result(metrics={"m": 1, "ok": False}), result(status="skipped")]),
        document(f"{HOME}/a.json", record("a", attempts=[CLEAN, None], metrics={"x": 1})),
        document(f"{HOME}/b.json", record("b", status="error", category=["x"])),
    ]
    fast = together(*documents)
    slow = together(*(one._replace(content=b"\xef\xbb\xbf" + one.content) for one in documents))
    for name, frame in fast.frames.items():
        assert_frame_equal(frame, slow.frames[name])


@pytest.mark.parametrize(
    ("path", "part", "home"),
    [
        ("r/b/details/error/t--0/task.json", agentcompass.TASKS, "r/b"),
        ("r/details/t--0/task.json", agentcompass.TASKS, "r"),
        ("x/details/y/details/normal/t--0/task.json", agentcompass.TASKS, "x/details/y"),
        ("r/b/details/fatal/t--0/attempt-12/result.json", agentcompass.ATTEMPTS, "r/b"),
        ("r/b/details/fatal/t--0/attempt-1/artifacts/result.json", None, "r/b"),
        ("r/b/run.json", agentcompass.RUNS, "r/b"),
        ("r/b/t1.json", agentcompass.RECORDS, "r/b"),
        ("r/b/details/t1.json", agentcompass.RECORDS, "r/b"),
        ("t1.json", agentcompass.RECORDS, ""),
    ],
)
def test_a_file_is_what_its_place_makes_it(path: str, part: str | None, home: str) -> None:
    found = place(path)
    assert (found.part, found.home) == (part, home)
