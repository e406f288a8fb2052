"""Upkeep on a local disk: what goes is what nobody may need, and what commits noted is never forgotten."""

import datetime as dt
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from deltalake import DeltaTable
from polars.testing import assert_frame_equal

from pipelines.storage import upkeep
from pipelines.storage.errors import StoreUnavailableError
from pipelines.storage.log_files import LogFiles
from pipelines.storage.provenance import CONSOLIDATED
from pipelines.storage.tables import PROPERTIES, Tables
from pipelines.storage.time_travel import as_of
from pipelines.storage.upkeep import LONGEST_WRITE, maintain
from tests.pipelines.storage.aged import age
from tests.pipelines.storage.storage_contracts import NEXT_DAY, Scores, rows, scored

HOSTILE_RULES = ["v1", "a/b", "v 1", "50%25", "=x&y+z", "a*[b]?", "'\"", "..", "é🎉", "#?", "a\\b"]
MONTH = dt.timedelta(days=30)
NOTHING = -LONGEST_WRITE
"""A retention that keeps nothing that is not needed now."""


@pytest.fixture
def store(tmp_path: Path) -> Tables:
    return Tables(str(tmp_path / "tables"))


def write(store: Tables, name: str, key: dict[str, object] | None = None, **noted: str) -> None:
    store.replace(Scores, rows(Scores, key or scored("v1"), [name]), [key or scored("v1")], {"run_id": name, **noted})


def data_files(store: Tables) -> list[str]:
    return sorted(str(path) for path in Path(store.uri(Scores)).rglob("*.parquet") if "_delta_log" not in path.parts)


def everything(store: Tables) -> dict[str, bytes]:
    return {str(path): path.read_bytes() for path in Path(store.root).rglob("*") if path.is_file()}


def ids(store: Tables, days_ago: float) -> list[str]:
    moment = dt.datetime.now(dt.UTC) - dt.timedelta(days=days_ago)
    paths = as_of(store, Scores, moment).file_uris()
    return sorted(name for path in paths for name in _names(path))


def _names(path: str) -> list[str]:
    return pl.read_parquet(path.removeprefix("file://"), hive_partitioning=False, glob=False)["attempt_id"].to_list()


def test_what_is_older_than_the_retention_and_in_no_snapshot_since_goes(store: Tables) -> None:
    for name in "abcd":  # 80, 60, 40 and 20 days old
        write(store, name)
        age(store, Scores, 20)
    write(store, "e")
    orphan, young = (Path(store.uri(Scores), name) for name in ("old.parquet", "young.parquet"))
    for path, days in ((orphan, 40), (young, 29)):
        path.write_bytes(b"of a writer that crashed, or of one that is at work")
        os.utime(path, (time.time() - days * 86_400,) * 2)

    kept = maintain(store, Scores, MONTH)

    assert kept.vacuumed == 3
    assert len(data_files(store)) == 4
    assert (orphan.exists(), young.exists()) == (False, True)
    assert [ids(store, days) for days in (0, 10, 25)] == [["e"], ["d"], ["c"]]
    for days in (45, 70):
        with pytest.raises(StoreUnavailableError, match=r"scores: what it held at .*Z is no longer kept"):
            ids(store, days)
    assert ids(store, 365) == []


def test_files_that_a_checkpoint_forgot_are_kept_as_long(store: Tables) -> None:
    """The log forgets after a week that a file was removed."""
    write(store, "a")
    age(store, Scores, 100)
    write(store, "b")
    age(store, Scores, 10)
    DeltaTable(store.uri(Scores)).create_checkpoint()

    maintain(store, Scores, MONTH)

    assert [ids(store, days) for days in (0, 15)] == [["b"], ["a"]]


def test_a_file_that_was_put_before_the_retention_and_committed_after_it_is_kept(store: Tables) -> None:
    write(store, "a")
    for path in data_files(store):
        os.utime(path, (time.time() - 0.9 * LONGEST_WRITE.total_seconds(),) * 2)
    age(store, Scores, 29.5)
    write(store, "b")
    age(store, Scores, 10)
    DeltaTable(store.uri(Scores)).create_checkpoint()

    assert maintain(store, Scores, dt.timedelta(days=39.8)).vacuumed == 0


