"""What becomes of an error: the one line that says what happened, and the exit status.

Here: the line, for a person and for whoever is told of a failed run. Not here: where it is printed (`main`).
"""

import signal

from typer.exceptions import TyperException

from assets.rulesets.loader import RuleSetError
from pipelines.cli.output import CommandError, inert
from pipelines.settings import SettingsError, redacted
from pipelines.storage.errors import StoreConfigurationError, StoreError
from pipelines.storage.failures import explained
from pipelines.storage.options import StoreOptions

DEBUG = "--debug"
FAILED, MISUSED = 1, 2
INTERRUPTED = 128 + signal.SIGINT  # as shells have it


class LoggedError(CommandError):
    """The command failed, and its log has said why."""


def explain(error: BaseException) -> tuple[str, int]:
    """The line that says what happened, and the exit status."""
    cause: BaseException | None = error
    while cause is not None:
        match cause:
            case CommandError():
                return str(cause), cause.status
            case SettingsError() | StoreConfigurationError() | RuleSetError():
                return str(cause), MISUSED
            case StoreError():
                return str(cause), FAILED
            case OSError() if cause.strerror:
                return f"{cause.filename or 'the output'}: {cause.strerror}", FAILED
            case OSError():  # of Polars, while an asset collected what it had scanned
                cause = explained(cause, "the tables: cannot read", StoreOptions())
                continue
            case TyperException():
                where = getattr(getattr(cause, "ctx", None), "command_path", "scorehouse")
                return f"{cause.format_message()} (see {where} --help)", cause.exit_code
        # Dagster wraps what an asset or a resource raised.
        cause = getattr(cause, "user_exception", None) or cause.__cause__
    return f"unexpected {type(error).__name__}: {error} (run it again with {DEBUG} for the traceback)", FAILED


def clear_line(error: BaseException) -> tuple[str, int]:
    """The line, free of credentials and of what could act on a terminal, and the exit status."""
    message, status = explain(error)
    return redacted(inert(" ".join(message.split()))), status
