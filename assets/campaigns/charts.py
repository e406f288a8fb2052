"""Geometry of a report's pictures: where the marks of its inline SVG stand.

Here: scales, ticks and marks. Horizontal places are percentages of the picture's width, so that one picture fits a
phone, a screen and a page. Not here: colours, text and markup, which are in `report.html`, where all text is escaped.
"""

import math
import sys
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import polars as pl

from assets.campaigns import wording

MARGIN = 0.05
TICKS = 4
ROUND_STEPS = (1, 2, 5)
THOUSANDS = ((1e9, "G"), (1e6, "M"), (1e3, "k"))

Row = Mapping[str, Any]


class Segment(NamedTuple):
    """A stretch of a picture's width, in percent."""

    x: str
    width: str
    end: str


class Tick(NamedTuple):
    """A labelled place of an axis."""

    x: str
    label: str


class Strip(NamedTuple):
    """One row of a picture: a line, the point of its mean, and marks of what the mean is of."""

    line: Segment
    point: str
    marks: tuple[str, ...] = ()


class Scale(NamedTuple):
    """A linear axis from `low` to `high`."""

    low: float
    high: float

    def at(self, value: float) -> str:
        """The place of the value, in percent; beyond the axis, its end."""
        # Divided first: the difference of two large doubles may overflow.
        size = max(abs(self.low), abs(self.high))
        share = (value / size - self.low / size) / (self.high / size - self.low / size)
        return _percent(min(max(share, 0.0), 1.0))

    def between(self, low: float, high: float) -> Segment:
        """The stretch from one value to another."""
        start, end = self.at(low), self.at(high)
        return Segment(start, _percent((float(end[:-1]) - float(start[:-1])) / 100), end)

    def ticks(self, about: int) -> list[Tick]:
        """Round values along the axis, zero among them."""
        raw = self.high / about - self.low / about
        power = 10.0 ** math.floor(math.log10(raw))
        step = next((power * factor for factor in ROUND_STEPS if power * factor >= raw), 10 * power)
        values = [step * index for index in range(math.ceil(self.low / step), math.floor(self.high / step) + 1)]
        divisor, unit = next(((size, unit) for size, unit in THOUSANDS if step >= size), (1.0, ""))
        places = wording.decimals([step / divisor])
        return [
            Tick(self.at(value), wording.number(value / divisor, places, signed=True) + (unit if value else ""))
            for value in values
        ]


def _percent(share: float) -> str:
    return f"{share * 100:.2f}%"


def scale(values: Iterable[float | None]) -> Scale:
    """An axis that shows all of the values and zero, with a margin at both ends; nulls have no place."""
    known = [0.0, *(value for value in values if value is not None)]
    low, high = min(known), max(known)
    if high / 2 - low / 2 < sys.float_info.min:
        return Scale(-1.0, 1.0)
    margin = (high * MARGIN) - (low * MARGIN)
    return Scale(max(low - margin, -sys.float_info.max), min(high + margin, sys.float_info.max))


class Axis(NamedTuple):
    """What every row of a picture shares: the ticks, zero, the tolerance band and the region that proves the claim."""

    ticks: list[Tick]
    zero: str
    band: Segment
    claim: Segment


def axis(of: Scale, comparison: Row) -> Axis:
    """The axis with the tolerance band from -tolerance to +tolerance, and where the interval must lie to pass."""
    tolerance = comparison["tolerance"]
    claimed = {
        "improvement": (tolerance, of.high),
        "no_regression": (-tolerance, of.high),
        "equivalence": (-tolerance, tolerance),
    }[comparison["expectation"]]
    return Axis(of.ticks(TICKS), of.at(0.0), of.between(-tolerance, tolerance), of.between(*claimed))


class Label(NamedTuple):
    """Where text begins or ends."""

    x: str
    anchor: str


class Ends(NamedTuple):
    """An interval with the place of its label: over it, on the side that has room."""

    strip: Strip
    label: Label


class Interval(NamedTuple):
    """The interval picture: both intervals and the estimate against the tolerance band."""

    axis: Axis
    bootstrap: Ends
    t: Ends | None


def interval(comparison: Row) -> Interval:
    """Picture of a comparison that has an estimate."""
    effect, tolerance = comparison["effect"], comparison["tolerance"]
    ends = [comparison[name] for name in ("ci_low", "ci_high", "t_low", "t_high")]
    of = scale([effect, *ends, tolerance, -tolerance])

    def between(low: float, high: float) -> Ends:
        line = of.between(low, high)
        on_the_left = low / 2 + high / 2 <= of.low / 2 + of.high / 2
        label = Label(line.x, "start") if on_the_left else Label(line.end, "end")
        return Ends(Strip(line, of.at(effect)), label)

    low, high, t_low, t_high = ends
    return Interval(
        axis(of, comparison), between(low, high), None if t_low is None or t_high is None else between(t_low, t_high)
    )


