"""Invented attempts for the example store: companies, tasks, thirty days of trade, and what can go wrong in them.

Here: one attempt as a full worldseq document, with what its upstream would have recorded about it. Not here: which
files they are put in, and the broken ones (`demo_worldseq`), and the plots themselves (`demo_plots`). Everything
follows from the seed.
"""

import random
from collections.abc import Iterator
from typing import Any, NamedTuple

from pipelines.cli.demo_files import Document, generator
from pipelines.cli.demo_plots import PLOTS

HORIZON = 30
CHECKPOINT = 12
WINDOW_FROM = 10  # first day of the objective's window
JOINS = 0.3  # chance that a better arm wins one account more on a day
LEAVES = 0.25  # chance that an opening account leaves on a day

Day = dict[str, Any]


class Task(NamedTuple):
    """A task of the example store."""

    family: str
    task_id: str
    primary_metric: str


class Company(NamedTuple):
    """A simulated company and the state that it opens with."""

    company_id: str
    accounts: int
    price_cents: int
    wages_cents: int
    cash_cents: int


TASKS = (
    Task("pricing", "raise-price", "net_assets"),
    Task("pricing", "bundle-addon", "operating_margin"),
    Task("retention", "win-back", "active_paying_accounts"),
    Task("retention", "keep-promise", "retained_accounts"),
    Task("operations", "outage-recovery", "recovery"),
    Task("operations", "cash-squeeze", "net_cash"),
)
COMPANIES = (
    Company("acme-analytics", 64, 4900, 9_000, 5_000_000),
    Company("blue-harbor-logistics", 120, 2900, 10_500, 8_200_000),
    Company("cedar-clinic", 45, 8900, 12_000, 3_900_000),
    Company("delta-tools", 210, 1900, 11_800, 6_400_000),
    Company("ember-energy", 80, 5400, 13_000, 9_100_000),
    Company("fjord-foods", 150, 2400, 10_800, 4_700_000),
)
_SERIES = {
    "net_cash": ("cashCents", "change"),
    "net_assets": ("netAssetsCents", "change"),
    "operating_margin": ("operatingMarginCents", "sum"),
    "active_paying_accounts": ("activePayingAccounts", "closing"),
    "retained_accounts": ("retainedAccounts", "closing"),
    "recovery": ("shortfallUnits", "loss"),
}


def attempt(identity: Document, task: Task, company: Company, plot: str, seed: int) -> Document:
    """One attempt that follows `plot`, one of `PLOTS` that suits the task's family."""
    rng = generator(seed, identity["attemptId"])
    trajectory = list(_trade(rng, company, lift=identity["armId"] == "treatment"))
    document: Document = {
        "format": "worldseq-attempt/1",
        "attempt": {**identity, "outcome": "completed", "failure": None},
        "task": contract(task, company),
        "trajectory": trajectory,
        "agreements": [
            {"agreementId": "supplier-1", "status": "proposed", "onDay": 3},
            {"agreementId": "supplier-1", "status": "signed", "onDay": rng.randrange(8, 19)},
        ],
        "answers": _answers(rng, task, trajectory),
        "evidence": _evidence(rng, task),
        "usage": {
            "acceptedDecisions": rng.randrange(40, 121),
            "playerCalls": rng.randrange(200, 900),
            "elapsedSeconds": round(900 + 5_500 * rng.random(), 1),
            "reportedTokens": rng.randrange(300_000, 1_800_000),
            "tokenBudget": 2_000_000,
        },
    }
    broken = PLOTS[plot].happen(document, rng)
    if document["attempt"]["outcome"] == "completed":
        verified = PLOTS[plot].verdict != "inconclusive"
        document["verification"] = recorded_verification(document, broken, verified=verified)
        document["finalization"] = {"status": "completed", "finalizedAt": identity["finishedAt"]}
        if plot == "unfinalized":
            document["finalization"] = {"status": "inconclusive", "finalizedAt": None}
    return document


