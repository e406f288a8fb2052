"""Rule set files as text: what a new one begins as, and the one value that activating and retiring change.

Here: text in, text out. An edit touches one value and keeps every other character, comments and line endings included;
it is proven by parsing, so that no look-alike inside a string or a table is taken for the key. Not here: files, and
which edits a set of rule sets allows.
"""

import json
import re
import tomllib
from collections.abc import Iterable, Iterator
from typing import Any

import msgspec

from assets.rulesets.loader import RuleSetError, RuleSetId, Status

_STRING = r'"""(?s:.*?)"""' + r"|'''(?s:.*?)'''" + r'|"(?:[^"\\\n]|\\.)*"' + r"|'[^'\n]*'"
_LEADING_COMMENT = re.compile(r"(?:[ \t]*(?:#[^\n]*)?\n)*")


def rule_set_id(text: str) -> str:
    """The text itself, proven to be a rule set id.

    Raises:
        RuleSetError: it is none; the message says what is.
    """
    try:
        return msgspec.convert(text, RuleSetId)
    except msgspec.ValidationError:
        raise RuleSetError(
            f"{text!r} is no rule set id: a-z and 0-9, with single '.', '_' or '-' in between, at most 40 characters"
        ) from None


def successor(text: str, origin: str, *, predecessor: str, id_: str, title: str) -> str:
    """The text of a candidate that begins with the constants and the comments of its predecessor's `text`.

    Raises:
        RuleSetError: a key does not stand in `text` as one plain assignment of a string; names `origin`.
    """
    edited = text
    for key, value in {"id": id_, "status": "candidate", "title": title}.items():
        edited = _replaced(edited, origin, key, value)
    name = _replaced if "predecessor" in tomllib.loads(text) else _inserted
    return _renamed(name(edited, origin, "predecessor", predecessor), predecessor, id_)


def with_status(text: str, origin: str, status: Status) -> str:
    """The text with another status, and everything else as it is: its digest stays what it was.

    Raises:
        RuleSetError: the status does not stand in `text` as one plain assignment of a string; names `origin`.
    """
    return _replaced(text, origin, "status", status)


def _replaced(text: str, origin: str, key: str, value: str) -> str:
    edits = (text[:start] + _quoted(value) + text[end:] for start, end in _assigned(text, key))
    return _proven(text, origin, key, value, edits)


def _inserted(text: str, origin: str, key: str, value: str) -> str:
    """The text with a further top-level key, on a line of its own below the id."""
    newline = "\r\n" if "\r\n" in text else "\n"
    ends = (text.find("\n", end) + 1 for _, end in _assigned(text, "id"))
    line = f"{key} = {_quoted(value)}{newline}"
    return _proven(text, origin, key, value, (text[:end] + line + text[end:] for end in ends if end))


def _assigned(text: str, key: str) -> Iterator[tuple[int, int]]:
    """Begin and end of each string that stands where the key might be assigned."""
    pattern = rf"^[ \t]*(?:{key}|\"{key}\"|'{key}')[ \t]*=[ \t]*({_STRING})"
    return (found.span(1) for found in re.finditer(pattern, text, re.MULTILINE))


def _proven(text: str, origin: str, key: str, value: str, edits: Iterable[str]) -> str:
    """The first edit that sets the key and changes nothing else."""
    wanted = {**tomllib.loads(text), key: value}
    for edited in edits:
        if _content(edited) == wanted:
            return edited
    raise RuleSetError(f'{origin}: found no line to set {key} on; write it as {key} = "…", above the tables')


def _content(text: str) -> dict[str, Any] | None:
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError:
        return None


def _quoted(value: str) -> str:
    """A TOML string: JSON's escapes are TOML's, but for DEL, which JSON leaves as it is."""
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")


def _renamed(text: str, predecessor: str, id_: str) -> str:
    """The text whose leading comment speaks of `id_` where it spoke of "rule set <predecessor>"."""
    named = rf"((?i:rule set)[ \t]+|^[ \t]*#[ \t]*(?=\S+[.:,;]?[ \t\r]*$|\S+:)){re.escape(predecessor)}(?![\w-]|\.\w)"
    comment = _LEADING_COMMENT.match(text)
    end = comment.end() if comment else 0
    return re.sub(named, lambda found: found[1] + id_, text[:end], flags=re.MULTILINE) + text[end:]
