"""A hostile store of the benchmark sources: every way in which a file can be broken, and what must become of it.

`HOSTILE` maps a key to its bytes and to what is expected: the quarantine rows (stage, reason, path), and how many
attempts are told by that file.
"""

import json
from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

DAY = "2026-11-28"
LATER = "2026-11-29"
HARBOR, FORGE, COMPASS = (f"{source}/{DAY}" for source in ("harbor", "agentforge", "agentcompass"))
PACKS = "agentforge-packs"
NEVER_READ = 5 * 2**20

Body = Mapping[str, Any]
Row = tuple[str, str, str | None]


class Hostile(NamedTuple):
    """One object, its quarantine rows, and the number of attempts that it tells."""

    content: bytes
    refused: tuple[Row, ...] = ()
    attempts: int = 0


def text(body: Any) -> bytes:
    return json.dumps(body).encode()


def swapped(body: Body, old: str, new: str) -> bytes:
    """The JSON text with one piece of it replaced."""
    content = json.dumps(body)
    if old not in content:
        raise ValueError(old)
    return content.replace(old, new, 1).encode()


def trial(name: str, rewards: Any = {"reward": 1.0}, **changes: Any) -> dict[str, Any]:  # noqa: B006 - never changed
    """A Harbor trial without an exception."""
    return {
        "id": name,
        "task_name": "a",
        "trial_name": name,
        "source": "ds",
        "agent_info": {"name": "oracle", "version": "1", "model_info": {"name": "m", "provider": "p"}},
        "agent_result": {"n_input_tokens": 10, "n_output_tokens": 1, "cost_usd": 0.5},
        "verifier_result": None if rewards is None else {"rewards": rewards},
        "exception_info": None,
        "started_at": f"{DAY}T01:00:00Z",
        "finished_at": f"{DAY}T02:00:00Z",
        **changes,
    }


def exception(kind: str, **changes: Any) -> dict[str, Any]:
    return {"exception_type": kind, "exception_message": "m", **changes}


def job(name: str, registered: int, **stats: Any) -> bytes:
    return text({"id": name, "n_total_trials": registered, "stats": stats})


def entry(name: str, resolved: Any, task: str = "t1", **changes: Any) -> dict[str, Any]:
    """A trial in the file of a terminal-bench run."""
    told = {"id": name, "task_id": task, "trial_name": name, "is_resolved": resolved, "failure_mode": "unset"}
    return told | {"total_input_tokens": 5} | changes


def staged(job_id: str, name: str, **changes: Any) -> dict[str, Any]:
    """A staged trial of the pack `good`, the first of two."""
    configuration = {"attemptCount": 2, "rewardRecipe": "staged", "agentKind": "solo", "packKey": "good"}
    return {
        "format": "agentforge-trial/1",
        "trialId": name,
        "jobId": job_id,
        "attempt": 1,
        "configuration": configuration | changes.pop("configuration", {}),
        "status": "completed",
        "metrics": {"stage_a_b": 1.0},
        "reward": 0.4,
        **changes,
    }


def pack(key: str, *weights: float, **changes: Any) -> dict[str, Any]:
    """A pack with hidden stages of these weights, the first one `a-b`."""
    stages = [
        {"id": f"s{number}" if number else "a-b", "weight": weight, "hidden": True}
        for number, weight in enumerate(weights)
    ]
    return {"format": "agentforge-pack/1", "packKey": key, "schemaVersion": 1, "stages": stages, **changes}


def task(name: str, attempts: Iterable[int] = (1,), **changes: Any) -> dict[str, Any]:
    """A `task.json` that names these attempts."""
    named = {str(number): f"attempt-{number}" for number in attempts}
    plan = {"k": max(map(int, named), default=1), "strategy": "avg"}
    told = {"schema_version": "agentcompass.task.v3", "task_id": name, "category": "c", "attempts": named}
    return told | {"attempt_plan": plan} | changes


def result(correct: Any = True, **changes: Any) -> dict[str, Any]:
    return {"status": "completed", "metrics": {"correct": correct}, "issues": [], "retry_count": 0, **changes}


def record(name: str, correct: Any = True, **changes: Any) -> dict[str, Any]:
    return {"task_id": name, "status": "COMPLETED", "correct": correct, "score": None, "error": "", **changes}


def lines(*records: Body | bytes, end: bytes = b"\n") -> bytes:
    return end.join(one if isinstance(one, bytes) else text(one) for one in records)


