"""A conversation with one language server over its pipes. Whatever the server does, each question ends in time."""

from __future__ import annotations

import asyncio
import contextlib
import re
import time
from collections.abc import Callable, Mapping
from typing import Any, cast

import anyio

from gongfu.knowledge.lsp.wire import BadFrame, Framer, frame
from gongfu.workspace.apart import SideOutput
from gongfu.workspace.child import Child
from gongfu.workspace.sandbox.confinement import Launch

_MOST_UNSENT = 128 * 1024 * 1024
_MOST_BETWEEN = 256 * 1024 * 1024  # bytes that a server may write while a question waits
_KEPT_ERRORS = 4096
_RETRIED = (-32801, -32802)  # content modified, server cancelled: to be asked again
_ENDING = 2.0


class ServerFailed(Exception):
    """The server gave no answer: it died, it hangs, it does not speak the protocol, or it refused the question."""


class Client:
    """A started server. `told` gets its notifications; `settings` are what it asks for by section.

    OSError or ValueError when it cannot be started.
    """

    def __init__(
        self, launch: Launch, told: Callable[[str, dict[str, Any]], None], settings: Mapping[str, Any], folder: str
    ) -> None:
        self._told = told
        self._settings = settings
        self._folder = folder
        self._framer = Framer()
        self._waiting: dict[int, asyncio.Future[Any]] = {}
        self._ids = 0
        self._unsent = bytearray()
        self._timer: asyncio.TimerHandle | None = None
        self._errors = bytearray()
        self._between = 0
        self.failure = ""
        self._gone = asyncio.Event()
        self.heard = time.monotonic()
        self._loop = asyncio.get_running_loop()
        self._side = SideOutput(self._error)
        self._side.__enter__()
        try:
            self._child = Child(
                launch.argv, cwd=launch.cwd, env=launch.env, stdin=None, box=launch.box, stderr=self._side.take(),
                on_output=self._read, on_over=self._over,
            )  # fmt: skip
        except BaseException:
            self._side.__exit__()
            raise
        self._side.listen()

    @property
    def alive(self) -> bool:
        """Whether it can be asked."""
        return not self.failure

    # --- asking ---------------------------------------------------------------------------------------------------

    async def ask(self, method: str, params: Any, seconds: float) -> Any:
        """The result of a question. ServerFailed when there is none in `seconds`."""
        until = time.monotonic() + seconds
        while True:
            try:
                return await self._ask(method, params, until - time.monotonic())
            except _Again as again:
                if time.monotonic() + 0.2 > until:
                    raise ServerFailed(str(again)) from None
                await anyio.sleep(0.2)

    async def _ask(self, method: str, params: Any, seconds: float) -> Any:
        if self.failure:
            raise ServerFailed(self.failure)
        self._ids += 1
        number = self._ids
        self._between = 0
        future: asyncio.Future[Any] = self._loop.create_future()
        self._waiting[number] = future
        asked = time.monotonic()
        try:
            self._send({"jsonrpc": "2.0", "id": number, "method": method, "params": params})
            with anyio.fail_after(max(seconds, 0)):
                return await future
        except TimeoutError:
            self.tell("$/cancelRequest", {"id": number})
            if self.heard < asked:
                self.fail(f"it said nothing for {seconds:.0f} s")
            raise ServerFailed(f"it did not answer {method} in {seconds:.0f} s") from None
        finally:
            self._waiting.pop(number, None)
            future.cancel()

    def tell(self, method: str, params: Any) -> None:
        """Send a notification; nothing comes back."""
        if not self.failure:
            self._send({"jsonrpc": "2.0", "method": method, "params": params})

    def _send(self, message: dict[str, Any]) -> None:
        self._unsent += frame(message)
        if len(self._unsent) > _MOST_UNSENT:
            self.fail("it does not read what it is sent")
        elif self._timer is None:
            self._flush()

    def _flush(self) -> None:
        self._timer = None
        try:
            while self._unsent and not self.failure:
                taken = self._child.send(bytes(self._unsent[: 1 << 16]))
                del self._unsent[:taken]
                if not taken:
                    self._timer = self._loop.call_later(0.005, self._flush)
                    return
        except OSError:
            self.fail("it closed its input")

    # --- hearing --------------------------------------------------------------------------------------------------

    def _read(self, data: bytes) -> None:
        if self.failure:
            return
        self.heard = time.monotonic()
        self._between += len(data)
        if self._between > _MOST_BETWEEN:
            self.fail("it floods its output")
            return
        try:
            for message in self._framer.feed(data):
                self._take(message)
        except BadFrame as error:
            self.fail(str(error))

    def _take(self, message: dict[str, Any]) -> None:
        method = message.get("method")
        if isinstance(method, str):
            given = message.get("params")
            params = cast("dict[str, Any]", given) if isinstance(given, dict) else {}
            if "id" in message:
                self._answer(message["id"], method, params)
            else:
                self._told(method, params)
            return
        number = message.get("id")
        future = self._waiting.get(number) if isinstance(number, int) else None
        if future is None or future.done():
            return  # an answer that nobody waits for
        error = message.get("error")
        if isinstance(error, dict):
            future.set_exception(_refused(cast("dict[str, Any]", error)))
        else:
            future.set_result(message.get("result"))

    def _answer(self, number: Any, method: str, params: dict[str, Any]) -> None:
        reply: dict[str, Any] = {"jsonrpc": "2.0", "id": number}
        match method:
            case "workspace/configuration":
                items = params.get("items")
                found = cast("list[Any]", items)[:100] if isinstance(items, list) else []
                reply["result"] = [self._setting(item) for item in found]
            case "workspace/workspaceFolders":
                reply["result"] = [{"uri": self._folder, "name": "workspace"}]
            case "workspace/applyEdit":
                reply["result"] = {"applied": False, "failureReason": "files are only read"}
            case "window/showDocument":
                reply["result"] = {"success": False}
            case "client/registerCapability" | "client/unregisterCapability" | "window/workDoneProgress/create":
                reply["result"] = None
            case "window/showMessageRequest" | "workspace/diagnostic/refresh" | "workspace/codeLens/refresh":
                reply["result"] = None
            case _:
                reply["error"] = {"code": -32601, "message": f"{method} is not known here"}
        if not self.failure:
            self._send(reply)

    def _setting(self, item: Any) -> Any:
        section = cast("dict[str, Any]", item).get("section") if isinstance(item, dict) else None
        found: Any = self._settings
        for part in section.split(".") if isinstance(section, str) and section else ():
            found = cast("dict[str, Any]", found).get(part) if isinstance(found, dict) else None
        return found

    def _error(self, data: bytes) -> None:
        self._errors += data
        del self._errors[:-_KEPT_ERRORS]

    # --- its end --------------------------------------------------------------------------------------------------

    def _over(self) -> None:
        code = self._child.code
        self._side.drain()
        lines = self._errors.decode("utf-8", "replace").strip().splitlines()
        telling = [line for line in lines if re.search(r"(?i)error|panic|fatal|exception|not found|cannot", line)]
        said = f": {(telling or lines)[-1].strip()[:300]}" if lines else ""
        self.fail(f"it ended{f' with code {code}' if code is not None else ''}{said}")

    def fail(self, why: str) -> None:
        """Give it up: every question that waits ends."""
        if self.failure:
            return
        self.failure = why
        self._gone.set()
        for future in self._waiting.values():
            if not future.done():
                future.set_exception(ServerFailed(why))
        self._unsent.clear()
        if self._timer is not None:
            self._timer.cancel()
        with contextlib.suppress(OSError):
            self._child.kill()

    async def stop(self) -> None:
        """End it: politely while it answers, then for good."""
        if not self.failure:
            with contextlib.suppress(ServerFailed):
                await self.ask("shutdown", None, _ENDING)
            self.tell("exit", None)
            with anyio.move_on_after(_ENDING):
                await self._gone.wait()
            self.fail("it was stopped")
        await self._child.stop()
        self._child.close()
        self._side.__exit__()


class _Again(ServerFailed):
    """The question is to be asked again."""


def _refused(error: dict[str, Any]) -> ServerFailed:
    said = " ".join(str(error.get("message", "no reason given")).split())[:300]
    if error.get("code") in _RETRIED:
        return _Again(said)
    return ServerFailed(f"it refused: {said}")
