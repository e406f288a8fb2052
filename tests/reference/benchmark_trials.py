"""The figures of jobs and runs whose units are trials: Harbor, terminal-bench and AgentForge.

Here: which trials count with what under each policy. Not here: how their values become rows.
"""

from collections.abc import Callable, Mapping, Sequence

from .benchmark_model import (
    Figure,
    Group,
    Row,
    Rules,
    Unit,
    pass_at_k,
    pass_within_k,
    recorded_scores,
    reported_ks,
)

HARBOR_POLICIES = ("scored_only", "strict", "harbor_0_26", "harbor_0_25")

Rewards = Mapping[str, float]


def reward_valid(row: Row, rules: Rules) -> bool:
    """Only numeric rewards, some, and no exception of a kind that voids them; the file's own ruling on it wins."""
    rulings = [
        one["type"] not in rules.voiding_exceptions if one["has_valid_reward"] is None else one["has_valid_reward"]
        for one in row["exceptions"]
    ]
    rewards = [entry["value"] for entry in row["metrics"]]
    return bool(rewards) and None not in rewards and all(rulings)


def harbor_figures(group: Group, rules: Rules) -> list[Figure]:
    """One mean per reward key, and pass@k of the primary one: `reward`, or the only key."""
    keys = sorted({entry["name"] for row in group.rows for entry in row["metrics"]}) or ["reward"]
    primary = "reward" if "reward" in keys else keys[0] if len(keys) == 1 else None
    valid = {row["attempt_id"]: recorded_scores(row) if reward_valid(row, rules) else {} for row in group.rows}
    figures = []
    for key in keys:
        used = any(key in rewards for rewards in valid.values())
        units = [_harbor_trial(row, key, valid[row["attempt_id"]], used=used) for row in group.rows]
        absent = Unit(dict.fromkeys(HARBOR_POLICIES) | {"strict": 0.0}, evaluated=False)
        headline = "scored_only" if primary in {key, None} else None
        bound = ["strict"] if group.unseen and not group.beyond else []
        figures.append(Figure(key, "mean", None, units + [absent] * group.beyond, headline, bound))
    return figures if primary is None else figures + _harbor_pass(group, valid, primary, rules)


def _harbor_trial(row: Row, key: str, valid: Rewards, *, used: bool) -> Unit:
    return Unit(
        {
            "scored_only": valid.get(key),
            "strict": valid.get(key, 0.0),
            "harbor_0_26": valid.get(key, 0.0) if valid and used else None,
            "harbor_0_25": recorded_scores(row).get(key, 0.0),
        },
        evaluated=key in valid,
        error=row["error"],
    )


def _harbor_pass(group: Group, valid: Mapping[str, Rewards], primary: str, rules: Rules) -> list[Figure]:
    if any(rewards.get(primary, 0.0) not in {0.0, 1.0} for rewards in valid.values()):
        return []
    passed = {attempt_id: rewards.get(primary) for attempt_id, rewards in valid.items()}
    theirs = _harbor_0_26_pass(group, valid, rules)
    figures = []
    for k in reported_ks(max(map(len, group.tasks.values())), rules):
        units = _unbiased(group, passed, k, {"harbor_0_26": theirs[k]} if k in theirs else {})
        figures.append(Figure(primary, "pass_unbiased", k, units, upper_bound=HARBOR_POLICIES if group.unseen else ()))
    return figures


def _harbor_0_26_pass(
    group: Group, valid: Mapping[str, Rewards], rules: Rules
) -> dict[int, Mapping[str, float | None]]:
    """By k and task; nothing at all where a valid trial has several keys or a non-binary value."""
    trials = {task: [valid[row["attempt_id"]] for row in rows] for task, rows in group.tasks.items()}
    kept = {task: [[*rewards.values()] for rewards in ones if rewards] for task, ones in trials.items() if any(ones)}
    if not kept or any(one not in ([0.0], [1.0]) for ones in kept.values() for one in ones):
        return {}
    ks = reported_ks(min(map(len, kept.values())), rules, first=rules.pass_k_powers_of)
    return {k: {task: pass_at_k(len(ones), ones.count([1.0]), k) for task, ones in kept.items()} for k in ks}


def _unbiased(
    group: Group, passed: Mapping[str, float | None], k: int, others: Mapping[str, Mapping[str, float | None]]
) -> list[Unit]:
    """Every task's unbiased pass@k over the trials that were found; `others` gives the values of further policies."""
    units = []
    for task, rows in group.tasks.items():
        known = [one for row in rows if (one := passed[row["attempt_id"]]) is not None]
        scored = pass_at_k(len(known), known.count(1.0), k)
        values = {"scored_only": scored, "strict": pass_at_k(len(rows), known.count(1.0), k)}
        values |= {policy: by_task.get(task) for policy, by_task in others.items()}
        fewer = sum(row["present"] for row in rows) < k
        units.append(Unit(values, scored is not None, fewer or any(row["error"] for row in rows)))
    return units


def terminal_bench_figures(group: Group, rules: Rules) -> list[Figure]:
    """Accuracy and pass@k of the trials; null is not resolved."""
    passed = {row["attempt_id"]: recorded_scores(row).get("accuracy") for row in group.rows}
    trials = _trials(group, lambda row: passed[row["attempt_id"]])
    return [
        Figure("accuracy", "mean", None, trials, "strict"),
        *(
            Figure("accuracy", "pass_unbiased", k, _unbiased(group, passed, k, {}))
            for k in reported_ks(max(map(len, group.tasks.values())), rules)
        ),
    ]


def agentforge_figures(group: Group, rules: Rules) -> list[Figure]:
    """Mean reward, pass@1, and whether one of the planned attempts passed."""
    k = group.plan.k

    def passed(row: Row) -> float | None:
        reward = group.rewards[row["attempt_id"]]
        return None if reward is None else float(reward >= rules.pass_threshold)

    tasks = [_planned(rows, k, passed) for rows in group.tasks.values()]
    return [
        Figure("reward", "mean", None, _trials(group, lambda row: group.rewards[row["attempt_id"]]), "scored_only"),
        Figure("passed", "mean", None, _trials(group, passed), "strict"),
        Figure("passed", "pass", k, tasks),
    ]


def _planned(rows: Sequence[Row], k: int, passed: Callable[[Row], float | None]) -> Unit:
    """A task by its planned attempts, all of them where numbers repeat; one with fewer than k counts as an error."""
    planned = [row for row in rows if row["attempt_index"] is None or row["attempt_index"] <= k]
    scores = [score for score in map(passed, planned) if score is not None]
    scored, strict = pass_within_k([*scores, *[None] * (k - len(scores))])
    found = [row for row in planned if row["present"]]
    error = len(found) < k or any(row["error"] for row in found)
    return Unit({"scored_only": scored, "strict": strict}, scored is not None, error)


def _trials(group: Group, score: Callable[[Row], float | None]) -> list[Unit]:
    """Every trial, and those that left nothing: what has no score counts as 0 under `strict`."""
    units = [
        Unit({"scored_only": value, "strict": value or 0.0}, value is not None, row["error"])
        for row, value in ((row, score(row)) for row in group.rows)
    ]
    absent = planned_attempts(group) - len(group.rows) if group.format == "agentforge" else group.beyond
    return units + [Unit({"scored_only": None, "strict": 0.0}, evaluated=False)] * absent


def planned_attempts(group: Group) -> int:
    """How many attempts there should be: a task's planned or largest number, or as many as were found."""
    return sum(
        max(group.plan_of(rows).k, len(rows), *(row["attempt_index"] or 0 for row in rows))
        for rows in group.tasks.values()
    )
