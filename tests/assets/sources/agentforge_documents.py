"""Small AgentForge documents for the decoders' tests, and a short way to decode and assemble them."""

import datetime as dt
import hashlib
from collections.abc import Sequence
from typing import Any

import polars as pl

from assets.sources import agentforge
from assets.sources.documents import Decoded, Document, Limits
from tests.assets.sources.worldseq_documents import DAY, MODIFIED, as_bytes, changed

LIMITS = Limits()

PACK: dict[str, Any] = {
    "format": "agentforge-pack/1",
    "packKey": "incident",
    "schemaVersion": 1,
    "stages": [
        {"id": "health-restored", "weight": 0.4, "hidden": True},
        {"id": "data-preserved", "weight": 0.35, "hidden": True, "metricKey": "kept"},
        {"id": "root-cause", "weight": 0.25, "hidden": True},
        {"id": "style", "weight": 7, "hidden": False},
    ],
}
TRIAL: dict[str, Any] = {
    "format": "agentforge-trial/1",
    "trialId": "t-1",
    "jobId": "j-1",
    "attempt": 1,
    "configuration": {
        "schemaVersion": 1,
        "agentKind": "multi_agent",
        "attemptCount": 4,
        "rewardRecipe": "staged",
        "sandboxProvider": "work",
        "composition": "multi_agent",
        "packKey": "incident",
        "scenarioKey": "eu",
    },
    "status": "completed",
    "metrics": {"stage_health_restored": 1, "kept": 0.5, "stage_root_cause": None, "tokens": 123.0},
    "reward": 0.575,
    "trajectoryUri": "s3://bucket/t-1.jsonl",
    "finishedAt": "2026-11-29T03:00:00Z",
}
RESULT = {"format": "agentforge-result/1", "jobId": "j-1", "meanReward": 0.6, "passAt1": 0.25, "passAtK": 1}


def trial(trial_id: str, **fields: Any) -> dict[str, Any]:
    """The trial under another id, with other fields; those of its configuration are named alike."""
    inner = {name: value for name, value in fields.items() if name in TRIAL["configuration"]}
    outer = {name: value for name, value in fields.items() if name not in inner}
    return TRIAL | {"trialId": trial_id} | outer | {"configuration": TRIAL["configuration"] | inner}


def pack(*weights: float, key: str = "incident") -> dict[str, Any]:
    """A pack with hidden stages of these weights."""
    stages = [{"id": f"s{position}", "weight": weight, "hidden": True} for position, weight in enumerate(weights)]
    return changed("stages", stages, PACK | {"packKey": key})


def document(
    content: Any, name: str = "a.json", modified: dt.datetime = MODIFIED, source: str = "agentforge"
) -> Document:
    """A landed object."""
    raw = as_bytes(content)
    return Document(
        f"memory://store/{source}/{name}", name, source, DAY, modified, hashlib.sha256(raw).hexdigest(), raw
    )


def numbered(contents: Sequence[Any], source: str) -> list[Document]:
    """Landed objects, named `0.json`, `1.json`, … where they are no documents yet."""
    return [
        content if isinstance(content, Document) else document(content, f"{number}.json", source=source)
        for number, content in enumerate(contents)
    ]


def decode(*contents: Any) -> Decoded:
    """Trials and results as one batch."""
    return agentforge.decode(numbered(contents, "agentforge"), LIMITS)


def packs(*contents: Any) -> Decoded:
    """Packs as one batch."""
    return agentforge.decode_packs(numbered(contents, "agentforge-packs"), LIMITS)


def assembled(trials: Sequence[Any], versions: Sequence[Any] = (PACK,)) -> dict[str, pl.DataFrame]:
    """The tables of the attempts layer that trials and versions of packs come to."""
    return agentforge.assemble({**decode(*trials).frames, **packs(*versions).frames}, 0).frames
