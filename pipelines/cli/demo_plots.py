"""What happens in the attempts of the example store: each plot changes a clean document.

Here: the plots, how often they happen, and the class that each leads to. Not here: the clean document
(`demo_attempts`).
"""

import random
from collections.abc import Callable
from typing import NamedTuple

from pipelines.cli.demo_files import Document

Broken = tuple[str, ...]  # ids of the predicates that fail


class Plot(NamedTuple):
    """Something that happens in an attempt, how often, where it can happen, and the class that it leads to."""

    cards: int
    happen: Callable[[Document, random.Random], Broken]
    verdict: str
    families: tuple[str, ...] | None = None

    def suits(self, family: str) -> bool:
        """Whether it can happen in tasks of the family."""
        return self.families is None or family in self.families


def _clean(_document: Document, _rng: random.Random) -> Broken:
    return ()


def _cash_dip(document: Document, rng: random.Random) -> Broken:
    document["trajectory"][rng.randrange(5, 25)]["minCashCents"] = -rng.randrange(1_000, 90_000)
    return ("floor",)


def _overspend(document: Document, rng: random.Random) -> Broken:
    document["trajectory"][rng.randrange(5, 25)]["spendCents"] += document["task"]["constraints"][0]["maxCents"]
    return ("budget",)


def _short(document: Document, rng: random.Random) -> Broken:
    del document["trajectory"][rng.randrange(15, 28) :]
    return ("end", "keep-accounts", "grow")


def _objective_dip(document: Document, rng: random.Random) -> Broken:
    row = document["trajectory"][rng.randrange(12, 28)]
    row["activePayingAccounts"] = document["task"]["objectives"][0]["min"] - rng.randrange(1, 9)
    return ("keep-accounts",)


def _price_slip(document: Document, rng: random.Random) -> Broken:
    document["trajectory"][rng.randrange(5, 25)]["prices"]["core"] = 9_901 + rng.randrange(0, 3_000)
    return ("price",)


def _no_deal(document: Document, rng: random.Random) -> Broken:
    document["agreements"][1]["onDay"] = rng.randrange(21, 30)
    return ("deal",)


def _stagnant(document: Document, rng: random.Random) -> Broken:
    row = document["trajectory"][-1]
    row["activePayingAccounts"] = document["trajectory"][0]["activePayingAccounts"] - rng.randrange(0, 4)
    row["retainedAccounts"] = min(row["retainedAccounts"], row["activePayingAccounts"])
    return ("grow",)


def _chatty(document: Document, rng: random.Random) -> Broken:
    document["usage"]["playerCalls"] = rng.randrange(1_025, 1_400)
    return ("play",)


def _token_hungry(document: Document, rng: random.Random) -> Broken:
    document["usage"]["reportedTokens"] = rng.randrange(2_000_001, 2_600_000)
    return ("token_budget",)


def _wrong_conclusion(document: Document, _rng: random.Random) -> Broken:
    document["answers"][1] |= {"conclusion": ["competitor"], "unresolved": False}
    return ("q-cause",)


def _late_answer(document: Document, _rng: random.Random) -> Broken:
    document["answers"][2]["submittedOnDay"] = document["task"]["questions"][2]["dueOnDay"]
    return ("q-price",)


def _action_consumed(document: Document, _rng: random.Random) -> Broken:
    document["evidence"]["q-price"]["oneShotAction"] = "consumed"
    return ("q-price",)


def _day_gap(document: Document, rng: random.Random) -> Broken:
    del document["trajectory"][rng.randrange(2, 9)]
    return ()


def _lost_metric(document: Document, rng: random.Random) -> Broken:
    document["trajectory"][rng.randrange(2, 9)]["spendCents"] = None
    return ()


def _branch_unverified(document: Document, _rng: random.Random) -> Broken:
    document["evidence"]["q-price"]["intervention"]["verified"] = False
    return ()


def _no_trajectory(document: Document, _rng: random.Random) -> Broken:
    del document["trajectory"]
    return ()


def _agent_failure(document: Document, rng: random.Random) -> Broken:
    kinds = (
        ("context_limit", "the conversation outgrew the model's context"),
        ("gave_up", "the agent ended the session"),
    )
    return _failed(document, "agent_failure", *kinds[rng.randrange(len(kinds))])


def _infrastructure_failure(document: Document, rng: random.Random) -> Broken:
    kinds = (("sandbox_lost", "the sandbox stopped answering"), ("api_error", "503 from the model endpoint"))
    return _failed(document, "infrastructure_failure", *kinds[rng.randrange(len(kinds))])


def _failed(document: Document, outcome: str, kind: str, message: str) -> Broken:
    document["attempt"] |= {"outcome": outcome, "failure": {"kind": kind, "message": message}}
    for part in ("trajectory", "answers", "agreements", "evidence"):
        del document[part]
    return ()


PLOTS = {
    "clean": Plot(52, _clean, "eligible"),
    "cash_dip": Plot(5, _cash_dip, "ineligible"),
    "overspend": Plot(4, _overspend, "ineligible"),
    "short": Plot(4, _short, "ineligible"),
    "objective_dip": Plot(5, _objective_dip, "ineligible"),
    "price_slip": Plot(3, _price_slip, "ineligible"),
    "no_deal": Plot(4, _no_deal, "ineligible", ("operations",)),
    "stagnant": Plot(4, _stagnant, "ineligible", ("retention",)),
    "chatty": Plot(3, _chatty, "ineligible", ("retention",)),
    "token_hungry": Plot(2, _token_hungry, "ineligible"),
    "wrong_conclusion": Plot(5, _wrong_conclusion, "ineligible", ("pricing",)),
    "late_answer": Plot(3, _late_answer, "ineligible", ("pricing",)),
    "action_consumed": Plot(2, _action_consumed, "ineligible", ("pricing",)),
    "day_gap": Plot(2, _day_gap, "inconclusive"),
    "lost_metric": Plot(2, _lost_metric, "inconclusive"),
    "branch_unverified": Plot(3, _branch_unverified, "inconclusive", ("pricing",)),
    "no_trajectory": Plot(1, _no_trajectory, "inconclusive"),
    "unfinalized": Plot(2, _clean, "inconclusive"),
    "agent_failure": Plot(5, _agent_failure, "agent_failure"),
    "infrastructure_failure": Plot(4, _infrastructure_failure, "infrastructure_failure"),
}
