"""The hostile store of the benchmark sources, end to end: each file is scored or quarantined exactly as specified.

The figures are worked out by hand from the rules, not by the project's own code.
"""

from collections import Counter
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from pipelines.cli import database
from pipelines.settings import Settings
from pipelines.summary import RunSummary
from tests.integration import hostile_benchmarks as hostile
from tests.integration.hostile_benchmarks import (
    COMPASS,
    HARBOR,
    HOSTILE,
    LATER,
    NEVER_FETCHED,
    entry,
    job,
    lines,
    objects,
    record,
    text,
    trial,
)
from tests.integration.warehouses import differing, everything, ran, rows, settings, write

GROUP = ("source", "run_id", "benchmark", "agent_name", "model_name", "landed_on")
FIGURE = (*GROUP, "metric", "reducer", "k", "scope", "category")
COUNTS = ("total", "evaluated", "error", "unavailable", "invalidated")


@pytest.fixture(scope="module")
def warehouse(tmp_path_factory: pytest.TempPathFactory) -> tuple[Settings, RunSummary]:
    folder = tmp_path_factory.mktemp("hostile-benchmarks")
    write(folder, objects())
    where = settings(folder)
    return where, ran(where)


@pytest.fixture(scope="module")
def metrics(warehouse: tuple[Settings, RunSummary]) -> pl.DataFrame:
    return rows(warehouse[0], "benchmark_metrics")


@pytest.fixture(scope="module")
def totals(warehouse: tuple[Settings, RunSummary]) -> pl.DataFrame:
    return rows(warehouse[0], "run_totals")


def by_key(where: Settings, table: str) -> pl.DataFrame:
    """A table with the key of each object."""
    return rows(where, table).with_columns(key=pl.col("uri").str.extract("/artifacts/(.*)$"))


@pytest.fixture(scope="module")
def quarantine(warehouse: tuple[Settings, RunSummary]) -> pl.DataFrame:
    return by_key(warehouse[0], "quarantine")


@pytest.fixture(scope="module")
def attempts(warehouse: tuple[Settings, RunSummary]) -> pl.DataFrame:
    return by_key(warehouse[0], "attempts")


@pytest.mark.parametrize("key", HOSTILE)
def test_each_file_ends_where_it_must(key: str, quarantine: pl.DataFrame, attempts: pl.DataFrame) -> None:
    refused = quarantine.filter(pl.col("key") == key).select("stage", "reason", "path").rows()
    assert Counter(refused) == Counter(HOSTILE[key].refused)
    assert attempts.filter(pl.col("key") == key).height == HOSTILE[key].attempts


def test_nothing_else_is_told(quarantine: pl.DataFrame, attempts: pl.DataFrame) -> None:
    assert set(quarantine["key"]) | set(attempts["key"]) <= set(HOSTILE)


def test_of_harbor_only_the_small_files_are_fetched(warehouse: tuple[Settings, RunSummary]) -> None:
    _, summary = warehouse
    assert summary.fetched + 1 == summary.listed == len(HOSTILE)  # one stands under no day
    undated = len(HOSTILE["harbor/someday/j/t/result.json"].content)
    assert summary.bytes_fetched == sum(len(one.content) for one in HOSTILE.values()) - undated
    assert sum(map(len, NEVER_FETCHED.values())) > hostile.NEVER_READ


def test_a_second_run_fetches_nothing_and_changes_nothing(warehouse: tuple[Settings, RunSummary]) -> None:
    before = everything(warehouse[0])
    assert ran(warehouse[0]).fetched == 0
    assert differing(before, everything(warehouse[0])) == []


def test_nothing_leaves_a_denominator(metrics: pl.DataFrame) -> None:
    assert metrics.filter(pl.sum_horizontal("evaluated", "unavailable", "invalidated") != pl.col("total")).is_empty()
    assert metrics.filter(~pl.col("error").is_between(0, pl.col("total"))).is_empty()
    assert metrics.filter(pl.col("value").is_infinite() | pl.col("value").is_nan()).is_empty()


def test_both_policies_stand_side_by_side_on_the_same_counts(metrics: pl.DataFrame) -> None:
    figures = metrics.group_by(FIGURE).agg("policy", counts=pl.struct(COUNTS).n_unique())
    assert figures["policy"].map_elements(lambda told: {"strict", "scored_only"} <= set(told), pl.Boolean).all()
    assert figures["counts"].unique().to_list() == [1]


def test_a_metric_has_one_headline_per_reducer(metrics: pl.DataFrame) -> None:
    headlines = metrics.filter("headline").select(*GROUP, "metric", "reducer")
    assert headlines.is_unique().all()
    assert metrics.group_by(GROUP).agg(pl.col("headline").any())["headline"].all()


