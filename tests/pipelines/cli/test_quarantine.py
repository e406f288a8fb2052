"""What is in quarantine, and what is wrong with it."""

import json

import pytest

from tests.pipelines.cli.warehouse import Scorehouse


@pytest.mark.usefixtures("tables")
def test_list_shows_every_entry_and_counts_them(scorehouse: Scorehouse) -> None:
    result = scorehouse("quarantine", "list")
    assert result.exit_code == 0
    assert "$.trajectory[0].cashCents" in result.stdout
    assert "3 in quarantine, 1 x decode wrong_type, 1 x decode not_json, 1 x fetch too_large" in result.stdout
    assert not {"\x1b", "\u202e"} & set(result.stdout)


@pytest.mark.usefixtures("tables")
@pytest.mark.parametrize(
    ("options", "reasons"),
    [
        (["--reason", "wrong_type"], ["wrong_type"]),
        (["--stage", "fetch"], ["too_large"]),
        (["--source", "harbor"], []),
        (["--day", "2026-09-14"], ["wrong_type", "not_json", "too_large"]),
        (["--day", "2026-09-15"], []),
        (["--limit", "1"], ["wrong_type"]),
        ([], ["wrong_type", "not_json", "too_large"]),
    ],
)
def test_list_filters(scorehouse: Scorehouse, options: list[str], reasons: list[str]) -> None:
    result = scorehouse("quarantine", "list", "--json", *options)
    assert [row["reason"] for row in json.loads(result.stdout)] == reasons


@pytest.mark.usefixtures("tables")
def test_a_limit_says_what_it_left_out(scorehouse: Scorehouse) -> None:
    result = scorehouse("quarantine", "list", "--limit", "2")
    assert "showing 2 of them; --limit 0 shows all" in result.stdout


@pytest.mark.usefixtures("tables")
@pytest.mark.parametrize("options", [["--stage", "nowhere"], ["--day", "someday"], ["--limit", "-1"]])
def test_wrong_filters_are_wrong_usage(scorehouse: Scorehouse, options: list[str]) -> None:
    result = scorehouse("quarantine", "list", *options)
    assert (result.exit_code, result.stdout) == (2, "")


@pytest.mark.usefixtures("tables")
def test_show_points_at_the_offence(scorehouse: Scorehouse) -> None:
    result = scorehouse("quarantine", "show", "/store/x.json")
    lines = result.stdout.splitlines()
    assert lines[:4] == [
        "/store/x.json",
        "  landed on 2026-09-14, source worldseq",
        "  decode: wrong_type at $.trajectory[0].cashCents",
        "  Expected `int`, got `float`",
    ]
    assert lines[5][lines[6].index("^") :] == "1.5}]}"


@pytest.mark.usefixtures("tables")
def test_show_is_inert_and_finds_by_a_part_of_the_uri(scorehouse: Scorehouse) -> None:
    result = scorehouse("quarantine", "show", "y.js")
    assert result.exit_code == 0
    assert "\\xff\\x1b[31m{{{" in result.stdout
    assert not {"\x1b", "\u202e"} & set(result.stdout)
    assert "its bytes are not stored" in scorehouse("quarantine", "show", "z.json").stdout


@pytest.mark.usefixtures("tables")
def test_show_json(scorehouse: Scorehouse) -> None:
    [entry] = json.loads(scorehouse("quarantine", "show", "x.json", "--json").stdout)
    assert entry["reason"] == "wrong_type"
    assert entry["excerpt"]["after"] == "1.5}]}"


@pytest.mark.usefixtures("tables")
def test_show_of_an_unknown_document_says_so(scorehouse: Scorehouse) -> None:
    result = scorehouse("quarantine", "show", "absent")
    assert result.exit_code == 1
    assert "nothing in quarantine has 'absent' in its uri" in result.stderr


def test_without_a_warehouse_it_says_what_to_do(scorehouse: Scorehouse) -> None:
    result = scorehouse("quarantine", "list")
    assert result.exit_code == 1
    assert "`scorehouse run` makes it" in result.stderr
