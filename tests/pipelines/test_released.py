"""A rule set that results were published under never changes: a run under a changed file is refused."""

from pathlib import Path
from typing import Any

import pytest

from assets.rulesets.loader import RuleSet, RuleSetError, load_all, parse
from pipelines.released import carried, notes, refuse_changed
from pipelines.storage.log_files import LogFiles
from pipelines.storage.tables import Tables
from pipelines.storage.upkeep import LONGEST_WRITE, maintain
from tests.integration.hostile import DAY, full, text
from tests.integration.warehouses import ran, rows, settings, versions, write
from tests.pipelines.cli.processes import process
from tests.pipelines.storage.storage_contracts import Scores, scored
from tests.pipelines.storage.storage_contracts import rows as layer_rows

V1 = (Path(__file__).parents[2] / "assets" / "rulesets" / "v1.toml").read_text(encoding="utf-8")


def rules(status: str = "active", calls: int = 1024) -> RuleSet:
    changed = V1.replace('id = "v1"', 'id = "v2"\npredecessor = "v1"').replace('"active"', f'"{status}"')
    return parse(changed.replace("player_calls = 1024", f"player_calls = {calls}"), "v2.toml")


def commit(status: str = "active", calls: int = 1024) -> dict[str, Any]:
    return {"operation": "WRITE", **notes([rules(status, calls)])}


@pytest.mark.parametrize(
    ("now", "commits"),
    [
        (rules(), []),
        (rules(), [{}, commit()]),
        (rules("retired"), [commit()]),
        (rules(calls=1), [commit("candidate", 2), commit("candidate", 3)]),
        (rules("candidate", 1), [commit("candidate", 2)]),
        (rules(calls=1), [commit("candidate", 9), commit(calls=1)]),
    ],
)
def test_what_is_accepted(now: RuleSet, commits: list[dict[str, Any]]) -> None:
    refuse_changed({"v1": load_all()["v1"], "v2": now}, commits)


@pytest.mark.parametrize(
    ("now", "commits"),
    [
        (rules(calls=1), [commit()]),
        (rules("retired", 1), [commit()]),
        (rules("candidate", 1), [commit()]),
        (rules(calls=1), [{}, commit("candidate", 1), commit()]),
    ],
)
def test_a_changed_rule_set_is_refused(now: RuleSet, commits: list[dict[str, Any]]) -> None:
    with pytest.raises(RuleSetError, match="v2 was changed after results were published under it"):
        refuse_changed({"v2": now}, commits)


def test_the_commit_that_stands_for_earlier_ones_carries_the_newest_release_of_each_rule_set() -> None:
    v1 = load_all()["v1"]
    commits = [{"run_id": "r"}, commit("candidate", 2), commit(calls=1), {**commit(), **notes([v1])}]

    found = carried(commits)

    assert found == {**notes([v1]), **notes([rules(calls=1)])}
    refuse_changed({"v1": v1, "v2": rules(calls=1)}, [found])
    for changed in (rules(), rules("candidate", 2)):
        with pytest.raises(RuleSetError, match="v2 was changed after results were published under it"):
            refuse_changed({"v1": v1, "v2": changed}, [commit("candidate", 2), found])


def test_a_changed_rule_set_is_refused_after_upkeep_dropped_the_commits_that_say_so(tmp_path: Path) -> None:
    store = Tables(str(tmp_path))
    for name in ("old", "new"):
        store.replace(Scores, layer_rows(Scores, scored("v2"), [name]), [scored("v2")], notes([rules()]))

    maintain(store, Scores, -LONGEST_WRITE)

    assert len(LogFiles.of(store, Scores).commits) == 1
    refuse_changed({"v2": rules()}, store.notes(Scores))
    with pytest.raises(RuleSetError, match="v2 was changed after results were published under it"):
        refuse_changed({"v2": rules(calls=1)}, store.notes(Scores))


def test_a_run_under_a_changed_rule_set_changes_nothing(tmp_path: Path) -> None:
    write(tmp_path, {f"worldseq/{DAY}/a.json": text(full("a"))})
    team = tmp_path / "rulesets"
    team.mkdir()
    file = team / "v2.toml"
    file.write_text(V1.replace('id = "v1"', 'id = "v2"\npredecessor = "v1"'), encoding="utf-8")
    where = settings(tmp_path, rulesets=team)
    ran(where)
    before = rows(where, "verifications")
    assert sorted(before["rules"]) == ["v1", "v2"]
    released = file.read_text(encoding="utf-8")
    file.write_text(released.replace("player_calls = 1024", "player_calls = 1"), encoding="utf-8")
    places = {"ARTIFACTS": where.artifacts, "TABLES": where.tables, "RULESETS": str(team)}
    told = process("run", cwd=tmp_path, **{f"SCOREHOUSE_{name}": place for name, place in places.items()})
    assert told.returncode == 2
    assert "v2 was changed after results were published under it" in told.stderr
    assert rows(where, "verifications").equals(before)


def test_results_of_a_candidate_are_released_by_its_activation(tmp_path: Path) -> None:
    write(tmp_path, {f"worldseq/{DAY}/a.json": text(full("a"))})
    team = tmp_path / "rulesets"
    team.mkdir()
    file = team / "v2.toml"
    candidate = V1.replace('id = "v1"', 'id = "v2"\npredecessor = "v1"').replace('"active"', '"candidate"')
    file.write_text(candidate, encoding="utf-8")
    where = settings(tmp_path, rulesets=team)
    ran(where, rules=["v2"])
    before = versions(where)
    for _ in range(2):
        ran(where, rules=["v2"])
        assert versions(where) == before

    file.write_text(candidate.replace('"candidate"', '"active"'), encoding="utf-8")
    for _ in range(2):
        assert ran(where, rules=["v2"]).fresh == 1
        assert versions(where) == before | {"verifications": before["verifications"] + 1}  # it says so, once

    for status in ("active", "candidate", "retired"):
        changed = candidate.replace('"candidate"', f'"{status}"').replace("player_calls = 1024", "player_calls = 1")
        file.write_text(changed, encoding="utf-8")
        with pytest.raises(RuleSetError, match="v2 was changed after results were published under it"):
            ran(where, rules=["v2"])
