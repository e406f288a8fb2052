"""Sums of doubles term by term, and means that are the quotients that they should be."""

from random import Random

import polars as pl
import pytest

from assets.benchmarks.sums import LARGE, SMALL, means, plain_sum, plain_sums, quotient
from tests.assets.benchmarks.layer import attempts, figure, metrics

HUGE, TINY = 1.7e308, 5e-324


def in_order(terms: list[float]) -> float:
    total = 0.0
    for term in terms:
        total += term
    return total


@pytest.fixture(name="rows")
def _rows() -> pl.DataFrame:
    """Groups of terms of very different sizes: additions in any other order have other bits."""
    rng = Random(5)
    numbers = sorted([*range(40), *(rng.randrange(40) for _ in range(4_000))])
    terms = [rng.choice((None, rng.uniform(-1, 1) * 10.0 ** rng.randrange(-12, 12))) for _ in numbers]
    return pl.DataFrame({"group": numbers, "term": terms}, schema_overrides={"group": pl.UInt32})


def sums(rows: pl.DataFrame) -> list[float]:
    groups = rows.partition_by("group", maintain_order=True)
    return [in_order(group["term"].drop_nulls().to_list()) for group in groups]


def test_plain_sums_add_one_term_after_another(rows: pl.DataFrame) -> None:
    assert plain_sums(rows["term"], rows["group"]).to_list() == sums(rows)
    running = rows.group_by("group").agg(plain_sum(pl.col("term"))).sort("group")
    assert running["term"].to_list() == sums(rows)
    assert sums(rows.reverse().sort("group", maintain_order=True)) != sums(rows)


def test_plain_sums_of_nothing() -> None:
    nothing = plain_sums(pl.Series([], dtype=pl.Float64), pl.Series([], dtype=pl.UInt32))
    assert (nothing.dtype, nothing.len()) == (pl.Float64, 0)


def test_a_mean_is_the_sum_by_the_number_of_terms(rows: pl.DataFrame) -> None:
    found = means(rows, ["group"], {"term": pl.col("term").count()}).sort("group")
    sizes = rows.group_by("group").agg(pl.col("term").count()).sort("group")["term"].to_list()
    assert found["term_n"].to_list() == sizes
    assert found["term"].to_list() == [total / size for total, size in zip(sums(rows), sizes, strict=True)]


@pytest.mark.parametrize(
    ("terms", "mean"),
    [
        ([HUGE, HUGE], HUGE),
        ([-HUGE, -HUGE, -HUGE], -HUGE),
        ([HUGE, HUGE, -HUGE, -HUGE, 3.0], 0.6),
        ([LARGE] * 4, LARGE),
        ([TINY, TINY], TINY),
        ([], None),
    ],
)
def test_a_mean_is_finite_however_large_or_small_its_terms(terms: list[float], mean: float | None) -> None:
    rows = pl.DataFrame({"group": 0, "term": [None, *terms]}, schema_overrides={"term": pl.Float64})
    (found,) = means(rows, ["group"], {"term": pl.col("term").count()})["term"]
    assert found == (None if mean is None else pytest.approx(mean, rel=1e-15, abs=0.0))


def test_a_divisor_that_is_the_same_in_all_rows_divides_exactly() -> None:
    """A column that a join filled from a single row is one value, by whose reciprocal the engine would multiply."""
    totals = [number / 7 for number in range(1, 200)]
    rows = pl.DataFrame({"total": totals}).join(pl.DataFrame({"size": [3]}), how="cross")
    mean = rows.select(quotient(pl.col("total"), pl.col("total") * SMALL, pl.col("size"))).to_series()
    assert mean.to_list() == [total / 3 for total in totals]


def test_a_run_has_the_same_figures_alone_and_in_company() -> None:
    made = [
        row
        for number in range(60)
        for row in attempts(f"t{number}", number / 7, number / 11, number / 13, category=[f"c{number}"])
    ]
    alone, together = metrics(made), metrics(made + attempts("t", 0.5, 0.25, run_id="zzz"))
    assert alone.equals(together.filter(run_id="run"))
    for number in range(60):
        told = figure(alone, reducer="avg", policy="strict", scope="category", category=f"c{number}")
        assert told["value"] == in_order([number / 7, number / 11, number / 13]) / 3
