"""The example store: the same bytes everywhere, all shapes, every class, and files that break."""

import hashlib
import json
import os
from pathlib import Path
from typing import Any

import pytest

from assets.vocabulary import CLASSES
from pipelines.cli import demo_store
from pipelines.cli.demo_attempts import COMPANIES, TASKS, contract, primary_value
from pipelines.cli.demo_plots import PLOTS
from pipelines.cli.output import UsageError


@pytest.fixture(scope="module")
def files() -> list[demo_store.StoredFile]:
    return demo_store.files(seed=1)


def documents(files: list[demo_store.StoredFile]) -> list[dict[str, Any]]:
    return [json.loads(file.content.removeprefix(b"\xef\xbb\xbf")) for file in files if "/broken/" not in file.key]


def test_the_bytes_follow_from_the_seed_alone(files: list[demo_store.StoredFile]) -> None:
    assert demo_store.files(seed=1) == files
    assert demo_store.files(seed=2) != files
    digest = hashlib.sha256(b"".join(file.key.encode() + b"\0" + file.content for file in files)).hexdigest()
    assert digest == "470a6cd607852d0c85a345d656f52075ed0659527c9c0eada0552fd5a0b42dc1"


def test_it_is_varied(files: list[demo_store.StoredFile]) -> None:
    found = [document for document in documents(files) if "no such day" not in document]
    assert sum("format" in document for document in found) > 100
    assert sum("verification" in document and "format" not in document for document in found) > 5
    assert sum("reward" in document and "finalization" in document for document in found) > 5
    assert sum("cases" in document for document in found) == len(demo_store.DAYS)
    full = [document for document in found if "format" in document]
    for name in ("campaignId", "armId", "familyId", "companyId", "taskId", "scenarioId"):
        assert len({document["attempt"][name] for document in full}) > 1
    assert len({primary_value(document) for document in full if "trajectory" in document}) > 50
    assert len({file.key for file in files}) == len(files)
    assert sum("/broken/" in file.key for file in files) > 10


def test_its_plots_lead_to_every_class_that_an_artifact_can_have() -> None:
    assert {plot.verdict for plot in PLOTS.values()} == set(CLASSES) - {"missing"}


def test_a_task_contract_is_the_same_for_every_attempt_of_a_company() -> None:
    for task in TASKS:
        for company in COMPANIES:
            assert contract(task, company) == contract(task, company)


def test_writing_again_touches_nothing(tmp_path: Path) -> None:
    count = demo_store.write(tmp_path / "store")
    written = {path: path.stat() for path in (tmp_path / "store").rglob("*.json")}
    assert len(written) == count
    assert {stat.st_mtime for stat in written.values()} == {file.modified.timestamp() for file in demo_store.files()}
    victim = tmp_path / "store" / demo_store.files()[0].key
    victim.write_bytes(b"changed")
    os.utime(victim, (0, 0))
    assert demo_store.write(tmp_path / "store") == count
    again = {path: path.stat() for path in (tmp_path / "store").rglob("*.json")}
    assert {path: stat.st_mtime_ns for path, stat in again.items()} == {
        path: stat.st_mtime_ns for path, stat in written.items()
    }
    assert {path for path in again if again[path].st_ino != written[path].st_ino} == set()


def test_a_demo_writes_only_where_nothing_or_a_demo_is(tmp_path: Path) -> None:
    absent, empty, own, other = (tmp_path / name for name in ("absent", "empty", "own", "other"))
    empty.mkdir()
    demo_store.mark(own)
    other.mkdir()
    (other / "real.json").write_text("{}", encoding="utf-8")
    for folder in (absent, empty, own):
        assert demo_store.own_folder(str(folder), "artifacts") == folder
    with pytest.raises(UsageError, match="not a demo's; set SCOREHOUSE_ARTIFACTS"):
        demo_store.own_folder(str(other), "artifacts")
    with pytest.raises(UsageError, match="local folders only"):
        demo_store.own_folder("s3://bucket/artifacts", "artifacts")
    with pytest.raises(UsageError, match="is no folder"):
        demo_store.own_folder(str(other / "real.json"), "tables")
    assert not absent.exists()
