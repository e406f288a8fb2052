"""S3 that misbehaves: a scripted server shows what is tried again, what is one object's fault, and what stops all."""

import socket
import struct
import threading
from collections import defaultdict, deque
from collections.abc import Iterator
from email.utils import formatdate
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import ClassVar
from urllib.parse import parse_qs, unquote, urlsplit

import pytest

from pipelines.storage import retries
from pipelines.storage.artifact_store import ArtifactStore, Fetched
from pipelines.storage.errors import StoreConfigurationError, StoreUnavailableError
from pipelines.storage.options import StoreOptions, store_options
from pipelines.storage.s3_objects import put_object

KEYS = {"AWS_ACCESS_KEY_ID": "scripted-key", "AWS_SECRET_ACCESS_KEY": "scripted-secret"}
ERROR = '<?xml version="1.0"?><Error><Code>{code}</Code><Message>said the server</Message></Error>'
ENTRY = (
    "<Contents><Key>{key}</Key><LastModified>2026-11-29T01:02:03.000Z</LastModified>"
    '<ETag>"e-{size}"</ETag><Size>{size}</Size></Contents>'
)
LASTING = 20
FOLDER = "<CommonPrefixes><Prefix>{prefix}</Prefix></CommonPrefixes>"


class Script:
    """What the server holds, and the faults that its next answers per key (or "list") are made of."""

    def __init__(self) -> None:
        self.objects: dict[str, bytes] = {}
        self.faults: dict[str, deque[str]] = defaultdict(deque)
        self.requests: list[str] = []


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    script: ClassVar[Script]

    def do_GET(self) -> None:
        url = urlsplit(self.path)
        key = unquote(url.path).removeprefix("/bucket").removeprefix("/")
        name = key or "list"
        self.script.requests.append(name)
        fault = self.script.faults[name].popleft() if self.script.faults[name] else ""
        if fault == "reset":
            self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            self.close_connection = True
            self.connection.close()
        elif fault.isdigit() or "/" in fault:
            status, _, code = fault.partition("/")
            self.answer(int(status), ERROR.format(code=code or status).encode())
        elif name == "list":
            self.answer(200, self.listing(parse_qs(url.query)).encode())
        elif key in self.script.objects:
            self.answer(200, self.script.objects[key], cut=fault == "cut", short=fault == "short")
        else:
            self.answer(404, ERROR.format(code="NoSuchKey").encode())

    def do_PUT(self) -> None:
        key = unquote(urlsplit(self.path).path).removeprefix("/bucket/")
        content = self.rfile.read(int(self.headers["Content-Length"]))
        self.script.requests.append(f"PUT {key}")
        if self.script.faults[key]:
            status, _, code = self.script.faults[key].popleft().partition("/")
            self.answer(int(status), ERROR.format(code=code).encode())
        else:
            self.script.objects[key] = content
            self.answer(200, b"")

    def listing(self, query: dict[str, list[str]]) -> str:
        prefix = query.get("prefix", [""])[0]
        below = {key: content for key, content in self.script.objects.items() if key.startswith(prefix)}
        folders = {f"{prefix}{key[len(prefix) :].split('/')[0]}/" for key in below if "/" in key[len(prefix) :]}
        if "delimiter" not in query:
            folders = set()
        else:
            below = {key: content for key, content in below.items() if "/" not in key[len(prefix) :]}
        entries = [ENTRY.format(key=key, size=len(content)) for key, content in below.items()]
        entries += [FOLDER.format(prefix=folder) for folder in sorted(folders)]
        return f'<?xml version="1.0"?><ListBucketResult>{"".join(entries)}</ListBucketResult>'

    def answer(self, status: int, body: bytes, *, cut: bool = False, short: bool = False) -> None:
        body = body[:-1] if short else body
        self.send_response(status)
        self.send_header("Content-Length", str(len(body)))
        self.send_header("ETag", f'"e-{len(body) + short}"')
        self.send_header("Last-Modified", formatdate(0, usegmt=True))
        self.end_headers()
        self.wfile.write(body[: len(body) // 2] if cut else body)
        if cut:
            self.close_connection = True

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the base class's name
        """Nothing: the tests' output stays readable."""


class Server(ThreadingHTTPServer):
    daemon_threads = True

    def handle_error(self, request: object, client_address: object) -> None:
        """Nothing: connections that break are what the script asks for."""


@pytest.fixture
def script(monkeypatch: pytest.MonkeyPatch) -> Script:
    # The waits between tries are what a person would not want to wait for here.
    monkeypatch.setattr(retries, "LONGEST_WAIT_SECONDS", 0)
    return Script()


@pytest.fixture
def options(script: Script) -> Iterator[StoreOptions]:
    server = Server(("127.0.0.1", 0), type("Scripted", (Handler,), {"script": script}))
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
    thread.start()
    yield store_options("s3://bucket", {**KEYS, "AWS_ENDPOINT_URL": f"http://127.0.0.1:{server.server_port}"})
    server.shutdown()
    server.server_close()
    thread.join()


@pytest.fixture
def store(script: Script, options: StoreOptions) -> ArtifactStore:
    script.objects = {f"worldseq/{name}.json": name.encode() * 100 for name in "abcde"}
    return ArtifactStore("s3://bucket", options, attempts=4)


@pytest.mark.parametrize(
    "fault", ["500/InternalError", "503/SlowDown", "503/ServerBusy", "429/TooManyRequests", "reset", "cut", "short"]
)
def test_a_transient_failure_of_an_object_is_tried_again(store: ArtifactStore, script: Script, fault: str) -> None:
    found = store.list_objects()
    script.faults["worldseq/c.json"] += [fault] * 3
    script.requests.clear()

    outcomes = store.fetch(found)

    assert [outcome.content for outcome in outcomes] == list(script.objects.values())
    assert sorted(script.requests) == sorted([*script.objects, *["worldseq/c.json"] * 3])


@pytest.mark.parametrize("fault", ["500/InternalError", "503/SlowDown", "429/TooManyRequests", "reset", "cut", "short"])
def test_a_transient_failure_that_lasts_stops_in_one_line(store: ArtifactStore, script: Script, fault: str) -> None:
    found = store.list_objects()
    script.faults["worldseq/c.json"] += [fault] * LASTING

    with pytest.raises(StoreUnavailableError, match="s3://bucket: cannot fetch: ") as caught:
        store.fetch(found)

    assert "\n" not in str(caught.value)
    assert (
        script.requests.count("worldseq/c.json") == 4 or fault == "reset"
    )  # aiohttp tries a lost connection once more


@pytest.mark.parametrize(
    ("fault", "reason", "detail"),
    [
        ("404/NoSuchKey", "vanished", "NoSuchKey"),
        ("403/AccessDenied", "forbidden", "AccessDenied"),
        ("403/InvalidObjectState", "unreadable", "InvalidObjectState"),
    ],
)
def test_what_concerns_one_object_is_its_reason(
    store: ArtifactStore, script: Script, fault: str, reason: str, detail: str
) -> None:
    found = store.list_objects()
    script.faults["worldseq/c.json"].append(fault)

    outcomes = store.fetch(found)

    assert outcomes[2] == Fetched("s3://bucket/worldseq/c.json", None, reason, detail)  # type: ignore[arg-type]
    assert [outcome.reason for outcome in outcomes if outcome.content is None] == [reason]


@pytest.mark.parametrize(
    "fault", ["403/InvalidAccessKeyId", "403/SignatureDoesNotMatch", "400/ExpiredToken", "404/NoSuchBucket"]
)
def test_what_concerns_the_whole_store_stops_at_once(store: ArtifactStore, script: Script, fault: str) -> None:
    found = store.list_objects()
    script.faults["worldseq/c.json"].append(fault)

    with pytest.raises(StoreConfigurationError):
        store.fetch(found)

    assert script.requests.count("worldseq/c.json") == 1


@pytest.mark.parametrize("fault", ["500/InternalError", "503/SlowDown", "429/TooManyRequests", "reset"])
def test_a_listing_is_tried_again_and_never_empty(store: ArtifactStore, script: Script, fault: str) -> None:
    script.faults["list"] += [fault] * 2
    assert len(store.list_objects()) == 5

    script.faults["list"] += [fault] * LASTING
    with pytest.raises(StoreUnavailableError, match="s3://bucket: cannot list: "):
        store.list_objects()


def test_a_listing_is_taken_afresh_each_time(store: ArtifactStore, script: Script) -> None:
    assert len(store.list_objects("worldseq")) == 5
    script.objects["worldseq/f.json"] = b"new"
    assert len(store.list_objects("worldseq")) == 6


def test_no_more_requests_are_under_way_than_allowed(
    script: Script, options: StoreOptions, monkeypatch: pytest.MonkeyPatch
) -> None:
    script.objects = {f"{number:03d}": b"x" for number in range(40)}
    under_way, most, lock = 0, 0, threading.Lock()
    get = Handler.do_GET

    def counting(self: Handler) -> None:
        nonlocal under_way, most
        with lock:
            under_way += 1
            most = max(most, under_way)
        get(self)
        with lock:
            under_way -= 1

    monkeypatch.setattr(Handler, "do_GET", counting)
    store = ArtifactStore("s3://bucket", options, concurrency=3)

    assert len(store.fetch(store.list_objects())) == 40
    assert most <= 3


def test_steps_without_a_name_are_folders_too(store: ArtifactStore, script: Script) -> None:
    script.objects = {"worldseq//a.json": b"1", "worldseq/b.json": b"2", "worldseq/c/": b""}

    assert store.list_level("worldseq/").folders == ["", "c"]
    assert [info.key for info in store.list_objects("worldseq//")] == ["worldseq//a.json"]
    assert [info.key for info in store.list_objects("worldseq")] == ["worldseq//a.json", "worldseq/b.json"]


def test_an_upload_is_tried_again(script: Script, options: StoreOptions) -> None:
    script.faults["t/x=1/part.parquet"] += ["500/InternalError", "503/SlowDown"]

    put_object("s3://bucket/t/x=1/part.parquet", b"content", options)

    assert script.objects == {"t/x=1/part.parquet": b"content"}
    assert script.requests == ["PUT t/x=1/part.parquet"] * 3
