"""Which metrics a run has."""

import pytest

from tests.assets.benchmarks.layer import ERROR, Row, attempts, both, figure, metrics, run, scored

FIRST = "agentcompass-0"


def contract(**declared: Row) -> Row:
    """A run with a metric contract."""
    default = {"kind": "scalar", "reducers": None, "primary": False}
    return run(metric_contract=[{"name": name, **default, **told} for name, told in declared.items()])


def series(*inputs: list[Row]) -> list[tuple[str, str]]:
    rows = metrics(*inputs).filter(policy="strict", scope="overall")
    return sorted(set(rows.select("metric", "reducer").rows()))


@pytest.mark.parametrize(
    ("scores", "primary"),
    [
        ({"zeta": 1.0, "correct": True, "score": 0.5}, "correct"),
        ({"zeta": 1.0, "score": 0.5}, "score"),
        ({"zeta": 1.0, "beta": 0.5, "eta": None}, "beta"),
    ],
)
def test_the_primary_metric_without_a_contract(scores: dict[str, float | None], primary: str) -> None:
    rows = metrics(attempts("t", scored(**scores)))
    assert rows.filter("headline")["metric"].unique().to_list() == [primary]
    assert set(rows["metric"]) == set(scores)


def test_only_booleans_make_a_metric_binary() -> None:
    made = attempts("t", scored(a=True, b=True), scored(a=False, b=0.5, c=1.0), scored(a=None, b=None))
    assert series(made) == [
        ("a", "avg"),
        ("a", "pass"),
        ("a", "pass_unbiased"),
        ("b", "avg"),
        ("c", "avg"),
    ]


def test_a_contract_says_which_metrics_there_are_and_how_they_are_reduced() -> None:
    declared = contract(
        correct={"kind": "binary_success", "primary": True},
        once={"kind": "binary_success", "reducers": ["avg"]},
        steps={"reducers": ["avg", "pass"]},
        alone={"reducers": []},
    )
    made = attempts("t", *[scored(correct=True, once=True, steps=3.0, alone=1.0, undeclared=1.0)] * 2)
    assert series(made, [declared]) == [
        ("correct", "avg"),
        ("correct", "pass"),
        ("correct", "pass_unbiased"),
        ("once", "avg"),
        ("steps", "avg"),
    ]
    rows = metrics(made[:1], [declared])
    assert sorted(set(rows.filter(reducer="native")["metric"])) == ["alone", "correct", "once", "steps"]


def test_without_a_declared_primary_every_metric_is_quoted() -> None:
    rows = metrics(attempts("t", scored(a=1.0, b=2.0)), [contract(a={}, b={})])
    assert rows.filter("headline")["metric"].to_list() == ["a", "b"]


def test_a_declared_metric_that_nobody_has_is_there_with_its_counts() -> None:
    rows = metrics(attempts("t", scored(a=1.0)), [contract(b={"primary": True})])
    assert both(rows, metric="b", reducer="native") == (None, 0.0)


def test_a_number_is_no_success() -> None:
    declared = contract(correct={"kind": "binary_success", "primary": True})
    assert both(metrics(attempts("t", scored(correct=1.0)), [declared]), reducer="native") == (None, 0.0)


@pytest.mark.parametrize(
    ("outcomes", "score_key", "found"),
    [
        ([scored(correct=True)], None, {"accuracy"}),
        ([scored(correct=True, score=0.5)], None, {"accuracy", "score"}),
        ([scored(score=0.5, depth=1.0)], None, {"score"}),
        ([scored(correct=None, score=None)], None, {"accuracy"}),
        ([scored(correct=None, score=0.5)], None, {"score"}),
        ([ERROR], None, {"accuracy"}),
        ([scored(correct=True, score=0.5, depth=1.0)], "depth", {"accuracy", "depth"}),
        ([scored(correct=True, score=0.5)], "score", {"accuracy", "score"}),
        ([scored(depth=1.0)], "depth", {"depth"}),
        ([ERROR], "depth", {"depth"}),
    ],
)
def test_the_metrics_of_the_first_generation(outcomes: list[Row], score_key: str | None, found: set[str]) -> None:
    rows = metrics(attempts("t", *outcomes, format_=FIRST), [run(score_key=score_key)])
    assert set(rows["metric"]) == found


def test_the_first_generation_averages_a_score_and_never_passes_it() -> None:
    made = attempts("t", scored(correct=True, score=0.25), scored(correct=False, score=0.75), format_=FIRST)
    rows = metrics(made, [run(k=2)])
    assert both(rows, metric="score", reducer="avg") == (0.5, 0.5)
    assert both(rows, metric="accuracy", reducer="pass") == (1, 1)
    assert set(rows.filter(metric="score")["reducer"]) == {"avg"}


def test_what_a_run_says_of_its_benchmark_comes_before_what_it_says_of_all() -> None:
    made = attempts("t", True, True) + attempts("t", True, True, benchmark="other")
    rows = metrics(made, [run(k=3), run(benchmark="other", k=4)]).filter(reducer="avg", policy="strict")
    assert rows.filter(scope="overall").select("benchmark", "k").rows() == [("bench", 3), ("other", 4)]


def test_of_several_files_about_a_run_the_greatest_uri_declares() -> None:
    files = [run(k=3, uri="a"), run(k=5, uri="c"), run(k=4, uri="b")]
    assert figure(metrics(attempts("t", True), files), reducer="avg", policy="strict")["k"] == 5
