"""The real program in its own home and folder, against a scripted server on loopback."""

from __future__ import annotations

import asyncio
import io
import os
import subprocess
import sys
import threading
from collections.abc import Callable, Generator
from contextlib import contextmanager
from http.server import ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from gongfu.models.scripted.script import Planned
from gongfu.models.scripted.server import Server
from gongfu.surfaces.cli.main import invoke

PYTHON = [sys.executable, "-m", "gongfu"]


class Ended:
    """How a run of the program ended."""

    def __init__(self, code: int, out: bytes, err: bytes) -> None:
        self.code = code
        self.raw = out
        self.out = out.decode("utf-8", "replace")
        self.err = err.decode("utf-8", "replace")

    def __repr__(self) -> str:
        return f"exit {self.code}\n--- out\n{self.out}\n--- err\n{self.err}"


class Program:
    """Runs `gongfu` in `folder` with its files in `home`."""

    def __init__(self, tmp_path: Path) -> None:
        self.home = tmp_path / "home"
        self.folder = tmp_path / "work"
        self.folder.mkdir()
        keep = {k: v for k, v in os.environ.items() if k in ("PATH", "SYSTEMROOT", "TMPDIR", "PYTHONPATH")}
        self.env = {**keep, "GONGFU_HOME": str(self.home), "HOME": str(tmp_path), "LANG": "C.UTF-8", "TERM": "xterm"}

    def use(self, server: Server) -> None:
        """From now on talk to `server`."""
        self.env |= {
            "OPENAI_BASE_URL": server.base_url,
            "OPENAI_API_KEY": "test-key",
            "GONGFU_MODEL": "test-model",
            "GONGFU_CONTEXT_WINDOW": "200000",
        }

    def run(self, *args: str, stdin: bytes = b"", timeout: float = 60, **env: str) -> Ended:
        """The program as a process of its own, without a terminal."""
        done = subprocess.run(
            [*PYTHON, *args], cwd=self.folder, env={**self.env, **env}, input=stdin, capture_output=True,
            timeout=timeout, start_new_session=True, check=False,
        )  # fmt: skip
        return Ended(done.returncode, done.stdout, done.stderr)

    def start(self, *args: str, **env: str) -> subprocess.Popen[bytes]:
        """The same, still running."""
        return subprocess.Popen(
            [*PYTHON, *args], cwd=self.folder, env={**self.env, **env}, stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=True,
        )  # fmt: skip

    def call(self, *args: str, stdin: str = "", **env: str) -> Ended:
        """The program inside this process: quick, for what needs no process."""
        out, err = io.BytesIO(), io.BytesIO()
        streams = [io.TextIOWrapper(b, encoding="utf-8", write_through=True) for b in (out, err)]
        here = Path.cwd()
        os.chdir(self.folder)
        try:
            source = io.TextIOWrapper(io.BytesIO(stdin.encode()), encoding="utf-8")
            code = invoke(list(args), {**self.env, **env}, source, *streams)
        finally:
            os.chdir(here)
        return Ended(code, out.getvalue(), err.getvalue())


@pytest.fixture
def program(tmp_path: Path) -> Program:
    """The program with nothing configured."""
    return Program(tmp_path)


@contextmanager
def running(server: Server) -> Generator[Server]:
    """A server in a thread of its own, since the program's runs block this one."""
    loop = asyncio.new_event_loop()
    thread = threading.Thread(target=loop.run_forever)
    thread.start()
    try:
        asyncio.run_coroutine_threadsafe(server.start(), loop).result(10)
        yield server
    finally:
        asyncio.run_coroutine_threadsafe(server.stop(), loop).result(10)
        loop.call_soon_threadsafe(loop.stop)
        thread.join()
        loop.close()


@pytest.fixture
def serve(program: Program) -> Generator[Callable[..., Server]]:
    """Starts a scripted server and makes the program talk to it."""
    from contextlib import ExitStack

    with ExitStack() as stack:

        def start(*steps: Planned, **options: Any) -> Server:
            server = stack.enter_context(running(Server(steps, **options)))
            program.use(server)
            return server

        yield start


@contextmanager
def serving(server: ThreadingHTTPServer) -> Generator[None]:
    """Lets a plain server answer in a thread; it is closed at the end."""
    thread = threading.Thread(target=server.serve_forever, args=(0.02,))
    thread.start()
    try:
        yield
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
