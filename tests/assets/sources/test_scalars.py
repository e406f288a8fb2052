"""Identifiers, times and numbers of documents."""

import datetime as dt
from typing import Any

import pytest

from assets.sources.scalars import as_number, instant, is_identifier


def utc(*parts: int) -> int:
    return int(
        (dt.datetime(*parts, tzinfo=dt.UTC) - dt.datetime(1970, 1, 1, tzinfo=dt.UTC)) / dt.timedelta(microseconds=1)
    )


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("2026-11-29T01:02:03Z", utc(2026, 11, 29, 1, 2, 3)),
        ("2026-11-29t01:02:03z", utc(2026, 11, 29, 1, 2, 3)),
        ("2026-11-29T01:02:03-00:00", utc(2026, 11, 29, 1, 2, 3)),
        ("2026-11-29T01:02:03+05:30", utc(2026, 11, 28, 19, 32, 3)),
        ("2026-11-29T01:02:03.5Z", utc(2026, 11, 29, 1, 2, 3, 500_000)),
        ("2026-11-29T01:02:03.123456999Z", utc(2026, 11, 29, 1, 2, 3, 123_456)),
        ("1969-12-31T23:59:59Z", -1_000_000),
        ("2016-12-31T23:59:60Z", utc(2017, 1, 1)),
        ("2016-12-31T18:59:60.9-05:00", utc(2017, 1, 1)),
        ("2024-02-29T00:00:00Z", utc(2024, 2, 29)),
    ],
)
def test_times_with_an_offset(text: str, expected: int) -> None:
    assert instant(text) == (expected, None)


@pytest.mark.parametrize("text", ["2026-11-29T01:02:03", "2026-11-29T01:02:03.5", "2016-12-31T10:59:60"])
def test_naive_times_keep_their_text(text: str) -> None:
    assert instant(text) == (None, text)


def test_no_time() -> None:
    assert instant(None) == (None, None)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "now",
        "2026-11-29",
        "2026-11-29T01:02Z",
        "2026-11-29 01:02:03Z",
        "20261129T010203Z",
        "2026-W48-7T01:02:03Z",
        "2026-11-29T24:00:00Z",
        "2026-11-29T01:60:03Z",
        "2026-11-29T01:02:61Z",
        "2026-11-29T01:02:60Z",
        "2026-13-01T01:02:03Z",
        "2026-02-29T01:02:03Z",
        "0000-01-01T00:00:00Z",
        "9999-12-31T23:59:59-00:01",
        "2026-11-29T01:02:03+24:00",
        "2026-11-29T01:02:03+0100",
        "2026-11-29T01:02:03.Z",
        "2026-11-29T01:02:03Z ",
        "\uff12026-11-29T01:02:03Z",
    ],
)
def test_malformed_times(text: str) -> None:
    with pytest.raises(ValueError, match=r".+"):
        instant(text)


@pytest.mark.parametrize(
    ("text", "valid"), [("", False), ("a" * 200, True), ("a" * 201, False), ("\u200d", True), ("\x9f", False)]
)
def test_identifiers(text: str, valid: bool) -> None:
    assert is_identifier(text) is valid


@pytest.mark.parametrize(
    ("value", "expected"),
    [(1, 1.0), (2.5, 2.5), (10**308, 1e308), (10**309, None), (True, None), ("1", None), (None, None), ([], None)],
)
def test_numbers(value: Any, expected: float | None) -> None:
    assert as_number(value) == expected
