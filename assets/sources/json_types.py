"""Plain JSON values against msgspec types, with the exact path of the first offence.

msgspec decodes and checks fast, but its paths stop at map entries and missing fields. This reads the same types by
introspection, so that a structure is declared once; it also knows what JSON schemas cannot say: identifiers, times,
and unions that are open. Not here: any particular structure.

https://jcristharif.com/msgspec/api.html#inspect
"""

import datetime as dt
import math
import re
import unicodedata
from collections.abc import Callable
from functools import cache
from typing import Annotated, Any, NamedTuple, TypeVar

import msgspec
from msgspec import Meta, inspect

from assets.sources.documents import Fault, storable
from assets.sources.json_text import Overflow, members, shown

MAX_IDENTIFIER = 200
SHOWN = 80

Identifier = Annotated[str, Meta(extra={"read": "identifier"})]
"""1 to 200 code points, no control characters, no lone surrogates, never normalised."""
Time = Annotated[str, Meta(extra={"read": "time"})]
"""RFC 3339; without an offset it is kept as text."""

T = TypeVar("T")
Reader = Callable[[Any], Any]


def otherwise(fallback: type[msgspec.Struct]) -> Meta:
    """Opens a tagged union: a value with a tag that nobody registered is read as `fallback`."""
    return Meta(extra={"otherwise": fallback})


def read(expected: type[T], value: Any) -> T:
    """The value as the type, every member checked in document order.

    Raises:
        Fault: the first offence; its path starts with `$`.
    """
    try:
        checked: T = _reader_of(expected)(value)
    except Fault as fault:
        fault.path = f"${fault.path}"
        raise
    return checked


def is_identifier(text: str) -> bool:
    """Whether the text may identify something."""
    if 0 < len(text) <= MAX_IDENTIFIER:
        return text.isprintable() or not any(unicodedata.category(letter) in {"Cc", "Cs"} for letter in text)
    return False


class Instant(NamedTuple):
    """A recorded time: microseconds since 1970 in UTC, or the text where it has no offset."""

    microseconds: int | None
    text: str | None


NO_TIME = Instant(None, None)
_RFC3339 = re.compile(
    r"\d{4}-\d\d-\d\d[Tt](?:[01]\d|2[0-3]):[0-5]\d:(?:[0-5]\d|(60))(?:\.\d+)?([Zz]|[+-](?:[01]\d|2[0-3]):[0-5]\d)?",
    re.ASCII,
)
_EPOCH = dt.datetime(1970, 1, 1, tzinfo=dt.UTC)
_NAIVE_EPOCH = dt.datetime(1970, 1, 1)  # noqa: DTZ001 - held against naive times only
_MICROSECOND = dt.timedelta(microseconds=1)


