"""The attempts layer of generated worldseq documents."""

import datetime as dt
import hashlib
from typing import Any

import polars as pl

from assets.attempts.contract import WORLDSEQ_PARTS
from assets.contract import conform, schema, table_name
from assets.sources import worldseq
from assets.sources.documents import Document, Limits
from tests.assets.verification import layer
from tests.reference.generate import to_bytes

MODIFIED = dt.datetime(2026, 11, 30, tzinfo=dt.UTC)


def decoded(documents: list[dict[str, Any]]) -> dict[str, pl.LazyFrame]:
    """The attempts layer of the documents, each the only one that tells of its attempt."""
    landed = []
    for number, document in enumerate(documents):
        content = to_bytes(document)
        digest = hashlib.sha256(content).hexdigest()
        landed.append(
            Document(f"store/{number:06d}.json", f"{number:06d}.json", "worldseq", layer.DAY, MODIFIED, digest, content)
        )
    found = worldseq.decode(landed, Limits())
    assert found.quarantine.is_empty()
    tables = {}
    for contract in WORLDSEQ_PARTS:
        frame = found.frames[table_name(contract)].with_columns(identical_copies=pl.lit(0, pl.Int64))
        tables[table_name(contract)] = conform(contract, frame.select(list(schema(contract)))).lazy()
    return tables
