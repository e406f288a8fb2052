"""`pass_unbiased`: its value, its k, and what it may be drawn from."""

from fractions import Fraction
from math import comb

import polars as pl
import pytest

from assets.benchmarks.reducers import chances
from tests.assets.benchmarks.layer import ERROR, Row, attempts, both, counts, figure, metrics, run


@pytest.mark.parametrize(
    ("outcomes", "k", "values"),
    [
        ([True, False, False, False], 2, (0.5, 0.5)),
        ([True, False, ERROR, ERROR], 2, (1, 0.5)),
        ([True, None, None, None], 2, (None, 0.5)),
        ([False, False, False, False], 4, (0, 0)),
        ([True, True, True, False], 4, (1, 1)),
    ],
)
def test_one_task(outcomes: list[Row | bool | None], k: int, values: tuple[float | None, float]) -> None:
    assert both(metrics(attempts("t", *outcomes), [run(k=4)]), reducer="pass_unbiased", k=k) == values


def test_attempts_that_left_nothing_are_an_error_where_they_would_be_drawn() -> None:
    rows = metrics(attempts("t", True, True, None, None), [run(k=4)])
    of_k = rows.filter(reducer="pass_unbiased", policy="strict", scope="overall").select("k", "error", "unavailable")
    assert of_k.rows() == [(1, 0, 0), (2, 0, 0), (4, 1, 1)]


def test_fewer_attempts_than_k_are_null_and_never_one() -> None:
    rows = metrics(attempts("a", True) + attempts("b", True, False), [run(k=1)])
    assert both(rows, reducer="pass_unbiased", k=2) == (1, 1)
    assert counts(figure(rows, reducer="pass_unbiased", k=2, policy="strict")) == (2, 1, 1, 1, 0)
    alone = metrics(attempts("a", True), [run(k=1)])
    assert alone.filter(reducer="pass_unbiased")["k"].unique().to_list() == [1]


@pytest.mark.parametrize(
    ("k", "found", "told"),
    [
        (1, 1, [1]),
        (4, 1, [1, 2, 4]),
        (3, 7, [1, 2, 3, 4, 5]),
        (3, 16, [1, 2, 3, 4, 5, 8, 10, 15, 16]),
        (6, 2, [1, 2, 4, 5, 6]),
    ],
)
def test_which_k_are_told(k: int, found: int, told: list[int]) -> None:
    made = attempts("t", *[True] * found)
    rows = metrics(made, [run(k=k)]).filter(reducer="pass_unbiased", policy="strict", scope="overall")
    assert rows["k"].to_list() == told


def test_a_plan_of_any_size_is_told_for_its_own_k() -> None:
    rows = metrics(attempts("t", True), [run(k=2**50)])
    assert figure(rows, reducer="pass_unbiased", k=2**50, policy="strict")["value"] == 1
    assert rows.height < 1000


def test_not_for_early_stops_of_several_attempts() -> None:
    assert not metrics(attempts("t", True), [run(k=2, strategy="pass")]).filter(reducer="pass_unbiased").height
    assert metrics(attempts("t", True), [run(k=1, strategy="pass")]).filter(reducer="pass_unbiased").height


def test_exact_for_large_numbers() -> None:
    cases = [
        (n, c, k) for n in (1, 2, 7, 60, 1000) for c in {0, 1, n // 3, n} for k in {1, 2, 5, n // 2, n} if 0 < k <= n
    ]
    found = chances(pl.DataFrame(cases * 2, schema=["n", "correct", "k"], orient="row"))
    assert sorted(found.select("n", "correct", "k").rows()) == sorted(set(cases))
    for n, c, k, value in found.rows():
        assert value == pytest.approx(float(1 - Fraction(comb(n - c, k), comb(n, k))), abs=1e-12)
