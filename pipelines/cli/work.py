"""Long work on the command line: how far it is, what is logged of it, and who is told if it fails.

Here: what `run`, `compare` and their like have in common. Not here: the work (`pipelines.run`), the events inside it
(`pipelines.logs`), and how a message is delivered (`pipelines.notify`).
"""

import uuid
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext

from pipelines import logs
from pipelines.cli.errors import INTERRUPTED, LoggedError, clear_line
from pipelines.cli.output import UsageError, say
from pipelines.cli.progress import Reporter, progress
from pipelines.notify import Failure, tell
from pipelines.settings import Settings, secrets


@contextmanager
def working(verb: str, settings: Settings, partitions: str) -> Iterator[Reporter]:
    """A reporter of progress; with `log_format` json, nothing else than the log goes to stderr.

    Whatever ends the work is told to the webhook, a wrong configuration included, unless the command was wrong as it
    was written or a person interrupted it.
    """
    run_id, logged = uuid.uuid4().hex, settings.log_format == "json"
    with logs.opened(run_id, secrets(settings=settings)) if logged else nullcontext():
        try:
            logs.event("run_started", verb=verb, partitions=partitions)
            with progress(shown=not logged) as reporter:
                yield reporter
        except KeyboardInterrupt:
            logs.event("run_interrupted", "warning", verb=verb)
            if logged:
                raise LoggedError("interrupted", status=INTERRUPTED) from None
            raise
        except Exception as error:
            line, status = clear_line(error)
            logs.event("run_failed", "error", verb=verb, partitions=partitions, error=line, status=status)
            if settings.webhook and not isinstance(error, UsageError):
                _tell(settings.webhook, Failure("verb", verb, run_id, partitions, line), logged=logged)
            if logged:
                raise LoggedError(line, status=status) from error
            raise


def _tell(webhook: str, failure: Failure, *, logged: bool) -> None:
    why = tell(webhook, failure)
    if why and logged:
        logs.event("webhook_failed", "warning", verb=failure.name, reason=why)
    elif why:
        say(f"scorehouse: the webhook could not be told of the failure: {why}", stderr=True)
