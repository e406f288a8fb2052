"""JSON as text: bytes become plain values, or the exact place where they are not JSON.

Here: encoding, nesting depth, syntax and the canonical form. Not here: types (`json_types`). The careful reading below
is slow; decoders try a typed decode first and come here for what that refuses.

https://www.rfc-editor.org/rfc/rfc8259
"""

import codecs
import json
import re
from collections.abc import Iterable
from typing import Any, NoReturn

import msgspec

from assets.sources.documents import Fault

LONGEST_INTEGER = 400  # digits; anything longer overflows a double, and Python refuses to convert very long ones
_SKELETON = bytes.maketrans(b"[]{}", b"()()")
_NOT_SKELETON = bytes(set(range(256)) - set(b'[]{}"'))
_NOT_OPENING = bytes(set(range(256)) - set(b"[{"))
# A string that never ends ends with the text: otherwise each of its quotes would be tried again, in quadratic time.
_STRING = r'"(?:[^"\\]++|\\(?:.|\Z))*+(?:"|\Z)'
_STRING_OR_BRACKET = re.compile(rf"{_STRING}|[\[\]{{}}]".encode(), re.DOTALL)
_STRING_OR_CONSTANT = re.compile(rf"{_STRING}|(-?Infinity|NaN)", re.DOTALL)


class Overflow(float):
    """A number beyond a double: infinite, and it knows its digits."""

    text: str


class Repeated(dict[str, Any]):
    """An object that names a member twice: as a mapping the last one wins; `pairs` has them all, in order."""

    pairs: list[tuple[str, Any]]


def members(value: dict[str, Any]) -> Iterable[tuple[str, Any]]:
    """Every member of an object in document order, repeated ones included."""
    return value.pairs if isinstance(value, Repeated) else value.items()


def without_mark(content: bytes) -> bytes:
    """The content behind one byte-order mark, if there is one."""
    return content.removeprefix(codecs.BOM_UTF8)


def deeper_than(content: bytes, limit: int) -> bool:
    """Whether brackets nest more than `limit` deep; those inside strings do not count.

    Reduced to quotes and brackets, and the quotes to their parity, what is left outside of strings loses its innermost
    pairs once per level.
    """
    # One pass that drops all but the opening brackets takes half as long as counting the two kinds.
    if len(content.translate(None, _NOT_OPENING)) <= limit:
        return False
    if b"\\" in content:
        content = content.replace(b"\\\\", b"").replace(b'\\"', b"")
    skeleton = content.translate(_SKELETON, _NOT_SKELETON).replace(b'""', b"")
    if b'"' in skeleton:
        skeleton = b"".join(skeleton.split(b'"')[::2])
    left = skeleton
    for _ in range(limit):
        outer = left.replace(b"()", b"")
        if not outer:
            return False
        if len(outer) == len(left):
            break
        left = outer
    return _deepest(skeleton, limit) > limit


def _deepest(skeleton: bytes, limit: int) -> int:
    """Depth of a skeleton that does not close as it should, as far as it matters."""
    depth = deepest = 0
    for bracket in skeleton:
        depth += 1 if bracket == ord("(") else -1
        deepest = max(deepest, depth)
        if depth < 0 or deepest > limit:
            break
    return deepest


def parse(content: bytes, max_depth: int) -> Any:
    """The plain value of one JSON document; numbers beyond a double are `Overflow`, repeated members `Repeated`.

    Raises:
        Fault: `empty`, `not_utf8`, `too_deep` or `not_json`; its path is the byte offset.
    """
    body = without_mark(content)
    skipped = len(content) - len(body)
    if not body.strip():
        raise Fault("empty", "byte 0", "nothing but white space")
    try:
        text = body.decode()
    except UnicodeDecodeError as error:
        raise Fault("not_utf8", f"byte {skipped + error.start}", "not UTF-8") from None
    if deeper_than(body, max_depth):
        raise Fault("too_deep", f"byte {skipped + _too_deep_at(body, max_depth)}", f"nested deeper than {max_depth}")
    try:
        return _DECODER.decode(text)
    except json.JSONDecodeError as error:
        # An unterminated string is reported where it starts, but it is the end of the document that is wrong.
        at = len(text) if error.msg.startswith("Unterminated") else error.pos
        raise Fault("not_json", f"byte {skipped + len(text[:at].encode())}", error.msg) from None
    except _NotJsonError as error:
        bare = next((found for found in _STRING_OR_CONSTANT.finditer(text) if found[1]), None)
        at = bare.start() if bare else 0
        raise Fault("not_json", f"byte {skipped + len(text[:at].encode())}", f"{error} is not JSON") from None


def _too_deep_at(body: bytes, limit: int) -> int:
    depth = 0
    for token in _STRING_OR_BRACKET.finditer(body):
        depth += 1 if token[0] in b"[{" else -1 if token[0] in b"]}" else 0
        if depth > limit:
            return token.start()
    return len(body)


class _NotJsonError(ValueError):
    """A token that Python's decoder takes for a number although JSON has no such thing."""


def _constant(token: str) -> NoReturn:
    raise _NotJsonError(token)


def _overflow(text: str) -> Overflow:
    beyond = Overflow("-inf" if text.startswith("-") else "inf")
    beyond.text = text
    return beyond


def _float(text: str) -> float:
    number = float(text)
    return _overflow(text) if number in {float("inf"), float("-inf")} else number


def _int(text: str) -> float:
    return int(text) if len(text) <= LONGEST_INTEGER else _overflow(text)


def as_object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """The object with these members in document order."""
    value = dict(pairs)
    if len(value) == len(pairs):
        return value
    repeated = Repeated(value)
    repeated.pairs = pairs
    return repeated


_DECODER = json.JSONDecoder(object_pairs_hook=as_object, parse_float=_float, parse_int=_int, parse_constant=_constant)


def shown(value: Any) -> str:
    """The JSON text of a plain value, compact, numbers beyond a double with their digits."""
    if isinstance(value, Overflow):
        return value.text
    return json.dumps(value, separators=(",", ":"), ensure_ascii=False)


def canonical(value: Any) -> bytes:
    """The value as JSON of one form: compact, keys sorted, no null members."""
    try:
        text = msgspec.json.encode(value, order="sorted")
        return text if b"null" not in text else msgspec.json.encode(_without_nulls(value), order="sorted")
    except (UnicodeEncodeError, OverflowError, TypeError):  # lone surrogates, integers beyond 64 bits, `Overflow`
        return json.dumps(_without_nulls(value), sort_keys=True, separators=(",", ":")).encode()


def _without_nulls(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _without_nulls(member) for name, member in value.items() if member is not None}
    if isinstance(value, list):
        return [_without_nulls(element) for element in value]
    return value
