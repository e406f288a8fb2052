"""From a path to the bytes that it means."""

import json

import pytest

from pipelines.cli.excerpt import SURROUNDING, excerpt

DOCUMENT = b'{"a": {"b.c": [10, {"d": "x"}], "b": {"c": 7}}, "e": 1, "e": 2, "s": "\\u00e9 \xc3\xa9", "z": 3}'


@pytest.mark.parametrize(
    ("path", "found"),
    [
        ("$", "{"),
        ("$.a", '{"b.c"'),
        ("$.a.b.c[0]", "10"),
        ("$.a.b.c[1].d", '"x"'),
        ("$.a.b", '{"c"'),
        ("$.e", "2"),  # of equal names the last counts
        ("$.z", "3"),  # behind a character of two bytes
        ("$.a.missing", '{"b.c"'),  # the object that lacks it
        ("$.a.b.c[9]", "[10"),
        ("$[0]", "{"),
        ("byte 1", '"a"'),
        ("somewhere", "{"),
        (None, "{"),
    ],
)
def test_the_offence_is_found(path: str | None, found: str) -> None:
    part = excerpt(DOCUMENT, path)
    assert part.after.startswith(found)
    assert DOCUMENT[part.at :].startswith(found.encode())


def test_lines_have_places_of_their_own() -> None:
    content = b'{"a": 1}\n{"a": {"b": 2}}\n{"a": \n'
    assert excerpt(content, "line 2: $.a.b").after.startswith("2}")
    assert excerpt(content, "line 3: byte 1").after.startswith('"a"')
    assert excerpt(content, "line 9").after == ""


def test_a_byte_order_mark_is_skipped() -> None:
    part = excerpt(b'\xef\xbb\xbf{"a": 1}', "$.a")
    assert (part.at, part.after) == (9, "1}")


def test_long_surroundings_are_cut_and_everything_is_inert() -> None:
    part = excerpt(b"x" * 500 + b"\x1b[31m\xff\n\xe2\x80\xae" + b"y" * 500, "byte 500")
    assert part.before == "..." + "x" * SURROUNDING
    assert part.after.startswith("\\x1b[31m\\xff\\n\\u202eyyy")
    assert part.after.endswith("y...")


@pytest.mark.parametrize(
    "content", [b"", b"{", b"{}", b'{"a', b'{"a":', b"[" * 50_000, b"\xff\xfe", b"nonsense", b'{"a": [1,']
)
@pytest.mark.parametrize("path", ["$.a[3].b", "byte 99", "$", "line 7: $.a", None])
def test_nothing_that_is_stored_makes_it_fail(content: bytes, path: str | None) -> None:
    assert 0 <= excerpt(content, path).at <= len(content)


def test_every_value_of_a_document_is_found() -> None:
    document = {"list": [[1, 2], {"k": [None]}], "text": 'a"b\\c', "deep": {"x": {"y": {"z": [0, [1]]}}}}
    text = json.dumps(document, indent=2)
    for path, value in [("$.list[1].k[0]", "null"), ("$.text", '"a\\"b'), ("$.deep.x.y.z[1][0]", "1")]:
        assert excerpt(text.encode(), path).after.startswith(value)
