"""Generated runs of tasks with numbered attempts: plans, early stops, categories and their hierarchies, contracts."""

import json
from collections.abc import Sequence
from random import Random
from typing import NamedTuple

from .benchmark_model import Row
from .benchmark_rows import SCORES, Draft, scored, tasks
from .hostile import Json, chance

CATEGORIES = ("py", "js", "web/nav", "a~b", "Ünïcødé", "=cmd()", "~1", "x", "y", "z")


class _Plan(NamedTuple):
    k: int
    strategy: str | None
    categories: Sequence[list[str] | None]
    broken: float


def _agentcompass(run: Draft, names: Row) -> tuple[_Plan, Row]:
    """The plan of a run of tasks, and what its own file says; an empty one where there is none."""
    rng = run.rng
    k = rng.choice((1, 1, 2, 2, 3, 4, 6))
    strategy = rng.choice((None, "avg", "avg", "pass"))
    hierarchy, categories = _categories(rng)
    described: Row = {}
    if hierarchy or chance(rng, 0.7):
        described = run.describe(
            benchmark=names["benchmark"],
            k=rng.choice((k, None)),
            strategy=rng.choice((strategy, None)),
            aggregation="category_hierarchy"
            if hierarchy
            else rng.choice((None, *["micro", "category_mean"] * 3, "category_hierarchy")),
            hierarchy=json.dumps(hierarchy, sort_keys=True) if hierarchy else None,
            **rng.choice(({}, {}, {"missing_score": rng.choice((0.0, 0.5, -1.0))}, {"exclude_missing": True})),
        )
    return _Plan(k, strategy, categories, rng.choice((0.0, 0.1, 0.4, 1.0) if run.one_in(3) else (0.1, 0.3))), described


def _categories(rng: Random) -> tuple[Json | None, Sequence[list[str] | None]]:
    """A hierarchy or none, and the categories that tasks are drawn from; now and then one that it does not know."""
    if chance(rng, 0.55):
        return None, rng.choice(
            ([None, [], [""]], [["py"], ["js"], None], [["web/nav"], ["web", "nav"], ["a~b"], ["py"]])
        )
    known: list[list[str] | None] = []
    tree = _inner(rng, _children(rng, rng.sample(CATEGORIES, rng.randint(2, 6)), (), known))
    if chance(rng, 0.15):
        known += rng.choice(([["nobody knows"]], [None], [["py", "nobody"]]))
    if chance(rng, 0.1):
        tree["children"]["again"] = {"children": {leaf: {} for leaf in rng.sample(CATEGORIES, 2)}}
    return {"overall" if chance(rng, 0.97) else "top": tree}, known


def _children(rng: Random, names: list[str], path: tuple[str, ...], known: list[list[str] | None]) -> Json:
    """Leaves of these names, some of them below further nodes; `known` gains a category for each."""
    children: Json = {}
    while names:
        size = 1 if len(path) > 1 else rng.choice((1, 1, 2, 3))
        part, names = names[:size], names[size:]
        if len(part) == 1:
            known.append([*part] if chance(rng, 0.6) else [*path, *part])
            child: Json = rng.choice(({}, {"aggregation": "leaf"}, {"children": {}}))
        else:
            child = _inner(rng, _children(rng, part, (*path, f"/{part[0]}"), known))
        weight = {} if chance(rng, 0.5) else {"weight": rng.choice((1, 3, 0.5, 0, 2.25))}
        children[part[0] if len(part) == 1 else f"/{part[0]}"] = child | weight
    return children


def _inner(rng: Random, children: Json) -> Json:
    how = rng.choice((None, "unweighted", "weighted", "weighted", "weighted_by_count"))
    return {"children": children} | ({} if how is None else {"aggregation": how})


