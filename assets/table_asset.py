"""From a contract to a Dagster asset: the one place where tables get their names, schemas and owners in the UI.

Here: what all assets share. Not here: what any of them computes. Together with the `assets.py` files this is the only
part of the package that knows Dagster.
"""

import datetime as dt
import inspect
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple, Protocol

import dagster as dg
import polars as pl

from assets.contract import Contract, descriptions, key, schema, table_name
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
    """A rule set, and the days that a step computes under it at once."""

    rules: RuleSet
    days: list[dt.date]


class Ledger(Protocol):
    """Knows which partition keys of a run are not stored yet as they would be."""

    def scopes(self, context: dg.AssetExecutionContext) -> list[Scope]:
        """What a step of the results layer computes."""

    def days(
        self, context: dg.AssetExecutionContext, inputs: Mapping[tuple[type[Contract], ...], Mapping[dt.date, str]]
    ) -> Mapping[tuple[type[Contract], ...], list[dt.date]]:
        """The days of tables that a step computes, given by tables the fingerprint of what each is computed from."""

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


class Portions:
    """The rows of a step, computed portion by portion as they are written, so that memory is bounded.

    `told` is what the UI shows of them, complete once all were taken.
    """

    def __init__(self, computed: Iterable[Rows], figures: Callable[[pl.DataFrame], Mapping[str, int]] | None) -> None:
        self._computed = computed
        self._figures = figures
        self.told: Counter[str] = Counter()

    def __iter__(self) -> Iterator[Rows]:
        """Each portion."""
        for rows in self._computed:
            if self._figures is None:
                yield rows
                continue
            collected = rows if isinstance(rows, pl.DataFrame) else rows.collect(engine="streaming")
            self.told.update(self._figures(collected))
            yield collected


def results_asset(
    contract: type[Contract],
    *,
    group: str,
    code_version: str,
    by_day: Sequence[str],
    by_predecessor: bool = False,
    figures: Callable[[pl.DataFrame], Mapping[str, int]] | None = None,
) -> Callable[[Callable[..., Rows]], dg.AssetsDefinition]:
    """A table of the results layer: day by rule set, one run for many partitions.

    The decorated function is given a `Scope` and, as Dagster names its other parameters, the rows of each input in that
    scope. It is called once for each portion of what is due of a run, and not at all where nothing is.

    Args:
        contract: the table.
        group: domain folder.
        code_version: to be raised when the computation changes.
        by_day: the inputs that are partitioned by day alone.
        by_predecessor: whether its inputs are also read under the predecessor of the rule set.
        figures: counts of a portion's rows, of which the UI shows the sums.
    """
    told = described(contract)
    decorator: Callable[[Callable[..., Portions]], dg.AssetsDefinition] = dg.asset(
        name=table_name(contract),
        group_name=group,
        code_version=code_version,
        partitions_def=days_by_rules,
        backfill_policy=dg.BackfillPolicy.single_run(),
        io_manager_key=IO_MANAGER,
        dagster_type=dg.Any,
        ins=dict.fromkeys(by_day, BY_DAY),
        **{**told, "metadata": {**told["metadata"], BY_PREDECESSOR: by_predecessor}},
    )

    def asset(compute: Callable[..., Rows]) -> dg.AssetsDefinition:
        def step(context: dg.AssetExecutionContext, ledger: Ledger, **given: Any) -> Portions:
            def rows(scope: Scope) -> Rows:
                return compute(scope, **{name: _within(scope, value) for name, value in given.items()})

            return Portions(map(rows, ledger.scopes(context)), figures)

        _, *inputs = inspect.signature(compute, eval_str=True).parameters.values()
        asked = [
            _parameter("context", dg.AssetExecutionContext),
            _parameter("ledger", dg.ResourceParam[Ledger]),
            *inputs,
        ]
        # Dagster reads from the signature which inputs and resources a step wants.
        step.__signature__ = inspect.Signature(asked)  # type: ignore[attr-defined]  # functions have one
        step.__annotations__ = {one.name: one.annotation for one in asked}
        step.__name__, step.__doc__, step.__module__ = compute.__name__, compute.__doc__, compute.__module__
        return decorator(step)

    return asset


def _parameter(name: str, annotation: object) -> inspect.Parameter:
    return inspect.Parameter(name, inspect.Parameter.POSITIONAL_OR_KEYWORD, annotation=annotation)


def _within(scope: Scope, given: Any) -> Any:
    """Of a frame the rows of the scope's days, and of its rule set where they are of one; a resource as it is."""
    if not isinstance(given, pl.LazyFrame):
        return given
    kept = given.filter(pl.col("landed_on").is_in(scope.days))
    return kept.filter(pl.col("rules") == scope.rules.id) if "rules" in given.collect_schema() else kept
