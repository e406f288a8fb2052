"""Categories, their means and their hierarchies."""

import json
from typing import Any

import pytest

from tests.assets.benchmarks.layer import ERROR, Row, attempts, both, counts, figure, metrics, run

A, B = {"category": ["a"]}, {"category": ["b"]}


def tasks(**outcomes: list[Any]) -> list[Row]:
    """Tasks of one attempt each, by category."""
    return [
        row
        for category, given in outcomes.items()
        for number, outcome in enumerate(given)
        for row in attempts(f"{category}{number}", outcome, category=[category])
    ]


def declared(*, aggregation: str | None = None, **children: Any) -> list[Row]:
    """A run with a hierarchy of these nodes below its root."""
    root = {"children": children} | ({"aggregation": aggregation} if aggregation else {})
    return [run(hierarchy=json.dumps({"overall": root}))]


@pytest.mark.parametrize(
    ("path", "key"),
    [
        (["web/nav"], "web~1nav"),
        (["a~b/c"], "a~0b~1c"),
        (["web", "nav"], "web/nav"),
        (["x", "", "y"], "x//y"),
        (["überall", "<script>"], "überall/<script>"),
        ([], "__uncategorized__"),
        ([""], "__uncategorized__"),
        (None, "__uncategorized__"),
    ],
)
def test_a_category_path_is_one_row(path: list[str] | None, key: str) -> None:
    rows = metrics(attempts("t", True, category=path))
    assert rows.filter(scope="category")["category"].unique().to_list() == [key]


def test_every_task_is_in_exactly_one_category() -> None:
    made = tasks(a=[True, ERROR], b=[False]) + attempts("c", ERROR) + attempts("d", None)
    rows = metrics(made).filter(reducer="native", policy="strict")
    of_categories = rows.filter(scope="category").select("category", "total", "evaluated", "unavailable").rows()
    assert of_categories == [("__uncategorized__", 2, 0, 2), ("a", 2, 1, 1), ("b", 1, 1, 0)]
    assert counts(figure(rows, reducer="native")) == (5, 2, 3, 3, 0)


def test_a_task_whose_attempts_disagree_is_in_the_category_of_the_first_that_tells() -> None:
    made = attempts("t", True, True, True)
    made[1] |= B
    made[2] |= A
    assert metrics(made).filter(scope="category")["category"].unique().to_list() == ["b"]


def test_category_means() -> None:
    made = tasks(a=[True, True, True, False], b=[False], c=[ERROR])
    rows = metrics(made, [run(aggregation="category_mean")])
    assert both(rows, reducer="native") == (0.375, 0.25)
    assert set(rows["aggregation"]) == {"category_mean"}
    assert both(metrics(made), reducer="native") == (0.6, 0.5)


def test_nodes_are_weighted_and_a_node_without_a_value_drops_out() -> None:
    made = tasks(py=[True, False], js=[ERROR], nav=[True])
    coding = {"weight": 3, "children": {"py": {}, "js": {}}}
    rows = metrics(made, declared(aggregation="weighted", coding=coding, nav={"aggregation": "leaf", "weight": 1}))
    assert both(rows, reducer="native") == (0.625, (0.25 * 3 + 1) / 4)
    nodes = rows.filter(scope="hierarchy", reducer="native", policy="scored_only")
    assert nodes.select("category", "value", "total", "evaluated").rows() == [
        ("overall", 0.625, 4, 3),
        ("overall/coding", 0.5, 3, 2),
        ("overall/coding/js", None, 1, 0),
        ("overall/coding/py", 0.5, 2, 2),
        ("overall/nav", 1.0, 1, 1),
    ]
    assert set(rows["aggregation"]) == {"category_hierarchy"}


@pytest.mark.parametrize(
    ("aggregation", "weights", "value"),
    [
        (None, (5, 1), 0.375),
        ("unweighted", (5, 1), 0.375),
        ("weighted", (3, 1), (0.75 * 3 + 0) / 4),
        ("weighted", (None, 3), 0.75 / 4),
        ("weighted", (0, 1), 0.0),
        ("weighted", (1e308, 1e308), 0.375),
        ("weighted_by_count", (0, 9), 3 / 5),
    ],
)
def test_aggregations_of_nodes(aggregation: str | None, weights: tuple[float | None, ...], value: float) -> None:
    made = tasks(a=[True, True, True, False], b=[False])
    nodes = {name: {"weight": weight} for name, weight in zip("ab", weights, strict=True)}
    rows = metrics(made, declared(aggregation=aggregation, **nodes))
    assert figure(rows, reducer="native", policy="strict")["value"] == pytest.approx(value, abs=1e-12)


