"""Plain JSON values against msgspec types, with the exact path of the first offence.

msgspec decodes and checks fast, but its paths stop at map entries and missing fields. This reads the same types by
introspection, so that a structure is declared once; it also knows what msgspec cannot say: identifiers, times, and
unions that are open. Not here: any particular structure.

https://jcristharif.com/msgspec/api.html#inspect
"""

import re
import types
from collections.abc import Callable, Hashable
from functools import cache
from typing import Annotated, Any, Literal, TypeVar, Union, get_args, get_origin

import msgspec
from msgspec import Meta, inspect

from assets.sources.documents import Fault, storable
from assets.sources.json_text import Overflow, members, shown
from assets.sources.scalars import MAX_IDENTIFIER, as_number, instant, is_identifier

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


Scalar = bool | int | float | str | None
Shallow = Scalar | list[Scalar] | dict[str, Scalar]
"""Anything but a container in a container."""


@cache
def closed(expected: type[msgspec.Struct]) -> type[msgspec.Struct]:
    """The struct with unknown fields refused all the way down, and `Any` fields shallow.

    What it decodes nests no deeper than its types do (`Raw` fields apart), so that nobody need look.
    """
    known = msgspec.structs.fields(expected)
    config = expected.__struct_config__
    return msgspec.defstruct(
        expected.__name__,
        [(one.name, _closed(one.type), *(() if one.required else (one.default,))) for one in known],
        bases=(expected,),
        rename={one.name: one.encode_name for one in known},
        tag=config.tag,
        tag_field=config.tag_field,
        gc=False,
        kw_only=True,
        forbid_unknown_fields=True,
    )


def _closed(hint: Any) -> Any:
    origin, arguments = get_origin(hint), get_args(hint)
    if hint is Any:
        return Shallow
    if origin is None:
        return closed(hint) if isinstance(hint, type) and issubclass(hint, msgspec.Struct) else hint
    if origin is Literal:
        return hint
    if origin is Annotated:
        return Annotated[_closed(arguments[0]), *arguments[1:]]
    inner = tuple(map(_closed, arguments))
    return Union[inner] if origin in {Union, types.UnionType} else origin[inner]  # noqa: UP007 - made at run time


def read(expected: type[T], value: Any) -> T:
    """The value as the type, every member checked in document order.

    Raises:
        Fault: the first offence; its path starts with `$`.
    """
    try:
        checked: T = _reader_of(expected)(value)  # type: ignore[arg-type]  # a type is hashable
    except Fault as fault:
        fault.path = f"${fault.path}"
        raise
    return checked


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
def _reader_of(expected: Hashable) -> Reader:
    return _reader(inspect.type_info(expected))


def _reader(info: inspect.Type) -> Reader:
    return _READERS[type(info)](info)


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
    if tagged:
        present = _tagged(tagged, _reader_of(fallback) if fallback else None)
    else:
        present = _either([_reader(info) for info in rest])
    if len(rest) == len(types):
        return present
    return lambda value: None if value is None else present(value)


def _either(readers: list[Reader]) -> Reader:
    """The first of the readers that takes the value; where none does, what the first one says."""
    if len(readers) == 1:
        return readers[0]

    def either(value: Any) -> Any:
        faults = []
        for reader in readers:
            try:
                return reader(value)
            except Fault as fault:
                faults.append(fault)
        raise faults[0]

    return either


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


def _key(info: inspect.Type) -> Reader:
    reader = _reader(info)
    if isinstance(info, inspect.StrType):
        return reader
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
            raise _fault(f"an integer {_range(low, high)}", value, "out_of_range")
        return value

    return integer


def _number(low: float | None, high: float | None) -> Reader:
    def number(value: Any) -> float:
        converted = as_number(value)
        if converted is None:
            beyond = isinstance(value, int | float) and not isinstance(value, bool)
            raise _fault("a number", value, "out_of_range" if beyond else "wrong_type")
        if (low is not None and converted < low) or (high is not None and converted > high):
            raise _fault(f"a number {_range(low, high)}", value, "out_of_range")
        return converted

    return number


def _range(low: float | None, high: float | None) -> str:
    return f"from {low} to {high}" if None not in {low, high} else f"of at least {low}"


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


_READERS: dict[type[inspect.Type], Callable[[Any], Reader]] = {
    inspect.Metadata: lambda info: _special(info.type, info.extra or {}),
    inspect.UnionType: lambda info: _union(info.types),
    inspect.StructType: _struct,
    inspect.ListType: lambda info: _list(_reader(info.item_type)),
    inspect.DictType: lambda info: _map(_key(info.key_type), _reader(info.value_type)),
    inspect.IntType: lambda info: _integer(info.ge, info.le),
    inspect.FloatType: lambda info: _number(info.ge, info.le),
    inspect.LiteralType: lambda info: _one_of(info.values),
    inspect.StrType: lambda _: _text,
    inspect.BoolType: lambda _: _boolean,
    inspect.AnyType: lambda _: _anything,
    inspect.RawType: lambda _: _anything,
}
