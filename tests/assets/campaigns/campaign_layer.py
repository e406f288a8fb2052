"""Small campaigns made by hand: a registration, its attempts, and their rows in the tables that are compared."""

import datetime as dt
from collections.abc import Sequence
from typing import Any

import polars as pl

from assets.assessments.contract import AssessmentScores
from assets.attempts.contract import Attempts, TrajectoryDays
from assets.campaigns.contract import CampaignPairs
from assets.campaigns.pairs import Paired, pairs
from assets.campaigns.registration import Registration
from assets.contract import conform, schema
from assets.rewards.contract import Rewards
from assets.rulesets.loader import RuleSet, load_all
from assets.verification.contract import Verifications
from tests.assets.sources.campaign_documents import CAMPAIGN, decode
from tests.reference.campaign_pairs import COLUMNS, FIELDS, Tables

V1 = load_all()["v1"]
DAY = dt.date(2026, 11, 29)
CONTRACTS = {
    "attempts": Attempts,
    "verifications": Verifications,
    "rewards": Rewards,
    "assessment_scores": AssessmentScores,
    "trajectory_days": TrajectoryDays,
}


def case(*key: Any) -> dict[str, Any]:
    """A case of an inventory: family, company, task, scenario and repeat, as far as given."""
    return dict(zip(FIELDS, (*key, *("f", "c", "t", "s", 1)[len(key) :]), strict=True))


def campaign(*inventory: dict[str, Any], **fields: Any) -> dict[str, Any]:
    """A registration of these cases, or of one."""
    return CAMPAIGN | {"inventory": list(inventory) or [case()]} | fields


def registration(document: dict[str, Any]) -> Registration:
    """The registration as it comes out of the decoder."""
    decoded = decode(document)
    assert decoded.quarantine.is_empty()
    return Registration.of(decoded.frames["campaign_registrations"].row(0, named=True))


def attempt(
    attempt_id: str,
    arm: str | None,
    of: dict[str, Any] | None = None,
    class_: str | None = "eligible",
    *,
    campaign_id: str = CAMPAIGN["campaignId"],
    digest: str | None = "d",
    reason: str | None = None,
    primary: tuple[str | None, float | None] = ("net_cash", 1.0),
    reward: float | None = None,
    score: tuple[str, float | None, float | None] | None = None,
    days: Sequence[dict[str, Any]] = (),
) -> dict[str, list[dict[str, Any]]]:
    """The rows of one attempt; without a class it is not verified."""
    key = {"attempt_id": attempt_id, "landed_on": DAY}
    place = dict(zip(COLUMNS, (of or case()).values(), strict=True))
    under = key | {"rules": V1.id}
    verdict = {"class": class_, "reason": reason, "primary_metric": primary[0], "primary_value": primary[1]}
    graded = [dict(zip(("error_kind", "score", "error"), score, strict=True)) | {"question_id": "q"}] if score else []
    return {
        "attempts": [key | place | {"campaign_id": campaign_id, "arm_id": arm, "case_digest": digest}],
        "verifications": [under | verdict] if class_ else [],
        "rewards": [under | {"reward_kind": V1.reward.kind, "reward": reward}],
        "assessment_scores": [under | row for row in graded],
        "trajectory_days": [key | row for row in days],
    }


def rows(*attempts: dict[str, list[dict[str, Any]]]) -> Tables:
    """The rows of several attempts, by table."""
    return Tables(**{name: [row for one in attempts for row in one[name]] for name in CONTRACTS})


def frames(tables: Tables) -> dict[str, pl.LazyFrame]:
    """The tables as frames; columns that the rows lack are null."""
    return {
        name: pl.DataFrame(list(getattr(tables, name)), schema=schema(contract), strict=False).lazy()
        for name, contract in CONTRACTS.items()
    }


def paired(document: dict[str, Any], *attempts: dict[str, list[dict[str, Any]]], rules: RuleSet = V1) -> Paired:
    """What the attempts come to, proven to fulfil the contract."""
    found = pairs(registration(document), **frames(rows(*attempts)), rules=rules)
    conform(CampaignPairs, found.pairs)
    return found
