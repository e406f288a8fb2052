"""Objects in a local folder: `os.scandir` and plain reads, since fsspec costs several times as much per small file.

Here: walking without following links, and reading. Not here: retries (a disk that fails now fails again).
"""

import errno
import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from pipelines.storage.objects import Fetched, Level, ObjectInfo, microseconds, too_large

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

    def level(self, prefix: str) -> Level:
        """Folders and regular files directly below `prefix`; links are left out."""
        folders: list[str] = []
        objects = list(self._files(f"{prefix}/" if prefix else "", folders)) if self._is_folder(prefix) else []
        return Level([folder.rstrip("/").rpartition("/")[2] for folder in folders], objects)

    def listed(self, prefix: str) -> list[ObjectInfo]:
        """Every regular file below `prefix`; links are not followed, neither to files nor to folders."""
        if not self._is_folder(prefix):
            return []
        pending = [f"{prefix}/" if prefix else ""]
        found: list[ObjectInfo] = []
        while pending:
            found += self._files(pending.pop(), pending)
        return found

    def fetched(self, objects: Sequence[ObjectInfo], limit_bytes: int | None) -> list[Fetched]:
        """The files' bytes; where one is gone, the root must still be there."""
        outcomes = [self._read(info, limit_bytes) for info in objects]
        if any(outcome.reason == "vanished" for outcome in outcomes):
            self.check()
        return outcomes

    def _is_folder(self, prefix: str) -> bool:
        """Whether `prefix` is a folder below the root that is reached without following a link; the root must exist."""
        self.check()
        path = Path(self.root)
        for step in prefix.split("/") if prefix else ():
            path /= step
            if step in ("", ".", "..") or path.is_symlink() or not path.is_dir():
                return False
        return True

    def _files(self, folder: str, folders: list[str]) -> Iterator[ObjectInfo]:
        """The files of one folder (a key that ends in "/", or "" for the root); its folders are added to `folders`."""
        try:
            entries = os.scandir(f"{self.root}/{folder}")
        except FileNotFoundError:
            return  # removed since its parent was read
        url = f"file://{self.root}/"
        with entries:
            for entry in entries:
                key = folder + entry.name
                if entry.is_dir(follow_symlinks=False):
                    folders.append(f"{key}/")
                elif entry.is_file(follow_symlinks=False):
                    try:
                        status = entry.stat(follow_symlinks=False)
                    except FileNotFoundError:
                        continue
                    if not (key.isascii() or _is_utf8(key)):
                        # Backslashes are doubled, and no listed key begins with "./": no two files share a uri.
                        key = os.fsencode(key).replace(b"\\", b"\\\\").decode("utf-8", "backslashreplace")
                        uri, utf8 = f"{url}./{key}", False
                    else:
                        uri, utf8 = url + key, True
                    modified, size = status.st_mtime_ns, status.st_size
                    # The inode tells apart a file that was replaced by one of the same size and time.
                    etag = f"{modified:x}-{size:x}-{status.st_ino:x}"
                    yield ObjectInfo(uri, key, etag, size, microseconds(modified), utf8)

    def _read(self, info: ObjectInfo, limit_bytes: int | None) -> Fetched:
        try:
            descriptor = os.open(f"{self.root}/{info.key}", READ_FLAGS)
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
    return Fetched(uri, None, "forbidden" if error.errno == errno.EACCES else "unreadable", detail)


def _is_utf8(name: str) -> bool:
    try:
        name.encode()
    except UnicodeEncodeError:
        return False
    return True
