import pytest

from tests.assets.verification.layer import days, found, on_days

OBJECTIVE = {"part": "objectives", "kind": "objective", "metric": "activePayingAccounts", "from_day": 2, "to_day": 4}
AT_LEAST_20 = OBJECTIVE | {"min_value": 20.0}
GROWTH = {"kind": "growth", "metric": "activePayingAccounts", "from_day": 0, "to_day": 3}


def test_a_value_below_the_objective_fails() -> None:
    result = found(AT_LEAST_20, on_days(active_paying_accounts={2: 25, 3: 19, 4: 30}))
    assert (result["outcome"], result["reason"]) == ("fail", "breach")
    assert (result["worst_value"], result["worst_day"], result["first_breach_day"]) == (19.0, 3, 3)
    assert (result["required_days"], result["observed_days"], result["missing_days"]) == (3, 3, 0)


@pytest.mark.parametrize("by_day", [{2: 25, 4: 30}, {2: 25, 3: None, 4: 30}])
def test_a_missing_day_or_null_value_fails(by_day: dict[int, int | None]) -> None:
    result = found(AT_LEAST_20, on_days(active_paying_accounts=by_day))
    assert (result["outcome"], result["reason"], result["missing_days"]) == ("fail", "value_missing", 1)


@pytest.mark.parametrize(
    ("bounds", "values", "outcome", "limit", "worst"),
    [
        ({"min_value": 20.0}, [20, 20, 20], "pass", 20.0, (20.0, 2)),
        ({"max_value": 20.0}, [20, 20, 21], "fail", 20.0, (21.0, 4)),
        ({"min_value": 20.0, "max_value": 30.0}, [20, 30, 25], "pass", 20.0, (20.0, 2)),
        ({"min_value": 20.0, "max_value": 30.0}, [30, 20, 25], "pass", 30.0, (30.0, 2)),
        ({"min_value": 20.0, "max_value": 30.0}, [19, 33, 25], "fail", 30.0, (33.0, 3)),
        ({"min_value": 20.0, "max_value": 30.0}, [17, 33, 17], "fail", 20.0, (17.0, 2)),
    ],
)
def test_bounds_are_inclusive_and_the_nearest_one_is_told(
    bounds: dict[str, float], values: list[int], outcome: str, limit: float, worst: tuple[float, int]
) -> None:
    result = found(OBJECTIVE | bounds, days(2, active_paying_accounts=values))
    assert (result["outcome"], result["limit"]) == (outcome, limit)
    assert (result["worst_value"], result["worst_day"]) == worst


def test_a_recovery_on_the_last_day_erases_nothing_and_days_outside_do_not_count() -> None:
    values = {0: 0, 2: 20, 3: 19, 4: 99, 5: 0}
    result = found(AT_LEAST_20, on_days(active_paying_accounts=values))
    assert (result["outcome"], result["first_breach_day"], result["observed_days"]) == ("fail", 3, 3)


def test_whole_numbers_meet_a_bound_exactly() -> None:
    result = found(
        OBJECTIVE | {"metric": "cashCents", "max_value": 1e10, "to_day": 2}, days(2, cash_cents=[10**10 + 1])
    )
    assert result["outcome"] == "fail"


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"metric": "cash_cents"}, "unknown_metric"),
        ({"metric": "day", "min_value": None}, "unknown_metric"),
        ({"from_day": 5}, "vacuous_contract"),
        ({"min_value": None}, "vacuous_contract"),
        ({"min_value": 2.0, "max_value": 1.0}, "vacuous_contract"),
    ],
)
def test_a_faulty_objective_is_inconclusive(changes: dict[str, object], reason: str) -> None:
    for trajectory in ([], on_days(active_paying_accounts={2: 0})):
        result = found(AT_LEAST_20 | changes, trajectory)
        assert (result["outcome"], result["reason"]) == ("inconclusive", reason)


@pytest.mark.parametrize("row", [AT_LEAST_20, GROWTH | {"min_ratio": 1.0}])
def test_no_trajectory_is_never_a_failure(row: dict[str, object]) -> None:
    result = found(row, [])
    assert (result["outcome"], result["reason"]) == ("inconclusive", "no_trajectory")


@pytest.mark.parametrize(
    ("limits", "base", "end", "reason"),
    [
        ({"min_ratio": 1.1}, 50, 55, None),
        ({"min_ratio": 1.1}, 50, 54, "below_ratio"),
        ({"min_ratio": 1.0}, 0, 5, "base_not_positive"),
        ({"min_delta": 5.0}, 0, 5, None),
        ({"min_delta": 5.0}, 1, 5, "below_delta"),
        ({"min_ratio": 1.1, "min_delta": 5.0}, 50, 55, None),
        ({"min_ratio": 1.1, "min_delta": 6.0}, 50, 55, "below_delta"),
        ({"min_ratio": 1.2, "min_delta": 5.0}, 50, 55, "below_ratio"),
        ({"min_delta": -3.0}, 5, 2, None),
        ({"min_ratio": 1e308}, 10**3, 10**3, "below_ratio"),
        ({"min_ratio": 1.0}, None, 5, "value_missing"),
        ({"min_ratio": 1.0}, 5, None, "value_missing"),
    ],
)
def test_growth(limits: dict[str, float], base: int | None, end: int | None, reason: str | None) -> None:
    result = found(GROWTH | limits, on_days(active_paying_accounts={0: base, 3: end}))
    assert (result["outcome"], result["reason"]) == ("fail" if reason else "pass", reason)


def test_an_absent_day_fails_a_growth() -> None:
    result = found(GROWTH | {"min_delta": 0.0}, on_days(active_paying_accounts={0: 5, 2: 9}))
    assert (result["reason"], result["observed_days"], result["missing_days"]) == ("value_missing", 1, 1)


def test_a_difference_of_doubles_has_slack_and_one_of_whole_numbers_has_none() -> None:
    units = GROWTH | {"metric": "lostWorkUnits", "min_delta": 1.0}
    assert found(units, on_days(lost_work_units={0: 0.0, 3: 1.0 - 5e-10}))["outcome"] == "pass"
    assert found(units, on_days(lost_work_units={0: 0.0, 3: 1.0 - 5e-9}))["outcome"] == "fail"
    cents = GROWTH | {"metric": "cashCents", "min_delta": 1e10}
    assert found(cents, on_days(cash_cents={0: 0, 3: 10**10 - 1}))["outcome"] == "fail"


def test_a_growth_may_span_a_single_day() -> None:
    result = found(GROWTH | {"to_day": 0, "min_ratio": 1.0}, on_days(active_paying_accounts={0: 5}))
    assert result["outcome"] == "pass"


@pytest.mark.parametrize(
    ("changes", "reason"), [({"metric": "nothing", "min_ratio": 1.0}, "unknown_metric"), ({}, "vacuous_contract")]
)
def test_a_faulty_growth_is_inconclusive(changes: dict[str, object], reason: str) -> None:
    result = found(GROWTH | changes, on_days(active_paying_accounts={0: 5, 3: 1}))
    assert (result["outcome"], result["reason"]) == ("inconclusive", reason)
