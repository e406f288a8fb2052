import pytest

from tests.assets.verification.layer import days, found, on_days

FLOOR = {"kind": "cash_floor", "min_cents": 0}
MOST = 10**13


def test_a_breach_of_the_floor_fails_with_the_day_and_the_worst_value() -> None:
    result = found(FLOOR, days(min_cash_cents=[100, -1, 50, 60]))
    assert (result["outcome"], result["reason"]) == ("fail", "breach")
    assert (result["first_breach_day"], result["worst_day"], result["worst_value"]) == (1, 1, -1.0)
    assert (result["observed"], result["limit"]) == (-1.0, 0.0)
    assert (result["required_days"], result["observed_days"], result["missing_days"]) == (4, 4, 0)


@pytest.mark.parametrize(
    ("by_day", "outcome", "reason"),
    [
        ({0: 50, 2: 50}, "inconclusive", "day_gap"),
        ({0: 50, 2: -1}, "fail", "breach"),
        ({1: 50, 2: 50}, "inconclusive", "day_gap"),
        ({0: 50, 1: None, 2: 50}, "inconclusive", "value_missing"),
        ({0: -1, 1: None}, "fail", "breach"),
        ({0: None}, "inconclusive", "value_missing"),
        ({0: 0, 1: 0}, "pass", None),
        ({0: -MOST}, "fail", "breach"),
    ],
)
def test_a_known_breach_decides_before_missing_evidence(
    by_day: dict[int, int | None], outcome: str, reason: str | None
) -> None:
    result = found(FLOOR, on_days(min_cash_cents=by_day))
    assert (result["outcome"], result["reason"]) == (outcome, reason)


def test_the_worst_day_is_the_first_with_the_worst_value() -> None:
    result = found(FLOOR, days(min_cash_cents=[3, -MOST, 5, -MOST]))
    assert (result["worst_value"], result["worst_day"]) == (-float(MOST), 1)


@pytest.mark.parametrize(
    ("spends", "outcome", "reason", "observed", "first_breach_day"),
    [
        ([20, None], "fail", "breach", 20.0, 0),
        ([5, None], "inconclusive", "value_missing", 5.0, None),
        ([4, 6], "pass", None, 10.0, None),
        ([4, 3, 4], "fail", "breach", 11.0, 2),
        ([4, None, 7, 0], "fail", "breach", 11.0, 2),
        ([None], "inconclusive", "value_missing", 0.0, None),
    ],
)
def test_spending(
    spends: list[int | None], outcome: str, reason: str | None, observed: float, first_breach_day: int | None
) -> None:
    result = found({"kind": "spending_budget", "max_cents": 10}, days(spend_cents=spends))
    assert (result["outcome"], result["reason"]) == (outcome, reason)
    assert (result["observed"], result["limit"], result["first_breach_day"]) == (observed, 10.0, first_breach_day)


def test_the_running_total_follows_the_days_not_the_rows() -> None:
    rows = [{"day": 2, "spend_cents": 7}, {"day": 0, "spend_cents": 5}, {"day": 1, "spend_cents": 1}]
    result = found({"kind": "spending_budget", "max_cents": 6}, rows)
    assert result["first_breach_day"] == 2


def test_sums_of_cents_are_exact_where_a_double_would_round() -> None:
    spends = [MOST] * 1000 + [1]
    result = found({"kind": "spending_budget", "max_cents": 1000 * MOST}, days(spend_cents=spends))
    assert (result["outcome"], result["first_breach_day"]) == ("fail", 1000)


