"""How far long work is: a live bar on a terminal, plain lines elsewhere; always on stderr.

Here: the two renderings of the protocol `progress(stage, done, total)`. Not here: the stages, which the work names.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Protocol

from rich.progress import BarColumn, MofNCompleteColumn, Progress, SpinnerColumn, TaskID, TextColumn, TimeElapsedColumn

from pipelines.cli.output import console, inert, say

STEPS = 10


class Reporter(Protocol):
    """Told how far a stage is."""

    def __call__(self, stage: str, done: int, total: int | None) -> None:
        """`done` of `total` units of `stage`; the total may be unknown."""


@contextmanager
def progress(*, shown: bool = True) -> Iterator[Reporter]:
    """A reporter that suits stderr, or one that says nothing."""
    if not shown:
        yield unseen
        return
    if not console(stderr=True).is_terminal:
        yield Lines()
        return
    columns = (
        SpinnerColumn(),
        TextColumn("{task.description}", markup=False),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
    )
    with Progress(*columns, console=console(stderr=True), transient=True) as bars:
        yield Bars(bars)


def unseen(stage: str, done: int, total: int | None) -> None:
    """Progress that nobody is shown."""
    del stage, done, total


class Lines:
    """A line at the start of a stage, and one whenever a further tenth of it is done."""

    def __init__(self) -> None:
        self._shown: dict[str, int] = {}

    def __call__(self, stage: str, done: int, total: int | None) -> None:
        """`done` of `total` units of `stage`."""
        step = STEPS * done // total if total else 0
        if self._shown.get(stage) != step:
            self._shown[stage] = step
            say(f"{stage}: {done} of {total}" if total else f"{stage} ...", stderr=True)


class Bars:
    """One bar per stage."""

    def __init__(self, bars: Progress) -> None:
        self._bars = bars
        self._tasks: dict[str, TaskID] = {}

    def __call__(self, stage: str, done: int, total: int | None) -> None:
        """`done` of `total` units of `stage`."""
        if stage not in self._tasks:
            self._tasks[stage] = self._bars.add_task(inert(stage), total=total)
        self._bars.update(self._tasks[stage], completed=done, total=total)