def decode(reason: str, path: str | None = "$") -> tuple[Row]:
    return (("decode", reason, path),)


SUPERSEDED: tuple[Row] = (("duplicate", "superseded", None),)
NO_TASK = decode("unknown_shape", None)
DEEP = b"[" * 20_000 + b"]" * 20_000
INPUT, REWARD = "$.agent_result.n_input_tokens", "$.verifier_result.rewards.reward"
NAMES = ("a'\"`;DROP TABLE x--", "a..b", ":@+", "🦕", "<script>alert(1)</script>", "=cmd()|'C'!A0", "x" * 200)


def tokens(name: str, value: str) -> bytes:
    return swapped(trial(name), '"n_input_tokens": 10', f'"n_input_tokens": {value}')


def reward(name: str, value: str) -> bytes:
    return swapped(trial(name, {"reward": 0.125}), "0.125", value)


BROKEN: dict[str, Hostile] = {
    "good": Hostile(text(trial("b-good")), attempts=1),
    "mark": Hostile(b"\xef\xbb\xbf" + text(trial("b-mark")), attempts=1),
    "repeated": Hostile(swapped(trial("b-last"), '"id": ', '"id": "b-first", "id": '), attempts=1),
    "empty": Hostile(b"", decode("empty", "byte 0")),
    "torn": Hostile(text(trial("b-torn"))[:-1], decode("not_json", f"byte {len(text(trial('b-torn'))) - 1}")),
    "brackets": Hostile(DEEP, decode("too_deep", "byte 64")),
    "not-utf8": Hostile(b'{"\xff":1}', decode("not_utf8", "byte 2")),
    "nan": Hostile(b'{"task_name":NaN}', decode("not_json", "byte 13")),
    "overflow": Hostile(reward("b-overflow", "1e999"), decode("out_of_range", REWARD)),
    "reward-text": Hostile(reward("b-text", '"1"'), decode("wrong_type", REWARD)),
    "reward-nested": Hostile(reward("b-nested", '{"a": 1}'), decode("wrong_type", REWARD)),
    "tokens-fraction": Hostile(tokens("b-fraction", "1.5"), decode("wrong_type", INPUT)),
    "tokens-text": Hostile(tokens("b-tokens", '"1"'), decode("wrong_type", INPUT)),
    "tokens-true": Hostile(tokens("b-true", "true"), decode("wrong_type", INPUT)),
    "tokens-most": Hostile(tokens("b-most", str(2**53)), attempts=1),
    "tokens-beyond": Hostile(tokens("b-beyond", str(2**53 + 1)), decode("out_of_range", INPUT)),
    "tokens-int64": Hostile(tokens("b-int64", str(2**63)), decode("out_of_range", INPUT)),
    "id-201": Hostile(text(trial("x" * 201)), decode("bad_identifier", "$.id")),
    "id-surrogate": Hostile(text(trial("\ud800")), decode("bad_identifier", "$.id")),
    "nothing": Hostile(b"{}", decode("unknown_shape")),
}
"""Trials of the job `broken`, which registers 30."""

NAMED = {f"{HARBOR}/{name}/{name}/result.json": Hostile(text(trial(name, source=name)), attempts=1) for name in NAMES}

TRIALS: dict[str, Body] = {
    "rewards/null": trial("r-null", {"reward": None}),
    "rewards/true": trial("r-true", {"reward": True}),
    "rewards/none": trial("r-none", {}),
    "rewards/half": trial("r-half", {"reward": 0.5}),
    "rewards/zero": trial("r-zero", {"reward": -0.0}),
    "anonymous/1": trial("n-1", source=None, agent_info=None, started_at=f"{DAY}T01:00:00"),
    "anonymous/2": trial("n-2", {"reward": 0.0}, source=None, agent_info={"name": None}, finished_at="soon"),
    "ruled/1": trial("o-1", exception_info=exception("ApiError", policy_override={"has_valid_reward": True})),
    "ruled/2": trial("o-2", exception_info=exception("ApiError", policy={"has_valid_reward": True})),
    "ruled/3": trial("o-3", exception_info=exception("Novel", policy_override={"has_valid_reward": False})),
    "ruled/4": trial("o-4", {"reward": 0.0}, exception_info=exception("Novel")),
    "steps/1": trial(
        "s-1",
        None,
        step_results=[
            {"verifier_result": {"rewards": {"reward": 1.0}}},
            {"verifier_result": {"rewards": {}}, "exception_info": exception("AgentTimeoutError")},
        ],
    ),
    "steps/2": trial("s-2", step_results=[{"exception_info": exception("ApiError")}]),
    "copied/1": trial("c-1"),
    "copied/1_copy": trial("c-1"),
    "copied/2": trial("c-2", {"reward": 0.0}),
    "first/1": trial("shared"),
    "inner/1": trial("i-1"),
    "outer/inner/1": trial("i-1"),
    f"{'d/' * 60}deep/1": trial("deep"),
    "side/1": trial("side-1"),
    "bytes/1": trial("bytes"),
}
COPIES = ("copied/1_copy", "outer/inner/1")
"""Of `TRIALS`, those that only add to a count."""

