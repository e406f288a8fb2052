"""What one task's attempts come to under both policies, and which of the figures is the one to quote."""

from typing import Any

import pytest

from tests.assets.benchmarks.layer import ERROR, Row, attempts, both, counts, figure, metrics, observed, run, scored

SKIPPED = {"status": "skipped", "error": True}
FIRST = "agentcompass-0"


@pytest.mark.parametrize(
    ("outcomes", "strategy", "reducer", "values", "told"),
    [
        ([True, False, True], "avg", "avg", (2 / 3, 2 / 3), (1, 1, 0, 0, 0)),
        ([True, ERROR, None], "avg", "avg", (None, 1 / 3), (1, 0, 1, 1, 0)),
        ([True, ERROR, None], "avg", "pass", (1, 1), (1, 1, 1, 0, 0)),
        ([False, ERROR, None], "avg", "pass", (None, 0), (1, 0, 1, 1, 0)),
        ([False, True], "pass", "pass", (1, 1), (1, 1, 0, 0, 0)),
        ([False, False], "avg", "pass", (None, 0), (1, 0, 1, 1, 0)),
        ([False, False, False], "avg", "pass", (0, 0), (1, 1, 0, 0, 0)),
        ([ERROR, ERROR, ERROR], "avg", "avg", (None, 0), (1, 0, 1, 1, 0)),
        ([None, None, None], "avg", "avg", (None, 0), (1, 0, 1, 1, 0)),
        ([True, False, SKIPPED], "avg", "avg", (None, 1 / 3), (1, 0, 0, 1, 0)),
        ([True, False, True, False], "avg", "avg", (2 / 3, 2 / 3), (1, 1, 0, 0, 0)),
    ],
)
def test_one_task_of_three_attempts(
    outcomes: list[Any], strategy: str, reducer: str, values: tuple[float | None, float], told: tuple[int, ...]
) -> None:
    rows = metrics(attempts("t", *outcomes, plan_k=3, plan_strategy=strategy))
    assert both(rows, metric="correct", reducer=reducer, k=3) == values
    assert counts(figure(rows, metric="correct", reducer=reducer, policy="strict")) == told


@pytest.mark.parametrize(
    ("outcomes", "error"),
    [
        ([True], 0),
        ([False, True], 0),
        ([ERROR, True], 1),
        ([True, False], 1),
        ([None, True], 1),
        ([False], 1),
        ([True, SKIPPED], 1),
    ],
)
def test_only_a_success_that_ended_the_attempts_excuses_the_missing_ones(outcomes: list[Any], error: int) -> None:
    rows = metrics(attempts("t", *outcomes, plan_k=3, plan_strategy="pass"))
    assert figure(rows, reducer="pass", policy="strict")["error"] == error


def test_early_stops_leave_no_average_and_nothing_to_draw_from() -> None:
    rows = metrics(attempts("t", False, scored(correct=True, aux=True), plan_k=3, plan_strategy="pass"))
    assert rows.select("metric", "reducer").unique().rows() == [("correct", "pass")]


def test_a_survivor_does_not_make_a_hundred_percent() -> None:
    made = [row for number in range(4) for row in attempts(f"t{number}", True if number == 0 else ERROR)]
    rows = metrics(made)
    assert both(rows, reducer="native", k=1) == (1.0, 0.25)
    assert counts(figure(rows, reducer="native", policy="scored_only")) == (4, 1, 3, 3, 0)


def test_a_metric_of_an_errored_attempt_counts_in_the_second_generation() -> None:
    rows = metrics(attempts("t", scored(correct=True) | {"error": True, "status": "eval_error"}))
    assert both(rows, reducer="native") == (1.0, 1.0)
    assert counts(figure(rows, reducer="native", policy="strict")) == (1, 1, 1, 0, 0)


def test_a_null_score_is_no_score_and_a_valid_zero_is_one() -> None:
    made = attempts("a", scored(score=None)) + attempts("b", 0.0) + attempts("c", 1.0)
    rows = metrics(made)
    assert both(rows, reducer="native") == (0.5, 1 / 3)
    assert counts(figure(rows, reducer="native", policy="strict")) == (3, 2, 0, 1, 0)


def test_missing_attempts_of_the_first_generation_are_unavailable_and_no_error() -> None:
    rows = metrics(attempts("t", True, None, format_=FIRST), [run(k=3)])
    assert counts(figure(rows, reducer="avg", policy="strict")) == (1, 0, 0, 1, 0)


