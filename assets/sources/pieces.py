"""A document inside an object: the object itself, one line of it, or an element of a list in it.

Not here: what stands in a document.
"""

import hashlib
from collections.abc import Sequence
from typing import NamedTuple

from assets.sources.documents import Document

LINES = ".jsonl"


class Piece(NamedTuple):
    """A document: a whole object, or the part of it at `within` (`line 3`, `$.cases[3]`; null for a whole object)."""

    document: Document
    content: bytes
    within: str | None = None

    def digest(self) -> str:
        """SHA-256 of the piece's own bytes, hex."""
        whole = self.content is self.document.content
        return self.document.sha256 if whole else hashlib.sha256(self.content).hexdigest()


def pieces(document: Document) -> Sequence[Piece]:
    """The object itself, or its lines; blank lines are none, and how a line ends is no part of it."""
    content = document.content
    if not document.uri.endswith(LINES) or not content.strip():
        return (Piece(document, content),)
    lines = enumerate(content.split(b"\n"), start=1)
    return [Piece(document, line.rstrip(), f"line {number}") for number, line in lines if line.strip()]
