"""A small store of two campaigns on different days, and an odd day of neither."""

import json
from typing import Any

from tests.integration.hostile import full, text

EARLY, LATE, BETWEEN = "2026-11-18", "2026-11-24", "2026-11-21"
CAMPAIGNS = {"cmp-early": EARLY, "cmp-late": LATE}
CASE = {"familyId": "f", "companyId": "c", "taskId": "t", "scenarioId": "s", "repeat": 1}


def registration(campaign_id: str, **changes: Any) -> bytes:
    return json.dumps(
        {
            "format": "worldseq-campaign/1",
            "campaignId": campaign_id,
            "title": campaign_id,
            "metric": "objectiveSuccess",
            "direction": "higher_is_better",
            "baselineArm": "control",
            "treatmentArm": "treatment",
            "expectation": "improvement",
            "tolerance": 0.05,
            "inventory": [{**CASE, "companyId": company} for company in ("c1", "c2")],
            **changes,
        }
    ).encode()


def attempt(campaign_id: str, arm: str, company: str, **changes: Any) -> dict[str, Any]:
    document = full(f"{campaign_id}-{arm}-{company}", **changes)
    document["attempt"] |= {**CASE, "companyId": company, "campaignId": campaign_id, "armId": arm}
    return document


def path(campaign_id: str, arm: str, company: str, day: str | None = None) -> str:
    return f"worldseq/{day or CAMPAIGNS[campaign_id]}/{campaign_id}-{arm}-{company}.json"


def files() -> dict[str, bytes]:
    made = {f"campaigns/{id_}.json": registration(id_) for id_ in CAMPAIGNS}
    for id_ in CAMPAIGNS:
        for arm in ("control", "treatment"):
            for company in ("c1", "c2"):
                made[path(id_, arm, company)] = text(attempt(id_, arm, company))
    return {**made, f"worldseq/{BETWEEN}/other.json": text(full("other"))}


def deep(document: dict[str, Any], levels: int) -> bytes:
    """The document with a field that nobody reads, nested so many levels deep."""
    return text({**document, "extra": 0})[:-2] + b"[" * (levels - 1) + b"]" * (levels - 1) + b"}"