HARBOR_FILES: dict[str, Hostile] = {
    **{f"{HARBOR}/broken/{name}/result.json": hostile for name, hostile in BROKEN.items()},
    f"{HARBOR}/broken/result.json": Hostile(job("broken", 30)),
    **NAMED,
    **{
        f"{HARBOR}/{name}/result.json": Hostile(text(body), attempts=int(name not in COPIES))
        for name, body in TRIALS.items()
    },
    f"{HARBOR}/copied/2_copy/result.json": Hostile(text(trial("c-2")), SUPERSEDED),
    f"{HARBOR}/copied/result.json": Hostile(job("copied", 5)),
    f"{HARBOR}/inner/result.json": Hostile(job("inner", 2)),
    f"{HARBOR}/outer/inner/result.json": Hostile(job("inner", 2)),
    f"{HARBOR}/second/1/result.json": Hostile(text(trial("shared", {"reward": 0.0})), SUPERSEDED),
    f"{HARBOR}/alone/result.json": Hostile(job("alone", 4)),
    f"{HARBOR}/result.json": Hostile(text(trial("bare")), attempts=1),
    f"{HARBOR}/side/1/verifier/reward.json": Hostile(text({"reward": 0.5})),
    f"{HARBOR}/side/1/verifier/reward.txt": Hostile(b"nan", decode("out_of_range")),
    f"{HARBOR}/side/2/verifier/reward.txt": Hostile(b"1", decode("unknown_shape", None)),
    f"{HARBOR}/tb/results.json": Hostile(
        text(
            {
                "results": [
                    entry("tb-1", False),
                    entry("tb-2", None),
                    entry("tb-3", 1),
                    7,
                    {"task_id": "t1"},
                    entry("tb-4", True, total_input_tokens=1.5),
                    entry("tb-1", False),
                    entry("tb-1", True),
                    {"uuid": "tb-5", "task_id": "t1", "is_resolved": False},
                ]
            }
        ),
        (
            ("decode", "wrong_type", "$.results[2].is_resolved"),
            ("decode", "wrong_type", "$.results[3]"),
            ("decode", "missing_field", "$.results[4].id"),
            ("decode", "wrong_type", "$.results[5].total_input_tokens"),
            ("duplicate", "superseded", "$.results[6]"),
        ),
        attempts=3,
    ),
    f"{HARBOR}/tb-none/results.json": Hostile(b'{"results": []}'),
    f"{HARBOR}/tb-torn/results.json": Hostile(b'{"results": [{"id":', decode("not_json", "byte 19")),
    "harbor/someday/j/t/result.json": Hostile(text(trial("undated")), (("fetch", "no_partition", None),)),
}

