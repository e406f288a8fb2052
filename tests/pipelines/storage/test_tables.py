"""The Delta layer on a local disk: what a write replaces, what it refuses, and what a reader gets."""

import datetime as dt
import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import polars as pl
import pytest
from deltalake import DeltaTable
from deltalake.exceptions import CommitFailedError
from polars.testing import assert_frame_equal

from assets.contract import Contract, ContractError, column, empty, schema
from pipelines.storage import partition_files, retries, tables
from pipelines.storage.errors import StoreConfigurationError, StoreError, StoreUnavailableError
from pipelines.storage.partition_files import PartitionKey
from pipelines.storage.tables import Tables
from tests.pipelines.storage.storage_contracts import DAY, NEXT_DAY, Attempts, Scores, day, rows, scored

HOSTILE_RULES = ["v1", "a/b", "v 1", "50%25", "=x&y+z", "a*[b]?", "'\"", "..", "é🎉", "日本" * 8, "#?", "a\\b", "a\nb"]


@pytest.fixture
def store(tmp_path: Path) -> Tables:
    return Tables(str(tmp_path / "tables"))


def read(store: Tables, contract: type[Contract]) -> pl.DataFrame:
    return store.scan(contract).collect()


def everything_below(folder: Path) -> list[str]:
    return sorted(str(path.relative_to(folder)) for path in folder.rglob("*"))


def test_a_table_that_was_only_created_is_empty_and_has_the_contract_types(store: Tables) -> None:
    store.ensure([Attempts, Scores])

    assert_frame_equal(read(store, Attempts), empty(Attempts))
    assert_frame_equal(store.scan(Scores, [scored("v1")]).collect(), empty(Scores))


def test_ensure_twice_changes_nothing(store: Tables) -> None:
    store.ensure([Attempts])
    store.ensure([Attempts])

    assert store.version(Attempts) == 0


def test_first_write_creates_the_table(store: Tables) -> None:
    assert not store.exists(Attempts)

    commit = store.replace(Attempts, rows(Attempts, day(), ["a"]), [day()])

    assert store.exists(Attempts)
    assert (commit.version, commit.rows, commit.files, commit.removed) == (1, 1, 1, 0)
    assert commit.bytes > 0


def test_one_key_is_replaced_and_the_others_stay(store: Tables) -> None:
    both = pl.concat([rows(Attempts, day(), ["a", "b"]), rows(Attempts, day(NEXT_DAY), ["c"])])
    store.replace(Attempts, both, [day(), day(NEXT_DAY)])

    store.replace(Attempts, rows(Attempts, day(), ["d"]), [day()])

    expected = pl.concat([rows(Attempts, day(), ["d"]), rows(Attempts, day(NEXT_DAY), ["c"])])
    assert_frame_equal(read(store, Attempts), expected)


def test_several_keys_are_replaced_in_one_commit(store: Tables) -> None:
    days = [day(DAY + dt.timedelta(days=shift)) for shift in range(4)]
    store.replace(Attempts, pl.concat(rows(Attempts, key, ["old"]) for key in days), days)

    commit = store.replace(Attempts, rows(Attempts, days[2], ["new"]), days[1:])

    assert (commit.version, commit.removed) == (2, 3)
    assert read(store, Attempts).select("attempt_id", "landed_on").rows() == [
        ("old", days[0]["landed_on"]),
        ("new", days[2]["landed_on"]),
    ]


def test_day_by_rules_keys_need_not_form_a_rectangle(store: Tables) -> None:
    square = [scored(rules, when) for when in (DAY, NEXT_DAY) for rules in ("v1", "v2")]
    store.replace(Scores, pl.concat(rows(Scores, key, ["old"], score=1.0) for key in square), square)

    three = square[:3]
    store.replace(Scores, pl.concat(rows(Scores, key, ["new"], failed=["x"]) for key in three), three)

    assert read(store, Scores).select("attempt_id", "landed_on", "rules").rows() == [
        ("new", DAY, "v1"),
        ("new", DAY, "v2"),
        ("new", NEXT_DAY, "v1"),
        ("old", NEXT_DAY, "v2"),
    ]


def test_no_rows_empty_the_key_and_the_commit_is_recorded(store: Tables) -> None:
    store.replace(Attempts, rows(Attempts, day(), ["a"]), [day()])

    first = store.replace(Attempts, empty(Attempts), [day()])
    second = store.replace(Attempts, empty(Attempts).lazy(), [day()], {"run_id": "r"})

    assert (first.removed, second.removed) == (1, 0)
    assert read(store, Attempts).is_empty()
    assert DeltaTable(store.uri(Attempts)).history(1)[0]["run_id"] == "r"