class Node(NamedTuple):
    """A row of the forest plot: a family, a company of it, or all families."""

    level: str
    name: str
    effect: float
    pairs: int
    weight: float
    low: float
    high: float
    strip: Strip


class Forest(NamedTuple):
    """The forest plot, and how many of its companies it shows."""

    axis: Axis
    nodes: list[Node]
    shown: int
    companies: int


def forest(effects: pl.DataFrame, comparison: Row, limit: int) -> Forest:
    """Families with their companies in order of key; of more than `limit` companies those with the largest effects.

    A family's line spans the means of its companies and a company's those of its tasks: ranges, not intervals.
    """
    by_level = {level: effects.filter(pl.col("level") == level) for level in ("family", "company", "task")}
    shown = by_level["company"].sort(pl.col("effect").abs(), descending=True, maintain_order=True).head(limit)
    tasks = _effects_below(by_level["task"], "family_id", "company_id")
    companies = _effects_below(by_level["company"], "family_id")
    ends = [comparison[name] for name in ("ci_low", "ci_high", "tolerance")]
    of = scale([*ends, -comparison["tolerance"], *by_level["company"]["effect"], *by_level["task"]["effect"]])
    nodes = []
    for family in by_level["family"].sort("family_id").iter_rows(named=True):
        below = companies[family["family_id"],]
        weight = 1 / by_level["family"].height
        nodes.append(_node(of, "family", family, below, weight))
        for company in shown.filter(family_id=family["family_id"]).sort("company_id").iter_rows(named=True):
            key = company["family_id"], company["company_id"]
            nodes.append(_node(of, "company", company, tasks[key], weight / len(below)))
    nodes.append(_total(of, comparison))
    return Forest(axis(of, comparison), nodes, shown.height, by_level["company"].height)


def _effects_below(level: pl.DataFrame, *parent: str) -> dict[tuple[Any, ...], list[float]]:
    return {key: frame["effect"].to_list() for key, frame in level.partition_by(parent, as_dict=True).items()}


def _node(of: Scale, level: str, row: Row, below: Sequence[float], weight: float) -> Node:
    low, high = min(below), max(below)
    marks = tuple(sorted({of.at(value) for value in below}, key=lambda place: float(place[:-1])))
    strip = Strip(of.between(low, high), of.at(row["effect"]), marks)
    return Node(level, row[f"{level}_id"], row["effect"], row["pairs"], weight, low, high, strip)


def _total(of: Scale, comparison: Row) -> Node:
    low, high = comparison["ci_low"], comparison["ci_high"]
    strip = Strip(of.between(low, high), of.at(comparison["effect"]))
    return Node("campaign", "All families", comparison["effect"], comparison["pairs"], 1.0, low, high, strip)


class Bar(NamedTuple):
    """A count and its bar."""

    number: int
    bar: Segment


class Step(NamedTuple):
    """A step of the waterfall, for both arms: what is left, or a class that leaves."""

    name: str
    about: str
    total: bool
    arms: tuple[Bar, ...]


LEAVING = ("missing", "infrastructure_failure", "agent_failure", "inconclusive", "ineligible")


def waterfall(arms: Sequence[Mapping[str, int]], about: Mapping[str, str]) -> list[Step]:
    """From the registered cases, class by class in the order in which they are decided, to the eligible ones."""
    registered = [sum(classes.values()) for classes in arms]
    axes = [Scale(0, max(total, 1)) for total in registered]
    left = list(registered)

    def remaining(name: str) -> Step:
        bars = tuple(Bar(value, of.between(0, value)) for of, value in zip(axes, left, strict=True))
        return Step(name, about[name], total=True, arms=bars)

    steps = [remaining("registered")]
    for name in LEAVING:
        bars = []
        for place, (of, classes) in enumerate(zip(axes, arms, strict=True)):
            bars.append(Bar(classes[name], of.between(left[place] - classes[name], left[place])))
            left[place] -= classes[name]
        steps.append(Step(name, about[name], total=False, arms=tuple(bars)))
    return [*steps, remaining("eligible")]


def bars(counts: Sequence[Sequence[int]]) -> list[tuple[Bar, ...]]:
    """Rows of counts with bars, all on one scale."""
    of = Scale(0, max((value for row in counts for value in row), default=0) or 1)
    return [tuple(Bar(value, of.between(0, value)) for value in row) for row in counts]


def shares(counts: Sequence[int]) -> list[Segment]:
    """Adjacent parts of one bar."""
    of = Scale(0, sum(counts) or 1)
    return [of.between(sum(counts[:place]), sum(counts[: place + 1])) for place in range(len(counts))]