def instant(text: str | None) -> Instant:
    """The time that the text tells; digits beyond microseconds are dropped, a leap second is the second after.

    Raises:
        ValueError: it is not RFC 3339, or no such time exists.
    """
    if text is None:
        return NO_TIME
    form = _RFC3339.fullmatch(text)
    if form is None:
        raise ValueError("not an RFC 3339 time")
    leap, offset = form.groups()
    moment = dt.datetime.fromisoformat((text.replace(":60", ":59", 1) if leap else text).upper())
    microseconds = (moment - (_EPOCH if offset else _NAIVE_EPOCH)) // _MICROSECOND
    if leap:
        microseconds = (microseconds // 1_000_000 + 1) * 1_000_000
        if offset and microseconds % 86_400_000_000:
            raise ValueError("a leap second ends a UTC day")
    return Instant(microseconds, None) if offset else Instant(None, text)


def _fault(expected: str, value: Any, reason: str = "wrong_type") -> Fault:
    return Fault(reason, "", f"expected {expected}, found {_brief(value)}")


def _brief(value: Any) -> str:
    text = shown(value)
    return text if len(text) <= SHOWN else f"{text[:SHOWN]}…"


def _within(reader: Reader, value: Any, step: str) -> Any:
    try:
        return reader(value)
    except Fault as fault:
        fault.path = f"{step}{fault.path}"
        raise


@cache
def _reader_of(expected: Any) -> Reader:
    return _reader(inspect.type_info(expected))


def _reader(info: inspect.Type) -> Reader:  # noqa: PLR0911 - one return per type
    match info:
        case inspect.Metadata(type=inner, extra=extra):
            return _special(inner, extra or {})
        case inspect.UnionType(types=types):
            return _union(types)
        case inspect.StructType():
            return _struct(info)
        case inspect.ListType(item_type=item):
            return _list(_reader(item))
        case inspect.DictType(key_type=key, value_type=item):
            return _map(_reader(key) if isinstance(key, inspect.StrType) else _integer_key(_reader(key)), _reader(item))
        case inspect.IntType(ge=low, le=high):
            return _integer(low, high)
        case inspect.FloatType(ge=low, le=high):
            return _number(low, high)
        case inspect.LiteralType(values=values):
            return _one_of(values)
        case inspect.StrType():
            return _text
        case inspect.BoolType():
            return _boolean
        case inspect.AnyType() | inspect.RawType():
            return _anything
        case _:
            raise TypeError(f"no reading for {info}")


def _special(inner: inspect.Type, extra: dict[str, Any]) -> Reader:
    match extra:
        case {"read": "identifier"}:
            return _identifier
        case {"read": "time"}:
            return _time
        case {"otherwise": fallback} if isinstance(inner, inspect.UnionType):
            return _union(inner.types, fallback)
        case _:
            return _reader(inner)


def _union(types: tuple[inspect.Type, ...], fallback: type[msgspec.Struct] | None = None) -> Reader:
    rest = [info for info in types if not isinstance(info, inspect.NoneType)]
    tagged = {info.tag: _struct(info) for info in rest if isinstance(info, inspect.StructType) and info.tag is not None}
    present = _tagged(tagged, _reader_of(fallback) if fallback else None) if tagged else _reader(rest[0])
    if len(rest) == len(types):
        return present
    return lambda value: None if value is None else present(value)


def _tagged(readers: dict[Any, Reader], fallback: Reader | None) -> Reader:
    known = _one_of(tuple(readers))

    def tagged(value: Any) -> Any:
        if not isinstance(value, dict):
            raise _fault("an object", value)
        kind = value.get("kind")
        if kind is None:
            raise Fault("missing_field", ".kind", "required, and absent")
        kind = _within(_text if fallback else known, kind, ".kind")
        return readers.get(kind, fallback)(value)  # type: ignore[misc]  # without a fallback the kind is known

    return tagged


def _struct(info: inspect.StructType) -> Reader:
    readers = {field.encode_name: (field.name, _reader(field.type)) for field in info.fields}
    required = [(field.encode_name, field.name) for field in info.fields if field.required]
    build = info.cls

    def struct(value: Any) -> Any:
        if not isinstance(value, dict):
            raise _fault("an object", value)
        fields = {}
        for member, content in members(value):
            if known := readers.get(member):
                name, reader = known
                try:
                    fields[name] = reader(content)
                except Fault as fault:
                    if content is None:
                        fields.pop(name, None)
                        continue
                    fault.path = f".{member}{fault.path}"
                    raise
        for member, name in required:
            if name not in fields:
                raise Fault("missing_field", f".{member}", "required, and absent")
        return build(**fields)

    return struct


def _list(reader: Reader) -> Reader:
    def read_list(value: Any) -> list[Any]:
        if not isinstance(value, list):
            raise _fault("an array", value)
        return [_within(reader, element, f"[{position}]") for position, element in enumerate(value)]

    return read_list


def _map(key_reader: Reader, reader: Reader) -> Reader:
    def read_map(value: Any) -> dict[Any, Any]:
        if not isinstance(value, dict):
            raise _fault("an object", value)
        return {
            _within(key_reader, key, f".{key}"): _within(reader, content, f".{key}") for key, content in members(value)
        }

    return read_map


def _integer_key(reader: Reader) -> Reader:
    form = re.compile(r"-?(?:0|[1-9]\d{0,18})", re.ASCII)

    def key(text: str) -> Any:
        if not form.fullmatch(text):
            raise _fault("an integer as the name", text)
        return reader(int(text))

    return key


def _integer(low: int | None, high: int | None) -> Reader:
    def integer(value: Any) -> int:
        if type(value) is not int:
            raise _fault("an integer", value, "out_of_range" if isinstance(value, Overflow) else "wrong_type")
        if (low is not None and value < low) or (high is not None and value > high):
            raise _fault(f"an integer from {low} to {high}", value, "out_of_range")
        return value

    return integer


def _number(low: float | None, high: float | None) -> Reader:
    def number(value: Any) -> float:
        converted = as_number(value)
        if converted is None:
            beyond = isinstance(value, int | float) and not isinstance(value, bool)
            raise _fault("a number", value, "out_of_range" if beyond else "wrong_type")
        if (low is not None and converted < low) or (high is not None and converted > high):
            raise _fault(f"a number from {low} to {high}", value, "out_of_range")
        return converted

    return number


def as_number(value: Any) -> float | None:
    """The value as a double; null where it is no number or beyond a double."""
    if type(value) is float:
        return value
    if type(value) is not int:
        return None
    try:
        number = float(value)
    except OverflowError:
        return None
    return number if math.isfinite(number) else None


def _one_of(values: tuple[Any, ...]) -> Reader:
    def one_of(value: Any) -> Any:
        if not isinstance(value, str):
            raise _fault("a string", value)
        if value not in values:
            raise _fault(f"one of {', '.join(values)}", value, "unknown_value")
        return value

    return one_of


def _text(value: Any) -> str | None:
    if not isinstance(value, str):
        raise _fault("a string", value)
    return storable(value)


def _identifier(value: Any) -> str:
    if not isinstance(value, str):
        raise _fault("a string", value)
    if not is_identifier(value):
        raise _fault(
            f"an identifier of 1 to {MAX_IDENTIFIER} characters, none a control character", value, "bad_identifier"
        )
    return value


def _time(value: Any) -> str:
    if not isinstance(value, str):
        raise _fault("a time", value)
    try:
        instant(value)
    except ValueError as error:
        raise Fault("bad_time", "", f"{error}: {_brief(value)}") from None
    return value


def _boolean(value: Any) -> bool:
    if not isinstance(value, bool):
        raise _fault("true or false", value)
    return value


def _anything(value: Any) -> Any:
    """Left as it is, but for lone surrogates, which no table can hold."""
    if isinstance(value, str):
        return storable(value)
    if isinstance(value, dict):
        return {storable(name): _anything(member) for name, member in value.items()}
    if isinstance(value, list):
        return [_anything(element) for element in value]
    return value
