"""A web server that answers as a test wants, and keeps what it was sent."""

import json
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any

TOKEN = "T0K3N-of-the-hook"  # noqa: S105 - what must appear nowhere
SLOW_SECONDS = 5.0


@dataclass
class Hook:
    """Where it listens, and the bodies that it got."""

    url: str = ""
    bodies: list[dict[str, Any]] = field(default_factory=list)
    paths: list[str] = field(default_factory=list)


@contextmanager
def hook(statuses: Sequence[int] = (), *, slow: bool = False) -> Iterator[Hook]:
    """A server that answers with these statuses in turn, then with 200; a slow one with nothing for long."""
    kept, left = Hook(), list(statuses)

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            kept.paths.append(self.path)
            kept.bodies.append(json.loads(self.rfile.read(int(self.headers["Content-Length"]))))
            if slow:
                time.sleep(SLOW_SECONDS)
            status = left.pop(0) if left else 200
            self.send_response(status)
            if 300 <= status < 400:
                self.send_header("Location", f"{kept.url}/elsewhere")
            self.send_header("Content-Length", "0")
            self.end_headers()

        def do_GET(self) -> None:
            kept.paths.append(self.path)
            self.send_error(404)

        def log_message(self, *_: Any) -> None:
            """Nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    server.block_on_close = False
    serving = Thread(target=server.serve_forever, daemon=True)
    serving.start()
    kept.url = f"http://127.0.0.1:{server.server_port}/{TOKEN}"
    try:
        yield kept
    finally:
        server.shutdown()
        server.server_close()
        serving.join()