@pytest.mark.parametrize("made", [attempts("t", None), attempts("t", ERROR), attempts("t", scored(correct=None))])
def test_a_run_in_which_nothing_was_evaluated_has_its_rows(made: list[Row]) -> None:
    rows = metrics(made)
    told = figure(rows, metric="correct", reducer="native", policy="scored_only")
    assert (told["value"], told["reason"], told["total"], told["unavailable"]) == (None, "nothing_evaluated", 1, 1)
    assert figure(rows, metric="correct", reducer="native", policy="strict")["value"] == 0.0


def test_running_attempts_are_in_no_metric() -> None:
    rows = metrics([*attempts("a", True), *attempts("b", False, running=True)])
    assert figure(rows, reducer="native", policy="strict")["total"] == 1


def test_a_mean_of_huge_scores_is_finite() -> None:
    rows = metrics([*attempts("a", 1.5e308, 1.5e308), *attempts("b", 1.7e308, 1.7e308)])
    assert both(rows, reducer="avg")[0] == pytest.approx(1.6e308, rel=1e-12)


# ---- a fatal issue ----


def test_a_fatal_issue_withholds_every_value_of_the_report() -> None:
    fatal = scored(correct=True) | {"fatal": True, "error": True}
    made = attempts("a", True, False, category=["x"]) + attempts("b", True, fatal, category=["y"])
    rows = metrics(made + attempts("c", ERROR, False, category=["x"]) + attempts("other", True, True, run_id="other"))
    mine = rows.filter(run_id="run")
    assert mine["value"].null_count() == mine.height
    assert figure(mine, reducer="avg", policy="scored_only")["reference_value"] == 0.5
    # The invalidated task counts as a failure: left out, the survivors would flatter.
    assert figure(mine, reducer="avg", policy="strict")["reference_value"] == 0.5 / 3
    assert counts(figure(mine, reducer="avg", policy="strict")) == (3, 1, 2, 1, 1)
    assert figure(mine, reducer="avg", policy="strict")["reason"] == "invalidated"
    assert figure(mine, reducer="avg", policy="strict", scope="category", category="x")["reference_value"] == 0.25
    assert figure(rows.filter(run_id="other"), reducer="avg", policy="strict")["value"] == 1.0


def test_a_fatal_issue_of_any_attempt_invalidates_its_task() -> None:
    rows = metrics(attempts("a", True, {"fatal": True}, plan_k=1))
    for policy, reference in (("scored_only", None), ("strict", 0.0)):
        told = figure(rows, reducer="native", policy=policy)
        assert (told["value"], told["reference_value"], counts(told)) == (None, reference, (1, 0, 1, 0, 1))


FATAL = scored(correct=True, score=1.0) | {"fatal": True, "error": True}


@pytest.mark.parametrize(
    ("outcomes", "declared", "where", "references"),
    [
        ([FATAL], {}, {"reducer": "native", "metric": "correct"}, (1.0, 0.5)),
        ([FATAL, True], {}, {"reducer": "avg", "metric": "correct"}, (1.0, 0.5)),
        ([FATAL, True], {}, {"reducer": "pass"}, (1.0, 0.5)),
        ([FATAL, True], {}, {"reducer": "pass_unbiased", "k": 2}, (1.0, 0.5)),
        ([FATAL], {"missing_score": 0.25}, {"reducer": "native", "metric": "score"}, (1.0, 0.625)),
        ([FATAL], {"missing_score": 0.25}, {"reducer": "native", "metric": "correct"}, (1.0, 0.5)),
    ],
)
def test_an_invalidated_task_is_a_failure_under_strict_alone(
    outcomes: list[Row], declared: Row, where: Row, references: tuple[float, float]
) -> None:
    clean = scored(correct=True, score=1.0)
    rows = metrics(attempts("a", *[clean for _ in outcomes]) + attempts("b", *outcomes), [run(**declared)])
    told = [figure(rows, policy=policy, **where) for policy in ("scored_only", "strict")]
    assert [row["value"] for row in told] == [None, None]
    assert tuple(row["reference_value"] for row in told) == references
    assert {counts(row)[-2:] for row in told} == {(0, 1)}


# ---- the headline ----


