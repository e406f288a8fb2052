"""Tables that are read where they are and written elsewhere: what a run would publish, without publishing it.

Here: one store laid over another. Not here: what is computed on it (`plan`).
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

import polars as pl

from assets.contract import Contract, empty, partition_by, schema
from pipelines.storage.partition_files import Frame, PartitionKey
from pipelines.storage.provenance import Provenance, Values
from pipelines.storage.tables import Commit, Tables


@dataclass(frozen=True)
class Overlay(Tables):
    """The tables `below`, with every write going to `scratch`: a partition that was written there is read there."""

    below: Tables = field(kw_only=True)
    scratch: Tables = field(kw_only=True)

    def __reduce__(self) -> tuple[Callable[..., Tables], tuple[object, ...]]:
        """In another process it is no less laid over the tables: nothing is written to those."""
        return overlay, (self.below, self.scratch.url)

    def exists(self, contract: type[Contract]) -> bool:
        """Whether the table exists in either."""
        return self.scratch.exists(contract) or self.below.exists(contract)

    def ensure(self, contracts: Iterable[type[Contract]]) -> None:
        """Create what is missing of the scratch tables."""
        self.scratch.ensure(contracts)

    def provenance(self, contract: type[Contract]) -> Mapping[Values, Provenance]:
        """What stands in either of each partition, the scratch table first."""
        return {**self.below.provenance(contract), **self.scratch.provenance(contract)}

    def scan(
        self, contract: type[Contract], keys: Sequence[PartitionKey] | None = None, version: int | None = None
    ) -> pl.LazyFrame:
        """The rows of the scratch table, and those of every partition that it does not have."""
        columns, declared = partition_by(contract), schema(contract)
        texts = dict.fromkeys(columns, pl.String)
        written = pl.DataFrame(sorted(self.scratch.provenance(contract)), schema=texts, orient="row")
        days = [column for column in columns if declared[column] == pl.Date]
        written = written.with_columns(pl.col(days).str.to_date())
        frames = [self.scratch.scan(contract, keys)] if self.scratch.exists(contract) else []
        if self.below.exists(contract):
            below = self.below.scan(contract, keys, version)
            frames.insert(0, below.join(written.lazy(), on=columns, how="anti") if written.height else below)
        return pl.concat([empty(contract).lazy(), *frames])

    def replace(
        self,
        contract: type[Contract],
        frame: Frame | Iterable[Frame],
        keys: Sequence[PartitionKey],
        metadata: Mapping[str, str] | None = None,
    ) -> Commit:
        """Replace partitions of the scratch table."""
        return self.scratch.replace(contract, frame, keys, metadata)

    def note(self, contract: type[Contract], metadata: Mapping[str, str]) -> None:
        """Nothing is said of what is not published."""

    def rows(self, contract: type[Contract]) -> dict[Values, int]:
        """The number of rows of each partition."""
        written = self.scratch.provenance(contract)
        seen = {values: rows for values, rows in self.below.rows(contract).items() if values not in written}
        return {**seen, **self.scratch.rows(contract)}


class NoReports:
    """Keeps no report."""

    def write(self, campaign_key: str, rules: str, text: str) -> str:
        """Nothing is written."""
        del campaign_key, rules, text
        return ""


def overlay(tables: Tables, scratch: str) -> Overlay:
    """The tables with every write going to the folder `scratch`."""
    return Overlay(tables.url, tables.options, below=tables, scratch=Tables(scratch))