def test_weights_that_are_all_nothing_say_nothing() -> None:
    rows = metrics(tasks(a=[True], b=[True]), declared(aggregation="weighted", a={"weight": 0}, b={"weight": 0}))
    told = figure(rows, reducer="native", policy="strict")
    assert (told["value"], told["reason"]) == (None, "invalid_hierarchy")


@pytest.mark.parametrize(
    ("category", "children", "node"),
    [
        (["web/nav"], {"web/nav": {}}, "overall/web~1nav"),
        (["web", "nav"], {"web": {"children": {"nav": {}}}}, "overall/web/nav"),
        (["web", "nav"], {"web/nav": {}}, "overall/web~1nav"),
        (["nav"], {"web": {"children": {"nav": {}}}}, "overall/web/nav"),
        (["nav"], {"web": {"children": {"nav": {}}}, "nav": {}}, "overall/nav"),
        (None, {"__uncategorized__": {}}, "overall/__uncategorized__"),
    ],
)
def test_the_leaf_of_a_category(category: list[str] | None, children: dict[str, Any], node: str) -> None:
    rows = metrics(attempts("t", True, category=category), declared(**children))
    assert figure(rows, reducer="native", policy="strict", scope="hierarchy", category=node)["value"] == 1
    assert figure(rows, reducer="native", policy="strict")["value"] == 1


@pytest.mark.parametrize(
    ("children", "reason"),
    [
        ({"a": {}}, "category_not_in_hierarchy"),
        ({"a": {}, "b": {"children": {"c": {}}}}, "category_not_in_hierarchy"),
        ({"a": {}, "x": {"children": {"b": {}}}, "y": {"children": {"b": {}}}}, "category_not_in_hierarchy"),
        ({"a": {}, "b": {"weight": -1}}, "invalid_hierarchy"),
        ({"a": {}, "b": {"weight": True}}, "invalid_hierarchy"),
        ({"a": {}, "b": {"aggregation": "median", "children": {"c": {}}}}, "invalid_hierarchy"),
        ({"a": {}, "b": []}, "invalid_hierarchy"),
    ],
)
def test_a_hierarchy_that_does_not_know_a_category_gives_no_figure(children: dict[str, Any], reason: str) -> None:
    rows = metrics(tasks(a=[True], b=[True]), declared(**children))
    for policy in ("strict", "scored_only"):
        told = figure(rows, reducer="native", policy=policy)
        assert (told["value"], told["reason"], counts(told)) == (None, reason, (2, 2, 0, 0, 0))
        assert figure(rows, reducer="native", policy=policy, scope="category", category="b")["value"] == 1


@pytest.mark.parametrize("hierarchy", ["null", "[]", "{}", '{"root": {}}', '{"overall": {}, "more": {}}'])
def test_a_hierarchy_is_a_tree_below_overall(hierarchy: str) -> None:
    rows = metrics(tasks(a=[True]), [run(hierarchy=hierarchy)])
    assert figure(rows, reducer="native", policy="strict")["reason"] == "invalid_hierarchy"


def test_a_node_that_nothing_belongs_to_has_no_tasks() -> None:
    rows = metrics(tasks(a=[True]), declared(a={}, unused={}))
    told = figure(rows, reducer="native", policy="strict", scope="hierarchy", category="overall/unused")
    assert (told["value"], counts(told)) == (None, (0, 0, 0, 0, 0))
    assert figure(rows, reducer="native", policy="strict")["value"] == 1


def test_a_fatal_issue_moves_the_figures_of_nodes_too() -> None:
    rows = metrics(tasks(a=[True], b=[{"fatal": True}]), declared(a={}, b={}))
    for policy, reference in (("scored_only", 1.0), ("strict", 0.5)):
        told = figure(rows, reducer="native", policy=policy, scope="hierarchy", category="overall")
        assert (told["value"], told["reference_value"], told["invalidated"]) == (None, reference, 1)


def test_two_runs_each_have_their_own_tree() -> None:
    made = tasks(a=[True], b=[False]) + [row | {"run_id": "two"} for row in tasks(a=[True], b=[False])]
    one, two = declared(a={}, b={})[0], declared(aggregation="weighted", a={"weight": 3}, b={})[0] | {"run_id": "two"}
    rows = metrics(made, [one, two]).filter(scope="overall", reducer="native", policy="strict")
    assert rows["value"].to_list() == [0.5, 0.75]
