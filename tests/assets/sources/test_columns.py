"""Lists and maps become columns without loss, empty and absent ones included."""

from typing import Any

import polars as pl
import pytest

from assets.sources.columns import from_rows, maps, series

STRINGS = pl.List(pl.String())


@pytest.mark.parametrize("values", [[], [None], [[]], [["a"], None, [], ["b", None]]])
def test_lists(values: list[Any]) -> None:
    column = series("x", values, STRINGS)
    assert column.dtype == STRINGS
    assert column.to_list() == values


def test_lists_of_lists() -> None:
    values = [[["a", "b"], []], None, [], [None, ["c"]]]
    column = series("x", values, pl.List(STRINGS))
    assert column.dtype == pl.List(STRINGS)
    assert column.to_list() == values


def test_a_value_of_another_type_is_an_error() -> None:
    with pytest.raises(TypeError):
        series("x", [1, 2.5], pl.Int64())


@pytest.mark.parametrize("values", [[], [None], [{}], [{"a": 1, "b": None}, None, {}, {"c": 3}]])
def test_maps(values: list[dict[str, int | None] | None]) -> None:
    column = maps("x", values, {"name": pl.String(), "cents": pl.Int64()})
    assert column.dtype == pl.List(pl.Struct({"name": pl.String, "cents": pl.Int64}))
    assert column.to_list() == [
        None if value is None else [{"name": name, "cents": cents} for name, cents in value.items()] for value in values
    ]


def test_rows() -> None:
    columns = {"a": pl.Int64(), "b": STRINGS}
    assert from_rows([(1, ["x"]), (2, None)], columns).rows() == [(1, ["x"]), (2, None)]
    assert from_rows([], columns).schema == columns
