"""The IO manager: which partition keys a Dagster run writes and reads, and what its UI shows about them.

Here: Dagster's partition keys to the tables' partition keys, and materialization metadata. Not here: how tables are
written (`tables`).

https://docs.dagster.io/guides/build/io-managers/defining-a-custom-io-manager
"""

import json
import time
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import dagster as dg
import polars as pl

from assets.contract import Contract, table_name
from assets.rulesets.loader import RuleSet
from assets.table_asset import CONTRACT
from pipelines import released
from pipelines.partitions import CAMPAIGN, DAY, RULES, day_of
from pipelines.storage.partition_files import PartitionKey
from pipelines.storage.tables import Tables

FINGERPRINT_METADATA_KEY = "input_fingerprint"  # output metadata that is also noted in the commit


class DeltaTables(dg.IOManager):
    """Writes an asset's frame to the partition keys of its run; gives a downstream asset a lazily scanned frame.

    Daily keys `YYYY-MM-DD` become `{"landed_on": date}`; keys with the dimensions `day` and `rules` become
    `{"landed_on": date, "rules": id}`, and those with `campaign` and `rules` `{"campaign_key": key, "rules": id}`.
    """

    def __init__(
        self, tables: Tables, contracts: Iterable[type[Contract]], rule_sets: Mapping[str, RuleSet] | None = None
    ) -> None:
        self._tables = tables
        self._contracts = {table_name(contract): contract for contract in contracts}
        self._rule_sets = rule_sets or {}
        self._given: dict[dg.AssetKey, str] = {}  # the last one of each is the running step's: a process runs one

    def handle_output(self, context: dg.OutputContext, obj: pl.LazyFrame | pl.DataFrame) -> None:
        """Replace the run's partition keys with `obj`.

        Raises:
            ValueError: the run has no partition keys.
            ContractError: `obj` does not fulfil its contract; nothing is written.
            StoreError: the table cannot be written; nothing is committed.
        """
        contract = self._contract(context.definition_metadata, context.asset_key)
        keys = table_keys(context.asset_partition_keys, context.asset_key)
        started = time.monotonic()
        commit = self._tables.replace(contract, obj, keys, self._noted(context, keys))
        seconds = time.monotonic() - started
        told: dict[str, Any] = {
            "dagster/uri": self._tables.uri(contract),
            "rows": commit.rows,
            "bytes": commit.bytes,
            "version": commit.version,
            "seconds": round(seconds, 3),
            "rows_per_second": round(commit.rows / seconds),
        }
        if len(keys) == 1:  # Dagster shows the figures of a run at each of its partitions
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
        found = self._tables.snapshot(contract, table_keys(context.asset_partition_keys, context.asset_key))
        self._given[context.asset_key] = found.fingerprint
        return found.frame

    def _inputs(self, context: dg.OutputContext) -> str | None:
        """The snapshots that the step was given, as JSON: a fingerprint per table."""
        keys = sorted(dep.asset_key for dep in context.asset_spec.deps if dep.asset_key in self._given)
        return json.dumps({key.to_user_string(): self._given[key] for key in keys}) if keys else None

    def _contract(self, metadata: Mapping[str, Any], asset: dg.AssetKey) -> type[Contract]:
        name = metadata.get(CONTRACT)
        if name not in self._contracts:
            known = ", ".join(sorted(self._contracts))
            told = f"{asset.to_user_string()}: {CONTRACT} is {name!r}, but the tables are {known}"
            raise dg.DagsterInvalidDefinitionError(told)
        return self._contracts[name]

    def _noted(self, context: dg.OutputContext, keys: Sequence[PartitionKey]) -> dict[str, str]:
        """What the commit records: run, code version, input fingerprint, and the rule sets of its keys."""
        noted = {"run_id": context.run_id, "code_version": context.asset_spec.code_version}
        noted[FINGERPRINT_METADATA_KEY] = context.output_metadata.get(FINGERPRINT_METADATA_KEY, self._inputs(context))
        taken = {str(key.get("rules")) for key in keys}
        noted |= released.notes(rules for id_, rules in self._rule_sets.items() if id_ in taken)
        return {name: _plain(value) for name, value in noted.items() if value is not None}


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


def _plain(value: object) -> str:
    return str(value.value) if isinstance(value, dg.MetadataValue) else str(value)
