"""Trying a graphical program: on a display of its own, for a while, with a picture of its window."""

from __future__ import annotations

import contextlib
import os
import secrets
import shutil
import signal
import socket
import struct
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import Protocol

from gongfu.workspace.screen.orders import Area, ScreenProblem, Told, TryProgram, Window
from gongfu.workspace.screen.png import Pixels, from_xwd
from gongfu.workspace.screen.shots import Camera, camera, pictured
from gongfu.workspace.screen.windows import windows

_LOOK = 0.05  # seconds between two looks at the screen
_KEPT = 64 * 1024
_POLITE = 1.0
_START = 10.0
_SOCKETS = Path("/tmp/.X11-unix")  # noqa: S108 - where X has its sockets


def try_program(order: TryProgram) -> Told:
    """Start it, wait for its window, take the picture, stop it with all that it started."""
    if order.screen:
        with _theirs() as display:
            return _tried(order, display)
    with _private(order.size) as display:
        return _tried(order, display)


def _tried(order: TryProgram, display: _Display) -> Told:
    empty = display.look()
    started = time.monotonic()
    try:
        program = _Program(order.argv, display.env)
    except OSError as error:
        raise ScreenProblem(f"it could not be started: {error}") from None
    shown_after = 0.0
    try:
        while (now := time.monotonic() - started) < order.seconds and not program.ended:
            if display.look() != empty:
                shown_after = now
                break
            program.wait(_LOOK)
        if shown_after:
            program.wait(min(order.settle, max(0.0, order.seconds + order.settle - shown_after)))
        found = display.found()
        pixels, area = display.picture(found)
        code = program.code
    finally:
        program.stop()
    return Told(
        picture=pictured(pixels, area, order.longest, whole=True) if shown_after else None,
        windows=tuple(found), output=program.output(), code=code, seconds=round(shown_after, 2), by=display.name,
    )  # fmt: skip


