"""Ranges of partitions: one run takes many days, and a reversed range is refused."""

import datetime as dt

import pytest

from pipelines.jobs import RANGE_END, RANGE_START, day_range, day_range_of_rules, spans


def day(number: int) -> dt.date:
    return dt.date(2026, 11, number)


def test_a_range_of_days() -> None:
    assert day_range(day(1), day(3)) == {RANGE_START: "2026-11-01", RANGE_END: "2026-11-03"}


def test_a_range_of_days_under_a_rule_set() -> None:
    assert day_range_of_rules(day(1), day(3), "v1") == {RANGE_START: "2026-11-01|v1", RANGE_END: "2026-11-03|v1"}


def test_a_reversed_range_is_refused() -> None:
    with pytest.raises(ValueError, match="reversed"):
        day_range(day(3), day(1))


@pytest.mark.parametrize(
    ("days", "expected"),
    [
        ([], []),
        ([1], [(1, 1)]),
        ([3, 1, 2, 2], [(1, 3)]),
        ([1, 8], [(1, 8)]),
        ([1, 9, 10, 29], [(1, 1), (9, 10), (29, 29)]),
    ],
)
def test_days_join_into_ranges_over_short_gaps(days: list[int], expected: list[tuple[int, int]]) -> None:
    assert spans([day(number) for number in days]) == [(day(first), day(last)) for first, last in expected]
