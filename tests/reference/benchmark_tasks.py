"""The figures of runs whose units are tasks with numbered attempts: both generations of task results.

Here: which metrics a run has, what a task is worth under each reducer, and what counts as its error. Not here: how task
values become rows.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from .benchmark_model import (
    Figure,
    Group,
    Plan,
    Row,
    Rules,
    Scores,
    Unit,
    failed,
    mean,
    pass_at_k,
    pass_within_k,
    recorded_scores,
    reported_ks,
)

Reduce = Callable[[Scores, float], tuple[float | None, float | None]]
"""Scores of the attempts, and what fills a missing one, to the values under `scored_only` and `strict`."""


@dataclass(frozen=True)
class Metric:
    """A metric of a run: the recorded entry that it is read from, its kind and its reducers for k > 1."""

    name: str
    entry: str
    binary: bool
    reducers: Sequence[str]
    primary: bool


@dataclass(frozen=True)
class Task:
    """One task under one metric: its attempts and their scores by number; none of an invalidated task."""

    attempts: Mapping[int, Row]
    scores: Mapping[int, float]
    registered: int
    stopped: bool
    invalidated: bool
    category: tuple[str, ...]


def task_figures(group: Group, rules: Rules) -> list[Figure]:
    """Every figure of a run of task results; none where its tasks' plans differ."""
    if group.mixed:
        return []
    plan, metrics, figures = group.plan, _metrics(group), []
    for metric in metrics:
        tasks = [_task(rows, metric, metrics, plan) for rows in group.tasks.values()]
        fill = 0.0 if metric.binary else group.run.get("missing_score") or 0.0
        headline = _headline(group, metric) if metric.primary else None
        for reducer in _reducers(metric, plan):
            units = [_unit(group, task, plan.k, plan.k, _REDUCERS[reducer], fill) for task in tasks]
            figures.append(Figure(metric.name, reducer, plan.k, units, headline))
        if metric.binary and "pass" in metric.reducers and not (plan.strategy == "pass" and plan.k > 1):
            figures += _unbiased(group, metric, tasks, plan, rules)
    return figures


def registered_attempts(group: Group, *, refused: bool) -> int:
    """How many attempts there should be: a task's planned or largest number, fewer where it stopped at a success.

    In a run whose figures are `refused`, each task has its own plan, and nothing says what a success is.
    """
    metrics, registered = _metrics(group), 0
    for rows in group.tasks.values():
        plan = group.plan_of(rows) if group.mixed else group.plan
        attempts = {row["attempt_index"]: row for row in rows}
        stopped = not refused and plan.strategy == "pass" and _stopped(attempts, metrics)
        registered += sum(row["present"] for row in rows) if stopped else max(plan.k, *attempts)
    return registered


def _metrics(group: Group) -> list[Metric]:
    return _first_metrics(group) if group.format == "agentcompass-0" else _strict_metrics(group)


def _first_metrics(group: Group) -> list[Metric]:
    """`accuracy`, the declared or else the recorded score, or both; without either, `accuracy`."""
    entries = [entry for row in group.rows for entry in row["metrics"] if entry["value"] is not None]
    recorded = "score" if any(entry["name"] == "score" for entry in entries) else None
    score = group.run.get("score_key") or recorded
    metrics = []
    if score is None or any(entry["name"] == "correct" and entry["boolean"] for entry in entries):
        metrics.append(Metric("accuracy", "correct", binary=True, reducers=_of_kind(binary=True), primary=True))
    if score is not None:
        metrics.append(Metric(score, score, binary=False, reducers=_of_kind(binary=False), primary=True))
    return metrics


def _strict_metrics(group: Group) -> list[Metric]:
    """The declared metrics; without a contract those recorded, of which all-boolean ones are binary."""
    if contract := group.run.get("metric_contract"):
        without_primary = not any(declared["primary"] for declared in contract)
        return [_declared(declared, primary=declared["primary"] or without_primary) for declared in contract]
    recorded: dict[str, bool] = {}
    for row in group.rows:
        for entry in row["metrics"]:
            binary = entry["boolean"] or entry["value"] is None
            recorded[entry["name"]] = recorded.get(entry["name"], True) and binary
    recorded = recorded or {"correct": True}
    primary = next((name for name in ("correct", "score") if name in recorded), min(recorded))
    return [Metric(name, name, binary, _of_kind(binary=binary), name == primary) for name, binary in recorded.items()]


