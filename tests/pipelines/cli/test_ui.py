"""The web interface comes up on this workspace and goes away again."""

import json
import os
import signal
import socket
import subprocess
import time
import urllib.error
import urllib.request
from pathlib import Path

import pytest

import pipelines.cli.ui
from tests.pipelines.cli.processes import command, environment
from tests.pipelines.cli.warehouse import Scorehouse

READY_SECONDS = 120
LOCATIONS = "{ workspaceOrError { ... on Workspace { locationEntries { name loadStatus } } } }"


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def graphql(port: int, query: str) -> object:
    request = urllib.request.Request(
        f"http://127.0.0.1:{port}/graphql",
        data=json.dumps({"query": query}).encode(),
        headers={"Content-Type": "application/json"},
    )
    with urllib.request.urlopen(request, timeout=10) as response:  # noqa: S310 - our own server
        return json.load(response)["data"]


def test_it_starts_dagster_with_this_workspace(
    scorehouse: Scorehouse, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    started: list[tuple[list[str], dict[str, str]]] = []
    monkeypatch.setattr(pipelines.cli.ui.os, "execve", lambda _, args, env: started.append((args, env)))
    monkeypatch.setenv("SCOREHOUSE_TABLES", "elsewhere")
    result = scorehouse("ui", "--port", "4000", "--host", "0.0.0.0")  # noqa: S104 - an argument, nothing listens
    assert result.exit_code == 0, result.output
    [(arguments, variables)] = started
    dagster_home = home / ".scorehouse/dagster"
    assert arguments[1:] == ["-m", "dagster", "dev", "-w", str(dagster_home / "workspace.yaml"), *arguments[6:]]
    assert arguments[6:] == ["-h", "0.0.0.0", "-p", "4000"]  # noqa: S104 - likewise
    assert variables["DAGSTER_HOME"] == str(dagster_home)
    assert variables["SCOREHOUSE_TABLES"] == "elsewhere"


@pytest.mark.slow
def test_the_workspace_loads(tmp_path: Path) -> None:
    port = free_port()
    log = (tmp_path / "log").open("w", encoding="utf-8")
    with (
        log,
        subprocess.Popen(
            command("ui", "--port", str(port)),
            cwd=tmp_path,
            env=environment(),
            stdout=log,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        ) as running,
    ):
        try:
            deadline = time.monotonic() + READY_SECONDS
            while True:
                try:
                    found = graphql(port, LOCATIONS)
                    break
                except (urllib.error.URLError, ConnectionError):
                    assert running.poll() is None, (tmp_path / "log").read_text(encoding="utf-8")
                    assert time.monotonic() < deadline
                    time.sleep(0.2)
            assert found == {
                "workspaceOrError": {"locationEntries": [{"name": "scorehouse", "loadStatus": "LOADED"}]}
            }, (tmp_path / "log").read_text(encoding="utf-8")
            running.send_signal(signal.SIGINT)
            running.wait(60)
        finally:
            if running.poll() is None:
                os.killpg(running.pid, signal.SIGKILL)
