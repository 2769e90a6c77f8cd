"""Loading the SDK: a second of work, beside everything else."""

from __future__ import annotations

import sys
import threading
from typing import Final

import anyio
from anyio import from_thread
from anyio.lowlevel import EventLoopToken, current_token

_MODULES: Final = ("mcp.client.client", "mcp.client.streamable_http", "mcp.client.sse", "mcp.client.auth", "httpx2")


async def loaded() -> None:
    """Import what connections need of the SDK, in a thread that nobody waits for when the run ends."""
    if all(map(_there, _MODULES)):
        return
    done = anyio.Event()
    failed: list[BaseException] = []
    token = current_token()
    threading.Thread(target=_load, args=(token, done, failed), daemon=True, name="gongfu-mcp-sdk").start()
    await done.wait()
    if failed:
        raise failed[0]


def _there(name: str) -> bool:
    """Whether a module is loaded to its end."""
    module = sys.modules.get(name)
    return module is not None and not getattr(module.__spec__, "_initializing", False)


def _load(token: EventLoopToken, done: anyio.Event, failed: list[BaseException]) -> None:
    import logging
    from importlib import import_module

    try:
        for name in _MODULES:
            import_module(name)
        for name in ("mcp", "client"):  # what it logs is for its developers, and would land on the screen
            logger = logging.getLogger(name)
            logger.propagate = False
            if not logger.handlers:
                logger.addHandler(logging.NullHandler())
    except ImportError as error:
        failed.append(error)
    try:
        from_thread.run_sync(done.set, token=token)
    except RuntimeError:
        return  # the run has ended meanwhile
