"""A hostile store: every way in which an artifact can be broken, and what must become of it.

`HOSTILE` maps a key to its bytes and to what is expected: the quarantine row (stage, reason, path), or None where the
attempt is scored like any other.
"""

import json
from collections.abc import Mapping
from typing import Any, NamedTuple

DAY = "2026-11-29"
OVERSIZE = 70 * 2**20


class Expected(NamedTuple):
    """The quarantine row of a document; `path` None: none, or not told beforehand."""

    stage: str
    reason: str
    path: str | None = None


class Hostile(NamedTuple):
    """One object, and what must become of it."""

    content: bytes
    expected: Expected | None


def full(attempt_id: str = "att", **changes: Any) -> dict[str, Any]:
    """A small eligible full attempt artifact; `changes` replace top-level fields."""
    return {
        "format": "worldseq-attempt/1",
        "attempt": {"attemptId": attempt_id, "outcome": "completed", "finishedAt": "2026-11-29T01:55:00Z"},
        "task": {
            "horizonDays": 2,
            "primaryMetric": "net_assets",
            "constraints": [{"id": "floor", "kind": "cash_floor", "minCents": 0}],
            "objectives": [{"id": "keep", "metric": "activePayingAccounts", "fromDay": 1, "toDay": 2, "min": 20}],
            "questions": [
                {
                    "id": "q-cash",
                    "kind": "forecast",
                    "metric": "cashCents",
                    "outcomeOnDay": 2,
                    "scale": 10,
                    "dueOnDay": 2,
                },
                {
                    "id": "q-cause",
                    "kind": "categorical",
                    "candidates": ["A", "B"],
                    "equivalenceGroups": [["A"], ["B"]],
                    "dueOnDay": 2,
                },
            ],
        },
        "trajectory": [
            {
                "day": day,
                "cashCents": 100 + day,
                "minCashCents": 50,
                "netAssetsCents": 1_000 + 10 * day,
                "activePayingAccounts": 20,
                "prices": {"core": 1_900},
            }
            for day in range(3)
        ],
        "answers": [
            {"questionId": "q-cash", "submittedOnDay": 1, "status": "accepted", "prediction": 112},
            {"questionId": "q-cause", "submittedOnDay": 1, "status": "accepted", "probabilities": {"A": 1.0, "B": 0.0}},
        ],
        "evidence": {"q-cause": {"truth": "A"}},
        "usage": {"acceptedDecisions": 1, "playerCalls": 2, "elapsedSeconds": 3.5},
        "finalization": {"status": "completed", "finalizedAt": "2026-11-29T01:56:00Z"},
        **changes,
    }


def text(document: Mapping[str, Any]) -> bytes:
    """Compact JSON."""
    return json.dumps(document, separators=(",", ":"), ensure_ascii=False).encode()


def swapped(old: str, new: str, attempt_id: str) -> bytes:
    """A valid artifact with one piece of its text replaced."""
    content = text(full(attempt_id)).decode()
    if old not in content:
        raise ValueError(old)
    return content.replace(old, new, 1).encode()


def task(attempt_id: str, **changes: Any) -> bytes:
    """A valid artifact with fields of its task contract replaced."""
    document = full(attempt_id)
    document["task"] |= changes
    return text(document)


def nested(attempt_id: str, depth: int) -> bytes:
    """An artifact with an unknown field whose value makes the document `depth` deep."""
    return swapped('"format"', f'"extra":{"[" * (depth - 1)}{"]" * (depth - 1)},"format"', attempt_id)


def identified(attempt_id: str) -> bytes:
    """A valid artifact under this id, which may be anything."""
    return text(full(attempt_id))


def answer(attempt_id: str, **fields: Any) -> bytes:
    """A valid artifact whose first answer says this."""
    document = full(attempt_id)
    document["answers"][0] |= fields
    return text(document)


QUESTION = full()["task"]["questions"][1]

