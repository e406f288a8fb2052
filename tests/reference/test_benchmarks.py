"""The worked examples of the benchmark rules on the reference, with figures computed by hand; and its generator."""

import datetime as dt
import json
from collections import Counter
from random import Random
from typing import Any

import pytest

from .benchmark_model import Row, Rules, pass_at_k, reported_ks
from .benchmark_rows import Draft, Runs, scored
from .benchmark_runs import runs
from .benchmarks import benchmark_metrics, run_totals

RULES = Rules(frozenset({"RateLimitError", "CancelledError"}))
DAY = dt.date(2026, 11, 29)


def draft(source: str) -> Draft:
    return Draft(Random(1), source, "run", DAY)


def attempt(run: Draft, task: str, index: int, value: float | bool | str | None, **columns: Any) -> Row:
    """One attempt at a task: a score, None for a present attempt without one, or what became of it instead."""
    given: Row = {"format": "agentcompass-1", "benchmark": "b", "task_id": task, "attempt_index": index} | columns
    if value == "missing":
        return run.observe(**given, present=False)
    if isinstance(value, str):
        return run.observe(**given, status=value, error=value.endswith("error"))
    name = "correct" if isinstance(value, bool) else "score"
    return run.observe(**given, metrics=[] if value is None else [scored(name, value)])


def tasks(plan: Row, *values: list[Any], **columns: Any) -> Draft:
    run = draft("agentcompass")
    if plan:
        run.describe(benchmark="b", **plan)
    for number, of_task in enumerate(values):
        for index, value in enumerate(of_task, 1):
            attempt(run, f"task-{number}", index, value, **columns)
    return run


def rows(run: Draft, **wanted: Any) -> list[Row]:
    found = benchmark_metrics(*run.rows, RULES)
    return [row for row in found if all(row[name] == value for name, value in wanted.items())]


def one(run: Draft, **wanted: Any) -> Row:
    (row,) = rows(run, **{"scope": "overall"} | wanted)
    return row


def counts(row: Row) -> tuple[int, ...]:
    return tuple(row[name] for name in ("total", "evaluated", "error", "unavailable", "invalidated"))


def total(run: Draft) -> Row:
    (row,) = run_totals(*run.rows, RULES)
    return row


@pytest.mark.parametrize(
    ("attempts", "reducer", "scored_only", "strict", "tally"),
    [
        ([True, False, True], "avg", 2 / 3, 2 / 3, (1, 1, 0, 0, 0)),
        ([True, "run_error", "missing"], "avg", None, 1 / 3, (1, 0, 1, 1, 0)),
        ([True, "run_error", "missing"], "pass", 1.0, 1.0, (1, 1, 1, 0, 0)),
        ([False, "run_error", "missing"], "pass", None, 0.0, (1, 0, 1, 1, 0)),
    ],
)
def test_one_task_of_three_attempts(
    attempts: list[Any], reducer: str, scored_only: float | None, strict: float, tally: tuple[int, ...]
) -> None:
    run = tasks({"k": 3}, attempts)
    assert one(run, metric="correct", reducer=reducer, policy="scored_only")["value"] == scored_only
    assert one(run, metric="correct", reducer=reducer, policy="strict")["value"] == strict
    assert {counts(row) for row in rows(run, reducer=reducer)} == {tally}


def test_a_run_that_stops_at_a_success_is_complete() -> None:
    run = tasks({"k": 3, "strategy": "pass"}, [False, True, "missing"])
    assert [(row["policy"], row["value"], counts(row)) for row in rows(run, scope="overall")] == [
        ("scored_only", 1.0, (1, 1, 0, 0, 0)),
        ("strict", 1.0, (1, 1, 0, 0, 0)),
    ]
    gap = tasks({"k": 3, "strategy": "pass"}, ["missing", True])
    assert {counts(row) for row in rows(gap)} == {(1, 1, 1, 0, 0)}


@pytest.mark.parametrize(
    ("attempts", "k", "scored_only", "strict"),
    [
        ([True, False, False, False], 2, 0.5, 0.5),
        ([True, False, "run_error", "missing"], 2, 1.0, 0.5),
        ([True, True, False, False], 2, 1 - 1 / 6, 1 - 1 / 6),
        ([False, False, False, False], 4, 0.0, 0.0),
    ],
)
def test_unbiased_pass_at_k(attempts: list[Any], k: int, scored_only: float, strict: float) -> None:
    run = tasks({"k": 4}, attempts)
    assert one(run, reducer="pass_unbiased", k=k, policy="scored_only")["value"] == scored_only
    assert one(run, reducer="pass_unbiased", k=k, policy="strict")["value"] == strict


