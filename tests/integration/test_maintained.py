"""Upkeep between runs: nothing is computed again, and nothing is lost."""

import datetime as dt
from pathlib import Path

import dagster as dg

from assets.tables import TABLES
from pipelines.build import intake, table_store
from pipelines.maintenance import maintained
from pipelines.run import session
from pipelines.settings import Settings
from pipelines.storage.log_files import LogFiles
from tests.integration.hostile import DAY, full, text
from tests.integration.warehouses import differing, everything, ran, rows, settings, write
from tests.pipelines.storage.aged import age

OTHER_DAY = "2026-11-27"


def versions(where: Settings) -> dict[str, int]:
    tables = table_store(where)
    return {name: tables.version(contract) for name, contract in TABLES.items() if tables.exists(contract)}


def months_later(where: Settings) -> None:
    """Upkeep long after everything was written: nothing of the log from before is left."""
    tables = table_store(where)
    for _ in range(2):  # a checkpoint first, which has to be old as well
        for contract in TABLES.values():
            age(tables, contract, 40)
        assert [kept.table for kept in maintained(where)] == list(versions(where))
    for contract in TABLES.values():
        assert len(LogFiles.of(tables, contract).commits) == 1


def test_a_run_after_upkeep_computes_nothing_and_late_artifacts_are_all_that_the_next_one_does(tmp_path: Path) -> None:
    write(
        tmp_path, {f"worldseq/{day}/{n}.json": text(full(f"{day}-{n}")) for day in (DAY, OTHER_DAY) for n in range(3)}
    )
    where = settings(tmp_path)
    ran(where)
    before = everything(where)

    months_later(where)
    stood = versions(where)
    ran(where)

    assert versions(where) == stood
    assert differing(before, everything(where)) == []
    write(tmp_path, {f"worldseq/{DAY}/late.json": text(full("late"))})
    ran(where)
    after, days = everything(where), {DAY: 4, OTHER_DAY: 3}
    counted = after["verifications"].group_by("landed_on").len().rows()
    assert {str(day): count for day, count in counted} == days
    assert {versions(where)[name] - stood[name] for name in ("raw_artifacts", "attempts", "verifications")} == {1}


def test_merged_batches_hold_what_arrived_and_decode_to_the_same(tmp_path: Path) -> None:
    folder = tmp_path / "artifacts" / "worldseq" / DAY
    where = settings(tmp_path, max_object_bytes=50_000)
    good = {name: text(full(name)) for name in "abcdefgh"}
    for changes in (
        {"a": good["a"], "b": good["b"]},
        {"c": good["c"], "broken": b"{"},
        {"a": text(full("a", usage=None)), "large": good["d"] + b" " * 60_000},  # one changed
        {"e": good["e"], "b": None},  # one vanished
        {"b": good["b"], "f": good["f"]},  # and came back
        {"copy": good["c"], "c": None, "g": good["g"]},
    ):
        write(tmp_path, {f"worldseq/{DAY}/{name}.json": content for name, content in changes.items() if content})
        for name in [name for name, content in changes.items() if content is None]:
            (folder / f"{name}.json").unlink()
        with dg.DagsterInstance.ephemeral() as instance, session(where, instance=instance) as (begun, _):
            begun.land([dt.date.fromisoformat(DAY)])
    ran(where)
    before, arrived = everything(where), rows(where, "raw_artifacts", drop=("batch",))
    batches, stood = rows(where, "raw_artifacts")["batch"].n_unique(), versions(where)

    later = dt.datetime.now(dt.UTC) + dt.timedelta(days=2)
    kept = {one.table: one for one in maintained(where, now=later)}

    assert kept["raw_artifacts"].after.files == rows(where, "raw_artifacts")["batch"].n_unique() < batches - 2
    assert rows(where, "raw_artifacts", drop=("batch",)).equals(arrived)
    noted = versions(where)
    summary = ran(where)
    assert (summary.fetched, summary.vanished, versions(where)) == (0, 0, noted)
    with dg.DagsterInstance.ephemeral() as instance, session(where, instance=instance, force=True) as (begun, _):
        begun.decode([dt.date.fromisoformat(DAY)])
    assert versions(where)["attempts"] == noted["attempts"] + 1 > stood["attempts"]
    assert differing(before, everything(where)) == []
    assert [one.before.files for one in maintained(where, now=later)] == [one.after.files for one in kept.values()]


def test_batches_that_are_merged_while_they_are_decoded_are_decoded_whole(tmp_path: Path) -> None:
    where = settings(tmp_path)
    for name in "abc":
        write(tmp_path, {f"worldseq/{DAY}/{name}.json": text(full(name))})
        ran(where)
    before = everything(where)
    later = dt.datetime.now(dt.UTC) + dt.timedelta(days=2)

    def meanwhile(stage: str, done: int, total: int | None) -> None:
        if (stage, done, total) == ("decoding", 1, 3):
            assert next(maintained(where, now=later)).after.files == 1

    with (
        dg.DagsterInstance.ephemeral() as instance,
        session(where, progress=meanwhile, instance=instance, force=True, intake=intake(where, progress=meanwhile)) as (
            begun,
            _,
        ),
    ):
        begun.decode([dt.date.fromisoformat(DAY)])

    assert rows(where, "raw_artifacts")["batch"].n_unique() == 1
    assert differing(before, everything(where)) == []
