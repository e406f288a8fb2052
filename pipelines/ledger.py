"""Inside a step: which partition keys of the run are computed, and what their commit will say they came from.

A key that is stored already, from the same code, rule set and inputs, is left alone, however the run was started: from
the command line, by a schedule, or as a backfill from Dagster's UI. Here: that decision. Not here: which keys a run is
started for (`staleness`).
"""

import datetime as dt
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import dagster as dg

from assets.attempts.contract import Attempts
from assets.attempts.inputs import Inputs, Together
from assets.contract import Contract, table_name
from assets.rulesets.loader import RuleSet, select
from assets.table_asset import Scope
from assets.tables import TABLES, layer
from pipelines.jobs import chunks
from pipelines.partitions import DAY, RULES, day_of
from pipelines.staleness import Recipe, difference, expected, parts, recipe, undecoded
from pipelines.storage.partition_files import PartitionKey
from pipelines.storage.provenance import Provenance, Values
from pipelines.storage.tables import Tables

ATTEMPTS = table_name(Attempts)
ROWS_AT_ONCE = 2_400_000
"""Rows of its inputs that a step computes together; its memory grows with them."""

FORCE = "scorehouse/force"
"""Run tag: compute every key, whatever is stored."""


class Due(NamedTuple):
    """The keys of a step that are computed, with the fingerprint of what each is computed from; how many are not."""

    keys: list[PartitionKey]
    inputs: list[str]
    fresh: int
    without_inputs: int


@dataclass
class Ledger:
    """What the running steps of a process were given, and what they decided."""

    tables: Tables
    rule_sets: Mapping[str, RuleSet]
    _given: dict[str, Mapping[Values, Provenance]] = field(default_factory=dict)
    _due: dict[str, Due] = field(default_factory=dict)
    _scopes: dict[str, list[Scope]] = field(default_factory=dict)

    def give(self, table: str) -> None:
        """Note what is stored of a table; call it before its rows are scanned for a step."""
        self._given[table] = self.tables.provenance(TABLES[table])

    def decided(self, table: str) -> Due | None:
        """What the running step decided about its keys; nothing where it did not ask."""
        return self._due.get(table)

    def scopes(self, context: dg.AssetExecutionContext) -> list[Scope]:
        """What a step of the results layer computes: rule sets with days, newest first, in portions of bounded size.

        Raises:
            RuleSetError: a key names a rule set that does not exist; Dagster's UI lets anyone add such a partition.
            dagster.Failure: a day has attempts, but a result that this one is computed from is missing, and not
                computed by the run.
        """
        made = recipe(context.assets_def.get_asset_spec())
        if made.table in self._scopes:
            return self._scopes[made.table]
        stored = self.tables.provenance(TABLES[made.table])
        due = Due([], [], 0, 0)
        days: defaultdict[str, list[dt.date]] = defaultdict(list)
        fresh = without = 0
        for day, rules in self._keys(context):
            would = expected(made, day, rules, self._noted)
            if not isinstance(would, Provenance):
                if (absent := _left_out(context, would)) and self._noted(ATTEMPTS, (day,)):
                    told = f"{made.table} of {day} under {rules.id}: {', '.join(absent)} of it must be computed first"
                    raise dg.Failure(told, allow_retries=False)
                without += 1
                continue
            if not _forced(context) and not difference(stored.get((day, rules.id)), would):
                fresh += 1
                continue
            due.keys.append({"landed_on": day_of(day), "rules": rules.id})
            due.inputs.append(would.inputs)
            days[rules.id].append(day_of(day))
        self._due[made.table] = due._replace(fresh=fresh, without_inputs=without)
        self._scopes[made.table] = [
            Scope(rules, sorted(together))
            for rules in select(self.rule_sets, sorted(days))
            for together in chunks(days[rules.id], self._sizes(made, days[rules.id], rules), ROWS_AT_ONCE)
        ]
        return self._scopes[made.table]

    def days(self, context: dg.AssetExecutionContext, inputs: Inputs) -> dict[Together, list[dt.date]]:
        """By tables that are written together those of a step's days that are not stored as they would be.

        Args:
            context: the step.
            inputs: by tables what each day would be computed from: a fingerprint.
        """
        if _forced(context):
            due = {contracts: list(given) for contracts, given in inputs.items()}
        else:
            due = undecoded(self.tables, context.assets_def.specs, inputs)
        for contracts, days in due.items():
            keys: list[PartitionKey] = [{"landed_on": day} for day in days]
            given = [inputs[contracts][day] for day in days]
            for contract in contracts:
                self._due[table_name(contract)] = Due(keys, given, len(inputs[contracts]) - len(days), 0)
        return due

    def campaigns(self, contracts: Sequence[type[Contract]], inputs: Mapping[tuple[str, str], str]) -> None:
        """Note of each campaign key and rule set what is told of it beside its rows: all of them are computed."""
        keys: list[PartitionKey] = [{"campaign_key": campaign, "rules": rules} for campaign, rules in inputs]
        for contract in contracts:
            self._due[table_name(contract)] = Due(keys, list(inputs.values()), 0, 0)

    def _sizes(self, made: Recipe, days: Iterable[dt.date], rules: RuleSet) -> dict[dt.date, int]:
        """Rows of each day that a table is computed from."""
        rows = {table: self.tables.rows(TABLES[table]) for table in made.inputs}
        return {
            day: sum(rows[part.table].get(part.values, 0) for part in parts(made, day.isoformat(), rules))
            for day in days
        }

    def _noted(self, table: str, values: Values) -> Provenance | None:
        if table not in self._given:
            self.give(table)
        return self._given[table].get(values)

    def _keys(self, context: dg.AssetExecutionContext) -> Iterable[tuple[str, RuleSet]]:
        for key in context.partition_keys:
            if not isinstance(key, dg.MultiPartitionKey):
                raise TypeError(f"{key!r} is no key of day and rule set")
            (rules,) = select(self.rule_sets, [key.keys_by_dimension[RULES]])
            yield key.keys_by_dimension[DAY], rules


def _left_out(context: dg.AssetExecutionContext, missing: Sequence[str]) -> list[str]:
    """Those of the missing tables that this run does not compute itself; what it computes has no inputs of the day."""
    computed = {key.to_user_string() for key in context.job_def.asset_layer.selected_asset_keys}
    return [name for name in missing if layer(name) == "results" and name not in computed]


def _forced(context: dg.AssetExecutionContext) -> bool:
    return context.run.tags.get(FORCE) == "true"