WEIGHTS, COUNT = "$.stages", "$.configuration.attemptCount"
BAD_PACKS: dict[str, tuple[bytes, Row]] = {
    "short": (text(pack("short", 0.5, 0.499999998)), ("contract", "weight_sum", WEIGHTS)),
    "long": (text(pack("long", 0.5, 0.500000002)), ("contract", "weight_sum", WEIGHTS)),
    "negative": (text(pack("negative", 1.5, -0.5)), ("contract", "bad_weight", "$.stages[1].weight")),
    "nan": (text(pack("nan", float("nan"))), ("decode", "not_json", "byte 105")),
    "no-stages": (text(pack("no-stages")), ("contract", "weight_sum", WEIGHTS)),
    "torn": (b"{", ("decode", "not_json", "byte 1")),
}
BAD_TRIALS: dict[str, tuple[bytes, str, str]] = {
    "status": (text(staged("bad", "f-1", status="won")), "unknown_value", "$.status"),
    "none": (
        text(staged("bad", "f-2", configuration={"attemptCount": 0})),
        "out_of_range",
        COUNT,
    ),
    "nine": (
        text(staged("bad", "f-3", configuration={"attemptCount": 9})),
        "out_of_range",
        COUNT,
    ),
    "recipe": (
        text(staged("bad", "f-4", configuration={"rewardRecipe": "x"})),
        "unknown_value",
        "$.configuration.rewardRecipe",
    ),
    "metric": (text(staged("bad", "f-5", metrics={"stage_a_b": True})), "wrong_type", "$.metrics.stage_a_b"),
    "twice": (swapped(staged("bad", "f-6"), '"stage_a_b": 1.0', '"m": "x", "m": 1.0'), "wrong_type", "$.metrics.m"),
    "time": (text(staged("bad", "f-7", finishedAt="soon")), "bad_time", "$.finishedAt"),
    "format": (text({"format": "agentforge-trial/2"}), "unknown_shape", "$.format"),
}
FORGED: dict[str, Body] = {
    "g1": staged("g", "g-1"),
    "g2": staged("g", "g-2", attempt=2, metrics={"stage_a_b": 1.0000000001}),
    "zero": staged("zero", "zero", metrics={"stage_a_b": -0.0}, reward=None),
    "unpacked": staged("p", "p-1", configuration={"packKey": "nowhere"}),
    "misnamed": staged("p", "p-2", configuration={"packKey": "other-name"}, metrics={"stage_a_b": 0.5}),
    **{f"of-{name}": staged("p", f"p-{name}", configuration={"packKey": name}) for name in BAD_PACKS},
    "twice-2": staged("twice", "twice", metrics={"stage_a_b": 0.0}),
}
FORGE_FILES: dict[str, Hostile] = {
    f"{PACKS}/good.json": Hostile(text(pack("good", 0.4, 0.35, 0.25))),
    f"{PACKS}/name.json": Hostile(text(pack("other-name", 1.0))),
    **{f"{PACKS}/{name}.json": Hostile(content, (row,)) for name, (content, row) in BAD_PACKS.items()},
    **{
        f"{FORGE}/bad-{name}.json": Hostile(content, decode(reason, path))
        for name, (content, reason, path) in BAD_TRIALS.items()
    },
    f"{FORGE}/twice-1.json": Hostile(text(staged("twice", "twice")), SUPERSEDED),
    **{f"{FORGE}/{name}.json": Hostile(text(body), attempts=1) for name, body in FORGED.items()},
}


def at(run: str, name: str, index: Any, *results: Any, state: str = "normal", **expected: Any) -> dict[str, Hostile]:
    """A task's directory: `expected` maps `task` and `attempt_<number>` to what becomes of that file."""
    folder = f"{COMPASS}/{run}/details/{state}/{name}"
    told = {
        f"{folder}/task.json": Hostile(index if isinstance(index, bytes) else text(index), expected.get("task", ()))
    }
    for number, one in enumerate(results, start=1):
        key = f"attempt_{number}"
        content = one if isinstance(one, bytes) else text(one)
        counted = int(not expected.get(key) and not expected.get("task") and state != "running")
        told[f"{folder}/attempt-{number}/result.json"] = Hostile(content, expected.get(key, ()), counted)
    return told


