"""A proxy that stands before a real S3 server and spoils a part of the requests, each in one of several ways.

Here: forwarding requests byte for byte (so that signatures still hold), spoiling some, and counting both. Not here: the
server behind it (`tests.s3`), and how often and where a test wants faults.
"""

import asyncio
import contextlib
import multiprocessing
import random
import re
import socket
import struct
from collections import Counter
from collections.abc import Iterator, Sequence
from multiprocessing.connection import Connection
from typing import NamedTuple
from urllib.parse import urlsplit

ANSWERS = {
    "500 before": (500, "Internal Server Error", "InternalError"),
    "500 after": (500, "Internal Server Error", "InternalError"),
    "503": (503, "Slow Down", "SlowDown"),
    "429": (429, "Too Many Requests", "TooManyRequests"),
}
APPLIED = ("500 after", "reset after", "cut", "slow")
"""Kinds whose request reaches the server: it is applied, whatever its sender is told."""

KINDS = ("500 before", "500 after", "503", "429", "reset before", "reset after", "cut", "slow")
LETHAL = tuple(kind for kind in KINDS if kind != "slow")
REFUSING = tuple(kind for kind in LETHAL if kind not in APPLIED)
SLOW_SECONDS = 0.1
ERROR = '<?xml version="1.0" encoding="UTF-8"?><Error><Code>{code}</Code><Message>injected</Message></Error>'
CONTINUE, BODILESS = 100, (204, 304)


class Request(NamedTuple):
    """One request as it came in."""

    method: str
    target: str  # path and query, as sent


class Faults(NamedTuple):
    """How often, in which ways and to what the proxy does harm."""

    rate: float = 0.0  # of the requests that match
    kinds: Sequence[str] = KINDS
    where: str = ""  # pattern found in "METHOD target"
    after: int = 0  # so many matching requests pass first
    most: int | None = None  # so many are spoilt at most
    onward: bool = False  # once they are through, every request counts as a matching one


class Message(NamedTuple):
    """An HTTP message: its head with the blank line, and its body as it came (chunked, where it was)."""

    head: bytes
    body: bytes

    @property
    def first(self) -> list[str]:
        """The words of its first line."""
        return self.head.split(b"\r\n", 1)[0].decode("latin-1").split(" ")

    def header(self, name: str) -> str:
        """The value of a header in lower case, or ""."""
        found = re.search(rf"\r\n{name}:[ \t]*([^\r]*)\r\n".encode(), self.head, re.IGNORECASE)
        return found[1].decode("latin-1").strip().lower() if found else ""


class Counts(NamedTuple):
    """What came since faults were last asked for, and what was done to it."""

    requests: list[Request]
    injected: Counter[tuple[str, str]]  # (kind, method) -> requests

    def hit(self, *methods: str) -> set[str]:
        """The kinds of fault that requests of these methods met, or any request."""
        return {kind for kind, method in self.injected if not methods or method in methods}


class FaultyProxy(NamedTuple):
    """A running proxy: where it listens, and its control."""

    endpoint: str
    control: Connection

    def inject(self, faults: Faults) -> None:
        """Spoil requests in this way from now on, and count afresh."""
        self.control.send(faults)
        self.control.recv()

    def counts(self) -> Counts:
        """What came, and what was done to it, since the last call of `inject`."""
        self.control.send(None)
        found: Counts = self.control.recv()
        return found


@contextlib.contextmanager
def running_proxy(server: str, seed: int = 7) -> Iterator[FaultyProxy]:
    """A proxy before the server at this endpoint, which does no harm until it is told to.

    It is a process of its own: delta-rs keeps Python's lock during some requests, and a thread could not answer them.
    """
    spawning = multiprocessing.get_context("spawn")
    ours, theirs = spawning.Pipe()
    process = spawning.Process(target=_proxy, args=(server, seed, theirs), daemon=True)
    process.start()
    try:
        yield FaultyProxy(ours.recv(), ours)
    finally:
        process.kill()
        process.join()


def _proxy(server: str, seed: int, control: Connection) -> None:
    asyncio.run(_serve(server, Draws(random.Random(seed)), control))


async def _serve(server: str, draws: "Draws", control: Connection) -> None:
    def told() -> None:
        asked: Faults | None = control.recv()
        if asked is not None:
            draws.begin(asked)
        control.send(draws.counts)

    listening = await asyncio.start_server(Connections(server, draws).serve, "127.0.0.1", 0)
    asyncio.get_running_loop().add_reader(control.fileno(), told)
    control.send(f"http://127.0.0.1:{listening.sockets[0].getsockname()[1]}")
    await listening.serve_forever()