def test_registered_is_present_and_missing(totals: pl.DataFrame) -> None:
    assert totals.filter(pl.col("registered") != pl.col("present") + pl.col("missing")).is_empty()
    assert totals.select(GROUP).is_unique().all()


@pytest.mark.parametrize(
    ("run", "metric", "reducer", "k", "strict", "scored_only", "counts"),
    [
        # Three of 30 registered trials can be read, as can the one with the most tokens; all scored 1.
        ("broken", "reward", "mean", None, 4 / 30, 1.0, (30, 4, 0, 26, 0)),
        # null and {} are no rewards, true is 1, -0.0 a valid zero.
        ("rewards", "reward", "mean", None, 1.5 / 5, 1.5 / 3, (5, 3, 0, 2, 0)),
        # One exception is overruled, one is unknown; the policy beside an exception is never read.
        ("ruled", "reward", "mean", None, 1 / 4, 1 / 2, (4, 2, 4, 2, 0)),
        ("ruled", "reward", "pass_unbiased", 2, 1 / 2, 1.0, (1, 1, 1, 0, 0)),
        # The first is (1 + 0) / 2 in spite of its timeout, the second is void for its step's sake.
        ("steps", "reward", "mean", None, 0.5 / 2, 0.5, (2, 1, 2, 1, 0)),
        # Five registered, two found and two copies of them: one is missing.
        ("copied", "reward", "mean", None, 1 / 3, 1 / 2, (3, 2, 0, 1, 0)),
        # Three entries of nine tell one trial, the last one counts: of seven three can be read, one of them not judged.
        ("tb", "accuracy", "pass_unbiased", 2, 2 / 3, 1.0, (1, 1, 1, 0, 0)),
        ("g", "reward", "mean", None, 0.4 / 2, 0.4, (2, 1, 0, 1, 0)),
        ("g", "passed", "pass", 2, 0.0, None, (1, 0, 0, 1, 0)),
        ("v1/gap", "correct", "avg", 3, 2 / 3, None, (1, 0, 1, 1, 0)),
        ("v1/gap", "correct", "pass", 3, 1.0, 1.0, (1, 1, 1, 0, 0)),
        # A skipped task is no error; two unreadable attempts are, as fewer than k; a failed one keeps its metric.
        ("v1/states", "correct", "native", 1, 1 / 4, 1.0, (4, 1, 3, 3, 0)),
        # Categories web/nav, web~1nav and none: 1, 0 and 0.
        ("v1/categories", "correct", "native", 1, 1 / 3, 1 / 3, (3, 3, 0, 0, 0)),
        ("v1/tree", "correct", "native", 1, None, None, (2, 2, 0, 0, 0)),
        ("v1/k", "correct", "avg", 10**6, 1e-6, None, (1, 0, 1, 1, 0)),
        ("v1/k", "correct", "pass_unbiased", 10**6, 1.0, None, (1, 0, 1, 1, 0)),
        # White space is an error's text too.
        ("v0/lines", "accuracy", "native", 1, 1 / 4, 1 / 2, (4, 2, 2, 2, 0)),
        ("v0/attempts", "accuracy", "avg", 2, 1 / 2, 1 / 2, (4, 1, 0, 3, 0)),
        ("v0/attempts", "accuracy", "pass_unbiased", 1, 1 / 2, 3.5 / 4, (4, 4, 0, 0, 0)),
        ("v0/twice", "accuracy", "native", 1, 0.0, 0.0, (1, 1, 0, 0, 0)),
        ("v0/score", "score", "native", 1, (0.3 + 0.2) / 2, 0.3, (2, 1, 1, 1, 0)),
    ],
)
def test_figures(
    run: str,
    metric: str,
    reducer: str,
    k: int | None,
    strict: float | None,
    scored_only: float | None,
    counts: tuple[int, ...],
    metrics: pl.DataFrame,
) -> None:
    found = metrics.filter(
        pl.concat_str("run_id", pl.lit("/"), "benchmark").eq(run) | (pl.col("run_id") == run),
        pl.col("metric") == metric,
        pl.col("reducer") == reducer,
        pl.col("k").eq_missing(k),
        pl.col("scope") == "overall",
    )
    told = dict(found.select("policy", "value").iter_rows())
    assert (told["strict"], told["scored_only"]) == pytest.approx((strict, scored_only), abs=1e-15)
    assert found.filter(pl.col("policy") == "strict").select(COUNTS).row(0) == counts


