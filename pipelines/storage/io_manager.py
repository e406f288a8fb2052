"""The IO manager: which partition keys a Dagster run writes and reads, and what its UI shows about them.

Here: Dagster's partition keys to the tables' partition keys, and materialization metadata. Not here: how tables are
written (`tables`).

https://docs.dagster.io/guides/build/io-managers/defining-a-custom-io-manager
"""

from collections.abc import Iterable, Mapping

import dagster as dg
import polars as pl

from assets.contract import Contract
from pipelines.storage.tables import Tables

CONTRACT_METADATA_KEY = "scorehouse/contract"  # asset definition metadata: the table name


class DeltaTables(dg.IOManager):
    """Writes an asset's frame to the partition keys of its run; gives a downstream asset a lazily scanned frame.

    Daily keys `YYYY-MM-DD` become `{"landed_on": date}`; keys with the dimensions `day` and `rules` become
    `{"landed_on": date, "rules": id}`.
    """

    def __init__(
        self, tables: Tables, contracts: Iterable[type[Contract]], commit_metadata: Mapping[str, str] | None = None
    ) -> None:
        raise NotImplementedError

    def handle_output(self, context: dg.OutputContext, obj: pl.LazyFrame | pl.DataFrame) -> None:
        """Replace the run's partition keys with `obj`; fails where the run has none."""
        raise NotImplementedError

    def load_input(self, context: dg.InputContext) -> pl.LazyFrame:
        """The upstream table, pruned to the partition keys that the input maps to."""
        raise NotImplementedError