def test_fewer_attempts_than_k_are_never_a_success() -> None:
    assert pass_at_k(1, 1, 2) is None
    assert pass_at_k(2, 2, 2) == 1.0
    run = draft("harbor")
    for task, trials in (("a", 1), ("b", 2)):
        for _ in range(trials):
            trial(run, task, [scored("reward", 1.0)])
    two = one(run, reducer="pass_unbiased", k=2, policy="strict")
    assert (two["value"], counts(two)) == (1.0, (2, 1, 1, 1, 0))


def test_which_k_are_reported() -> None:
    assert reported_ks(1, RULES) == [1]
    assert reported_ks(11, RULES, declared=7) == [1, 2, 4, 5, 7, 8, 10]
    assert reported_ks(6, RULES, declared=9) == [1, 2, 4, 5]
    assert reported_ks(16, RULES, first=2) == [2, 4, 5, 8, 10, 15, 16]


def test_missing_attempts_are_errors_only_in_the_strict_format() -> None:
    for format_, errors in (("agentcompass-1", 1), ("agentcompass-0", 0)):
        run = tasks({"k": 2}, [True, "missing"], format=format_)
        assert {row["error"] for row in rows(run, reducer="avg")} == {errors}
    skipped = tasks({}, ["skipped"])
    assert {counts(row) for row in rows(skipped, reducer="native")} == {(1, 0, 0, 1, 0)}


def test_metrics_of_the_first_format() -> None:
    def named(*entries: Row, **described: Any) -> list[tuple[str, str]]:
        run = draft("agentcompass")
        run.describe(benchmark="b", **described)
        run.observe(
            format="agentcompass-0", benchmark="b", task_id="t", attempt_index=1, metrics=[*entries], category=[]
        )
        return [(row["metric"], row["policy"]) for row in rows(run, scope="overall", headline=True)]

    correct, score, f1 = scored("correct", value=True), scored("score", 0.5), scored("f1", 0.25)
    assert named() == [("accuracy", "strict")]
    assert named(correct) == [("accuracy", "strict")]
    assert named(score) == [("score", "scored_only")]
    assert named(correct, score, f1) == [("accuracy", "strict"), ("score", "scored_only")]
    assert named(correct, score, f1, score_key="f1") == [("accuracy", "strict"), ("f1", "scored_only")]
    assert named(scored("score", None)) == [("accuracy", "strict")]
    assert named(correct, score, exclude_missing=True) == [("accuracy", "scored_only"), ("score", "scored_only")]
    assert named(correct, score, missing_score=0.5) == [("accuracy", "strict"), ("score", "strict")]


def test_a_declared_number_fills_missing_scores_but_no_verdict() -> None:
    run = tasks({"k": 2, "missing_score": -1.0}, [0.5, "run_error"], [None, None])
    assert one(run, metric="score", policy="strict")["value"] == (-0.25 + -1.0) / 2
    assert one(run, metric="score", policy="scored_only")["value"] is None
    verdicts = tasks({"missing_score": -1.0}, [True], ["run_error"])
    assert one(verdicts, reducer="native", policy="strict")["value"] == 0.5


def test_metrics_of_the_strict_format() -> None:
    run = tasks({}, [True])
    run.rows.observations[0]["metrics"] += [scored("steps", 3), scored("a", value=False)]
    assert {row["metric"] for row in rows(run, reducer="native")} == {"correct", "steps", "a"}
    assert {row["metric"] for row in rows(run, headline=True)} == {"correct"}
    assert {row["metric"] for row in rows(run, reducer="pass_unbiased")} == {"correct", "a"}
    declared: list[Row] = [
        {"name": "steps", "kind": "scalar", "reducers": None, "primary": True},
        {"name": "correct", "kind": "binary_success", "reducers": ["avg"], "primary": False},
    ]
    run = tasks({"k": 2, "metric_contract": declared}, [True, False])
    assert {(row["metric"], row["reducer"]) for row in rows(run)} == {
        ("steps", "avg"),
        ("correct", "avg"),
    }
    assert {row["metric"] for row in rows(run, headline=True)} == {"steps"}
    declared[1]["reducers"] = ["pass"]
    assert {row["reducer"] for row in rows(run, metric="correct")} == {"pass", "pass_unbiased"}


