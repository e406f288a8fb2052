"""Temporary folders that do not outlive what they are for: one of a process that was killed is removed by the next.

Here: making, holding and removing them. Not here: what is in them (`spool`, `pipelines.plan`).
"""

import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from filelock import FileLock, Timeout

PREFIX = "scorehouse-"
LOCK = ".held"
"""A file in each folder that is locked as long as it is in use: the system gives it up with the process."""
UNSEEN = ".made"
"""What that file is named until it is locked."""


@contextmanager
def scratch() -> Iterator[Path]:
    """A folder below TMPDIR that is gone afterwards."""
    _remove_abandoned()
    folder = Path(tempfile.mkdtemp(prefix=PREFIX))
    try:
        with FileLock(folder / UNSEEN):
            # Until it is locked nobody may find it: who locked it first would remove what is only being made.
            (folder / UNSEEN).rename(folder / LOCK)
            yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _remove_abandoned() -> None:
    """One without the file is being made or removed, or none of ours."""
    for lock in Path(tempfile.gettempdir()).glob(f"{PREFIX}*/{LOCK}"):
        with suppress(OSError, Timeout):
            if lock.stat().st_uid == os.getuid():
                with FileLock(lock, timeout=0):
                    shutil.rmtree(lock.parent, ignore_errors=True)
