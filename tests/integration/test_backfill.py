"""Backfills and plans: what is stale is computed, nothing else, and a plan says beforehand what will come of it."""

import datetime as dt
import shutil
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any

import dagster as dg
import polars as pl
import pytest
from deltalake import DeltaTable

from assets.rulesets.loader import RuleSetError
from pipelines import jobs
from pipelines.build import build_definitions, table_store
from pipelines.plan import changed, plan
from pipelines.settings import Settings
from tests.integration.backfills import (
    CALLS,
    RESULTS,
    SCALE,
    bump,
    copied,
    done,
    recomputed,
    run_ids,
    store,
    versions,
)
from tests.integration.hostile import full, text
from tests.integration.warehouses import ran, rows, settings, write

FIRST, SECOND, LAST = (dt.date(2026, 9, number) for number in (1, 2, 3))


@pytest.fixture(scope="module")
def scored(tmp_path_factory: pytest.TempPathFactory) -> Settings:
    """Three days, complete under v1; nothing under v2."""
    return store(tmp_path_factory.mktemp("scored"), days=3, attempts=40)


@pytest.fixture(scope="module")
def both(scored: Settings, tmp_path_factory: pytest.TempPathFactory) -> Settings:
    """Three days, complete under v1 and v2."""
    where = copied(scored, tmp_path_factory.mktemp("both"))
    done(where, "v2")
    return where


def files(folder: Path) -> dict[str, int]:
    return {str(path): path.stat().st_mtime_ns for path in folder.rglob("*") if path.is_file()}


def under(where: Settings, table: str, rules: str) -> pl.DataFrame:
    return rows(where, table).filter(pl.col("rules") == rules)


def data_files(where: Settings, rules: str) -> dict[str, list[str]]:
    """The Parquet files of a rule set's partitions, by table."""
    found = {}
    for table in RESULTS:
        actions = pl.DataFrame(DeltaTable(f"{where.tables}/{table}").get_add_actions(flatten=True))
        found[table] = sorted(actions.filter(pl.col("partition.rules") == rules)["path"]) if actions.height else []
    return found


def outcomes(where: Settings, rules: str) -> dict[tuple[dt.date, str], dict[str, Any]]:
    """Class, primary value and reward of each attempt, from rows alone."""
    found: dict[tuple[dt.date, str], dict[str, Any]] = {}
    for row in under(where, "verifications", rules).to_dicts():
        found[row["landed_on"], row["attempt_id"]] = {"class": row["class"], "primary_value": row["primary_value"]}
    for row in under(where, "rewards", rules).to_dicts():
        found[row["landed_on"], row["attempt_id"]].setdefault("reward", {})[row["reward_kind"]] = row["reward"]
    return found


def test_a_plan_publishes_nothing_and_tells_what_the_backfill_then_does(scored: Settings, tmp_path: Path) -> None:
    where = copied(scored, tmp_path)
    before, published = files(tmp_path), versions(where)
    planned = plan(where, "v2")
    assert files(tmp_path) == before
    assert versions(where) == published
    kept = {table: under(where, table, "v1") for table in RESULTS}
    in_files = data_files(where, "v1")

    made = done(where, "v2")

    assert (planned.partitions, planned.fresh, planned.not_compared) == (3, 0, [])
    assert made.scored == {"v2": Counter({"not computed yet": 3})}
    assert made.computed == Counter(dict.fromkeys(RESULTS, 3))
    assert planned.attempts == made.attempts == 120
    assert planned.changes == changed(table_store(where), "v2", made.days)
    assert planned.changes.overall.class_ > 0 < planned.changes.overall.reward - planned.changes.overall.class_
    assert len(planned.changes.campaigns) == 5
    assert data_files(where, "v1") == in_files
    assert all(under(where, table, "v1").equals(kept[table]) for table in RESULTS)

    old, new = outcomes(where, "v1"), outcomes(where, "v2")
    assert old.keys() == new.keys()
    wanted = {
        key: [name for name in ("class", "primary_value", "reward") if old[key][name] != new[key][name]] for key in old
    }
    named = under(where, "rule_changes", "v2")
    assert {(row["landed_on"], row["attempt_id"]): row["changed"] for row in named.to_dicts()} == {
        key: names for key, names in wanted.items() if names
    }
    assert planned.changes.overall.attempts == named.height


def test_what_is_complete_gains_no_version(both: Settings, tmp_path: Path) -> None:
    where = copied(both, tmp_path)
    before = versions(where)
    summary = done(where, "v1", "v2")
    assert versions(where) == before
    assert (summary.computed, summary.scored, summary.fresh) == (Counter(), {}, 6)
    planned = plan(where, "v2")
    assert (planned.partitions, planned.attempts, planned.fresh) == (0, 0, 3)
    assert planned.changes.overall.attempts == under(where, "rule_changes", "v2").height > 0


def test_force_computes_what_is_complete(both: Settings, tmp_path: Path) -> None:
    where = copied(both, tmp_path)
    before, kept = run_ids(where), {table: rows(where, table) for table in RESULTS}
    summary = done(where, "v2", from_day=SECOND, to_day=SECOND, force=True)
    again = recomputed(before, run_ids(where))
    assert again == {(table, (SECOND.isoformat(), "v2")) for table in RESULTS}
    assert summary.scored == {"v2": Counter({"forced": 1})}
    assert all(rows(where, table).equals(frame) for table, frame in kept.items())
    assert done(where, "v1", "v2").computed == Counter()