COMPASS_FILES: dict[str, Hostile] = {
    **at("v1/names", "1", task("a/b/../c"), result()),
    **at("v1/names", "2", task("<script>🦕"), result(False)),
    **at("v1/names", "3", task("x" * 201), result(), task=decode("bad_identifier", "$.task_id"), attempt_1=NO_TASK),
    **at("v1/gap", "1", task("g", (1, 3)), result(), b"{}", result(), attempt_2=decode("missing_field", "$.status")),
    **at("v1/states", "1", task("run"), result(False), state="running"),
    **at("v1/states", "2", task("skipped"), result(status="skipped")),
    **at("v1/states", "3", task("upper"), result(status="COMPLETED"), attempt_1=decode("unknown_value", "$.status")),
    **at(
        "v1/states",
        "4",
        task("critical"),
        result(issues=[{"severity": "critical"}]),
        attempt_1=decode("unknown_value", "$.issues[0].severity"),
    ),
    **at("v1/states", "5", task("failed"), result(status="run_error")),
    f"{COMPASS}/v1/states/details/normal/5/attempt-1/retries/1/result.json": Hostile(text(result(False))),
    **at("v1/fatal", "1", task("f"), result(issues=[{"severity": "fatal"}])),
    **at("v1/fatal", "2", task("ok"), result()),
    **at("v1/categories", "1", task("1", category=["web", "nav"]), result()),
    **at("v1/categories", "2", task("2", category="web/nav"), result(False)),
    **at("v1/categories", "3", task("3", category=[]), result(False)),
    **at(
        "v1/categories",
        "4",
        task("4", category=7),
        result(),
        task=decode("wrong_type", "$.category"),
        attempt_1=NO_TASK,
    ),
    f"{COMPASS}/v1/categories/run.json": Hostile(text({"aggregation": "category_mean"})),
    **at("v1/mixed", "1", task("a", (1, 2)), result(), result()),
    **at("v1/mixed", "2", task("b"), result()),
    **at("v1/tree", "1", task("a", category="a"), result()),
    **at("v1/tree", "2", task("b", category="stranger"), result()),
    f"{COMPASS}/v1/tree/run.json": Hostile(text({"categoryHierarchy": {"overall": {"children": {"a": {}}}}})),
    **at("v1/k", "1", task("a"), result()),
    f"{COMPASS}/v1/k/run.json": Hostile(text({"k": 10**6})),
    **at("v1/k0", "1", task("a"), result()),
    f"{COMPASS}/v1/k0/run.json": Hostile(text({"k": 0}), decode("out_of_range", "$.k")),
    f"{COMPASS}/v0/lines/results.jsonl": Hostile(
        lines(
            record("a", meta={"log": "x" * 2_000_000}),
            b"",
            record("b", False, status="completed"),
            record("c", error="   "),
            record("d", status="EVAL_ERROR", score=1.0),
            record("e", status="DONE"),
            swapped(record("f", score=0.125), "0.125", "NaN"),
            swapped(record("g", score=0.125), "0.125", "1e999"),
            b"\xff",
            DEEP,
            b'{"task_id": "torn',
            end=b"\r\n",
        ),
        (
            ("decode", "unknown_value", "line 6: $.status"),
            ("decode", "not_json", "line 7: byte 66"),
            ("decode", "out_of_range", "line 8: $.score"),
            ("decode", "not_utf8", "line 9: byte 0"),
            ("decode", "too_deep", "line 10: byte 64"),
            ("decode", "not_json", "line 11: byte 17"),
        ),
        attempts=4,
    ),
    f"{COMPASS}/v0/attempts/results.jsonl": Hostile(
        lines(
            record("list", attempts=[record("x"), record("x", False)]),
            record("map", attempts={"2": record("x")}),
            record("null", attempts=[None, record("x")]),
            record("own", attempts=[]),
            record("padded", attempts={"01": record("x")}),
            record("zero", attempts={"0": record("x")}),
            record("name", attempts={"x": record("x")}),
        ),
        (
            ("decode", "wrong_type", "line 5: $.attempts.01"),
            ("decode", "wrong_type", "line 6: $.attempts.0"),
            ("decode", "wrong_type", "line 7: $.attempts.x"),
        ),
        attempts=5,
    ),
    f"{COMPASS}/v0/twice/results.jsonl": Hostile(
        lines(record("a"), record("a", False)), (("duplicate", "superseded", "line 1"),), attempts=1
    ),
    f"{COMPASS}/v0/score/results.jsonl": Hostile(
        lines(record("a", None, score=0.3), record("b", None, status="RUN_ERROR")), attempts=2
    ),
    f"{COMPASS}/v0/score/run.json": Hostile(text({"missingScore": 0.2})),
    f"{COMPASS}/alone.json": Hostile(text(record("alone")), decode("unknown_shape")),
}

HOSTILE = {**HARBOR_FILES, **FORGE_FILES, **COMPASS_FILES}

NEVER_FETCHED = {
    f"{HARBOR}/bytes/1/agent.log": b"x" * NEVER_READ,
    f"{HARBOR}/bytes/1/trajectory.json": b"{}",
    f"{HARBOR}/bytes/1/config.json": b"{}",
    f"{HARBOR}/bytes/1/my-result.json": text(trial("never")),
    f"{HARBOR}/bytes/1/verifier/test-stdout.txt": b"1",
}
"""Everything else in a trial's directory."""


def objects() -> dict[str, bytes]:
    """Key to bytes of the whole store."""
    return {key: hostile.content for key, hostile in HOSTILE.items()} | NEVER_FETCHED