def test_a_metric_that_was_only_ever_null_is_told_of() -> None:
    run = tasks({}, [True])
    run.rows.observations[0]["metrics"].append(scored("score", None))
    assert counts(one(run, metric="score", reducer="native", policy="strict")) == (1, 0, 0, 1, 0)
    assert counts(one(tasks({}, ["run_error"]), reducer="native", policy="strict")) == (1, 0, 1, 1, 0)


def test_an_early_stop_leaves_only_the_primary_verdict() -> None:
    run = tasks({"k": 2, "strategy": "pass"}, [False, True])
    run.rows.observations[0]["metrics"].append(scored("steps", 1.0))
    assert {(row["metric"], row["reducer"]) for row in rows(run)} == {("correct", "pass")}
    scalar = tasks({"k": 2, "strategy": "pass"}, [0.5, 0.25])
    assert (rows(scalar), total(scalar)["reason"]) == ([], "strategy_not_supported")


def test_means_of_values_whose_sum_is_no_double_are_finite() -> None:
    run = tasks({}, [1.5e308], [1.5e308], [0.0])
    assert one(run, metric="score", policy="strict")["value"] == 1e308


def test_a_fatal_issue_withholds_the_report() -> None:
    run = tasks({"k": 2}, [True, True], [False, True])
    run.rows.observations[3]["fatal"] = True
    average = one(run, reducer="avg", policy="scored_only")
    assert (average["value"], average["reference_value"], counts(average)) == (None, 1.0, (2, 1, 1, 0, 1))
    assert one(run, reducer="avg", policy="strict")["reference_value"] == 0.5
    assert all(row["value"] is None and row["reason"] is not None for row in rows(run))


def test_different_plans_refuse_the_metrics() -> None:
    run = draft("agentcompass")
    for number, k in enumerate((1, 2)):
        attempt(run, f"task-{number}", 1, value=True, plan_k=k)
    assert rows(run) == []
    assert total(run)["reason"] == "mixed_attempt_plans"


HIERARCHY = {
    "overall": {
        "aggregation": "weighted",
        "children": {
            "code": {"weight": 3, "children": {"py": {}, "js": {}}},
            "web/nav": {"aggregation": "leaf"},
            "none": {"weight": 100},
        },
    }
}


def categorized(plan: Row, *of_tasks: tuple[list[str] | None, bool]) -> dict[str, float | None]:
    run = draft("agentcompass")
    run.describe(benchmark="b", **plan)
    for number, (category, value) in enumerate(of_tasks):
        attempt(run, f"task-{number}", 1, value, category=category)
    found = rows(run, reducer="native", policy="strict")
    return {f"{row['scope']}:{row['category']}": row["value"] for row in found}


def test_categories_are_rows_and_may_be_averaged() -> None:
    of_tasks = [(["web/nav"], True), (["web", "nav"], False), (["web", "nav"], False), ([], True), (None, False)]
    parts = {"category:web~1nav": 1.0, "category:web/nav": 0.0, "category:__uncategorized__": 0.5}
    assert categorized({}, *of_tasks) == {"overall:None": 0.4, **parts}
    assert categorized({"aggregation": "category_mean"}, *of_tasks) == {"overall:None": 0.5, **parts}


def test_a_hierarchy_weighs_its_children_and_drops_empty_ones() -> None:
    of_tasks = [(["py"], True), (["py"], False), (["code", "js"], False), (["web/nav"], True)]
    assert categorized({"hierarchy": json.dumps(HIERARCHY)}, *of_tasks) == {
        "overall:None": 0.25 * 0.75 + 1.0 * 0.25,
        "category:py": 0.5,
        "category:code/js": 0.0,
        "category:web~1nav": 1.0,
        "hierarchy:overall/code/py": 0.5,
        "hierarchy:overall/code/js": 0.0,
        "hierarchy:overall/code": 0.25,
        "hierarchy:overall/web~1nav": 1.0,
        "hierarchy:overall/none": None,
        "hierarchy:overall": 0.4375,
    }
    by_count = HIERARCHY["overall"] | {"aggregation": "weighted_by_count"}
    weighed = categorized({"hierarchy": json.dumps({"overall": by_count})}, *of_tasks)
    assert weighed["overall:None"] == 0.25 * 0.75 + 1.0 * 0.25


