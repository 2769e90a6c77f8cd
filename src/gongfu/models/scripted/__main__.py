"""The scripted server as a command: python -m gongfu.models.scripted SCRIPT --port N --log FILE."""

from __future__ import annotations

import argparse
import asyncio
import signal
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec

from gongfu.core.errors import UserError
from gongfu.models.scripted.read import read_script
from gongfu.models.scripted.server import Received, Server


def main(arguments: list[str] | None = None) -> int:
    """Serve until interrupted; 1 when the script and the requests did not fit."""
    parser = argparse.ArgumentParser(prog="python -m gongfu.models.scripted", description="Serve a scripted model.")
    parser.add_argument("script", type=Path, help="YAML or JSON file with the steps")
    parser.add_argument("--port", type=int, default=0, help="port on 127.0.0.1; 0 takes a free one")
    parser.add_argument("--log", type=Path, help="write one JSON line for every request")
    parser.add_argument("--model", action="append", help="a name that GET /v1/models lists; may be given again")
    given = parser.parse_args(arguments)
    try:
        server = Server(read_script(given.script), models=given.model or ["scripted"], record=_writer(given.log))
        return asyncio.run(_serve(server, given.port))
    except UserError as error:
        sys.stderr.write(f"{error}\n")
        return error.code


def _writer(log: Path | None) -> Callable[[Received], None] | None:
    """What writes one line for every request."""
    if log is None:
        return None
    log.write_bytes(b"")

    def record(request: Received) -> None:
        line: dict[str, Any] = {"time": request.time, "path": request.path, "body": request.body}
        with log.open("ab") as file:
            file.write(msgspec.json.encode(line) + b"\n")

    return record


async def _serve(server: Server, port: int) -> int:
    await server.start(port)
    sys.stdout.write(f"PORT {server.port}\n")
    sys.stdout.flush()
    ended = asyncio.Event()
    for name in ("SIGTERM", "SIGINT"):
        try:
            asyncio.get_running_loop().add_signal_handler(getattr(signal, name), ended.set)
        except NotImplementedError:
            continue  # Windows: Ctrl-C ends the loop by itself
    try:
        await ended.wait()
    finally:
        await server.stop()
    server.finish()
    return 0


if __name__ == "__main__":
    sys.exit(main())
