"""The campaigns source: registrations of comparisons become `campaign_registrations`.

Here: `decode`, a pure function of a batch, what a registration must not contradict, the key of a campaign, and
`assemble`, which tells of those that a newer one supersedes. Not here: the types (`campaigns_types`) and which
registration counts (`assets.campaigns.registration`).
"""

import hashlib
import re
from collections.abc import Mapping, Sequence
from operator import attrgetter
from typing import Any

import polars as pl

from assets.attempts.precedence import Criterion
from assets.campaigns.contract import CASE, CampaignRegistrations
from assets.campaigns.registration import SCORE, Metric, newest, newest_first
from assets.contract import empty, schema, table_name
from assets.landing.contract import Quarantine
from assets.sources import json_text
from assets.sources.campaigns_types import FORMAT, Campaign
from assets.sources.columns import from_rows
from assets.sources.documents import (
    CANDIDATES,
    SIDE_FILES,
    Decoded,
    Document,
    Fault,
    Limits,
    Refused,
    quarantine,
    uncollected,
)
from assets.sources.json_types import read
from assets.sources.scalars import is_identifier

READS = (".json",)
SHAPE = "registration"
PRECEDENCE = (Criterion("last_modified"), Criterion("uri"))
VERSIONS = "campaign_versions"
PARTS: Mapping[str, Mapping[str, pl.DataType]] = {
    VERSIONS: {
        "document": pl.Int64(),
        "uri": pl.String(),
        "source": pl.String(),
        "landed_on": pl.Date(),
        "last_modified": pl.Datetime("us", "UTC"),
        "sha256": pl.String(),
        "campaign_id": pl.String(),
        "registration_digest": pl.String(),
    }
}
"""Registrations without what they register: enough to tell which one of a campaign counts."""

SLUG, HASH = 39, 20
"""Characters of a campaign's key: the readable part at most, and the digits of the digest behind it."""


def campaign_key(campaign_id: str) -> str:
    """The campaign as a partition: at most 60 of `a-z0-9-`, whatever the id; other ids have other keys."""
    slug = re.sub(r"[^a-z0-9]+", "-", campaign_id.lower())[:SLUG].strip("-")
    return f"{slug or 'campaign'}-{hashlib.sha256(campaign_id.encode()).hexdigest()[:HASH]}"


def decode(documents: Sequence[Document], limits: Limits, first: int = 0) -> Decoded:
    """A batch of registrations as frames; never raises for what a document holds.

    Documents are numbered from `first`. `PARTS` stands beside the table, for `assemble`.
    """
    rows, versions, candidates = [], [], []
    refused: list[Refused] = []
    number = first
    with uncollected():
        for document in documents:
            try:
                campaign, digest = _read(document.content, limits.max_depth)
            except Fault as fault:
                refused.append(Refused(document, fault))
                continue
            uri, _, source, landed_on, modified, sha256, _ = document
            rows.append(_row(number, document, campaign, digest))
            versions.append((number, uri, source, landed_on, modified, sha256, campaign.campaign_id, digest))
            identity = (number, None, source, landed_on, SHAPE, None)
            candidates.append((*identity, modified, uri, None, sha256, sha256))
            number += 1
        registrations = from_rows(rows, {"document": pl.Int64(), **schema(CampaignRegistrations)})
    return Decoded(
        {table_name(CampaignRegistrations): registrations, VERSIONS: from_rows(versions, dict(PARTS[VERSIONS]))},
        from_rows(candidates, CANDIDATES),
        pl.DataFrame(schema=SIDE_FILES),
        quarantine(refused),
        number,
    )


