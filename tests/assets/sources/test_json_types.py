"""One declaration of a structure for the fast decoder and for the careful reading."""

from typing import Annotated, Any, Literal

import msgspec
import pytest
from msgspec import Meta, Struct

from assets.sources.documents import Fault
from assets.sources.json_types import Identifier, Time, closed, otherwise, read


class Circle(Struct, tag_field="kind", tag="circle"):
    radius: Annotated[float, Meta(ge=0)]


class Square(Struct, tag_field="kind", tag="square"):
    side: Annotated[int, Meta(ge=0, le=9)]


class Blob(Struct):
    kind: str


class Drawing(Struct, rename="camel"):
    drawing_id: Identifier
    shapes: list[Annotated[Circle | Square, otherwise(Blob)]] | None = None
    only: Circle | Square | None = None
    marks: dict[str, int | None] | None = None
    by_day: dict[Annotated[int, Meta(ge=0, le=5)], float] | None = None
    mood: Literal["good", "bad"] | None = None
    at: Time | None = None
    note: Any = None


@pytest.mark.parametrize(
    ("value", "reason", "path"),
    [
        ([], "wrong_type", "$"),
        ({}, "missing_field", "$.drawingId"),
        ({"drawingId": None}, "missing_field", "$.drawingId"),
        ({"drawingId": "\n"}, "bad_identifier", "$.drawingId"),
        ({"drawingId": "d", "shapes": [{"kind": "circle"}]}, "missing_field", "$.shapes[0].radius"),
        ({"drawingId": "d", "shapes": [{"kind": "circle", "radius": -1}]}, "out_of_range", "$.shapes[0].radius"),
        ({"drawingId": "d", "shapes": [{"side": 1}]}, "missing_field", "$.shapes[0].kind"),
        ({"drawingId": "d", "shapes": [{"kind": 1}]}, "wrong_type", "$.shapes[0].kind"),
        ({"drawingId": "d", "only": {"kind": "blob"}}, "unknown_value", "$.only.kind"),
        ({"drawingId": "d", "only": {"kind": 1}}, "wrong_type", "$.only.kind"),
        ({"drawingId": "d", "marks": {"a.b": "x"}}, "wrong_type", "$.marks.a.b"),
        ({"drawingId": "d", "byDay": {"6": 1}}, "out_of_range", "$.byDay.6"),
        ({"drawingId": "d", "byDay": {"01": 1}}, "wrong_type", "$.byDay.01"),
        ({"drawingId": "d", "mood": "odd"}, "unknown_value", "$.mood"),
        ({"drawingId": "d", "at": "today"}, "bad_time", "$.at"),
    ],
)
def test_the_first_offence_has_its_exact_path(value: Any, reason: str, path: str) -> None:
    with pytest.raises(Fault) as caught:
        read(Drawing, value)
    assert (caught.value.reason, caught.value.path) == (reason, path)


def test_what_is_read_is_what_the_decoder_makes() -> None:
    value = {
        "drawingId": "d",
        "shapes": [{"kind": "circle", "radius": 2, "side": "x"}, {"kind": "square", "side": 3}],
        "marks": {"a": None, "b": 1},
        "byDay": {"0": 1, "5": 2.5},
        "mood": "good",
        "at": "2026-11-29T01:02:03",
        "note": {"any": [1]},
        "extra": 1,
    }
    assert read(Drawing, value) == msgspec.json.decode(msgspec.json.encode(value), type=Drawing)


def test_an_open_union_reads_unknown_kinds() -> None:
    assert read(Drawing, {"drawingId": "d", "shapes": [{"kind": "blob", "side": "x"}]}).shapes == [Blob("blob")]


def test_a_closed_type_refuses_unknown_fields_and_depth() -> None:
    decoder = msgspec.json.Decoder(closed(Drawing))
    drawing = decoder.decode(
        b'{"drawingId":"d","shapes":[{"kind":"square","side":3}],"note":{"a":[]}}'.replace(b"[]", b"1")
    )
    assert isinstance(drawing, Drawing)
    assert drawing.shapes is not None
    assert isinstance(drawing.shapes[0], Square)
    for content in (
        b'{"drawingId":"d","x":1}',
        b'{"drawingId":"d","shapes":[{"kind":"square","side":3,"radius":1}]}',
        b'{"drawingId":"d","note":[[]]}',
    ):
        with pytest.raises(msgspec.ValidationError):
            decoder.decode(content)
