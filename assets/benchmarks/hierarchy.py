"""Category hierarchies: from the figures of categories to those of the nodes above them.

Here: reading a declared tree, which of its leaves a category is, and the value of each node. Not here: the figures of
categories (`aggregation`). Plain Python over the trees of runs, which are small; tasks are not touched.
"""

import json
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import reduce
from itertools import groupby
from operator import add
from typing import Any, NamedTuple

import polars as pl

from assets.benchmarks.aggregation import COUNTS, VALUED

ROOT = "overall"
AGGREGATIONS = ("unweighted", "weighted", "weighted_by_count")
INVALID, UNKNOWN = "invalid_hierarchy", "category_not_in_hierarchy"
SIZES = tuple(f"{policy}_n" for policy in VALUED)
COLUMNS: Mapping[str, pl.DataType] = {
    "series": pl.UInt32(),
    "category": pl.String(),
    **dict.fromkeys(COUNTS, pl.Int64()),
    **dict.fromkeys(VALUED, pl.Float64()),
    **dict.fromkeys(SIZES, pl.Int64()),
    "reason": pl.String(),
}
"""Columns of a node: its series, its path, its figures, and why it has no value though there are some below it."""


class HierarchyError(ValueError):
    """A declared hierarchy is no tree of weighted nodes."""


class Node(NamedTuple):
    """A node of a hierarchy and its path from the root on; a leaf has no children, and a category's name."""

    name: str
    path: str
    aggregation: str
    weight: float
    children: tuple["Node", ...]


class Figures(NamedTuple):
    """What a node comes to: `COUNTS`, and per policy of `VALUED` the value and the number of units behind it."""

    counts: tuple[int, ...]
    values: tuple[float | None, ...]
    sizes: tuple[int, ...]
    reason: str | None = None


NOTHING = Figures((0,) * len(COUNTS), (None,) * len(VALUED), (0,) * len(VALUED))


def nodes(categories: pl.DataFrame) -> pl.DataFrame:
    """One row per series and node of its hierarchy, by `COLUMNS`, children before their parents, the root last.

    A root that may have no value says why. Where there is no tree to go by, a root without tasks stands for it.

    Args:
        categories: the figures of categories, by `series` and `category`, with the declared `hierarchy` of the series.
    """
    figures = ["series", "category", *COUNTS, *VALUED, *SIZES]
    declared = categories.sort("series", "category").select("hierarchy", *figures)
    rows = []
    trees: dict[str | None, Node | None] = {}
    for (text, series), members in groupby(declared.iter_rows(), key=lambda row: row[:2]):
        if text not in trees:
            trees[text] = _tree_or_none(text)
        rows += [
            (series, path, *figures.counts, *figures.values, *figures.sizes, figures.reason)
            for path, figures in reduced(trees[text], dict(map(_figures, members)))
        ]
    return pl.DataFrame(rows, schema=dict(COLUMNS), orient="row")


def _figures(row: Sequence[Any]) -> tuple[str, Figures]:
    name, *rest = row[2:]
    counts, values, sizes = rest[: len(COUNTS)], rest[len(COUNTS) : -len(SIZES)], rest[-len(SIZES) :]
    return name, Figures(tuple(counts), tuple(values), tuple(sizes))


def _tree_or_none(text: str | None) -> Node | None:
    try:
        return tree(text)
    except HierarchyError:
        return None


def tree(text: str | None) -> Node:
    """The root of a declared hierarchy, a JSON object of exactly one node `overall`.

    Raises:
        HierarchyError: it is none, or a node is no object, of unknown aggregation, or has a weight that is no finite
            number from 0 on.
    """
    declared = json.loads(text) if text is not None else None
    if not isinstance(declared, dict) or list(declared) != [ROOT]:
        raise HierarchyError(f"a hierarchy is an object of one node {ROOT!r}")
    return _node(ROOT, declared[ROOT], "")


def _node(name: str, declared: Any, above: str) -> Node:
    path = above + escaped(name)
    children = declared.get("children") or {} if isinstance(declared, dict) else None
    if not isinstance(children, dict):
        raise HierarchyError(f"{path}: no object")
    aggregation = declared.get("aggregation") or AGGREGATIONS[0]
    if aggregation == "leaf":
        children = {}
    elif aggregation not in AGGREGATIONS:
        raise HierarchyError(f"{path}: unknown aggregation")
    weight = declared.get("weight")
    if weight is None:
        weight = 1.0
    if isinstance(weight, bool) or not isinstance(weight, int | float) or not 0 <= weight < math.inf:
        raise HierarchyError(f"{path}: a weight is a finite number from 0 on")
    below = tuple(_node(child, told, f"{path}/") for child, told in children.items())
    return Node(name, path, aggregation, float(weight), below)


