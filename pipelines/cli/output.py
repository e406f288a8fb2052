"""What the verbs print with: tables for people, JSON for programs, and text that cannot act on a terminal.

Here: escaping, rendering, and the exceptions that a verb ends with. Not here: what any verb says. Artifacts are
untrusted: every string of theirs goes through `inert` (or through JSON, escaped likewise) before a terminal sees it.
"""

import base64
import datetime as dt
import decimal
import json
import math
import sys
from collections.abc import Iterable, Mapping, Sequence
from typing import IO, Any

from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.table import Table
from rich.text import Text

PIPED_WIDTH = 100_000


class CommandError(Exception):
    """A verb cannot do what was asked; the message is one line: what, where and what to do."""

    def __init__(self, message: str, *, status: int = 1) -> None:
        super().__init__(message)
        self.status = status


class UsageError(CommandError):
    """The command is wrong as written: exit status 2."""

    def __init__(self, message: str) -> None:
        super().__init__(message, status=2)


def inert(value: object) -> str:
    """The text with every character that could act on a terminal or reorder a line as an escape."""
    text = str(value)
    return text if text.isprintable() else "".join(c if c.isprintable() else _escape(c) for c in text)


def _escape(character: str) -> str:
    return character.encode("unicode_escape", "surrogatepass").decode("ascii")


def console(*, stderr: bool = False, file: IO[str] | None = None) -> Console:
    """A console without markup, emoji codes and highlighting; nothing is cut off where the output is piped."""
    plain = Console(stderr=stderr, file=file, markup=False, emoji=False, highlight=False)
    if not plain.is_terminal:
        plain.width = PIPED_WIDTH
    return plain


def say(text: str = "", *, stderr: bool = False, style: str = "") -> None:
    """Print one line."""
    console(stderr=stderr).print(Text(inert(text), style), soft_wrap=True)


def print_table(columns: Sequence[str], rows: Iterable[Sequence[object]], file: IO[str] | None = None) -> None:
    """Print rows as a table; null is an empty cell, numbers stand on the right. Piped, it is columns of plain text."""
    materialized = [[to_json(value) for value in row] for row in rows]
    out = console(file=file)
    table = Table(box=SIMPLE_HEAD if out.is_terminal else None, show_edge=False, pad_edge=False)
    for name, *values in zip(columns, *materialized, strict=True):
        numbers = [value for value in values if value is not None]
        numeric = bool(numbers) and all(
            isinstance(value, int | float) and not isinstance(value, bool) for value in numbers
        )
        table.add_column(Text(inert(name)), justify="right" if numeric else "left", overflow="fold")
    for row in materialized:
        table.add_row(*(Text(_cell(value)) for value in row))
    if out.is_terminal:
        out.print(table)
        return
    with out.capture() as captured:
        out.print(table)
    out.file.write("".join(f"{line.rstrip()}\n" for line in captured.get().splitlines()))


def _cell(value: object) -> str:
    if value is None:
        return ""
    return inert(value) if isinstance(value, str) else json_text(value)


def print_json(value: object) -> None:
    """Print a value as indented JSON on which a terminal does not act."""
    sys.stdout.write(json_text(value, indent=2) + "\n")


def json_text(value: object, *, indent: int | None = None) -> str:
    """A value as strict JSON; unprintable characters are written as JSON escapes."""
    text = json.dumps(to_json(value), indent=indent, ensure_ascii=False, allow_nan=False)
    return "".join(c if c.isprintable() or c == "\n" else json.dumps(c)[1:-1] for c in text)


def to_json(value: Any) -> Any:  # noqa: PLR0911 - one line per kind of value
    """What JSON can hold: times in UTC as ISO 8601, bytes as base64, NaN and infinities as null."""
    match value:
        case None | bool() | int() | str():
            return value
        case float():
            return value if math.isfinite(value) else None
        case decimal.Decimal():
            return int(value) if value == value.to_integral_value() else float(value)
        case dt.datetime():
            return (value if value.tzinfo is None else value.astimezone(dt.UTC)).isoformat().replace("+00:00", "Z")
        case dt.date() | dt.time():
            return value.isoformat()
        case bytes():
            return base64.b64encode(value).decode()
        case Mapping():
            return {str(key): to_json(inner) for key, inner in value.items()}
        case list() | tuple():
            return [to_json(inner) for inner in value]
        case _:
            return str(value)
