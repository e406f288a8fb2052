"""Upkeep of all tables, one after another.

Here: which tables, how long what they were is kept, and which of their partitions belong together. Not here: what is
done to one (`storage.upkeep`).
"""

import datetime as dt
from collections import Counter
from collections.abc import Iterator

import polars as pl

from assets.landing.contract import RawArtifacts
from assets.landing.land import Progress
from assets.landing.merging import ARRIVALS, merged
from assets.tables import TABLES
from pipelines.build import table_store
from pipelines.settings import Settings
from pipelines.storage.compaction import Merge
from pipelines.storage.tables import Tables
from pipelines.storage.upkeep import Kept, maintain


def maintained(
    settings: Settings, progress: Progress | None = None, now: dt.datetime | None = None, *, dry_run: bool = False
) -> Iterator[Kept]:
    """Maintain every table that exists, and tell of each.

    Args:
        settings: where the tables are, and the retention.
        progress: told how far it is.
        now: which batches of artifacts are old enough to be merged goes by it.
        dry_run: only say what would be done.

    Raises:
        StoreError: a table cannot be read or written; what was committed until then is whole.
    """
    now = now or dt.datetime.now(dt.UTC)
    tables, retention = table_store(settings), dt.timedelta(days=settings.retention_days)
    existing = [contract for contract in TABLES.values() if tables.exists(contract)]
    for done, contract in enumerate(existing):
        if progress:
            progress("maintaining", done, len(existing))
        merges = batches_together(tables, settings.batch_bytes, now) if contract is RawArtifacts else []
        yield maintain(tables, contract, retention, merges, progress, dry_run=dry_run)
    if progress and existing:
        progress("maintaining", len(existing), len(existing))


def batches_together(tables: Tables, max_bytes: int, now: dt.datetime) -> list[Merge]:
    """The batches of `raw_artifacts` that belong together; reads no content."""
    days = Counter(day for day, _ in tables.rows(RawArtifacts))
    found = []
    for day in sorted(dt.date.fromisoformat(day) for day, batches in days.items() if batches > 1):
        arrivals = tables.scan(RawArtifacts, [{"landed_on": day}]).select(ARRIVALS).collect(engine="streaming")
        for one in merged(arrivals, now, max_bytes):
            keys = pl.DataFrame({"landed_on": [day] * len(one.batches), "batch": one.batches})
            found.append(Merge(keys, {"landed_on": day, "batch": one.id}))
    return found