HOSTILE: dict[str, Hostile] = {
    "truncated": Hostile(text(full("h-truncated"))[:-200], Expected("decode", "not_json")),
    "empty": Hostile(b"", Expected("decode", "empty")),
    "brackets": Hostile(b"[" * 20_000 + b"]" * 20_000, Expected("decode", "too_deep")),
    "deep-64": Hostile(nested("h-deep-64", 64), None),
    "deep-65": Hostile(nested("h-deep-65", 65), Expected("decode", "too_deep")),
    "nan": Hostile(swapped('"cashCents":101', '"cashCents":NaN', "h-nan"), Expected("decode", "not_json")),
    "infinity": Hostile(
        swapped('"elapsedSeconds":3.5', '"elapsedSeconds":Infinity', "h-inf"), Expected("decode", "not_json")
    ),
    "overflow": Hostile(
        swapped('"elapsedSeconds":3.5', '"elapsedSeconds":1e999', "h-overflow"),
        Expected("decode", "out_of_range", "$.usage.elapsedSeconds"),
    ),
    "overflow-unknown": Hostile(swapped('"format"', '"extra":1e999,"format"', "h-overflow-unknown"), None),
    "fraction": Hostile(
        swapped('"cashCents":101', '"cashCents":1.5', "h-fraction"),
        Expected("decode", "wrong_type", "$.trajectory[1].cashCents"),
    ),
    "float-integer": Hostile(
        swapped('"cashCents":101', '"cashCents":1.0', "h-float"),
        Expected("decode", "wrong_type", "$.trajectory[1].cashCents"),
    ),
    "price-text": Hostile(
        swapped('"core":1900', '"core":"1900"', "h-price"),
        Expected("decode", "wrong_type", "$.trajectory[0].prices.core"),
    ),
    "true-integer": Hostile(
        swapped('"playerCalls":2', '"playerCalls":true', "h-true"),
        Expected("decode", "wrong_type", "$.usage.playerCalls"),
    ),
    "cents-max": Hostile(swapped('"netAssetsCents":1020', f'"netAssetsCents":{10**13}', "h-cents-max"), None),
    "cents-over": Hostile(
        swapped('"cashCents":101', f'"cashCents":{10**13 + 1}', "h-cents-over"),
        Expected("decode", "out_of_range", "$.trajectory[1].cashCents"),
    ),
    "cents-int64": Hostile(
        swapped('"cashCents":101', f'"cashCents":{2**63}', "h-cents-int64"),
        Expected("decode", "out_of_range", "$.trajectory[1].cashCents"),
    ),
    "duplicate-day": Hostile(
        swapped('"day":2', '"day":1', "h-duplicate-day"), Expected("contract", "duplicate_day", "$.trajectory[2].day")
    ),
    "duplicate-id": Hostile(
        task("h-duplicate-id", questions=[QUESTION, QUESTION]),
        Expected("contract", "duplicate_id", "$.task.questions[1].id"),
    ),
    "missing-field": Hostile(
        task("h-missing", horizonDays=None), Expected("decode", "missing_field", "$.task.horizonDays")
    ),
    "no-outcome": Hostile(
        swapped('"outcome":"completed",', "", "h-no-outcome"), Expected("decode", "missing_field", "$.attempt.outcome")
    ),
    "unknown-outcome": Hostile(
        swapped('"outcome":"completed"', '"outcome":"won"', "h-outcome"),
        Expected("decode", "unknown_value", "$.attempt.outcome"),
    ),
    "bad-time": Hostile(
        swapped("2026-11-29T01:55:00Z", "yesterday", "h-time"), Expected("decode", "bad_time", "$.attempt.finishedAt")
    ),
    "naive-time": Hostile(swapped("2026-11-29T01:55:00Z", "2026-11-29T01:55:00", "h-naive"), None),
    "not-utf8": Hostile(
        text(full("h-not-utf8")).replace(b'"format"', b'"extra":"\xff","format"', 1), Expected("decode", "not_utf8")
    ),
    "byte-order-mark": Hostile(b"\xef\xbb\xbf" + text(full("h-bom")), None),
    "two-marks": Hostile(b"\xef\xbb\xbf\xef\xbb\xbf" + text(full("h-two-bom")), Expected("decode", "not_json")),
    "surrogate-unknown": Hostile(swapped('"format"', '"extra":"\\ud800","format"', "h-surrogate-unknown"), None),
    "surrogate-id": Hostile(
        swapped('"id":"floor"', '"id":"\\ud800"', "h-surrogate-id"),
        Expected("decode", "bad_identifier", "$.task.constraints[0].id"),
    ),
    "unknown-shape": Hostile(b'{"hello":"world"}', Expected("decode", "unknown_shape")),
    "array": Hostile(b"[1,2,3]", Expected("decode", "unknown_shape")),
    "two-values": Hostile(b"{} {}", Expected("decode", "not_json")),
    # Contracts that contradict themselves are inconclusive predicates, not quarantine.
    "unknown-kind": Hostile(
        task("h-unknown-kind", constraints=[{"id": "c", "kind": "vibes", "maxCents": "lots"}]), None
    ),
    "scale-zero": Hostile(task("h-scale-zero", questions=[{**full()["task"]["questions"][0], "scale": 0}]), None),
    "no-partition": Hostile(task("h-groups", questions=[{**QUESTION, "equivalenceGroups": [["A"], ["A", "B"]]}]), None),
    # What a player wrote never quarantines the attempt.
    "nonsense-prediction": Hostile(answer("h-prediction", prediction={"a": [1]}), None),
    "nonsense-conclusion": Hostile(answer("h-conclusion", conclusion=7, unresolved="maybe"), None),
    "overflow-prediction": Hostile(swapped('"prediction":112', '"prediction":1e999', "h-prediction-overflow"), None),
    # Identifiers are anything; nothing downstream may break or execute on them.
    "id-quotes": Hostile(identified("h-'quoted\" `id`; DROP TABLE attempts--"), None),
    "id-slashes": Hostile(identified("h-../../etc/passwd"), None),
    "id-script": Hostile(identified("h-<script>alert(1)</script>"), None),
    "id-formula": Hostile(identified("=cmd()|'/C calc'!A0"), None),
    "id-emoji": Hostile(identified("h-🦕" * 10), None),
    "id-200": Hostile(identified("x" * 200), None),
    "id-201": Hostile(identified("x" * 201), Expected("decode", "bad_identifier", "$.attempt.attemptId")),
    "id-empty": Hostile(identified(""), Expected("decode", "bad_identifier", "$.attempt.attemptId")),
    "id-control": Hostile(identified("h-\u0007bell"), Expected("decode", "bad_identifier", "$.attempt.attemptId")),
    "id-newline": Hostile(identified("h-\nline"), Expected("decode", "bad_identifier", "$.attempt.attemptId")),
    # Several documents about one attempt.
    "copy-1": Hostile(text(full("h-copy")), None),
    "copy-2": Hostile(text(full("h-copy")), None),
    "differs-1": Hostile(
        text(full("h-differs", finalization={"status": "completed", "finalizedAt": "2026-11-29T01:00:00Z"})),
        Expected("duplicate", "superseded"),
    ),
    "differs-2": Hostile(text(full("h-differs")), None),
}

OVERSIZED = "oversized"


def objects() -> dict[str, bytes]:
    """Key to bytes of the whole store, the oversized object included."""
    found = {f"worldseq/{DAY}/{name}.json": hostile.content for name, hostile in HOSTILE.items()}
    found[f"worldseq/{DAY}/{OVERSIZED}.json"] = b'{"padding":"' + b" " * OVERSIZE + b'"}'
    found["worldseq/stray.json"] = text(full("h-stray"))
    found[f"worldseq/{DAY}/notes.txt"] = b"never read"
    return found
