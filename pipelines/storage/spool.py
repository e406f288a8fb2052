"""A spool: frames of a run wait here, in local files, until they are written to their tables.

Here: files in a temporary folder that goes with the run. Not here: anything that outlives it.
"""

import shutil
import tempfile
from collections import defaultdict, deque
from collections.abc import Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import Self

import polars as pl

FRAMES_AT_ONCE = 16
"""Frames that may wait for the disk before writing another one waits too."""


@dataclass
class Spool:
    """Frames by name, as uncompressed Arrow files: writing is a copy in the background, reading a memory map."""

    folder: Path = field(default_factory=lambda: Path(tempfile.mkdtemp(prefix="scorehouse-")))
    _files: defaultdict[str, list[Path]] = field(default_factory=lambda: defaultdict(list))
    _writer: ThreadPoolExecutor = field(default_factory=lambda: ThreadPoolExecutor(1, thread_name_prefix="spool"))
    _waiting: deque[Future[None]] = field(default_factory=deque)

    def write(self, name: str, frame: pl.DataFrame) -> None:
        """Append a frame to those of that name; one without rows leaves no file."""
        if frame.is_empty():
            return
        files = self._files[name]
        path = self.folder / f"{name}-{len(files):06d}.arrow"
        files.append(path)
        self._waiting.append(self._writer.submit(frame.write_ipc, path, compression="uncompressed"))
        while len(self._waiting) > FRAMES_AT_ONCE:
            self._waiting.popleft().result()

    def scan(self, name: str, schema: Mapping[str, pl.DataType]) -> pl.LazyFrame:
        """All frames of that name in the order of writing; an empty one of `schema` where there is none."""
        while self._waiting:
            self._waiting.popleft().result()
        files = self._files[name]
        return pl.scan_ipc(files) if files else pl.LazyFrame(schema=schema)

    def close(self) -> None:
        """Remove every file."""
        self._writer.shutdown(cancel_futures=True)
        shutil.rmtree(self.folder, ignore_errors=True)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()
