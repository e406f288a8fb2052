"""Merging: the small batches of a day become few, and whoever reads them finds the same.

Late arrivals leave a batch each, however small. Here: which batches of a day belong together. Not here: rewriting them.
A merged batch has every object at most once, as every landed batch does: a changed object keeps its history in several
batches. What is current does not depend on the names of batches, unless two rows of an object arrived at the very same
moment: such batches stay.
"""

import datetime as dt
from collections.abc import Iterator
from typing import NamedTuple

import polars as pl

from assets.landing.manifest import MAX_OBJECTS, batch_id

ARRIVALS = ("uri", "landed_on", "batch", "etag", "size_bytes", "sha256", "ingested_at")
REST = dt.timedelta(days=1)
"""Batches that are younger may belong to a landing under way, which would write them once more."""


class Merged(NamedTuple):
    """Batches of a day that become one."""

    landed_on: dt.date
    batches: list[str]
    id: str


def merged(
    arrivals: pl.DataFrame, now: dt.datetime, max_bytes: int, max_objects: int = MAX_OBJECTS
) -> Iterator[Merged]:
    """The batches that belong together, in the order in which they were landed.

    Args:
        arrivals: `ARRIVALS` of every row of `raw_artifacts` of one day.
        now: what arrived less than `REST` before stays as it is.
        max_bytes: content in one batch, at most.
        max_objects: objects in one batch, at most.
    """
    parts = arrivals.sort("batch", "uri").partition_by("batch", as_dict=True, maintain_order=True)
    together: list[str] = []
    uris: set[str] = set()
    size = 0
    for batch, more_bytes in _small(arrivals, now - REST, max_bytes, max_objects).iter_rows():
        more = set(parts[batch,]["uri"])
        if together and (
            size + more_bytes > max_bytes or len(uris) + len(more) > max_objects or not uris.isdisjoint(more)
        ):
            yield from _one(together, parts)
            together, uris, size = [], set(), 0
        together.append(batch)
        uris |= more
        size += more_bytes
    yield from _one(together, parts)


def _small(arrivals: pl.DataFrame, before: dt.datetime, max_bytes: int, max_objects: int) -> pl.DataFrame:
    """Batch and bytes of the batches that may be merged, the earliest first; one that is half full stays as it is."""
    contested = arrivals.filter(pl.struct("uri", "ingested_at").is_duplicated())["batch"]
    return (
        arrivals.filter(~pl.col("batch").is_in(contested.implode()))
        .group_by("batch")
        .agg(
            bytes=pl.col("size_bytes").filter(pl.col("sha256").is_not_null()).sum(),
            first=pl.col("ingested_at").min(),
            last=pl.col("ingested_at").max(),
            objects=pl.len(),
        )
        .filter(pl.col("last") < before, pl.col("bytes") <= max_bytes // 2, pl.col("objects") <= max_objects // 2)
        .sort("first", "batch")
        .select("batch", "bytes")
    )


def _one(together: list[str], parts: dict[tuple[object, ...], pl.DataFrame]) -> Iterator[Merged]:
    if len(together) > 1:
        rows = pl.concat(parts[batch,] for batch in together).sort("uri")
        yield Merged(rows["landed_on"][0], together, batch_id(rows, "merged"))
