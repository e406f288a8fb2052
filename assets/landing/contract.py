"""Tables of the landing layer: what arrived, byte for byte, and what could not be read."""

import datetime as dt
from typing import Annotated

import polars as pl

from assets.contract import Contract, column
from assets.vocabulary import QUARANTINE_STAGES


class RawArtifacts(Contract):
    """One row per arrival of an object: a changed object is a later row, and the latest row of a uri is current.

    An object that vanished from the store keeps its rows and gains one with `vanished` true. An object that could not
    be had (`fetch_reason`) has no content; its row lets the next listing know that it was tried.
    """

    uri: str = column("Where the object is: the store's URL and the object's key")
    path: str = column("Its key below the folder of the landing day, or below the whole prefix", nullable=True)
    source: str = column("Folder of the store that it arrived in: worldseq, harbor, agentforge, agentcompass, …")
    landed_on: dt.date = column("Partition day: the date in its path, else the UTC day of its last modification")
    batch: str = column("Batch that landed it: a digest of the batch's (uri, etag) pairs")
    etag: str = column("Version of the content as the store names it")
    size_bytes: int = column("Size in bytes as listed", ge=0)
    last_modified: Annotated[pl.Datetime, "us", "UTC"] = column("Last modification as the store gives it")
    sha256: str = column("SHA-256 of the content, hex", nullable=True)
    content: bytes = column("The bytes, exactly as they arrived", nullable=True)
    ingested_at: Annotated[pl.Datetime, "us", "UTC"] = column("When this row was landed")
    vanished: bool = column("True where the listing no longer had the object; the last content stands in earlier rows")
    fetch_reason: str = column("Why there is no content: too_large, no_partition, forbidden, …", nullable=True)
    fetch_detail: str = column("What was seen when it could not be had", nullable=True)

    class Config(Contract.Config):
        name = "raw_artifacts"
        metadata = {"partition_by": ("landed_on", "batch")}


class Quarantine(Contract):
    """One row per document that is in no other table: what, where and why. Key: (uri, path, stage, reason)."""

    uri: str = column("Where the object is")
    source: str = column("Folder of the store that it arrived in")
    landed_on: dt.date = column("Partition day")
    stage: str = column("fetch, decode, contract or duplicate", isin=list(QUARANTINE_STAGES))
    reason: str = column("Stable reason code")
    path: str = column("JSON path of the offence, or a byte offset where it is not JSON", nullable=True)
    detail: str = column("What was found, for a person", nullable=True)
    sha256: str = column("SHA-256 of the content, hex", nullable=True)
    attempt_id: str = column("The attempt, where the document says so and is readable that far", nullable=True)

    class Config(Contract.Config):
        name = "quarantine"
        metadata = {"partition_by": ("landed_on",)}
