"""What the artifact store speaks of: objects as listed, objects as fetched, and why one could not be had.

Here: the values that the stores of each kind return. Not here: how they are had (`local_objects`, `s3_objects`,
`artifact_store`).
"""

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import Literal, NamedTuple, Protocol

FailureReason = Literal["vanished", "forbidden", "unreadable", "too_large"]

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
EARLIEST_US, LATEST_US = -62_135_596_800_000_000, 253_402_300_799_999_999  # the years 1 to 9999


class ObjectInfo(NamedTuple):
    """One object as the listing shows it."""

    uri: str  # URL of the store + key; where the key had to be escaped, "./" stands between them
    key: str  # path below the root with "/"; bytes of a local name that are not UTF-8 are escaped as `\\xff`
    etag: str  # changes whenever the content does
    size_bytes: int
    modified_us: int  # microseconds since 1970, UTC
    utf8: bool = True  # false where the key had to be escaped; such an object cannot be fetched

    @property
    def last_modified(self) -> datetime:
        """When it was last modified, UTC."""
        return EPOCH + timedelta(microseconds=self.modified_us)


class Fetched(NamedTuple):
    """The bytes of one object, or why they could not be had (`reason` and `detail`, `content` null)."""

    uri: str
    content: bytes | None
    reason: FailureReason | None = None
    detail: str | None = None


class Level(NamedTuple):
    """What stands directly below a folder."""

    folders: list[str]  # names, sorted, with surrogate escapes; links are left out
    objects: list[ObjectInfo]  # sorted by key


class Objects(Protocol):
    """A store of one kind, below one root. Errors are the library's own; `ArtifactStore` explains them."""

    def check(self) -> None:
        """Raise unless the root exists and may be listed."""

    def level(self, prefix: str) -> Level:
        """What stands directly below the folder `prefix`, in any order."""

    def listed(self, prefix: str) -> list[ObjectInfo]:
        """Every object below the folder `prefix`."""

    def fetched(self, objects: Sequence[ObjectInfo], limit_bytes: int | None) -> list[Fetched]:
        """The bytes of `objects`, in their order."""


def microseconds(nanoseconds: int) -> int:
    """A count of nanoseconds since 1970 in microseconds, no further than a datetime reaches."""
    return min(max(nanoseconds // 1000, EARLIEST_US), LATEST_US)


def too_large(uri: str, size_bytes: int, limit_bytes: int) -> Fetched:
    """The outcome for an object above the limit; `size_bytes` is what is known of it."""
    return Fetched(uri, None, "too_large", f"{size_bytes} bytes or more, the limit is {limit_bytes}")