@pytest.mark.parametrize(
    ("run", "registered", "present", "valid", "errors", "missing", "running"),
    [
        ("broken", 30, 4, 4, 0, 26, 0),
        ("alone", 4, 0, 0, 0, 4, 0),
        ("inner", 2, 1, 1, 0, 1, 0),
        ("tb", 7, 3, 2, 1, 4, 0),
        ("g", 2, 2, 1, 0, 0, 0),
        ("v1/mixed", 3, 3, 3, 0, 0, 0),
        ("v1/states", 4, 2, 1, 1, 2, 1),
        ("v1/fatal", 2, 2, 1, 1, 0, 0),
    ],
)
def test_totals(
    run: str, registered: int, present: int, valid: int, errors: int, missing: int, running: int, totals: pl.DataFrame
) -> None:
    found = totals.filter(
        (pl.col("run_id") == run) | (pl.concat_str("run_id", pl.lit("/"), "benchmark") == run)
    ).select("registered", "present", "valid", "errors", "missing", "running")
    assert found.rows() == [(registered, present, valid, errors, missing, running)]


def test_runs_of_copies_only_and_of_nothing_make_no_rows(metrics: pl.DataFrame, totals: pl.DataFrame) -> None:
    for table in (metrics, totals):
        assert set(table["run_id"]).isdisjoint({"outer/inner", "second", "tb-none", "tb-torn", "bad"})


def test_a_fatal_issue_and_mixed_plans_withhold(metrics: pl.DataFrame, totals: pl.DataFrame) -> None:
    fatal = metrics.filter(pl.col("benchmark") == "fatal", pl.col("reducer") == "native", pl.col("scope") == "overall")
    scored_only = fatal.filter(pl.col("policy") == "scored_only")
    assert fatal["value"].to_list() == [None, None]
    assert scored_only.select("reference_value", "reason").row(0) == (1.0, "invalidated")
    assert metrics.filter(pl.col("benchmark") == "mixed").is_empty()
    assert totals.filter(pl.col("benchmark") == "mixed")["reason"].item() == "mixed_attempt_plans"
    tree = metrics.filter(pl.col("benchmark") == "tree", pl.col("scope") == "overall")
    assert tree["reason"].unique().to_list() == ["category_not_in_hierarchy"]


def test_staged_rewards(warehouse: tuple[Settings, RunSummary]) -> None:
    told = {
        name.removeprefix("agentforge:"): (reward, reason)
        for name, reward, reason in rows(warehouse[0], "rewards").select("attempt_id", "reward", "reason").iter_rows()
        if name.startswith("agentforge:")
    }
    assert told["g-1"] == (0.4, None)
    assert told["g-2"] == (None, "stage_out_of_range")
    assert str(told["zero"][0]) == "0.0"
    assert told["p-1"] == (None, "pack_missing")
    assert told["p-2"] == (0.5, None)
    assert {told[f"p-{name}"] for name in hostile.BAD_PACKS} == {(None, "pack_invalid")}
    assert told["twice"] == (0.0, None)


def test_what_result_json_says_wins_over_its_side_file(warehouse: tuple[Settings, RunSummary]) -> None:
    found = rows(warehouse[0], "reconciliation").filter(pl.col("attempt_id") == "harbor:side-1")
    assert found.select("field", "recorded", "recomputed", "agrees").rows() == [("reward:reward", 0.5, 1.0, False)]


def asked(where: Settings, query: str) -> list[tuple[Any, ...]]:
    return database.connect(where, query).sql(query).fetchall()


@pytest.fixture(scope="module")
def twice(tmp_path_factory: pytest.TempPathFactory) -> Settings:
    """The same job and run, landed on two days; on the second with more in it."""
    folder = tmp_path_factory.mktemp("two-days")
    for day, names in ((hostile.DAY, "1"), (LATER, "12")):
        at = f"harbor/{day}/grown"
        write(folder, {f"{at}/{name}/result.json": text(trial(f"t-{name}")) for name in names})
        write(folder, {f"{at}/result.json": job("grown", 3, n_completed_trials=len(names))})
        write(folder, {f"agentcompass/{day}/r/b/results.jsonl": lines(record("a", len(names) > 1))})
    where = settings(folder)
    ran(where)
    return where


def test_of_two_days_the_later_one_is_current(twice: Settings) -> None:
    landed = "SELECT DISTINCT landed_on::VARCHAR FROM {}_current"
    for table in ("observations", "benchmark_metrics", "run_totals", "benchmark_runs", "attempts", "rewards"):
        assert asked(twice, landed.format(table)) == [(LATER,)]
    headlines = "SELECT run_id, value FROM benchmark_metrics_current WHERE headline ORDER BY run_id"
    assert asked(twice, headlines) == [("grown", 1.0), ("r", 1.0)]


