"""Structured logs: one JSON object per line on stderr for what happens in a run; nothing unless it is asked for.

Here: the format, and what of Dagster's events is told. Not here: the run (`run`), and what a person sees of it (`cli`).

Every line has `ts` (UTC, ISO 8601), `level` (info, warning or error), `event` and `run_id`, one for all of a command.

| event | further fields |
|---|---|
| `run_started` | `verb`, `partitions` |
| `job_started`, `job_finished` | `job`, `partitions`, `dagster_run_id` (the commits of the tables name it too) |
| `table_written` | those, `table`, and of `FIGURES` the ones that it has |
| `documents_quarantined` | those, `stage`, `reason`, `documents` |
| `check_failed` | those, `table`, `check`, `expected`, `problems`, `examples` |
| `run_finished` | `verb`, and every figure of the summary, as `--json` prints them |
| `run_failed` | `verb`, `partitions`, `error` (one line), `status` |
| `run_interrupted`, `webhook_failed` | `verb`; `reason` |
"""

import datetime as dt
import json
import logging
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from typing import Any, NamedTuple

import dagster as dg

from pipelines.checks import warned
from pipelines.jobs import partitions_of

FIGURES = (
    "rows",
    "bytes",
    "version",
    "seconds",
    "listed",
    "fetched",
    "unchanged",
    "vanished",
    "unfetched",
    "bytes_fetched",
    "lag_seconds",
)
QUARANTINED = "quarantined"


class _Log(NamedTuple):
    run_id: str
    secrets: Sequence[str]

    def line(self, name: str, level: str, fields: Mapping[str, Any]) -> str:
        """The event as a line of ASCII, on which no terminal and no other reader acts."""
        now = dt.datetime.now(dt.UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
        head = {"ts": now, "level": level, "event": name, "run_id": self.run_id}
        text = json.dumps({**head, **fields}, default=str)
        for secret in self.secrets:
            text = text.replace(json.dumps(secret)[1:-1], "***")
        return text + "\n"


_open: ContextVar[_Log | None] = ContextVar("log", default=None)


@contextmanager
def opened(run_id: str, secrets: Sequence[str]) -> Iterator[None]:
    """Tell events on stderr as long as the context lasts; every one of `secrets` is struck out."""
    token = _open.set(_Log(run_id, secrets))
    try:
        yield
    finally:
        _open.reset(token)


def event(name: str, level: str = "info", **fields: Any) -> None:
    """Tell of something that happened, where a log is open; a log that nobody reads any more stops nothing."""
    if log := _open.get():
        with suppress(OSError):
            sys.stderr.write(log.line(name, level, fields))
            sys.stderr.flush()


class _DagsterEvents(logging.Handler):
    """Tells of the events of one job as they happen."""

    def __init__(self) -> None:
        super().__init__()
        self._written: set[str] = set()

    def emit(self, record: logging.LogRecord) -> None:
        """Tell of what Dagster says, where that is one of our events."""
        about: Mapping[str, Any] = getattr(record, "dagster_meta", {})
        happened: dg.DagsterEvent | None = about.get("dagster_event")
        if happened is None:
            return
        of = {
            "job": about["job_name"],
            "partitions": partitions_of(about["job_tags"]),
            "dagster_run_id": about["run_id"],
        }
        match happened.event_type:
            case dg.DagsterEventType.RUN_START:
                event("job_started", **of)
            case dg.DagsterEventType.RUN_SUCCESS:
                event("job_finished", **of)
            case dg.DagsterEventType.ASSET_MATERIALIZATION:
                self._materialized(happened.step_materialization_data.materialization, of)
            case dg.DagsterEventType.ASSET_CHECK_EVALUATION:
                asked = happened.asset_check_evaluation_data
                for one in warned([asked]):
                    event("check_failed", "error" if asked.blocking else "warning", **of, **one._asdict())

    def _materialized(self, made: dg.AssetMaterialization, of: Mapping[str, Any]) -> None:
        """Dagster says the same of each partition of the run: once is enough."""
        table = made.asset_key.to_user_string()
        if table in self._written:
            return
        self._written.add(table)
        told: dict[str, Any] = {name: value.value for name, value in made.metadata.items()}
        event("table_written", **of, table=table, **{name: told[name] for name in FIGURES if name in told})
        for name, documents in sorted(told.items()):
            kind, _, rest = name.partition("/")
            if kind == QUARANTINED and "/" in rest:
                stage, _, reason = rest.partition("/")
                event("documents_quarantined", "warning", **of, stage=stage, reason=reason, documents=documents)


def events(_context: dg.InitLoggerContext) -> logging.Logger:
    """A logger of its own for each job, known to nobody else: nothing is printed unless a log is open."""
    logger = logging.Logger("scorehouse")  # noqa: LOG001 - not a global one, which would keep handlers
    logger.addHandler(_DagsterEvents())
    return logger


LOGGERS = {
    "events": dg.LoggerDefinition(events, description="Structured logs of the command line, where they are asked for."),
    "console": dg.colored_console_logger,
}
"""Those that a run may ask for; one that asks for none has Dagster's own."""
RUN_CONFIG: Mapping[str, Any] = {"loggers": {"events": {}}}
"""Nothing but the events: what Dagster prints on a console is for its own processes."""
