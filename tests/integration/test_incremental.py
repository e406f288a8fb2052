"""Runs after the first: nothing is fetched twice, and exactly what changed is fetched again or flagged."""

import dataclasses
import datetime as dt
import json
import os
import signal
from collections.abc import Iterator
from pathlib import Path

import dagster as dg
import polars as pl
import pytest
from deltalake import DeltaTable

from assets.attempts.assets import CODE_VERSION
from assets.rulesets.loader import load_all
from pipelines.run import run
from pipelines.settings import Settings
from tests.integration.hostile import DAY, full, text
from tests.integration.warehouses import differing, everything, in_place, put_aside, ran, rows, settings, write


def store(count: int) -> dict[str, bytes]:
    return {f"worldseq/{DAY}/a{number}.json": text(full(f"a{number}")) for number in range(count)}


@pytest.fixture(scope="module")
def template(tmp_path_factory: pytest.TempPathFactory) -> Settings:
    folder = tmp_path_factory.mktemp("incremental")
    write(folder, store(4))
    made = settings(folder)
    ran(made)
    put_aside(made)
    return made


@pytest.fixture
def where(template: Settings) -> Iterator[Settings]:
    """Four documents of one day, stored."""
    with in_place(template) as placed:
        yield placed


@pytest.fixture
def folder(where: Settings) -> Path:
    """What the artifacts and the tables are in."""
    return Path(where.artifacts).parent


def test_a_second_run_fetches_nothing_and_changes_nothing(where: Settings) -> None:
    before, landed = everything(where), rows(where, "raw_artifacts")
    summary = ran(where)
    assert (summary.listed, summary.fetched, summary.unchanged) == (4, 0, 4)
    assert differing(before, everything(where)) == []
    assert rows(where, "raw_artifacts").equals(landed)


def test_added_changed_and_removed_are_fetched_or_flagged_and_nothing_else(where: Settings, folder: Path) -> None:
    write(folder, {f"worldseq/{DAY}/new.json": text(full("new"))})
    write(folder, {f"worldseq/{DAY}/a1.json": text(full("a1", usage=None))})
    (folder / "artifacts" / "worldseq" / DAY / "a2.json").unlink()
    summary = ran(where)
    assert (summary.listed, summary.fetched, summary.unchanged, summary.vanished) == (4, 2, 2, 1)
    classes = dict(rows(where, "verifications").select("attempt_id", "class").iter_rows())
    assert classes == {
        "worldseq:a0": "eligible",
        "worldseq:a1": "inconclusive",
        "worldseq:a2": "eligible",
        "worldseq:a3": "eligible",
        "worldseq:new": "eligible",
    }
    history = rows(where, "raw_artifacts").group_by("uri").agg(pl.len(), pl.col("vanished").any()).sort("uri")
    assert [(uri.rpartition("/")[2], n, gone) for uri, n, gone in history.iter_rows()] == [
        ("a0.json", 1, False),
        ("a1.json", 2, False),
        ("a2.json", 2, True),
        ("a3.json", 1, False),
        ("new.json", 1, False),
    ]
    assert ran(where).vanished == 0


def test_of_two_documents_the_one_that_was_touched_last_wins(tmp_path: Path) -> None:
    folder, where = tmp_path / "artifacts" / "worldseq" / DAY, settings(tmp_path)
    usages = {"a": None, "b": {"playerCalls": 3}}
    write(tmp_path, {f"worldseq/{DAY}/{name}.json": text(full("x", usage=usage)) for name, usage in usages.items()})
    for at, name in enumerate("ab", start=1_700_000_000):
        os.utime(folder / f"{name}.json", (at, at))
    ran(where)
    assert [uri.rpartition("/")[2] for uri in rows(where, "attempts")["uri"]] == ["b.json"]
    os.utime(folder / "a.json", (at + 1, at + 1))
    ran(where)
    afresh = dataclasses.replace(where, tables=str(tmp_path / "afresh"))
    ran(afresh)
    assert differing(everything(where), everything(afresh)) == ["raw_artifacts"]  # which keeps what was there before
    assert [uri.rpartition("/")[2] for uri in rows(where, "attempts")["uri"]] == ["a.json"]


def test_a_day_that_vanished_as_a_whole_is_flagged(where: Settings, folder: Path) -> None:
    for path in (folder / "artifacts" / "worldseq" / DAY).iterdir():
        path.unlink()
    (folder / "artifacts" / "worldseq" / DAY).rmdir()
    assert ran(where).vanished == 4
    assert rows(where, "verifications").height == 4