def test_a_commit_records_metadata_and_keys(store: Tables) -> None:
    store.replace(Scores, empty(Scores), [scored("v1"), scored("v2")], {"run_id": "r", "rule_set_digest": "d"})

    noted = DeltaTable(store.uri(Scores)).history(1)[0]

    assert (noted["run_id"], noted["rule_set_digest"]) == ("r", "d")
    assert json.loads(noted["partition_keys"])[1] == {"landed_on": "2026-11-29", "rules": "v2"}


def test_an_earlier_version_can_be_read(store: Tables) -> None:
    first = store.replace(Attempts, rows(Attempts, day(), ["a"]), [day()])
    store.replace(Attempts, rows(Attempts, day(), ["b"]), [day()])

    assert store.scan(Attempts, version=first.version).collect()["attempt_id"].to_list() == ["a"]


def test_a_scan_is_a_snapshot_of_its_moment(store: Tables) -> None:
    store.replace(Attempts, rows(Attempts, day(), ["a"]), [day()])
    scan = store.scan(Attempts)

    store.replace(Attempts, rows(Attempts, day(), ["b"]), [day()])

    assert scan.collect()["attempt_id"].to_list() == ["a"]


def test_a_scan_of_keys_opens_the_files_of_these_keys_only(store: Tables) -> None:
    keys = [day(), day(NEXT_DAY)]
    store.replace(Attempts, pl.concat(rows(Attempts, key, ["a"]) for key in keys), keys)
    for path in Path(store.uri(Attempts)).glob(f"landed_on={NEXT_DAY}/*"):
        path.unlink()

    assert store.scan(Attempts, [day()]).collect().height == 1


def test_a_scan_may_name_some_of_the_partition_columns(store: Tables) -> None:
    keys = [scored(rules, when) for when in (DAY, NEXT_DAY) for rules in ("v1", "v2")]
    store.replace(Scores, pl.concat(rows(Scores, key, ["a"]) for key in keys), keys)

    found = store.scan(Scores, [day(NEXT_DAY)]).collect()

    assert found.select("landed_on", "rules").rows() == [(NEXT_DAY, "v1"), (NEXT_DAY, "v2")]
    assert store.scan(Scores, [{"rules": "v2"}]).collect()["landed_on"].to_list() == [DAY, NEXT_DAY]


@pytest.mark.parametrize("keys", [[], [{}], [{"attempt_id": "a"}], [day(), {"rules": "v1"}], [day(), day()]])
def test_a_scan_of_unclear_keys_is_refused(store: Tables, keys: list[PartitionKey]) -> None:
    store.ensure([Scores])

    with pytest.raises(ValueError, match="scores"):
        store.scan(Scores, keys)


