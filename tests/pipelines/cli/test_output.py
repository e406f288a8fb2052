"""Text that cannot act on a terminal, and strict JSON."""

import datetime as dt
import decimal
import json

import pytest

from pipelines.cli.output import inert, json_text, print_table, say, to_json
from pipelines.cli.progress import Lines, progress


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("plain caf\u00e9 \U0001f916", "plain caf\u00e9 \U0001f916"),
        ("\x1b[2J\x07\r\n\t\0", "\\x1b[2J\\x07\\r\\n\\t\\x00"),
        ("\u202e\u2066\u200b\u2028\ufeff", "\\u202e\\u2066\\u200b\\u2028\\ufeff"),
        ("\x9b31m\xa0\ud800", "\\x9b31m\\xa0\\ud800"),
        ("\U000e0041", "\\U000e0041"),
    ],
)
def test_inert(text: str, expected: str) -> None:
    assert inert(text) == expected


def test_json_text_is_inert_and_means_the_same() -> None:
    value = {"\x1b\u202e": ["\U000e0041", "caf\u00e9", "\x9b"]}
    text = json_text(value)
    assert text.isprintable()
    assert "caf\u00e9" in text
    assert json.loads(text) == value


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (float("nan"), None),
        (float("-inf"), None),
        (decimal.Decimal(10**20), 10**20),
        (decimal.Decimal("1.25"), 1.25),
        (dt.datetime(2026, 1, 1, 1, tzinfo=dt.timezone(dt.timedelta(hours=1))), "2026-01-01T00:00:00Z"),
        (dt.date(2026, 1, 1), "2026-01-01"),
        (b"\xff", "/w=="),
        ({"a": (1, float("nan"))}, {"a": [1, None]}),
    ],
)
def test_to_json(value: object, expected: object) -> None:
    assert to_json(value) == expected


def test_markup_and_escapes_in_data_are_plain_text(capsys: pytest.CaptureFixture[str]) -> None:
    say("[red]a[/red] :smile: \x1b[31m")
    print_table(["[b]x[/b]", "n"], [["[link=http://x]y[/link]", 1], [None, 2], [["a", None], 3]])
    assert capsys.readouterr().out.splitlines() == [
        "[red]a[/red] :smile: \\x1b[31m",
        "[b]x[/b]                 n",
        "[link=http://x]y[/link]  1",
        "                         2",
        '["a", null]              3',
    ]


def test_nothing_is_cut_off_in_a_pipe(capsys: pytest.CaptureFixture[str]) -> None:
    print_table(["x"], [["y" * 5000]])
    assert "y" * 5000 in capsys.readouterr().out


def test_progress_is_lines_where_there_is_no_terminal(capsys: pytest.CaptureFixture[str]) -> None:
    with progress() as report:
        assert isinstance(report, Lines)
        report("landing", 0, None)
        for done in range(101):
            report("decoding", done, 100)
    out, err = capsys.readouterr()
    assert out == ""
    assert err.splitlines()[:3] == ["landing ...", "decoding: 0 of 100", "decoding: 10 of 100"]
    assert len(err.splitlines()) == 12
