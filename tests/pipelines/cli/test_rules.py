"""The rule sets as the command line shows, compares, makes, activates and retires them."""

import json
import re
import shutil
from pathlib import Path

import pytest

from assets.rulesets.loader import load_all
from tests.pipelines.cli.processes import ROOT, process
from tests.pipelines.cli.warehouse import Scorehouse

V1 = ROOT / "assets/rulesets/v1.toml"


def test_list(scorehouse: Scorehouse) -> None:
    [v1] = [row for row in json.loads(scorehouse("rules", "list", "--json").stdout) if row["id"] == "v1"]
    assert v1 == {
        "id": "v1",
        "status": "active",
        "current": True,
        "predecessor": None,
        "digest": load_all()["v1"].digest,
        "title": "The first published rules",
    }
    assert v1["digest"][:12] in scorehouse("rules", "list").stdout


def test_show_has_every_constant(scorehouse: Scorehouse) -> None:
    shown = json.loads(scorehouse("rules", "show", "v1", "--json").stdout)
    assert shown["gameplay.player_calls"] == 1024
    assert "CancelledError" in shown["harbor.voiding_exceptions"]
    text = scorehouse("rules", "show", "v1").stdout
    assert all(name in text for name in shown if name != "digest")


def test_an_unknown_rule_set(scorehouse: Scorehouse) -> None:
    result = scorehouse("rules", "show", "v99")
    assert result.exit_code == 2
    assert "no rule set 'v99'; there are v1" in result.stderr


@pytest.fixture
def team(home: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder of a team's own rule sets."""
    folder = home / "team"
    folder.mkdir()
    monkeypatch.setenv("SCOREHOUSE_RULESETS", str(folder))
    return folder


def test_new_writes_a_candidate_into_the_teams_folder(scorehouse: Scorehouse, team: Path) -> None:
    result = scorehouse("rules", "new", "v2", "--from", "v1", "--title", "Fewer calls")
    assert result.exit_code == 0, result.output
    assert result.stdout.splitlines()[0] == f"{team / 'v2.toml'}: rule set v2, a candidate that begins as v1"
    assert all(f"scorehouse rules {verb}" in result.stdout for verb in ("diff v1 v2", "plan v2", "activate v2"))
    [v2] = [rules for rules in load_all(team).values() if rules.id == "v2"]
    assert (v2.status, v2.predecessor, v2.title) == ("candidate", "v1", "Fewer calls")
    assert scorehouse("rules", "diff", "v1", "v2").stdout == "No constant differs between v1 and v2.\n"


def test_diff(scorehouse: Scorehouse, team: Path) -> None:
    scorehouse("rules", "new", "v2", "--from", "v1")
    edit(team / "v2.toml", "player_calls = 1024", "player_calls = 512")
    edit(team / "v2.toml", '"ModelNotFoundError",', '"Lost\x7f",'.replace("\x7f", "\\u007f"))
    assert [line.split(maxsplit=1) for line in scorehouse("rules", "diff", "v1", "v2").stdout.splitlines()] == [
        ["constant", "v1                              v2"],
        ["gameplay.player_calls", "1024                            512"],
        ["harbor.voiding_exceptions", 'removed ["ModelNotFoundError"]  added ["Lost\\u007f"]'],
    ]
    calls, exceptions = json.loads(scorehouse("rules", "diff", "v1", "v2", "--json").stdout)
    assert (calls["constant"], calls["before"], calls["after"]) == ("gameplay.player_calls", 1024, 512)
    assert (exceptions["removed"], exceptions["added"]) == (["ModelNotFoundError"], ["Lost\x7f"])
    assert scorehouse("rules", "diff", "v1", "v9").exit_code == 2


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("v1", "--from", "v1"), r"v1\.toml: rule set v1 exists already; choose another id"),
        (("V2", "--from", "v1"), "'V2' is no rule set id: a-z"),
        (("../v2", "--from", "v1"), "is no rule set id"),
        (("v2", "--from", "v0"), "no rule set 'v0'; there are v1"),
        (("v2",), "Missing option '--from'"),
    ],
)
def test_new_refuses(scorehouse: Scorehouse, team: Path, arguments: tuple[str, ...], message: str) -> None:
    result = scorehouse("rules", "new", *arguments)
    assert result.exit_code == 2
    [line] = result.stderr.splitlines()
    assert re.search(message, line)
    assert list(team.iterdir()) == []


def test_new_never_writes_over_a_rule_set(scorehouse: Scorehouse, team: Path) -> None:
    scorehouse("rules", "new", "v2", "--from", "v1", "--title", "mine")
    before = (team / "v2.toml").read_bytes()
    assert scorehouse("rules", "new", "v2", "--from", "v1", "--title", "yours").exit_code == 2
    assert (team / "v2.toml").read_bytes() == before


