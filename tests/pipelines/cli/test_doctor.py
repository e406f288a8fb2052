"""Each probe says what it found; a failing one fails the command."""

import json
from pathlib import Path

import pytest

from assets.rulesets.loader import load_all
from assets.verification.contract import Verifications
from pipelines.released import notes
from pipelines.storage.tables import Tables
from tests.pipelines.cli.warehouse import DAY_1, Scorehouse, frame, verdict


def findings(scorehouse: Scorehouse, status: int) -> dict[str, tuple[bool, str]]:
    result = scorehouse("doctor", "--json")
    assert result.exit_code == status
    return {finding["check"]: (finding["ok"], finding["detail"]) for finding in json.loads(result.stdout)}


def test_all_is_well(scorehouse: Scorehouse, home: Path) -> None:
    (home / ".scorehouse/artifacts").mkdir(parents=True)
    result = scorehouse("doctor")
    assert result.exit_code == 0, result.output
    assert [line.split()[:2] for line in result.stdout.splitlines()] == [
        ["ok", "artifacts"],
        ["ok", "tables"],
        ["ok", "dagster"],
        ["ok", "rules"],
        ["ok", "released"],
    ]
    assert {path.name for path in (home / ".scorehouse").iterdir()} == {
        "artifacts",
        "dagster",
    }  # the probe left nothing


def test_absent_artifacts_fail_alone(scorehouse: Scorehouse) -> None:
    found = findings(scorehouse, 1)
    assert [name for name, (ok, _) in found.items() if not ok] == ["artifacts"]


@pytest.mark.usefixtures("tables")
def test_the_probe_leaves_existing_tables_alone(scorehouse: Scorehouse, home: Path) -> None:
    before = sorted(path.name for path in (home / ".scorehouse/tables").iterdir())
    findings(scorehouse, 1)
    assert sorted(path.name for path in (home / ".scorehouse/tables").iterdir()) == before


def test_every_failure_is_one_line(scorehouse: Scorehouse, home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (home / "file").write_text("", encoding="utf-8")
    (home / "rules").mkdir()
    (home / "rules/v2.toml").write_text("id = 3", encoding="utf-8")
    monkeypatch.setenv("SCOREHOUSE_TABLES", str(home / "file"))
    monkeypatch.setenv("DAGSTER_HOME", str(home / "file"))
    monkeypatch.setenv("SCOREHOUSE_RULESETS", str(home / "rules"))
    result = scorehouse("doctor")
    assert result.exit_code == 1
    assert [line.split()[0] for line in result.stdout.splitlines()] == ["failed"] * 5


def test_a_rule_set_that_was_changed_after_its_release(
    scorehouse: Scorehouse, home: Path, tables: Tables, monkeypatch: pytest.MonkeyPatch
) -> None:
    (home / "team").mkdir()
    monkeypatch.setenv("SCOREHOUSE_RULESETS", str(home / "team"))
    for verb in (("new", "v2", "--from", "v1"), ("activate", "v2")):
        assert scorehouse("rules", *verb).exit_code == 0
    rows = frame(Verifications, verdict("worldseq:a", DAY_1, "eligible", rules="v2"))
    v2 = load_all(home / "team")["v2"]
    tables.replace(Verifications, rows, [{"landed_on": DAY_1, "rules": "v2"}], notes([v2]))
    assert findings(scorehouse, 1)["released"][0]
    file = home / "team/v2.toml"
    file.write_text(file.read_text(encoding="utf-8").replace("player_calls = 1024", "player_calls = 1"), "utf-8")
    ok, detail = findings(scorehouse, 1)["released"]
    assert not ok
    assert "rule set v2 was changed after results were published under it" in detail
