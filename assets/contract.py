"""Contracts: one pandera model per table, the single declaration of its columns.

Here: the base model, the helper that declares a column, and what derives from a contract (the Polars schema, the
partition columns, the key). Not here: any particular table; those live in `contract.py` of their domain folder.

https://pandera.readthedocs.io/en/stable/polars.html
"""

from collections.abc import Mapping
from typing import Any

import pandera.polars as pa
import polars as pl
from pandera.api.polars.types import PolarsData
from pandera.errors import SchemaError, SchemaErrors

SHOWN_FAILURES = 3
SHOWN_CHARACTERS = 120  # of a failure: of a row, its first columns


class ContractError(ValueError):
    """A frame does not fulfil its table's contract: a fault of ours, never of the data; nothing was written."""


def column(description: str, *, nullable: bool = False, **checks: Any) -> Any:
    """A column of a contract: what it means, in which unit, and the checks that its values pass."""
    return pa.Field(description=description, nullable=nullable, **checks)


class Contract(pa.DataFrameModel):
    """Base of every table: exactly the declared columns in order, no coercion, every float finite or null.

    A contract's docstring opens with the grain of the table. Its `Config` gives `name` (the one name of the table),
    `unique` (its key), `metadata["partition_by"]` (the partition columns of the Delta table) and, for a table that
    tells of something else than attempts, `metadata["latest_by"]` (of what).
    """

    class Config:
        strict = True
        ordered = True
        coerce = False

    @pa.dataframe_check(description="every float is finite or null")
    def finite(cls, data: PolarsData) -> pl.LazyFrame:  # noqa: N805 - pandera passes the class
        """Whether every float of a row is finite or null."""
        schema = data.lazyframe.collect_schema()
        floats = [pl.col(name).is_finite().fill_null(value=True) for name, dtype in schema.items() if dtype.is_float()]
        return data.lazyframe.select(pl.all_horizontal(floats) if floats else pl.lit(value=True))


def table_name(contract: type[Contract]) -> str:
    """The one name of the contract's table: asset key, directory and SQL name alike."""
    name: str | None = contract.to_schema().name
    if name is None:
        raise TypeError(f"{contract.__name__} has no name in its Config")
    return name


def schema(contract: type[Contract]) -> dict[str, pl.DataType]:
    """Column name to Polars type, in the contract's order."""
    return {name: declared.dtype.type for name, declared in contract.to_schema().columns.items()}


def descriptions(contract: type[Contract]) -> dict[str, str]:
    """Column name to its description."""
    return {name: declared.description or "" for name, declared in contract.to_schema().columns.items()}


def key(contract: type[Contract]) -> tuple[str, ...]:
    """The columns that identify a row; empty where the table has no key."""
    return tuple(contract.to_schema().unique or ())


def partition_by(contract: type[Contract]) -> tuple[str, ...]:
    """The partition columns of the Delta table."""
    config: Mapping[str, Any] = getattr(contract.Config, "metadata", None) or {}
    return tuple(config["partition_by"])


def latest_by(contract: type[Contract]) -> tuple[str, ...]:
    """What a table without a winning document tells of, as SQL: of several landing days of it the latest is current."""
    config: Mapping[str, Any] = getattr(contract.Config, "metadata", None) or {}
    return tuple(config.get("latest_by", ()))


def empty(contract: type[Contract]) -> pl.DataFrame:
    """A frame with the contract's columns and no rows."""
    return pl.DataFrame(schema=schema(contract))


def conform(contract: type[Contract], frame: pl.DataFrame) -> pl.DataFrame:
    """The frame itself, proven to fulfil the contract.

    Raises:
        ContractError: a column is missing, extra, out of order or of another type, or a value breaks a check or the
            key. The message names the table, the columns, the checks and a few of the values.
    """
    try:
        contract.validate(frame, lazy=True)
    except SchemaErrors as error:
        raise ContractError(f"{table_name(contract)}: {_summary(error.failure_cases)}") from error
    except SchemaError as error:
        raise ContractError(f"{table_name(contract)}: {error}") from error
    return frame


def _summary(failures: pl.DataFrame) -> str:
    grouped = failures.group_by("column", "check", maintain_order=True).agg(
        pl.len().alias("rows"), pl.col("failure_case").cast(pl.String).head(SHOWN_FAILURES)
    )
    return "; ".join(
        f"{column}: {check} ({rows} failures, for example {', '.join(map(_short, cases))})"
        for column, check, rows, cases in grouped.iter_rows()
    )


def _short(case: object) -> str:
    text = str(case)
    return text if len(text) <= SHOWN_CHARACTERS else f"{text[:SHOWN_CHARACTERS]}…"


def to_contract(frame: pl.LazyFrame, contract: type[Contract]) -> pl.LazyFrame:
    """Select the contract's columns in its order; a column that the frame lacks is an error when it is collected."""
    return frame.select(list(schema(contract)))
