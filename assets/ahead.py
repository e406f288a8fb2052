"""Working ahead: the next items are computed while the current result is used, in order and within a bound."""

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from itertools import islice
from typing import TypeVar

Item = TypeVar("Item")
Result = TypeVar("Result")


def ahead(compute: Callable[[Item], Result], items: Iterable[Item], *, at_once: int) -> Iterator[Result]:
    """`map(compute, items)`, in order, with `at_once` items under way in threads while a result is used.

    The first error ends it; what is under way then is finished, and nothing further is begun.
    """
    coming = iter(items)
    with ThreadPoolExecutor(at_once, thread_name_prefix="ahead") as pool:
        begun: deque[Future[Result]] = deque(pool.submit(compute, item) for item in islice(coming, at_once))
        while begun:
            result = begun.popleft().result()
            begun.extend(pool.submit(compute, item) for item in islice(coming, 1))
            yield result
