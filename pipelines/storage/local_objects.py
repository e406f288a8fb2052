"""Objects in a local folder: `os.scandir` and plain reads, since fsspec costs several times as much per small file.

Here: walking without following links, and reading. Not here: retries (a disk that fails now fails again).
"""

import errno
import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from pipelines.storage.objects import Fetched, ObjectInfo, from_nanoseconds, too_large

READ_FLAGS = os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK  # a pipe in a file's place must not block
CHUNK_BYTES = 2**20


@dataclass(frozen=True)
class LocalObjects:
    """The regular files below `root`, an absolute path."""

    root: str

    def check(self) -> None:
        """Raise OSError unless the root is a folder that may be listed."""
        with os.scandir(self.root):
            pass

    def folders(self, prefix: str) -> list[str]:
        """Names of the folders directly below `prefix`; links are left out."""
        if not self._is_folder(prefix):
            return []
        with os.scandir(self._path(prefix)) as entries:
            return [entry.name for entry in entries if entry.is_dir(follow_symlinks=False)]

    def listed(self, prefix: str) -> list[ObjectInfo]:
        """Every regular file below `prefix`; links are not followed, neither to files nor to folders."""
        if not self._is_folder(prefix):
            return []
        return list(self._walk(prefix))

    def fetched(self, objects: Sequence[ObjectInfo], limit_bytes: int | None) -> list[Fetched]:
        """The files' bytes; where one is gone, the root must still be there."""
        outcomes = [self._read(info, limit_bytes) for info in objects]
        if any(outcome.reason == "vanished" for outcome in outcomes):
            self.check()
        return outcomes

    def _path(self, key: str) -> str:
        return f"{self.root}/{key}" if key else self.root

    def _is_folder(self, prefix: str) -> bool:
        """Whether `prefix` is a folder below the root that is reached without following a link; the root must exist."""
        self.check()
        steps = prefix.split("/") if prefix else []
        for depth in range(1, len(steps) + 1):
            path = self._path("/".join(steps[:depth]))
            if os.path.islink(path) or not os.path.isdir(path):
                return False
        return True

    def _walk(self, prefix: str) -> Iterator[ObjectInfo]:
        pending = [f"{prefix}/" if prefix else ""]
        url = f"file://{self.root}/"
        while pending:
            folder = pending.pop()
            try:
                entries = os.scandir(f"{self.root}/{folder}")
            except FileNotFoundError:
                continue  # removed since its parent was read
            with entries:
                for entry in entries:
                    key = folder + entry.name
                    if entry.is_dir(follow_symlinks=False):
                        pending.append(f"{key}/")
                    elif entry.is_file(follow_symlinks=False):
                        try:
                            status = entry.stat(follow_symlinks=False)
                        except FileNotFoundError:
                            continue
                        modified, size = status.st_mtime_ns, status.st_size
                        # The inode tells apart a file that was replaced by one of the same size and time.
                        etag = f"{modified:x}-{size:x}-{status.st_ino:x}"
                        last_modified = from_nanoseconds(modified)
                        if key.isascii() or _is_utf8(key):
                            yield ObjectInfo(url + key, key, etag, size, last_modified)
                        else:
                            yield ObjectInfo(url + _escaped(key), key, etag, size, last_modified, utf8=False)

    def _read(self, info: ObjectInfo, limit_bytes: int | None) -> Fetched:
        try:
            descriptor = os.open(self._path(info.key), READ_FLAGS)
        except OSError as error:
            return _failed(info.uri, error)
        try:
            content = os.read(descriptor, min(info.size_bytes, limit_bytes or info.size_bytes) + 1)
            if len(content) != info.size_bytes:
                content = _read_on(descriptor, content, limit_bytes)
        except OSError as error:
            return _failed(info.uri, error)
        finally:
            os.close(descriptor)
        if limit_bytes is not None and len(content) > limit_bytes:
            return too_large(info.uri, max(len(content), info.size_bytes), limit_bytes)
        return Fetched(info.uri, content)


def _read_on(descriptor: int, content: bytes, limit_bytes: int | None) -> bytes:
    """The rest of a file that is not as long as it was listed, or that came in pieces; a little beyond the limit."""
    pieces, size = [content], len(content)
    while (limit_bytes is None or size <= limit_bytes) and (piece := os.read(descriptor, CHUNK_BYTES)):
        pieces.append(piece)
        size += len(piece)
    return b"".join(pieces)


def _failed(uri: str, error: OSError) -> Fetched:
    detail = error.strerror or type(error).__name__
    if isinstance(error, FileNotFoundError):
        return Fetched(uri, None, "vanished", detail)
    if error.errno == errno.EACCES:
        return Fetched(uri, None, "forbidden", detail)
    return Fetched(uri, None, "unreadable", detail)


def _is_utf8(name: str) -> bool:
    try:
        name.encode()
    except UnicodeEncodeError:
        return False
    return True


def _escaped(name: str) -> str:
    return os.fsencode(name).decode("utf-8", "backslashreplace")
