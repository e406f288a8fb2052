"""Dagster's instance of a run: made once, also by processes that start together."""

import subprocess
import sys
from pathlib import Path

from tests.pipelines.cli.processes import ROOT, environment

OPENERS = 6
OPEN = """
import sys
from pathlib import Path
from pipelines.instance import instance_in
sys.stdin.read()
with instance_in(Path(sys.argv[1])) as instance:
    instance.add_dynamic_partitions("some", [sys.argv[2]])
    print(instance.get_runs_count())
"""


def test_processes_that_start_together_make_one_storage(tmp_path: Path) -> None:
    waiting = [
        subprocess.Popen(
            [sys.executable, "-W", "ignore", "-c", OPEN, str(tmp_path / "dagster"), str(number)],
            cwd=ROOT,
            env=environment(),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        for number in range(OPENERS)
    ]
    for process in waiting:
        assert process.stdin
        process.stdin.close()
        process.stdin = None
    answers = [process.communicate() for process in waiting]
    assert [process.returncode for process in waiting] == [0] * OPENERS, answers
