"""Reading of AgentCompass files: what one holds, or the exact place of its first offence.

Here: from bytes to a task, an attempt's outcome, a record or a run, fast where nothing is to be said, else carefully;
and what a status leaves of a verdict. Not here: which file is what, and tables (`agentcompass`).
"""

import re
from collections.abc import Callable, Iterable, Iterator
from typing import Any, NamedTuple, TypeVar

import msgspec

from assets.attempts.contract import MAX_ATTEMPTS, MAX_COUNT
from assets.sources import json_text
from assets.sources.agentcompass_types import (
    ERROR_STATUSES,
    RECORD_STATUSES,
    UNSCORED_STATUSES,
    Plan,
    QuickRecord,
    QuickResult,
    QuickTask,
    Record,
    Result,
    Task,
    Verdict,
)
from assets.sources.documents import Fault, located
from assets.sources.json_text import members, shown
from assets.sources.json_types import SHOWN, read
from assets.sources.scalars import MAX_IDENTIFIER, as_number, is_identifier

T = TypeVar("T")
Read = TypeVar("Read")

TOKENS = ("n_input_tokens", "n_cache_tokens", "n_output_tokens")
_TASK = msgspec.json.Decoder(QuickTask)
_RESULT = msgspec.json.Decoder(QuickResult)
_RECORD = msgspec.json.Decoder(QuickRecord)
_INDEX = re.compile(r"[1-9]\d{0,18}", re.ASCII)


class Outcome(NamedTuple):
    """What an attempt came to, and what it used; `metrics` are (name, value, boolean)."""

    status: str | None
    error: bool
    fatal: bool
    failure_message: str | None
    metrics: list[tuple[str, float | None, bool | None]]
    n_input_tokens: int | None = None
    n_cache_tokens: int | None = None
    n_output_tokens: int | None = None
    cost_usd: float | None = None


NOTHING = Outcome(None, False, False, None, [])
"""Of an attempt that left nothing."""


class TaskFile(NamedTuple):
    """A task of release 1.0; `published` is false where its attempts are merely allocated."""

    task_id: str
    category: list[str] | None
    k: int | None
    strategy: str | None
    attempts: list[int]
    published: bool


class Recorded(NamedTuple):
    """An attempt of a record: no outcome where it left nothing; the verdict as recorded where its status denies it."""

    number: int
    within: str | None
    outcome: Outcome | None
    correct: bool | None = None
    score: float | None = None


class TaskRecord(NamedTuple):
    """A task of the generation before, with its attempts."""

    task_id: str
    category: list[str] | None
    k: int | None
    strategy: str | None
    attempts: list[Recorded]


def read_task(content: bytes, max_depth: int) -> TaskFile:
    """A `task.json`.

    Raises:
        Fault: it is none.
    """
    return _read(_TASK, content, max_depth, _careful_task, _task)


def read_result(content: bytes, max_depth: int) -> Outcome | None:
    """An attempt's `result.json`; nothing where it only counts retries.

    Raises:
        Fault: it is none.
    """
    return _read(_RESULT, content, max_depth, _careful_result, _outcome)


def read_record(content: bytes, max_depth: int) -> TaskRecord:
    """A task's record.

    Raises:
        Fault: it is none.
    """
    return _read(_RECORD, content, max_depth, _careful_record, _record)


def _read(
    decoder: msgspec.json.Decoder[Any],
    content: bytes,
    max_depth: int,
    carefully: Callable[[Any], T],
    build: Callable[[T], Read],
) -> Read:
    """The fast path; what it refuses, for whatever reason, is read again carefully, and that is the authority."""
    try:
        # msgspec skips unknown fields without a look at their encoding and depth.
        if not content.isascii():
            content.decode()
        if not json_text.deeper_than(content, max_depth):
            return build(decoder.decode(content))
    except (msgspec.DecodeError, ValueError, RecursionError, Fault):
        pass
    return build(carefully(json_text.parse(content, max_depth)))


def _careful_task(value: Any) -> Task:
    task = read(Task, value)
    _check_categories(value)
    return task


