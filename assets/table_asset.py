"""From a contract to a Dagster asset: the one place where tables get their names, schemas and owners in the UI.

Here: what all assets share. Not here: what any of them computes. Together with the `assets.py` files this is the only
part of the package that knows Dagster.
"""

import datetime as dt
import functools
import inspect
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple, Protocol

import dagster as dg
import polars as pl

from assets.contract import Contract, descriptions, empty, key, schema, table_name
from assets.rulesets.loader import RuleSet
from pipelines.partitions import DAY, days_by_rules

CONTRACT = "scorehouse/contract"
"""Asset metadata: the name of the table, by which the IO manager knows its contract."""
BY_PREDECESSOR = "scorehouse/by_predecessor"
"""Asset metadata: its inputs are also read under the predecessor of the rule set."""
OWNERS = ("team:evaluation",)
KINDS = frozenset({"polars", "deltalake"})
IO_MANAGER = "io_manager"
BY_DAY = dg.AssetIn(partition_mapping=dg.MultiToSingleDimensionPartitionMapping(DAY))


class Scope(NamedTuple):
    """A rule set, and the days that a step computes under it."""

    rules: RuleSet
    days: list[dt.date]


class Ledger(Protocol):
    """Knows which partition keys of a run are not stored yet as they would be."""

    def scopes(self, context: dg.AssetExecutionContext) -> list[Scope]:
        """What a step of the results layer computes."""

    def days(
        self, context: dg.AssetExecutionContext, contracts: Sequence[type[Contract]], inputs: Mapping[dt.date, str]
    ) -> list[dt.date]:
        """The days that a step with these tables computes, given the fingerprint of what each is computed from."""

    def campaigns(self, contracts: Sequence[type[Contract]], inputs: Mapping[tuple[str, str], str]) -> None:
        """Note of each campaign key and rule set what is told of it beside its rows: a fingerprint."""


def column_schema(contract: type[Contract]) -> dg.TableSchema:
    """The contract's columns as Dagster shows them."""
    told = descriptions(contract)
    unique = set(key(contract))
    return dg.TableSchema(
        columns=[
            dg.TableColumn(
                name=name,
                type=str(dtype),
                description=told[name],
                constraints=dg.TableColumnConstraints(
                    nullable=contract.to_schema().columns[name].nullable, unique=unique == {name}
                ),
            )
            for name, dtype in schema(contract).items()
        ]
    )


def described(contract: type[Contract]) -> dict[str, Any]:
    """Description and metadata of a table's asset, from its contract."""
    return {
        "description": inspect.getdoc(contract),  # without the indentation, which Markdown would take for code
        "metadata": {"dagster/column_schema": column_schema(contract), CONTRACT: table_name(contract)},
        "owners": list(OWNERS),
        "kinds": set(KINDS),
    }


Rows = pl.LazyFrame | pl.DataFrame


def results_asset(
    contract: type[Contract], *, group: str, code_version: str, by_day: Sequence[str], by_predecessor: bool = False
) -> Callable[[Callable[..., Rows]], dg.AssetsDefinition]:
    """A table of the results layer: day by rule set, one run for many partitions.

    The decorated function is not called where nothing of its run is due.

    Args:
        contract: the table.
        group: domain folder.
        code_version: to be raised when the computation changes.
        by_day: the inputs that are partitioned by day alone.
        by_predecessor: whether its inputs are also read under the predecessor of the rule set.
    """
    told = described(contract)
    decorator: Callable[[Callable[..., Rows]], dg.AssetsDefinition] = dg.asset(
        name=table_name(contract),
        group_name=group,
        code_version=code_version,
        partitions_def=days_by_rules,
        backfill_policy=dg.BackfillPolicy.single_run(),
        io_manager_key=IO_MANAGER,
        ins=dict.fromkeys(by_day, BY_DAY),
        **{**told, "metadata": {**told["metadata"], BY_PREDECESSOR: by_predecessor}},
    )

    def asset(compute: Callable[..., Rows]) -> dg.AssetsDefinition:
        nothing = (
            empty(contract) if inspect.signature(compute).return_annotation is pl.DataFrame else empty(contract).lazy()
        )

        @functools.wraps(compute)
        def due_only(context: dg.AssetExecutionContext, ledger: Ledger, **given: Any) -> Rows:
            return compute(context, ledger, **given) if ledger.scopes(context) else nothing

        return decorator(due_only)

    return asset


def only(frame: pl.LazyFrame, scope: Scope) -> pl.LazyFrame:
    """The rows of the scope's days, and of its rule set where they are of one."""
    kept = frame.filter(pl.col("landed_on").is_in(scope.days))
    return kept.filter(pl.col("rules") == scope.rules.id) if "rules" in frame.collect_schema() else kept


def per_rule_set(
    context: dg.AssetExecutionContext, ledger: Ledger, kernel: Callable[..., pl.LazyFrame], *frames: pl.LazyFrame
) -> pl.LazyFrame:
    """The kernel's rows for exactly what is due of the run: `kernel(*frames, rules)` per rule set, on its days."""
    return pl.concat(
        [kernel(*(only(frame, scope) for frame in frames), scope.rules) for scope in ledger.scopes(context)]
    )