def test_a_category_that_the_hierarchy_does_not_know_refuses_the_whole() -> None:
    run = draft("agentcompass")
    run.describe(benchmark="b", hierarchy=json.dumps(HIERARCHY))
    attempt(run, "t", 1, value=True, category=["py"])
    attempt(run, "u", 1, value=True, category=["elsewhere"])
    for row in rows(run, scope="overall"):
        assert (row["value"], row["reference_value"], row["reason"]) == (None, None, "category_not_in_hierarchy")
        assert row["total"] == 2
    assert {row["value"] for row in rows(run, scope="category")} == {1.0}


@pytest.mark.parametrize(
    ("children", "category", "reason"),
    [
        ({"a": {"children": {"x": {}}}, "b": {"children": {"x": {}}}}, ["x"], "category_not_in_hierarchy"),
        ({"a": {"children": {"x": {}}}, "b": {"children": {"x": {}}}}, ["a", "x"], None),
        ({"a": {"children": {"x": {}}}}, ["b", "x"], "category_not_in_hierarchy"),
        ({"a": {"children": {"x": {}}}}, ["a"], "category_not_in_hierarchy"),
        ({"x": {"aggregation": "leaf", "children": {"y": {}}}}, ["y"], "category_not_in_hierarchy"),
        ({"__uncategorized__": {}}, [""], None),
    ],
)
def test_which_leaf_takes_a_category(children: Row, category: list[str], reason: str | None) -> None:
    run = draft("agentcompass")
    run.describe(benchmark="b", hierarchy=json.dumps({"overall": {"children": children}}))
    attempt(run, "t", 1, value=True, category=category)
    overall = one(run, reducer="native", policy="strict")
    assert (overall["value"], overall["reason"]) == (None if reason else 1.0, reason)


@pytest.mark.parametrize(
    "hierarchy",
    [
        {"top": {"children": {"x": {}, "y": {}}}},
        {"overall": {"aggregation": "weighted", "children": {"x": {"weight": 0}, "y": {"weight": 1}}}},
    ],
)
def test_a_hierarchy_that_weighs_nothing_is_refused_under_every_policy(hierarchy: Row) -> None:
    run = draft("agentcompass")
    run.describe(benchmark="b", hierarchy=json.dumps(hierarchy))
    attempt(run, "t", 1, value=True, category=["x"])
    attempt(run, "u", 1, "run_error", category=["y"])
    for row in rows(run, scope="overall"):
        assert (row["value"], row["reason"]) == (None, "invalid_hierarchy")


def trial(run: Draft, task: str, rewards: list[Row], *exceptions: str, ruling: bool | None = None) -> Row:
    return run.observe(
        format="harbor",
        benchmark="adhoc",
        task_id=task,
        metrics=rewards,
        exceptions=[{"type": one, "has_valid_reward": ruling} for one in exceptions],
        error=bool(exceptions),
    )


def test_the_four_means_of_a_harbor_job() -> None:
    run = draft("harbor")
    trial(run, "a", [scored("reward", 1.0)])
    trial(run, "a", [scored("reward", value=False), scored("style", 0.5)], "AgentTimeoutError")
    trial(run, "b", [scored("reward", 1.0)], "RateLimitError")
    trial(run, "b", [], "SomeError")
    run.describe(registered=7, duplicates=1, running=1)
    means = {row["policy"]: row["value"] for row in rows(run, metric="reward", reducer="mean")}
    assert means == {"scored_only": 0.5, "strict": 1 / 6, "harbor_0_26": 0.5, "harbor_0_25": 0.5}
    style = {row["policy"]: row["value"] for row in rows(run, metric="style")}
    assert style == {"scored_only": 0.5, "strict": 0.5 / 6, "harbor_0_26": 0.25, "harbor_0_25": 0.125}
    assert {counts(row) for row in rows(run, metric="reward", reducer="mean")} == {(6, 2, 3, 4, 0)}
    assert [(row["metric"], row["policy"]) for row in rows(run, headline=True)] == [("reward", "scored_only")]
    found = total(run)
    names = ("registered", "present", "valid", "errors", "missing", "running")
    assert [found[name] for name in names] == [6, 4, 2, 3, 2, 1]


def test_the_file_s_own_ruling_on_an_exception_wins() -> None:
    run = draft("harbor")
    trial(run, "a", [scored("reward", 1.0)], "RateLimitError", ruling=True)
    trial(run, "a", [scored("reward", 1.0)], "AgentTimeoutError", ruling=False)
    assert total(run)["valid"] == 1


