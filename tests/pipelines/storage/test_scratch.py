"""Temporary folders go with what they are for, killed or not, and no other one goes."""

import os
import signal
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from pipelines.storage.scratch import LOCK, scratch

HOLD = """
import sys, time
from pipelines.storage.scratch import scratch
with scratch() as folder:
    (folder / "part.arrow").write_text("much")
    print(folder, flush=True)
    time.sleep(600)
"""


@pytest.fixture
def temporary(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setattr(tempfile, "tempdir", None)
    return tmp_path


def test_a_folder_is_gone_afterwards(temporary: Path) -> None:
    with scratch() as folder:
        (folder / "part").write_text("something")
        assert folder.parent == temporary
    assert list(temporary.iterdir()) == []


def test_a_folder_of_a_killed_process_is_removed_and_no_other_one(temporary: Path) -> None:
    others = [temporary / "scorehouse-of-an-earlier-version", temporary / "somebody-elses"]
    for other in others:
        other.mkdir()
    (others[1] / LOCK).write_text("")
    command = [sys.executable, "-c", HOLD]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=os.environ) as holder:
        assert holder.stdout is not None
        held = Path(holder.stdout.readline().strip())
        with scratch() as own, scratch() as beside:
            assert {path.name for path in temporary.iterdir()} == {one.name for one in (*others, held, own, beside)}
        assert (held / "part.arrow").read_text() == "much"
        holder.send_signal(signal.SIGKILL)
    assert held.is_dir()
    with scratch() as own:
        assert {path.name for path in temporary.iterdir()} == {one.name for one in (*others, own)}


def test_a_folder_that_is_being_made_is_not_removed_by_another_one(temporary: Path) -> None:
    def write(number: int) -> str:
        with scratch() as folder:
            (folder / "part").write_text(str(number))
            return (folder / "part").read_text()

    with ThreadPoolExecutor(4) as pool:
        assert list(pool.map(write, range(1000))) == [str(number) for number in range(1000)]
    assert list(temporary.iterdir()) == []