def _declared(declared: Row, *, primary: bool) -> Metric:
    binary = declared["kind"] == "binary_success"
    reducers = _of_kind(binary=binary) if declared["reducers"] is None else declared["reducers"]
    return Metric(declared["name"], declared["name"], binary, reducers, primary)


def _of_kind(*, binary: bool) -> tuple[str, ...]:
    return ("avg", "pass") if binary else ("avg",)


def _reducers(metric: Metric, plan: Plan) -> list[str]:
    """A single attempt has nothing to reduce; an early stop leaves only `pass` of a binary primary metric exact."""
    if plan.k == 1:
        return ["native"]
    exact = _of_kind(binary=metric.binary)
    if plan.strategy == "pass":
        exact = ("pass",) if metric.binary and metric.primary else ()
    return [reducer for reducer in exact if reducer in metric.reducers]


def _headline(group: Group, metric: Metric) -> str:
    if group.run.get("missing_score") is not None:
        return "strict"
    if group.run.get("exclude_missing"):
        return "scored_only"
    return "strict" if group.format == "agentcompass-0" and metric.name == "accuracy" else "scored_only"


def _task(rows: Sequence[Row], metric: Metric, metrics: Sequence[Metric], plan: Plan) -> Task:
    attempts = {row["attempt_index"]: row for row in rows}
    invalidated = any(row["fatal"] for row in rows)
    scores = {index: score for index, row in attempts.items() if (score := _score(row, metric)) is not None}
    return Task(
        attempts,
        {} if invalidated else scores,
        max(plan.k, *attempts),
        plan.strategy == "pass" and _stopped(attempts, metrics),
        invalidated,
        tuple(rows[0]["category"] or ()),
    )


def _score(row: Row, metric: Metric) -> float | None:
    boolean = {entry["name"]: entry["boolean"] for entry in row["metrics"]}
    if metric.binary and not boolean.get(metric.entry):
        return None
    return recorded_scores(row).get(metric.entry)


def _stopped(attempts: Mapping[int, Row], metrics: Sequence[Metric]) -> bool:
    """Every attempt up to the last one is there, and that one succeeded."""
    there = {index: row for index, row in attempts.items() if row["present"]}
    if not there or set(there) != set(range(1, max(there) + 1)):
        return False
    return any(_score(there[max(there)], metric) == 1 for metric in metrics if metric.primary and metric.binary)


def _unit(group: Group, task: Task, upto: int, k: int, reduce: Reduce, fill: float) -> Unit:
    """A task by its attempts 1 to `upto`. In the first format a missing attempt is unavailable, and no error."""
    indexes = range(1, upto + 1)
    scored, strict = reduce([task.scores.get(index) for index in indexes], fill)
    there = [task.attempts[index] for index in indexes if index in task.attempts and task.attempts[index]["present"]]
    missing = group.format == "agentcompass-1" and len(there) < k and not (task.stopped and upto == k)
    return Unit(
        {"scored_only": scored, "strict": strict},
        evaluated=scored is not None,
        error=missing or task.invalidated or any(failed(row) for row in there),
        invalidated=task.invalidated,
        category=task.category,
    )


def _native(scores: Scores, fill: float) -> tuple[float | None, float | None]:
    return scores[0], fill if scores[0] is None else scores[0]


def _avg(scores: Scores, fill: float) -> tuple[float | None, float | None]:
    return None if None in scores else mean(scores), mean([fill if score is None else score for score in scores])


def _pass(scores: Scores, _: float) -> tuple[float | None, float | None]:
    return pass_within_k(scores)


_REDUCERS: Mapping[str, Reduce] = {"native": _native, "avg": _avg, "pass": _pass}


def _unbiased(group: Group, metric: Metric, tasks: Sequence[Task], plan: Plan, rules: Rules) -> list[Figure]:
    figures = []
    for k in reported_ks(max(task.registered for task in tasks), rules, declared=plan.k):

        def reduce(scores: Scores, _: float, k: int = k) -> tuple[float | None, float | None]:
            known = [score for score in scores if score is not None]
            successes = sum(score == 1 for score in known)
            return pass_at_k(len(known), successes, k), pass_at_k(len(scores), successes, k)

        units = [_unit(group, task, task.registered, k, reduce, 0.0) for task in tasks]
        figures.append(Figure(metric.name, "pass_unbiased", k, units))
    return figures