def agentcompass_1(run: Draft) -> None:
    rng = run.rng
    names = {"benchmark": "swe/bench", "agent_name": rng.choice((None, "harness")), "model_name": "m"}
    plan, described = _agentcompass(run, names)
    kinds = rng.choice(({"correct": True}, {"correct": True}, {"correct": True, "steps": False}, {"score": False}))
    if "correct" not in kinds:
        kinds = rng.choice((kinds, {"score": False, "compiled": True}, {"zeta": False, "alpha": False}))
        plan = plan._replace(strategy="avg" if plan.k > 1 else plan.strategy)
        described |= {"strategy": None} if described else {}
    if described and chance(rng, 0.5):
        described["metric_contract"] = _contract(rng, kinds)
    plans: Row = {"plan_k": rng.choice((plan.k, plan.k, None)), "plan_strategy": plan.strategy}
    mixed, fatal = plans["plan_k"] and run.one_in(12), run.one_in(6)
    for task in tasks(rng, 7):
        category = rng.choice(plan.categories)
        shared: Row = names | {"format": "agentcompass-1", "task_id": task, "category": category} | plans
        if mixed and chance(rng, 0.5):
            shared |= rng.choice(({"plan_k": plan.k + 1}, {"plan_strategy": "pass"}, {"plan_strategy": "avg"}))
        if run.one_in(12):
            run.observe(**shared, attempt_index=1, running=True, status="running")
            continue
        planned = max(plan.k, shared["plan_k"] or 1)
        for number in range(1, planned + 1 + 2 * run.one_in(15)):
            row = run.observe(**shared, attempt_index=number, present=chance(rng, 1 - plan.broken / 3))
            if row["present"]:
                row |= _strict_attempt(rng, kinds, plan.broken)
                row["fatal"] = fatal and run.one_in(8)
                row["error"] = row["error"] or row["fatal"]
            if plan.strategy == "pass" and any(
                one["name"] == "correct" and one["value"] == 1 for one in row["metrics"]
            ):
                _stop(run, shared, number, plan.k)
                break


def _stop(run: Draft, shared: Row, number: int, k: int) -> None:
    """The attempts after a success never ran; they may have been registered all the same."""
    if run.one_in(3):
        for later in range(number + 1, k + 1):
            run.observe(**shared, attempt_index=later, present=False)


def _contract(rng: Random, kinds: dict[str, bool]) -> list[Row]:
    primary = next((name for name in ("correct", "score") if name in kinds), next(iter(kinds)))
    unnamed = chance(rng, 0.1)
    return [
        {
            "name": name,
            "kind": "binary_success" if binary else "scalar",
            "reducers": rng.choice((None, ["avg", "pass"] if binary else ["avg"], ["avg"], [])),
            "primary": name == primary and not unnamed,
        }
        for name, binary in kinds.items()
    ]


def _strict_attempt(rng: Random, kinds: dict[str, bool], broken: float) -> Row:
    """Status, issues and metrics of release 1.0: an errored attempt may still have a score."""
    status = "completed"
    if chance(rng, broken):
        status = rng.choice(("run_error", "eval_error", "run_error_or_eval_error", "skipped", "cancelled"))
    scores = [
        scored(name, rng.choice((None, *[chance(rng, 0.5) if binary else rng.choice(SCORES)] * 12)))
        for name, binary in kinds.items()
        if chance(rng, 0.95)
    ]
    told = status == "completed" or (status.endswith("error") and chance(rng, 0.4))
    return {
        "status": status,
        "error": status.endswith("error") or (status == "completed" and chance(rng, 0.05)),
        "metrics": scores if told else [],
    }


def agentcompass_0(run: Draft) -> None:
    rng = run.rng
    names = {"benchmark": rng.choice(("gaia", "a/b")), "agent_name": "harness", "model_name": rng.choice((None, "m"))}
    plan, described = _agentcompass(run, names)
    answers, scores = rng.choice(((True, False), (True, False), (True, True), (False, True), (False, False)))
    if described and chance(rng, 0.4):
        described["score_key"] = rng.choice(("score", "f1", "nobody"))
    for task in tasks(rng, 7):
        shared = names | {"format": "agentcompass-0", "task_id": task, "category": rng.choice(plan.categories)}
        for number in range(1, plan.k + 1 + 2 * run.one_in(15)):
            row = run.observe(**shared, attempt_index=number, present=chance(rng, 1 - plan.broken / 3))
            if row["present"]:
                row |= _first_attempt(rng, plan.broken, answers=answers, scores=scores)
            if plan.strategy == "pass" and any(
                one["name"] == "correct" and one["value"] == 1 for one in row["metrics"]
            ):
                _stop(run, shared, number, plan.k)
                break


def _first_attempt(rng: Random, broken: float, *, answers: bool, scores: bool) -> Row:
    """Status and metrics of the first format: no score without a clean end."""
    status = rng.choice(("run_error", "eval_error", "error", "completed")) if chance(rng, broken) else "completed"
    error = status != "completed" or chance(rng, 0.05)
    told = []
    if answers:
        told.append(scored("correct", rng.choice((True, False, True, None))))
    if scores:
        told.append(scored("score", rng.choice((None, *SCORES))))
        told.append(scored("f1", rng.random()))
    return {"status": status, "error": error, "metrics": [] if error else told}