def test_an_object_that_comes_back_is_current_again(where: Settings, folder: Path) -> None:
    path = folder / "artifacts" / "worldseq" / DAY / "a2.json"
    path.unlink()
    ran(where)
    path.write_bytes(text(full("a2")))
    assert (ran(where).fetched, ran(where).fetched) == (1, 0)


def test_bytes_are_kept_as_they_arrived(where: Settings) -> None:
    contents = rows(where, "raw_artifacts")["content"].to_list()
    assert sorted(contents) == sorted(store(4).values())


def test_a_raised_limit_lets_in_what_was_too_large(where: Settings, folder: Path) -> None:
    write(folder, {f"worldseq/{DAY}/large.json": text(full("large")) + b" " * 5_000})
    limited = dataclasses.replace(where, max_object_bytes=5_000)
    assert (ran(limited).fetched, ran(limited).fetched) == (0, 0)
    assert rows(where, "quarantine")["reason"].to_list() == ["too_large"]
    assert (ran(where).fetched, ran(limited).fetched) == (1, 0)
    assert rows(where, "quarantine").is_empty()
    assert "worldseq:large" in rows(where, "attempts")["attempt_id"].to_list()


def test_a_stray_object_is_one_row_of_quarantine_however_often_it_is_touched(where: Settings, folder: Path) -> None:
    write(folder, {"worldseq/stray.json": b"{}"})
    for day in (20, 21, 22):
        noon = dt.datetime(2026, 11, day, 12, tzinfo=dt.UTC)
        os.utime(folder / "artifacts/worldseq/stray.json", (noon.timestamp(), noon.timestamp()))
        ran(where)
        assert rows(where, "quarantine").select("reason", "landed_on").rows() == [("no_partition", noon.date())]


def test_an_interrupted_run_ends_at_once_and_the_next_one_goes_on(where: Settings, folder: Path) -> None:
    write(folder, {f"worldseq/{DAY}/new.json": text(full("new"))})

    def interrupt(stage: str, *_: int | None) -> None:
        if stage == "decoding":
            os.kill(os.getpid(), signal.SIGINT)

    with dg.DagsterInstance.ephemeral() as instance, pytest.raises(KeyboardInterrupt):
        run(where, instance=instance, progress=interrupt)
    assert rows(where, "attempts").height == 4
    assert ran(where).fetched == 0
    assert rows(where, "verifications").height == 5


def test_names_that_look_alike_stay_apart(where: Settings, folder: Path) -> None:
    day = folder / "artifacts" / "worldseq" / DAY
    write(folder, {rf"worldseq/{DAY}/\xff.json": text(full("escaped"))})
    (day / os.fsdecode(b"\xff.json")).write_bytes(text(full("odd")))
    told: list[tuple[str, int, int | None]] = []
    with dg.DagsterInstance.ephemeral() as instance:
        run(where, instance=instance, progress=lambda *step: told.append(step))
    before = everything(where)
    assert rows(where, "attempts").height == 5
    assert rows(where, "quarantine")["reason"].to_list() == ["no_partition"]
    assert [step for step in told if step[0] == "decoding"][-1] == ("decoding", 5, 5)
    assert ran(where).fetched == 0
    assert differing(before, everything(where)) == []


def noted(where: Settings, table: str) -> dict[str, str]:
    """What the newest commit of a table says of itself."""
    newest = DeltaTable(f"{where.tables}/{table}").history(1)[0]
    return {name: str(value) for name, value in newest.items()}


def test_a_commit_says_what_it_was_made_of(where: Settings, folder: Path) -> None:
    first = noted(where, "attempts")
    assert first["code_version"] == CODE_VERSION
    assert first["run_id"] != "None"
    assert len(json.loads(first["input_fingerprint"])) == len(json.loads(first["partition_keys"])) == 1
    assert noted(where, "verifications")["rule_set_digest/v1"] == load_all()["v1"].digest
    ran(where)
    assert noted(where, "attempts")["version"] == first["version"]
    write(folder, {f"worldseq/{DAY}/a1.json": text(full("a1", usage=None))})
    ran(where)
    assert noted(where, "attempts")["input_fingerprint"] != first["input_fingerprint"]