def contract(task: Task, company: Company) -> Document:
    """The task contract: the same for every attempt of a task at a company."""
    constraints: list[Document] = [
        {"id": "budget", "kind": "spending_budget", "maxCents": (company.wages_cents + 4_000) * HORIZON},
        {"id": "floor", "kind": "cash_floor", "minCents": 0},
        {"id": "cash", "kind": "cash_bounds", "minCents": -500_000, "maxCents": 900_000_000},
        {"id": "price", "kind": "price_bounds", "minCents": 500, "maxCents": 9_900},
        {"id": "end", "kind": "horizon"},
    ]
    if task.family == "operations":
        constraints.append(
            {"id": "deal", "kind": "agreement", "agreementId": "supplier-1", "status": "signed", "byDay": 20}
        )
    if task.family == "retention":
        constraints.append(
            {
                "id": "grow",
                "kind": "growth",
                "metric": "activePayingAccounts",
                "fromDay": 0,
                "toDay": HORIZON,
                "minDelta": 1,
            }
        )
        constraints.append({"id": "play", "kind": "gameplay_budget", "playerCalls": 1_000})
    objectives = [
        {
            "id": "keep-accounts",
            "metric": "activePayingAccounts",
            "fromDay": WINDOW_FROM,
            "toDay": HORIZON,
            "min": company.accounts - 10,
        }
    ]
    questions: list[Document] = [
        {
            "id": "q-cash",
            "kind": "forecast",
            "metric": "cashCents",
            "outcomeOnDay": HORIZON,
            "scale": 100_000,
            "dueOnDay": 10,
        }
    ]
    if task.family == "pricing":
        questions += [
            {
                "id": "q-cause",
                "kind": "categorical",
                "candidates": ["churn", "season", "competitor"],
                "equivalenceGroups": [["churn", "season"], ["competitor"]],
                "dueOnDay": 7,
                "requirement": {"kind": "supported_conclusion"},
            },
            {
                "id": "q-price",
                "kind": "counterfactual",
                "metric": "lostWorkUnits",
                "outcomeOnDay": 25,
                "scale": 10,
                "dueOnDay": CHECKPOINT,
                "checkpointDay": CHECKPOINT,
                "oneShotAction": "raise_price",
                "requirement": {"kind": "supported_conclusion"},
            },
        ]
    return {
        "horizonDays": HORIZON,
        "primaryMetric": task.primary_metric,
        "constraints": constraints,
        "objectives": objectives,
        "questions": questions,
    }


