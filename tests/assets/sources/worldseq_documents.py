"""Small worldseq documents for the decoder's tests, and a short way to decode them."""

import copy
import datetime as dt
import hashlib
import json
from typing import Any

import polars as pl

from assets.sources import worldseq
from assets.sources.documents import Decoded, Document, Limits

DAY = dt.date(2026, 11, 29)
MODIFIED = dt.datetime(2026, 11, 30, 1, 2, 3, tzinfo=dt.UTC)
LIMITS = Limits()

FULL: dict[str, Any] = {
    "format": "worldseq-attempt/1",
    "attempt": {
        "attemptId": "att-1",
        "campaignId": "cmp",
        "armId": "treatment",
        "familyId": "pricing",
        "companyId": "acme",
        "taskId": "raise-price",
        "scenarioId": "s1",
        "repeat": 1,
        "agent": {"name": "planner", "version": "2.1", "model": "m-large"},
        "startedAt": "2026-11-29T01:02:03Z",
        "finishedAt": "2026-11-29T02:55:00+01:00",
        "outcome": "completed",
        "failure": None,
    },
    "task": {
        "horizonDays": 2,
        "primaryMetric": "net_assets",
        "constraints": [
            {"id": "budget", "kind": "spending_budget", "maxCents": 2_000_000},
            {"id": "price", "kind": "price_bounds", "minCents": 500, "maxCents": 9_900},
            {"id": "end", "kind": "horizon"},
            {"id": "deal", "kind": "agreement", "agreementId": "supplier-1", "status": "signed", "byDay": 1},
            {
                "id": "grow",
                "kind": "growth",
                "metric": "activePayingAccounts",
                "fromDay": 0,
                "toDay": 2,
                "minRatio": 1.1,
            },
            {"id": "play", "kind": "gameplay_budget", "playerCalls": 7},
        ],
        "objectives": [{"id": "keep", "metric": "activePayingAccounts", "fromDay": 1, "toDay": 2, "min": 20}],
        "questions": [
            {
                "id": "q-cause",
                "kind": "categorical",
                "candidates": ["A", "B", "C"],
                "equivalenceGroups": [["A", "B"], ["C"]],
                "dueOnDay": 2,
                "requirement": {"kind": "supported_conclusion"},
            },
            {
                "id": "q-cash",
                "kind": "forecast",
                "metric": "cashCents",
                "outcomeOnDay": 2,
                "scale": 100_000,
                "dueOnDay": 1,
            },
            {
                "id": "q-price",
                "kind": "counterfactual",
                "metric": "lostWorkUnits",
                "outcomeOnDay": 2,
                "scale": 10,
                "dueOnDay": 2,
                "checkpointDay": 1,
                "oneShotAction": "raise_price",
            },
        ],
    },
    "trajectory": [
        {
            "day": day,
            "cashCents": 5_000_000 + day,
            "minCashCents": 4_000_000,
            "spendCents": 10,
            "activePayingAccounts": 20,
            "shortfallUnits": 0.5,
            "prices": {"core": 1_900, "addon": 900},
        }
        for day in range(3)
    ],
    "agreements": [{"agreementId": "supplier-1", "status": "signed", "onDay": 1}],
    "answers": [
        {
            "questionId": "q-cause",
            "sequence": 4,
            "submittedOnDay": 1,
            "status": "accepted",
            "probabilities": {"A": 0.4, "B": 0.4, "C": 0.2},
            "conclusion": ["A", "B"],
            "unresolved": True,
        },
        {"questionId": "q-cash", "submittedOnDay": 0, "status": "accepted", "prediction": 5_100_000},
    ],
    "evidence": {
        "q-cause": {"truth": "A"},
        "q-price": {
            "oneShotAction": "available",
            "supportedConclusion": ["decrease"],
            "factualPrefixDigest": "p1",
            "baseline": {"verified": True, "prefixDigest": "p1", "exogenousDigest": "x1", "values": {"2": 40.0}},
            "intervention": {"verified": True, "prefixDigest": "p1", "exogenousDigest": "x1", "values": {"2": 34}},
        },
    },
    "usage": {
        "acceptedDecisions": 90,
        "playerCalls": 400,
        "elapsedSeconds": 3100.5,
        "reportedTokens": 812_345,
        "tokenBudget": 2_000_000,
    },
    "verification": {
        "verified": True,
        "eligible": True,
        "primaryMetric": "net_assets",
        "primaryValue": 250_000,
        "constraints": [{"id": "budget", "satisfied": True}],
        "business": {
            "objectives": [{"id": "keep", "satisfied": True, "worstValue": 21, "observedDays": 2}],
            "metrics": {"netAssetsCents": 6_250_000},
        },
        "assessments": [{"questionId": "q-cause", "score": 0.96, "groupBrier": 0.04}],
    },
    "finalization": {"status": "completed", "finalizedAt": "2026-11-29T01:56:00Z"},
}
FINALIZER = {part: FULL[part] for part in ("attempt", "verification", "finalization")}
HARBOR = {"attempt": FULL["attempt"], **FULL["verification"], "reward": 1.1, "finalization": FULL["finalization"]}
CASE = {part: FULL[part] for part in ("attempt", "verification")}
REWARD = {"reward": 1.1, "eligible": 1, "verified": 1, "primary_value": 250_000, "reward_transform_version": 1}

