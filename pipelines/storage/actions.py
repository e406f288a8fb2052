"""The actions of a commit: which files a snapshot holds, and which ones a commit adds and removes.

Here: files of the transaction log as frames, and back. Not here: committing (`tables`) and the files themselves
(`partition_files`).

https://github.com/delta-io/delta/blob/master/PROTOCOL.md#actions
"""

import time
from collections.abc import Iterable
from urllib.parse import unquote

import polars as pl
from deltalake import DeltaTable
from deltalake.transaction import AddAction, RemoveAction

from assets.contract import Contract, partition_by, schema
from pipelines.storage.partition_files import DataFile


def held_files(table: DeltaTable, contract: type[Contract]) -> pl.DataFrame:
    """The files of a snapshot: path, size_bytes, rows and the partition columns, by partition value and path."""
    declared, columns = schema(contract), partition_by(contract)
    actions = pl.DataFrame(table.get_add_actions())
    figures = {"size_bytes": pl.Int64, "rows": pl.Int64}
    if actions.is_empty():
        return pl.DataFrame(schema={"path": pl.String, **figures, **{c: declared[c] for c in columns}})
    # The paths of the log are percent-encoded once more; a remove that does not undo this removes nothing.
    paths = pl.col("path").map_elements(unquote, return_dtype=pl.String)
    values = [pl.col("partition").struct.field(column).cast(declared[column]) for column in columns]
    return actions.select(paths, "size_bytes", pl.col("num_records").alias("rows"), *values).sort(*columns, "path")


def adds(files: Iterable[DataFile], *, data_change: bool = True) -> list[AddAction]:
    """The files as part of the table; without `data_change` they hold no rows that others did not."""
    now = time.time_ns() // 1_000_000
    return [AddAction(f.path, f.size_bytes, f.values, now, data_change=data_change, stats=f.stats) for f in files]


def removes(held: pl.DataFrame, contract: type[Contract], *, data_change: bool = True) -> list[RemoveAction]:
    """The files, as `held_files` gives them, no longer part of the table."""
    now = time.time_ns() // 1_000_000
    return [
        RemoveAction(
            row["path"],
            data_change=data_change,
            deletion_timestamp=now,
            size=row["size_bytes"],
            partition_values={column: str(row[column]) for column in partition_by(contract)},
        )
        for row in held.iter_rows(named=True)
    ]
