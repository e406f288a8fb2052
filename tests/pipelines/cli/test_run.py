"""The run as a person starts it: real processes, one store."""

import json
from pathlib import Path

import pytest

from pipelines.cli import demo_store
from tests.pipelines.cli.processes import process


@pytest.mark.slow
def test_a_run_fetches_what_is_new(tmp_path: Path) -> None:
    first, *others = [
        file for file in demo_store.files() if file.key.startswith("worldseq/") and "/cmp-pricing" in file.key
    ][:4]
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
def test_an_absent_store_is_one_line(tmp_path: Path) -> None:
    result = process("run", cwd=tmp_path)
    assert (result.returncode, result.stdout) == (2, "")
    assert result.stderr.startswith(f"scorehouse: {tmp_path}/.scorehouse/artifacts")
    assert result.stderr.count("\n") == 1
