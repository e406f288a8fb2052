"""A spool: frames of a run wait here, in local files, until they are written to their tables.

Here: files in a temporary folder that goes with the run, written by any of its processes. Not here: the folder
(`scratch`), and anything that outlives it.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import polars as pl

from pipelines.storage.errors import StoreUnavailableError


@dataclass(frozen=True)
class Spool:
    """Parts of frames by name, as uncompressed Arrow files: writing is a copy, reading a memory map."""

    folder: Path

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