def _task(task: Task) -> TaskFile:
    check_identifier(task.task_id, "$.task_id")
    for index, directory in task.attempts.items():
        if directory != f"attempt-{index}":
            raise unexpected("unknown_value", f"$.attempts.{index}", f"attempt-{index}", directory)
    published = not (task.category is None and task.attempt_plan is None)
    return TaskFile(task.task_id, _category(task.category), *_plan(task.attempt_plan), sorted(task.attempts), published)


def _plan(plan: Plan | None) -> tuple[int | None, str | None]:
    return (plan.k, plan.strategy) if plan else (None, None)


def _check_categories(value: dict[str, Any]) -> None:
    for content in _all(value, "category"):
        _category(content)


def _category(value: Any) -> list[str] | None:
    """The path from the top of the hierarchy down; null where there is none.

    Raises:
        Fault: it is neither a text nor a list of texts.
    """
    if value is None:
        return None
    if isinstance(value, str):
        # The framework looks up categories without the white space around them.
        return [value.strip()] if value.strip() else None
    if not isinstance(value, list):
        raise unexpected("wrong_type", "$.category", "a string or an array", value)
    for position, part in enumerate(value):
        if not isinstance(part, str):
            raise unexpected("wrong_type", f"$.category[{position}]", "a string", part)
    return [part.strip() for part in value if part.strip()]


def _careful_result(value: Any) -> Result | None:
    if isinstance(value, dict) and value.keys() == {"retry_count"}:
        return None
    result = read(Result, value)
    for metrics in _all(value, "metrics"):
        for name, metric in members(metrics):
            if metric is not None and not isinstance(metric, bool | int | float):
                raise unexpected("wrong_type", f"$.metrics.{name}", "a number, true or false", metric)
    return result


def _all(value: dict[str, Any], name: str) -> Iterable[Any]:
    """Every value of a member that is not null, also of one that is named twice."""
    return [content for member, content in members(value) if member == name and content is not None]


def _outcome(result: Result | None) -> Outcome | None:
    """An attempt of release 1.0: an issue is an error, and takes no score away."""
    if result is None:
        return None
    issues = [(issue.severity, issue.message) for issue in result.issues or ()]
    if result.error:
        issues.append(("error", result.error))
    severities = {severity for severity, _ in issues}
    messages = [message for severity, message in issues if message and severity != "warning"]
    scored = result.status not in UNSCORED_STATUSES
    metrics = list(_metrics(result.metrics or {}, "$"))
    return Outcome(
        result.status,
        result.status in ERROR_STATUSES or not severities.isdisjoint({"fatal", "error"}),
        "fatal" in severities,
        "; ".join(messages) or None,
        metrics if scored else [],
        *_usage(result.meta),
    )


def _metrics(metrics: dict[str, Any], within: str) -> Iterator[tuple[str, float | None, bool | None]]:
    """Those that are numbers, true, false or null.

    Raises:
        Fault: a name cannot name a metric, or a number is beyond a double.
    """
    for name, value in metrics.items():
        if value is None:
            number = boolean = None
        elif isinstance(value, bool):
            number, boolean = float(value), True
        elif isinstance(value, int | float):
            number, boolean = as_number(value), False
            if number is None:
                raise unexpected("out_of_range", f"{within}.metrics.{name}", "a number", value)
        else:
            continue
        check_identifier(name, f"{within}.metrics.{name}")
        yield name, number, boolean


def _usage(meta: Any) -> tuple[int | None, int | None, int | None, float | None]:
    """Tokens and cost of the harness's own telemetry, which may hold anything: what is no count is left out."""
    telemetry = meta
    for member in ("harness", "telemetry"):
        telemetry = telemetry.get(member) if isinstance(telemetry, dict) else None
    if not isinstance(telemetry, dict):
        return None, None, None, None
    read_, cached, written = (_count(telemetry.get(name)) for name in TOKENS)
    cost = as_number(telemetry.get("cost_usd"))
    return read_, cached, written, cost if cost is not None and cost >= 0 else None


def _count(value: Any) -> int | None:
    return value if type(value) is int and 0 <= value <= MAX_COUNT else None


