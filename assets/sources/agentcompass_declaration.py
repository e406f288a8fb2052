"""What a `run.json` declares: who ran, and how the run wants to be measured.

Here: from bytes to the declaration, or the exact place of its first offence. There is one file per run, so that all are
read carefully. Not here: what a declaration does to a metric (`assets.benchmarks`).
"""

from collections.abc import Sequence
from typing import Any, NamedTuple

from assets.sources import json_text
from assets.sources.agentcompass_reading import check_identifier, unexpected
from assets.sources.agentcompass_types import Metric, Run
from assets.sources.documents import Fault, storable
from assets.sources.json_text import Overflow, members
from assets.sources.json_types import read
from assets.sources.scalars import as_number

NODE_AGGREGATIONS = ("leaf", "unweighted", "weighted", "weighted_by_count")
EXCLUDE = "exclude"
ROOT = "overall"

Node = dict[str, Any]
MetricRow = tuple[str, str, Sequence[str] | None, bool]
"""Name, kind, reducers, whether primary."""


class Declaration(NamedTuple):
    """A run as its file declares it; everything from `k` on as `benchmark_runs` has it."""

    run_id: str | None
    benchmark: str | None
    model: str | None
    harness: str | None
    k: int | None
    strategy: str | None
    aggregation: str | None
    score_key: str | None
    missing_score: float | None
    exclude_missing: bool | None
    revision: str | None
    hierarchy: str | None
    metric_contract: list[MetricRow] | None


def read_run(content: bytes, max_depth: int) -> Declaration:
    """A `run.json`.

    Raises:
        Fault: it is none, or contradicts itself.
    """
    value = json_text.parse(content, max_depth)
    run = read(Run, value)
    hierarchies = [_hierarchy(content) for member, content in members(value) if member == "categoryHierarchy"]
    hierarchy = hierarchies[-1] if hierarchies else None
    missing_score, exclude_missing = _missing_score(run.missing_score)
    return Declaration(
        run.run_id,
        run.benchmark,
        run.model,
        run.harness,
        run.k,
        run.strategy,
        _aggregation(run.aggregation, hierarchy),
        run.score_key,
        missing_score,
        exclude_missing,
        run.revision,
        json_text.canonical(hierarchy).decode() if hierarchy else None,
        [_metric(name, metric) for name, metric in run.metrics.items()] if run.metrics else None,
    )


def _metric(name: str, metric: Metric) -> MetricRow:
    """A row of the metric contract."""
    check_identifier(name, f"$.metrics.{name}")
    if metric.kind == "scalar" and metric.reducers and "pass" in metric.reducers:
        raise Fault("contradiction", f"$.metrics.{name}.reducers", "a scalar does not pass", stage="contract")
    return name, metric.kind, metric.reducers, bool(metric.primary)


def _aggregation(declared: str | None, hierarchy: Node | None) -> str | None:
    """A hierarchy decides; the framework's name for the mean over tasks is a synonym."""
    if hierarchy:
        return "category_hierarchy"
    if declared == "category_hierarchy":
        raise Fault("contradiction", "$.categoryHierarchy", "required by the aggregation, and absent", stage="contract")
    return "micro" if declared == "micro_weighted" else declared


def _missing_score(value: Any) -> tuple[float | None, bool | None]:
    """What fills a missing score, and whether missing scores are excluded instead; both null: undeclared."""
    if value is None:
        return None, None
    if value == EXCLUDE:
        return None, True
    number = as_number(value)
    if number is None:
        reason = "out_of_range" if isinstance(value, Overflow | int) and not isinstance(value, bool) else "wrong_type"
        raise unexpected(
            "unknown_value" if isinstance(value, str) else reason, "$.missingScore", "a number or exclude", value
        )
    return number, False


def _hierarchy(value: Any) -> Node | None:
    """A hierarchy of categories, its known members alone: one root, and no category at two leaves; null: none.

    Raises:
        Fault: it is none.
    """
    path = "$.categoryHierarchy"
    if value is None or value == {}:
        return None
    if not isinstance(value, dict):
        raise unexpected("wrong_type", path, "an object", value)
    if ROOT not in value:
        raise Fault("missing_field", f"{path}.{ROOT}", "required, and absent")
    return {ROOT: _node(ROOT, value[ROOT], f"{path}.{ROOT}", set())}


def _node(name: str, node: Any, path: str, leaves: set[str]) -> Node:
    """A node with everything below it; `leaves` are the names of those seen before, and gains its own."""
    if not isinstance(node, dict):
        raise unexpected("wrong_type", path, "an object", node)
    aggregation, weight, children = (node.get(member) for member in ("aggregation", "weight", "children"))
    if aggregation is not None and aggregation not in NODE_AGGREGATIONS:
        reason = "unknown_value" if isinstance(aggregation, str) else "wrong_type"
        raise unexpected(reason, f"{path}.aggregation", f"one of {', '.join(NODE_AGGREGATIONS)}", aggregation)
    if weight is not None:
        _check_weight(weight, f"{path}.weight")
    if children is not None and not isinstance(children, dict):
        raise unexpected("wrong_type", f"{path}.children", "an object", children)
    if aggregation == "leaf" or not children:
        if name in leaves:
            raise Fault("duplicate_category", path, f"a second leaf {name!r}", stage="contract")
        leaves.add(name)
        return {"aggregation": "leaf", "weight": weight}
    below = {
        str(storable(child)): _node(child, content, f"{path}.children.{child}", leaves)
        for child, content in children.items()
    }
    return {"aggregation": aggregation, "weight": weight, "children": below}


def _check_weight(value: Any, path: str) -> None:
    weight = as_number(value)
    if weight is None and (isinstance(value, bool) or not isinstance(value, int | float)):
        raise unexpected("wrong_type", path, "a number", value)
    if weight is None or weight < 0:
        raise unexpected("out_of_range", path, "a number of at least 0", value)