ABSENT = object()


def changed(path: str, value: Any, base: dict[str, Any] = FULL) -> dict[str, Any]:
    """A copy of the document with another value at the path (`task.questions.2.scale`); `ABSENT` removes it."""
    result = copy.deepcopy(base)
    *steps, last = path.split(".")
    target: Any = result
    for step in steps:
        target = target[int(step)] if isinstance(target, list) else target[step]
    if value is ABSENT:
        del target[int(last) if isinstance(target, list) else last]
    elif isinstance(target, list):
        target[int(last)] = value
    else:
        target[last] = value
    return result


def named(attempt: str, base: dict[str, Any] = FULL) -> dict[str, Any]:
    """The document as one of another attempt."""
    return changed("attempt.attemptId", attempt, base)


def as_bytes(value: Any) -> bytes:
    """Compact JSON; bytes are left alone."""
    return value if isinstance(value, bytes) else json.dumps(value, separators=(",", ":")).encode()


def document(
    content: Any, name: str = "a.json", modified: dt.datetime = MODIFIED, landed_on: dt.date = DAY
) -> Document:
    """A landed object."""
    raw = as_bytes(content)
    uri = f"memory://store/worldseq/{landed_on}/{name}"
    return Document(uri, uri.rpartition("/")[2], "worldseq", landed_on, modified, hashlib.sha256(raw).hexdigest(), raw)


def decode(*contents: Any) -> Decoded:
    """The contents as one batch, named `0.json`, `1.json`, … where they are no documents yet."""
    documents = [
        content if isinstance(content, Document) else document(content, f"{number}.json")
        for number, content in enumerate(contents)
    ]
    return worldseq.decode(documents, LIMITS)


def refused(content: Any) -> tuple[str, str, str | None]:
    """Stage, reason and path of a document's quarantine row; its neighbours in the batch are proven to decode."""
    decoded = decode(named("before"), content, named("after"))
    assert decoded.frames["attempts"]["attempt_id"].to_list() == ["worldseq:before", "worldseq:after"]
    assert decoded.frames["trajectory_days"].height == 6
    (row,) = decoded.quarantine.iter_rows(named=True)
    assert row["uri"].endswith("/1.json")
    assert row["landed_on"] == DAY
    assert row["sha256"] == hashlib.sha256(as_bytes(content)).hexdigest()
    assert row["detail"]
    return row["stage"], row["reason"], row["path"]


def only(frame: pl.DataFrame) -> dict[str, Any]:
    """The only row of a frame."""
    (row,) = frame.iter_rows(named=True)
    return row