@pytest.mark.parametrize(
    ("format_", "declared", "quoted"),
    [
        ("agentcompass-1", {}, {("correct", "scored_only")}),
        ("agentcompass-1", {"missing_score": 0.5}, {("correct", "strict")}),
        ("agentcompass-1", {"exclude_missing": True}, {("correct", "scored_only")}),
        (FIRST, {}, {("accuracy", "strict"), ("score", "scored_only")}),
        (FIRST, {"missing_score": 0.0}, {("accuracy", "strict"), ("score", "strict")}),
        (FIRST, {"exclude_missing": True}, {("accuracy", "scored_only"), ("score", "scored_only")}),
        (FIRST, {"score_key": "depth"}, {("accuracy", "strict"), ("depth", "scored_only")}),
    ],
)
def test_the_headline(format_: str, declared: Row, quoted: set[tuple[str, str]]) -> None:
    scores = scored(correct=True, score=0.5, depth=3.0)
    rows = metrics(attempts("t", scores, scores, format_=format_, category=["x"]), [run(**declared)])
    assert set(rows.filter("headline").select("metric", "policy").rows()) == quoted
    assert not rows.filter("headline", reducer="pass_unbiased").height
    assert not rows.filter("headline", scope="category").height


def test_both_reducers_of_a_primary_metric_are_headlines() -> None:
    rows = metrics(attempts("t", True, False))
    assert rows.filter("headline")["reducer"].to_list() == ["avg", "pass"]


@pytest.mark.parametrize(("format_", "metric"), [("agentcompass-1", "score"), (FIRST, "score")])
def test_a_declared_missing_score_fills_scores_and_leaves_success_alone(format_: str, metric: str) -> None:
    made = attempts("a", scored(correct=True, score=1.0), ERROR, format_=format_)
    rows = metrics(made, [run(missing_score=0.5)])
    assert both(rows, metric=metric, reducer="avg") == (None, 0.75)
    assert both(rows, metric="accuracy" if format_ == FIRST else "correct", reducer="avg") == (None, 0.5)


# ---- plans ----


def test_k_and_strategy_come_from_the_run_then_the_plan_then_the_data() -> None:
    made = [row for name in ("a", "b", "c") for row in attempts("t", True, False, run_id=name)]
    for row in made[:4]:
        row.update(plan_k=4, plan_strategy="pass")
    rows = metrics(made, [run(run_id="a", k=3, strategy="avg")]).filter(
        scope="overall", policy="strict", reducer="pass"
    )
    assert rows.select("run_id", "k", "value", "error").rows() == [("a", 3, 1, 1), ("b", 4, 1, 1), ("c", 2, 1, 0)]


@pytest.mark.parametrize(
    "plans", [[{"plan_k": 2}, {"plan_k": 3}], [{"plan_strategy": "avg"}, {"plan_strategy": "pass"}]]
)
def test_tasks_of_different_plans_have_no_metrics(plans: list[Row]) -> None:
    made = [row for number, plan in enumerate(plans) for row in attempts(f"t{number}", True, True, **plan)]
    assert not metrics(made).height


def test_a_contradictory_strategy_leaves_nothing_to_report() -> None:
    assert not metrics(attempts("t", 0.5, 0.5, plan_k=2, plan_strategy="pass")).height


# ---- what figures are of ----


def test_runs_benchmarks_agents_models_and_days_stand_apart() -> None:
    names: list[Row] = [
        {},
        {"run_id": "run2"},
        {"benchmark": "bench2"},
        {"agent_name": None},
        {"model_name": None},
        {"agent_name": None, "model_name": None},
    ]
    made = [row for number, name in enumerate(names) for row in attempts("t", number % 2 == 0, **name)]
    rows = metrics(made).filter(reducer="native", policy="strict", scope="overall")
    assert rows.select("run_id", "benchmark", "agent_name", "model_name", "value").rows() == [
        ("run", "bench", None, None, 0),
        ("run", "bench", None, "model", 0),
        ("run", "bench", "agent", None, 1),
        ("run", "bench", "agent", "model", 1),
        ("run", "bench2", "agent", "model", 1),
        ("run2", "bench", "agent", "model", 0),
    ]


def test_the_order_of_the_observations_changes_nothing() -> None:
    made = [
        row | {"attempt_id": f"{number}/{row['attempt_index']}"}
        for number in range(30)
        for row in attempts(f"t{number}", number / 7, number / 11, category=[str(number % 4)])
    ]
    rows = metrics(made)
    assert rows.equals(metrics(made[::-1]))
    total = 0.0
    for name in sorted(f"t{number}" for number in range(30)):
        number = int(name[1:])
        total += (number / 7 + number / 11) / 2
    assert figure(rows, reducer="avg", policy="strict")["value"] == total / 30


def test_no_observations_no_figures() -> None:
    assert not metrics([]).height


def test_two_generations_side_by_side_are_one_report() -> None:
    rows = metrics(attempts("a", True) + observed(FIRST, {"task_id": "b", "attempt_index": 1} | scored(correct=False)))
    assert both(rows, metric="correct", reducer="native") == (0.5, 0.5)
