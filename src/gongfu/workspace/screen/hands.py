"""The mouse and the keyboard."""

from __future__ import annotations

import sys
import time
from importlib import import_module
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

from gongfu.workspace.screen.orders import KEYS, Area, ScreenProblem, Told, UseKeys, UseMouse
from gongfu.workspace.screen.programs import call, has, on_wayland, why_no_display
from gongfu.workspace.screen.shots import camera

if TYPE_CHECKING:
    from gongfu.workspace.screen.xkeys import XKeyboard

_INSTALL = "pip install 'gongfu[desktop]'"
_STEPS = 20  # a drag in one jump is none for most programs
_PAUSE = 0.012  # seconds between letters
_BUTTONS = {"left": "1", "middle": "2", "right": "3"}


def use_mouse(order: UseMouse) -> Told:
    """Move, click, drag or scroll; tells where the mouse is in the end."""
    _may("moves the mouse")
    every = _screens()
    for x, y in ((order.x, order.y), order.to or (None, None)):
        if x is not None and y is not None and not any(area.holds(x, y) for area in every):
            areas = "; ".join(map(str, every))
            raise ScreenProblem(f"{x},{y} lies outside the screen ({areas}); nothing was done")
    mouse = _mouse()
    if order.x is not None and order.y is not None:
        mouse.move(order.x, order.y)
    match order.deed:
        case "click":
            mouse.click(order.button, order.count)
        case "drag" if order.to is not None:
            mouse.drag(order.button, order.to)
        case "scroll":
            mouse.scroll(*order.wheel)
        case _:
            pass
    return Told(at=mouse.position(), by=mouse.by)


def use_keys(order: UseKeys) -> Told:
    """Type a text, or press keys."""
    _may("types")
    keyboard = _keyboard()
    if order.text:
        keyboard.type(order.text)
    for names in order.presses:
        keyboard.press(names, order.hold)
    return Told(by=keyboard.by)


def _may(what: str) -> None:
    if on_wayland():
        raise ScreenProblem(
            f"this is a Wayland session, in which no program {what} for others. Log in to an X11 session for it; the "
            "clipboard works (tool clipboard), and try_gui on a private display does too. Nothing was done"
        )


def _screens() -> list[Area]:
    if find_spec("mss") is not None or not has("xdotool"):
        with camera() as found:
            return found.monitors
    width, height = call("xdotool", "getdisplaygeometry").split()
    return [Area(left=0, top=0, width=int(width), height=int(height))]


def _library(name: str) -> Any:
    """A part of pynput; None when it is not installed and xdotool stands in. It opens the display when it is loaded."""
    if find_spec("pynput") is None:
        if has("xdotool"):
            return None
        raise ScreenProblem(
            f"the mouse and the keyboard are used by the package pynput, which is not installed: {_INSTALL}"
        )
    try:
        return import_module(name)
    except Exception as error:  # noqa: BLE001 - the libraries below it have other errors on each system
        raise ScreenProblem(why_no_display(error)) from None


# --- the mouse ------------------------------------------------------------------------------------------------------


class _Mouse:
    by = "pynput"

    def __init__(self, library: Any) -> None:
        self._hand = library.Controller()
        self._buttons = library.Button

    def position(self) -> tuple[int, int]:
        x, y = self._hand.position
        return round(x), round(y)

    def move(self, x: int, y: int) -> None:
        self._hand.position = (x, y)

    def click(self, button: str, count: int) -> None:
        self._hand.click(getattr(self._buttons, button), count)

    def drag(self, button: str, to: tuple[int, int]) -> None:
        start = self.position()
        pressed = getattr(self._buttons, button)
        self._hand.press(pressed)
        try:
            for step in range(1, _STEPS + 1):
                self.move(*(round(a + (b - a) * step / _STEPS) for a, b in zip(start, to, strict=True)))
                time.sleep(_PAUSE)
        finally:
            self._hand.release(pressed)

    def scroll(self, right: int, down: int) -> None:
        self._hand.scroll(right, -down)


class _MouseByProgram:
    by = "xdotool"

    def position(self) -> tuple[int, int]:
        said = dict(part.split("=", 1) for part in call("xdotool", "getmouselocation", "--shell").decode().split())
        return int(said["X"]), int(said["Y"])

    def move(self, x: int, y: int) -> None:
        call("xdotool", "mousemove", "--sync", str(x), str(y)) if (x, y) != self.position() else None

    def click(self, button: str, count: int) -> None:
        call("xdotool", "click", "--repeat", str(count), "--delay", "60", _BUTTONS[button])

    def drag(self, button: str, to: tuple[int, int]) -> None:
        call("xdotool", "mousedown", _BUTTONS[button])
        try:
            call("xdotool", "mousemove", *map(str, to))
        finally:
            call("xdotool", "mouseup", _BUTTONS[button])

    def scroll(self, right: int, down: int) -> None:
        for clicks, more, less in ((down, "5", "4"), (right, "7", "6")):
            if clicks:
                call("xdotool", "click", "--repeat", str(abs(clicks)), more if clicks > 0 else less)


def _mouse() -> _Mouse | _MouseByProgram:
    library = _library("pynput.mouse")
    return _MouseByProgram() if library is None else _Mouse(library)


# --- the keyboard ---------------------------------------------------------------------------------------------------


class _Keyboard:
    by = "pynput"

    def __init__(self, library: Any) -> None:
        self._hand = library.Controller()
        self._keys = library.Key

    def type(self, text: str) -> None:
        for letter in text:
            key = {"\n": self._keys.enter, "\t": self._keys.tab}.get(letter, letter)
            self._hand.press(key)
            self._hand.release(key)
            time.sleep(_PAUSE)

    def press(self, names: tuple[str, ...], hold: float) -> None:
        keys = [self._key(name) for name in names]
        down: list[Any] = []
        try:
            for key in keys:
                self._hand.press(key)
                down.append(key)
            time.sleep(max(hold, _PAUSE))
        finally:
            for key in reversed(down):
                self._hand.release(key)
        time.sleep(_PAUSE)

    def _key(self, name: str) -> Any:
        if name not in KEYS:
            return name
        key = getattr(self._keys, KEYS[name][0], None)
        if key is None:
            raise ScreenProblem(f"there is no key {name} on this system; no key was pressed")
        return key


class _KeyboardByProgram:
    by = "xdotool"

    def type(self, text: str) -> None:
        call("xdotool", "type", "--clearmodifiers", "--delay", "20", "--file", "-", stdin=text.encode())

    def press(self, names: tuple[str, ...], hold: float) -> None:
        keys = [KEYS[name][1] if name in KEYS else f"U{ord(name):04X}" for name in names]
        if not hold:
            call("xdotool", "key", "+".join(keys))
            return
        call("xdotool", "keydown", "+".join(keys))
        try:
            time.sleep(hold)
        finally:
            call("xdotool", "keyup", "+".join(keys))


def _keyboard() -> _Keyboard | _KeyboardByProgram | XKeyboard:
    if sys.platform == "linux" and find_spec("Xlib") is not None:
        from gongfu.workspace.screen.xkeys import XKeyboard  # only on X

        return XKeyboard()
    library = _library("pynput.keyboard")
    return _KeyboardByProgram() if library is None else _Keyboard(library)
