"""Compaction: fewer files, the same rows in the same order, and a writer in between wins."""

import datetime as dt
import json
import random
from pathlib import Path

import polars as pl
import pytest
from polars.testing import assert_frame_equal

from pipelines.storage import compaction, partition_files
from pipelines.storage.actions import held_files
from pipelines.storage.compaction import Group, Merge, compact, groups
from pipelines.storage.errors import StoreUnavailableError
from pipelines.storage.tables import Tables
from tests.pipelines.storage.storage_contracts import DAY, NEXT_DAY, Attempts, Scores, day, rows, scored

HOSTILE_RULES = ["v1", "a/b", "50%25", "..", "é🎉"]


@pytest.fixture
def store(tmp_path: Path) -> Tables:
    return Tables(str(tmp_path / "tables"))


def shuffled(key: dict[str, object], count: int = 95) -> pl.DataFrame:
    ids = [str(number) for number in range(count)]
    random.Random(7).shuffle(ids)
    return rows(Scores, key, ids, failed=["x"])


def files(store: Tables) -> int:
    return held_files(store.opened(Scores), Scores).height


def compacted(store: Tables) -> int:
    """Compact once; how many groups there were."""
    wanted = groups(held_files(store.opened(Scores), Scores), Scores)
    compact(store, Scores, wanted)
    return len(wanted)


@pytest.mark.usefixtures("in_pieces")
def test_a_partition_has_one_file_and_the_same_rows_in_order(store: Tables) -> None:
    keys = [scored(rules) for rules in HOSTILE_RULES]
    for key in keys:
        store.replace(Scores, shuffled(key).lazy(), [key], {"run_id": "r"})
    before, notes = store.scan(Scores).collect(), dict(store.provenance(Scores))
    assert files(store) == 10 * len(keys)

    assert compacted(store) == len(keys)

    assert files(store) == len(keys)
    assert_frame_equal(store.scan(Scores).collect(), before)
    assert store.provenance(Scores) == notes
    newest = Path(store.uri(Scores), "_delta_log", f"{store.version(Scores):020}.json")
    actions = [json.loads(line) for line in newest.read_text().splitlines()]
    changes = [action[kind]["dataChange"] for action in actions for kind in ("add", "remove") if kind in action]
    assert changes == [False] * (11 * len(keys))
    assert compacted(store) == 0


@pytest.mark.usefixtures("in_pieces")
def test_a_file_that_stays_keeps_its_place(store: Tables) -> None:
    store.replace(Scores, shuffled(scored("v1")).lazy(), [scored("v1")])
    before, held = store.scan(Scores).collect(), held_files(store.opened(Scores), Scores)

    compact(store, Scores, [Group(held[part], scored("v1")) for part in (slice(4), slice(5, 10))])

    assert held_files(store.opened(Scores), Scores)["rows"].to_list() == [40, 10, 45]
    assert_frame_equal(store.scan(Scores).collect(), before)


@pytest.mark.parametrize(
    ("sizes", "together"),
    [
        ([(1, 1)], []),
        ([(1, 1), (1, 1)], [2]),
        ([(9, 1), (2, 1), (8, 1), (1, 1)], [2]),
        ([(11, 1), (1, 1), (11, 1)], []),
        ([(1, 40), (1, 60), (1, 1), (1, 1), (1, 100)], [2, 2]),
    ],
)
def test_neighbours_belong_together_up_to_the_size_of_one_file(
    monkeypatch: pytest.MonkeyPatch, sizes: list[tuple[int, int]], together: list[int]
) -> None:
    monkeypatch.setattr(compaction, "FILE_BYTES", 10)
    monkeypatch.setattr(compaction, "FILE_ROWS", 100)
    files = [{"path": str(n), "size_bytes": b, "rows": r, "landed_on": DAY} for n, (b, r) in enumerate(sizes)]
    elsewhere = {"path": "x", "size_bytes": 1, "rows": 1, "landed_on": NEXT_DAY}

    found = groups(pl.DataFrame([*files, elsewhere]), Attempts)

    assert [group.files.height for group in found] == together


