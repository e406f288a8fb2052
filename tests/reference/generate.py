"""Seeded, valid and varied full attempts: both sides of whatever the rules distinguish, and nonsense from players.

Documents here always decode; broken ones are the business of the decoder's own tests. About two in five are calm, so
that their predicates pass and the eligible class is reached; half of those have one flaw, so that a single predicate
decides; the others go wrong in several places at once.
"""

import json
import math
from collections.abc import Iterator
from random import Random
from typing import Any

from .contracts import constraints, objectives
from .hostile import HUGE, IDENTIFIERS, Json, chance, identifier
from .model import Expected
from .players import answers, evidence, questions
from .worldseq import expected

PRIMARY = ("net_cash", "net_assets", "operating_margin", "active_paying_accounts", "retained_accounts", "recovery")
_OVERFLOW = "\ue000overflow\ue000"


def attempts(seed: int, count: int) -> Iterator[Json]:
    """Yield `count` full attempt documents, the same ones for the same seed."""
    rng = Random(seed)
    for number in range(count):
        yield _attempt(rng, number)


def to_bytes(doc: Json) -> bytes:
    """Render a document as UTF-8 JSON; an infinite double becomes a number token that overflows (`1e999`)."""
    try:
        text = json.dumps(doc, ensure_ascii=False, allow_nan=False)
    except ValueError:
        text = json.dumps(_tokens(doc), ensure_ascii=False, allow_nan=False)
        text = text.replace(f'"{_OVERFLOW}"', "1e999").replace(f'"-{_OVERFLOW}"', "-1e999")
    return text.encode()


