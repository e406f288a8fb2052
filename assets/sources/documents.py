"""Documents in, frames out: the shapes that every decoder of a source shares.

Here: what a decoder is given, what it gives back, and how a document that cannot be read is told. Not here: JSON
itself (`json_text`, `json_types`) and what any particular source means.
"""

import datetime as dt
import gc
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import NamedTuple

import polars as pl

from assets.contract import schema
from assets.landing.contract import Quarantine
from assets.sources.columns import from_rows


class Document(NamedTuple):
    """One object of the store, as landed; `path` is its key below the folder of the landing day."""

    uri: str
    path: str
    source: str
    landed_on: dt.date
    last_modified: dt.datetime
    sha256: str
    content: bytes


class Limits(NamedTuple):
    """What a document may ask of the decoder; the careful reading recurses, so `max_depth` is far below a thousand."""

    max_depth: int = 64


class Decoded(NamedTuple):
    """What a batch of documents came to.

    Every frame of `frames` (by table name) has the columns of its contract behind an Int64 column `document`, the
    running number of the document that the row comes from. `candidates` has one row per decoded attempt, and one with
    a null `attempt_id` per document that holds others; `side_files` has one row per file that belongs to a main
    document beside it. `quarantine` fulfils its contract.
    """

    frames: dict[str, pl.DataFrame]
    candidates: pl.DataFrame
    side_files: pl.DataFrame
    quarantine: pl.DataFrame
    next_document: int


CANDIDATES = {
    "document": pl.Int64(),
    "attempt_id": pl.String(),
    "source": pl.String(),
    "landed_on": pl.Date(),
    "shape": pl.String(),
    "finalized_at": pl.Datetime("us", "UTC"),
    "last_modified": pl.Datetime("us", "UTC"),
    "uri": pl.String(),
    "path": pl.String(),
    "digest": pl.String(),
    "sha256": pl.String(),
}
"""Columns of the candidates.

Documents of one object are numbered in its order. `path` says where inside the object a document stands (null: it is
the whole object), `digest` is the SHA-256 of the document's own content, `sha256` that of the object. No document says
whether it vanished: that is added from the listing.
"""

SIDE_FILES = {
    "document": pl.Int64(),
    "source": pl.String(),
    "landed_on": pl.Date(),
    "directory": pl.String(),
    "uri": pl.String(),
    "path": pl.String(),
    "sha256": pl.String(),
}
"""Columns of the side files; what they recorded stands in `recorded_values` under their document number."""


class Fault(Exception):  # noqa: N818 - it is a finding about a document, not an error of ours
    """A document cannot be read: at which stage, why (a stable code), where in it, and what was found."""

    def __init__(self, reason: str, path: str | None, detail: str, stage: str = "decode") -> None:
        super().__init__(reason, path, detail, stage)
        self.reason = reason
        self.path = path
        self.detail = detail
        self.stage = stage


class Refused(NamedTuple):
    """A document, or the part of it at `within`, that goes to quarantine."""

    document: Document
    fault: Fault
    within: str | None = None
    attempt_id: str | None = None


def located(within: str | None, path: str | None) -> str | None:
    """The path of an offence inside a part of an object: a list element's `$` is its own path, a line stands before."""
    if within is None or path is None:
        return within or path
    return within + path[1:] if "$" in within and path.startswith("$") else f"{within}: {path}"


def quarantine(refused: Iterable[Refused]) -> pl.DataFrame:
    """The quarantine rows of what was refused, in order."""
    rows = [
        (
            document.uri,
            document.source,
            document.landed_on,
            fault.stage,
            fault.reason,
            storable(located(within, fault.path)),
            storable(fault.detail),
            document.sha256,
            attempt_id,
        )
        for document, fault, within, attempt_id in refused
    ]
    return from_rows(rows, schema(Quarantine))


@contextmanager
def uncollected() -> Iterator[None]:
    """Without cycle collection: a batch of JSON holds none, and looking for them takes longer than decoding it."""
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()


def storable(text: str | None) -> str | None:
    r"""The text as UTF-8 can hold it: a lone surrogate becomes the six characters of its escape, such as `\ud800`."""
    return text if text is None or text.isascii() else text.encode("utf-8", "backslashreplace").decode()
