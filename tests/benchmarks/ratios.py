"""How a benchmark is told: a ratio of two things measured in one process run, beside what it should be."""

import time
from collections.abc import Callable, Sequence
from typing import NamedTuple

from rich.console import Console
from rich.table import Table


class Ratio(NamedTuple):
    """One measured ratio."""

    what: str
    ratio: float
    target: str
    measured: str


def best(run: Callable[[], object], repeats: int = 3) -> float:
    """Seconds of the fastest of some repeats."""
    seconds = []
    for _ in range(repeats):
        started = time.perf_counter()
        run()
        seconds.append(time.perf_counter() - started)
    return min(seconds)


def show(ratios: Sequence[Ratio]) -> None:
    """Print the ratios as a table."""
    table = Table("benchmark", "ratio", "target", "measured")
    for row in ratios:
        table.add_row(row.what, f"{row.ratio:.2f}", row.target, row.measured)
    Console(width=150).print(table)
