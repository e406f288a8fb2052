"""Decoding Harbor trials: trials per second against parsing the same files with the framework's own models."""

import datetime as dt
import hashlib
import json
import random
import tempfile
from pathlib import Path
from typing import Any

from assets.sources.documents import Document, Limits
from assets.sources.harbor import decode
from tests.benchmarks.peers import Peer, measured
from tests.benchmarks.ratios import Ratio, best

COUNT = 10_000
DAY = dt.date(2026, 11, 29)
NOON = dt.datetime(2026, 11, 29, 12, tzinfo=dt.UTC)

UNSET = {
    "task": ["git_url", "git_commit_id", "name", "ref", "download_dir", "source"],
    "agent": ["import_path", "base_url", "override_timeout_sec", "override_setup_timeout_sec", "max_timeout_sec"],
    "environment": ["import_path", "override_cpus", "override_memory_mb", "override_storage_mb", "override_gpus"],
    "verifier": ["override_timeout_sec", "max_timeout_sec"],
    "config": ["agent_timeout_multiplier", "verifier_timeout_multiplier", "agent_setup_timeout_multiplier", "job_id"],
    "trial": ["environment_setup", "agent_setup", "agent_execution", "verifier", "step_results"],
}
"""Fields that a trial's own configuration leaves null, as the framework writes them out."""


def trial(rng: random.Random, number: int) -> dict[str, Any]:
    """One `result.json` as the framework writes it, about 3.5 KB."""
    task = f"task-{number // 4 % 500}"
    name = f"{task}__{number:07}"
    failed = rng.random() < 0.2
    kind = rng.choice(("AgentTimeoutError", "RateLimitError", "RuntimeError"))
    trace = '  File "agent.py", line 1, in run\n' * 12
    exception = {
        "exception_type": kind,
        "exception_message": f"{kind} in {name}",
        "exception_traceback": f"Traceback (most recent call last):\n{trace}",
        "occurred_at": "2026-11-29T01:02:33Z",
    }
    return {
        "schema_version": 1,
        "id": f"00000000-0000-4000-8000-{number:012}",
        "task_name": task,
        "trial_name": name,
        "trial_uri": f"file:///jobs/demo/{name}",
        "task_id": {"path": f"/tasks/{task}"},
        "source": "demo-dataset",
        "task_checksum": f"{number:064x}",
        "config": {
            "task": {"path": f"/tasks/{task}", "overwrite": False, **dict.fromkeys(UNSET["task"])},
            "trial_name": name,
            "trials_dir": "jobs/demo",
            "timeout_multiplier": 1.0,
            "agent": {
                "name": "planner",
                "model_name": "provider/m-large",
                "kwargs": {"reasoning_effort": "high", "max_turns": 200, "temperature": 0.2},
                **dict.fromkeys(UNSET["agent"]),
            },
            "environment": {
                "type": "docker",
                "force_build": False,
                "delete": True,
                "kwargs": {},
                **dict.fromkeys(UNSET["environment"]),
            },
            "verifier": {"disable": False, **dict.fromkeys(UNSET["verifier"])},
            "artifacts": [],
            **dict.fromkeys(UNSET["config"]),
        },
        "agent_info": {"name": "planner", "version": "2.1", "model_info": {"name": "m-large", "provider": "provider"}},
        "agent_result": {
            "n_input_tokens": rng.randrange(10**7),
            "n_cache_tokens": rng.randrange(10**6),
            "n_output_tokens": rng.randrange(10**5),
            "cost_usd": round(rng.random() * 3, 6),
            "rollout_details": None,
            "metadata": {"turns": rng.randrange(200), "commands": [f"command number {n}" for n in range(12)]},
        },
        "verifier_result": {"rewards": {"reward": float(rng.randrange(2))}},
        "exception_info": exception if failed else None,
        "started_at": "2026-11-29T01:02:03Z",
        "finished_at": f"2026-11-29T01:{rng.randrange(10, 60)}:33.123456Z",
        **dict.fromkeys(UNSET["trial"]),
    }


def write(folder: Path) -> list[Document]:
    """Write the trials of one job, as the framework lays them out, and give them as landed documents."""
    rng = random.Random(1)
    documents = []
    for number in range(COUNT):
        one = trial(rng, number)
        path = Path("demo", one["trial_name"], "result.json")
        content = json.dumps(one, indent=4).encode()
        (folder / path).parent.mkdir(parents=True)
        (folder / path).write_bytes(content)
        uri, digest = f"file://{folder}/{path}", hashlib.sha256(content).hexdigest()
        documents.append(Document(uri, str(path), "harbor", DAY, NOON, digest, content))
    return documents


def plainly(documents: list[Document]) -> list[tuple[Any, ...]]:
    """The fields that the decoder reads, as plain Python takes them out of parsed JSON."""
    rows = []
    for document in documents:
        told = json.loads(document.content)
        agent, result, failure = told["agent_info"], told["agent_result"] or {}, told["exception_info"] or {}
        times = [dt.datetime.fromisoformat(told[name]) for name in ("started_at", "finished_at")]
        rewards = {name: float(value) for name, value in (told["verifier_result"] or {}).get("rewards", {}).items()}
        names = (told["id"], told["task_name"], told["source"], agent["name"], (agent["model_info"] or {}).get("name"))
        sums = [result.get(name) for name in ("n_input_tokens", "n_cache_tokens", "n_output_tokens", "cost_usd")]
        rows.append((*names, rewards, failure.get("exception_type"), failure.get("exception_message"), *times, *sums))
    return rows


def main() -> list[Ratio]:
    """(e) Trials per second, both from bytes in memory."""
    with tempfile.TemporaryDirectory() as name:
        documents = write(Path(name))
        peer = measured("harbor", Path(name)) or Peer("json.loads and plain Python", best(lambda: plainly(documents)))
    decoded = decode(documents, Limits(), 0)
    if decoded.frames["observations"].height != COUNT:
        raise AssertionError(decoded.quarantine)
    decoding = best(lambda: decode(documents, Limits(), 0))
    size = sum(len(document.content) for document in documents) / COUNT
    return [
        Ratio(
            f"(e) Harbor trials of {size / 1e3:.1f} KB, decoded, trials/s ÷ {peer.name}",
            peer.seconds / decoding,
            "≥ 2, aim 4",
            f"{COUNT / decoding:,.0f}/s against {COUNT / peer.seconds:,.0f}/s",
        )
    ]