class _Program:
    """The program, in a group of its own; its output is read as it comes."""

    def __init__(self, argv: list[str], env: dict[str, str]) -> None:
        self._process = subprocess.Popen(
            argv, env=env, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
            start_new_session=sys.platform != "win32",
        )  # fmt: skip
        self._head, self._tail = bytearray(), bytearray()
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    def _read(self) -> None:
        pipe = self._process.stdout
        while pipe is not None and (data := os.read(pipe.fileno(), 1 << 16)):
            if len(self._head) < _KEPT // 2:
                self._head += data
            else:
                self._tail += data
                del self._tail[: -_KEPT // 2]

    @property
    def ended(self) -> bool:
        return self._process.poll() is not None

    @property
    def code(self) -> int | None:
        return self._process.poll()

    def wait(self, seconds: float) -> None:
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(seconds)

    def stop(self) -> None:
        """End it and all of its group: politely, then for certain."""
        if sys.platform == "win32":
            subprocess.run(["taskkill", "/T", "/F", "/PID", str(self._process.pid)], capture_output=True, check=False)
        else:
            for how in (signal.SIGTERM, signal.SIGKILL):
                with contextlib.suppress(ProcessLookupError, PermissionError):
                    os.killpg(self._process.pid, how)
                self.wait(_POLITE)
        self._reader.join(_POLITE)

    def output(self) -> str:
        joint = b"\n[...]\n" if self._tail else b""
        return bytes(self._head + joint + self._tail).decode("utf-8", "replace")


class _Display(Protocol):
    """Where a program is tried."""

    name: str
    env: dict[str, str]

    def look(self) -> object:
        """What is there now: changes when a window appears."""
        ...

    def found(self) -> list[Window]:
        """The windows of the program."""
        ...

    def picture(self, found: list[Window], /) -> tuple[Pixels, Area]:
        """Its windows, or all that is to be seen."""
        ...


# --- a private display ----------------------------------------------------------------------------------------------


class _Framebuffer:
    name = "private"

    def __init__(self, env: dict[str, str], file: Path) -> None:
        self.env = env
        self._file = file

    def look(self) -> object:
        try:
            return self._file.read_bytes()
        except OSError as error:
            raise ScreenProblem(f"the private display shows nothing: {error}") from None

    def _pixels(self) -> Pixels:
        try:
            return from_xwd(self._file.read_bytes())
        except (OSError, ValueError) as error:
            raise ScreenProblem(f"the private display shows nothing: {error}") from None

    def found(self) -> list[Window]:
        kept = {name: os.environ.get(name) for name in ("DISPLAY", "XAUTHORITY", "WAYLAND_DISPLAY")}
        os.environ.update({name: self.env[name] for name in ("DISPLAY", "XAUTHORITY")})
        os.environ.pop("WAYLAND_DISPLAY", None)
        try:
            return windows()
        except ScreenProblem:  # nothing is there that could list them: the picture shows them all the same
            return []
        finally:
            for name, value in kept.items():
                os.environ.pop(name, None)
                if value is not None:
                    os.environ[name] = value

    def picture(self, found: list[Window]) -> tuple[Pixels, Area]:
        pixels = self._pixels()
        every = Area(left=0, top=0, width=pixels.width, height=pixels.height)
        area = _around(found, every)
        return pixels.cut(area.left, area.top, area.width, area.height), area


def _around(found: list[Window], every: Area) -> Area:
    """The smallest area with all windows in it."""
    left = max(0, min((w.area.left for w in found), default=0))
    top = max(0, min((w.area.top for w in found), default=0))
    right = min(every.width, max((w.area.left + w.area.width for w in found), default=every.width))
    low = min(every.height, max((w.area.top + w.area.height for w in found), default=every.height))
    return Area(left=left, top=top, width=right - left, height=low - top) if left < right and top < low else every


@contextmanager
def _private(size: tuple[int, int]) -> Generator[_Framebuffer]:
    server = shutil.which("Xvfb")
    if server is None:
        raise ScreenProblem("there is no Xvfb")
    with tempfile.TemporaryDirectory(prefix="gongfu-screen-") as folder:
        with contextlib.suppress(OSError):  # else the server says what it lacks
            _SOCKETS.mkdir(mode=0o1777, exist_ok=True)
        login, cookie = Path(folder) / "login", secrets.token_bytes(16)
        login.write_bytes(_entries(cookie, ""))
        ready, told = os.pipe()
        argv = [
            server, "-displayfd", str(told), "-screen", "0", f"{size[0]}x{size[1]}x24", "-fbdir", folder, "-auth",
            str(login), "-nolisten", "tcp", "-noreset", "-br",
        ]  # fmt: skip
        log = Path(folder) / "log"
        with log.open("wb") as file:
            process = subprocess.Popen(
                argv, stdin=subprocess.DEVNULL, stdout=file, stderr=file, pass_fds=(told,), start_new_session=True
            )
        os.close(told)
        try:
            number = _number(ready, process)
            if not number:
                said = log.read_text("utf-8", "replace").strip().splitlines()
                raise ScreenProblem(f"the private display did not start: {' '.join(said[-3:])[:300]}")
            login.write_bytes(_entries(cookie, number))
            yield _Framebuffer(_env(f":{number}", str(login)), Path(folder) / "Xvfb_screen0")
        finally:
            process.terminate()
            try:
                process.wait(_POLITE)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
            os.close(ready)


def _entries(cookie: bytes, number: str) -> bytes:
    """A file with the password of display `number` ("" for any) in the form of Xauth: for this host, and for all."""
    here = (b"\x01\x00", socket.gethostname().encode())  # FamilyLocal
    every = (b"\xff\xff", b"")  # FamilyWild, which not all clients know
    return b"".join(
        family
        + b"".join(struct.pack(">H", len(f)) + f for f in (address, number.encode(), b"MIT-MAGIC-COOKIE-1", cookie))
        for family, address in (here, every)
    )


def _number(ready: int, process: subprocess.Popen[bytes]) -> str:
    """The number of the display, which the server tells when it can be used; "" when it does not come up."""
    import select  # not on Windows for pipes, where there is no such server either

    said, end = b"", time.monotonic() + _START
    while not said.endswith(b"\n") and time.monotonic() < end:
        if select.select([ready], [], [], 0.1)[0]:
            data = os.read(ready, 32)
            if not data:
                break
            said += data
        elif process.poll() is not None:
            break
    return said.decode("ascii", "replace").strip()


def _env(display: str, login: str) -> dict[str, str]:
    env = {name: value for name, value in os.environ.items() if not name.startswith(("WAYLAND_", "DBUS_SESSION_BUS"))}
    return env | {
        "DISPLAY": display, "XAUTHORITY": login, "XDG_SESSION_TYPE": "x11", "GDK_BACKEND": "x11",
        "QT_QPA_PLATFORM": "xcb", "SDL_VIDEODRIVER": "x11", "LIBGL_ALWAYS_SOFTWARE": "1", "NO_AT_BRIDGE": "1",
    }  # fmt: skip


# --- the person's screen --------------------------------------------------------------------------------------------


class _Screen:
    name = "screen"

    def __init__(self, found: Camera) -> None:
        self.env = dict(os.environ)
        self._camera = found
        self._before = {w.id for w in self._listed()}

    @staticmethod
    def _listed() -> list[Window]:
        return windows()

    def look(self) -> object:
        return {w.id for w in self._listed()} - self._before

    def found(self) -> list[Window]:
        return [w for w in self._listed() if w.id not in self._before]

    def picture(self, found: list[Window]) -> tuple[Pixels, Area]:
        every = self._camera.screens[0]
        inside = Area(left=0, top=0, width=every.width, height=every.height)
        area = _around(found, inside) if not (every.left or every.top) else every
        return self._camera.grab(area), area


@contextmanager
def _theirs() -> Generator[_Screen]:
    with camera() as found:
        yield _Screen(found)
