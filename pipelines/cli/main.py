"""The entry point `scorehouse`: which verbs there are, and what becomes of an error.

Here: the root command. Not here: any verb; each has a module of its own, which is imported when it is called, so that
`scorehouse --help` does not wait for the libraries of all of them.
"""

import difflib
import importlib
import importlib.metadata
import os
import sys
import traceback
import warnings
from collections.abc import Sequence
from typing import Annotated, Any

import typer
from typer.core import TyperGroup
from typer.exceptions import TyperException

from pipelines.cli.errors import DEBUG, FAILED, INTERRUPTED, MISUSED, LoggedError, clear_line
from pipelines.cli.output import UsageError, inert
from pipelines.settings import redacted

VERBS = {
    "demo": "Make a seeded example store, run everything on it, and say what came out.",
    "run": "Land new artifacts, verify them, and score them under the active rule sets.",
    "backfill": "Score again what the attempts layer holds, where the rules or the code changed.",
    "compare": "Compare the arms of registered campaigns, or check what is stored.",
    "report": "Say where a campaign's report is, or write it to a file.",
    "sql": "Answer one SELECT over the tables.",
    "tables": "Show which tables exist, or the columns of one.",
    "quarantine": "List, show and decode again the documents that could not be used.",
    "maintain": "Compact the tables and delete what is older than the retention.",
    "rules": "List, show and compare the rule sets; make, activate and retire one.",
    "metrics": "Print the state of the tables as OpenMetrics text, for a monitoring system.",
    "doctor": "Check the artifacts, the tables, Dagster's storage and the rule sets.",
    "ui": "Start Dagster's web interface on this workspace.",
}


class Verbs(TyperGroup):
    """The verbs, each imported when it is called; every error ends as one line and an exit status."""

    def list_commands(self, ctx: Any) -> list[str]:
        """The names of the verbs."""
        del ctx
        return list(VERBS)

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        """The verb of that name."""
        del ctx
        if cmd_name not in VERBS:
            near = difflib.get_close_matches(cmd_name, VERBS, n=1)
            raise UsageError(f"there is no verb {cmd_name!r}" + (f"; did you mean {near[0]}?" if near else ""))
        return typer.main.get_command(importlib.import_module(f"pipelines.cli.{cmd_name}").app)

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        """The verbs with their one line of help, without importing them."""
        del ctx
        with formatter.section("Verbs"):
            formatter.write_dl(list(VERBS.items()))

    def main(self, args: Sequence[str] | None = None, *_: Any, **extra: Any) -> Any:
        """Run and exit: 0 done, 1 failed, 2 wrong usage or configuration."""
        given = sys.argv[1:] if args is None else list(args)
        if odd := [argument for argument in given if not _is_text(argument)]:
            sys.exit(report(UsageError(f"an argument is not UTF-8: {odd[0]}"), debug=False))
        # A hostile or foreign character must not end a listing on a terminal that cannot show it.
        for stream in (sys.stdout, sys.stderr):
            if hasattr(stream, "reconfigure"):
                stream.reconfigure(errors="backslashreplace")
        try:
            kept = [argument for argument in given if argument != DEBUG]
            status = super().main(kept, **{**extra, "standalone_mode": False})
            if sys.stdout:
                sys.stdout.flush()
            if status == INTERRUPTED:
                sys.stderr.write("scorehouse: interrupted; what was committed stays, run it again to go on\n")
        except BrokenPipeError:  # whoever read the output has enough
            status = FAILED
        except Exception as error:  # noqa: BLE001 - the one place where every error becomes a line and a status
            status = report(error, debug=DEBUG in given)
        _drop_unwritable()
        sys.exit(status if isinstance(status, int) else 0)


def _drop_unwritable() -> None:
    """What cannot be written is not tried once more when Python exits, which would change the exit status."""
    try:
        if sys.stdout:
            sys.stdout.flush()
    except OSError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _is_text(argument: str) -> bool:
    try:
        argument.encode()
    except UnicodeEncodeError:
        return False
    return True


def report(error: Exception, *, debug: bool) -> int:
    """Say on stderr what went wrong, in one line, and give the exit status; never shows a credential."""
    if type(error).__name__ == "NoArgsIsHelpError" and isinstance(error, TyperException):
        sys.stderr.write(error.format_message() + "\n")
        return MISUSED
    line, status = clear_line(error)
    if debug:
        for told in "".join(traceback.format_exception(error)).rstrip().split("\n"):
            sys.stderr.write(redacted(inert(told)) + "\n")
    if not isinstance(error, LoggedError):
        sys.stderr.write(f"scorehouse: {line}\n")
    return status


app = typer.Typer(
    name="scorehouse",
    cls=Verbs,
    help="From a store of agent-evaluation artifacts to trusted, versioned result tables.",
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
)


def version() -> str:
    """The installed version."""
    try:
        return importlib.metadata.version("scorehouse")
    except importlib.metadata.PackageNotFoundError:
        return "unknown (not installed)"


def _show_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"scorehouse {version()}")
        raise typer.Exit


@app.callback()
def root(
    _version: Annotated[
        bool, typer.Option("--version", callback=_show_version, is_eager=True, help="Show the version.")
    ] = False,
    _debug: Annotated[bool, typer.Option(DEBUG, help="Show the traceback of an error; may stand anywhere.")] = False,
) -> None:
    """Options of every verb."""


def main() -> None:
    """Run the command line."""
    # Dagster says of parts of its interface that they may change; that is for us to know, not for who runs this.
    warnings.filterwarnings("ignore", message=r".* is currently in (beta|preview)")
    app(prog_name="scorehouse")


if __name__ == "__main__":
    main()