@pytest.mark.usefixtures("in_pieces")
def test_a_writer_in_between_wins_and_the_others_are_compacted(store: Tables, monkeypatch: pytest.MonkeyPatch) -> None:
    keys = [scored("v1"), scored("v2")]
    for key in keys:
        store.replace(Scores, shuffled(key).lazy(), [key])
    kept, commit, raced = store.scan(Scores, [keys[1]]).collect(), Tables.commit, []

    def racing(self: Tables, *args: object) -> None:
        if not raced:
            raced.append(True)
            store.replace(Scores, rows(Scores, keys[0], ["new"]), [keys[0]])
        commit(self, *args)  # type: ignore[arg-type]

    monkeypatch.setattr(Tables, "commit", racing)
    compacted(store)

    assert store.scan(Scores, [keys[0]]).collect()["attempt_id"].to_list() == ["new"]
    assert_frame_equal(store.scan(Scores, [keys[1]]).collect(), kept)
    assert files(store) == 2


@pytest.mark.usefixtures("in_pieces")
def test_a_snapshot_that_was_taken_before_still_has_its_files(store: Tables) -> None:
    store.replace(Scores, shuffled(scored("v1")).lazy(), [scored("v1")])
    reader = store.scan(Scores)

    compacted(store)

    assert_frame_equal(reader.collect(), shuffled(scored("v1")))


@pytest.mark.usefixtures("in_pieces")
def test_partitions_are_merged_into_one(store: Tables) -> None:
    for when, name in ((DAY, "a"), (DAY, "b"), (DAY, "other"), (NEXT_DAY, "a")):
        store.replace(
            Scores, rows(Scores, scored(name, when), [f"{name}{n}" for n in range(15)]).lazy(), [scored(name, when)]
        )
    keys = pl.DataFrame({"landed_on": [DAY, DAY], "rules": ["a", "b"]})
    wanted = groups(held_files(store.opened(Scores), Scores), Scores, [Merge(keys, scored("ab"))])

    compact(store, Scores, wanted)

    found = store.scan(Scores).collect()
    assert found.group_by("landed_on", "rules").len().sort(pl.all()).rows() == [
        (DAY, "ab", 30),
        (DAY, "other", 15),
        (NEXT_DAY, "a", 15),
    ]
    assert found.filter(rules="ab")["attempt_id"].to_list() == [f"{name}{n}" for name in "ab" for n in range(15)]
    assert files(store) == 3


@pytest.mark.usefixtures("in_pieces")
def test_a_damaged_file_is_told_and_nothing_is_committed(store: Tables) -> None:
    store.replace(Scores, shuffled(scored("v1")).lazy(), [scored("v1")])
    held = held_files(store.opened(Scores), Scores)
    whole = pl.read_parquet(Path(store.uri(Scores), held["path"][3]))
    whole.head(9).write_parquet(Path(store.uri(Scores), held["path"][3]))

    with pytest.raises(StoreUnavailableError, match="a file is damaged: 94 rows where the log tells of 95"):
        compacted(store)

    assert store.version(Scores) == 1


def test_a_table_of_many_partitions_is_compacted_in_several_commits(
    store: Tables, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(compaction, "EXCHANGED_AT_ONCE", 2)
    days = [day(DAY + dt.timedelta(days=shift)) for shift in range(5)]
    told: list[int] = []
    with monkeypatch.context() as patched:
        patched.setattr(partition_files, "_batches", lambda frame: frame.collect().iter_slices(1))
        patched.setattr(partition_files, "HELD_BYTES", 1)
        both = pl.concat(rows(Attempts, key, [name]) for name in "ab" for key in days)
        store.replace(Attempts, both.lazy(), days)
    before = store.scan(Attempts).collect()

    compact(store, Attempts, groups(held_files(store.opened(Attempts), Attempts), Attempts), told.append)

    assert told == [2, 4, 5]
    assert store.version(Attempts) == 4
    assert_frame_equal(store.scan(Attempts).collect(), before)
