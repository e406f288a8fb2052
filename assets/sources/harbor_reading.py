"""Reading a Harbor file: a trial with its effective rewards and usage, a job's figures, a side file, or why not.

Here: files are told apart by their content, and what a multi-step trial comes to is folded from its steps. This reading
is slow and is the authority: the fast path of `harbor` only skips it where it would find nothing to say. Not here:
frames (`harbor_frames`), and whether a reward is valid (`assets.rewards`).
"""

import math
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain
from typing import Any, NamedTuple, TypeVar

from assets.attempts.contract import MAX_COUNT
from assets.sources import json_text
from assets.sources.documents import Document, Fault, Refused
from assets.sources.harbor_types import Agent, Evaluation, Failure, Job, Score, Stats, Trial, Usage
from assets.sources.json_types import read
from assets.sources.scalars import as_number, is_identifier

SOURCE = "harbor"
OF_TRIAL = {"task_name", "trial_name"}
OF_JOB = {"n_total_trials", "stats"}
STEPS = "steps"
STEPS_DEPTH = 5  # parts of the shortest path of a step's side file: trial, steps, step, verifier, file

Figure = tuple[str, float | None, str, str | None]
"""`field`, `value`, `value_type` and `text` of a row of `recorded_values`."""
N = TypeVar("N", int, float)
_NOBODY = Agent()
_NOTHING = Usage()


MAX_KEYS = 1000
"""Reward keys of a trial that are read: every trial of its job is told under each of them."""


class FoundTrial(NamedTuple):
    """A trial as a row: columns of `OBSERVED` as recorded, its rewards, and its exceptions before those of its steps.

    Rewards and usage are the trial's own, or else what its steps come to; a usage that nobody told is null.
    """

    origin: Document
    attempt_id: str
    run_id: str
    benchmark: str | None
    agent_name: str | None
    agent_version: str | None
    model_name: str | None
    task_id: str
    rewards: dict[str, Score]
    failures: Sequence[Failure]
    n_input_tokens: int | None
    n_cache_tokens: int | None
    n_output_tokens: int | None
    cost_usd: float | None
    started_at_text: str | None
    finished_at_text: str | None
    reward_valid: bool | None


class FoundRun(NamedTuple):
    """A file that describes a whole run: how many trials it registered, how many still run, and what it reports."""

    document: Document
    run_id: str
    benchmark: str | None
    registered: int | None
    running: int | None
    figures: list[Figure]


class SideFile(NamedTuple):
    """A reward file; `directory` is the uri of the directory of its trial."""

    document: Document
    directory: str
    figures: list[Figure]


Reading = FoundTrial | FoundRun | SideFile | Refused


def read_result(document: Document, max_depth: int) -> Reading:
    """A `result.json`: of a trial, or of a job."""
    value = None
    try:
        value = json_text.parse(document.content, max_depth)
        return _recognised(document, value)
    except Fault as fault:
        return Refused(document, fault, attempt_id=claimed_id(value, "id"))


def read_side_file(document: Document, max_depth: int) -> Reading:
    """A `reward.json` (a number per key) or `reward.txt` (one number); that of a step tells of its trial."""
    try:
        if document.uri.endswith(".txt"):
            rewards: dict[str, Score] = {"reward": _number(document.content)}
        else:
            rewards = read(dict[str, Score], json_text.parse(document.content, max_depth))
    except Fault as fault:
        return Refused(document, fault)
    directory = document.uri.rsplit("/", 2)[0]
    field = "reward"
    parts = document.path.split("/")
    if len(parts) >= STEPS_DEPTH and parts[-4] == STEPS:
        directory, _, step = directory.rsplit("/", 2)
        field = f"step_reward:{step}"
    return SideFile(document, directory, [_reward(f"{field}:{key}", value) for key, value in rewards.items()])


def attempt_id(natural: str) -> str:
    """The trial's id across sources."""
    return f"{SOURCE}:{natural}"


def claimed_id(value: Any, *members: str) -> str | None:
    """The attempt that a plain value says it is, by the first of its members, where it is readable that far."""
    claims = (value.get(member) for member in members) if isinstance(value, dict) else ()
    return next((attempt_id(one) for one in claims if isinstance(one, str) and is_identifier(one)), None)


def parent(path: str) -> str:
    """The directory that a file lies in; `.` for the folder of the day."""
    return path.rpartition("/")[0] or "."


def job_of(path: str) -> str:
    """The directory that holds the directory of a trial's file; where there is none, that of the trial itself."""
    parts = path.rsplit("/", 2)
    return parts[0] if len(parts) > 1 else "."


def found_trial(document: Document, trial: Trial) -> FoundTrial:
    """The trial with what it comes to.

    Raises:
        Fault: a sum over its steps is out of range, or a reward key cannot name a metric.
    """
    agent = trial.agent_info or _NOBODY
    rewards = trial.verifier_result.rewards if trial.verifier_result else None
    usage = trial.agent_result
    failures: Sequence[Failure] = (trial.exception_info,) if trial.exception_info else ()
    if steps := trial.step_results:
        rewards = rewards or _means([step.verifier_result.rewards or {} for step in steps if step.verifier_result])
        usage = usage or _sums([step.agent_result for step in steps if step.agent_result])
        failures = (*failures, *(step.exception_info for step in steps if step.exception_info))
    usage = usage or _NOTHING
    if rewards:
        _check_keys(rewards)
    return FoundTrial(
        document,
        trial.id,
        job_of(document.path),
        trial.source,
        agent.name,
        agent.version,
        agent.model_info.name if agent.model_info else None,
        trial.task_name,
        rewards or {},
        failures,
        usage.n_input_tokens,
        usage.n_cache_tokens,
        usage.n_output_tokens,
        usage.cost_usd,
        trial.started_at,
        trial.finished_at,
        trial.reward_valid,
    )


