"""What the verbs' command lines have in common.

Here: how a verb's app is made, and options with one meaning everywhere. Not here: what any verb does.
"""

import datetime as dt
from collections.abc import Sequence
from typing import Annotated

import typer

from assets.rulesets.loader import RuleSetError, load_all, select
from pipelines.cli.output import UsageError
from pipelines.settings import Settings


def verb(help_text: str | None = None, *, group: bool = False) -> typer.Typer:
    """An app for one verb, plain and without completion commands; a group has verbs of its own."""
    return typer.Typer(help=help_text, no_args_is_help=group, add_completion=False, rich_markup_mode=None)


Json = Annotated[bool, typer.Option("--json", help="Print JSON.")]
From = Annotated[str | None, typer.Option("--from", metavar="D", help="First landing day; default the first.")]
To = Annotated[str | None, typer.Option("--to", metavar="D", help="Last landing day; default the last.")]
Rules = Annotated[list[str] | None, typer.Option(help="Rule set; default the active ones. May be repeated.")]


def day(text: str | None, option: str) -> dt.date | None:
    """The day that an option names.

    Raises:
        UsageError: it is no day.
    """
    if text is None:
        return None
    try:
        return dt.date.fromisoformat(text)
    except ValueError:
        raise UsageError(f"{option} {text!r} is no day; write it as 2026-01-31") from None


def day_range(from_: str | None, to: str | None) -> tuple[dt.date | None, dt.date | None]:
    """The days of `--from` and `--to`.

    Raises:
        UsageError: one is no day, or the range is reversed.
    """
    first, last = day(from_, "--from"), day(to, "--to")
    if first and last and last < first:
        raise UsageError(f"the range of days is reversed: --from {first} is after --to {last}")
    return first, last


def span(first: dt.date | None, last: dt.date | None) -> str:
    """Days as text, as they were asked for."""
    return f"{first or ''}...{last or ''}" if first or last else "every day"


def known_rules(settings: Settings, ids: Sequence[str]) -> None:
    """Prove that the named rule sets exist.

    Raises:
        UsageError: one does not.
        RuleSetError: a rule set is malformed.
    """
    rule_sets = load_all(settings.rulesets)
    try:
        select(rule_sets, ids)
    except RuleSetError as error:
        raise UsageError(str(error)) from error


def moment(text: str | None, option: str) -> dt.datetime | None:
    """The moment that an option names; without an offset it is UTC, a day alone is its beginning.

    Raises:
        UsageError: it is no time.
    """
    if text is None:
        return None
    try:
        found = dt.datetime.fromisoformat(text)
    except ValueError:
        raise UsageError(f"{option} {text!r} is no time; write it as 2026-01-31T12:00:00Z") from None
    return found.replace(tzinfo=dt.UTC) if found.tzinfo is None else found.astimezone(dt.UTC)
