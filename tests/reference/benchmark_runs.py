"""Seeded, varied benchmark runs as plain rows, in every format: what decoders may give and reports get wrong.

Every rule has both of its sides here: scores that are missing, voided, overruled or null; attempts that left nothing,
ran too often or still run; plans that differ; categories that a hierarchy knows or not; trials that only a job's own
file knows.
"""

import datetime as dt
from collections.abc import Iterator
from random import Random

from .benchmark_model import Row
from .benchmark_rows import SCORES, Draft, Runs, scored, tasks
from .benchmark_task_runs import agentcompass_0, agentcompass_1
from .hostile import chance, identifier

HUGE = 1.7e308
DAYS = (dt.date(2026, 11, 29), dt.date(2026, 11, 30))
VOIDING = ("RateLimitError", "VerifierTimeoutError", "CancelledError", "SandboxBuildFailedError")
HARMLESS = ("AgentTimeoutError", "NonZeroAgentExitCodeError", "RuntimeError", "ratelimiterror", "<script>")


def runs(seed: int, count: int) -> Iterator[Runs]:
    """Yield `count` runs, the same ones for the same seed, each with an id of its own."""
    rng = Random(seed)
    for number in range(count):
        draw, source = rng.choice(_FORMATS)
        run_id = f"run-{number}" if chance(rng, 0.7) else f"run-{number}/{identifier(rng)}"
        made = Draft(rng, source, run_id, rng.choice(DAYS))
        draw(made)
        rng.shuffle(made.rows.observations)
        if made.one_in(20):
            _exaggerate(made.rows.observations)
        yield _on_both_days(made.rows) if made.one_in(10) else made.rows


def _exaggerate(observations: list[Row]) -> None:
    """Make large scores and costs so large that their sum is no double any more."""
    for row in observations:
        row["cost_usd"] = HUGE if row["cost_usd"] == 2.5 else row["cost_usd"]
        row["metrics"] = [entry | {"value": HUGE} if entry["value"] == 1e12 else entry for entry in row["metrics"]]


def _on_both_days(once: Runs) -> Runs:
    """The same run landed twice: ids are the same, and every day has figures of its own."""
    return Runs(*([{**row, "landed_on": day} for day in DAYS for row in part] for part in once))


def _harbor(run: Draft) -> None:
    rng = run.rng
    if run.one_in(25):
        run.describe(registered=rng.choice((None, 0, 3)), duplicates=rng.choice((0, 0, 2)))
        return
    groups = {
        (rng.choice(("planner", None)), rng.choice(("m", "n", None)), rng.choice(("adhoc", "ds")))
        for _ in range(rng.choice((1, 1, 1, 2, 3)))
    }
    for agent, model, dataset in sorted(groups, key=str):
        names = {"agent_name": agent, "model_name": model, "benchmark": dataset, "format": "harbor"}
        draw = rng.choice(_REWARDS)
        clean = run.one_in(3)
        for task in tasks(rng, 4):
            for _ in range(rng.choice((1, 2, 2, 3, 4, 6, 11))):
                exceptions = [] if clean else _exceptions(rng)
                run.observe(
                    **names,
                    task_id=task,
                    metrics=draw(rng) if clean or chance(rng, 0.85) else [],
                    exceptions=exceptions,
                    error=bool(exceptions),
                    status=exceptions[0]["type"].lower() if exceptions else "completed",
                )
    if chance(rng, 0.7):
        duplicates, beyond = rng.choice((0, 0, 0, 2)), rng.choice((-1, 0, 0, 1, 5))
        run.describe(
            registered=rng.choice((None, *[max(0, len(run.rows.observations) + duplicates + beyond)] * 5)),
            running=rng.choice((None, 0, max(0, beyond) and rng.randint(0, beyond))),
            duplicates=duplicates,
        )


def _exceptions(rng: Random) -> list[Row]:
    return [
        {"type": rng.choice((*VOIDING, *HARMLESS)), "has_valid_reward": rng.choice((None, None, None, True, False))}
        for _ in range(rng.choice((0, 0, 0, 0, 1, 1, 2)))
    ]


