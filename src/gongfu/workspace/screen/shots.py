"""Pictures of the screen."""

from __future__ import annotations

import sys
from collections.abc import Generator
from contextlib import contextmanager
from importlib import import_module
from typing import Any

from gongfu.workspace.screen.orders import Area, Picture, ScreenProblem, TakeShot, Told
from gongfu.workspace.screen.png import Pixels, from_ppm, from_xwd
from gongfu.workspace.screen.programs import call, has, on_wayland, why_no_display
from gongfu.workspace.screen.windows import window_of

_INSTALL = "pip install 'gongfu[desktop]'"


class Camera:
    """What takes pictures: `screens` are the monitors, the first is all of them; `grab` gives the pixels of an area.

    `by` is what it works with.
    """

    def __init__(self, by: str, screens: list[Area]) -> None:
        self.by = by
        self.screens = screens

    @property
    def monitors(self) -> list[Area]:
        """Each monitor by itself."""
        return self.screens[1:] or self.screens

    def grab(self, area: Area) -> Pixels:
        """The pixels of an area; there may be more of them than the area has units."""
        raise ScreenProblem(f"{self.by} takes no picture of {area}")


class _Mss(Camera):
    def __init__(self, library: Any) -> None:
        self._library = library
        every: list[dict[str, int]] = list(library.monitors)
        super().__init__(
            "mss", [Area(left=m["left"], top=m["top"], width=m["width"], height=m["height"]) for m in every]
        )

    def grab(self, area: Area) -> Pixels:
        shot = self._library.grab({"left": area.left, "top": area.top, "width": area.width, "height": area.height})
        return Pixels(width=int(shot.width), height=int(shot.height), rgb=bytes(shot.rgb))


class _Whole(Camera):
    """A picture of everything by a program, of which parts are cut."""

    def __init__(self, by: str, pixels: Pixels) -> None:
        super().__init__(by, [Area(left=0, top=0, width=pixels.width, height=pixels.height)])
        self._pixels = pixels

    def grab(self, area: Area) -> Pixels:
        return self._pixels.cut(area.left, area.top, area.width, area.height)


@contextmanager
def camera() -> Generator[Camera]:
    """What takes pictures here. ScreenProblem when nothing can."""
    if on_wayland():
        yield _of_wayland()
        return
    try:
        mss: Any = import_module("mss")
    except ImportError:
        yield _by_program()
        return
    try:
        library = mss.mss() if not hasattr(mss, "MSS") else mss.MSS()
    except Exception as error:  # noqa: BLE001 - the library has other errors on each system
        raise ScreenProblem(why_no_display(error)) from None
    with library:
        yield _Mss(library)


def _of_wayland() -> Camera:
    if has("grim"):
        return _Whole("grim", from_ppm(call("grim", "-t", "ppm", "-")))
    raise ScreenProblem(
        "this is a Wayland session, in which a program may not take pictures of the screen by itself. With a wlroots "
        "desktop (sway, Hyprland) the program grim can (sudo apt-get install grim); on GNOME and KDE log in to an X11 "
        "session"
    )


def _by_program() -> Camera:
    if sys.platform == "linux" and has("xwd"):
        return _Whole("xwd", _read(from_xwd, call("xwd", "-root", "-silent")))
    if sys.platform == "linux" and has("import"):
        return _Whole("import", _read(from_ppm, call("import", "-silent", "-window", "root", "-depth", "8", "ppm:-")))
    raise ScreenProblem(f"pictures of the screen are taken by the package mss, which is not installed: {_INSTALL}")


def _read(form: Any, raw: bytes) -> Pixels:
    try:
        return form(raw)
    except ValueError as error:
        raise ScreenProblem(str(error)) from None


def take(order: TakeShot) -> Told:
    """Take the picture that is asked for."""
    with camera() as found:
        area, titles = _wanted(order, found)
        try:
            pixels = found.grab(area)
        except ScreenProblem:
            raise
        except Exception as error:  # noqa: BLE001 - the library has other errors on each system
            raise ScreenProblem(f"{why_no_display(error)}{_permission()}") from None
        picture = pictured(pixels, area, order.longest, whole=order.whole)
        return Told(picture=picture, monitors=tuple(found.monitors), text=titles, by=found.by)


def _permission() -> str:
    if sys.platform != "darwin":
        return ""
    return " (macOS: allow the terminal under System Settings > Privacy & Security > Screen Recording)"


def pictured(pixels: Pixels, area: Area, longest: int, *, whole: bool) -> Picture:
    """A picture of `area` with no side above `longest`, and in full too when it is `whole`."""
    small = pixels.smaller(longest)
    more = pixels.png() if whole and small is not pixels else b""
    return Picture(area=area, width=small.width, height=small.height, png=small.png(), whole=more)


def _wanted(order: TakeShot, found: Camera) -> tuple[Area, str]:
    every = found.screens[0]
    if order.window:
        window = window_of(order.window)
        return _inside(window.area, every, f"the window {window.title!r}"), window.title
    if order.part is not None:
        return _inside(order.part, every, "the region"), ""
    if order.monitor > len(found.monitors):
        raise ScreenProblem(f"there is no monitor {order.monitor}; there are {len(found.monitors)}")
    return (found.monitors[order.monitor - 1] if order.monitor else every), ""


def _inside(part: Area, every: Area, what: str) -> Area:
    left, top = max(part.left, every.left), max(part.top, every.top)
    right = min(part.left + part.width, every.left + every.width)
    low = min(part.top + part.height, every.top + every.height)
    if right <= left or low <= top:
        raise ScreenProblem(f"{what} ({part}) lies outside the screen ({every})")
    return Area(left=left, top=top, width=right - left, height=low - top)
