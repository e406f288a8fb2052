"""What a day is decoded from: its current objects in `raw_artifacts`, and the companions of their sources.

Here: choosing them, and a fingerprint of them by which a day is known that has to be decoded again. Not here: decoding
(`decoding`). No object storage is read.
"""

import datetime as dt
from collections.abc import Iterable, Sequence
from functools import cache

import polars as pl

from assets.fingerprint import fingerprint
from assets.landing.contract import RawArtifacts
from assets.landing.land import TableStore
from assets.landing.layout import NO_PARTITION
from assets.landing.manifest import MANIFEST_COLUMNS, latest
from assets.sources.documents import Document, Limits
from assets.sources.registry import SOURCES

NOTHING = "nothing"
FETCH_DETAIL = ("fetch_detail", "sha256")

DOCUMENT = (pl.col("uri"), pl.col("path").fill_null(pl.col("uri")), *Document._fields[2:])
OBJECT = (pl.col("uri"), pl.col("last_modified").dt.epoch("us"), pl.col("sha256"))
DAYS_AT_ONCE = 64
"""Whose objects are in memory while their fingerprints are taken."""


def current(tables: TableStore, days: Sequence[dt.date], version: int | None = None) -> pl.LazyFrame:
    """The current rows of `raw_artifacts` of these days, without content; what vanished stays as it last was.

    But for an object without a day of its own: when it is touched, it vanishes from one day and stands in another.
    """
    held = tables.scan(RawArtifacts, version=version).filter(pl.col("landed_on").is_in(list(days)))
    rows = held.select(*MANIFEST_COLUMNS, *FETCH_DETAIL)
    vanished = latest(rows).filter("vanished").select("uri", "landed_on", fetch_reason=pl.lit(NO_PARTITION))
    return latest(rows.filter(~pl.col("vanished"))).join(vanished, on=vanished.collect_schema().names(), how="anti")


def fingerprints(tables: TableStore, days: Sequence[dt.date], limits: Limits) -> dict[dt.date, str]:
    """What each of these days would be decoded from: a digest of uri, age and content of every current object.

    Age, since of two documents the younger may win. The companions of its sources and the limits belong to it; no
    content is read. Of a day without objects it is `NOTHING`.
    """

    @cache
    def beside(source: str) -> list[tuple[object, ...]]:
        return companions_of(tables, [source]).select(OBJECT).collect(engine="streaming").sort(pl.all()).rows()

    found = {}
    for start in range(0, len(days), DAYS_AT_ONCE):
        together = days[start:][:DAYS_AT_ONCE]
        rows = current(tables, together).select("landed_on", "source", *OBJECT, "fetch_reason")
        parts = rows.sort("landed_on", "uri").collect(engine="streaming").partition_by("landed_on", as_dict=True)
        for day in together:
            if (objects := parts.get((day,))) is None:
                found[day] = NOTHING
                continue
            companions = [beside(source) for source in objects["source"].unique().sort()]
            held = objects.drop("landed_on", "source").rows()
            found[day] = fingerprint([companions, held, list(limits)])
    return found


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