def _binary(rng: Random) -> list[Row]:
    return [scored("reward", rng.choice((0.0, 1.0, True, False)))]


def _fractional(rng: Random) -> list[Row]:
    return [scored("reward", rng.choice(SCORES))]


def _other_key(rng: Random) -> list[Row]:
    return [scored("score", rng.choice((0.0, 1.0)))]


def _several_keys(rng: Random) -> list[Row]:
    keys = rng.choice((("reward",), ("reward",), ("reward", "style"), ("style",), ("a/b", "style")))
    return [
        scored(key, rng.choice((0.0, 1.0, True, rng.choice((0.5, None)) if key == "style" else 1.0))) for key in keys
    ]


def _changing_key(rng: Random) -> list[Row]:
    return [scored(rng.choice(("reward", "reward", "other", "=cmd()")), rng.choice((0.0, 1.0)))]


def _no_key(_: Random) -> list[Row]:
    return []


_REWARDS = (_binary, _binary, _binary, _fractional, _other_key, _several_keys, _several_keys, _changing_key, _no_key)


def _terminal_bench(run: Draft) -> None:
    rng = run.rng
    names = {"benchmark": "terminal-bench", "format": "terminal-bench"}
    landed = run.one_in(3)
    for task in tasks(rng, 6):
        for number in range(rng.choice((1, 2, 4, 5, 5, 11))):
            resolved = rng.choice((True, False, False, None))
            run.observe(
                **names,
                task_id=task,
                attempt_index=number + 1,
                present=not (landed and run.one_in(8)),
                error=resolved is None,
                metrics=[] if resolved is None else [scored("accuracy", resolved)],
            )


def _agentforge(run: Draft) -> None:
    rng = run.rng
    for agent in sorted({rng.choice(("multi_agent", "single_agent")) for _ in range(rng.choice((1, 1, 2)))}):
        names = {"agent_name": agent, "benchmark": rng.choice(("pack-a", "pack-b")), "format": "agentforge"}
        k, recipe = rng.randint(1, 8), rng.choice(("staged", "staged", "binary", "hybrid"))
        mixed = run.one_in(8)
        of_job = tasks(rng, 3)
        for task in of_job:
            planned = k + (mixed and run.one_in(2))
            numbered = not run.one_in(15)
            unfilled = len(of_job) == 1 and run.one_in(3)
            for number in range(1, planned + 1 + (numbered and run.one_in(4)) - unfilled):
                status = rng.choice(("completed", "completed", "completed", "agent_failure", "infrastructure_failure"))
                row = run.observe(
                    **names,
                    task_id=task,
                    attempt_index=rng.choice((1, *[number] * 20)) if numbered else None,
                    present=chance(rng, 0.9) or not numbered,
                    reward_recipe=recipe,
                    plan_k=planned,
                )
                if row["present"]:
                    row |= {"status": status, "error": status != "completed"}
                    _reward(run, row)


def _reward(run: Draft, row: Row) -> None:
    rng = run.rng
    reward = rng.choice((1.0, 1.0, 0.0, 0.575, 0.9999, rng.random())) if chance(rng, 0.8) else None
    if row["error"] and chance(rng, 0.8):
        reward = None
    kind = "agentforge-staged/1" if row["reward_recipe"] == "staged" else "agentforge-recorded"
    told = {"attempt_id": row["attempt_id"], "landed_on": row["landed_on"], "rules": "v1", "reward_kind": kind}
    if reward is not None or chance(rng, 0.8):
        unknown = dict.fromkeys(("primary_value", "reward_transform_version", "recorded_reward", "reason"))
        verified = {"eligible": None if reward is None else 1, "verified": int(reward is not None)}
        run.rows.rewards.append(told | {"reward": reward} | verified | unknown)


_FORMATS = (
    (_harbor, "harbor"),
    (_harbor, "harbor"),
    (_harbor, "harbor"),
    (_terminal_bench, "harbor"),
    (_agentforge, "agentforge"),
    (agentcompass_1, "agentcompass"),
    (agentcompass_1, "agentcompass"),
    (agentcompass_1, "agentcompass"),
    (agentcompass_0, "agentcompass"),
    (agentcompass_0, "agentcompass"),
)
