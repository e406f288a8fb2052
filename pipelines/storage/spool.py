"""A spool: frames of a run wait here, in local files, until they are written to their tables.

Here: files in a temporary folder that goes with the run. Not here: anything that outlives it.
"""

import shutil
import tempfile
from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import Self

import polars as pl


@dataclass
class Spool:
    """Frames by name, as uncompressed Arrow files: writing is a copy, reading a memory map."""

    folder: Path = field(default_factory=lambda: Path(tempfile.mkdtemp(prefix="scorehouse-")))
    _files: defaultdict[str, list[Path]] = field(default_factory=lambda: defaultdict(list))

    def write(self, name: str, frame: pl.DataFrame) -> None:
        """Append a frame to those of that name; one without rows leaves no file."""
        if frame.is_empty():
            return
        files = self._files[name]
        path = self.folder / f"{name}-{len(files):06d}.arrow"
        frame.write_ipc(path, compression="uncompressed")
        files.append(path)

    def scan(self, name: str, schema: Mapping[str, pl.DataType]) -> pl.LazyFrame:
        """All frames of that name in the order of writing; an empty one of `schema` where there is none."""
        files = self._files[name]
        return pl.scan_ipc(files) if files else pl.LazyFrame(schema=schema)

    def close(self) -> None:
        """Remove every file."""
        shutil.rmtree(self.folder, ignore_errors=True)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()
