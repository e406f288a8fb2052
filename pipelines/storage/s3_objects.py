"""Objects in an S3 bucket, through the client of s3fs and on its event loop.

Here: listing pages, and many small downloads at once on one loop with a bounded number under way. Not here: credentials
and endpoints (`options`).
"""

import asyncio
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass
from datetime import UTC
from typing import Any

import fsspec
import tenacity
from botocore.exceptions import ClientError
from fsspec.asyn import sync

from pipelines.storage.failures import ADVICE, is_transient
from pipelines.storage.objects import Fetched, ObjectInfo, too_large
from pipelines.storage.options import StoreOptions

VANISHED = ("NoSuchKey", "NoSuchVersion", "NotFound", "404")
FORBIDDEN = ("AccessDenied", "Forbidden", "403", "AllAccessDisabled")


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
        self._run(self._first_page())

    def folders(self, prefix: str) -> list[str]:
        """Names of the folders directly below `prefix`."""
        return self._run(self._folders(prefix))

    def listed(self, prefix: str) -> list[ObjectInfo]:
        """Every object below the folder `prefix`; folder markers (keys that end in "/") are none."""
        return self._run(self._listed(prefix))

    def fetched(self, objects: Sequence[ObjectInfo], limit_bytes: int | None) -> list[Fetched]:
        """The objects' bytes, `concurrency` requests at a time."""
        return self._run(self._fetched(objects, limit_bytes))

    @property
    def _filesystem(self) -> Any:
        return fsspec.filesystem("s3", **self.options.fsspec)  # fsspec caches the instance, and with it the connections

    def _run(self, coroutine: Any) -> Any:
        return sync(self._filesystem.loop, lambda: coroutine)

    def _key(self, key: str) -> str:
        return f"{self.folder}/{key}" if self.folder else key

    def _below(self, prefix: str) -> str:
        """The S3 prefix of everything below a folder; "" for the whole bucket."""
        folder = self._key(prefix).strip("/") if prefix else self.folder
        return f"{folder}/" if folder else ""

    async def _pages(self, **arguments: Any) -> AsyncIterator[dict[str, Any]]:
        client = await self._filesystem.set_session()
        async for page in client.get_paginator("list_objects_v2").paginate(Bucket=self.bucket, **arguments):
            yield page

    async def _first_page(self) -> None:
        client = await self._filesystem.set_session()
        await client.list_objects_v2(Bucket=self.bucket, Prefix=self._below(""), MaxKeys=1)

    async def _folders(self, prefix: str) -> list[str]:
        below = self._below(prefix)
        pages = self._pages(Prefix=below, Delimiter="/")
        found = [common["Prefix"] async for page in pages for common in page.get("CommonPrefixes", ())]
        return [name[len(below) :].rstrip("/") for name in found]

    async def _listed(self, prefix: str) -> list[ObjectInfo]:
        skipped = len(self._below(""))
        root = f"s3://{self.bucket}/{self._below('')}"
        return [
            ObjectInfo(
                root + entry["Key"][skipped:],
                entry["Key"][skipped:],
                entry["ETag"].strip('"'),
                entry["Size"],
                entry["LastModified"].astimezone(UTC),
            )
            async for page in self._pages(Prefix=self._below(prefix))
            for entry in page.get("Contents", ())
            if not entry["Key"].endswith("/")
        ]

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
        trying = tenacity.AsyncRetrying(
            retry=tenacity.retry_if_exception(is_transient),
            stop=tenacity.stop_after_attempt(self.attempts),
            wait=tenacity.wait_random_exponential(multiplier=0.2, max=10),
            reraise=True,
        )
        try:
            return await trying(self._get, client, info, limit_bytes)
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
            raise TruncatedError(f"{info.uri}: {len(content)} of {info.size_bytes if unchanged else announced} bytes came")
        return Fetched(info.uri, content)


def _failed(uri: str, error: ClientError) -> Fetched:
    """What a refusal says about one object alone; a refusal that concerns the whole store is raised again."""
    code = error.response.get("Error", {}).get("Code", "")
    if code in VANISHED:
        return Fetched(uri, None, "vanished", code)
    if code in FORBIDDEN:
        return Fetched(uri, None, "forbidden", code)
    if code in ADVICE or is_transient(error):
        raise error
    return Fetched(uri, None, "unreadable", code)