def assemble(parts: Mapping[str, pl.DataFrame], first: int) -> Decoded:
    """The run's registrations that are superseded: a newer one of the campaign, of whatever day, says other things.

    `parts` holds those of the run, and from document `first` on every current one of whatever day, to compare with.
    Of identical copies within a day one is told.
    """
    versions = parts[VERSIONS].lazy()
    counting = newest(versions).select("campaign_id", counts="registration_digest", counts_sha256="sha256")
    superseded = (
        newest_first(versions.filter(pl.col("document") < first))
        .unique(["landed_on", "sha256"], keep="first", maintain_order=True)
        .join(counting, on="campaign_id")
        .filter(pl.col("registration_digest") != pl.col("counts"))
        .select(
            "uri",
            "source",
            "landed_on",
            stage=pl.lit("duplicate"),
            reason=pl.lit("superseded"),
            path=pl.lit(None, pl.String),
            # By its content, not its uri: the same store elsewhere has the same quarantine.
            detail=pl.format("a newer registration of its campaign counts: that with SHA-256 {}", "counts_sha256"),
            sha256="sha256",
            attempt_id=pl.lit(None, pl.String),
        )
    )
    return Decoded(
        {},
        pl.DataFrame(schema=CANDIDATES),
        pl.DataFrame(schema=SIDE_FILES),
        pl.concat([empty(Quarantine), superseded.sort("landed_on", "uri").collect()]),
        first,
    )


def _read(content: bytes, max_depth: int) -> tuple[Campaign, str]:
    """The registration that a document holds, and its digest.

    Raises:
        Fault: it is malformed, or contradicts itself.
    """
    value = json_text.parse(content, max_depth)
    if not isinstance(value, dict):
        raise Fault("unknown_shape", "$", "not an object")
    form = value.get("format")
    if form is None:
        raise Fault("unknown_shape", "$", "without a format")
    if form != FORMAT:
        raise Fault("unknown_shape", "$.format", f"an unknown format: {json_text.shown(form)}")
    campaign = read(Campaign, value)
    _check_metric(value["metric"])
    _check(campaign)
    return campaign, hashlib.sha256(json_text.canonical(value)).hexdigest()


def _check_metric(text: str) -> None:
    try:
        metric = Metric.of(text)
    except ValueError as error:
        raise Fault("unknown_value", "$.metric", f"{error}, found {json_text.shown(text)}") from None
    if metric.kind == SCORE and not is_identifier(metric.about or ""):
        raise Fault("bad_identifier", "$.metric", f"no identifier of a question: {json_text.shown(text)}")


def _check(campaign: Campaign) -> None:
    if campaign.baseline_arm == campaign.treatment_arm:
        raise _contradiction("same_arm", "$.treatmentArm", f"both arms are {campaign.baseline_arm!r}")
    if campaign.expectation == "equivalence" and campaign.tolerance == 0:
        raise _contradiction("zero_tolerance", "$.tolerance", "nothing is equivalent within a tolerance of 0")
    if not campaign.inventory:
        raise _contradiction("empty_inventory", "$.inventory", "no case is registered")
    seen: dict[tuple[Any, ...], int] = {}
    for position, case in enumerate(campaign.inventory):
        earlier = seen.setdefault(_key(case), position)
        if earlier != position:
            raise _contradiction("duplicate_case", f"$.inventory[{position}]", f"the case of $.inventory[{earlier}]")


def _contradiction(reason: str, path: str, detail: str) -> Fault:
    return Fault(reason, path, detail, stage="contract")


_key = attrgetter(*CASE)


def _row(number: int, document: Document, campaign: Campaign, digest: str) -> tuple[Any, ...]:
    """A row of the table behind the number of its document."""
    return (
        number,
        campaign.campaign_id,
        campaign_key(campaign.campaign_id),
        document.landed_on,
        document.uri,
        document.last_modified,
        False,  # decoding knows better
        digest,
        campaign.title,
        campaign.metric,
        campaign.direction,
        campaign.baseline_arm,
        campaign.treatment_arm,
        campaign.expectation,
        campaign.tolerance + 0.0,  # +0 for -0
        [dict(zip(CASE, _key(case), strict=True)) for case in campaign.inventory],
    )