def test_pass_unbiased_is_the_plain_sum_in_order(tmp_path: Path) -> None:
    right = [[(task * 7 + attempt * 5) % 11 < 3 for attempt in range(3)] for task in range(4_000)]
    told = [record(f"t{task:05}", attempts=[record("x", one) for one in each]) for task, each in enumerate(right)]
    write(tmp_path, {f"{COMPASS}/r/b/results.jsonl": lines(*told)})
    where = settings(tmp_path)
    total = 0.0
    for each in right:
        total += 1.0 - (3 - sum(each)) / 3
    for _ in range(3):
        ran(where)
        found = rows(where, "benchmark_metrics").filter(
            pl.col("reducer") == "pass_unbiased", pl.col("k") == 1, pl.col("scope") == "overall"
        )
        assert found["value"].unique().to_list() == [total / len(right)]


# What follows does not hold yet.


@pytest.mark.parametrize("table", ["recorded_values", "reconciliation"])
def test_of_a_runs_own_figures_the_later_day_is_current(table: str, twice: Settings) -> None:
    query = f"SELECT value_ FROM (SELECT recorded_in AS value_ FROM {table}_current WHERE run_id = 'grown')"  # noqa: S608
    assert len(asked(twice, query)) == 1


def test_missing_trials_of_a_run_are_current_once(tmp_path: Path) -> None:
    write(tmp_path, {f"harbor/{day}/j/result.json": job("j", 2) for day in (hostile.DAY, LATER)})
    write(tmp_path, {f"harbor/{LATER}/j/1/result.json": text(trial("j-1"))})
    where = settings(tmp_path)
    ran(where)
    assert asked(where, "SELECT sum(missing) FROM run_totals_current") == [(1,)]


def test_current_views_agree_on_the_day_of_an_attempt(tmp_path: Path) -> None:
    for day, hour in ((hostile.DAY, 5), (LATER, 2)):
        ended = trial("t", {"reward": hour / 5}, finished_at=f"{hostile.DAY}T0{hour}:00:00Z")
        write(tmp_path, {f"harbor/{day}/j/1/result.json": text(ended)})
    where = settings(tmp_path)
    ran(where)
    days = {table: asked(where, f"SELECT landed_on FROM {table}_current") for table in ("attempts", "observations")}  # noqa: S608
    assert days["attempts"] == days["observations"]


def test_a_huge_plan_stops_no_run(tmp_path: Path) -> None:
    many = lines(*(record(f"t{number}") for number in range(1025)))
    write(tmp_path, {f"{COMPASS}/r/b/results.jsonl": many, f"{COMPASS}/r/b/run.json": text({"k": 2**53})})
    assert ran(settings(tmp_path)).attempts == 1025


def test_each_job_keeps_its_own_file(tmp_path: Path) -> None:
    for name in ("one", "two"):
        write(tmp_path, {f"{HARBOR}/{name}/result.json": b'{"n_total_trials": 3}'})
        write(tmp_path, {f"{HARBOR}/{name}/1/result.json": text(trial(name))})
    where = settings(tmp_path)
    ran(where)
    assert rows(where, "run_totals")["missing"].to_list() == [2, 2]


def test_a_data_set_may_be_called_terminal_bench(tmp_path: Path) -> None:
    figures = {"oracle__m__terminal-bench": {"n_trials": 1, "n_errors": 0, "metrics": [{"mean": 0.5}]}}
    write(tmp_path, {f"{HARBOR}/j/result.json": job("j", 1, evals=figures)})
    write(tmp_path, {f"{HARBOR}/j/1/result.json": text(trial("t", source="terminal-bench"))})
    where = settings(tmp_path)
    ran(where)
    assert rows(where, "reconciliation")["field"].str.head(8).sort().to_list() == ["job:mean", "job:n_er", "job:n_tr"]


def test_a_steps_reward_file_that_agrees_is_no_disagreement(tmp_path: Path) -> None:
    steps = [{"step_name": "s", "verifier_result": {"rewards": {"reward": 1.0}}}]
    write(tmp_path, {f"{HARBOR}/j/1/result.json": text(trial("t", None, step_results=steps))})
    write(tmp_path, {f"{HARBOR}/j/1/steps/s/verifier/reward.txt": b"1.0"})
    assert ran(settings(tmp_path)).disagreements == 0


def test_a_trial_that_loses_to_another_format_is_told(tmp_path: Path) -> None:
    write(tmp_path, {f"{HARBOR}/j/1/result.json": text(trial("same"))})
    write(tmp_path, {f"{HARBOR}/tb/results.json": text({"results": [entry("same", False)]})})
    where = settings(tmp_path)
    summary = ran(where)
    assert summary.attempts + summary.identical_copies + rows(where, "quarantine").height == 2


def test_what_an_agent_wrote_makes_no_run(tmp_path: Path) -> None:
    write(tmp_path, {f"{HARBOR}/j/1/result.json": text(trial("t", {"reward": 0.0}))})
    write(tmp_path, {f"{HARBOR}/j/1/artifacts/result.json": text(trial("forged"))})
    where = settings(tmp_path)
    ran(where)
    assert rows(where, "run_totals")["run_id"].to_list() == ["j"]
