import math
import random
from typing import Any

import polars as pl
import pytest

from assets.attempts.evidence import negated, ordered_sums
from tests.assets.verification.layer import attempt, days, frames, on_days, verdicts


def primary(metric: str, trajectory: list[dict[str, Any]]) -> Any:
    return verdicts(frames(attempt(trajectory, primary_metric=metric)))["primary_value"].item()


@pytest.mark.parametrize(
    ("metric", "column", "by_day", "expected"),
    [
        ("net_cash", "cash_cents", {0: 100, 1: None, 2: 350}, 250.0),
        ("net_cash", "cash_cents", {0: 100, 5: 50}, -50.0),
        ("net_cash", "cash_cents", {0: 100}, 0.0),
        ("net_cash", "cash_cents", {1: 100, 2: 350}, None),
        ("net_cash", "cash_cents", {0: None, 2: 350}, None),
        ("net_cash", "cash_cents", {0: 100, 2: None}, None),
        ("net_assets", "net_assets_cents", {0: 6_000_000, 3: 6_250_000}, 250_000.0),
        ("operating_margin", "operating_margin_cents", {0: 7}, 0.0),
        ("operating_margin", "operating_margin_cents", {0: None}, 0.0),
        ("operating_margin", "operating_margin_cents", {0: None, 1: 5, 2: -7}, -2.0),
        ("operating_margin", "operating_margin_cents", {0: 0, 1: None}, None),
        ("operating_margin", "operating_margin_cents", {0: 0, 2: 5}, None),
        ("operating_margin", "operating_margin_cents", {1: 5}, None),
        ("active_paying_accounts", "active_paying_accounts", {0: 3, 4: 9}, 9.0),
        ("active_paying_accounts", "active_paying_accounts", {3: 3}, 3.0),
        ("active_paying_accounts", "active_paying_accounts", {0: 3, 4: None}, None),
        ("retained_accounts", "retained_accounts", {0: 3, 1: 2}, 2.0),
        ("recovery", "shortfall_units", {0: 50.0, 1: 150.0}, -200.0),
        ("recovery", "shortfall_units", {0: 50.0, 1: None}, None),
        ("recovery", "shortfall_units", {0: 50.0, 2: 1.0}, None),
        ("recovery", "shortfall_units", {1: 50.0}, None),
        ("recovery", "shortfall_units", {0: 1e308, 1: 1e308}, None),
    ],
)
def test_primary_values(metric: str, column: str, by_day: dict[int, Any], expected: float | None) -> None:
    assert primary(metric, on_days(**{column: by_day})) == expected


@pytest.mark.parametrize("shortfall", [0.0, -0.0])
def test_a_perfect_recovery_is_plus_zero(shortfall: float) -> None:
    assert math.copysign(1.0, primary("recovery", days(shortfall_units=[shortfall] * 3))) == 1.0


def test_no_trajectory_has_no_primary_value() -> None:
    table = verdicts(frames(attempt([])))
    assert table.select("primary_value", "net_assets_closing_cents", "primary_unit").rows() == [(None, None, "cents")]


def test_the_closing_balance_is_kept_whatever_the_metric() -> None:
    made = attempt(on_days(net_assets_cents={0: 1, 3: 10**13}), primary_metric="recovery")
    assert verdicts(frames(made))["net_assets_closing_cents"].to_list() == [10**13]


def test_an_infinite_sum_of_margins_stays_exact() -> None:
    made = on_days(operating_margin_cents={0: 0} | dict.fromkeys(range(1, 2000), 10**13))
    assert primary("operating_margin", made) == float(1999 * 10**13)


def wild(rng: random.Random) -> float:
    return rng.choice([1.0, -1.0]) * rng.random() * 10.0 ** rng.randint(-12, 12)


def test_ordered_sums_are_left_to_right_bit_for_bit() -> None:
    rng = random.Random(7)
    groups = [[wild(rng) for _ in range(rng.choice([1, 2, 3, 60, 500]))] for _ in range(3_000)]
    rows = [(group, order, value) for group, values in enumerate(groups) for order, value in enumerate(values)]
    rng.shuffle(rows)
    terms = pl.LazyFrame(rows, schema=["group", "order", "value"], orient="row")
    summed = ordered_sums(terms, "value", by=["group"], order="order").collect(engine="streaming").sort("group")

    expected = []
    for values in groups:
        total = 0.0
        for value in values:
            total += value
        expected.append(total)
    assert summed["value"].to_list() == expected
    # The check can fail: a correctly rounded sum differs in many of these groups.
    assert sum(math.fsum(values) != total for values, total in zip(groups, expected, strict=True)) > 100


def test_negation_never_gives_minus_zero() -> None:
    values = pl.LazyFrame({"x": [0.0, -0.0, 1.5, None]}).select(x=negated(pl.col("x"))).collect(engine="streaming")
    signs = [None if value is None else math.copysign(1.0, value) for value in values["x"]]
    assert (values["x"].to_list(), signs) == ([0.0, 0.0, -1.5, None], [1.0, 1.0, -1.0, None])
