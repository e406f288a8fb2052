"""From a contract to a Dagster asset: the one place where tables get their names, schemas and owners in the UI.

Here: what all assets share. Not here: what any of them computes. Together with the `assets.py` files this is the only
part of the package that knows Dagster.
"""

import inspect
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import dagster as dg
import polars as pl

from assets.contract import Contract, descriptions, key, schema, table_name
from assets.rulesets.loader import RuleSet, select
from pipelines.partitions import DAY, RULES, day_of, days_by_rules

CONTRACT = "scorehouse/contract"
"""Asset metadata: the name of the table, by which the IO manager knows its contract."""
OWNERS = ("team:evaluation",)
KINDS = frozenset({"polars", "deltalake"})
IO_MANAGER = "io_manager"
BY_DAY = dg.AssetIn(partition_mapping=dg.MultiToSingleDimensionPartitionMapping(DAY))


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


def results_asset(
    contract: type[Contract], *, group: str, code_version: str, by_day: Sequence[str]
) -> Callable[[Callable[..., pl.LazyFrame | pl.DataFrame]], dg.AssetsDefinition]:
    """A table of the results layer: day by rule set, one run for many partitions.

    Args:
        contract: the table.
        group: domain folder.
        code_version: to be raised when the computation changes.
        by_day: the inputs that are partitioned by day alone.
    """
    decorator: Callable[[Callable[..., pl.LazyFrame | pl.DataFrame]], dg.AssetsDefinition] = dg.asset(
        name=table_name(contract),
        group_name=group,
        code_version=code_version,
        partitions_def=days_by_rules,
        backfill_policy=dg.BackfillPolicy.single_run(),
        io_manager_key=IO_MANAGER,
        ins=dict.fromkeys(by_day, BY_DAY),
        **described(contract),
    )
    return decorator


def per_rule_set(
    context: dg.AssetExecutionContext,
    rule_sets: Mapping[str, RuleSet],
    kernel: Callable[..., pl.LazyFrame],
    *frames: pl.LazyFrame,
) -> pl.LazyFrame:
    """The kernel's rows for exactly the (day, rule set) keys of the run: `kernel(*frames, rules)` per rule set.

    Raises:
        RuleSetError: a key names a rule set that does not exist; Dagster's UI lets anyone add such a partition.
    """
    days = defaultdict(list)
    for partition in context.partition_keys:
        if not isinstance(partition, dg.MultiPartitionKey):
            raise TypeError(f"{partition!r} is no key of day and rule set")
        days[partition.keys_by_dimension[RULES]].append(day_of(partition.keys_by_dimension[DAY]))

    def only(frame: pl.LazyFrame, id_: str) -> pl.LazyFrame:
        kept = frame.filter(pl.col("landed_on").is_in(sorted(days[id_])))
        return kept.filter(pl.col("rules") == id_) if "rules" in frame.collect_schema() else kept

    wanted = select(rule_sets, sorted(days))
    return pl.concat([kernel(*(only(frame, rules.id) for frame in frames), rules) for rules in wanted])
