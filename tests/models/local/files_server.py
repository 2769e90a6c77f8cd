"""A file server on loopback for tests: ranges, redirects, passwords, broken connections, and a record of requests."""

from __future__ import annotations

import base64
import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Self


class _Quiet(ThreadingHTTPServer):
    def handle_error(self, request: object, client_address: object) -> None:
        """A client that closes its connection is no news."""


@dataclass
class Asked:
    """One request: path, the Range and Authorization headers, bytes of body that went out."""

    path: str
    range: str
    authorization: str
    sent: int = 0


@dataclass
class FileServer:
    """Serves `files` (path -> body or a function of the Accept header giving kind and body)."""

    files: dict[str, bytes | Callable[[str], tuple[str, bytes]]] = field(default_factory=dict)
    redirects: dict[str, str] = field(default_factory=dict)
    ranges: bool = True
    lengths: bool = True
    user: str = ""
    cuts: dict[str, list[int]] = field(default_factory=dict)
    """Per path: after how many bytes of its body each of the next answers breaks off."""
    statuses: dict[str, list[int]] = field(default_factory=dict)
    """Per path: what the next answers are instead."""
    hold: dict[str, tuple[int, threading.Event, threading.Event]] = field(default_factory=dict)
    """Per path: after so many bytes set the first event and wait for the second."""
    asked: list[Asked] = field(default_factory=list)

    def __enter__(self) -> Self:
        server = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_GET(self) -> None:
                answer(server, self)

            def log_message(self, format: str, *args: object) -> None:
                pass

        self._server = _Quiet(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        self._thread = threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        for _, _, go_on in self.hold.values():
            go_on.set()
        self._server.shutdown()
        self._server.server_close()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._server.server_address[1]}"

    def url_with(self, user: str) -> str:
        return self.url.replace("//", f"//{user}@")

    def sent(self, path: str) -> int:
        """Bytes of body that went out for a path."""
        return sum(a.sent for a in self.asked if a.path == path)


def answer(server: FileServer, handler: BaseHTTPRequestHandler) -> None:
    headers = handler.headers
    asked = Asked(handler.path, headers.get("Range", ""), headers.get("Authorization", ""))
    server.asked.append(asked)
    if server.user and asked.authorization != "Basic " + base64.b64encode(server.user.encode()).decode():
        return plain(handler, 401)
    if statuses := server.statuses.get(asked.path):
        return plain(handler, statuses.pop(0))
    if asked.path in server.redirects:
        return plain(handler, 302, location=server.redirects[asked.path])
    found = server.files.get(asked.path)
    if found is None:
        return plain(handler, 404)
    kind, body = ("application/octet-stream", found) if isinstance(found, bytes) else found(headers.get("Accept", ""))
    total, first, last = len(body), 0, len(body) - 1
    ranged = server.ranges and asked.range.startswith("bytes=")
    if ranged:
        begin, _, end = asked.range.removeprefix("bytes=").partition("-")
        first, last = int(begin), min(int(end) if end else last, last)
        if first >= total:
            return plain(handler, 416)
    handler.send_response(206 if ranged else 200)
    handler.send_header("Content-Type", kind)
    if server.lengths:
        handler.send_header("Content-Length", str(last - first + 1))
    else:
        handler.send_header("Connection", "close")
    if ranged:
        handler.send_header("Content-Range", f"bytes {first}-{last}/{total}")
    handler.end_headers()
    return send(server, handler, asked, body[first : last + 1])


def send(server: FileServer, handler: BaseHTTPRequestHandler, asked: Asked, body: bytes) -> None:
    cuts = server.cuts.get(asked.path)
    limit = min(cuts.pop(0), len(body)) if cuts else None
    held = server.hold.get(asked.path)
    held = server.hold.pop(asked.path) if held is not None and len(body) >= held[0] else None
    try:
        for at in range(0, len(body) if limit is None else limit, 8192):
            piece = body[at : min(at + 8192, len(body) if limit is None else limit)]
            handler.wfile.write(piece)
            handler.wfile.flush()
            asked.sent += len(piece)
            if held is not None and asked.sent >= held[0]:
                held[1].set()
                held[2].wait(20)
                held = None
    except OSError:
        handler.close_connection = True
    if limit is not None or not server.lengths:
        handler.close_connection = True


def plain(handler: BaseHTTPRequestHandler, status: int, location: str = "") -> None:
    handler.send_response(status)
    if location:
        handler.send_header("Location", location)
    handler.send_header("Content-Length", "0")
    handler.end_headers()
