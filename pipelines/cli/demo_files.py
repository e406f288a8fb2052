"""What the files of the example store are made with: its days, one object of it, and a seeded generator.

Here: what every source's files share. Not here: any source's files (`demo_worldseq`, `demo_harbor`, `demo_agentforge`,
`demo_agentcompass`), and writing them (`demo_store`).
"""

import datetime as dt
import json
import random
from typing import Any, NamedTuple

Document = dict[str, Any]

DAYS = tuple(dt.date(2026, 9, day) for day in (14, 15, 16))


class StoredFile(NamedTuple):
    """One object of the store."""

    key: str
    content: bytes
    modified: dt.datetime


def stored(folder: str, day: dt.date, name: str, document: object) -> StoredFile:
    """An object of a dated folder; what is not bytes is written as JSON."""
    content = document if isinstance(document, bytes) else as_json(document)
    return StoredFile(f"{folder}/{day}/{name}", content, noon(day))


def as_json(document: object) -> bytes:
    """The document as compact JSON."""
    return json.dumps(document, separators=(",", ":"), ensure_ascii=False, allow_nan=False).encode()


def noon(day: dt.date) -> dt.datetime:
    """When the objects of a day were last modified."""
    return dt.datetime.combine(day, dt.time(12), dt.UTC)


def rfc3339(moment: dt.datetime) -> str:
    """The moment as artifacts write it."""
    return moment.isoformat().replace("+00:00", "Z")


def generator(*parts: object) -> random.Random:
    """A generator that gives the same numbers for the same parts on every machine."""
    return random.Random("/".join(map(str, parts)))  # noqa: S311 - seeded on purpose: the store must be reproducible
