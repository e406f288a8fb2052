"""The IO manager: which partition keys a Dagster run writes and reads, and what its UI shows about them.

Here: Dagster's partition keys to the tables' partition keys, and materialization metadata. Not here: how tables are
written (`tables`).

https://docs.dagster.io/guides/build/io-managers/defining-a-custom-io-manager
"""

import json
import time
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Protocol

import dagster as dg
import polars as pl

from assets.contract import Contract, table_name
from assets.rulesets.loader import RuleSet
from assets.table_asset import CONTRACT, Portions
from pipelines import released
from pipelines.partitions import CAMPAIGN, DAY, RULES, day_of
from pipelines.storage.partition_files import Frame, PartitionKey
from pipelines.storage.provenance import CODE_VERSION, INPUT_FINGERPRINT, RUN_ID
from pipelines.storage.tables import Tables


class Decided(Protocol):
    """The keys that a step computes, each with the fingerprint of its inputs; how many are fresh, or lack inputs."""

    keys: list[PartitionKey]
    inputs: list[str]
    fresh: int
    without_inputs: int


class StepLedger(Protocol):
    """Knows what a step was given and which of its keys it computes."""

    def give(self, table: str) -> None:
        """Note what is stored of a table, before its rows are scanned."""

    def decided(self, table: str) -> Decided | None:
        """What the step decided about its keys; nothing where all are computed."""


class DeltaTables(dg.IOManager):
    """Writes an asset's frame to the partition keys of its run; gives a downstream asset a lazily scanned frame.

    Daily keys `YYYY-MM-DD` become `{"landed_on": date}`; keys with the dimensions `day` and `rules` become
    `{"landed_on": date, "rules": id}`, and those with `campaign` and `rules` `{"campaign_key": key, "rules": id}`.
    """

    def __init__(
        self,
        tables: Tables,
        contracts: Iterable[type[Contract]],
        rule_sets: Mapping[str, RuleSet] | None = None,
        ledger: StepLedger | None = None,
    ) -> None:
        self._tables = tables
        self._contracts = {table_name(contract): contract for contract in contracts}
        self._rule_sets = rule_sets or {}
        self._ledger = ledger

    def handle_output(self, context: dg.OutputContext, obj: Frame | Portions) -> None:
        """Replace the run's partition keys with `obj`.

        Raises:
            ValueError: the run has no partition keys.
            ContractError: `obj` does not fulfil its contract; nothing is written.
            StoreError: the table cannot be written; nothing is committed.
        """
        contract = self._contract(context.definition_metadata, context.asset_key)
        asked = table_keys(context.asset_partition_keys, context.asset_key)
        due = self._ledger.decided(table_name(contract)) if self._ledger else None
        keys, inputs = (asked, None) if due is None else (due.keys, due.inputs)
        told: dict[str, Any] = {
            "dagster/uri": self._tables.uri(contract),
            "computed": len(keys),
            "fresh": due.fresh if due else 0,
            "without_inputs": due.without_inputs if due else 0,
        }
        if keys:
            started = time.monotonic()
            commit = self._tables.replace(contract, obj, keys, self._noted(context, keys, inputs))
            seconds = time.monotonic() - started
            told |= {
                "rows": commit.rows,
                "bytes": commit.bytes,
                "version": commit.version,
                "seconds": round(seconds, 3),
                "rows_per_second": round(commit.rows / seconds),
            }
            told |= obj.told if isinstance(obj, Portions) else {}
            if len(asked) == 1:  # Dagster shows the figures of a run at each of its partitions
                told["dagster/partition_row_count"] = commit.rows
        context.add_output_metadata(told)

    def load_input(self, context: dg.InputContext) -> pl.LazyFrame:
        """The upstream table, pruned to the partition keys that the input maps to.

        Raises:
            ValueError: the input maps to no partition keys.
            StoreError: the table cannot be read.
        """
        upstream = context.upstream_output
        metadata = upstream.definition_metadata if upstream else context.definition_metadata
        contract = self._contract(metadata, context.asset_key)
        if self._ledger:
            self._ledger.give(table_name(contract))
        return self._tables.scan(contract, table_keys(context.asset_partition_keys, context.asset_key))

    def _contract(self, metadata: Mapping[str, Any], asset: dg.AssetKey) -> type[Contract]:
        name = metadata.get(CONTRACT)
        if name not in self._contracts:
            known = ", ".join(sorted(self._contracts))
            told = f"{asset.to_user_string()}: {CONTRACT} is {name!r}, but the tables are {known}"
            raise dg.DagsterInvalidDefinitionError(told)
        return self._contracts[name]

    def _noted(
        self, context: dg.OutputContext, keys: Sequence[PartitionKey], inputs: Sequence[str] | None
    ) -> dict[str, str]:
        """What the commit records: run, code version, the inputs of each key, and the rule sets of its keys."""
        noted = {RUN_ID: context.run_id}
        if context.asset_spec.code_version is not None:
            noted[CODE_VERSION] = context.asset_spec.code_version
        if inputs is not None:
            noted[INPUT_FINGERPRINT] = json.dumps(list(inputs))
        taken = {str(key.get("rules")) for key in keys}
        return noted | released.notes(rules for id_, rules in self._rule_sets.items() if id_ in taken)


def table_keys(keys: Sequence[str], asset: dg.AssetKey) -> list[PartitionKey]:
    """Dagster's partition keys as partition keys of a table.

    Raises:
        ValueError: there are none. Dagster runs a reversed range as a success over nothing.
    """
    if not keys:
        raise ValueError(f"{asset.to_user_string()}: the run has no partition keys; is its range reversed?")
    return [table_key(key) for key in keys]


def table_key(key: str) -> PartitionKey:
    """One of Dagster's partition keys as a partition key of a table."""
    if not isinstance(key, dg.MultiPartitionKey):
        return {"landed_on": day_of(key)}
    parts = key.keys_by_dimension
    if CAMPAIGN in parts:
        return {"campaign_key": parts[CAMPAIGN], "rules": parts[RULES]}
    return {"landed_on": day_of(parts[DAY]), "rules": parts[RULES]}
