"""Where in a document an offence is: from the path that quarantine names to the bytes around it.

Here: finding the place, and cutting out what surrounds it. Not here: reading documents (the sources); this never fails,
whatever the bytes are: at worst it points at the nearest thing that it could find.
"""

import json
import re
from typing import NamedTuple

from pipelines.cli.output import inert

SURROUNDING = 100
"""Characters shown on either side."""
_PLACE = re.compile(r"(?:line (\d+)(?:: )?)?(?:byte (\d+)|\$(.*))?", re.DOTALL)
_SPACE = re.compile(r"[ \t\n\r]*")
_INDEX = re.compile(r"\[(\d+)\]")
_DECODER = json.JSONDecoder()


class Excerpt(NamedTuple):
    """What stands at an offence, inert: before it, and from it on; `at` is the byte offset."""

    at: int
    before: str
    after: str


def excerpt(content: bytes, path: str | None) -> Excerpt:
    """The surroundings of `path` in `content`; of a missing field, those of the object that lacks it.

    Args:
        content: the stored bytes, of any kind.
        path: `byte 17`, `$.task.questions[2].scale`, either of them behind `line 3: `, or null for the beginning.
    """
    text = content.decode("utf-8", "surrogateescape")
    found = _PLACE.fullmatch(path or "")
    line, byte, steps = found.groups() if found else (None, None, None)
    start = _line_start(text, int(line)) if line else 0
    if byte is not None:
        before = len(text[:start].encode("utf-8", "surrogateescape"))
        at = len(content[: before + int(byte)].decode("utf-8", "surrogateescape"))
    elif steps is not None:
        at = _locate(text, start + text.startswith("\ufeff", start), steps)
    else:
        at = start
    return Excerpt(
        at=len(text[:at].encode("utf-8", "surrogateescape")),
        before=("..." if at > SURROUNDING else "") + _shown(text[max(0, at - SURROUNDING) : at]),
        after=_shown(text[at : at + SURROUNDING]) + ("..." if len(text) > at + SURROUNDING else ""),
    )


def _shown(text: str) -> str:
    return inert(text.encode("utf-8", "surrogateescape").decode("utf-8", "backslashreplace"))


def _line_start(text: str, number: int) -> int:
    start = 0
    for _ in range(number - 1):
        start = text.find("\n", start) + 1 or len(text)
    return start


def _space(text: str, at: int) -> int:
    found = _SPACE.match(text, at)
    return found.end() if found else at


def _locate(text: str, at: int, steps: str) -> int:
    """The offset of the value that `steps` lead to, as far as they lead."""
    at = _space(text, at)
    try:
        while steps:
            found = _member(text, at, steps) if text[at] == "{" else _element(text, at, steps)
            if found is None:
                break
            at, steps = found
    except (ValueError, IndexError, RecursionError):
        pass  # the document breaks off or is no JSON from here on: this is as near as it gets
    return at


def _member(text: str, at: int, steps: str) -> tuple[int, str] | None:
    """The value of the member that `steps` begin with; the longest name fits, the last of equal ones."""
    best: tuple[int, str] | None = None
    at = _space(text, at + 1)
    while text[at] != "}":
        name, end = _DECODER.raw_decode(text, at)
        value = _space(text, _space(text, end) + 1)
        rest = steps.removeprefix(f".{name}")
        if rest != steps and rest[:1] in {"", ".", "["} and (best is None or len(rest) <= len(best[1])):
            best = (value, rest)
        at = _next(text, value)
    return best


def _element(text: str, at: int, steps: str) -> tuple[int, str] | None:
    index = _INDEX.match(steps)
    if index is None or text[at] != "[":
        return None
    at = _space(text, at + 1)
    for _ in range(int(index[1])):
        at = _next(text, at)
    return None if text[at] == "]" else (at, steps[index.end() :])


def _next(text: str, at: int) -> int:
    """Behind the value at `at` and the comma that follows it."""
    at = _space(text, _DECODER.raw_decode(text, at)[1])
    return _space(text, at + 1) if text[at] == "," else at
