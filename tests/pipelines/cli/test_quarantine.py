"""What is in quarantine, and what is wrong with it."""

import json
from pathlib import Path

import pytest

from tests.integration.campaign_store import deep
from tests.integration.hostile import full, text
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


def test_replay_says_what_left_and_what_there_was_nothing_of(
    scorehouse: Scorehouse, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    said = scorehouse("quarantine", "replay")
    assert (said.exit_code, said.stdout) == (0, "Nothing in quarantine that could be decoded again.\n")
    folder = home / ".scorehouse/artifacts/worldseq/2026-11-24"
    folder.mkdir(parents=True)
    (folder / "deep.json").write_bytes(deep(full("deep"), 20))
    (folder / "<script>\x1b[31m.json").write_bytes(text(full("torn"))[:-5])
    monkeypatch.setenv("SCOREHOUSE_MAX_DEPTH", "10")
    assert scorehouse("run").exit_code == 0
    monkeypatch.setenv("SCOREHOUSE_MAX_DEPTH", "64")
    (home / ".scorehouse/artifacts").rename(home / "elsewhere")
    said = scorehouse("quarantine", "replay")
    assert said.exit_code == 0, said.output
    lines = said.stdout.splitlines()
    assert lines[:2] == ["1 day decoded again from the stored bytes", "  1 document left quarantine"]
    assert lines[2].startswith("    2026-11-24  decode too_deep")
    assert lines[3:5] == ["  0 documents still there, for another reason", "  1 document as before"]
    assert "  under v1 1 day: the inputs changed" in lines
    told = json.loads(scorehouse("quarantine", "replay", "--reason", "not_json", "--json").stdout)
    assert (told["days"], told["left"], told["stayed"], told["summary"]["scored"]) == (["2026-11-24"], [], 1, {})
    said = scorehouse("quarantine", "replay", "--reason", "not_jsn")
    assert said.exit_code == 0, said.output
    assert said.stdout == "Nothing in quarantine that could be decoded again.\n  Reasons in quarantine: not_json\n"


@pytest.mark.parametrize("options", [["--stage", "nowhere"], ["--day", "someday"]])
def test_a_wrong_filter_of_a_replay_is_wrong_usage(scorehouse: Scorehouse, options: list[str]) -> None:
    result = scorehouse("quarantine", "replay", *options)
    assert (result.exit_code, result.stdout) == (2, "")
