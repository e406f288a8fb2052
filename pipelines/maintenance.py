"""Upkeep of all tables, one after another.

Here: which tables, and how long what they were is kept. Not here: what is done to one (`storage.upkeep`).
"""

import datetime as dt
from collections.abc import Iterator

from assets.landing.land import Progress
from assets.tables import TABLES
from pipelines.build import table_store
from pipelines.settings import Settings
from pipelines.storage.upkeep import Kept, maintain


def maintained(settings: Settings, progress: Progress | None = None, *, dry_run: bool = False) -> Iterator[Kept]:
    """Maintain every table that exists, and tell of each.

    Args:
        settings: where the tables are, and the retention.
        progress: told how far it is.
        dry_run: only say what would be done.

    Raises:
        StoreError: a table cannot be read or written; what was committed until then is whole.
    """
    tables, retention = table_store(settings), dt.timedelta(days=settings.retention_days)
    existing = [contract for contract in TABLES.values() if tables.exists(contract)]
    for done, contract in enumerate(existing):
        if progress:
            progress("maintaining", done, len(existing))
        yield maintain(tables, contract, retention, progress=progress, dry_run=dry_run)
    if progress and existing:
        progress("maintaining", len(existing), len(existing))
