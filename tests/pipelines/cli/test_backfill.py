"""`scorehouse backfill` and `scorehouse rules plan`: what they say, and with which exit status."""

import json
import shutil
from pathlib import Path

import pytest

from pipelines.settings import Settings
from tests.integration.backfills import copied, store
from tests.pipelines.cli.warehouse import Scorehouse


@pytest.fixture(scope="module")
def scored(tmp_path_factory: pytest.TempPathFactory) -> Settings:
    """Two days, complete under v1; v2 is a candidate."""
    return store(tmp_path_factory.mktemp("scored"), days=2, attempts=10)


@pytest.fixture
def place(scored: Settings, home: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A store of its own as the configured one."""
    where = copied(scored, home / "store")
    for name, value in (("ARTIFACTS", where.artifacts), ("TABLES", where.tables), ("RULESETS", where.rulesets)):
        monkeypatch.setenv(f"SCOREHOUSE_{name}", str(value))
    return home / "store"


@pytest.mark.usefixtures("place")
def test_from_the_plan_to_the_backfill(scorehouse: Scorehouse) -> None:
    planned = scorehouse("rules", "plan", "v2")
    assert planned.exit_code == 0, planned.output
    assert "A backfill under v2 would compute 2 days with 20 attempts; nothing was published." in planned.stdout
    told = json.loads(scorehouse("rules", "plan", "v2", "--json").stdout)
    assert (told["partitions"], told["attempts"], told["fresh"], told["flips"]) == (2, 20, 0, [])
    assert told["changes"]["overall"]["attempts"] > 0

    done = json.loads(scorehouse("backfill", "--rules", "v2", "--from", "2026-09-02", "--json").stdout)
    assert (done["days"], done["scored"]) == (["2026-09-02"], {"v2": {"not computed yet": 1}})
    shown = scorehouse("backfill", "--rules", "v2").stdout
    assert "under v2 1 day: not computed yet" in shown
    assert "1 day was left alone: complete, from the same code, rules and inputs" in shown
    assert shown.split("Changed under v2 against v1\n")[1] in planned.stdout
    told = json.loads(scorehouse("rules", "plan", "v2", "--json").stdout)
    assert (told["partitions"], told["fresh"]) == (0, 2)
    assert scorehouse("backfill", "--rules", "v2", "--to", "2026-09-01", "--force", "--json").exit_code == 0


def test_a_predecessor_that_was_edited_since_its_backfill_is_told(scorehouse: Scorehouse, place: Path) -> None:
    file = place / "rulesets" / "v2.toml"
    scorehouse("backfill", "--rules", "v2")
    assert scorehouse("rules", "new", "v3", "--from", "v2").exit_code == 0
    assert "stale" not in scorehouse("rules", "plan", "v3").stdout
    file.write_text(file.read_text(encoding="utf-8").replace("player_calls = 700", "player_calls = 600"))
    told = "2 days' results under v2 are stale: first scorehouse backfill --rules v2"
    assert told in scorehouse("rules", "plan", "v3").stdout
    scorehouse("backfill", "--rules", "v2", "--from", "2026-09-02")
    assert "  1 day's results under v2 are stale" in scorehouse("rules", "plan", "v3").stdout
    assert json.loads(scorehouse("backfill", "--rules", "v3", "--json").stdout)["outdated"] == {"v2": 1}
    assert "stale" not in scorehouse("backfill", "--rules", "v2", "--rules", "v3").stdout


@pytest.mark.parametrize(
    ("arguments", "status", "line"),
    [
        (("backfill", "--rules", "v9"), 2, "no rule set 'v9'; there are v1, v2"),
        (("rules", "plan", "v9"), 2, "no rule set 'v9'; there are v1, v2"),
        (("rules", "plan", "v1"), 2, "rule set v1 names no predecessor: there is nothing to compare it with"),
        (("backfill", "--from", "2026-09-02", "--to", "2026-09-01"), 2, "reversed"),
        (("rules", "plan", "v2", "--from", "2026-09-02", "--to", "2026-09-01"), 2, "reversed"),
        (("backfill", "--from", "yesterday"), 2, "yesterday"),
    ],
)
@pytest.mark.usefixtures("place")
def test_what_cannot_be_is_one_line(scorehouse: Scorehouse, arguments: tuple[str, ...], status: int, line: str) -> None:
    result = scorehouse(*arguments)
    assert (result.exit_code, result.stdout) == (status, "")
    assert line in result.stderr
    assert result.stderr.count("\n") == 1


def test_before_anything_was_landed(scorehouse: Scorehouse, place: Path) -> None:
    shutil.rmtree(place / "tables")
    nothing = scorehouse("backfill", "--rules", "v2")
    assert nothing.exit_code == 0
    assert nothing.stdout.startswith("Nothing to score: the attempts layer has none of these days")
    planned = scorehouse("rules", "plan", "v2")
    assert planned.exit_code == 0, planned.output
    assert "would compute 0 days with 0 attempts" in planned.stdout
    assert "the attempts layer has none of these days" in planned.stdout
    assert not (place / "tables").exists()


@pytest.mark.usefixtures("place")
def test_days_that_nobody_has(scorehouse: Scorehouse) -> None:
    for arguments in (["backfill", "--rules", "v2"], ["rules", "plan", "v2"]):
        assert scorehouse(*arguments, "--from", "2019-01-01", "--to", "2019-12-31").exit_code == 0
        assert scorehouse(*arguments, "--from", "2199-01-01").exit_code == 0


def test_a_folder_of_rule_sets_that_is_not_there(
    scorehouse: Scorehouse, place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SCOREHOUSE_RULESETS", str(place / "nowhere"))
    result = scorehouse("backfill")
    assert (result.exit_code, result.stderr.count("\n")) == (2, 1)
    assert f"{place / 'nowhere'}: no such directory of rule sets" in result.stderr
