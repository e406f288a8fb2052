"""Small Harbor and terminal-bench documents for the decoder's tests, and a short way to decode them."""

import datetime as dt
import hashlib
from typing import Any

import polars as pl

from assets.attempts.contract import Attempts, BenchmarkRuns, Observations, RecordedValues
from assets.contract import conform, key, table_name
from assets.landing.contract import Quarantine
from assets.sources import harbor, terminal_bench
from assets.sources.documents import Decoded, Document, Limits
from tests.assets.sources.worldseq_documents import as_bytes, changed

DAY = dt.date(2026, 11, 29)
MODIFIED = dt.datetime(2026, 11, 30, 1, 2, 3, 456_789, tzinfo=dt.UTC)
TABLES = (Observations, Attempts, BenchmarkRuns, RecordedValues)

TRIAL: dict[str, Any] = {
    "schema_version": 1,
    "id": "t-1",
    "task_name": "fix-bug",
    "trial_name": "fix-bug__AbC",
    "trial_uri": "file:///jobs/nightly/fix-bug__AbC",
    "task_id": {"path": "/tasks/fix-bug"},
    "source": "swe@1.0",
    "task_checksum": "00ff",
    "config": {"agent": {"name": "oracle", "kwargs": {}}, "artifacts": []},
    "agent_info": {"name": "oracle", "version": "1.2", "model_info": {"name": "m-large", "provider": "p"}},
    "agent_result": {"n_input_tokens": 100, "n_cache_tokens": 40, "n_output_tokens": 7, "cost_usd": 0.25},
    "verifier_result": {"rewards": {"reward": 1.0}},
    "exception_info": None,
    "started_at": "2026-09-01T12:00:00.123456Z",
    "finished_at": "2026-09-01T14:00:30+02:00",
    "agent_setup": {"started_at": "2026-09-01T12:00:01", "finished_at": None},
    "step_results": None,
    "reward_valid": True,
}
TIMEOUT = {
    "exception_type": "AgentTimeoutError",
    "exception_message": "too slow",
    "exception_traceback": "Traceback\n",
    "occurred_at": "2026-09-01T12:00:00Z",
    "policy": {"should_retry": False, "should_grade": True, "has_valid_reward": True},
}
STEP = {"step_name": "one", "agent_result": None, "verifier_result": None, "exception_info": None}
EVALUATION = {
    "n_trials": 5,
    "n_errors": 3,
    "metrics": [{"mean": 0.6}],
    "pass_at_k": {"2": 1.0, "4": 0.5},
    "reward_stats": {"reward": {"1.0": ["a__1"]}},
    "exception_stats": {},
}
JOB: dict[str, Any] = {
    "schema_version": 1,
    "id": "j-1",
    "started_at": "2026-09-01T08:00:00",
    "finished_at": "2026-09-01T08:01:00",
    "n_total_trials": 7,
    "stats": {
        "n_completed_trials": 5,
        "n_errored_trials": 3,
        "n_running_trials": 1,
        "n_pending_trials": 1,
        "evals": {"oracle__m1__demo": EVALUATION},
        "n_input_tokens": 2**40,
        "n_cache_tokens": None,
        "n_output_tokens": 14,
        "cost_usd": 0.07,
    },
}
ENTRY: dict[str, Any] = {
    "id": "e-1",
    "trial_name": "hello.1-of-2.run",
    "task_id": "hello",
    "instruction": "(removed)",
    "is_resolved": True,
    "failure_mode": "unset",
    "parser_results": {"test_it": "passed"},
    "total_input_tokens": 2**33,
    "total_output_tokens": 12,
}
RUN: dict[str, Any] = {
    "results": [ENTRY, {**ENTRY, "id": "e-2", "trial_name": "hello.2-of-2.run", "is_resolved": False}],
    "pass_at_k": {"2": 1.0},
    "n_resolved": 1,
    "n_unresolved": 1,
    "accuracy": 0.5,
}


def trial(path: str, value: Any, base: dict[str, Any] = TRIAL) -> dict[str, Any]:
    """The trial with another value at the path (`agent_info.name`)."""
    return changed(path, value, base)


