"""`scorehouse tables`: what exists, or one table's columns and partitions.

Here: what the Delta logs and the contracts say; no table is scanned. Not here: which tables there are
(`assets.tables`).
"""

import difflib
from typing import Annotated, Any

import polars as pl
import typer
from deltalake import DeltaTable
from polars.datatypes import DataTypeClass

from assets.contract import Contract, descriptions, key, partition_by, schema
from assets.tables import TABLES, layer
from pipelines.cli.database import open_tables, stored
from pipelines.cli.options import Json, verb
from pipelines.cli.output import CommandError, UsageError, print_json, print_table, say
from pipelines.settings import load

SQL_TYPES: dict[DataTypeClass, str] = {
    pl.String: "VARCHAR",
    pl.Int64: "BIGINT",
    pl.Float64: "DOUBLE",
    pl.Boolean: "BOOLEAN",
    pl.Date: "DATE",
    pl.Binary: "BLOB",
    pl.Datetime: "TIMESTAMP WITH TIME ZONE",
}

app = verb()


@app.command()
def tables(
    name: Annotated[
        str | None, typer.Argument(metavar="NAME", help="Show this table's columns and partitions.")
    ] = None,
    json: Json = False,
) -> None:
    """Show which tables exist; with a name, its columns and partitions."""
    if name is not None and name not in TABLES:
        near = difflib.get_close_matches(name, TABLES, n=1, cutoff=0.0)[0]
        raise UsageError(f"there is no table {name!r}; did you mean {near}?")
    store = stored(load())
    wanted = list(TABLES) if name is None else [name]
    found = [told(table_name, table) for table_name, table in open_tables(store, wanted)]
    if name is not None and not found:
        raise CommandError(f"{store.uri(TABLES[name])}: the table does not exist yet; `scorehouse run` makes it")
    if json:
        print_json(found)
    elif name is None:
        _print_all(found, store.root)
    else:
        _print_one(found[0])


def told(name: str, table: DeltaTable) -> dict[str, Any]:
    """Everything about a table, from its contract and its log."""
    contract = TABLES[name]
    partitions = partitions_of(contract, table)
    columns = contract.to_schema().columns
    described = descriptions(contract)
    return {
        "name": name,
        "layer": layer(name),
        "uri": table.table_uri.removeprefix("file://").rstrip("/"),
        "description": " ".join((contract.__doc__ or "").split()),
        "rows": int(partitions["rows"].sum()),
        "size_bytes": int(partitions["size_bytes"].sum()),
        "version": table.version(),
        "key": list(key(contract)),
        "partition_by": list(partition_by(contract)),
        "columns": [
            {
                "name": column,
                "type": sql_type(dtype),
                "nullable": columns[column].nullable,
                "description": described[column],
            }
            for column, dtype in schema(contract).items()
        ],
        "partitions": partitions.to_dicts(),
    }


def partitions_of(contract: type[Contract], table: DeltaTable) -> pl.DataFrame:
    """Rows, files and bytes of each partition, in order."""
    declared, by = schema(contract), list(partition_by(contract))
    actions = pl.DataFrame(table.get_add_actions())
    figures = {"rows": pl.Int64, "files": pl.Int64, "size_bytes": pl.Int64}
    if actions.is_empty():
        return pl.DataFrame(schema={**{column: declared[column] for column in by}, **figures})
    return (
        actions.select(pl.col("partition").struct.unnest(), "num_records", "size_bytes")
        .with_columns(pl.col(column).cast(declared[column]) for column in by)
        .group_by(by)
        .agg(
            rows=pl.col("num_records").cast(pl.Int64).sum(),
            files=pl.len().cast(pl.Int64),
            size_bytes=pl.col("size_bytes").cast(pl.Int64).sum(),
        )
        .sort(by)
    )


def sql_type(dtype: pl.DataType | DataTypeClass) -> str:
    """The type as SQL names it."""
    if isinstance(dtype, pl.List):
        return f"{sql_type(dtype.inner)}[]"
    if isinstance(dtype, pl.Struct):
        return f"STRUCT({', '.join(f'{field.name} {sql_type(field.dtype)}' for field in dtype.fields)})"
    return SQL_TYPES[dtype.base_type()]


def _print_all(found: list[dict[str, Any]], root: str) -> None:
    if not found:
        say(f"no tables yet below {root}; `scorehouse run` makes them, `scorehouse demo` from an example")
        return
    columns = ["name", "layer", "rows", "partitions", "size_bytes", "description"]
    rows = [
        {
            **table,
            "partitions": len(table["partitions"]),
            "description": table["description"].split(". ")[0].rstrip("."),
        }
        for table in found
    ]
    print_table(columns, [[row[column] for column in columns] for row in rows])
    absent = [name for name in TABLES if name not in {table["name"] for table in found}]
    say()
    say(f"below {root}" + (f"; not made yet: {', '.join(absent)}" if absent else ""))


def _print_one(table: dict[str, Any]) -> None:
    say(f"{table['name']} ({table['layer']}): {table['description']}")
    say(f"{table['uri']}, version {table['version']}, {table['rows']} rows, {table['size_bytes']} bytes")
    say()
    columns = ["name", "type", "nullable", "description"]
    print_table(columns, [[column[part] for part in columns] for column in table["columns"]])
    say()
    parts = [*table["partition_by"], "rows", "files", "size_bytes"]
    print_table(parts, [[partition[part] for part in parts] for partition in table["partitions"]])
