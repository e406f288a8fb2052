"""The example store: the same bytes everywhere, all sources and shapes, every class, and files that break."""

import hashlib
import json
import os
from pathlib import Path
from typing import Any

import pytest

from assets.sources.registry import patterns
from assets.vocabulary import CLASSES, FOLDERS, OUTCOMES
from pipelines.cli import demo_files, demo_store
from pipelines.cli.demo_attempts import COMPANIES, TASKS, contract, primary_value
from pipelines.cli.demo_files import StoredFile
from pipelines.cli.demo_plots import PLOTS
from pipelines.cli.output import UsageError


@pytest.fixture(scope="module")
def files() -> list[StoredFile]:
    return demo_store.files(seed=1)


def below(files: list[StoredFile], folder: str, ends: str = ".json") -> dict[str, Any]:
    """The documents of a folder by key, without the broken ones."""
    return {
        file.key: json.loads(file.content.removeprefix(b"\xef\xbb\xbf"))
        for file in files
        if file.key.startswith(f"{folder}/") and file.key.endswith(ends) and "/broken/" not in file.key
    }


def test_the_bytes_follow_from_the_seed_alone(files: list[StoredFile]) -> None:
    assert demo_store.files(seed=1) == files
    assert demo_store.files(seed=2) != files
    digest = hashlib.sha256(b"".join(file.key.encode() + b"\0" + file.content for file in files)).hexdigest()
    assert digest == "dbfa0f56a6fb6d04ec8f7016a561b868d3d2484b84396ceee30664d2a2b6c927"


def test_every_source_has_its_folder(files: list[StoredFile]) -> None:
    assert {file.key.split("/")[0] for file in files} == set(FOLDERS)
    assert len({file.key for file in files}) == len(files)


def test_its_attempts_are_varied(files: list[StoredFile]) -> None:
    found = [*below(files, "worldseq").values()]
    assert sum("format" in document for document in found) > 100
    assert sum("verification" in document and "format" not in document for document in found) > 5
    assert sum("reward" in document and "finalization" in document for document in found) > 5
    assert sum("cases" in document for document in found) == len(demo_files.DAYS)
    full = [document for document in found if "format" in document]
    for name in ("campaignId", "armId", "familyId", "companyId", "taskId", "scenarioId"):
        assert len({document["attempt"][name] for document in full}) > 1
    assert len({primary_value(document) for document in full if "trajectory" in document}) > 50
    assert sum("/broken/" in file.key for file in files) > 10


def test_most_of_the_bytes_of_its_jobs_are_never_read(files: list[StoredFile]) -> None:
    ends = next(pattern.reads for pattern in patterns({}, ["harbor"]))
    sizes = {file.key: len(file.content) for file in files if file.key.startswith("harbor/")}
    unread = {key: size for key, size in sizes.items() if not key.endswith(ends)}
    assert {key.rpartition("/")[2] for key in unread} == {"trajectory.json", "terminal.log"}
    assert sum(unread.values()) > 0.9 * sum(sizes.values())


def test_its_jobs_hold_what_goes_wrong_in_jobs(files: list[StoredFile]) -> None:
    found = below(files, "harbor", "/result.json")
    trials = {key: document for key, document in found.items() if "task_name" in document}
    registered = {key: document["n_total_trials"] for key, document in found.items() if "task_name" not in document}
    lost = {
        key.split("/")[2]: count - sum(trial.rsplit("/", 2)[0] == key.rpartition("/")[0] for trial in trials)
        for key, count in registered.items()
    }
    assert {job: count for job, count in lost.items() if count} == {"mini-small": 1}
    assert (
        len(trials) - len({document["id"] for document in trials.values()})
        == registered["harbor/2026-09-14/oracle/result.json"]
    )
    thrown = {
        document["exception_info"] and document["exception_info"]["exception_type"] for document in trials.values()
    }
    assert {"AgentTimeoutError", "EnvironmentStartTimeoutError"} < thrown
    only_in_a_step = [
        step
        for document in trials.values()
        if document["exception_info"] is None
        for step in document["step_results"] or []
        if step["exception_info"]
    ]
    assert len(only_in_a_step) == 2
    assert {
        len(document["verifier_result"]["rewards"]) for document in trials.values() if document["verifier_result"]
    } == {1, 2, 3}


def test_its_packs_and_trials_hold_what_goes_wrong_in_them(files: list[StoredFile]) -> None:
    weights = {
        document["packKey"]: sum(stage["weight"] for stage in document["stages"] if stage["hidden"])
        for document in below(files, "agentforge-packs").values()
    }
    trials = [trial for trial in below(files, "agentforge").values() if "trialId" in trial]
    assert {key: round(total, 9) for key, total in weights.items()} == {
        "checkout-eu": 1,
        "refunds": 1.1,
        "stock-count": 1,
    }
    assert {trial["status"] for trial in trials} == set(OUTCOMES)
    assert {trial["configuration"]["packKey"] for trial in trials} - set(weights) == {"vendors"}
    assert max(value for trial in trials for value in trial["metrics"].values()) > 1


def test_its_runs_hold_what_goes_wrong_in_runs(files: list[StoredFile]) -> None:
    runs = below(files, "agentcompass")
    results = {
        key: document for key, document in runs.items() if key.endswith("/result.json") and "/retries/" not in key
    }
    named = sum(len(document["attempts"]) for key, document in runs.items() if key.endswith("/task.json"))
    assert named - len(results) == 1
    assert {document["status"] for document in results.values()} == {"completed", "run_error", "eval_error", "skipped"}
    assert {issue["severity"] for document in results.values() for issue in document["issues"]} == {"error", "fatal"}
    contradictory = [task for task in runs.values() if task.get("correct") and task["error"]]
    assert [task["task_id"] for task in contradictory] == ["q-7"]
    lines = next(file.content for file in files if file.key.endswith(".jsonl")).split(b"\n")
    assert [json.loads(line)["task_id"] for line in lines[:-1]] == [f"q-{number}" for number in range(1, len(lines))]
    with pytest.raises(json.JSONDecodeError):
        json.loads(lines[-1])


def test_its_plots_lead_to_every_class_that_an_artifact_can_have() -> None:
    assert {plot.verdict for plot in PLOTS.values()} == set(CLASSES) - {"missing"}


def test_a_task_contract_is_the_same_for_every_attempt_of_a_company() -> None:
    for task in TASKS:
        for company in COMPANIES:
            assert contract(task, company) == contract(task, company)


def test_writing_again_touches_nothing(tmp_path: Path) -> None:
    def written() -> dict[str, os.stat_result]:
        paths = [path for path in tmp_path.rglob("*") if path.is_file() and path.name != demo_store.MARKER]
        return {path.relative_to(tmp_path).as_posix(): path.stat() for path in paths}

    count = demo_store.write(tmp_path)
    first = written()
    modified = {file.key: file.modified.timestamp() for file in demo_store.files()}
    assert {key: stat.st_mtime for key, stat in first.items()} == modified
    assert count == len(first)
    victim = tmp_path / demo_store.files()[0].key
    victim.write_bytes(b"changed")
    os.utime(victim, (0, 0))
    assert demo_store.write(tmp_path) == count
    again = written()
    assert {key: stat.st_mtime_ns for key, stat in again.items()} == {
        key: stat.st_mtime_ns for key, stat in first.items()
    }
    assert {key for key in again if again[key].st_ino != first[key].st_ino} == set()


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
