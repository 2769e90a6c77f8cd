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

from gongfu.workspace.screen.orders import Area, ScreenProblem, Server, Told, TryProgram, Window
from gongfu.workspace.screen.png import Pixels, from_xwd
from gongfu.workspace.screen.shots import Camera, camera, pictured
from gongfu.workspace.screen.windows import windows

_LOOK = 0.05  # seconds between two looks at the screen
_KEPT = 64 * 1024
_POLITE = 1.0
_START = 10.0
_NAMES = (1000, 50000)  # far from those of people
_TRIES = 50
_SOCKETS = Path("/tmp/.X11-unix")  # noqa: S108 - where X has its sockets


def try_program(order: TryProgram) -> Told:
    """Start it, wait for its window, take the picture, stop it with all that it started."""
    if order.screen:
        with _theirs() as display:
            return _tried(order, display)
    if order.server is not None:
        return _tried(order, _Framebuffer(order.server))
    with private_display(order.size) as server:
        return _tried(order, _Framebuffer(server))


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
            room = _KEPT // 2 - len(self._head)
            self._head += data[:room]
            self._tail += data[room:]
            del self._tail[: -(_KEPT // 2)]

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

    def __init__(self, server: Server) -> None:
        self.env = _env(server)
        self._file = Path(server.shows)

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
def private_display(size: tuple[int, int], folder: str | None = None) -> Generator[Server]:
    """A display of so many pixels that nobody sees, as long as it is needed. ScreenProblem when it does not start.

    Its files lie below `folder`, by itself that of temporary files.
    """
    program = shutil.which("Xvfb")
    if program is None:
        raise ScreenProblem("there is no Xvfb")
    with tempfile.TemporaryDirectory(prefix="gongfu-screen-", dir=folder) as own, _free_name() as name:
        login, cookie = Path(own) / "login", secrets.token_bytes(16)
        login.write_bytes(_entries(cookie, name[1:]))
        ready, told = os.pipe()
        # "local" is the name without a file: Landlock closes it, and clients then try no other
        argv = [
            program, name, "-displayfd", str(told), "-screen", "0", f"{size[0]}x{size[1]}x24", "-fbdir", own, "-auth",
            str(login), "-nolisten", "tcp", "-nolisten", "local", "-noreset", "-br",
        ]  # fmt: skip
        log = Path(own) / "log"
        with log.open("wb") as file:
            process = subprocess.Popen(
                argv, stdin=subprocess.DEVNULL, stdout=file, stderr=file, pass_fds=(told,), start_new_session=True
            )
        os.close(told)
        try:
            if not _answers(ready, process):
                said = log.read_text("utf-8", "replace").strip().splitlines()
                raise ScreenProblem(f"the private display did not start: {' '.join(said[-3:])[:300]}")
            yield Server(name=name, login=str(login), shows=str(Path(own) / "Xvfb_screen0"))
        finally:
            process.terminate()
            try:
                process.wait(_POLITE)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
            os.close(ready)


@contextmanager
def _free_name() -> Generator[str]:
    """A name that no display has, kept by the lock that X servers heed. A server that chooses its name itself heeds
    none, and may take the socket of another away."""
    with contextlib.suppress(OSError):  # else the server says what it lacks
        _SOCKETS.mkdir(mode=0o1777, exist_ok=True)
    for _ in range(_TRIES):
        number = _NAMES[0] + secrets.randbelow(_NAMES[1] - _NAMES[0])
        lock = _SOCKETS.parent / f".X{number}-lock"
        try:
            descriptor = os.open(lock, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o444)
        except FileExistsError:
            continue
        except OSError as error:
            raise ScreenProblem(f"the private display did not start: {error}") from None
        try:
            os.write(descriptor, f"{os.getpid():10d}\n".encode())
            os.close(descriptor)
            if not (_SOCKETS / f"X{number}").exists():
                yield f":{number}"
                return
        finally:
            lock.unlink(missing_ok=True)
    raise ScreenProblem("no name for a private display is free")


def _entries(cookie: bytes, number: str) -> bytes:
    """A file with the password of display `number` ("" for any) in the form of Xauth: for this host, and for all."""
    here = (b"\x01\x00", socket.gethostname().encode())  # FamilyLocal
    every = (b"\xff\xff", b"")  # FamilyWild, which not all clients know
    return b"".join(
        family
        + b"".join(struct.pack(">H", len(f)) + f for f in (address, number.encode(), b"MIT-MAGIC-COOKIE-1", cookie))
        for family, address in (here, every)
    )


def _answers(ready: int, process: subprocess.Popen[bytes]) -> bool:
    """Whether the server comes up: then it tells its number."""
    import select  # not on Windows for pipes, where there is no such server either

    end = time.monotonic() + _START
    while time.monotonic() < end:
        if select.select([ready], [], [], 0.1)[0]:
            return bool(os.read(ready, 32))
        if process.poll() is not None:
            return False
    return False


def _env(server: Server) -> dict[str, str]:
    env = {name: value for name, value in os.environ.items() if not name.startswith(("WAYLAND_", "DBUS_SESSION_BUS"))}
    return env | {
        "DISPLAY": server.name, "XAUTHORITY": server.login, "XDG_SESSION_TYPE": "x11", "GDK_BACKEND": "x11",
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
