"""A store that stands elsewhere from one run to the next: everything lands again, and counts once."""

import dataclasses
import os
from pathlib import Path

import pytest

from assets.tables import TABLES
from pipelines.cli import demo_agentcompass, demo_agentforge, demo_harbor
from pipelines.settings import Settings
from tests.integration.warehouses import VOLATILE, ran, rows, settings

COUNTS_COPIES = ("quarantine", "raw_artifacts")
"""Tables that name every object, those of the old place too."""


@pytest.fixture
def where(tmp_path: Path) -> Settings:
    """A store of all benchmark sources: runs that lost attempts, and copies within and across runs."""
    for source in (demo_agentcompass, demo_agentforge, demo_harbor):
        for file in source.files(1):
            path = tmp_path / "artifacts" / file.key
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(file.content)
            os.utime(path, (file.modified.timestamp(), file.modified.timestamp()))
    return settings(tmp_path)


def test_a_moved_store_has_the_same_results(where: Settings, tmp_path: Path) -> None:
    def results() -> dict[str, object]:
        dropped = (*VOLATILE, "identical_copies")
        return {name: rows(where, name, drop=dropped) for name in TABLES if name not in COUNTS_COPIES}

    ran(where)
    before = results()
    (tmp_path / "artifacts").rename(tmp_path / "elsewhere")
    moved = dataclasses.replace(where, artifacts=str(tmp_path / "elsewhere"))
    summary = ran(moved)
    assert summary.fetched == summary.vanished > 0
    after = results()
    assert [name for name in before if not before[name].equals(after[name])] == []