def _trade(rng: random.Random, company: Company, *, lift: bool) -> Iterator[Day]:
    accounts = retained = company.accounts
    cash, owed = company.cash_cents, 1_000_000
    for day in range(HORIZON + 1):
        previous, spend, revenue = cash, 0, 0
        if day:
            accounts += rng.randrange(0, 4) + int(lift and rng.random() < JOINS) - rng.randrange(0, 4)
            accounts = max(company.accounts - 8, accounts)
            accounts = max(company.accounts + 1, accounts) if day == HORIZON else accounts
            retained = max(company.accounts // 2, retained - int(rng.random() < LEAVES))
            revenue = accounts * company.price_cents // HORIZON
            spend = company.wages_cents + rng.randrange(0, 4_000)
            cash += revenue - spend
            owed = max(0, owed + rng.randrange(-20_000, 20_001))
        yield {
            "day": day,
            "cashCents": cash,
            "minCashCents": min(previous, cash) - (rng.randrange(0, 30_000) if day else 0),
            "netAssetsCents": cash + owed,
            "spendCents": spend,
            "earnedRevenueCents": revenue,
            "operatingMarginCents": revenue - spend,
            "activePayingAccounts": accounts,
            "retainedAccounts": min(retained, accounts),
            "shortfallUnits": round(max(0.0, 12 - day - 3 * lift) * rng.random(), 1),
            "lostWorkUnits": round(4 * rng.random(), 1),
            "prices": {
                "core": company.price_cents,
                "addon": max(500, company.price_cents // 2 + rng.randrange(-50, 51)),
            },
        }


def _answers(rng: random.Random, task: Task, trajectory: list[Day]) -> list[Document]:
    closing = trajectory[-1]["cashCents"]
    answers: list[Document] = [
        {
            "questionId": "q-cash",
            "sequence": 5,
            "submittedOnDay": 9,
            "status": "accepted",
            "prediction": closing + rng.randrange(-200_000, 200_001),
        }
    ]
    if task.family == "pricing":
        churn = rng.randrange(20, 60)
        season = rng.randrange(10, 95 - churn)
        answers += [
            {
                "questionId": "q-cause",
                "sequence": 4,
                "submittedOnDay": 6,
                "status": "accepted",
                "probabilities": {
                    "churn": churn / 100,
                    "season": season / 100,
                    "competitor": (100 - churn - season) / 100,
                },
                "conclusion": ["season", "churn"],
                "unresolved": True,
            },
            {
                "questionId": "q-price",
                "sequence": 6,
                "submittedOnDay": 11,
                "status": "accepted",
                "prediction": round(-6 + 8 * rng.random(), 1),
                "conclusion": ["decrease"],
            },
        ]
    return answers


def _evidence(rng: random.Random, task: Task) -> Document:
    if task.family != "pricing":
        return {}
    baseline = round(30 + 20 * rng.random(), 1)
    prefix, world = f"{rng.getrandbits(64):016x}", f"{rng.getrandbits(64):016x}"
    branch = {"verified": True, "prefixDigest": prefix, "exogenousDigest": world}
    return {
        "q-cause": {"truth": "churn"},
        "q-price": {
            "oneShotAction": "available",
            "supportedConclusion": ["decrease"],
            "factualPrefixDigest": prefix,
            "baseline": {**branch, "values": {"25": baseline}},
            "intervention": {**branch, "values": {"25": round(baseline - 4, 1)}},
        },
    }


def primary_value(document: Document) -> float | None:
    """The primary value as the upstream finalizer records it; null where a day or a value is missing."""
    name, how = _SERIES[document["task"]["primaryMetric"]]
    series = {row["day"]: row.get(name) for row in document.get("trajectory") or []}
    if not series or (how in {"sum", "loss"} and len(series) <= max(series)):
        return None
    first, last = series.get(0), series[max(series)]
    if how == "closing":
        return last  # type: ignore[no-any-return] # a number of the document made above
    if how == "change":
        return None if first is None or last is None else last - first
    total: float = 0
    for day in sorted(series)[how == "sum" :]:
        total += series[day]
    return total if how == "sum" else 0 - total


def recorded_verification(document: Document, broken: tuple[str, ...], *, verified: bool) -> Document:
    """What upstream records of an attempt whose predicates named in `broken` failed."""
    task = document["task"]
    values = [row["activePayingAccounts"] for row in document.get("trajectory") or [] if row["day"] >= WINDOW_FROM]
    closing = (document.get("trajectory") or [{}])[-1].get("netAssetsCents")
    return {
        "verified": verified,
        "eligible": (not broken) if verified else None,
        "primaryMetric": task["primaryMetric"],
        "primaryValue": primary_value(document),
        "constraints": [{"id": row["id"], "satisfied": row["id"] not in broken} for row in task["constraints"]]
        if verified
        else [],
        "business": {
            "objectives": [
                {
                    "id": row["id"],
                    "satisfied": row["id"] not in broken,
                    "worstValue": min(values, default=None),
                    "observedDays": len(values),
                }
                for row in task["objectives"]
            ]
            if verified
            else [],
            "metrics": {"netAssetsCents": closing},
        },
        "assessments": _recorded_assessments(document) if verified else [],
    }


def _recorded_assessments(document: Document) -> list[Document]:
    answers = {answer["questionId"]: answer for answer in document["answers"]}
    recorded: list[Document] = []
    if "q-cause" in answers:
        p = answers["q-cause"]["probabilities"]
        loss = ((p["churn"] + p["season"] - 1) ** 2 + p["competitor"] ** 2) / 2
        recorded.append({"questionId": "q-cause", "score": 1 - loss, "groupBrier": loss})
    closing = document["trajectory"][-1]
    if closing["day"] == HORIZON:
        error = ((answers["q-cash"]["prediction"] - closing["cashCents"]) / 100_000) ** 2
        recorded.append({"questionId": "q-cash", "score": 0 - error, "normalizedSquaredError": error})
    return recorded
