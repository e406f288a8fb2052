"""Small AgentCompass files of both generations for the decoder's tests, and a short way to put them together."""

import datetime as dt
import hashlib
import json
from collections.abc import Sequence
from typing import Any

import polars as pl

from assets.sources import agentcompass, agentcompass_runs
from assets.sources.documents import Decoded, Document, Limits

DAY = dt.date(2026, 11, 29)
MODIFIED = dt.datetime(2026, 11, 30, 1, 2, 3, tzinfo=dt.UTC)
STORE = "memory://store/agentcompass/2026-11-29/"
HOME = "nightly/gsm"
RECORD = f"{HOME}/t1.json"


def document(path: str, content: Any, later: int = 0, landed_on: dt.date = DAY) -> Document:
    """A file at this key below the landing day, `later` seconds younger than most."""
    data = content if isinstance(content, bytes) else json.dumps(content).encode()
    modified = MODIFIED + dt.timedelta(seconds=later)
    digest = hashlib.sha256(data).hexdigest()
    return Document(STORE + path, path, "agentcompass", landed_on, modified, digest, data)


def lines(*records: Any) -> bytes:
    """A `.jsonl` file."""
    return b"".join((one if isinstance(one, bytes) else json.dumps(one).encode()) + b"\n" for one in records)


def task(task_id: str = "t1", attempts: Sequence[int] = (1,), **fields: Any) -> dict[str, Any]:
    """A `task.json` that names these attempts."""
    return {
        "schema_version": "agentcompass.task.v3",
        "task_id": task_id,
        "attempts": {str(number): f"attempt-{number}" for number in attempts},
        "category": "py",
        "ground_truth": "42",
        "attempt_plan": {"k": max(attempts, default=1), "strategy": "avg"},
        **fields,
    }


def result(*, correct: bool | None = True, **fields: Any) -> dict[str, Any]:
    """An attempt's `result.json`."""
    return {
        "status": "completed",
        "metrics": {} if correct is None else {"correct": correct},
        "final_answer": "42",
        "trajectory": {"steps": [{"thought": "…"}]},
        "issues": [],
        "artifacts": {},
        "analysis_result": {},
        "meta": {"benchmark": {}, "harness": {"telemetry": {"n_input_tokens": 1200, "wall_s": 3.5}}},
        "retry_count": 0,
        **fields,
    }


def issue(severity: str, message: str = "it broke") -> dict[str, Any]:
    """An issue of an attempt."""
    return {"severity": severity, "phase": "run", "code": "broken", "message": message}


def record(task_id: str = "t1", **fields: Any) -> dict[str, Any]:
    """A task's record of the generation before."""
    return {"task_id": task_id, "status": "COMPLETED", "correct": True, "score": 1.0, "error": "", **fields}


def task_files(
    directory: str, index: Any, attempts: Sequence[Any] = (), *, later: int = 0, landed_on: dt.date = DAY
) -> list[Document]:
    """A task's directory: its `task.json`, and the results of its attempts from the first on."""
    return [
        document(f"{directory}/task.json", index, later, landed_on),
        *(
            document(f"{directory}/attempt-{number}/result.json", content, later, landed_on)
            for number, content in enumerate(attempts, start=1)
        ),
    ]


def normal(slug: str = "t1--0", home: str = HOME) -> str:
    """The directory of a task that ended without an error."""
    return f"{home}/details/normal/{slug}"


def together(*documents: Document, batches: int = 1, max_depth: int = 64) -> Decoded:
    """What these files come to, decoded in so many batches."""
    decoded = []
    for number in range(batches):
        first = 1000 * number
        decoded.append(agentcompass.decode(documents[number::batches], Limits(max_depth), first))
    parts = {name: pl.concat([one.frames[name] for one in decoded]) for name in agentcompass.PARTS}
    whole = agentcompass_runs.assemble(parts, 1000 * batches)
    quarantine = pl.concat([*(one.quarantine for one in decoded), whole.quarantine]).sort("uri", "path", "reason")
    return whole._replace(quarantine=quarantine)


def observations(decoded: Decoded) -> list[dict[str, Any]]:
    """The rows of `observations`, by id."""
    return decoded.frames["observations"].sort("attempt_id").to_dicts()


def metrics(row: dict[str, Any]) -> dict[str, float | None]:
    """Name and value of an observation's metrics."""
    return {one["name"]: one["value"] for one in row["metrics"]}


def refused(decoded: Decoded) -> list[tuple[Any, ...]]:
    """Key below the landing day, stage, reason and path of everything in quarantine."""
    rows = decoded.quarantine.select("uri", "stage", "reason", "path").rows()
    return [(uri.removeprefix(STORE), *rest) for uri, *rest in rows]
