"""What a run did and what stands in the tables after it, as figures.

Here: counting. Not here: running (`run`), and telling people (`cli.summary`).
"""

import datetime as dt
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import polars as pl

from assets.attempts.contract import Attempts
from assets.contract import Contract, empty
from assets.landing.contract import Quarantine
from assets.reconciliation.contract import Reconciliation
from assets.verification.contract import Verifications
from pipelines.checks import Warned
from pipelines.storage.tables import Tables

LANDED = ("listed", "fetched", "unchanged", "vanished", "bytes_fetched")


@dataclass
class RunSummary:
    """What a run did: documents, partitions and rows written; and what its days hold after it."""

    days: list[dt.date] = field(default_factory=list)
    rules: list[str] = field(default_factory=list)
    listed: int = 0
    fetched: int = 0
    unchanged: int = 0
    vanished: int = 0
    bytes_fetched: int = 0
    quarantined: Counter[tuple[str, str]] = field(default_factory=Counter)
    attempts: int = 0
    identical_copies: int = 0
    classes: dict[str, Counter[str]] = field(default_factory=dict)
    disagreements: int = 0
    warnings: list[Warned] = field(default_factory=list)
    computed: Counter[str] = field(default_factory=Counter)  # table -> partitions written
    scored: dict[str, Counter[str]] = field(default_factory=dict)  # rule set -> why -> days scored
    fresh: int = 0  # days under a rule set that were left alone: stored already, from the same code, rules and inputs
    without_attempts: int = 0  # days under a rule set that have nothing to score
    outdated: dict[str, int] = field(default_factory=dict)  # predecessor -> days whose results under it are stale
    compared: list[tuple[str, str]] = field(default_factory=list)  # campaign key and rule set
    tables: Counter[str] = field(default_factory=Counter)  # table -> rows written
    seconds: float = 0.0

    def add(self, table: str, told: Mapping[str, Any]) -> None:
        """Add what one materialization tells."""
        self.tables[table] += told.get("rows", 0)
        self.computed[table] += told.get("computed", 0)
        if table == "raw_artifacts":
            for figure in LANDED:
                setattr(self, figure, getattr(self, figure) + told[figure])

    def describe(self, tables: Tables) -> None:
        """Fill in what the days hold now, whoever wrote it."""
        attempts = self._rows(tables, Attempts).select(pl.len(), pl.col("identical_copies").sum())
        self.attempts, self.identical_copies = attempts.collect(engine="streaming").row(0)
        refused = self._rows(tables, Quarantine).group_by("stage", "reason").len().collect(engine="streaming")
        self.quarantined = Counter({(stage, reason): count for stage, reason, count in refused.iter_rows()})
        classes = self._rows(tables, Verifications).group_by("rules", "class").len().collect(engine="streaming")
        for rules, class_, count in classes.sort("rules", "class").iter_rows():
            self.classes.setdefault(rules, Counter())[class_] = count
        differing = self._rows(tables, Reconciliation).filter(~pl.col("agrees")).select(pl.len())
        self.disagreements = differing.collect(engine="streaming").item()

    def _rows(self, tables: Tables, contract: type[Contract]) -> pl.LazyFrame:
        if not tables.exists(contract):
            return empty(contract).lazy()
        rows = tables.scan(contract).filter(pl.col("landed_on").is_in(self.days))
        return rows.filter(pl.col("rules").is_in(self.rules)) if "rules" in rows.collect_schema() else rows
