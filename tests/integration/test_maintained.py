"""Upkeep between runs: nothing is computed again, and nothing is lost."""

from pathlib import Path

from assets.tables import TABLES
from pipelines.build import table_store
from pipelines.maintenance import maintained
from pipelines.settings import Settings
from pipelines.storage.log_files import LogFiles
from tests.integration.hostile import DAY, full, text
from tests.integration.warehouses import differing, everything, ran, settings, write
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
