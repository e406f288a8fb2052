"""Text that is JSON, text that is not, and how deep it nests."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assets.sources.documents import Fault
from assets.sources.json_text import canonical, deeper_than, members, parse, shown

json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=30,
)


def depth(value: Any) -> int:
    if isinstance(value, dict):
        return 1 + max(map(depth, value.values()), default=0)
    if isinstance(value, list):
        return 1 + max(map(depth, value), default=0)
    return 0


@given(json_values, st.booleans())
def test_plain_values_are_what_json_says(value: Any, ascii_only: bool) -> None:
    assert parse(json.dumps(value, ensure_ascii=ascii_only).encode("utf-8", "surrogatepass"), 64) == value


@given(
    st.recursive(
        st.text(alphabet='[]{}"\\:, a'),
        lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(alphabet='[{"\\'), inner, max_size=3),
        max_leaves=40,
    )
)
def test_depth_is_exact_whatever_strings_hold(value: Any) -> None:
    content = json.dumps(value).encode()
    found = depth(value)
    assert not deeper_than(content, found)
    assert found == 0 or deeper_than(content, found - 1)


@given(st.binary(max_size=200), st.integers(0, 5))
def test_depth_of_anything_is_told(content: bytes, limit: int) -> None:
    assert isinstance(deeper_than(content, limit), bool)


def test_numbers_beyond_a_double_keep_their_digits() -> None:
    value = parse(b"[1e999,-1e999,1e308," + b"7" * 5_000 + b"]", 64)
    assert value[:3] == [float("inf"), float("-inf"), 1e308]
    assert (shown(value[0]), shown(value[1]), shown(value[3])) == ("1e999", "-1e999", "7" * 5_000)


def test_repeated_members_are_all_there() -> None:
    value = parse(b'{"a":1,"b":2,"a":3}', 64)
    assert value == {"a": 3, "b": 2}
    assert list(members(value)) == [("a", 1), ("b", 2), ("a", 3)]


@pytest.mark.parametrize(
    "content", [b"NaN", b'{"a":Infinity}', b'["-Infinity",-Infinity]', b"[01]", b"[1.]", b"[.5]", b"[+1]"]
)
def test_tokens_that_json_has_not(content: bytes) -> None:
    with pytest.raises(Fault) as caught:
        parse(content, 64)
    assert caught.value.reason == "not_json"


def test_the_canonical_form() -> None:
    assert canonical({"b": [None, {"x": None}], "a": 1.5, "n": None}) == b'{"a":1.5,"b":[null,{}]}'
    assert canonical({"a": "\ud800"}) == b'{"a":"\\ud800"}'
    assert canonical(parse(b'{"a":1e999,"b":null}', 64)) == b'{"a":Infinity}'


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"[" * 2**22, "too_deep"),
        (b"[]" * 2**21, "not_json"),
        (b"]" * 2**22, "not_json"),
        (b'\\"' * 2**21 + b"[" * 100, "too_deep"),
        (b'"' + b'\\"' * 2**21, "not_json"),
        (b'"' * 2**22, "not_json"),
        (b"[NaN," + b'"\\"' * 2**20, "not_json"),
    ],
)
def test_hostile_text_takes_no_longer_than_its_length(content: bytes, reason: str) -> None:
    with pytest.raises(Fault) as caught:
        parse(content, 64)
    assert caught.value.reason == reason