def test_files_below_hostile_names_are_told_apart(store: Tables) -> None:
    for name in ("old", "new"):
        for rules in HOSTILE_RULES:
            write(store, name, scored(rules))
    age(store, Scores, 40)
    before = store.scan(Scores).collect()

    kept = maintain(store, Scores, MONTH)

    assert kept.vacuumed == len(data_files(store)) == len(HOSTILE_RULES)
    assert_frame_equal(store.scan(Scores).collect(), before)


def test_a_write_under_way_and_a_reader_of_an_older_snapshot_are_left_alone(
    store: Tables, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(store, "a")
    reader, commit = store.scan(Scores), Tables.commit
    maintained: list[int] = []

    def meanwhile(self: Tables, *args: object) -> None:
        monkeypatch.setattr(Tables, "commit", commit)
        maintained.append(maintain(store, Scores, dt.timedelta(days=7)).vacuumed)
        commit(self, *args)  # type: ignore[arg-type]

    monkeypatch.setattr(Tables, "commit", meanwhile)
    write(store, "b")
    maintained.append(maintain(store, Scores, dt.timedelta(days=7)).vacuumed)

    assert maintained == [0, 0]
    assert store.scan(Scores).collect()["attempt_id"].to_list() == ["b"]
    assert reader.collect()["attempt_id"].to_list() == ["a"]


def test_the_log_goes_back_as_far_as_the_retention_and_notes_outlive_it(store: Tables) -> None:
    write(store, "first", scored("v1", NEXT_DAY), code_version="1")
    for n in range(50):
        write(store, str(n), code_version="2")
        age(store, Scores, 2)
    noted = dict(store.provenance(Scores))
    before = LogFiles.of(store, Scores)

    kept = maintain(store, Scores, MONTH)

    log = LogFiles.of(store, Scores)
    assert (kept.before.versions, kept.after.versions) == (len(before.commits), len(log.commits))
    assert 15 <= len(log.commits) < 30
    assert min(log.commits) in log.checkpoints
    assert store.provenance(Scores) == noted
    assert noted["2026-11-30", "v1"].run_id == "first"
    assert store.scan(Scores).collect()["attempt_id"].to_list() == ["49", "first"]
    assert ids(store, 29) == ["35", "first"]
    with pytest.raises(StoreUnavailableError, match=r"no longer kept; the oldest moment is 20\d\d-"):
        ids(store, 90)
    write(store, "later", scored("v2"))
    maintain(store, Scores, NOTHING)
    found = store.provenance(Scores)
    assert {values: one for values, one in found.items() if values[1] == "v1"} == noted
    assert found["2026-11-29", "v2"].run_id == "later"


def test_what_nobody_wrote_to_is_left_as_it_is(store: Tables) -> None:
    write(store, "a")
    maintain(store, Scores, MONTH)
    for _ in range(3):
        age(store, Scores, 40)
        before, noted = everything(store), dict(store.provenance(Scores))
        Tables(store.url).provenance(Scores)

        kept = maintain(store, Scores, MONTH)

        assert kept.before == kept.after or kept.after.versions < kept.before.versions
        assert everything(store).items() <= before.items()
        assert Tables(store.url).provenance(Scores) == noted
    assert LogFiles.of(store, Scores).commits.keys() == {2}


def test_a_table_from_before_gets_its_properties(store: Tables) -> None:
    store.ensure([Scores])
    DeltaTable(store.uri(Scores)).alter.set_table_properties(
        dict.fromkeys(PROPERTIES, "true") | {"delta.checkpointInterval": "100"}
    )

    maintain(store, Scores, MONTH)

    stored = DeltaTable(store.uri(Scores)).metadata().configuration
    assert PROPERTIES.items() <= stored.items()


def test_a_note_between_reading_and_consolidating_is_kept(store: Tables, monkeypatch: pytest.MonkeyPatch) -> None:
    write(store, "a")
    write(store, "b", scored("v2"))
    commit, raced = Tables.commit, []

    def racing(self: Tables, table: DeltaTable, *args: object) -> None:
        if not raced and CONSOLIDATED in args[-1]:  # type: ignore[operator]
            raced.append(True)
            write(store, "between", scored("v2"))
        commit(self, table, *args)  # type: ignore[arg-type]

    monkeypatch.setattr(Tables, "commit", racing)
    maintain(store, Scores, NOTHING)

    assert raced
    assert {values[1]: one.run_id for values, one in store.provenance(Scores).items()} == {"v1": "a", "v2": "between"}
    assert CONSOLIDATED in next(iter(store.notes(Scores)))


def test_a_commit_that_goes_while_notes_are_read_does_not_end_the_reader(
    store: Tables, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(store, "a")
    history, failed = DeltaTable.history, []

    def gone(self: DeltaTable, limit: int | None = None) -> list[dict[str, Any]]:
        if not failed:
            failed.append(True)
            raise FileNotFoundError(2, "Object at location 00000000000000000000.json not found")
        return history(self, limit)

    monkeypatch.setattr(DeltaTable, "history", gone)

    assert store.provenance(Scores)["2026-11-29", "v1"].run_id == "a"


def test_notes_outlive_writers_that_go_on_until_the_next_checkpoint(
    store: Tables, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(store, "a", scored("v2"))
    drop = upkeep._drop_log

    def later(*args: Any) -> None:
        for n in range(25):
            write(store, str(n))
        drop(*args)

    monkeypatch.setattr(upkeep, "_drop_log", later)
    maintain(store, Scores, NOTHING)

    assert store.provenance(Scores)["2026-11-29", "v2"].run_id == "a"
    assert len(LogFiles.of(store, Scores).commits) == 26


def test_notes_are_read_no_further_than_what_stands_for_the_earlier_ones(store: Tables) -> None:
    for name in "abc":
        write(store, name)
    maintain(store, Scores, MONTH)
    write(store, "d")

    assert [CONSOLIDATED in commit for commit in store.notes(Scores)] == [False, True]


def test_a_reader_that_looked_long_before_finds_what_is_there_now(store: Tables) -> None:
    write(store, "0")
    reader = Tables(store.url)
    assert reader.version(Scores) == 1
    for n in range(25):
        write(store, str(n))
    maintain(store, Scores, NOTHING)

    assert LogFiles.of(store, Scores).oldest > 1
    assert reader.scan(Scores).collect()["attempt_id"].to_list() == ["24"]
    assert reader.version(Scores) == store.version(Scores)


def test_a_dry_run_says_what_would_be_done_and_does_nothing(store: Tables) -> None:
    for n in range(25):
        write(store, str(n))
    age(store, Scores, 40)
    before = everything(store)

    told = maintain(store, Scores, MONTH, dry_run=True)

    assert everything(store) == before
    done = maintain(store, Scores, MONTH)
    assert (told.before, told.vacuumed, told.after.files) == (done.before, done.vacuumed, done.after.files)
    assert (told.vacuumed, told.before.versions, told.after.versions) == (24, 26, 7)


KILLED = """
import os, signal, sys
from deltalake import DeltaTable
from pipelines.storage import upkeep
from pipelines.storage.tables import Tables
from tests.pipelines.storage.storage_contracts import Scores
root, owner, name, left = sys.argv[1:]
owner = {"Tables": Tables, "DeltaTable": DeltaTable, "upkeep": upkeep}[owner]
done, left = getattr(owner, name), [int(left)]
def dying(*args, **options):
    if not left[0]:
        os.kill(os.getpid(), signal.SIGKILL)
    left[0] -= 1
    return done(*args, **options)
setattr(owner, name, dying)
upkeep.maintain(Tables(root), Scores, -upkeep.LONGEST_WRITE)
"""


@pytest.mark.usefixtures("in_pieces")
@pytest.mark.parametrize(
    "step",
    [
        "Tables commit 0",
        "upkeep _vacuum 0",
        "DeltaTable vacuum 0",
        "Tables commit 1",
        "DeltaTable create_checkpoint 0",
        "upkeep _drop_log 0",
    ],
)
def test_killed_at_any_step_the_table_is_whole_and_the_next_one_ends_it(store: Tables, step: str) -> None:
    for n in range(12):
        write(store, str(n))
    names = [str(n) for n in range(35)]
    store.replace(Scores, rows(Scores, scored("v2"), names).lazy(), [scored("v2")], {"run_id": "r"})
    before, noted = store.scan(Scores).collect(), dict(store.provenance(Scores))

    command = [sys.executable, "-c", KILLED, store.root, *step.split()]
    killed = subprocess.run(command, check=False, env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)})

    assert killed.returncode == -signal.SIGKILL
    assert_frame_equal(store.scan(Scores).collect(), before)
    assert Tables(store.url).provenance(Scores) == noted
    maintain(store, Scores, NOTHING)
    assert_frame_equal(store.scan(Scores).collect(), before)
    assert Tables(store.url).provenance(Scores) == noted
    assert len(LogFiles.of(store, Scores).commits) == 1
    assert len(data_files(store)) == 2
