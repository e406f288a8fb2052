"""What a day is decoded from: its current objects in `raw_artifacts`, and the companions of their sources.

Here: choosing them, and fingerprints of them by which a table's day is known that has to be decoded again. Not here:
decoding (`decoding`). No object storage is read.
"""

import datetime as dt
from collections.abc import Iterable, Mapping, Sequence
from functools import cache

import polars as pl

from assets.attempts.contract import PARTS
from assets.campaigns.contract import CampaignRegistrations
from assets.contract import Contract
from assets.fingerprint import fingerprint
from assets.landing.contract import Quarantine, RawArtifacts
from assets.landing.land import TableStore
from assets.landing.layout import NO_PARTITION
from assets.landing.manifest import MANIFEST_COLUMNS, latest
from assets.sources.documents import Document, Limits
from assets.sources.registry import SOURCES

Together = tuple[type[Contract], ...]
Inputs = Mapping[Together, Mapping[dt.date, str]]
"""By tables that are written together what each of their days would be decoded from: a fingerprint."""

NOTHING = "nothing"
REGISTRATIONS = "campaigns"
"""The source of registrations: no attempt is told of there, and no registration anywhere else."""
FETCH_DETAIL = ("fetch_detail", "sha256")

DOCUMENT = (pl.col("uri"), pl.col("path").fill_null(pl.col("uri")), *Document._fields[2:])
PLACE = ("uri", "landed_on")
OBJECT = (pl.col("uri"), pl.col("last_modified").dt.epoch("us"), pl.col("sha256"))
DAYS_AT_ONCE = 64
"""Whose objects are in memory while their fingerprints are taken."""


def current(tables: TableStore, days: Sequence[dt.date], version: int | None = None) -> pl.LazyFrame:
    """The current rows of `raw_artifacts` of these days, without content; what `vanished` stays as it last was.

    But for an object without a day of its own: when it is touched, it vanishes from one day and stands in another.
    """
    held = tables.scan(RawArtifacts, version=version).filter(pl.col("landed_on").is_in(list(days)))
    rows = held.select(*MANIFEST_COLUMNS, *FETCH_DETAIL)
    gone = latest(rows).filter("vanished").select(*PLACE, gone="vanished")
    flagged = latest(rows.filter(~pl.col("vanished"))).join(gone, on=PLACE, how="left")
    touched = pl.col("vanished") & pl.col("fetch_reason").eq_missing(NO_PARTITION)
    return flagged.with_columns(vanished=pl.col("gone").fill_null(value=False)).drop("gone").filter(~touched)


def fingerprints(tables: TableStore, days: Sequence[dt.date], limits: Limits) -> Inputs:
    """What the tables of the layer would be decoded from on each of these days: digests of the current objects.

    Registrations, and nothing else, are what `campaign_registrations` is decoded from; the quarantine is of all
    objects, and every other table of all but registrations. Of an object its uri, age and content count, and whether
    it vanished. Age, since of two documents the younger may win. The companions of the sources and the limits belong to
    it; no content is read. Where there are no objects it is `NOTHING`.
    """

    @cache
    def beside(source: str) -> list[tuple[object, ...]]:
        return companions_of(tables, [source]).select(OBJECT).collect(engine="streaming").sort(pl.all()).rows()

    def digest(objects: pl.DataFrame, *, accompanied: bool = True) -> str:
        if objects.is_empty():
            return NOTHING
        companions = [beside(source) for source in objects["source"].unique().sort() if accompanied]
        held = objects.drop("landed_on", "source", "vanished").rows()
        gone = objects.filter("vanished")["uri"].to_list()
        return fingerprint([companions, held, list(limits), *([gone] if gone else [])])

    attempts, registrations, everything = dict[dt.date, str](), dict[dt.date, str](), dict[dt.date, str]()
    for start in range(0, len(days), DAYS_AT_ONCE):
        together = days[start:][:DAYS_AT_ONCE]
        rows = current(tables, together).select("landed_on", "source", *OBJECT, "fetch_reason", "vanished")
        objects = rows.sort("landed_on", "uri").collect(engine="streaming")
        parts = objects.partition_by("landed_on", as_dict=True)
        for day in together:
            of_day = parts.get((day,), objects.clear())
            registered = pl.col("source") == REGISTRATIONS
            registering = of_day.filter(registered)
            everything[day] = digest(of_day)
            # Its companions decide which registration is superseded: that is told in the quarantine alone.
            registrations[day] = digest(registering, accompanied=False)
            attempts[day] = everything[day] if registering.is_empty() else digest(of_day.filter(~registered))
    return {PARTS: attempts, (CampaignRegistrations,): registrations, (Quarantine,): everything}


def companions_of(tables: TableStore, sources: Iterable[str]) -> pl.LazyFrame:
    """The companions of these sources, of whatever day: columns of a document.

    Every version of those of another source; of those of its own the current ones.
    """
    pairs = [(source, companion) for source in sources if (companion := SOURCES[source].companion)]
    others = sorted({companion for source, companion in pairs if companion != source})
    own = sorted({companion for source, companion in pairs if companion == source})
    of = pl.col("source")
    held = tables.scan(RawArtifacts).filter(of.is_in([*others, *own]))
    newest = latest(held.filter(of.is_in(own)).select(*MANIFEST_COLUMNS)).filter(~pl.col("vanished"))
    arrival = ["uri", "landed_on", "batch"]
    current_own = held.filter(of.is_in(own)).join(newest.select(arrival), on=arrival, how="semi")
    versions = (
        pl.concat([held.filter(of.is_in(others)), current_own])
        .filter(pl.col("content").is_not_null())
        .select(DOCUMENT)
        .unique(["uri", "sha256", "last_modified"])
        .sort("uri", "last_modified", "sha256")
    )
    return versions if pairs else pl.LazyFrame(schema=versions.collect_schema())
