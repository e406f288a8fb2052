"""The files of a table's transaction log: which versions it has, from which of them it can be read, and since when.

Here: listing them. Not here: what stands in them (delta-rs reads that), and which ones go (`upkeep`).
"""

import datetime as dt
import re
from typing import NamedTuple, Self

from assets.contract import Contract
from pipelines.storage.artifact_store import ArtifactStore, ObjectInfo
from pipelines.storage.tables import Tables

LOG_FILE = re.compile(r"(?P<version>\d{20})\.(?P<kind>json|checkpoint\.parquet)")


class LogFiles(NamedTuple):
    """The files by version."""

    commits: dict[int, ObjectInfo]
    checkpoints: dict[int, ObjectInfo]

    @classmethod
    def of(cls, tables: Tables, contract: type[Contract]) -> Self:
        """Those of a table.

        Raises:
            StoreError: they cannot be listed.
        """
        found = cls({}, {})
        for info in ArtifactStore(f"{tables.uri(contract)}/_delta_log", tables.options).list_objects():
            if told := LOG_FILE.fullmatch(info.key):
                part = found.commits if told["kind"] == "json" else found.checkpoints
                part[int(told["version"])] = info
        return found

    @property
    def oldest(self) -> int:
        """The oldest version that can still be read."""
        return 0 if 0 in self.commits else min(self.checkpoints)

    def at(self, moment: dt.datetime) -> int:
        """The newest version at that moment; the oldest one where all are younger."""
        return max((v for v, info in self.commits.items() if info.last_modified <= moment), default=self.oldest)

    def first_kept(self, since: dt.datetime, noted: int) -> int:
        """The version to begin with for whoever goes back to `since`: of a checkpoint, or the oldest.

        The version `noted`, which stands for all earlier commits, is never before it.
        """
        fit = [v for v, info in self.checkpoints.items() if v <= noted and info.last_modified <= since]
        return max(fit, default=self.oldest)

    def before(self, version: int) -> list[ObjectInfo]:
        """The files of earlier versions, the oldest first: wherever a deletion ends, what is left can be read."""
        found = [(earlier, info) for part in self for earlier, info in part.items() if earlier < version]
        return [info for _, info in sorted(found, key=lambda one: one[0])]
