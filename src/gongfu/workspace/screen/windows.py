"""The windows that are shown, on each system."""

from __future__ import annotations

import os
import sys
from importlib import import_module
from typing import Any, cast

from gongfu.workspace.screen.orders import Area, ScreenProblem, Window
from gongfu.workspace.screen.programs import call, has

_MOST = 300
_DEPTH = 3
_VIEWABLE = 2  # X's word for a window that is to be seen


def windows() -> list[Window]:
    """The windows with a title, the topmost last where that is known. ScreenProblem when they cannot be listed."""
    match sys.platform:
        case "win32":
            return _of_windows()
        case "darwin":
            return _of_mac()
        case _:
            return _of_x()


def window_of(title: str) -> Window:
    """The window whose title holds `title`, whatever the case; one of exactly that title first."""
    shown = windows()
    wanted = title.casefold()
    exact = [w for w in shown if w.title.casefold() == wanted]
    found = exact or [w for w in shown if wanted in w.title.casefold()]
    if not found:
        names = ", ".join(repr(w.title[:60]) for w in shown[:12]) or "none"
        raise ScreenProblem(f"no window has {title!r} in its title; the windows are: {names}")
    return found[-1]


# --- X --------------------------------------------------------------------------------------------------------------


def _of_x() -> list[Window]:
    try:
        display: Any = import_module("Xlib.display")
    except ImportError:
        return _by_xdotool()
    try:
        screen = display.Display()
    except Exception as error:  # noqa: BLE001 - Xlib has many kinds of errors for a display that is not there
        raise ScreenProblem(f"the display {os.environ.get('DISPLAY', '')} cannot be used: {error}") from None
    try:
        return _listed_by(screen)
    finally:
        screen.close()


def _listed_by(screen: Any) -> list[Window]:
    root = screen.screen().root
    listed = root.get_full_property(screen.intern_atom("_NET_CLIENT_LIST_STACKING"), 0)
    if listed is None:
        listed = root.get_full_property(screen.intern_atom("_NET_CLIENT_LIST"), 0)
    if listed is not None and len(listed.value):
        clients = [screen.create_resource_object("window", int(number)) for number in listed.value[:_MOST]]
        return [known for window in clients if (known := _described(screen, root, window)) is not None]
    found: list[Window] = []
    for top in root.query_tree().children[:_MOST]:
        known = _below(screen, root, top, _DEPTH)
        if known is not None:
            found.append(known)
    return found


def _below(screen: Any, root: Any, window: Any, depth: int) -> Window | None:
    """The window itself or, in the frame of a window manager, the first below it that has a title."""
    try:
        found = _described(screen, root, window)
        if found is not None or not depth:
            return found
        for child in window.query_tree().children[:20]:
            found = _below(screen, root, child, depth - 1)
            if found is not None:
                return found
    except Exception as error:  # a window that is closed meanwhile
        if "BadWindow" not in type(error).__name__:
            raise
    return None


def _described(screen: Any, root: Any, window: Any) -> Window | None:
    try:
        if window.get_attributes().map_state != _VIEWABLE:
            return None
        title = _title(screen, window)
        size = window.get_geometry()
        corner = root.translate_coords(window, 0, 0)
    except Exception as error:  # the same
        if "Bad" not in type(error).__name__:
            raise
        return None
    if not title:
        return None
    area = Area(left=int(corner.x), top=int(corner.y), width=int(size.width), height=int(size.height))
    return Window(title=title, area=area, id=int(window.id))


def _title(screen: Any, window: Any) -> str:
    named = window.get_full_property(screen.intern_atom("_NET_WM_NAME"), screen.intern_atom("UTF8_STRING"))
    if named is not None and named.value:
        value = named.value
        return value.decode("utf-8", "replace") if isinstance(value, bytes) else str(value)
    value = window.get_wm_name()
    return value.decode("utf-8", "replace") if isinstance(value, bytes) else str(value or "")


def _by_xdotool() -> list[Window]:
    if not has("xdotool"):
        raise ScreenProblem("windows are found with the package pynput (pip install 'gongfu[desktop]') or xdotool")
    found: list[Window] = []
    for number in call("xdotool", "search", "--onlyvisible", "--name", ".", fine=(0, 1)).split()[:_MOST]:
        name = number.decode("ascii", "replace")
        title = call("xdotool", "getwindowname", name).decode("utf-8", "replace").strip()
        shape = dict(
            line.split("=", 1)
            for line in call("xdotool", "getwindowgeometry", "--shell", name).decode("ascii", "replace").splitlines()
            if "=" in line
        )
        area = Area(left=int(shape["X"]), top=int(shape["Y"]), width=int(shape["WIDTH"]), height=int(shape["HEIGHT"]))
        found.append(Window(title=title, area=area, id=int(name)))
    return found


# --- macOS and Windows ----------------------------------------------------------------------------------------------


def _of_mac() -> list[Window]:
    try:
        quartz: Any = import_module("Quartz")
    except ImportError:
        raise ScreenProblem("windows are found with the package pynput: pip install 'gongfu[desktop]'") from None
    shown = quartz.kCGWindowListOptionOnScreenOnly | quartz.kCGWindowListExcludeDesktopElements
    found: list[Window] = []
    for one in cast("list[dict[str, Any]]", quartz.CGWindowListCopyWindowInfo(shown, quartz.kCGNullWindowID))[:_MOST]:
        title = " ".join(t for t in (one.get("kCGWindowOwnerName"), one.get("kCGWindowName")) if t)
        edge: dict[str, float] = one.get("kCGWindowBounds") or {}
        if title and edge:
            area = Area(left=int(edge["X"]), top=int(edge["Y"]), width=int(edge["Width"]), height=int(edge["Height"]))
            found.append(Window(title=title, area=area, id=int(one.get("kCGWindowNumber", 0))))
    return found[::-1]


def _of_windows() -> list[Window]:
    ctypes: Any = import_module("ctypes")
    user: Any = ctypes.windll.user32
    wintypes: Any = import_module("ctypes.wintypes")
    found: list[Window] = []

    def each(handle: Any, _: Any) -> bool:
        length = user.GetWindowTextLengthW(handle)
        if length and user.IsWindowVisible(handle) and not user.IsIconic(handle):
            text, edge = ctypes.create_unicode_buffer(length + 1), wintypes.RECT()
            user.GetWindowTextW(handle, text, length + 1)
            user.GetWindowRect(handle, ctypes.byref(edge))
            width, height = edge.right - edge.left, edge.bottom - edge.top
            area = Area(left=int(edge.left), top=int(edge.top), width=int(width), height=int(height))
            found.append(Window(title=str(text.value), area=area, id=int(handle or 0)))
        return len(found) < _MOST

    callback = ctypes.WINFUNCTYPE(ctypes.c_bool, wintypes.HWND, wintypes.LPARAM)(each)
    user.EnumWindows(callback, 0)
    return found[::-1]
