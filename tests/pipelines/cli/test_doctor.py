"""Each probe says what it found; a failing one fails the command."""

import json
from pathlib import Path

import pytest

from tests.pipelines.cli.warehouse import Scorehouse


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
    assert [line.split()[0] for line in result.stdout.splitlines()] == ["failed"] * 4
