"""Harbor jobs of the example store, and a run file of its predecessor, terminal-bench.

Here: the trials as planned, their directories, and what Harbor itself writes about a job. Not here: what counts, which
the rules say.
"""

import datetime as dt
import math
import random
import uuid
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from pipelines.cli.demo_files import DAYS, Document, StoredFile, generator, noon, rfc3339, stored

MESSAGES = {
    "AgentTimeoutError": "Agent execution timed out after 900.0 seconds",
    "EnvironmentStartTimeoutError": "Environment start timed out after 600.0 seconds",
    "ApiRateLimitError": "429 Too Many Requests",
    "VerifierTimeoutError": "Verifier execution timed out after 300.0 seconds",
}
VOIDING = {*MESSAGES} - {"AgentTimeoutError"}
"""What voids a reward in Harbor's own eyes."""


class Trial(NamedTuple):
    """One trial before it is played: what the verifier gave, and the exception that it, or its last step, ended with.

    With `steps`, the reward of each, the trial's own is their mean. `side`: what the side file says, where it differs;
    beside it stands a lot that nobody needs to read.
    """

    task: str
    rewards: Mapping[str, float] | None
    exception: str | None = None
    steps: Sequence[float] = ()
    side: bytes | None = None

    @property
    def valid(self) -> bool:
        """Whether Harbor counts its reward."""
        return bool(self.rewards) and self.exception not in VOIDING


class Job(NamedTuple):
    """One job: who worked on which data set, and its trials; `lost` more left no directory."""

    name: str
    day: dt.date
    dataset: str
    agent: str
    model: str | None
    trials: Sequence[Trial]
    lost: int = 0


def files(seed: int = 1) -> Iterator[StoredFile]:
    """Every file below `harbor/`."""
    made = {job.name: [*_job_files(job, seed)] for job in jobs(seed)}
    for produced in made.values():
        yield from produced
    for file in made["oracle"]:  # somebody copied the directory of one job into another one
        yield file._replace(key=file.key.replace("/oracle/", "/mini-large/oracle/"))
    yield stored("harbor", DAYS[2], "tb-core/results.json", _terminal_bench(seed))


def jobs(seed: int) -> Iterator[Job]:
    """A healthy job, the check of its tasks, and three in which something went wrong."""
    rng = generator(seed, "tb-mini")
    tasks = ("fix-nginx", "sqlite-repair", "parse-logs", "tune-cache")
    healthy = [Trial(task, {"reward": float(rng.random() < chance)}) for task in tasks for chance in (0.9, 0.7, 0.5)]
    yield Job("mini-large", DAYS[0], "tb-mini", "terminus", "m-large", healthy)
    yield Job("oracle", DAYS[0], "tb-mini", "oracle", None, [Trial(task, {"reward": 1.0}) for task in tasks])
    passed, failed = {"reward": 1.0}, {"reward": 0.0}
    yield Job(
        "mini-small",
        DAYS[1],
        "tb-mini",
        "terminus",
        "m-small",
        [
            # It had solved the task before its time was up; the side file was written before the last test had ended.
            Trial(tasks[0], passed, "AgentTimeoutError", side=b"0\n"),
            Trial(tasks[0], passed),
            Trial(tasks[0], failed),
            Trial(tasks[1], failed, "AgentTimeoutError"),
            Trial(tasks[1], passed),
            Trial(tasks[1], None, "EnvironmentStartTimeoutError"),
            Trial(tasks[2], failed),
            Trial(tasks[2], failed, "ApiRateLimitError"),  # a reward, but not of a fair trial
            Trial(tasks[2], passed),
            Trial(tasks[3], None, "EnvironmentStartTimeoutError"),
            Trial(tasks[3], None, "VerifierTimeoutError"),
        ],
        lost=1,
    )
    yield Job(
        "reviews",
        DAYS[2],
        "review",
        "terminus",
        "m-large",
        [
            Trial("api-rename", {"reward": 1.0, "style": 0.9, "tests": 1.0}),
            Trial("api-rename", {"reward": 0.0, "style": 0.7, "tests": 0.25}),
            Trial("drop-column", {"reward": 1.0, "tests": 1.0}),
            Trial("drop-column", {"reward": 1.0, "style": 0.8, "tests": 0.75}),
        ],
    )
    yield Job(
        "migrations",
        DAYS[2],
        "multi-step",
        "terminus",
        "m-large",
        [
            Trial("move-to-v2", {"reward": 1.0}, steps=(1.0, 1.0)),
            Trial("split-service", {"reward": 0.5}, "AgentTimeoutError", steps=(1.0, 0.0)),
            Trial("split-service", {"reward": 0.5}, "VerifierTimeoutError", steps=(1.0, 0.0)),
        ],
    )