def _careful_record(value: Any) -> Record:
    known = isinstance(value, dict) and (
        "task_id" in value or ("status" in value and not value.keys().isdisjoint({"correct", "score"}))
    )
    if not known:
        raise Fault("unknown_shape", "$", "none of the known shapes")
    record = read(Record, value)
    attempts = [_attempts(content) for content in _all(value, "attempts")]
    _check_categories(value)
    record.attempts = attempts[-1] if record.attempts is not None else None
    return record


def _attempts(value: Any) -> list[Verdict | None] | dict[int, Verdict | None]:
    if isinstance(value, list):
        return [_verdict(one, f"$.attempts[{position}]") for position, one in enumerate(value)]
    if not isinstance(value, dict):
        raise unexpected("wrong_type", "$.attempts", "an array or an object", value)
    return {_index(name): _verdict(one, f"$.attempts.{name}") for name, one in members(value)}


def _index(name: str) -> int:
    if not _INDEX.fullmatch(name) or int(name) > MAX_ATTEMPTS:
        raise unexpected("wrong_type", f"$.attempts.{name}", "the number of an attempt as the name", name)
    return int(name)


def _verdict(value: Any, within: str) -> Verdict | None:
    try:
        return None if value is None else read(Verdict, value)
    except Fault as fault:
        fault.path = located(within, fault.path)
        raise


def _record(record: Record) -> TaskRecord:
    """A record's attempts; without any, its own verdict is that of the first."""
    check_identifier(record.task_id, "$.task_id")
    if record.status is not None:
        _status(record.status, "$")
    attempts = record.attempts
    if isinstance(attempts, dict):
        found = [_recorded(index, one, f"$.attempts.{index}") for index, one in sorted(attempts.items())]
    elif attempts:
        found = [_recorded(position + 1, one, f"$.attempts[{position}]") for position, one in enumerate(attempts)]
    else:
        found = []
    if not found:
        if record.status is None:
            raise Fault("missing_field", "$.status", "required, and absent")
        found = [_recorded(1, record, None)]
    return TaskRecord(record.task_id, _category(record.category), *_plan(record.attempt_plan), found)


def _recorded(index: int, verdict: Verdict | Record | None, within: str | None) -> Recorded:
    """An attempt of the generation before: a crash is neither right nor wrong, whatever is recorded beside it."""
    if verdict is None:
        return Recorded(index, within, None)
    status = _status(verdict.status or "", within or "$")
    completed = status == "completed"
    clean = completed and not verdict.error
    scores = list(_scores(verdict, within or "$"))
    outcome = Outcome(status, not clean, False, verdict.error or None, scores if clean else [], *_usage(verdict.meta))
    if clean:
        return Recorded(index, within, outcome)
    # An errored attempt may well say that it is not correct; one that completed may not, and err.
    denied = verdict.correct if verdict.correct or completed else None
    return Recorded(index, within, outcome, denied, verdict.score)


def _scores(verdict: Verdict | Record, within: str) -> Iterator[tuple[str, float | None, bool | None]]:
    """The verdict, then every other metric that is a number; `correct` and `score` are the verdict's own."""
    if verdict.correct is not None:
        yield "correct", float(verdict.correct), True
    if verdict.score is not None:
        yield "score", verdict.score, False
    for metric in _metrics(verdict.metrics or {}, within):
        if metric[0] not in {"correct", "score"}:
            yield metric


def _status(status: str, within: str) -> str:
    lowered = status.lower()
    if lowered not in RECORD_STATUSES:
        raise unexpected(
            "unknown_value", f"{within}.status", f"one of {', '.join(RECORD_STATUSES)} in any case", status
        )
    return lowered


def check_identifier(text: str, path: str) -> None:
    """Refuse what may not identify anything.

    Raises:
        Fault: `bad_identifier`.
    """
    if not is_identifier(text):
        raise unexpected("bad_identifier", path, f"an identifier of 1 to {MAX_IDENTIFIER} characters", text)


def unexpected(reason: str, path: str, expected: str, value: Any) -> Fault:
    """The offence of a value that is something else than expected there."""
    text = shown(value)
    return Fault(reason, path, f"expected {expected}, found {text if len(text) <= SHOWN else f'{text[:SHOWN]}…'}")