def test_pass_at_k_of_a_harbor_job() -> None:
    run = draft("harbor")
    for reward in (1.0, 0.0, 0.0):
        trial(run, "a", [scored("reward", reward)])
    trial(run, "a", [scored("reward", 1.0)], "CancelledError")
    trial(run, "b", [scored("other", 1.0)])
    trial(run, "b", [scored("reward", 1.0)])
    trial(run, "c", [])
    found = {(row["policy"], row["k"]): row["value"] for row in rows(run, reducer="pass_unbiased", metric="reward")}
    assert found == {
        ("scored_only", 1): (1 / 3 + 1.0) / 2,
        ("strict", 1): (0.25 + 0.5 + 0.0) / 3,
        ("scored_only", 2): 2 / 3,
        ("strict", 2): (0.5 + 1.0) / 2,
        ("harbor_0_26", 2): (2 / 3 + 1.0) / 2,
        ("scored_only", 4): None,
        ("strict", 4): 1.0,
    }
    trial(run, "b", [scored("reward", 1.0), scored("style", 1.0)])
    assert {row["policy"] for row in rows(run, reducer="pass_unbiased")} == {"scored_only", "strict"}
    trial(run, "b", [scored("reward", 0.5)])
    assert rows(run, reducer="pass_unbiased") == []


def test_keys_of_a_harbor_job() -> None:
    run = draft("harbor")
    trial(run, "a", [], "RateLimitError")
    means = {row["policy"]: row["value"] for row in rows(run, metric="reward", reducer="mean")}
    assert means == {"scored_only": None, "strict": 0.0, "harbor_0_26": None, "harbor_0_25": 0.0}
    several = draft("harbor")
    trial(several, "a", [scored("x", 1.0), scored("y", 1.0)])
    assert {(row["metric"], row["policy"]) for row in rows(several, headline=True)} == {
        ("x", "scored_only"),
        ("y", "scored_only"),
    }
    assert rows(several, reducer="pass_unbiased") == []


def test_trials_that_only_the_job_s_file_knows() -> None:
    run = draft("harbor")
    run.describe(registered=4, running=1)
    found = total(run)
    assert [found[name] for name in ("benchmark", "registered", "present", "missing", "running")] == [None, 4, 0, 4, 1]
    assert rows(run) == []
    copies = draft("harbor")
    copies.describe(registered=4, duplicates=4)
    assert run_totals(*copies.rows, RULES) == []


def test_what_pass_at_k_does_not_see_makes_it_an_upper_bound() -> None:
    run = draft("harbor")
    trial(run, "a", [scored("reward", 1.0)])
    run.describe(registered=2)
    assert {(row["reducer"], row["reason"]) for row in rows(run)} == {("mean", None), ("pass_unbiased", "upper_bound")}
    trial(run, "a", [scored("reward", 1.0)])["agent_name"] = "another"
    run.rows.benchmark_runs[0]["registered"] = 3
    bound = {row["policy"] for row in rows(run, reducer="mean") if row["reason"] == "upper_bound"}
    assert bound == {"strict"}
    names = [(row["agent_name"], row["missing"]) for row in run_totals(*run.rows, RULES) if row["missing"]]
    assert names == [(None, 1)]


def test_terminal_bench_counts_what_is_not_known_as_not_resolved() -> None:
    run = draft("harbor")
    for task, resolved in (("a", True), ("a", None), ("b", False), ("b", False)):
        run.observe(
            format="terminal-bench",
            benchmark="terminal-bench",
            task_id=task,
            metrics=[] if resolved is None else [scored("accuracy", resolved)],
            error=resolved is None,
        )
    found = {(row["reducer"], row["k"], row["policy"]): row["value"] for row in rows(run)}
    assert found == {
        ("mean", None, "strict"): 0.25,
        ("mean", None, "scored_only"): 1 / 3,
        ("pass_unbiased", 1, "strict"): 0.25,
        ("pass_unbiased", 1, "scored_only"): 0.5,
        ("pass_unbiased", 2, "strict"): 0.5,
        ("pass_unbiased", 2, "scored_only"): 0.0,
    }
    assert [(row["reducer"], row["policy"]) for row in rows(run, headline=True)] == [("mean", "strict")]


