"""AgentCompass runs of the example store, in both generations of its results.

Here: what every attempt at every task came to, and the files that hold it. Not here: what a run is worth, which the
rules say.
"""

import hashlib
import uuid
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from pipelines.cli.demo_files import DAYS, Document, StoredFile, as_json, generator, stored

Attempts = Sequence[str]

K = 3
HIERARCHY = {
    "overall": {
        "aggregation": "weighted",
        "children": {
            "coding": {"aggregation": "unweighted", "weight": 3, "children": {"python": {}, "sql": {}}},
            "browsing": {"aggregation": "leaf", "weight": 1},
        },
    }
}
CATEGORIES = {
    "py-1": "python",
    "py-2": "python",
    "sql-1": "sql",
    "sql-2": "sql",
    "web-1": "browsing",
    "web-2": "browsing",
}
TASKS: Mapping[str, Mapping[str, Attempts]] = {
    "m-large": {
        "py-1": ("right", "right", "right"),
        "py-2": ("right", "wrong", "no file"),
        "sql-1": ("right", "eval_error", "right"),
        "sql-2": ("wrong", "right", "right"),
        "web-1": ("right", "wrong", "wrong"),
        "web-2": ("skipped", "right", "right"),
    },
    "m-small": {
        "py-1": ("right", "wrong", "right"),
        "py-2": ("wrong", "wrong", "wrong"),
        "sql-1": ("wrong", "right", "wrong"),
        "sql-2": ("fatal", "right", "wrong"),
        "web-1": ("wrong", "run_error", "wrong"),
        "web-2": ("right", "wrong", "wrong"),
    },
}
"""Tasks of `office-tasks` by model: what each attempt came to. A fatal issue invalidates its task."""


class Answer(NamedTuple):
    """One task of `short-answers`, in the format of the first generation."""

    task_id: str
    status: str = "COMPLETED"
    correct: bool | None = None
    score: float | None = None
    error: str = ""
    category: Sequence[str] = ("history",)


ANSWERS = (
    Answer("q-1", correct=True, score=1.0),
    Answer("q-2", correct=True, score=0.75),
    Answer("q-3", correct=False, score=0.0),
    Answer("q-4", correct=False, score=0.25, category=("science", "physics")),
    Answer("q-5", "RUN_ERROR", error="the browser did not start", category=("science", "physics")),
    Answer("q-6", "eval_error", correct=False, error="the grader timed out", category=("science", "biology")),
    # It says that it is right, and that it was not graded.
    Answer("q-7", correct=True, score=1.0, error="the grader gave no verdict", category=("science", "biology")),
)
SCORES = (1.0, 0.5, 0.5, None, None, 0.0)


def files(seed: int = 1) -> Iterator[StoredFile]:
    """Every file below `agentcompass/`."""
    for day, (model, tasks) in zip(DAYS, TASKS.items(), strict=False):
        run = f"{model}/office-tasks"
        described = {
            "model": model,
            "harness": "browser-agent",
            "k": K,
            "strategy": "avg",
            "categoryHierarchy": HIERARCHY,
            "revision": "office-tasks 1.3",
        }
        yield stored("agentcompass", day, f"{run}/run.json", described)
        for task_id, attempts in tasks.items():
            for name, document in _details(task_id, attempts, seed):
                yield stored("agentcompass", day, f"{run}/details/{name}", document)
    day = DAYS[2]
    for answer in ANSWERS:
        yield stored("agentcompass", day, f"m-large/short-answers/{answer.task_id}.json", answer._asdict())
    declared = {"model": "m-small", "scoreKey": "score", "missingScore": "exclude"}
    yield stored("agentcompass", day, "m-small/short-answers/run.json", declared)
    yield stored("agentcompass", day, "m-small/short-answers/results.jsonl", _lines())


def _details(task_id: str, attempts: Attempts, seed: int) -> Iterator[tuple[str, Document]]:
    """The files of one task in the format of release 1.0, by name below `details/`."""
    worst = "fatal" if "fatal" in attempts else "error" if "error" in " ".join(attempts) else "normal"
    directory = f"{worst}/{task_id}--{hashlib.sha256(task_id.encode()).hexdigest()}"
    yield (
        f"{directory}/task.json",
        {
            "schema_version": "agentcompass.task.v3",
            "task_id": task_id,
            "category": CATEGORIES[task_id],
            "attempts": {str(number): f"attempt-{number}" for number in range(1, K + 1)},
            "attempt_plan": {"k": K, "strategy": "avg"},
        },
    )
    rng = generator(seed, "office-tasks", task_id, *attempts)
    for number, came_to in enumerate(attempts, start=1):
        if came_to == "no file":
            continue
        document = _attempt(came_to)
        document["meta"] = {"harness": {"telemetry": {"n_input_tokens": rng.randrange(5_000, 60_000)}}}
        yield f"{directory}/attempt-{number}/result.json", document
        if came_to == "run_error":  # what was tried before stays beside it, and does not count
            archived = str(uuid.UUID(int=rng.getrandbits(128), version=4))
            yield f"{directory}/attempt-{number}/retries/{archived}/result.json", document


def _attempt(came_to: str) -> Document:
    """One attempt's `result.json` in the format of release 1.0."""
    issues = {
        "run_error": {"severity": "error", "phase": "run", "code": "agent_timeout", "message": "900 s are over"},
        "eval_error": {"severity": "error", "phase": "evaluate", "code": "judge_failed", "message": "no verdict"},
        "fatal": {"severity": "fatal", "phase": "setup", "code": "wrong_image", "message": "the task was not set up"},
    }
    ran = came_to in {"right", "wrong", "fatal"}
    return {
        "status": "completed" if ran else came_to,
        "metrics": {"correct": came_to == "right"} if ran else {},
        "final_answer": "…" if ran else None,
        "issues": [issues[came_to]] if came_to in issues else [],
        "retry_count": int(came_to == "run_error"),
    }


def _lines() -> bytes:
    """A `results.jsonl` whose writer was stopped in its last line."""
    lines = [
        as_json(
            {
                "task_id": f"q-{number}",
                "status": "COMPLETED" if score is not None else "RUN_ERROR",
                "correct": None,
                "score": score,
                "error": "" if score is not None else "the model did not answer",
            }
        )
        for number, score in enumerate(SCORES, start=1)
    ]
    return b"\n".join([*lines, as_json({"task_id": "q-7", "status": "COMPLETED", "score": 1.0})[:40]])