def test_a_folder_that_does_not_exist(scorehouse: Scorehouse, home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SCOREHOUSE_RULESETS", str(home / "nowhere"))
    result = scorehouse("rules", "new", "v2", "--from", "v1")
    assert result.exit_code == 2
    assert result.stderr == f"scorehouse: {home / 'nowhere'}: no such directory of rule sets\n"


def test_the_life_of_a_rule_set(scorehouse: Scorehouse, team: Path) -> None:
    scorehouse("rules", "new", "v2", "--from", "v1")
    file = team / "v2.toml"
    edit(file, "\n", "\r\n")
    candidate, digest = file.read_bytes(), load_all(team)["v2"].digest
    told = scorehouse("rules", "activate", "v2").stdout
    assert f"{file}: rule set v2 is active, it was candidate; digest {digest}, as before" in told
    assert "active: v1, v2; current: v2" in told
    assert "scorehouse backfill --rules v2" in told
    assert "pinned" not in told
    assert file.read_bytes() == candidate.replace(b'"candidate"', b'"active"')
    assert "is active already; nothing was changed" in scorehouse("rules", "activate", "v2").stdout
    told = scorehouse("rules", "retire", "v2").stdout
    assert "active: v1; current: v1" in told
    assert "backfill" not in told
    assert file.read_bytes() == candidate.replace(b'"candidate"', b'"retired"')
    assert load_all(team)["v2"].digest == digest
    assert scorehouse("rules", "activate", "v2").exit_code == 0
    assert file.read_bytes() == candidate.replace(b'"candidate"', b'"active"')


def test_the_only_active_one_is_not_retired(scorehouse: Scorehouse, team: Path) -> None:
    scorehouse("rules", "new", "v2", "--from", "v1")
    before = V1.read_bytes()
    result = scorehouse("rules", "retire", "v1")
    assert result.exit_code == 2
    assert result.stderr == (
        "scorehouse: rule set v1 stays active: were it retired, exactly one rule set must be current, found none\n"
    )
    assert V1.read_bytes() == before
    assert len(list(team.iterdir())) == 1


def test_a_second_head_is_not_activated(scorehouse: Scorehouse, team: Path) -> None:
    for id_ in ("v2", "v3"):
        scorehouse("rules", "new", id_, "--from", "v1")
    scorehouse("rules", "activate", "v2")
    before = (team / "v3.toml").read_bytes()
    result = scorehouse("rules", "activate", "v3")
    assert result.exit_code == 2
    assert "rule set v3 stays candidate: were it active, exactly one rule set must be current, found v2, v3" in (
        result.stderr
    )
    assert (team / "v3.toml").read_bytes() == before


def test_a_set_with_two_heads_is_mended_by_retiring_one(scorehouse: Scorehouse, team: Path) -> None:
    for id_ in ("v2", "v3"):
        scorehouse("rules", "new", id_, "--from", "v1")
        edit(team / f"{id_}.toml", '"candidate"', '"active"')
    assert scorehouse("rules", "list").exit_code == 2
    assert "active: v1, v2; current: v2" in scorehouse("rules", "retire", "v3").stdout


def test_a_file_with_a_byte_order_mark_is_refused(scorehouse: Scorehouse, team: Path) -> None:
    scorehouse("rules", "new", "v2", "--from", "v1")
    (team / "v2.toml").write_bytes(b"\xef\xbb\xbf" + (team / "v2.toml").read_bytes())
    result = scorehouse("rules", "activate", "v2")
    assert result.exit_code == 2
    assert f"{team / 'v2.toml'}: " in result.stderr


def test_without_the_setting_it_is_the_projects_folder(tmp_path: Path) -> None:
    checkout = tmp_path / "checkout"
    for package in ("assets", "pipelines"):
        shutil.copytree(ROOT / package, checkout / package, ignore=shutil.ignore_patterns("__pycache__"))
    folder = checkout / "assets/rulesets"
    made = process("rules", "new", "v2", "--from", "v1", cwd=checkout, PYTHONPATH=str(checkout))
    assert (made.returncode, made.stderr) == (0, "")
    assert made.stdout.startswith(f"{folder / 'v2.toml'}: rule set v2, a candidate")
    told = process("rules", "activate", "v2", cwd=checkout, PYTHONPATH=str(checkout)).stdout
    assert "its digest is pinned in tests/assets/rulesets/test_loader.py" in told
    assert sorted(path.name for path in folder.glob("*.toml")) == ["v1.toml", "v2.toml"]
    assert (folder / "v1.toml").read_bytes() == V1.read_bytes()


def edit(file: Path, old: str, new: str) -> None:
    text = file.read_bytes()
    assert old.encode() in text
    file.write_bytes(text.replace(old.encode(), new.encode()))
