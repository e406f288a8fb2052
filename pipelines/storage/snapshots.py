"""The newest snapshot of each table, kept between looks: the log is followed from where it was read, not read again.

Here: what readers look at. Not here: what a writer commits against, which is opened by it alone (`tables`).
"""

import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import NamedTuple

import polars as pl
from deltalake import DeltaTable

from assets.contract import Contract, table_name
from pipelines.storage.actions import held_files
from pipelines.storage.failures import STORAGE_ERRORS


class Snapshot(NamedTuple):
    """A version of a table, and the files that it holds, as `held_files` gives them."""

    version: int
    held: pl.DataFrame


@dataclass
class Snapshots:
    """The newest snapshot of each table that was looked at; safe from several threads."""

    _lock: threading.Lock = field(default_factory=threading.Lock)
    _tables: dict[str, DeltaTable] = field(default_factory=dict)
    _newest: dict[str, Snapshot] = field(default_factory=dict)

    def newest(self, contract: type[Contract], opened: Callable[[], DeltaTable]) -> Snapshot:
        """The table as it stands now; `opened` opens it, and what it raises is raised."""
        name = table_name(contract)
        with self._lock:
            table = self._tables.pop(name, None)
            if table is not None:
                try:
                    table.update_incremental()
                except STORAGE_ERRORS:  # the log that it was read from may be gone; opening tells what is the matter
                    table = None
            if table is None:
                self._newest.pop(name, None)
                table = opened()
            self._tables[name] = table
            if name not in self._newest or self._newest[name].version != table.version():
                self._newest[name] = Snapshot(table.version(), held_files(table, contract))
            return self._newest[name]