def _check_keys(rewards: dict[str, Score]) -> None:
    """Each key becomes a metric of the whole job.

    Raises:
        Fault: there are too many, or one cannot name a metric.
    """
    where = "$.verifier_result.rewards"
    if len(rewards) > MAX_KEYS:
        raise Fault("out_of_range", where, f"{len(rewards)} keys; at most {MAX_KEYS} are read")
    for key in rewards:
        if not is_identifier(key):
            raise Fault("bad_identifier", f"{where}.{key}", "a key must be 1 to 200 code points without controls")


def figure(field: str, value: Any) -> Figure:
    """The row of a reported figure; what is no number is told as it stands."""
    number = as_number(value)
    return (field, None, "unreadable", json_text.shown(value)) if number is None else (field, number, "number", None)


def pass_at_k(figures: dict[str, float | None] | None, suffix: str = "") -> Iterator[Figure]:
    """The rows of reported pass@k; null is none."""
    for k, value in (figures or {}).items():
        if value is not None:
            yield figure(f"job:pass@{k}{suffix}", value)


def _recognised(document: Document, value: Any) -> Reading:
    members = value.keys() if isinstance(value, dict) else set()
    if members & OF_TRIAL:
        return found_trial(document, read(Trial, value))
    if members & OF_JOB:
        return _found_job(document, read(Job, value))
    raise Fault("unknown_shape", "$", "the result of neither a trial nor a job")


def _means(told: Sequence[dict[str, Score]]) -> dict[str, Score]:
    """Per key the mean over the steps that were verified, a missing key 0; null where no step has a number."""
    means: dict[str, Score] = {}
    for key in dict.fromkeys(chain.from_iterable(told)):
        total = _sum([float(value) for rewards in told if (value := rewards.get(key)) is not None], 0.0)
        means[key] = None if total is None else total / len(told)
    return means


def _sums(told: Sequence[Usage]) -> Usage:
    tokens = ("n_input_tokens", "n_cache_tokens", "n_output_tokens")
    counts = {name: _sum([count for one in told if (count := getattr(one, name)) is not None], 0) for name in tokens}
    for name, count in counts.items():
        if count is not None and count > MAX_COUNT:
            raise Fault("out_of_range", "$.step_results", f"the sum of {name} is {count}")
    return Usage(**counts, cost_usd=_sum([one.cost_usd for one in told if one.cost_usd is not None], 0.0))


def _sum(values: Iterable[N], zero: N) -> N | None:
    """From left to right, without the compensation of later Pythons' `sum`; null where there is nothing."""
    total = None
    for value in values:
        total = (zero if total is None else total) + value
    if total is not None and not math.isfinite(total):
        raise Fault("out_of_range", "$.step_results", "a sum over the steps is beyond a double")
    return total


def _number(content: bytes) -> float:
    """The one number of a text, as Python reads it: so does Harbor."""
    try:
        text = json_text.without_mark(content).decode().strip()
    except UnicodeDecodeError as error:
        raise Fault("not_utf8", f"byte {error.start}", "not UTF-8") from None
    if not text:
        raise Fault("empty", "byte 0", "nothing but white space")
    try:
        number = float(text)
    except ValueError:
        raise Fault("wrong_type", "$", f"expected a number, found {text[:80]!r}") from None
    if not math.isfinite(number):
        raise Fault("out_of_range", "$", f"expected a finite number, found {text[:80]!r}")
    return number


def _reward(field: str, value: Score) -> Figure:
    kind = "null" if value is None else "boolean" if isinstance(value, bool) else "number"
    return field, None if value is None else float(value), kind, None


def _found_job(document: Document, job: Job) -> FoundRun:
    stats = job.stats or Stats()
    running = _sum([count for count in (stats.n_running_trials, stats.n_pending_trials) if count is not None], 0)
    if running is not None and running > MAX_COUNT:
        raise Fault("out_of_range", "$.stats", f"{running} trials run or wait")
    return FoundRun(document, parent(document.path), None, job.n_total_trials, running, list(_reported(stats)))


def _reported(stats: Stats) -> Iterator[Figure]:
    completed, errored = stats.n_completed_trials, stats.n_errored_trials
    whole = {
        "n_completed_trials": stats.n_trials if completed is None else completed,
        "n_errored_trials": stats.n_errors if errored is None else errored,
        **{name: getattr(stats, name) for name in ("n_input_tokens", "n_cache_tokens", "n_output_tokens", "cost_usd")},
    }
    yield from (figure(f"job:{name}", value) for name, value in whole.items() if value is not None)
    for name, evaluation in (stats.evals or {}).items():
        yield from _of_evaluation(evaluation or Evaluation(), f":{name}")


def _of_evaluation(evaluation: Evaluation, suffix: str) -> Iterator[Figure]:
    counts = {"n_trials": evaluation.n_trials, "n_errors": evaluation.n_errors}
    metrics = chain.from_iterable(metric.items() for metric in evaluation.metrics or ())
    for name, value in chain[tuple[str, Any]](counts.items(), metrics):
        if value is not None:
            yield figure(f"job:{name}{suffix}", value)
    yield from pass_at_k(evaluation.pass_at_k, suffix)