def test_an_edited_candidate_makes_only_its_own_rows_stale(both: Settings, tmp_path: Path) -> None:
    where = copied(both, tmp_path)
    bump(where, "v3", "v1", SCALE)
    done(where, "v3", from_day=LAST)
    before = run_ids(where)
    bump(where, "v2", "v1", CALLS)
    assert plan(where, "v2").partitions == 3
    summary = done(where, "v1", "v2", "v3", from_day=LAST)
    assert summary.scored == {"v2": Counter({"the rule set changed": 1})}
    assert recomputed(before, run_ids(where)) == {(table, (LAST.isoformat(), "v2")) for table in RESULTS}

    before = run_ids(where)
    bump(where, "v2", "v1", CALLS, status="active")
    assert done(where, from_day=LAST).scored == {}
    assert recomputed(before, run_ids(where)) == set()


def test_a_rule_set_that_was_edited_after_its_release_is_refused(both: Settings, tmp_path: Path) -> None:
    where = copied(both, tmp_path)
    bump(where, "v2", "v1", CALLS, status="active")
    done(where, "v2", from_day=LAST)
    before = versions(where)
    bump(where, "v2", "v1", SCALE, status="active")
    for refused in (lambda: plan(where, "v2"), lambda: done(where, "v2"), lambda: done(where, "v1")):
        with pytest.raises(RuleSetError, match="v2 was changed after results were published under it"):
            refused()
    assert versions(where) == before


def test_rule_sets_are_scored_after_their_predecessors(scored: Settings, tmp_path: Path) -> None:
    where = copied(scored, tmp_path)
    bump(where, "v10", "v2", SCALE)
    summary = done(where, "v10", "v2", "v10", from_day=LAST)
    assert summary.rules == ["v2", "v10"]
    assert done(where, "v10", "v2", from_day=LAST).scored == {}
    assert under(where, "rule_changes", "v10")["predecessor"].unique().to_list() == ["v2"]


def test_the_comparison_follows_a_predecessor_that_is_computed_later(scored: Settings, tmp_path: Path) -> None:
    where = copied(scored, tmp_path)
    bump(where, "v2-rc.1", "v2", SCALE)
    planned = plan(where, "v2-rc.1", from_day=SECOND)
    assert planned.not_compared == [SECOND, LAST]
    assert (planned.partitions, planned.changes.overall.attempts) == (2, 0)
    done(where, "v2-rc.1", from_day=SECOND)
    assert under(where, "rule_changes", "v2-rc.1").is_empty()
    done(where, "v2", from_day=LAST)
    before = run_ids(where)
    planned = plan(where, "v2-rc.1", from_day=SECOND)
    assert (planned.partitions, planned.fresh, planned.not_compared) == (1, 1, [SECOND])
    summary = done(where, "v2-rc.1", from_day=SECOND)
    assert summary.scored == {"v2-rc.1": Counter({"the inputs changed": 1})}
    assert recomputed(before, run_ids(where)) == {("rule_changes", (LAST.isoformat(), "v2-rc.1"))}
    assert set(under(where, "rule_changes", "v2-rc.1")["landed_on"]) == {LAST}
    assert planned.changes == changed(table_store(where), "v2-rc.1", [SECOND, LAST])


def test_a_run_over_a_range_of_partitions_computes_those_that_are_not_complete(
    scored: Settings, tmp_path: Path
) -> None:
    where = copied(scored, tmp_path)
    done(where, "v2", from_day=SECOND, to_day=SECOND)
    before = run_ids(where)
    with dg.DagsterInstance.ephemeral() as instance:
        instance.add_dynamic_partitions("rules", ["v1", "v2"])
        job = build_definitions(where).resolve_job_def("results")
        result = job.execute_in_process(instance=instance, tags=jobs.day_range_of_rules(FIRST, LAST, "v2"))
        again = job.execute_in_process(instance=instance, tags=jobs.day_range_of_rules(FIRST, LAST, "v2"))
        gone = [
            event.materialization.metadata
            for one in (result, again)
            for event in one.filter_events(lambda event: event.is_step_materialization)
        ]
    told = [(one["computed"].value, one["fresh"].value) for one in gone]
    assert set(told) == {(2, 1), (0, 3)}
    assert recomputed(before, run_ids(where)) == set()
    assert set(run_ids(where)) - set(before) == {
        (table, (day.isoformat(), "v2")) for table in RESULTS for day in (FIRST, LAST)
    }


def test_a_results_table_that_was_removed_is_computed_again_and_nothing_else(both: Settings, tmp_path: Path) -> None:
    where = copied(both, tmp_path)
    before, kept = run_ids(where), rows(where, "rewards")
    shutil.rmtree(Path(where.tables) / "rewards")
    planned = plan(where, "v2")
    assert (planned.partitions, planned.fresh) == (3, 0)
    done(where, "v1", "v2")
    assert rows(where, "rewards").equals(kept)
    assert {name for name, _ in recomputed(before, run_ids(where))} == {"rewards"}


def test_days_without_attempts_between_others_are_passed_over(tmp_path: Path) -> None:
    where = replace(settings(tmp_path), rulesets=tmp_path / "rulesets")
    bump(where, "v2", "v1", CALLS)
    for day in (20, 24):
        write(tmp_path, {f"worldseq/2026-11-{day}/a.json": text(full(f"a{day}"))})
        assert ran(where).scored == {"v1": Counter({"not computed yet": 1})}
    assert done(where, "v2").scored == {"v2": Counter({"not computed yet": 2})}
    assert under(where, "verifications", "v2")["landed_on"].to_list() == [dt.date(2026, 11, 20), dt.date(2026, 11, 24)]
