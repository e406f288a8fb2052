"""`scorehouse ui`: Dagster's web interface and daemon on this workspace.

Here: starting them, also where only the installed package is there. Not here: what they show (`pipelines.definitions`).
"""

import os
import sys
from pathlib import Path
from typing import Annotated

import typer

from pipelines.cli.options import verb
from pipelines.cli.output import say
from pipelines.instance import instance_in
from pipelines.settings import child_environment, load

WORKSPACE = """load_from:
  - python_module:
      module_name: pipelines.definitions
      location_name: scorehouse
"""

# Dagster's own preference for a tool that is not installed here; nothing that a user could act on.
UNSAID = "ignore:Function `dev_command` is superseded"

app = verb()


@app.command()
def ui(
    port: Annotated[int, typer.Option(min=1, max=65535, help="Port of the web interface.")] = 3000,
    host: Annotated[str, typer.Option(help="Address to listen on.")] = "127.0.0.1",
) -> None:
    """Start Dagster's web interface and daemon on this workspace; Ctrl-C ends both."""
    settings = load()
    with instance_in(settings.dagster_home):
        pass  # made on first use, without telemetry
    workspace = write_workspace(settings.dagster_home)
    say(f"http://{host}:{port} (Dagster home {settings.dagster_home})", stderr=True)
    command = [sys.executable, "-m", "dagster", "dev", "-w", str(workspace), "-h", host, "-p", str(port)]
    environment = child_environment(settings)
    environment["PYTHONWARNINGS"] = ",".join(filter(None, [environment.get("PYTHONWARNINGS"), UNSAID]))
    os.execve(sys.executable, command, environment)  # noqa: S606 - our own interpreter, no shell


def write_workspace(home: Path) -> Path:
    """A workspace file that works without a checkout."""
    path = home / "workspace.yaml"
    path.write_text(WORKSPACE, encoding="utf-8")
    return path
