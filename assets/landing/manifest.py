"""The manifest: what a listing holds against what `raw_artifacts` holds, and the batches that land the difference.

Here: pure set computations on small frames (no content). Not here: listing, fetching and writing (`land`).
"""

import hashlib
from typing import NamedTuple

import polars as pl

MAX_OBJECTS = 16_384  # in one batch

MANIFEST_COLUMNS = (
    "uri",
    "path",
    "source",
    "landed_on",
    "batch",
    "etag",
    "size_bytes",
    "last_modified",
    "ingested_at",
    "vanished",
    "fetch_reason",
)


class Batch(NamedTuple):
    """Objects that are landed by one commit; the id follows from their (uri, etag) pairs."""

    id: str
    objects: pl.DataFrame


def latest(manifest: pl.LazyFrame) -> pl.LazyFrame:
    """The latest row of each uri in its partition: what is current of it."""
    return manifest.sort("ingested_at", "batch").group_by("uri", "landed_on", maintain_order=True).last()


def to_fetch(placed: pl.DataFrame, current: pl.DataFrame) -> pl.DataFrame:
    """The placed objects that are new, changed, back after they vanished, or worth another try.

    An object that could not be had is tried again, unless it is still refused for the same reason before any fetch.
    """
    known = current.select(
        "uri", "landed_on", "vanished", etag_known="etag", size_known="size_bytes", reason_known="fetch_reason"
    )
    unchanged = (
        (pl.col("etag") == pl.col("etag_known"))
        & (pl.col("size_bytes") == pl.col("size_known"))
        & ~pl.col("vanished")
        & (pl.col("reason_known").is_null() | (pl.col("reason_known") == pl.col("fetch_reason")).fill_null(value=False))
    )
    return (
        placed.join(known, on=["uri", "landed_on"], how="left")
        .filter(~unchanged.fill_null(value=False))
        .select(placed.columns)
    )


def gone(placed: pl.DataFrame, current: pl.DataFrame) -> pl.DataFrame:
    """The rows of `current` whose object is no longer listed there; `current` must be what the listing covers."""
    return current.filter(~pl.col("vanished")).join(placed, on=["uri", "landed_on"], how="anti")


def batches(objects: pl.DataFrame, max_bytes: int, max_objects: int = MAX_OBJECTS) -> list[Batch]:
    """Objects cut into batches of about `max_bytes`, in order of day and uri.

    The cut and the ids depend on nothing but the objects, so that a repeated pass repeats its batches.
    """
    if objects.is_empty():
        return []
    ordered = objects.sort("landed_on", "uri")
    before = pl.col("size_bytes").cum_sum() - pl.col("size_bytes")
    numbered = ordered.with_columns(
        cut=pl.struct(before // max(max_bytes, 1), pl.int_range(pl.len()) // max_objects).rle_id()
    )
    return [Batch(batch_id(part), part.drop("cut")) for part in numbered.partition_by("cut", maintain_order=True)]


def batch_id(objects: pl.DataFrame, occasion: str = "") -> str:
    """The id of a batch: a digest of its (uri, etag) pairs in order, and of the occasion where that matters."""
    digest = hashlib.sha256(occasion.encode())
    for uri, etag in objects.select("uri", "etag").iter_rows():
        digest.update(f"{len(uri)}:{uri}{len(etag)}:{etag}".encode())
    return digest.hexdigest()[:16]