def test_agentforge_jobs() -> None:
    run = draft("agentforge")
    for number, reward in ((1, 0.5), (2, 1.0), (3, None), (4, "missing")):
        row = run.observe(
            format="agentforge",
            benchmark="pack",
            task_id="t",
            attempt_index=number,
            plan_k=4,
            reward_recipe="staged",
            present=reward != "missing",
            error=reward is None,
        )
        for kind, value in (("agentforge-staged/1", reward), ("agentforge-recorded", 0.0)):
            if reward != "missing":
                told = {name: row[name] for name in ("attempt_id", "landed_on")}
                run.rows.rewards.append(told | {"rules": "v1", "reward_kind": kind, "reward": value})
    found = {(row["metric"], row["reducer"], row["policy"]): row["value"] for row in rows(run)}
    assert found == {
        ("reward", "mean", "scored_only"): 0.75,
        ("reward", "mean", "strict"): 0.375,
        ("passed", "mean", "scored_only"): 0.5,
        ("passed", "mean", "strict"): 0.25,
        ("passed", "pass", "scored_only"): 1.0,
        ("passed", "pass", "strict"): 1.0,
    }
    assert {(row["metric"], row["reducer"], row["policy"]) for row in rows(run, headline=True)} == {
        ("reward", "mean", "scored_only"),
        ("passed", "mean", "strict"),
    }
    assert {counts(row) for row in rows(run, reducer="mean")} == {(4, 2, 1, 2, 0)}
    assert {counts(row) for row in rows(run, reducer="pass")} == {(1, 1, 1, 0, 0)}
    assert [total(run)[name] for name in ("registered", "present", "valid", "errors", "missing")] == [4, 3, 2, 1, 1]


def test_sums_of_a_run() -> None:
    run = draft("harbor")
    for tokens, cost in ((3 * 10**9, 0.1), (3 * 10**9, 0.2), (None, None)):
        row = trial(run, "a", [])
        row |= {"n_input_tokens": tokens, "n_cache_tokens": None, "cost_usd": cost}
    found = total(run)
    assert [found[name] for name in ("n_input_tokens", "n_input_tokens_n")] == [6 * 10**9, 2]
    assert [found[name] for name in ("n_cache_tokens", "n_cache_tokens_n")] == [None, 0]
    assert [found[name] for name in ("cost_usd", "cost_usd_n")] == [0.1 + 0.2, 2]
    run = draft("harbor")
    for _ in range(1024):
        trial(run, "a", [])["n_input_tokens"] = 2**53
    assert [total(run)[name] for name in ("n_input_tokens", "n_input_tokens_n")] == [None, 1024]


def test_a_running_attempt_is_in_no_metric() -> None:
    run = tasks({}, [True], [True])
    attempt(run, "task-2", 1, None, running=True)
    assert {row["total"] for row in rows(run)} == {2}
    assert (total(run)["running"], total(run)["registered"]) == (1, 2)


def test_how_many_attempts_there_should_be() -> None:
    def registered(run: Draft) -> tuple[int, int]:
        found = total(run)
        return found["registered"], found["missing"]

    assert registered(tasks({"k": 3}, [True], [True, False, True])) == (6, 2)
    assert registered(tasks({}, [True], [True, False, True])) == (6, 2)
    assert registered(tasks({"k": 1}, [True, False])) == (2, 0)
    assert registered(tasks({"k": 3, "strategy": "pass"}, [False, True, "missing"], [False, "missing"])) == (5, 2)


@pytest.fixture(scope="module")
def generated() -> Runs:
    return Runs(*([row for part in parts for row in part] for parts in zip(*runs(seed=5, count=1_500), strict=True)))


def test_generated_runs_reach_every_corner(generated: Runs) -> None:
    metrics = benchmark_metrics(*generated, RULES)
    totals = run_totals(*generated, RULES)
    for name, least in (("reducer", 5), ("policy", 4), ("scope", 3), ("aggregation", 3), ("reason", 6)):
        seen = Counter(row[name] for row in metrics)
        assert (len(seen), min(seen.values()) > 50) == (least, True), (name, seen)
    assert {row["format"] for row in generated.observations} == {
        "harbor",
        "terminal-bench",
        "agentforge",
        "agentcompass-1",
        "agentcompass-0",
    }
    assert sum(row["reason"] is not None for row in totals) > 20
    assert sum(row["benchmark"] is None for row in totals) > 20
    assert all(any(row[name] for row in totals) for name in ("missing", "running", "errors", "valid"))


def test_generated_rows_keep_what_is_promised_of_metrics(generated: Runs) -> None:
    for row in benchmark_metrics(*generated, RULES):
        tally = counts(row)
        assert tally[1] + tally[3] + tally[4] == tally[0] >= tally[2] >= 0
        assert (row["value"] is None) == (row["reason"] not in {None, "upper_bound"})


def test_generated_runs_are_reproducible() -> None:
    assert list(runs(seed=5, count=50)) == list(runs(seed=5, count=60))[:50]
