"""Benchmark metrics and run totals from plain rows: the reference of the two tables of these names.

Written from the rules alone, one run at a time and without any speed in mind, so that a table that agrees with it was
computed twice. Rows are dictionaries with the columns of `observations`, `benchmark_runs` and `rewards`; decoding is
not judged here.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

from .benchmark_figures import breakdown_of, figure_rows
from .benchmark_model import GROUP, Figure, Group, Row, Rules, failed, in_order, recorded_scores
from .benchmark_tasks import registered_attempts, task_figures
from .benchmark_trials import agentforge_figures, harbor_figures, planned_attempts, reward_valid, terminal_bench_figures

NAMES = ("benchmark", "agent_name", "model_name")
TOKENS = ("n_input_tokens", "n_cache_tokens", "n_output_tokens")
INT64 = range(-(2**63), 2**63)

Worth = Mapping[tuple[object, ...], float | None]

FIGURES: Mapping[str, Callable[[Group, Rules], list[Figure]]] = {
    "harbor": harbor_figures,
    "terminal-bench": terminal_bench_figures,
    "agentforge": agentforge_figures,
    "agentcompass-1": task_figures,
    "agentcompass-0": task_figures,
}


def benchmark_metrics(
    observations: Sequence[Row], benchmark_runs: Sequence[Row], rewards: Sequence[Row], rules: Rules
) -> list[Row]:
    """Every row of `benchmark_metrics`, in no particular order."""
    groups, _ = _grouped(observations, benchmark_runs, rewards, rules)
    return [
        {**group.names, **row, "rules": rules.id}
        for group in groups
        if group.rows
        for figure in FIGURES[group.format](group, rules)
        for row in figure_rows(figure, breakdown_of(group))
    ]


def run_totals(
    observations: Sequence[Row], benchmark_runs: Sequence[Row], rewards: Sequence[Row], rules: Rules
) -> list[Row]:
    """Every row of `run_totals`, in no particular order."""
    groups, nameless = _grouped(observations, benchmark_runs, rewards, rules)
    return [{**group.names, **_totals(group, rules), "rules": rules.id} for group in (*groups, *nameless)]


def _grouped(
    observations: Sequence[Row], runs: Sequence[Row], rewards: Sequence[Row], rules: Rules
) -> tuple[list[Group], list[Group]]:
    """The groups; and, without names, the trials that only a run's own file knows and that fit no single group."""
    found: dict[tuple[object, ...], list[Row]] = {}
    for row in observations:
        found.setdefault(tuple(row[name] for name in GROUP), []).append(row)
    worth: Worth = {(row["attempt_id"], row["landed_on"], row["reward_kind"]): row["reward"] for row in rewards}
    by_run: dict[tuple[object, ...], list[Row]] = {}
    for run in runs:
        by_run.setdefault(_run_of(run), []).append(run)
    groups = {key: _group(key, rows, by_run.get(_run_of(rows[0]), []), worth, rules) for key, rows in found.items()}
    members: dict[tuple[object, ...], list[tuple[object, ...]]] = {}
    for key, rows in found.items():
        members.setdefault(_run_of(rows[0]), []).append(key)
    nameless = []
    for run in runs:
        keys = [key for key in members.get(_run_of(run), []) if groups[key].run is run]
        beyond = (run["registered"] or 0) - sum(len(found[key]) for key in keys) - run["duplicates"]
        counts = {"beyond": max(0, beyond), "waiting": run["running"] or 0}
        for key in keys:
            joined = counts if len(keys) == 1 else {}
            groups[key] = replace(groups[key], unseen=counts["beyond"] > 0, **joined)
        if len(keys) == 1:
            continue
        if any(counts.values()) and (keys or not run["duplicates"]):
            names = {name: None if name in NAMES else run[name] for name in GROUP}
            nameless.append(Group(names, (), (), run, {}, **counts))
    return list(groups.values()), nameless


def _run_of(row: Row) -> tuple[object, ...]:
    return row["source"], row["run_id"], row["landed_on"]


def _group(
    key: tuple[object, ...],
    rows: Sequence[Row],
    runs: Sequence[Row],
    worth: Worth,
    rules: Rules,
) -> Group:
    names = dict(zip(GROUP, key, strict=True))
    describing = [run for run in runs if run["benchmark"] in {None, names["benchmark"]}]
    kind = {True: rules.staged_kind, False: rules.recorded_kind}
    return Group(
        names,
        sorted((row for row in rows if not row["running"]), key=_key_order),
        [row for row in rows if row["running"]],
        describing[0] if describing else {},
        {
            row["attempt_id"]: worth.get((row["attempt_id"], row["landed_on"], kind[row["reward_recipe"] == "staged"]))
            for row in rows
        },
    )


def _key_order(row: Row) -> tuple[str, int, str]:
    return row["task_id"], row["attempt_index"] or 0, row["attempt_id"]


def _totals(group: Group, rules: Rules) -> Row:
    rows = sorted(group.rows, key=lambda row: str(row["attempt_id"]))
    costs = [row["cost_usd"] for row in rows if row["cost_usd"] is not None]
    cost = in_order(costs)
    present, refused = sum(row["present"] for row in rows), _why_no_metrics(group, rules)
    registered = _registered(group, refused=refused is not None)
    return {
        "registered": registered,
        "present": present,
        "valid": sum(_valid(row, group, rules) for row in group.rows),
        "errors": sum(failed(row) for row in rows),
        "missing": registered - present,
        "running": len(group.running) + group.waiting,
        **{name: _exact_sum(_told(rows, name)) for name in TOKENS},
        **{f"{name}_n": len(_told(rows, name)) for name in TOKENS},
        "cost_usd": cost if costs and math.isfinite(cost) else None,
        "cost_usd_n": len(costs),
        "first_start": min((row["started_at"] for row in rows if row["started_at"] is not None), default=None),
        "last_finish": max((row["finished_at"] for row in rows if row["finished_at"] is not None), default=None),
        "revisions": [revision for revision in [group.run.get("revision")] if revision is not None],
        "reason": refused,
    }


def _registered(group: Group, *, refused: bool) -> int:
    if group.names["source"] == "agentcompass":
        return registered_attempts(group, refused=refused)
    if group.format == "agentforge":
        return planned_attempts(group)
    return len(group.rows) + group.beyond


def _why_no_metrics(group: Group, rules: Rules) -> str | None:
    if group.mixed:
        return "mixed_attempt_plans"
    refused = group.rows and not FIGURES[group.format](group, rules)
    return "strategy_not_supported" if refused else None


def _told(rows: Sequence[Row], name: str) -> list[int]:
    return [row[name] for row in rows if row[name] is not None]


def _exact_sum(values: Sequence[int]) -> int | None:
    total = sum(values)
    return total if values and total in INT64 else None


def _valid(row: Row, group: Group, rules: Rules) -> bool:
    """Whether the attempt has an official score; an invalid reward is none."""
    if group.format == "harbor":
        return reward_valid(row, rules)
    if group.format == "agentforge":
        return group.rewards[row["attempt_id"]] is not None
    return bool(recorded_scores(row)) and not row["fatal"]