def stepped(*steps: dict[str, Any], **fields: Any) -> dict[str, Any]:
    """A multi-step trial without rewards and usage of its own; `fields` overrides."""
    own = {"agent_result": None, "verifier_result": None, "step_results": [{**STEP, **step} for step in steps]}
    return {**TRIAL, **own, **fields}


def verified(**scores: Any) -> dict[str, Any]:
    """What a step may hold: rewards."""
    return {"verifier_result": {"rewards": scores}}


def used(**usage: Any) -> dict[str, Any]:
    """What a step may hold: tokens and cost."""
    return {"agent_result": usage}


def spliced(path: str, text: str, base: dict[str, Any] = TRIAL) -> bytes:
    """The trial with raw JSON text at the path."""
    return as_bytes(changed(path, "@@@", base)).replace(b'"@@@"', text.encode())


def document(content: Any, path: str = "nightly/fix-bug__AbC/result.json", landed_on: dt.date = DAY) -> Document:
    """A landed object at the path below the folder of the day."""
    raw = as_bytes(content)
    uri = f"memory://store/harbor/{landed_on}/{path}"
    return Document(uri, path, "harbor", landed_on, MODIFIED, hashlib.sha256(raw).hexdigest(), raw)


def decode(*contents: Any, first: int = 0) -> Decoded:
    """The contents as one batch, each a trial of one job where it is no document yet; every frame fits its contract."""
    documents = [
        content if isinstance(content, Document) else document(content, f"nightly/t{number}/result.json")
        for number, content in enumerate(contents)
    ]
    return proven(harbor.decode(documents, Limits(), first))


def assembled(*contents: Any) -> Decoded:
    """The documents decoded one batch each, and terminal-bench's parts of all of them joined."""
    batches: list[Decoded] = []
    for content in contents:
        batches.append(decode(content, first=batches[-1].next_document if batches else 0))
    return joined(*batches)


def joined(*batches: Decoded) -> Decoded:
    """What terminal-bench's parts of these batches come to together."""
    parts = {name: pl.concat(batch.frames[name] for batch in batches) for name in terminal_bench.PARTS}
    return proven(terminal_bench.assemble(parts, batches[-1].next_document))


def proven(decoded: Decoded) -> Decoded:
    """The same, its frames proven to fulfil their contracts, as far as one winner per attempt is not needed."""
    conform(Quarantine, decoded.quarantine)
    for contract in TABLES:
        frame = decoded.frames.get(table_name(contract))
        if frame is not None:
            conform(contract, frame.drop("document").unique(key(contract) or None, maintain_order=True))
    return decoded


def observed(content: Any, path: str = "nightly/fix-bug__AbC/result.json") -> dict[str, Any]:
    """The observation of a trial."""
    decoded = decode(document(content, path))
    assert decoded.quarantine.is_empty()
    (row,) = decoded.frames["observations"].iter_rows(named=True)
    return row


def attempt(content: Any) -> dict[str, Any]:
    """The attempt of a trial."""
    (row,) = decode(content).frames["attempts"].iter_rows(named=True)
    return row


def rewards(content: Any) -> dict[str, float | None]:
    """The effective rewards of a trial."""
    return {metric["name"]: metric["value"] for metric in observed(content)["metrics"]}


def figures(decoded: Decoded) -> dict[str, Any]:
    """What was recorded, by field: the number, or the type and text of what is none."""
    return {
        row["field"]: row["value"] if row["value_type"] in {"number", "boolean"} else (row["value_type"], row["text"])
        for row in decoded.frames["recorded_values"].iter_rows(named=True)
    }


def refused(content: Any, path: str = "nightly/broken/result.json") -> tuple[str, str, str | None]:
    """Stage, reason and path of a document's only quarantine row; its neighbours in the batch are proven to decode."""
    before, after = trial("id", "before"), trial("id", "after")
    decoded = decode(before, document(content, path), after)
    assert decoded.frames["observations"]["attempt_id"].to_list() == ["harbor:before", "harbor:after"]
    (row,) = decoded.quarantine.iter_rows(named=True)
    assert row["uri"].endswith(path)
    assert row["detail"]
    return row["stage"], row["reason"], row["path"]
