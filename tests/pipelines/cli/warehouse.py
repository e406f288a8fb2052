"""Rows for a small warehouse."""

import datetime as dt
from collections.abc import Callable, Mapping
from typing import Any

import polars as pl
from typer.testing import Result

from assets.contract import Contract, partition_by, schema
from pipelines.storage.tables import Tables

DAY_1, DAY_2 = dt.date(2026, 9, 14), dt.date(2026, 9, 15)
NOON = dt.datetime(2026, 9, 14, 12, tzinfo=dt.UTC)
HOSTILE = "\x1b[31mred\x1b[0m [bold]b[/bold] \u202egnirts"

Scorehouse = Callable[..., Result]
Row = Mapping[str, Any]


def frame(contract: type[Contract], *rows: Row) -> pl.DataFrame:
    """Rows of a contract; what is not given is null."""
    declared = schema(contract)
    return pl.DataFrame([{name: row.get(name) for name in declared} for row in rows], schema=declared)


def store(tables: Tables, contract: type[Contract], *rows: Row) -> None:
    """Write rows into the partitions that they stand in."""
    made = frame(contract, *rows)
    tables.replace(contract, made, made.select(partition_by(contract)).unique(maintain_order=True).to_dicts())


def attempt(attempt_id: str, day: dt.date, **given: Any) -> Row:
    """An attempt of the table."""
    return {
        "attempt_id": attempt_id,
        "source": "worldseq",
        "landed_on": day,
        "uri": f"/store/{day}/{attempt_id}.json",
        "shape": "full",
        "outcome": "completed",
        "last_modified": NOON,
        "has_evidence": True,
        "unknown_answers": 0,
        "unknown_evidence": 0,
        "identical_copies": 0,
        **given,
    }


def verdict(attempt_id: str, day: dt.date, class_: str, rules: str = "v1", **given: Any) -> Row:
    """A verification of the table."""
    return {
        "attempt_id": attempt_id,
        "rules": rules,
        "landed_on": day,
        "class": class_,
        "verified": class_ in {"eligible", "ineligible"},
        "basis": "recomputed",
        "failed_predicates": [],
        "inconclusive_predicates": [],
        **given,
    }


def arrival(uri: str, content: bytes | None, **given: Any) -> Row:
    """A raw artifact of the table."""
    return {
        "uri": uri,
        "source": "worldseq",
        "landed_on": DAY_1,
        "batch": "b1",
        "etag": "1",
        "size_bytes": len(content or b""),
        "last_modified": NOON,
        "content": content,
        "ingested_at": NOON,
        "vanished": False,
        **given,
    }
