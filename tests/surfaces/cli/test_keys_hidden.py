"""A server that repeats the key it was sent: nobody is shown it, whatever it looks like."""

from __future__ import annotations

import json
from collections.abc import Generator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from .conftest import Program, serving

KEY = "plainword-of-mine"
WAYS = ("json", "page", "stream", "event")


class Repeating:
    """Answers each request with an error that holds its headers, in one of `WAYS`."""

    def __init__(self) -> None:
        self.way = "json"
        self.sent: list[str] = []
        server = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                self.rfile.read(int(self.headers.get("content-length", 0)))
                told = f"{self.headers.get('authorization')} {self.headers.get('x-other')}"
                server.sent.append(told)
                last = told.rsplit(maxsplit=1)[-1]
                words = json.dumps({"error": {"message": f"no such key: {told} ({last})", "type": "x"}})
                streamed = server.way in ("stream", "event")
                body = {
                    "json": words,
                    "page": f"<html><title>{told}</title><body>{told}</body></html>",
                    "stream": f"data: {words}\n\n",
                    "event": f"event: error\ndata: {words}\n\n",
                }[server.way].encode()
                self.send_response(200 if streamed else 400)
                self.send_header("content-type", "text/event-stream" if streamed else "application/json")
                self.send_header("content-length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            do_GET = do_POST

            def log_message(self, *_: object) -> None:
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_port}/v1"


@pytest.fixture
def repeating() -> Generator[Repeating]:
    made = Repeating()
    with serving(made.server):
        yield made


def test_no_key_comes_back_in_an_error(program: Program, repeating: Repeating) -> None:
    program.home.mkdir()
    (program.home / "config.yaml").write_text(
        "models: {main: [mine/m]}\nproviders:\n"
        f"  mine: {{base_url: '{repeating.url}', headers: {{X-Other: '{KEY}-too'}}}}\n"
    )
    (program.home / "keys.yaml").write_text(f"mine: {KEY}\n")
    for file in ("config.yaml", "keys.yaml"):
        (program.home / file).chmod(0o600)
    for repeating.way in WAYS:
        soon = ["--max-minutes", "0.02"]  # an error in a stream is tried again for longer
        for args in (["run", *soon, "Hi"], ["run", *soon, "--stream-json", "Hi"], ["models", "test", "mine/m"]):
            ended = program.call(*args)
            assert ended.code != 0, ended
            assert KEY not in ended.out + ended.err, (repeating.way, args)
    assert f"Bearer {KEY} {KEY}-too" in repeating.sent
    assert KEY not in program.call("show", "--json").out
    held = [file for file in program.home.rglob("*") if file.is_file() and KEY.encode() in file.read_bytes()]
    assert {file.name for file in held if not file.name.startswith("settings-")} == {"config.yaml", "keys.yaml"}