@pytest.mark.parametrize(
    ("bounds", "lowest", "closing", "outcome", "limit", "worst"),
    [
        ({"min_cents": 0, "max_cents": 10}, [0, 5], [10, 6], "pass", 0.0, (0.0, 0)),
        ({"min_cents": 0, "max_cents": 10}, [-1, 5], [4, 11], "fail", 0.0, (-1.0, 0)),
        ({"min_cents": 0, "max_cents": 10}, [1, 5], [4, 11], "fail", 10.0, (11.0, 1)),
        ({"min_cents": 0, "max_cents": 10}, [-1, 5], [4, 13], "fail", 10.0, (13.0, 1)),
        ({"max_cents": 10}, [-100, 11], [4, 4], "fail", 10.0, (11.0, 1)),
        ({"min_cents": 4}, [5, 5], [99, 3], "fail", 4.0, (3.0, 1)),
        ({"min_cents": 4}, [5, None], [99, 5], "inconclusive", 4.0, (5.0, 0)),
        ({"min_cents": 4}, [5, 5], [None, 5], "inconclusive", 4.0, (5.0, 0)),
        ({"min_cents": 4}, [5, None], [99, 3], "fail", 4.0, (3.0, 1)),
    ],
)
def test_cash_bounds(
    bounds: dict[str, int],
    lowest: list[int | None],
    closing: list[int | None],
    outcome: str,
    limit: float,
    worst: tuple[float, int],
) -> None:
    result = found({"kind": "cash_bounds", **bounds}, days(min_cash_cents=lowest, cash_cents=closing))
    assert (result["outcome"], result["limit"]) == (outcome, limit)
    assert (result["worst_value"], result["worst_day"]) == worst


def test_cash_bounds_ask_for_every_day() -> None:
    rows = on_days(min_cash_cents={0: 1, 2: 1}, cash_cents={0: 1, 2: 1})
    assert found({"kind": "cash_bounds", "min_cents": 0}, rows)["reason"] == "day_gap"


def prices(*cents: int | None) -> list[dict[str, object]]:
    return [{"product": f"p{number}", "cents": price} for number, price in enumerate(cents)]


@pytest.mark.parametrize(
    ("by_day", "outcome", "worst", "first_breach_day"),
    [
        ({0: prices(500, 9900)}, "pass", (500.0, 0), None),
        ({0: prices(500, 9901)}, "fail", (9901.0, 0), 0),
        ({0: prices(600), 3: prices(499)}, "fail", (499.0, 3), 3),
        ({0: None, 1: prices(), 2: prices(None)}, "pass", (None, None), None),
        ({0: prices(700, None), 9: None}, "pass", (700.0, 0), None),
    ],
)
def test_prices(
    by_day: dict[int, object], outcome: str, worst: tuple[float | None, int | None], first_breach_day: int | None
) -> None:
    result = found({"kind": "price_bounds", "min_cents": 500, "max_cents": 9900}, on_days(prices=by_day))
    assert result["outcome"] == outcome
    assert (result["worst_value"], result["worst_day"], result["first_breach_day"]) == (*worst, first_breach_day)


@pytest.mark.parametrize(("last", "outcome", "reason"), [(9, "fail", "short_trajectory"), (10, "pass", None)])
def test_horizon(last: int, outcome: str, reason: str | None) -> None:
    result = found({"kind": "horizon"}, [{"day": 0}, {"day": last}])
    assert (result["outcome"], result["reason"]) == (outcome, reason)
    assert (result["observed"], result["limit"]) == (float(last), 10.0)


VACUOUS = [
    {"kind": "spending_budget"},
    {"kind": "cash_floor", "max_cents": 3},
    {"kind": "cash_bounds"},
    {"kind": "cash_bounds", "min_cents": 2, "max_cents": 1},
    {"kind": "price_bounds"},
    {"kind": "price_bounds", "min_cents": 2, "max_cents": 1},
]


@pytest.mark.parametrize("row", VACUOUS)
def test_a_contract_without_a_bound_is_inconclusive_even_without_a_trajectory(row: dict[str, object]) -> None:
    for trajectory in ([], days(min_cash_cents=[-5], spend_cents=[9])):
        result = found(row, trajectory)
        assert (result["outcome"], result["reason"]) == ("inconclusive", "vacuous_contract")


@pytest.mark.parametrize(
    "row",
    [
        {"kind": "spending_budget", "max_cents": 0},
        FLOOR,
        {"kind": "cash_bounds", "min_cents": 0},
        {"kind": "price_bounds", "min_cents": 0},
        {"kind": "horizon"},
    ],
)
def test_no_trajectory_is_never_a_failure(row: dict[str, object]) -> None:
    result = found(row, [])
    assert (result["outcome"], result["reason"]) == ("inconclusive", "no_trajectory")
