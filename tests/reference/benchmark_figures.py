"""How the units of one figure become its published rows: policies, counts, categories and hierarchies.

Not here: what a unit is worth; that depends on the format.
"""

import json
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from .benchmark_model import Figure, Group, Row, Unit, in_order, mean

ROOT, UNCATEGORIZED = "overall", "__uncategorized__"

Path = tuple[str, ...]


@dataclass(frozen=True)
class Breakdown:
    """How task values become one; `categories` is whether there are rows per category and node at all."""

    aggregation: str = "micro"
    categories: bool = False
    hierarchy: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Part:
    """What one row is of: its units, and the value of the policy at hand."""

    scope: str
    category: str | None
    units: Sequence[Unit]
    value: float | None
    reason: str | None = None


def breakdown_of(group: Group) -> Breakdown:
    """Only task results have categories, and only their run's own file says how these are combined."""
    if group.names["source"] != "agentcompass":
        return Breakdown()
    text = group.run.get("hierarchy")
    if text:
        return Breakdown("category_hierarchy", categories=True, hierarchy=json.loads(text))
    return Breakdown(group.run.get("aggregation") or "micro", categories=True)


def figure_rows(figure: Figure, breakdown: Breakdown) -> list[Row]:
    """Every row of a figure: policy by policy, overall, per category and per node of a hierarchy."""
    withheld = any(unit.invalidated for unit in figure.units)
    parts = {policy: _parts(figure.units, breakdown, policy) for policy in figure.units[0].values}
    refused = {(part.scope, part.category): part.reason for of in parts.values() for part in of if part.reason}
    return [
        _row(figure, breakdown, policy, _refused(part, refused), withheld=withheld)
        for policy, of in parts.items()
        for part in of
    ]


def _refused(part: Part, refused: Mapping[tuple[str, str | None], str]) -> Part:
    """A part that is refused under one policy is refused under all: it is no figure to compare."""
    reason = refused.get((part.scope, part.category))
    return part if reason is None else replace(part, value=None, reason=reason)


def _row(figure: Figure, breakdown: Breakdown, policy: str, part: Part, *, withheld: bool) -> Row:
    total = len(part.units)
    evaluated = sum(unit.evaluated for unit in part.units)
    invalidated = sum(unit.invalidated for unit in part.units)
    bound = "upper_bound" if policy in figure.upper_bound else None
    otherwise = bound if part.value is not None else "nothing_evaluated"
    return {
        "metric": figure.metric,
        "reducer": figure.reducer,
        "k": figure.k,
        "policy": policy,
        "aggregation": breakdown.aggregation,
        "scope": part.scope,
        "category": part.category,
        "value": None if withheld else part.value,
        "reference_value": part.value if withheld else None,
        "headline": part.scope == "overall" and policy == figure.headline,
        "total": total,
        "evaluated": evaluated,
        "error": sum(unit.error for unit in part.units),
        "unavailable": total - evaluated - invalidated,
        "invalidated": invalidated,
        "reason": part.reason or ("invalidated" if withheld else otherwise),
    }


def _parts(units: Sequence[Unit], breakdown: Breakdown, policy: str) -> list[Part]:
    if not breakdown.categories:
        return [Part("overall", None, units, _mean(units, policy))]
    by_category: dict[Path, list[Unit]] = {}
    for unit in units:
        by_category.setdefault(unit.category if any(unit.category) else (UNCATEGORIZED,), []).append(unit)
    categories = [
        Part("category", joined(path), members, _mean(members, policy)) for path, members in by_category.items()
    ]
    if breakdown.aggregation == "category_hierarchy":
        nodes = _Hierarchy(by_category, policy).nodes(breakdown.hierarchy)
        return [Part("overall", None, units, nodes[-1].value, nodes[-1].reason), *categories, *nodes]
    values = [part.value for part in categories]
    overall = mean(values) if breakdown.aggregation == "category_mean" else _mean(units, policy)
    return [Part("overall", None, units, overall), *categories]


def _mean(units: Sequence[Unit], policy: str) -> float | None:
    return mean([unit.values[policy] for unit in units])


def joined(path: Iterable[str]) -> str:
    """A path as one string, its parts escaped as in a JSON pointer."""
    return "/".join(part.replace("~", "~0").replace("/", "~1") for part in path)


@dataclass(frozen=True)
class _Node:
    part: Part
    weight: float
    count: int


class _Hierarchy:
    """The nodes of a hierarchy under one policy, the whole last.

    A leaf takes the categories of its name, if no other leaf has it, and of its path below the top.
    """

    def __init__(self, by_category: Mapping[Path, list[Unit]], policy: str) -> None:
        self.by_category, self.policy = by_category, policy
        self.claimed: set[Path] = set()
        self.names: Counter[str] = Counter()
        self.parts: list[Part] = []

    def nodes(self, hierarchy: Mapping[str, Any]) -> list[Part]:
        if set(hierarchy) != {ROOT}:
            return [Part("hierarchy", ROOT, [], None, "invalid_hierarchy")]
        self.names.update(_leaves(ROOT, hierarchy[ROOT]))
        self._node((ROOT,), hierarchy[ROOT])
        whole = self.parts.pop()
        if self.claimed != set(self.by_category):
            whole = replace(whole, value=None, reason="category_not_in_hierarchy")
        return [*self.parts, whole]

    def _node(self, path: Path, spec: Mapping[str, Any]) -> _Node:
        if children := _children(spec):
            below = [self._node((*path, name), child) for name, child in children.items()]
            units = [unit for child in below for unit in child.part.units]
            value, reason = _combined(spec.get("aggregation") or "unweighted", below)
        else:
            known = [category for category in self.by_category if self._takes(path, category)]
            self.claimed.update(known)
            units = [unit for category in known for unit in self.by_category[category]]
            value, reason = _mean(units, self.policy), None
        self.parts.append(Part("hierarchy", joined(path), units, value, reason))
        weight = 1.0 if spec.get("weight") is None else float(spec["weight"])
        return _Node(self.parts[-1], weight, sum(unit.values[self.policy] is not None for unit in units))

    def _takes(self, path: Path, category: Path) -> bool:
        named = path[-1] in {category[0] if len(category) == 1 else None, joined(category)}
        return category == path[1:] or (named and self.names[path[-1]] == 1)


def _children(spec: Mapping[str, Any]) -> Mapping[str, Any]:
    children: Mapping[str, Any] = {} if spec.get("aggregation") == "leaf" else spec.get("children") or {}
    return children


def _leaves(name: str, spec: Mapping[str, Any]) -> list[str]:
    children = _children(spec)
    return [leaf for below in children for leaf in _leaves(below, children[below])] if children else [name]


def _combined(aggregation: str, below: Sequence[_Node]) -> tuple[float | None, str | None]:
    """The children's values by their weights; one without a value drops out, and the others share its weight."""
    if any(child.part.reason for child in below):
        return None, "invalid_hierarchy"
    valued = [(child.part.value, child) for child in below if child.part.value is not None]
    if not valued:
        return None, None
    weights = {
        "unweighted": [1.0 for _ in valued],
        "weighted": [child.weight for _, child in valued],
        "weighted_by_count": [float(child.count) for _, child in valued],
    }[aggregation]
    total = in_order(weights)
    if total <= 0:
        return None, "invalid_hierarchy"
    return in_order(value * (weight / total) for (value, _), weight in zip(valued, weights, strict=True)), None
