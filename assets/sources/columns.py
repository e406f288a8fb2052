"""Python values as Polars columns, whole columns at a time: rows of dictionaries take ten times as long.

Not here: what the columns mean.
"""

from collections.abc import Iterable, Sequence
from itertools import chain
from typing import Any

import numpy as np
import polars as pl
import pyarrow as pa


def from_rows(rows: Sequence[tuple[object, ...]], columns: dict[str, pl.DataType]) -> pl.DataFrame:
    """A frame of exactly these columns and types; a value of another type is an error."""
    values = zip(*rows, strict=True) if rows else ((),) * len(columns)
    return pl.DataFrame(
        [series(name, column, dtype) for (name, dtype), column in zip(columns.items(), values, strict=True)]
    )


def series(name: str, values: Iterable[Any], dtype: pl.DataType) -> pl.Series:
    """A column of exactly this type; a value of another type is an error."""
    column = list(values)
    if isinstance(dtype, pl.List):
        members = chain.from_iterable(one for one in column if one is not None)
        return _lists(name, column, series("", members, dtype.inner))  # type: ignore[arg-type]  # an instance
    if column and column[0] is None and column.count(None) == len(column):
        return pl.repeat(None, len(column), dtype=dtype, eager=True).alias(
            name
        )  # Polars would look for a value, slowly
    return pl.Series(name, column, dtype=dtype, strict=True)


def maps(name: str, maps: Sequence[dict[Any, Any] | None], fields: dict[str, pl.DataType]) -> pl.Series:
    """A list column of (key, value) structs, null where there is no map."""
    given = [one for one in maps if one is not None]
    (key, key_type), (value, value_type) = fields.items()
    members = [
        series(key, chain.from_iterable(given), key_type),
        series(value, chain.from_iterable(map(dict.values, given)), value_type),
    ]
    return _lists(name, maps, pl.DataFrame(members).to_struct())


def _lists(name: str, lists: Sequence[Any], members: pl.Series) -> pl.Series:
    """A list column made of its flattened members; far faster than from Python lists. Null where there is no list."""
    nulls = None in lists
    lengths = map(len, (one or () for one in lists) if nulls else lists)
    offsets = np.zeros(len(lists) + 1, np.int64)
    np.cumsum(np.fromiter(lengths, np.int64, len(lists)), out=offsets[1:])
    mask = pa.array([one is None for one in lists]) if nulls else None
    return pl.Series(name, pa.LargeListArray.from_arrays(pa.array(offsets), members.to_arrow(), mask=mask))