def _job_files(job: Job, seed: int) -> Iterator[StoredFile]:
    rng = generator(seed, job.name)
    start = dt.datetime.combine(job.day, dt.time(2), dt.UTC)
    made: list[tuple[Trial, Document]] = []
    for trial in job.trials:
        document = _trial(job, trial, start + dt.timedelta(seconds=rng.randrange(3_600)), rng)
        made.append((trial, document))
        directory = f"{job.name}/{document['trial_name']}"
        yield stored("harbor", job.day, f"{directory}/result.json", document)
        yield from _beside(job, trial, directory)
    yield stored("harbor", job.day, f"{job.name}/result.json", _job(job, made, start, rng))


def _beside(job: Job, trial: Trial, directory: str) -> Iterator[StoredFile]:
    """What else stands in the directory of a trial: its side file, a log and a trajectory."""
    if not trial.rewards:
        return
    if len(trial.rewards) > 1:
        yield stored("harbor", job.day, f"{directory}/verifier/reward.json", trial.rewards)
    else:
        text = trial.side or str(trial.rewards["reward"]).encode()
        yield stored("harbor", job.day, f"{directory}/verifier/reward.txt", text)
    if trial.side:
        steps = [{"step": step, "observation": "ok " * 200} for step in range(300)]
        yield stored("harbor", job.day, f"{directory}/agent/trajectory.json", {"steps": steps})
        yield stored("harbor", job.day, f"{directory}/agent/terminal.log", b"ok 1 - still running\n" * 20_000)


def _trial(job: Job, trial: Trial, start: dt.datetime, rng: random.Random) -> Document:
    """A trial's own `result.json`."""
    name = f"{trial.task}__{''.join(rng.choices('abcdefghkmnpqrstuvwxyz23456789', k=7))}"
    ready, done = start + dt.timedelta(seconds=40), start + dt.timedelta(seconds=rng.randrange(120, 900))
    exception = trial.exception and {
        "exception_type": trial.exception,
        "exception_message": MESSAGES[trial.exception],
        "exception_traceback": "Traceback (most recent call last): …",
        "occurred_at": rfc3339(done),
    }
    ran = trial.exception != "EnvironmentStartTimeoutError"
    graded = {"rewards": dict(trial.rewards)} if trial.rewards else None
    steps = [
        {
            "step_name": f"step-{number}",
            "agent_result": _usage(rng),
            "verifier_result": {"rewards": {"reward": reward}},
            "exception_info": exception if number == len(trial.steps) else None,
        }
        for number, reward in enumerate(trial.steps, start=1)
    ]
    return {
        "schema_version": 1,
        "id": str(uuid.UUID(int=rng.getrandbits(128), version=4)),
        "task_name": trial.task,
        "trial_name": name,
        "trial_uri": f"file:///jobs/{job.name}/{name}",
        "task_id": {"path": f"tasks/{trial.task}"},
        "source": job.dataset,
        "task_checksum": f"{generator(trial.task).getrandbits(256):064x}",
        "config": {
            "task": {"path": f"tasks/{trial.task}"},
            "trial_name": name,
            "agent": {"name": job.agent, "model_name": job.model},
        },
        "agent_info": {
            "name": job.agent,
            "version": "2.0",
            "model_info": job.model and {"name": job.model, "provider": "acme"},
        },
        "agent_result": _usage(rng) if ran and not steps else None,
        "verifier_result": graded,
        "exception_info": None if steps else exception,
        "started_at": rfc3339(start),
        "finished_at": rfc3339(done),
        "environment_setup": {"started_at": rfc3339(start), "finished_at": rfc3339(ready)},
        "agent_execution": {"started_at": rfc3339(ready), "finished_at": rfc3339(done)} if ran else None,
        "step_results": steps or None,
    }


