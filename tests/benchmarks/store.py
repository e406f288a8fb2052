"""A store of full attempt artifacts, seeded: with 60 trajectory days each they are of about 12 KB."""

import json
import random
from pathlib import Path
from typing import Any

TRAJECTORY_DAYS = 60
TASKS = 40


def constraints(horizon: int) -> list[dict[str, Any]]:
    """One of most kinds, for a task of so many days."""
    return [
        {"id": "budget", "kind": "spending_budget", "maxCents": 2_900_000},
        {"id": "floor", "kind": "cash_floor", "minCents": 0},
        {"id": "cash", "kind": "cash_bounds", "minCents": -500_000, "maxCents": 900_000_000},
        {"id": "price", "kind": "price_bounds", "minCents": 500, "maxCents": 9_900},
        {"id": "end", "kind": "horizon"},
        {"id": "deal", "kind": "agreement", "agreementId": "supplier-1", "status": "signed", "byDay": horizon // 3},
        {
            "id": "grow",
            "kind": "growth",
            "metric": "activePayingAccounts",
            "fromDay": 0,
            "toDay": horizon,
            "minRatio": 1.1,
        },
    ]


def questions(horizon: int) -> list[dict[str, Any]]:
    """A categorical one and a forecast."""
    return [
        {
            "id": "q-cause",
            "kind": "categorical",
            "candidates": ["A", "B", "C"],
            "equivalenceGroups": [["A", "B"], ["C"]],
            "dueOnDay": 7,
            "requirement": {"kind": "supported_conclusion"},
        },
        {
            "id": "q-cash",
            "kind": "forecast",
            "metric": "cashCents",
            "outcomeOnDay": horizon,
            "scale": 100_000,
            "dueOnDay": 10,
        },
    ]


def attempt(rng: random.Random, number: int, horizon: int = TRAJECTORY_DAYS) -> dict[str, Any]:
    """One full attempt artifact with a day 0 and `horizon` days after it."""
    task = number % TASKS
    accounts = rng.randint(20, 30)
    days = []
    for day in range(horizon + 1):
        cash = rng.randint(-2_000, 9_000_000) if rng.random() < 0.01 else rng.randint(1_000_000, 9_000_000)
        accounts = max(0, accounts + rng.choice((-1, 0, 0, 1, 1)))
        days.append(
            {
                "day": day,
                "cashCents": cash,
                "minCashCents": cash - rng.randint(0, 10_000),
                "netAssetsCents": 6_000_000 + rng.randint(-500_000, 500_000),
                "spendCents": rng.randint(0, 90_000),
                "operatingMarginCents": rng.randint(-10_000, 30_000),
                "activePayingAccounts": accounts,
                "prices": {"core": rng.randint(1_000, 3_000)},
            }
        )
    return {
        "format": "worldseq-attempt/1",
        "attempt": {
            "attemptId": f"att-{number:07}",
            "campaignId": f"cmp-{task % 5}",
            "armId": rng.choice(("baseline", "treatment")),
            "familyId": f"family-{task % 4}",
            "companyId": f"company-{task % 10}",
            "taskId": f"task-{task}",
            "scenarioId": f"s{number % 3}",
            "repeat": 1 + number % 4,
            "agent": {"name": "planner", "version": "2.1", "model": "m-large"},
            "startedAt": "2026-11-29T01:02:03Z",
            "finishedAt": "2026-11-29T01:55:00Z",
            "outcome": "completed",
        },
        "task": {
            "horizonDays": horizon,
            "primaryMetric": ("net_assets", "net_cash", "operating_margin", "active_paying_accounts")[task % 4],
            "constraints": constraints(horizon),
            "objectives": [
                {
                    "id": "keep",
                    "metric": "activePayingAccounts",
                    "fromDay": horizon // 6,
                    "toDay": horizon,
                    "min": 15 + task % 10,
                }
            ],
            "questions": questions(horizon),
        },
        "trajectory": days,
        "agreements": [
            {"agreementId": "supplier-1", "status": "signed", "onDay": rng.randint(horizon // 6, horizon * 11 // 30)}
        ],
        "answers": [
            {
                "questionId": "q-cause",
                "sequence": 1,
                "submittedOnDay": rng.randint(3, 7),
                "status": "accepted",
                "probabilities": {"A": 0.4, "B": 0.4, "C": 0.2},
                "conclusion": ["A", "B"],
                "unresolved": True,
            },
            {
                "questionId": "q-cash",
                "sequence": 2,
                "submittedOnDay": 9,
                "status": "accepted",
                "prediction": rng.randint(1_000_000, 9_000_000),
            },
        ],
        "evidence": {"q-cause": {"truth": rng.choice("ABC")}},
        "usage": {
            "acceptedDecisions": rng.randint(20, 128),
            "playerCalls": rng.randint(100, 1_030),
            "elapsedSeconds": round(rng.uniform(100, 7_000), 1),
            "reportedTokens": rng.randint(10_000, 900_000),
            "tokenBudget": 2_000_000,
        },
        "verification": {"verified": True, "eligible": True, "primaryMetric": "net_assets", "primaryValue": 250_000},
        "finalization": {"status": "completed", "finalizedAt": "2026-11-29T01:56:00Z"},
    }


def write(folder: Path, count: int, days: int = 4, seed: int = 1) -> int:
    """Write `count` artifacts over `days` landing days; returns the bytes written."""
    rng = random.Random(seed)
    # Rendering is not what is measured: a thousand different documents, each under many ids.
    rendered = [json.dumps(attempt(rng, number), separators=(",", ":")) for number in range(min(count, 1_000))]
    total = 0
    for number in range(count):
        day = folder / "worldseq" / f"2026-11-{1 + number * days // count:02}"
        if number * days % count < days:
            day.mkdir(parents=True, exist_ok=True)
        original = number % len(rendered)
        text = rendered[original].replace(f"att-{original:07}", f"att-{number:07}", 1)
        (day / f"att-{number:07}.json").write_bytes(text.encode())
        total += len(text)
    return total
