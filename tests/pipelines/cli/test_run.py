"""The demo and the run as a person starts them: real processes, one store."""

import json
from pathlib import Path
from typing import Any

import pytest

from assets.vocabulary import CLASSES
from pipelines.cli import demo_store
from tests.pipelines.cli.processes import process


@pytest.fixture(scope="module")
def demo(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str]:
    """A folder with a finished demo, and what it printed."""
    folder = tmp_path_factory.mktemp("demo")
    result = process("demo", cwd=folder)
    assert result.returncode == 0, result.stderr
    return folder, result.stdout


def ask(folder: Path, query: str) -> list[dict[str, Any]]:
    result = process("sql", query, "--format", "json", cwd=folder)
    assert result.returncode == 0, result.stderr
    return json.loads(result.stdout)  # type: ignore[no-any-return]


@pytest.mark.slow
def test_the_demo_tells_what_came_out(demo: tuple[Path, str]) -> None:
    folder, told = demo
    for expected in (
        f"{len(demo_store.files())} objects listed",
        "Quarantined",
        "truncated.json",
        *(name for name in CLASSES if name != "missing"),
        "cash_floor",
        "worldseq:att-optimist",
        "scorehouse sql",
    ):
        assert expected in told
    counts = {
        row["class"]: row["n"] for row in ask(folder, "SELECT class, count(*) AS n FROM verifications GROUP BY ALL")
    }
    assert set(counts) == set(CLASSES) - {"missing"}


@pytest.mark.slow
def test_every_suggestion_works(demo: tuple[Path, str]) -> None:
    folder, _ = demo
    queries = [line for line in demo[1].splitlines() if line.startswith('  scorehouse sql "')]
    assert len(queries) >= 3
    for line in queries:
        result = process("sql", line.partition('"')[2].rstrip('"'), cwd=folder)
        assert (result.returncode, len(result.stdout.splitlines()) > 1) == (0, True), line
    assert process("quarantine", "show", "broken/truncated.json", cwd=folder).returncode == 0


@pytest.mark.slow
def test_upstream_and_evidence_differ_only_where_the_store_says_so(demo: tuple[Path, str]) -> None:
    query = "SELECT DISTINCT attempt_id FROM reconciliation WHERE NOT agrees ORDER BY ALL"
    assert [row["attempt_id"] for row in ask(demo[0], query)] == ["worldseq:att-optimist", "worldseq:att-unknown-kind"]


@pytest.mark.slow
def test_a_run_fetches_what_is_new(tmp_path: Path) -> None:
    first, *others = [file for file in demo_store.files() if "/cmp-pricing" in file.key][:4]
    artifacts = tmp_path / ".scorehouse/artifacts"
    for file in others:
        (artifacts / file.key).parent.mkdir(parents=True, exist_ok=True)
        (artifacts / file.key).write_bytes(file.content)
    result = process("run", "--json", cwd=tmp_path)
    assert result.returncode == 0, result.stderr
    summary = json.loads(result.stdout)
    assert (summary["listed"], summary["fetched"], summary["attempts"]) == (3, 3, 3)

    (artifacts / first.key).write_bytes(first.content)
    (artifacts / others[0].key).unlink()
    (artifacts / others[1].key).write_bytes(b"{")
    day = first.key.split("/")[1]
    result = process("run", "--from", day, "--to", day, "--rules", "v1", "--source", "worldseq", "--json", cwd=tmp_path)
    assert result.returncode == 0, result.stderr
    summary = json.loads(result.stdout)
    assert (summary["days"], summary["rules"]) == ([day], ["v1"])
    assert (summary["fetched"], summary["unchanged"], summary["vanished"]) == (2, 1, 1)
    assert summary["quarantined"] == [{"stage": "decode", "reason": "not_json", "documents": 1}]
    assert sum(summary["classes"]["v1"].values()) == summary["attempts"]


@pytest.mark.slow
def test_a_demo_leaves_other_stores_alone(tmp_path: Path) -> None:
    store = tmp_path / ".scorehouse/artifacts"
    store.mkdir(parents=True)
    (store / "mine.json").write_text("{}", encoding="utf-8")
    result = process("demo", cwd=tmp_path)
    assert result.returncode == 2
    assert "not a demo's" in result.stderr
    assert {path.name for path in (tmp_path / ".scorehouse").rglob("*")} == {"artifacts", "mine.json"}


@pytest.mark.slow
def test_an_absent_store_is_one_line(tmp_path: Path) -> None:
    result = process("run", cwd=tmp_path)
    assert (result.returncode, result.stdout) == (2, "")
    assert result.stderr.startswith(f"scorehouse: {tmp_path}/.scorehouse/artifacts")
    assert result.stderr.count("\n") == 1
