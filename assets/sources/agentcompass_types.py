"""What AgentCompass files look like: one msgspec type per object of theirs, with its ranges and vocabularies.

Here: names, types and ranges of both generations of results and of `run.json`. Not here: reading (`agentcompass`),
joins across files (`agentcompass_runs`). Everything optional may be absent or null alike. What json_types cannot say
of a value (a metric is a boolean or a number, attempts are a list or a mapping) is `Any` here; the `Quick…` types
declare it for the fast path, and the careful reading checks it by hand.
"""

from typing import Annotated, Any, Literal

from msgspec import Meta, Struct

from assets.attempts.contract import MAX_ATTEMPTS
from assets.sources.json_types import Identifier

Index = Annotated[int, Meta(ge=1, le=MAX_ATTEMPTS)]
Strategy = Literal["avg", "pass"]

ERROR_STATUSES = ("run_error", "eval_error", "run_error_or_eval_error")
"""Statuses of release 1.0 that say that something failed."""
UNSCORED_STATUSES = ("skipped", "cancelled", "interrupted", "running")
"""Statuses of release 1.0 that leave no score, whatever stands beside them."""
RECORD_STATUSES = ("completed", "run_error", "eval_error", "error")
"""Statuses of the generation before, in lower case."""


class Part(Struct, gc=False, kw_only=True):
    """Base of all: JSON holds no cycles, so the garbage collector need not look."""


class Plan(Part):
    """How often each task is attempted, and how its attempts count."""

    k: Index | None = None
    strategy: Strategy | None = None


class Task(Part):
    """A `task.json`; `attempts` names the directory of each attempt that counts."""

    schema_version: Literal["agentcompass.task.v3", "agentcompass.task.v2"]
    task_id: Identifier
    attempts: dict[Index, str]
    category: Any = None
    attempt_plan: Plan | None = None


class QuickTask(Task):
    """The same, with the forms that a category may have."""

    category: str | list[str] | None = None


class Issue(Part):
    """An unresolved fact of an attempt's execution."""

    severity: Literal["fatal", "error", "warning"]
    message: str | None = None


class Result(Part):
    """A `result.json` of an attempt; `error` is what the version before had in the place of `issues`."""

    status: Literal[
        "completed",
        "run_error",
        "eval_error",
        "run_error_or_eval_error",
        "skipped",
        "cancelled",
        "interrupted",
        "running",
    ]
    metrics: dict[str, Any] | None = None
    issues: list[Issue] | None = None
    error: str | None = None
    meta: Any = None


class QuickResult(Result):
    """The same, with the values that metrics may have."""

    metrics: dict[str, bool | float | None] | None = None


class Verdict(Part):
    """An attempt in a record; its metrics may hold anything, of which the numbers count."""

    status: str
    correct: bool | None = None
    score: float | None = None
    error: str | None = None
    metrics: dict[str, Any] | None = None
    meta: Any = None


class Record(Part):
    """A task's record; the verdict of its own is that of its only attempt, unless it has `attempts`."""

    task_id: Identifier
    category: Any = None
    attempt_plan: Plan | None = None
    attempts: Any = None
    status: str | None = None
    correct: bool | None = None
    score: float | None = None
    error: str | None = None
    metrics: dict[str, Any] | None = None
    meta: Any = None


class QuickRecord(Record):
    """The same, with the forms that a category and attempts may have."""

    category: str | list[str] | None = None
    attempts: list[Verdict | None] | dict[Index, Verdict | None] | None = None


class Metric(Part):
    """A declared metric; without reducers it has all of its kind."""

    kind: Literal["binary_success", "scalar"]
    reducers: list[Literal["native", "avg", "pass"]] | None = None
    primary: bool | None = None


class Run(Part, rename="camel"):
    """A `run.json`: who ran, and how the run wants to be measured."""

    run_id: Identifier | None = None
    benchmark: Identifier | None = None
    model: str | None = None
    harness: str | None = None
    k: Index | None = None
    strategy: Strategy | None = None
    aggregation: Literal["micro", "micro_weighted", "category_mean", "category_hierarchy"] | None = None
    score_key: str | None = None
    missing_score: Any = None
    revision: str | None = None
    category_hierarchy: Any = None
    metrics: dict[str, Metric] | None = None
