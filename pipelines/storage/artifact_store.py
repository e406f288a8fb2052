"""The artifact store: what is there, and its bytes. It never writes.

Here: listing and fetching over a local folder, `s3://` and `memory://`, with bounded concurrency, retries and one kind
of error. Not here: what an artifact means, which objects are wanted, and what to do with one that could not be had
(landing).
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from operator import attrgetter
from pathlib import Path
from urllib.parse import urlsplit

import fsspec

from pipelines.storage.failures import explaining
from pipelines.storage.local_objects import LocalObjects
from pipelines.storage.objects import FailureReason, Fetched, Level, ObjectInfo, Objects, microseconds, too_large
from pipelines.storage.options import StoreOptions, scheme
from pipelines.storage.retries import ATTEMPTS
from pipelines.storage.s3_objects import S3Objects

__all__ = ["ArtifactStore", "FailureReason", "Fetched", "Level", "ObjectInfo"]


@dataclass(frozen=True)
class ArtifactStore:
    """A read-only view of the objects below `url`."""

    url: str
    options: StoreOptions = field(default_factory=StoreOptions)
    concurrency: int = 64  # requests under way at once (S3)
    attempts: int = ATTEMPTS  # tries per request before a transient failure counts (S3)

    def check(self) -> None:
        """Prove that the root exists and may be listed.

        Raises:
            StoreConfigurationError: bad credentials, a missing bucket or folder.
            StoreUnavailableError: the store does not answer.
        """
        with explaining(f"{self.url}: cannot list", self.options):
            self._objects.check()

    def list_level(self, prefix: str = "") -> Level:
        """The folders and objects directly below `prefix` ("" is the root); links are left out.

        Raises:
            StoreError: as `list_objects`.
        """
        with explaining(f"{self.url}: cannot list", self.options):
            found = self._objects.level(prefix.removesuffix("/"))
        return Level(sorted(found.folders), sorted(found.objects, key=attrgetter("key")))

    def list_objects(self, prefix: str = "") -> list[ObjectInfo]:
        """Every object below the folder `prefix` ("" is the root), sorted by key; local links are not followed.

        An absent prefix below an existing root is empty. A failed listing raises, it is never an empty one.

        Raises:
            StoreConfigurationError: bad credentials, a missing bucket or root folder.
            StoreUnavailableError: the store does not answer, or keeps failing.
        """
        with explaining(f"{self.url}: cannot list", self.options):
            found = self._objects.listed(prefix.removesuffix("/"))
        found.sort(key=attrgetter("key"))
        return found

    def fetch(self, objects: Sequence[ObjectInfo], limit_bytes: int | None = None) -> list[Fetched]:
        """The bytes of `objects`, in their order; the caller bounds memory by what it asks for at once.

        Transient failures are retried with exponential back-off and jitter. What concerns one object only is a reason:
        `vanished`, `forbidden`, `unreadable`, `too_large` (more than `limit_bytes`). An object that changed since the
        listing comes as it is now.

        Raises:
            StoreConfigurationError: the credentials are refused altogether, or the bucket or root is gone.
            StoreUnavailableError: a transient failure outlived the retries.
        """
        with explaining(f"{self.url}: cannot fetch", self.options):
            return self._objects.fetched(objects, limit_bytes)

    @cached_property
    def _objects(self) -> Objects:
        kind = scheme(self.url)
        if kind == "s3":
            parts = urlsplit(self.url, allow_fragments=False)
            return S3Objects(parts.netloc, parts.path.strip("/"), self.options, self.concurrency, self.attempts)
        if kind == "memory":
            return MemoryObjects("/" + self.url.removeprefix("memory://").strip("/"))
        return LocalObjects(str(Path(self.url.removeprefix("file://")).absolute()))


@dataclass(frozen=True)
class MemoryObjects:
    """The objects of fsspec's in-process file system below `root`, for tests."""

    root: str

    def check(self) -> None:
        """Raise FileNotFoundError unless the root exists."""
        if not fsspec.filesystem("memory").isdir(self.root):
            raise FileNotFoundError(2, "No such folder", self.root)

    def level(self, prefix: str) -> Level:
        """What stands directly below the folder `prefix`."""
        below = len(prefix) + 1 if prefix else 0
        found = self.listed(prefix)
        folders = {info.key[below:].split("/")[0] for info in found if "/" in info.key[below:]}
        return Level(list(folders), [info for info in found if "/" not in info.key[below:]])

    def listed(self, prefix: str) -> list[ObjectInfo]:
        """Every object below the folder `prefix`."""
        self.check()
        entries = fsspec.filesystem("memory").find(f"{self.root}/{prefix}", detail=True).values()
        return [self._info(entry) for entry in entries]

    def fetched(self, objects: Sequence[ObjectInfo], limit_bytes: int | None) -> list[Fetched]:
        """The objects' bytes."""
        return [self._read(info, limit_bytes) for info in objects]

    def _info(self, entry: dict[str, object]) -> ObjectInfo:
        name, size, created = str(entry["name"]), int(str(entry["size"])), float(str(entry["created"]))
        key = name.removeprefix(f"{self.root}/")
        modified = microseconds(round(created * 1e6) * 1000)
        return ObjectInfo(f"memory:/{self.root}/{key}", key, f"{created!r}-{size}", size, modified)

    def _read(self, info: ObjectInfo, limit_bytes: int | None) -> Fetched:
        try:
            content: bytes = fsspec.filesystem("memory").cat_file(f"{self.root}/{info.key}")
        except FileNotFoundError:
            return Fetched(info.uri, None, "vanished", "No such object")
        if limit_bytes is not None and len(content) > limit_bytes:
            return too_large(info.uri, len(content), limit_bytes)
        return Fetched(info.uri, content)
