"""The event loop of the program."""

from __future__ import annotations

import asyncio
import socket
import threading
from collections.abc import Callable
from contextlib import suppress
from typing import Any


def new_loop() -> asyncio.AbstractEventLoop:
    """A loop whose end does not wait for the names that are still being looked up: that may take a minute."""
    loop = asyncio.new_event_loop()

    async def getaddrinfo(host: Any, port: Any, **options: Any) -> list[Any]:
        found: asyncio.Future[list[Any]] = loop.create_future()

        def tell(settle: Callable[[Any], None], value: Any) -> None:
            if not found.done():  # nobody waits any more
                settle(value)

        def look_up() -> None:
            try:
                told = (found.set_result, socket.getaddrinfo(host, port, **options))
            except Exception as error:  # noqa: BLE001 - whoever waits for it gets it
                told = (found.set_exception, error)
            with suppress(RuntimeError):  # the loop is closed
                loop.call_soon_threadsafe(tell, *told)

        threading.Thread(target=look_up, daemon=True, name="gongfu-names").start()
        return await found

    setattr(loop, "getaddrinfo", getaddrinfo)  # noqa: B010 - the place where asyncio lets a loop do it its own way
    return loop