def _tokens(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _tokens(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_tokens(item) for item in value]
    if isinstance(value, float) and math.isinf(value):
        return _OVERFLOW if value > 0 else f"-{_OVERFLOW}"
    return value


def _attempt(rng: Random, number: int) -> Json:
    calm = chance(rng, 0.4)
    outcome = rng.choices(("completed", "agent_failure", "infrastructure_failure"), (88, 6, 6))[0]
    doc: Json = {"format": "worldseq-attempt/1", "attempt": _identity(rng, number, outcome)}
    if outcome != "completed":
        doc["attempt"]["failure"] = rng.choice(
            (None, {"kind": "timeout", "message": 'a\nb\t"<script>"'}, {"kind": identifier(rng), "message": None})
        )
    if outcome == "completed" or chance(rng, 0.6):
        _play(rng, doc, calm=calm)
        if calm and chance(rng, 0.5):
            _one_flaw(rng, doc)
    if outcome == "completed" or chance(rng, 0.3):
        doc |= _finalization(rng, calm=calm)
    if outcome == "completed" and chance(rng, 0.7):
        doc["verification"] = _verification(rng, expected(doc))
    if chance(rng, 0.1):
        doc["note"] = {"unknown": [math.inf, HUGE, None, "=1+1"]}
    return _nulls_for_absent(rng, doc)


def _identity(rng: Random, number: int, outcome: str) -> Json:
    return {
        "attemptId": f"att-{number:06d}{rng.choice(('', '', *IDENTIFIERS))}",
        "campaignId": rng.choice((None, "cmp-pricing", identifier(rng))),
        "armId": rng.choice((None, "baseline", "treatment")),
        "familyId": rng.choice((None, "pricing")),
        "companyId": identifier(rng),
        "taskId": rng.choice(("raise-price", identifier(rng))),
        "scenarioId": rng.choice((None, "s1")),
        "repeat": rng.choice((None, 1, 2, 7)),
        "agent": rng.choice(
            (None, {"name": "planner", "version": "2.1", "model": "m-large"}, {"name": identifier(rng)})
        ),
        "startedAt": rng.choice((None, "2026-11-29T01:02:03Z", "2026-11-29T03:02:03.25+02:00", "2026-11-29T01:02:03")),
        "finishedAt": rng.choice((None, "2026-11-29T01:55:00Z")),
        "outcome": outcome,
    }


def _play(rng: Random, doc: Json, *, calm: bool) -> None:
    horizon = rng.choice((0, 1, 2, 3, 3, 4, 6, 9, 12))
    days = _trajectory(rng, horizon, calm=calm)
    visible = sorted((day for day in days if day["day"] <= horizon), key=lambda day: day["day"])
    agreements, constraint_rows = constraints(rng, visible, horizon, calm=calm)
    question_rows = questions(rng, horizon, calm=calm)
    known = evidence(rng, question_rows, calm=calm)
    doc["task"] = {
        "horizonDays": horizon,
        "primaryMetric": rng.choice(PRIMARY),
        "constraints": constraint_rows,
        "objectives": objectives(rng, visible, horizon, calm=calm),
        "questions": question_rows,
    }
    doc["trajectory"] = days
    doc["agreements"] = agreements
    doc["answers"] = answers(rng, question_rows, known, visible, calm=calm)
    doc["evidence"] = known
    doc["usage"] = _usage(rng, calm=calm)


def _one_flaw(rng: Random, doc: Json) -> None:
    """Spoil one thing only, so that nothing else hides how it is judged."""
    task, usage = doc["task"], doc["usage"]
    flaw = rng.choice((_spoil_day, _spoil_day, _spoil_question, _spoil_question, None))
    if flaw:
        flaw(rng, doc)
    elif chance(rng, 0.4):
        usage[rng.choice(("acceptedDecisions", "playerCalls", "elapsedSeconds", "reportedTokens"))] = None
    elif chance(rng, 0.5):
        task["constraints"].append({"id": "spare", "kind": "mystery"})
    else:
        task["objectives"].append({"id": "spare", "metric": "cashCents", "fromDay": 1, "toDay": 0, "min": 0})


def _spoil_day(rng: Random, doc: Json) -> None:
    day = rng.choice(doc["trajectory"])
    flaw = rng.random()
    if flaw < 0.3:
        doc["trajectory"].remove(day)
    elif flaw < 0.8:
        day[rng.choice([name for name in day if name != "day"])] = None
    else:
        doc["trajectory"].clear()


def _spoil_question(rng: Random, doc: Json) -> None:
    known, given = doc["evidence"], doc["answers"]
    flaw = rng.random()
    if flaw < 0.25 and known:
        known[rng.choice(list(known))] = None
    elif flaw < 0.5:
        for facts in known.values():
            if "intervention" in facts:
                facts["intervention"] |= rng.choice(({"values": {}}, {"verified": False}, {"exogenousDigest": "x2"}))
    elif given:
        rng.choice(given).update(
            rng.choice(({"status": "pending"}, {"conclusion": ["Z"]}, {"unresolved": "true"}, {"submittedOnDay": 99}))
        )


def _trajectory(rng: Random, horizon: int, *, calm: bool) -> list[Json]:
    unit = rng.choice((1, 1, 100, 10**11))
    days = [_day(rng, day, unit, with_nulls=False) for day in range(horizon + 1)]
    if rng.random() < 0.3:
        for day in days:
            day["shortfallUnits"] = rng.choice((0.0, 0, -0.0))
    if not calm:
        days = _damaged(rng, days)
    if chance(rng, 0.15):
        days += [_day(rng, horizon + extra, -unit, with_nulls=True) for extra in rng.sample(range(1, 40), 2)]
    if chance(rng, 0.3):
        rng.shuffle(days)
    return days


def _damaged(rng: Random, days: list[Json]) -> list[Json]:
    if chance(rng, 0.06):
        return []
    if chance(rng, 0.15):
        days = days[: rng.randint(1, len(days))]
    if chance(rng, 0.1):
        days = days[1:]
    if chance(rng, 0.2):
        days = [day for day in days if not chance(rng, 0.3)]
    if chance(rng, 0.35):
        for day in days:
            for name in [key for key in day if key != "day" and chance(rng, 0.08)]:
                day[name] = None
    if days and chance(rng, 0.02):
        for day in days:
            day["shortfallUnits"] = 1e308
    return days


def _day(rng: Random, day: int, unit: int, *, with_nulls: bool) -> Json:
    cash = rng.randint(-3, 40) * unit
    entry: Json = {
        "day": day,
        "cashCents": cash,
        "minCashCents": cash - rng.randint(0, 3) * abs(unit),
        "netAssetsCents": rng.randint(-20, 60) * unit,
        "spendCents": rng.randint(0, 30) * min(abs(unit), 10**10),
        "earnedRevenueCents": rng.randint(0, 9) * unit,
        "operatingMarginCents": rng.randint(-9, 9) * unit,
        "activePayingAccounts": rng.randint(0, 60),
        "retainedAccounts": rng.choice((0, 5, 19, 20, 2**53 - 10**4)),
        "shortfallUnits": rng.choice((0.0, 0.1, 0.2, 0.30000000000000004, 3, 17.25)),
        "lostWorkUnits": rng.randint(0, 100) / 2,
    }
    if chance(rng, 0.8):
        entry["prices"] = {
            name: None if chance(rng, 0.05) else rng.randint(4, 100) * 100 for name in ("core", "addon", "a/b~c 💥")
        }
    if with_nulls:
        entry["cashCents"] = rng.choice((None, -(10**13), 10**13))
    return entry


def _usage(rng: Random, *, calm: bool) -> Json | None:
    budget = rng.choice((0, 500, 2_000_000))
    if calm:
        usage: Json = {
            "acceptedDecisions": rng.choice((0, 50, 127, 128)),
            "playerCalls": rng.choice((0, 1023, 1024)),
            "elapsedSeconds": rng.choice((0, 3100.5, 7200, 7200.0)),
        }
        return usage | rng.choice(({}, {"tokenBudget": budget, "reportedTokens": budget - rng.choice((0, 0, budget))}))
    if chance(rng, 0.08):
        return rng.choice((None, {}))
    usage = {
        "acceptedDecisions": rng.choice((90, 127, 128, 128, 129, None, 2**53)),
        "playerCalls": rng.choice((400, 1023, 1024, 1024, 1025, None)),
        "elapsedSeconds": rng.choice((3100.5, 7199.5, 7200, 7200.0, 7200.5, None)),
    }
    reported = rng.choice((None, 0, 812_345, max(budget - 1, 0), budget, budget + 1))
    return usage | rng.choice(({}, {"reportedTokens": reported}, {"tokenBudget": budget, "reportedTokens": reported}))


def _finalization(rng: Random, *, calm: bool) -> Json:
    if chance(rng, 0.85 if calm else 0.8):
        return {"finalization": {"status": "completed", "finalizedAt": rng.choice((None, "2026-11-29T01:56:00Z"))}}
    return rng.choice(
        (
            {},
            {"finalization": None},
            {"finalization": {"status": "failed"}},
            {"finalization": {"status": "inconclusive"}},
        )
    )


def _verification(rng: Random, truth: Expected) -> Json:
    """Record what the attempt deserves, and in two of five cases something else."""
    satisfied = {"pass": True, "fail": False, "inconclusive": None}
    judged = [
        {"id": row.predicate_id, "kind": row.kind, "satisfied": satisfied[row.outcome]} for row in truth.predicates
    ]
    recorded: Json = {
        "verified": truth.verified,
        "eligible": bool(truth.eligible),
        "primaryMetric": truth.primary_metric,
        "primaryValue": truth.primary_value,
        "constraints": [
            {"id": row["id"], "satisfied": row["satisfied"]}
            for row in judged
            if row["kind"] not in {"objective", "required_conclusion", "execution_precondition"}
        ],
        "business": {
            "objectives": [
                {"id": row["id"], "satisfied": row["satisfied"]} for row in judged if row["kind"] == "objective"
            ],
            "metrics": {"netAssetsCents": truth.net_assets_closing_cents},
        },
        "assessments": [
            {"questionId": row.question_id, "score": row.score, row.error_kind: row.error} for row in truth.assessments
        ],
    }
    if chance(rng, 0.4):
        value = truth.primary_value
        recorded |= rng.choice(
            (
                {"eligible": not truth.eligible},
                {"verified": not truth.verified},
                {"primaryValue": 12345.5 if value is None else value + 1},
                {"constraints": [{"id": row["id"], "satisfied": row["satisfied"] is not True} for row in judged]},
                {"assessments": [{"questionId": row.question_id, "score": 0.123} for row in truth.assessments]},
                {"eligible": "yes", "primaryValue": [1], "constraints": {"id": 3}},
                {"verified": 1, "business": "fine", "assessments": [None, 7, {"questionId": "nobody", "score": 1}]},
                {"primaryValue": None, "constraints": None, "business": None, "assessments": None},
            )
        )
    return recorded


def _nulls_for_absent(rng: Random, doc: Json) -> Json:
    """Leave out some empty parts, and null others: all three read the same."""
    parts: list[Json] = [doc, doc["task"]] if "task" in doc else [doc]
    for part in parts:
        for key in [key for key, value in part.items() if value in ([], {}, None)]:
            style = rng.random()
            if style < 0.4:
                del part[key]
            elif style < 0.7:
                part[key] = None
    return doc