def escaped(name: str) -> str:
    """A part of a path, escaped as in a JSON pointer."""
    return name.replace("~", "~0").replace("/", "~1")


def reduced(root: Node | None, categories: Mapping[str, Figures]) -> Iterator[tuple[str, Figures]]:
    """Path and figures of every node, the root last; the root has no value where a category has no leaf of its own."""
    if root is None:
        yield ROOT, NOTHING._replace(reason=INVALID)
        return
    places = placed(root, categories)
    *below, (path, figures) = _reduced(root, places)
    yield from below
    refused = UNKNOWN if sum(map(len, places.values())) < len(categories) else figures.reason
    yield path, figures if refused is None else figures._replace(values=NOTHING.values, reason=refused)


def placed(root: Node, categories: Mapping[str, Figures]) -> dict[str, list[Figures]]:
    """The figures of the categories by the path of their leaf; a category that is not exactly one leaf has no place.

    A leaf is a category by its path below the root, else by its name, else by a name that is itself a joined path.
    """
    leaves = list(_leaves(root))
    names = [
        [leaf.path.removeprefix(f"{ROOT}/") for leaf in leaves],
        [escaped(leaf.name) for leaf in leaves],
        [leaf.name for leaf in leaves],
    ]
    places: dict[str, list[Figures]] = {}
    for category, figures in categories.items():
        known = next((told for told in names if category in told), [])
        if known.count(category) == 1:
            places.setdefault(leaves[known.index(category)].path, []).append(figures)
    return places


def _leaves(node: Node) -> Iterator[Node]:
    if not node.children:
        yield node
    for child in node.children:
        yield from _leaves(child)


def _reduced(node: Node, places: Mapping[str, list[Figures]]) -> list[tuple[str, Figures]]:
    """Path and figures of the node, last, behind those of all below it."""
    if not node.children:
        return [(node.path, combined(places.get(node.path, []), "weighted_by_count", ()))]
    below = [_reduced(child, places) for child in node.children]
    figures = combined([last for *_, (_, last) in below], node.aggregation, [child.weight for child in node.children])
    return [*(row for rows in below for row in rows), (node.path, figures)]


def combined(parts: Sequence[Figures], aggregation: str, weights: Sequence[float]) -> Figures:
    """The figures of parts together: counts add up; a part without a value drops out, and the others' weights remain.

    Weights that are all 0 say nothing of the parts that have a value: that node and all above it are withheld.
    """
    if len(parts) == 1 and aggregation == "weighted_by_count":
        return parts[0]
    withheld = next((part.reason for part in parts if part.reason is not None), None)
    values: list[float | None] = []
    for policy in range(len(VALUED)):
        of_part = {
            "unweighted": [1.0] * len(parts),
            "weighted": weights,
            "weighted_by_count": [float(part.sizes[policy]) for part in parts],
        }[aggregation]
        pairs = zip((part.values[policy] for part in parts), of_part, strict=True)
        known = [(value, weight) for value, weight in pairs if value is not None]
        if known and not any(weight for _, weight in known):
            withheld = INVALID
        values.append(weighted_mean(known) if withheld is None else None)
    counts = tuple(map(sum, zip(*(part.counts for part in (NOTHING, *parts)), strict=True)))
    sizes = tuple(map(sum, zip(*(part.sizes for part in (NOTHING, *parts)), strict=True)))
    return Figures(counts, tuple(values) if withheld is None else NOTHING.values, sizes, withheld)


def weighted_mean(pairs: Sequence[tuple[float, float]]) -> float | None:
    """The weighted mean of (value, weight), weights not all 0; null of nothing."""
    if not pairs:
        return None
    total, weights = plain_sum(value * weight for value, weight in pairs), plain_sum(weight for _, weight in pairs)
    if math.isfinite(total) and math.isfinite(weights):
        return total / weights
    greatest = max(weight for _, weight in pairs)
    shares = [weight / greatest for _, weight in pairs]
    whole = plain_sum(shares)
    return plain_sum(value * (share / whole) for (value, _), share in zip(pairs, shares, strict=True))


def plain_sum(terms: Iterable[float]) -> float:
    """One addition after another; since Python 3.12 `sum` compensates, which gives other last bits."""
    return reduce(add, terms, 0.0)
