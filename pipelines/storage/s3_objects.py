"""Objects in an S3 bucket, through the client of s3fs and on its event loop.

Here: listing pages, many small downloads at once on one loop with a bounded number under way, and one upload or
download; each request is tried again by itself, where s3fs would give up at a first 5xx answer. Not here: credentials
and endpoints (`options`), and how often something is tried (`retries`).
"""

import asyncio
from collections.abc import AsyncIterator, Callable, Coroutine, Iterator, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Any, TypeVar

import fsspec
from botocore.exceptions import ClientError
from fsspec.asyn import sync

from pipelines.storage.failures import ADVICE, is_transient
from pipelines.storage.objects import EPOCH, Fetched, Level, ObjectInfo, too_large
from pipelines.storage.options import StoreOptions
from pipelines.storage.retries import retrying_async

VANISHED = ("NoSuchKey", "NoSuchVersion", "NotFound", "404")
FORBIDDEN = ("AccessDenied", "Forbidden", "403", "AllAccessDisabled")

T = TypeVar("T")


class TruncatedError(ConnectionError):
    """A body ended before its announced length."""


@dataclass(frozen=True)
class S3Objects:
    """The objects below `s3://bucket/folder` (`folder` may be empty)."""

    bucket: str
    folder: str
    options: StoreOptions
    concurrency: int
    attempts: int

    def check(self) -> None:
        """Raise unless the bucket exists and may be listed."""
        self._run(self._first_page)

    def level(self, prefix: str) -> Level:
        """What stands directly below the folder `prefix`."""
        return self._run(self._level, prefix)

    def listed(self, prefix: str) -> list[ObjectInfo]:
        """Every object below the folder `prefix`; folder markers (keys that end in "/") are none."""
        return self._run(self._listed, prefix)

    def fetched(self, objects: Sequence[ObjectInfo], limit_bytes: int | None) -> list[Fetched]:
        """The objects' bytes, `concurrency` requests at a time."""
        return self._run(self._fetched, objects, limit_bytes)

    @property
    def _filesystem(self) -> Any:
        return fsspec.filesystem("s3", **self.options.fsspec)  # fsspec caches the instance, and with it the connections

    def _run(self, call: Callable[..., Coroutine[Any, Any, T]], *arguments: Any) -> T:
        result: T = sync(self._filesystem.loop, call, *arguments)
        return result

    def _key(self, key: str) -> str:
        return f"{self.folder}/{key}" if self.folder else key

    def _below(self, prefix: str) -> str:
        """The S3 prefix of everything below a folder; "" for the whole bucket."""
        folder = self._key(prefix) if prefix else self.folder
        return f"{folder}/" if folder else ""

    async def _pages(self, **arguments: Any) -> AsyncIterator[dict[str, Any]]:
        client = await self._filesystem.set_session()
        while True:
            # Each page by itself: a long listing that began anew at every failure might never end.
            page: dict[str, Any] = await retrying_async(self.attempts)(self._page, client, **arguments)
            yield page
            if not page.get("IsTruncated"):
                return
            arguments["ContinuationToken"] = page["NextContinuationToken"]

    async def _page(self, client: Any, **arguments: Any) -> dict[str, Any]:
        page: dict[str, Any] = await client.list_objects_v2(Bucket=self.bucket, **arguments)
        return page

    async def _first_page(self) -> None:
        await anext(self._pages(Prefix=self._below(""), MaxKeys=1))

    async def _level(self, prefix: str) -> Level:
        below = self._below(prefix)
        level = Level([], [])
        async for page in self._pages(Prefix=below, Delimiter="/"):
            level.folders.extend(common["Prefix"][len(below) : -1] for common in page.get("CommonPrefixes", ()))
            level.objects.extend(self._objects(page))
        return level

    async def _listed(self, prefix: str) -> list[ObjectInfo]:
        return [info async for page in self._pages(Prefix=self._below(prefix)) for info in self._objects(page)]

    def _objects(self, page: dict[str, Any]) -> Iterator[ObjectInfo]:
        root = self._below("")
        for entry in page.get("Contents", ()):
            if not entry["Key"].endswith("/"):
                uri = f"s3://{self.bucket}/{entry['Key']}"
                etag, modified = entry["ETag"].strip('"'), (entry["LastModified"] - EPOCH) // timedelta(microseconds=1)
                yield ObjectInfo(uri, entry["Key"][len(root) :], etag, entry["Size"], modified)

    async def _fetched(self, objects: Sequence[ObjectInfo], limit_bytes: int | None) -> list[Fetched]:
        client = await self._filesystem.set_session()
        outcomes: list[Fetched | None] = [None] * len(objects)
        waiting = iter(enumerate(objects))

        async def work() -> None:
            for position, info in waiting:
                outcomes[position] = await self._fetch(client, info, limit_bytes)

        workers = [asyncio.ensure_future(work()) for _ in range(min(self.concurrency, len(objects)))]
        try:
            await asyncio.gather(*workers)
        finally:
            for worker in workers:
                worker.cancel()  # one that failed ends the others
        return [outcome for outcome in outcomes if outcome is not None]

    async def _fetch(self, client: Any, info: ObjectInfo, limit_bytes: int | None) -> Fetched:
        try:
            return await retrying_async(self.attempts)(self._get, client, info, limit_bytes)
        except ClientError as error:
            return _failed(info.uri, error)

    async def _get(self, client: Any, info: ObjectInfo, limit_bytes: int | None) -> Fetched:
        answer = await client.get_object(Bucket=self.bucket, Key=self._key(info.key))
        announced: int = answer["ContentLength"]
        async with answer["Body"] as body:
            if limit_bytes is not None and announced > limit_bytes:
                body.close()  # the connection too: the rest must not be read
                return too_large(info.uri, announced, limit_bytes)
            content: bytes = await body.read()
        unchanged = answer["ETag"].strip('"') == info.etag
        if len(content) != announced or (unchanged and len(content) != info.size_bytes):
            expected = info.size_bytes if unchanged else announced
            raise TruncatedError(f"{info.uri}: {len(content)} of {expected} bytes came")
        return Fetched(info.uri, content)


