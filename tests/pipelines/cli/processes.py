"""`scorehouse` as a process of its own, from the checkout."""

import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[3]


def environment(**variables: str) -> dict[str, str]:
    """Nothing but what a process needs."""
    return {"PATH": os.environ["PATH"], "PYTHONPATH": str(ROOT), **variables}


def command(*arguments: str) -> list[str]:
    """The command line."""
    return [sys.executable, "-m", "pipelines.cli.main", *arguments]


def process(*arguments: str, cwd: Path, **variables: str) -> subprocess.CompletedProcess[str]:
    """Run it to its end in `cwd`."""
    return subprocess.run(
        command(*arguments), cwd=cwd, env=environment(**variables), capture_output=True, text=True, check=False
    )