class Draws:
    """Which request meets which fault; each method meets every kind before one comes again."""

    def __init__(self, chance: random.Random) -> None:
        self._chance = chance
        self.begin(Faults())

    def begin(self, faults: Faults) -> None:
        """Draw from these faults, and count afresh."""
        self._faults, self._matched = faults, 0
        self._coming: dict[str, list[str]] = {}
        self.counts = Counts([], Counter())

    def fault(self, request: Request) -> str:
        """The fault for a request, or ""."""
        self.counts.requests.append(request)
        faults = self._faults
        begun = faults.onward and self._matched > faults.after
        if not begun and not re.search(faults.where, " ".join(request)):
            return ""
        self._matched += 1
        spent = faults.most is not None and self.counts.injected.total() >= faults.most
        if spent or self._matched <= faults.after or self._chance.random() >= faults.rate:
            return ""
        coming = self._coming.setdefault(request.method, [])
        if not coming:
            coming += self._chance.sample(list(faults.kinds), len(faults.kinds))
        fault = coming.pop()
        self.counts.injected[fault, request.method] += 1
        return fault


class Connections:
    """The connections of clients, each with one of its own to the server."""

    def __init__(self, server: str, draws: Draws) -> None:
        self._server = urlsplit(server)
        self._draws = draws

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Answer the requests of one connection until either side, or a fault, ends it."""
        upstream, server = await asyncio.open_connection(self._server.hostname, self._server.port)
        try:
            while await self._answered(await _request(reader, writer), upstream, server, writer):
                pass
        except (EOFError, ConnectionError):  # nothing more came, or the other side is gone
            pass
        finally:
            server.close()
            writer.close()

    async def _answered(
        self, request: Message, upstream: asyncio.StreamReader, server: asyncio.StreamWriter, to: asyncio.StreamWriter
    ) -> bool:
        """Whether the connection lives on."""
        method, target, _ = request.first
        fault = self._draws.fault(Request(method, target))
        answer = Message(b"", b"")
        if not fault or fault in APPLIED:
            server.write(request.head + request.body)
            answer = await _answer(upstream, method)
        if fault in ANSWERS:
            answer = _refusal(method, *ANSWERS[fault])
        elif fault.startswith("reset"):
            _reset(to)
            return False
        elif fault == "slow":
            await asyncio.sleep(SLOW_SECONDS)
        elif fault == "cut":
            whole = answer.body or answer.head
            to.write((answer.head if answer.body else b"") + whole[: len(whole) // 2])
            await to.drain()
            return False
        to.write(answer.head + answer.body)
        await to.drain()
        return True


async def _request(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> Message:
    head = await reader.readuntil(b"\r\n\r\n")
    if Message(head, b"").header("expect"):
        writer.write(b"HTTP/1.1 100 Continue\r\n\r\n")
    return Message(head, await _body(head, reader))


async def _answer(reader: asyncio.StreamReader, method: str) -> Message:
    head = await reader.readuntil(b"\r\n\r\n")
    status = int(Message(head, b"").first[1])
    if status == CONTINUE:
        return await _answer(reader, method)
    return Message(head, b"" if method == "HEAD" or status in BODILESS else await _body(head, reader))


async def _body(head: bytes, reader: asyncio.StreamReader) -> bytes:
    message = Message(head, b"")
    if message.header("transfer-encoding") == "chunked":
        return await _chunks(reader)
    return await reader.readexactly(int(message.header("content-length") or 0))


async def _chunks(reader: asyncio.StreamReader) -> bytes:
    body = b""
    while True:
        size = await reader.readuntil(b"\r\n")
        length = int(size.split(b";")[0], 16)
        body += size + await reader.readexactly(length + 2)
        if length == 0:
            return body


def _refusal(method: str, status: int, reason: str, code: str) -> Message:
    body = b"" if method == "HEAD" else ERROR.format(code=code).encode()
    head = f"HTTP/1.1 {status} {reason}\r\nContent-Type: application/xml\r\nContent-Length: {len(body)}\r\n\r\n"
    return Message(head.encode(), body)


def _reset(writer: asyncio.StreamWriter) -> None:
    connection = writer.get_extra_info("socket")
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    writer.transport.abort()
