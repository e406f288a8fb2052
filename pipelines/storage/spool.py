"""A spool: frames of a run wait here, in local files, until they are written to their tables.

Here: files in a temporary folder that goes with the run, written by any of its processes. Not here: anything that
outlives it.
"""

import shutil
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import Self

import polars as pl

from pipelines.storage.errors import StoreUnavailableError


@dataclass(frozen=True)
class Spool:
    """Parts of frames by name, as uncompressed Arrow files: writing is a copy, reading a memory map."""

    folder: Path = field(default_factory=lambda: Path(tempfile.mkdtemp(prefix="scorehouse-")))

    def write(self, name: str, part: str, frame: pl.DataFrame) -> None:
        """Keep a frame as one part of those of that name; one without rows leaves no file.

        Raises:
            StoreUnavailableError: the disk is full or fails.
        """
        if frame.is_empty():
            return
        try:
            frame.write_ipc(self.folder / f"{name}.{part}.arrow", compression="uncompressed")
        except OSError as error:
            told = f"{self.folder}: cannot hold what waits for the tables: {error.strerror or error}"
            raise StoreUnavailableError(f"{told}; free space there or set TMPDIR") from None

    def scan(self, name: str, schema: Mapping[str, pl.DataType]) -> pl.LazyFrame:
        """All parts of that name in their order; an empty frame of `schema` where there is none."""
        files = sorted(self.folder.glob(f"{name}.*.arrow"))
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
