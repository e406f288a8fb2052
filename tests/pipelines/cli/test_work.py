"""Long work as a person or a nightly job starts it: its log, its failure, and who is told."""

import json
import os
import signal
import subprocess
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from pipelines.cli import demo_store
from tests.pipelines.cli.processes import command, environment, process
from tests.pipelines.cli.warehouse import Scorehouse
from tests.pipelines.hooks import TOKEN, hook

LOGGED = {"SCOREHOUSE_LOG_FORMAT": "json"}


def lines(stderr: str) -> list[dict[str, Any]]:
    """Every line of stderr, each of which must be an event of the same run."""
    found = [json.loads(line) for line in stderr.splitlines()]
    assert len({told["run_id"] for told in found}) == 1
    assert all(set(told) >= {"ts", "level", "event"} for told in found)
    return found


@pytest.mark.slow
def test_a_run_is_logged_as_it_happens(tmp_path: Path) -> None:
    artifacts = tmp_path / ".scorehouse/artifacts"
    for file in [file for file in demo_store.files() if file.key.startswith("worldseq/2026-09-15/")][:4]:
        (artifacts / file.key).parent.mkdir(parents=True, exist_ok=True)
        (artifacts / file.key).write_bytes(file.content)
    (artifacts / "worldseq/2026-09-15/broken.json").write_bytes(b"{")
    result = process("run", "--json", cwd=tmp_path, **LOGGED)
    assert result.returncode == 0, result.stderr
    told = lines(result.stderr)
    assert [told[0]["event"], told[-1]["event"]] == ["run_started", "run_finished"]
    summary = json.loads(result.stdout)
    assert {name: told[-1][name] for name in summary} == summary
    assert [(one["job"], one["partitions"]) for one in told if one["event"] == "job_started"] == [
        ("landing", "2026-09-15"),
        ("landing", "2026-09-15"),  # to land, and to decode
        ("results", "2026-09-15|v1"),
    ]
    written = Counter(one["table"] for one in told if one["event"] == "table_written")
    assert written == dict.fromkeys(summary["tables"], 1)
    assert len(written) > 20
    [attempts] = [one for one in told if one.get("table") == "attempts" and one["event"] == "table_written"]
    assert attempts["rows"] == summary["attempts"]
    assert attempts["partitions"] == "2026-09-15"
    assert {"bytes", "seconds", "version", "dagster_run_id"} <= set(attempts)
    [landed] = [one for one in told if one.get("table") == "raw_artifacts" and one["event"] == "table_written"]
    assert landed["fetched"] == summary["fetched"]
    assert landed["lag_seconds"] > 0
    [quarantined] = [one for one in told if one["event"] == "documents_quarantined"]
    assert (quarantined["stage"], quarantined["reason"], quarantined["documents"]) == ("decode", "not_json", 1)
    failed = [(one["table"], one["check"], one["level"]) for one in told if one["event"] == "check_failed"]
    assert failed == [(one["table"], one["check"], "warning") for one in summary["warnings"]]
    assert ("quarantine", "quarantine_rate", "warning") in failed


def test_a_failed_run_is_told_and_the_address_is_nowhere(scorehouse: Scorehouse, home: Path) -> None:
    with hook() as listening:
        (home / "scorehouse.toml").write_text(f'webhook = "{listening.url}"')
        result = scorehouse("run", "--from", "2026-09-14", "--debug")
    assert result.exit_code == 2
    *_, line = result.stderr.splitlines()
    assert line.startswith(f"scorehouse: {home}/.scorehouse/artifacts")
    [told] = listening.bodies
    assert (told["verb"], told["partitions"], told["status"]) == ("run", "2026-09-14...", "failed")
    assert told["error"] == line.removeprefix("scorehouse: ")
    assert TOKEN not in result.output + json.dumps(told)


@pytest.mark.parametrize("logged", [False, True])
def test_what_cannot_be_delivered_is_one_more_line(
    scorehouse: Scorehouse, monkeypatch: pytest.MonkeyPatch, logged: bool
) -> None:
    if logged:
        monkeypatch.setenv("SCOREHOUSE_LOG_FORMAT", "json")
    with hook([404]) as listening:
        monkeypatch.setenv("SCOREHOUSE_WEBHOOK", listening.url)
        result = scorehouse("run")
    assert (result.exit_code, result.stdout) == (2, "")
    assert TOKEN not in result.stderr
    if logged:
        started, failed, undelivered = lines(result.stderr)
        assert (started["event"], failed["event"], failed["status"]) == ("run_started", "run_failed", 2)
        assert (undelivered["event"], undelivered["reason"]) == ("webhook_failed", "it answered 404")
    else:
        undelivered, line = result.stderr.splitlines()
        assert undelivered == "scorehouse: the webhook could not be told of the failure: it answered 404"
        assert line.startswith("scorehouse: /")


@pytest.mark.parametrize(
    "arguments",
    [
        ["run", "--from", "yesterday"],
        ["run", "--rules", "v99"],
        ["compare", "--rules", "v99"],
        ["compare", "unknown"],
        ["rules", "show", "v99"],
    ],
)
def test_wrong_usage_is_told_to_nobody(
    scorehouse: Scorehouse, monkeypatch: pytest.MonkeyPatch, arguments: list[str]
) -> None:
    with hook() as listening:
        monkeypatch.setenv("SCOREHOUSE_WEBHOOK", listening.url)
        result = scorehouse(*arguments)
    assert result.exit_code == 2
    assert listening.bodies == []


def test_a_wrong_configuration_is_told(scorehouse: Scorehouse, monkeypatch: pytest.MonkeyPatch, home: Path) -> None:
    with hook() as listening:
        monkeypatch.setenv("SCOREHOUSE_WEBHOOK", listening.url)
        monkeypatch.setenv("SCOREHOUSE_RULESETS", "absent")
        result = scorehouse("run")
    assert result.exit_code == 2
    assert [told["error"] for told in listening.bodies] == [f"{home}/absent: no such directory of rule sets"]


@pytest.mark.slow
def test_an_interrupted_run_is_logged_and_told_to_nobody(tmp_path: Path) -> None:
    (tmp_path / ".scorehouse/artifacts/worldseq/2026-09-15").mkdir(parents=True)
    with hook() as listening:
        given = environment(SCOREHOUSE_WEBHOOK=listening.url, **LOGGED)
        with subprocess.Popen(
            command("run"), cwd=tmp_path, env=given, stderr=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        ) as running:
            assert running.stderr is not None
            first = running.stderr.readline()
            os.kill(running.pid, signal.SIGINT)
            rest = running.stderr.read()
    assert running.returncode == 130
    assert [told["event"] for told in lines(first + rest)][-1] == "run_interrupted"
    assert listening.bodies == []
