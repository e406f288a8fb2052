"""What a table tells without reading its rows: how many each partition has, and what its commits note of them."""

import json
import os
import time
from datetime import timedelta
from pathlib import Path

import pytest
from deltalake import CommitProperties, DeltaTable, write_deltalake

from pipelines.storage.provenance import UNKNOWN, Provenance
from pipelines.storage.tables import Tables
from tests.pipelines.storage.storage_contracts import DAY, NEXT_DAY, Attempts, Scores, day, rows, scored

ONE, OTHER = (DAY.isoformat(),), (NEXT_DAY.isoformat(),)


@pytest.fixture
def store(tmp_path: Path) -> Tables:
    return Tables(str(tmp_path / "tables"))


def put(store: Tables, *ids: str, on: object = DAY, run: str = "r") -> None:
    key = {"landed_on": on}
    noted = {"code_version": "1", "run_id": run, "input_fingerprint": json.dumps([f"of {run}"])}
    store.replace(Attempts, rows(Attempts, key, ids), [key], noted)


def test_nothing_is_told_of_a_table_that_is_not_there(store: Tables) -> None:
    assert (store.rows(Attempts), store.provenance(Attempts), list(store.notes(Attempts))) == ({}, {}, [])
    assert not Path(store.root).exists()


def test_a_table_without_partitions(store: Tables) -> None:
    store.ensure([Attempts])
    assert (store.rows(Attempts), store.provenance(Attempts)) == ({}, {})
    assert len(list(store.notes(Attempts))) == 1


def test_rows_of_each_partition(store: Tables) -> None:
    put(store, "a", "b", "c")
    put(store, "a", on=NEXT_DAY)
    assert store.rows(Attempts) == {ONE: 3, OTHER: 1}
    put(store, "a", "b")
    assert store.rows(Attempts) == {ONE: 2, OTHER: 1}
    put(store)
    assert store.rows(Attempts) == {OTHER: 1}


def test_rows_of_partitions_of_two_columns(store: Tables) -> None:
    keys = [scored("v2-rc.1"), scored("v1", NEXT_DAY)]
    store.replace(Scores, rows(Scores, keys[0], ["a", "b"]), keys)
    assert store.rows(Scores) == {(*ONE, "v2-rc.1"): 2}
    assert sorted(store.provenance(Scores)) == [(*ONE, "v2-rc.1"), (*OTHER, "v1")]


def test_each_partition_has_its_own_inputs_whatever_the_order(store: Tables) -> None:
    keys = [scored("v2", NEXT_DAY), scored("v1", NEXT_DAY), scored("v1")]
    noted = {"input_fingerprint": json.dumps(["2 next", "1 next", "1"]), "rule_set_digest/v1": "d1"}
    store.replace(Scores, rows(Scores, keys[1], ["a"]), keys, noted)
    assert {values: (one.inputs, one.rule_set) for values, one in store.provenance(Scores).items()} == {
        (*OTHER, "v2"): ("2 next", ""),
        (*OTHER, "v1"): ("1 next", "d1"),
        (*ONE, "v1"): ("1", "d1"),
    }


def test_the_newest_commit_of_each_partition_tells(store: Tables) -> None:
    put(store, "a", run="1")
    put(store, "a", on=NEXT_DAY, run="2")
    noted = store.provenance(Attempts)[ONE]
    assert noted._replace(at=0) == Provenance("1", "", "of 1", run_id="1")
    assert abs(noted.at / 1000 - time.time()) < 60 * 60
    put(store, "b", run="3")
    assert {values: one.run_id for values, one in store.provenance(Attempts).items()} == {ONE: "3", OTHER: "2"}


def test_a_commit_of_another_process_is_seen(store: Tables) -> None:
    put(store, "a", run="1")
    assert store.provenance(Attempts)[ONE].run_id == "1"
    put(Tables(store.url), "a", run="2")
    assert store.provenance(Attempts)[ONE].run_id == "2"


def test_an_empty_partition_is_known(store: Tables) -> None:
    put(store, run="1")
    assert (store.rows(Attempts), store.provenance(Attempts)[ONE].run_id) == ({}, "1")


def test_of_what_another_tool_wrote_it_is_known_that_it_is_there(store: Tables) -> None:
    put(store, "a", run="1")
    write_deltalake(store.uri(Attempts), rows(Attempts, day(NEXT_DAY), ["b"]), mode="append")
    found = {values: noted._replace(at=0) for values, noted in store.provenance(Attempts).items()}
    assert found == {ONE: Provenance("1", "", "of 1", run_id="1"), OTHER: UNKNOWN}
    put(store, "b", on=NEXT_DAY, run="2")
    assert store.provenance(Attempts)[OTHER].run_id == "2"


def test_notes_come_newest_first_and_every_one_once(store: Tables, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("pipelines.storage.tables.HISTORY_STEPS", (2, 3, None))
    for number in range(7):
        put(store, "a", run=str(number))
    assert [commit.get("run_id") for commit in store.notes(Attempts)] == ["6", "5", "4", "3", "2", "1", "0", None]


def test_what_was_noted_a_year_ago_is_still_there(store: Tables) -> None:
    """A checkpoint lets other writers forget commits that are older than a month."""
    put(store, "a", run="old")
    log = Path(store.uri(Attempts)) / "_delta_log"
    DeltaTable(store.uri(Attempts)).alter.set_table_properties({"delta.checkpointInterval": "2"})
    put(store, "b", on=NEXT_DAY)
    a_year_ago = time.time() - timedelta(days=365).total_seconds()
    for file in log.iterdir():
        os.utime(file, (a_year_ago, a_year_ago))
    for number in range(6):
        put(store, "b", on=NEXT_DAY, run=str(number))
    assert len(list(log.glob("*.checkpoint.parquet"))) > 1
    assert store.provenance(Attempts)[ONE].run_id == "old"


def test_a_commit_without_notes_of_ours_changes_nothing(store: Tables) -> None:
    put(store, "a", run="1")
    table = DeltaTable(store.uri(Attempts))
    table.optimize.compact(commit_properties=CommitProperties({"by": "someone"}))
    table.alter.set_table_properties({"delta.appendOnly": "false"})
    assert store.provenance(Attempts)[ONE].run_id == "1"