def put_object(uri: str, content: bytes, options: StoreOptions) -> None:
    """Store one object at `s3://bucket/key`, in one request."""

    async def put(client: Any, **place: str) -> None:
        await client.put_object(**place, Body=content)

    _one(uri, options, put)


def get_object(uri: str, options: StoreOptions) -> bytes:
    """The bytes of the object at `s3://bucket/key`.

    Raises:
        FileNotFoundError: there is no such object.
    """

    async def get(client: Any, **place: str) -> bytes:
        answer = await client.get_object(**place)
        async with answer["Body"] as body:
            content: bytes = await body.read()
        return content

    try:
        return _one(uri, options, get)
    except ClientError as error:
        if _code(error) in VANISHED:
            raise FileNotFoundError(uri) from None
        raise


def _one(uri: str, options: StoreOptions, request: Callable[..., Coroutine[Any, Any, T]]) -> T:
    bucket, _, key = uri.removeprefix("s3://").partition("/")
    filesystem = fsspec.filesystem("s3", **options.fsspec)

    async def asked() -> T:
        client = await filesystem.set_session()
        answer: T = await retrying_async()(request, client, Bucket=bucket, Key=key)
        return answer

    result: T = sync(filesystem.loop, asked)
    return result


def _code(error: ClientError) -> str:
    return str(error.response.get("Error", {}).get("Code", ""))


def _failed(uri: str, error: ClientError) -> Fetched:
    """What a refusal says about one object alone; a refusal that concerns the whole store is raised again."""
    code = _code(error)
    if code in VANISHED:
        return Fetched(uri, None, "vanished", code)
    if code in FORBIDDEN:
        return Fetched(uri, None, "forbidden", code)
    if code in ADVICE or is_transient(error):
        raise error
    return Fetched(uri, None, "unreadable", code)
