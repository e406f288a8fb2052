"""What the frameworks themselves take for the same work, in an interpreter that has them.

They need a newer Python than this project: `SCOREHOUSE_BENCH_PEER_PYTHON` names the interpreter to ask, the running one
otherwise. This file runs there by itself, and imports nothing of the project.
"""

import json
import os
import subprocess
import sys
import time
from collections import deque
from collections.abc import Callable
from importlib.metadata import version
from pathlib import Path
from typing import Any, NamedTuple

INTERPRETER = "SCOREHOUSE_BENCH_PEER_PYTHON"
REPEATS = 3


class Peer(NamedTuple):
    """Who did the work, and in how many seconds at best."""

    name: str
    seconds: float


def measured(kind: str, folder: Path) -> Peer | None:
    """The framework's time over the files of a folder; None where the interpreter does not have it."""
    interpreter = os.environ.get(INTERPRETER, sys.executable)
    # Safe path: the modules beside this file bear the frameworks' names.
    command = [interpreter, "-P", __file__, kind, str(folder)]
    told = subprocess.run(command, check=True, capture_output=True, text=True)
    found = json.loads(told.stdout.splitlines()[-1])
    return None if found is None else Peer(**found)


def _harbor(folder: Path) -> tuple[str, Callable[[], object]]:
    from harbor.models.trial.result import TrialResult  # type: ignore[import-not-found,unused-ignore] # noqa: PLC0415

    contents = [path.read_bytes() for path in sorted(folder.rglob("result.json"))]
    # Trials that are kept would be measured with the collector's walks over all of them.
    return "harbor", lambda: deque(map(TrialResult.model_validate_json, contents), maxlen=0)


def _agentcompass(folder: Path) -> tuple[str, Callable[[], object]]:
    from agentcompass.runtime.metrics import (  # type: ignore[import-not-found,unused-ignore] # noqa: PLC0415
        aggregate_metric_report,
        make_metric_contract,
    )

    run: dict[str, Any] = json.loads((folder / "run.json").read_bytes())
    contract = make_metric_contract(primary="correct", binary=("correct",))
    return "agentcompass", lambda: aggregate_metric_report(contract=contract, **run)


def _main() -> None:
    try:
        name, work = {"harbor": _harbor, "agentcompass": _agentcompass}[sys.argv[1]](Path(sys.argv[2]))
    except ImportError:
        sys.stdout.write("null\n")
        return
    seconds = []
    for _ in range(REPEATS):
        started = time.perf_counter()
        work()
        seconds.append(time.perf_counter() - started)
    sys.stdout.write(json.dumps({"name": f"{name} {version(name)}", "seconds": min(seconds)}) + "\n")


if __name__ == "__main__":
    _main()
