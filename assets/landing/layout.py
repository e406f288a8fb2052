"""Layout of the artifact store: which source and which landing day a key belongs to.

Here: path patterns and the placing of a listing. Not here: listing itself, and what an artifact means.
"""

import datetime as dt
import re
from typing import NamedTuple

import polars as pl

DATE = "{date}"
NO_PARTITION = "no_partition"
READS = (".json", ".jsonl")
"""Ends of the keys that are read, unless a source names others; no other object is ever fetched."""

LISTING_SCHEMA: dict[str, pl.DataType] = {
    "uri": pl.String(),
    "key": pl.String(),
    "etag": pl.String(),
    "size_bytes": pl.Int64(),
    "modified_us": pl.Int64(),
    "utf8": pl.Boolean(),
}


class Pattern(NamedTuple):
    """Where a source's artifacts are: `worldseq/{date}/`, or a prefix without a date.

    Those of a pattern with `every_day` are landed with any day: others cannot be decoded without them.
    """

    source: str
    text: str
    reads: tuple[str, ...] = READS
    every_day: bool = False

    @property
    def prefix(self) -> str:
        """The folder above the date, or the whole pattern where it has none; ends in a slash unless it is the root."""
        return self.text.partition(DATE)[0]

    @property
    def dated(self) -> bool:
        """Whether the landing day stands in the path; otherwise it is the day of the last modification."""
        return DATE in self.text

    def of_day(self, day: dt.date) -> str:
        """The folder of one landing day."""
        return self.text.replace(DATE, day.isoformat())


def pattern(source: str, text: str | None = None, reads: tuple[str, ...] = READS) -> Pattern:
    """The path pattern of a source; by default its folder with one folder a day below it.

    Raises:
        ValueError: the date is not a path segment of its own, or stands twice.
    """
    text = (text or f"{source}/{DATE}/").strip("/")
    if text.count(DATE) > 1 or (DATE in text and DATE not in text.split("/")):
        raise ValueError(f"path pattern of {source}: {text!r} must hold {DATE} once, as a path segment of its own")
    return Pattern(source, f"{text}/" if text else "", reads)


def place(listing: pl.DataFrame, where: Pattern, first: dt.date, last: dt.date) -> pl.DataFrame:
    """Source and landing day of each object that is read; the others are left out.

    Adds `last_modified`, `source`, `path`, `landed_on`, `fetch_reason`, `fetch_detail`. An object of a dated pattern
    under no valid date from `first` to `last`, or whose name is not UTF-8, has the reason `no_partition` and stands in
    the partition of its last-modified day.
    """
    modified = pl.col("modified_us").cast(pl.Datetime("us", "UTC"))
    modified_on = modified.dt.date().clip(first, last)
    key = pl.concat_str(pl.lit("/"), "key")  # so that `/result.json` is a whole name also at the root
    listing = listing.filter(pl.any_horizontal(key.str.ends_with(end) for end in where.reads))
    if not where.dated:
        on: pl.Expr = modified_on
        found = pl.lit("a prefix without dates")
        valid = pl.lit(value=True)
    else:
        day = pl.col("key").str.extract(f"^{re.escape(where.prefix)}([0-9]{{4}}-[0-9]{{2}}-[0-9]{{2}})/", 1)
        on = day.str.to_date("%Y-%m-%d", strict=False)
        found = pl.col("key").str.slice(len(where.prefix)).str.split("/").list.first()
        valid = on.is_between(first, last).fill_null(value=False)
    beside = pl.col("key").str.slice(len(where.prefix))
    below = beside.str.slice(len("2020-01-01/")).str.strip_prefix(where.text.partition(DATE)[2].lstrip("/"))
    return listing.with_columns(
        last_modified=modified,
        source=pl.lit(where.source),
        path=pl.when(valid & where.dated).then(below).otherwise(beside),
        landed_on=pl.when(valid).then(on).otherwise(modified_on),
        fetch_reason=pl.when(valid & pl.col("utf8")).then(pl.lit(None, pl.String)).otherwise(pl.lit(NO_PARTITION)),
        fetch_detail=pl.when(~pl.col("utf8"))
        .then(pl.lit("the name is not UTF-8"))
        .when(~valid)
        .then(pl.format("{} is no day from {} to {}", found, pl.lit(first.isoformat()), pl.lit(last.isoformat()))),
    )
