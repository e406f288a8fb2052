"""A small campaign registration, and a short way to decode several."""

import datetime as dt
import hashlib
from typing import Any

from assets.sources import campaigns
from assets.sources.documents import Decoded, Document, Limits
from tests.assets.sources.worldseq_documents import DAY, MODIFIED, as_bytes

CASE = {"familyId": "pricing", "companyId": "acme", "taskId": "raise-price", "scenarioId": "s1", "repeat": 1}
CAMPAIGN: dict[str, Any] = {
    "format": "worldseq-campaign/1",
    "campaignId": "cmp-pricing",
    "title": "Planner 2.1 against 2.0",
    "metric": "objectiveSuccess",
    "direction": "higher_is_better",
    "baselineArm": "baseline",
    "treatmentArm": "treatment",
    "expectation": "improvement",
    "tolerance": 0.05,
    "inventory": [CASE, CASE | {"repeat": 2}, CASE | {"familyId": "cash"}],
}


def document(
    content: Any, name: str = "a.json", modified: dt.datetime = MODIFIED, landed_on: dt.date = DAY
) -> Document:
    """A landed object."""
    raw = as_bytes(content)
    uri = f"memory://store/campaigns/{name}"
    return Document(uri, name, "campaigns", landed_on, modified, hashlib.sha256(raw).hexdigest(), raw)


def decode(*contents: Any, first: int = 0) -> Decoded:
    """The contents as one batch, named `0.json`, `1.json`, … where they are no documents yet."""
    documents = [
        content if isinstance(content, Document) else document(content, f"{number}.json")
        for number, content in enumerate(contents)
    ]
    return campaigns.decode(documents, Limits(), first)