def test_rows_come_back_by_partition_and_then_as_they_were_written(
    store: Tables, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(partition_files, "BATCH_BYTES", 1)
    monkeypatch.setattr(partition_files, "HELD_BYTES", 1)
    ids = [f"a{number}" for number in range(200_000)]
    frame = rows(Attempts, day(), ids)

    commit = store.replace(Attempts, frame.lazy().filter(pl.col("attempt_id") != ""), [day()])

    assert commit.files > 1
    assert_frame_equal(read(store, Attempts), frame)


@pytest.mark.parametrize("rules", HOSTILE_RULES)
def test_hostile_rule_set_ids_survive_and_are_replaced(store: Tables, rules: str) -> None:
    store.replace(Scores, rows(Scores, scored(rules), ["a"]), [scored(rules)])
    store.replace(Scores, rows(Scores, scored("other"), ["b"]), [scored("other")])

    store.replace(Scores, rows(Scores, scored(rules), ["c"]), [scored(rules)])

    assert sorted(read(store, Scores).select("attempt_id", "rules").rows()) == [("b", "other"), ("c", rules)]
    assert_frame_equal(store.scan(Scores, [scored(rules)]).collect(), rows(Scores, scored(rules), ["c"]))


@pytest.mark.parametrize(
    "keys",
    [
        [],
        [{}],
        [{"landed_on": DAY, "rules": "v1", "extra": 1}],
        [{"landed_on": DAY}],
        [{"landed_on": "2026-11-29", "rules": "v1"}],
        [{"landed_on": dt.datetime(2026, 11, 29, tzinfo=dt.UTC), "rules": "v1"}],
        [{"landed_on": None, "rules": "v1"}],
        [{"landed_on": DAY, "rules": 1}],
        [scored("v1"), scored("v1")],
        [scored("")],
        [scored("__HIVE_DEFAULT_PARTITION__")],
        [scored("日本" * 20)],
    ],
)
def test_keys_that_could_replace_anything_else_are_refused(store: Tables, keys: list[PartitionKey]) -> None:
    with pytest.raises(ValueError, match="scores"):
        store.replace(Scores, empty(Scores), keys)

    assert not store.exists(Scores)


def broken(change: Callable[[pl.DataFrame], pl.DataFrame]) -> pl.DataFrame:
    return change(rows(Attempts, day(), ["a", "b"], decisions=1))


@pytest.mark.parametrize("lazily", [False, True])
@pytest.mark.parametrize(
    "change",
    [
        pytest.param(lambda frame: frame.with_columns(decisions=pl.lit(1.7)), id="float in an integer column"),
        pytest.param(lambda frame: frame.with_columns(pl.col("decisions").cast(pl.Int32)), id="narrower integer"),
        pytest.param(lambda frame: frame.drop("seconds"), id="missing column"),
        pytest.param(lambda frame: frame.with_columns(extra=pl.lit(1)), id="extra column"),
        pytest.param(lambda frame: frame.select(reversed(frame.columns)), id="order"),
        pytest.param(lambda frame: frame.with_columns(decisions=pl.lit(-1, pl.Int64)), id="check"),
        pytest.param(lambda frame: frame.with_columns(seconds=pl.lit(float("nan"))), id="not finite"),
        pytest.param(lambda frame: frame.with_columns(attempt_id=pl.lit("same")), id="key twice"),
        pytest.param(lambda frame: frame.with_columns(attempt_id=pl.lit(None, pl.String)), id="null"),
        pytest.param(lambda frame: frame.with_columns(landed_on=pl.lit(NEXT_DAY)), id="outside the keys"),
        pytest.param(lambda frame: frame.with_columns(landed_on=pl.lit(None, pl.Date)), id="no day"),
    ],
)
def test_what_breaks_the_contract_is_refused_and_nothing_is_written(
    store: Tables, change: Callable[[pl.DataFrame], pl.DataFrame], lazily: bool
) -> None:
    store.replace(Attempts, rows(Attempts, day(), ["kept"]), [day()])
    before = everything_below(Path(store.root))
    frame = broken(change)

    with pytest.raises(ContractError, match="attempts"):
        store.replace(Attempts, frame.lazy() if lazily else frame, [day()])

    assert everything_below(Path(store.root)) == before
    assert read(store, Attempts)["attempt_id"].to_list() == ["kept"]


def test_a_schema_that_only_the_batches_reveal_is_refused(store: Tables) -> None:
    store.ensure([Attempts])
    lying = (
        rows(Attempts, day(), ["a"])
        .lazy()
        .map_batches(
            lambda frame: frame.with_columns(decisions=pl.lit(1.7)),
            schema=schema(Attempts),
            validate_output_schema=False,
        )
    )

    with pytest.raises(ContractError, match="decisions"):
        store.replace(Attempts, lying, [day()])

    assert store.version(Attempts) == 0


def late_failures(batch_bytes: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(partition_files, "BATCH_BYTES", batch_bytes)
    monkeypatch.setattr(partition_files, "HELD_BYTES", batch_bytes)


@pytest.mark.parametrize("fault", ["check", "key", "query"])
def test_a_fault_in_a_late_batch_leaves_nothing(store: Tables, monkeypatch: pytest.MonkeyPatch, fault: str) -> None:
    late_failures(1, monkeypatch)
    store.replace(Attempts, rows(Attempts, day(), ["kept"]), [day()])
    before = sorted(path for path in Path(store.root).rglob("*.*"))
    last = {
        "check": rows(Attempts, day(), ["z"], decisions=-1),
        "key": rows(Attempts, day(), ["a7"]),
        "query": rows(Attempts, day(), ["z"], seconds=1.0),
    }[fault]
    frame = pl.concat([rows(Attempts, day(), [f"a{n}" for n in range(150_000)]).lazy(), last.lazy()])
    if fault == "query":
        frame = frame.map_batches(raise_on_last, streamable=True)

    with pytest.raises((ContractError, pl.exceptions.ComputeError), match=r"attempts|the query broke"):
        store.replace(Attempts, frame, [day()])

    assert sorted(path for path in Path(store.root).rglob("*.*")) == before
    assert read(store, Attempts)["attempt_id"].to_list() == ["kept"]


def raise_on_last(frame: pl.DataFrame) -> pl.DataFrame:
    if frame["seconds"].is_not_null().any():
        raise pl.exceptions.ComputeError("the query broke")
    return frame


def test_a_contract_that_gains_a_nullable_column_is_migrated_on_record(store: Tables) -> None:
    class Wider(Attempts):
        """One row per attempt and day."""

        note: str = column("Added later", nullable=True)

        class Config(Attempts.Config):
            pass

    store.replace(Attempts, rows(Attempts, day(), ["a"]), [day()])
    store.ensure([Wider])
    store.ensure([Wider])

    assert store.version(Wider) == 2
    assert DeltaTable(store.uri(Wider)).history(1)[0]["migration"] == "added columns note"
    assert_frame_equal(read(store, Wider), rows(Wider, day(), ["a"]))
    store.replace(Wider, rows(Wider, day(NEXT_DAY), ["b"], note="n"), [day(NEXT_DAY)])
    assert read(store, Wider)["note"].to_list() == [None, "n"]


def changed(name: str, declared: object, **field: object) -> type[Contract]:
    namespace = {"__annotations__": {name: declared}, name: column("Changed", **field), "__doc__": "One row."}
    config = type("Config", (Attempts.Config,), {})
    return type("Changed", (Attempts,), {**namespace, "Config": config})


@pytest.mark.parametrize(
    ("contract", "told"),
    [
        (changed("seconds", int, nullable=True), "seconds is Float64, declared Int64"),
        (changed("added", str), "added is new but not nullable"),
    ],
)
def test_any_other_change_of_a_contract_is_refused(store: Tables, contract: type[Contract], told: str) -> None:
    store.ensure([Attempts])

    with pytest.raises(StoreConfigurationError, match=told):
        store.ensure([contract])
    with pytest.raises(StoreConfigurationError, match=told):
        store.replace(contract, empty(contract), [day()])

    assert store.version(Attempts) == 0


def test_a_type_that_delta_would_change_is_refused_at_creation(store: Tables) -> None:
    class Unsigned(Attempts):
        """One row per attempt and day."""

        count: pl.UInt64 = column("Would come back signed")

        class Config(Attempts.Config):
            name = "unsigned"

    with pytest.raises(TypeError, match="unsigned"):
        store.ensure([Unsigned])


def test_a_transient_failure_of_the_first_look_is_tried_again(store: Tables, monkeypatch: pytest.MonkeyPatch) -> None:
    store.replace(Attempts, rows(Attempts, day(), ["a"]), [day()])
    failures = iter(
        [OSError("Generic S3 error: error sending request: connection reset"), OSError("503 Service Unavailable")]
    )

    def look(*args: object, **kwargs: object) -> DeltaTable:
        for failure in failures:
            raise failure
        return DeltaTable(*args, **kwargs)  # type: ignore[arg-type]

    monkeypatch.setattr(tables, "DeltaTable", look)
    store.replace(Attempts, rows(Attempts, day(NEXT_DAY), ["b"]), [day(NEXT_DAY)])

    monkeypatch.undo()
    assert read(store, Attempts)["attempt_id"].to_list() == ["a", "b"]


def test_a_lasting_failure_of_the_first_look_changes_nothing(store: Tables, monkeypatch: pytest.MonkeyPatch) -> None:
    store.replace(Attempts, rows(Attempts, day(), ["a"]), [day()])
    before = everything_below(Path(store.root))

    def look(*_: object, **__: object) -> DeltaTable:
        raise OSError("Generic S3 error: error sending request: connection reset")

    monkeypatch.setattr(tables, "DeltaTable", look)
    monkeypatch.setattr(retries, "LONGEST_WAIT_SECONDS", 0)
    for attempt in (
        lambda: store.replace(Attempts, rows(Attempts, day(), ["b"]), [day()]),
        lambda: store.ensure([Attempts]),
        lambda: store.exists(Attempts),
        lambda: store.scan(Attempts),
    ):
        with pytest.raises(StoreUnavailableError):
            attempt()

    assert everything_below(Path(store.root)) == before


def test_a_conflicting_commit_in_between_is_seen_and_not_widened(
    store: Tables, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Between the write of the files and the commit, another writer fills the same key and one more."""
    store.ensure([Attempts])
    commit, raced = Tables.commit, []

    def racing(self: Tables, *args: object) -> None:
        if not raced:
            raced.append(True)
            other = pl.concat([rows(Attempts, day(), ["other"]), rows(Attempts, day(NEXT_DAY), ["other"])])
            store.replace(Attempts, other, [day(), day(NEXT_DAY)])
        commit(self, *args)  # type: ignore[arg-type]

    monkeypatch.setattr(Tables, "commit", racing)
    result = store.replace(Attempts, rows(Attempts, day(), ["mine"]), [day()])

    assert (result.version, result.removed) == (2, 1)
    assert read(store, Attempts).select("attempt_id", "landed_on").rows() == [("mine", DAY), ("other", NEXT_DAY)]


def test_a_commit_whose_answer_was_lost_is_not_repeated(store: Tables, monkeypatch: pytest.MonkeyPatch) -> None:
    write = DeltaTable.create_write_transaction

    def committed_but_lost(self: DeltaTable, *args: object, **kwargs: object) -> None:
        write(self, *args, **kwargs)  # type: ignore[arg-type]
        raise OSError("Generic S3 error: operation timed out")

    monkeypatch.setattr(DeltaTable, "create_write_transaction", committed_but_lost)
    commit = store.replace(Attempts, rows(Attempts, day(), ["a"]), [day()])

    assert commit.version == store.version(Attempts) == 1
    assert read(store, Attempts)["attempt_id"].to_list() == ["a"]


def test_what_a_commit_without_an_answer_may_have_published_stays(
    store: Tables, monkeypatch: pytest.MonkeyPatch
) -> None:
    write = DeltaTable.create_write_transaction

    def committed_but_lost(self: DeltaTable, *args: object, **kwargs: object) -> None:
        write(self, *args, **kwargs)  # type: ignore[arg-type]
        raise OSError("Generic S3 error: operation timed out")

    monkeypatch.setattr(DeltaTable, "create_write_transaction", committed_but_lost)
    store.ensure([Attempts])
    monkeypatch.setattr(tables, "COMMIT_ATTEMPTS", 1)
    with pytest.raises(StoreUnavailableError):
        store.replace(Attempts, rows(Attempts, day(), ["a"]), [day()])

    assert read(store, Attempts)["attempt_id"].to_list() == ["a"]


def test_conflicts_without_end_give_up_and_leave_nothing(store: Tables, monkeypatch: pytest.MonkeyPatch) -> None:
    store.replace(Attempts, rows(Attempts, day(), ["kept"]), [day()])
    before = everything_below(Path(store.root))

    def conflict(*_: object, **__: object) -> None:
        raise CommitFailedError("Failed to commit transaction: 0")

    monkeypatch.setattr(DeltaTable, "create_write_transaction", conflict)
    monkeypatch.setattr(tables, "COMMIT_ATTEMPTS", 3)
    with pytest.raises(StoreUnavailableError, match="3 commits met conflicting ones"):
        store.replace(Attempts, rows(Attempts, day(), ["b"]), [day()])

    assert everything_below(Path(store.root)) == before


KILLED = """
import os, signal, sys
from tests.pipelines.storage.storage_contracts import Attempts, day, rows
from pipelines.storage.tables import Tables
Tables.commit = lambda *_: os.kill(os.getpid(), signal.SIGKILL)
Tables(sys.argv[1]).replace(Attempts, rows(Attempts, day(), ["dead"]), [day()])
"""


def test_a_writer_killed_before_its_commit_leaves_the_table_as_it_was(store: Tables) -> None:
    store.replace(Attempts, rows(Attempts, day(), ["a"]), [day()])

    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    command = [sys.executable, "-c", KILLED, store.root]
    killed = subprocess.run(command, check=False, env=environment)

    assert killed.returncode == -signal.SIGKILL
    assert len(list(Path(store.uri(Attempts)).glob("*/*.parquet"))) == 2
    assert read(store, Attempts)["attempt_id"].to_list() == ["a"]
    store.replace(Attempts, rows(Attempts, day(), ["b"]), [day()])
    assert read(store, Attempts)["attempt_id"].to_list() == ["b"]


def test_reading_a_table_that_is_not_there_says_so(store: Tables) -> None:
    with pytest.raises(StoreConfigurationError, match="there is no such table yet"):
        store.scan(Attempts)


@pytest.mark.parametrize("url", ["memory://tables", "gs://bucket/tables", "s3:///tables"])
def test_a_root_that_cannot_hold_tables_is_refused(url: str) -> None:
    with pytest.raises(StoreError, match=url):
        Tables(url)


def test_documents_have_no_statistics(store: Tables) -> None:
    class Documents(Attempts):
        """One row per document."""

        content: bytes = column("The bytes")

        class Config(Attempts.Config):
            name = "documents"

    frame = rows(Documents, day(), ["a", "b"], content=bytes(100_000))

    commit = store.replace(Documents, frame, [day()])

    assert_frame_equal(read(store, Documents), frame)
    assert commit.bytes < 20_000
    configuration = DeltaTable(store.uri(Documents)).metadata().configuration
    assert configuration["delta.dataSkippingStatsColumns"] == "attempt_id,decisions,seconds"
