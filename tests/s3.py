"""A real S3 server for tests: SeaweedFS in one process of its own, with a full and a read-only identity.

Here: starting it, asking it, and stopping it. Not here: the fixtures (`conftest`).
"""

import contextlib
import json
import shutil
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import botocore.session
from botocore.config import Config
from botocore.exceptions import BotoCoreError, ClientError

READY_SECONDS = 60
PORTS = ("master", "volume", "filer", "s3")
IDENTITIES = {
    "identities": [
        {
            "name": "owner",
            "credentials": [{"accessKey": "owner-key", "secretKey": "owner-secret-1b9f"}],
            "actions": ["Admin", "Read", "Write", "List", "Tagging"],
        },
        {
            "name": "reader",
            "credentials": [{"accessKey": "reader-key", "secretKey": "reader-secret-77a0"}],
            "actions": ["Read", "List"],
        },
    ]
}


@dataclass(frozen=True)
class S3Server:
    """A running server; `client` acts as the owner of every bucket."""

    endpoint: str
    client: Any = field(repr=False)

    def variables(self, name: str = "owner") -> dict[str, str]:
        """The `AWS_*` variables of one identity."""
        (found,) = (one for one in IDENTITIES["identities"] if one["name"] == name)
        (credentials,) = found["credentials"]
        return {
            "AWS_ACCESS_KEY_ID": credentials["accessKey"],
            "AWS_SECRET_ACCESS_KEY": credentials["secretKey"],
            "AWS_REGION": "us-east-1",
            "AWS_ENDPOINT_URL": self.endpoint,
        }

    def put(self, bucket: str, key: str, content: bytes = b"{}") -> None:
        """Store one object."""
        self.client.put_object(Bucket=bucket, Key=key, Body=content)


@contextlib.contextmanager
def running_server() -> Iterator[S3Server]:
    """Start a server on free ports and stop it at the end; its data go with it."""
    folder = Path(tempfile.mkdtemp(prefix="s3-"))
    ports = _free_ports()
    # One volume per bucket instead of seven: a bucket takes them when it is first written to.
    environment = {"HOME": str(folder), "WEED_MASTER_VOLUME_GROWTH_COPY_1": "1"}
    process = subprocess.Popen(
        _command(folder, ports), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=environment
    )
    try:
        server = _connected(f"http://127.0.0.1:{ports['s3']}")
        _await_ready(server, process, folder)
        yield server
        server.client.close()
    finally:
        process.kill()  # nothing of it is kept, and a polite end takes seconds
        process.wait()
        shutil.rmtree(folder, ignore_errors=True)


def _command(folder: Path, ports: dict[str, int]) -> list[str]:
    (folder / "data").mkdir()
    (folder / "identities.json").write_text(json.dumps(IDENTITIES), encoding="utf-8")
    listening = [f"-{name}.port{kind}={ports[name + kind]}" for name in PORTS for kind in ("", ".grpc")]
    return [
        _binary(),
        f"-logdir={folder}",
        "server",
        f"-dir={folder}/data",
        "-ip=127.0.0.1",
        "-ip.bind=127.0.0.1",
        "-filer",
        f"-filer.localSocket={folder}/filer.sock",
        "-s3",
        f"-s3.localSocket={folder}/s3.sock",
        "-s3.port.iceberg=0",
        "-s3.port.lance=0",
        f"-s3.config={folder}/identities.json",
        "-master.telemetry=false",
        "-master.volumeSizeLimitMB=256",
        "-volume.max=200",
        *listening,
    ]


def _binary() -> str:
    beside = Path(sys.executable).with_name("weed")
    found = str(beside) if beside.exists() else shutil.which("weed")
    if not found:
        raise RuntimeError("weed is missing: install the distribution with its dev extra")
    return found


def _free_ports() -> dict[str, int]:
    names = [name + kind for name in PORTS for kind in ("", ".grpc")]
    with contextlib.ExitStack() as stack:
        sockets = [stack.enter_context(socket.socket()) for _ in names]
        for one in sockets:
            one.bind(("127.0.0.1", 0))
        return {name: one.getsockname()[1] for name, one in zip(names, sockets, strict=True)}


def _connected(endpoint: str) -> S3Server:
    owner = S3Server(endpoint, None).variables()
    client = botocore.session.Session().create_client(
        "s3",
        region_name=owner["AWS_REGION"],
        endpoint_url=endpoint,
        aws_access_key_id=owner["AWS_ACCESS_KEY_ID"],
        aws_secret_access_key=owner["AWS_SECRET_ACCESS_KEY"],
        config=Config(retries={"total_max_attempts": 1}, s3={"addressing_style": "path"}, read_timeout=5),
    )
    return S3Server(endpoint, client)


def _await_ready(server: S3Server, process: subprocess.Popen[bytes], folder: Path) -> None:
    """Ready is what has stored an object: the parts of the server come up one after another."""
    deadline = time.monotonic() + READY_SECONDS
    while True:
        try:
            with contextlib.suppress(
                server.client.exceptions.BucketAlreadyExists, server.client.exceptions.BucketAlreadyOwnedByYou
            ):
                server.client.create_bucket(Bucket="ready")
            server.put("ready", "probe")
        except (BotoCoreError, ClientError) as error:
            if process.poll() is not None or time.monotonic() > deadline:
                logs = "\n".join(path.read_text(errors="replace")[-2000:] for path in folder.glob("weed.*"))
                raise RuntimeError(f"the S3 server did not start: {error}\n{logs}") from error
            time.sleep(0.1)
        else:
            return
