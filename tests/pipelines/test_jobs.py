"""Ranges and groups of partitions: one run takes many days, and a reversed range is refused."""

import datetime as dt

import pytest

from pipelines.jobs import RANGE_END, RANGE_START, chunks, day_range, day_range_of_rules, runs_of, spans, within


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


@pytest.mark.parametrize(
    ("first", "last", "kept"),
    [(None, None, [1, 2, 5]), (2, None, [2, 5]), (None, 2, [1, 2]), (2, 2, [2]), (3, 4, []), (9, None, [])],
)
def test_days_within_a_range(first: int | None, last: int | None, kept: list[int]) -> None:
    keep = within(first and day(first), last and day(last))
    assert keep({day(5), day(1), day(2)}) == [day(number) for number in kept]


def test_a_reversed_range_of_days_is_refused_before_anything_is_looked_at() -> None:
    with pytest.raises(ValueError, match="reversed: 2026-11-03 is after 2026-11-01"):
        within(day(3), day(1))


@pytest.mark.parametrize(
    ("sizes", "expected"),
    [
        ({}, []),
        ({1: 10}, [[1]]),
        ({1: 4, 2: 6, 3: 5}, [[3], [2, 1]]),
        ({1: 5, 2: 5, 3: 5}, [[3, 2], [1]]),
        ({1: 3, 2: 11, 3: 3}, [[3], [2], [1]]),
        ({1: 0, 2: 10, 3: 0, 4: 10}, [[4, 3], [2, 1]]),
    ],
    ids=["none", "full", "next to full", "in order", "larger than all", "empty ones join"],
)
def test_days_in_groups_of_bounded_size_newest_first(sizes: dict[int, int], expected: list[list[int]]) -> None:
    given = {day(number): size for number, size in sizes.items()}
    assert chunks(given, given, 10) == [[day(number) for number in group] for group in expected]


def test_a_day_of_unknown_size_takes_no_room() -> None:
    assert chunks([day(1), day(2), day(2)], {}, 10) == [[day(2), day(1)]]


@pytest.mark.parametrize(
    ("wanted", "expected"),
    [("", []), ("b", ["bb"]), ("ab", ["ab"]), ("dcb", ["bd"]), ("ac", ["aa", "cc"]), ("abde", ["ab", "de"])],
)
def test_keys_are_taken_in_ranges_of_what_there_is(wanted: str, expected: list[str]) -> None:
    assert runs_of(list(wanted), list("abcde")) == [tuple(pair) for pair in expected]