def _usage(rng: random.Random) -> Document:
    tokens = rng.randrange(20_000, 900_000)
    return {
        "n_input_tokens": tokens,
        "n_cache_tokens": tokens // 2,
        "n_output_tokens": tokens // 20,
        "cost_usd": tokens / 250_000,
    }


def _job(job: Job, made: Sequence[tuple[Trial, Document]], start: dt.datetime, rng: random.Random) -> Document:
    """The job's own `result.json`, with the figures that Harbor publishes."""
    valid = [trial for trial in job.trials if trial.valid]
    keys = sorted({key for trial in valid for key in trial.rewards or ()})
    means = {key: sum((trial.rewards or {}).get(key, 0) for trial in valid) / len(valid) for key in keys}
    thrown = sorted({trial.exception for trial in job.trials if trial.exception})
    solved: dict[str, list[bool]] = {}
    for trial in valid:
        solved.setdefault(trial.task, []).append((trial.rewards or {}).get("reward") == 1)
    binary = len(keys) == 1 and all((trial.rewards or {}).get("reward") in {0, 1} for trial in valid)
    evaluated = {
        "n_trials": len(valid),
        "n_errors": sum(trial.exception is not None for trial in job.trials),
        "metrics": [{"mean": means["reward"]} if len(means) == 1 else means],
        "pass_at_k": _pass_at_k(solved) if binary else {},
        "exception_stats": {
            name: [document["trial_name"] for trial, document in made if trial.exception == name] for name in thrown
        },
    }
    group = "__".join(part for part in (job.agent, job.model, job.dataset) if part)
    return {
        "schema_version": 1,
        "id": str(uuid.UUID(int=rng.getrandbits(128), version=4)),
        "started_at": start.replace(tzinfo=None).isoformat(),  # a job's own times are local ones
        "finished_at": noon(job.day).replace(tzinfo=None).isoformat(),
        "n_total_trials": len(made) + job.lost,
        "stats": {
            "n_completed_trials": len(made),
            "n_errored_trials": evaluated["n_errors"],
            "n_running_trials": 0,
            "n_pending_trials": 0,
            "evals": {group: evaluated},
        },
    }


def _pass_at_k(solved: Mapping[str, Sequence[bool]]) -> dict[str, float]:
    """The unbiased estimate, averaged over tasks, for each k that every task has the attempts for."""
    fewest = min(map(len, solved.values()))
    figures = {}
    for k in (2, 4, 5):
        if k <= fewest:
            failing = [math.comb(won.count(False), k) / math.comb(len(won), k) for won in solved.values()]
            figures[str(k)] = 1 - sum(failing) / len(failing)
    return figures


def _terminal_bench(seed: int) -> Document:
    """A run's `results.json`: four attempts at each of four tasks; a null verdict counts as not resolved."""
    rng = generator(seed, "terminal-bench")
    results: list[Document] = []
    solved: dict[str, list[bool]] = {}
    for task, chance in (("hello-world", 1.0), ("csv-to-parquet", 0.8), ("git-bisect", 0.6), ("vim-macro", 0.3)):
        for number in range(1, 5):
            timed_out = task == "vim-macro" and number == 1
            resolved = None if timed_out else rng.random() < chance
            solved.setdefault(task, []).append(resolved is True)
            results.append(
                {
                    "id": str(uuid.UUID(int=rng.getrandbits(128), version=4)),
                    "trial_name": f"{task}.{number}-of-4.tb-core",
                    "task_id": task,
                    "is_resolved": resolved,
                    "failure_mode": "test_timeout" if timed_out else "unset",
                    "parser_results": {},
                    "total_input_tokens": rng.randrange(9_000, 90_000),
                    "total_output_tokens": rng.randrange(900, 9_000),
                }
            )
    n_resolved = sum(result["is_resolved"] is True for result in results)
    return {
        "results": results,
        "pass_at_k": _pass_at_k(solved),
        "n_resolved": n_resolved,
        "n_unresolved": len(results) - n_resolved,
        "accuracy": n_resolved / len(results),
    }
