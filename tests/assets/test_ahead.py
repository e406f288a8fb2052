"""Working ahead: in order, within the bound, and an error ends it."""

import threading

import pytest

from assets.ahead import ahead


@pytest.mark.parametrize("at_once", [1, 2, 5])
def test_results_come_in_the_order_of_the_items(at_once: int) -> None:
    assert list(ahead(lambda n: n * n, range(20), at_once=at_once)) == [n * n for n in range(20)]


def test_nothing_gives_nothing() -> None:
    assert list(ahead(str, [], at_once=2)) == []


def test_the_next_item_is_computed_while_a_result_is_used() -> None:
    second = threading.Event()

    def compute(number: int) -> int:
        if number == 1:
            second.set()
        return number

    results = ahead(compute, range(2), at_once=1)
    assert next(results) == 0
    assert second.wait(5)


def test_no_more_items_are_begun_than_allowed() -> None:
    begun = []

    def compute(number: int) -> int:
        begun.append(number)
        return number

    results = ahead(compute, range(100), at_once=2)
    next(results)
    assert len(begun) <= 3
    results.close()


def test_an_error_ends_it_and_nothing_further_is_begun() -> None:
    begun = []

    def compute(number: int) -> int:
        begun.append(number)
        if number == 1:
            raise ValueError("no")
        return number

    results = ahead(compute, range(100), at_once=1)
    assert next(results) == 0
    with pytest.raises(ValueError, match="no"):
        next(results)
    assert begun == [0, 1]
