"""Typing on X: with real key events (XTest), also characters that no key of the keyboard has.

Those get a key that has none for the time. Events that a program is merely sent are ignored by many programs.
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from importlib import import_module
from typing import Any, Final

from gongfu.workspace.screen.orders import KEYS, ScreenProblem
from gongfu.workspace.screen.programs import why_no_display

_PAUSE: Final = 0.012  # seconds between letters
_NOTICE: Final = 0.15  # seconds that programs get to learn of a changed keyboard, and to use it up
_UNICODE: Final = 0x01000000  # X's names for characters beyond Latin-1 begin here
_LATIN: Final = 0x100
_RETURN, _TAB, _SHIFT = 0xFF0D, 0xFF09, 0xFFE1
_NAMES: Final = {"ctrl": "Control_L", "alt": "Alt_L", "shift": "Shift_L", "super": "Super_L"}
_PRESS, _RELEASE = 2, 3  # X's numbers of the events


class XKeyboard:
    """The keyboard of the display in the environment. ScreenProblem when it cannot be reached."""

    by = "xtest"

    def __init__(self) -> None:
        try:
            self._display: Any = import_module("Xlib.display").Display()
        except Exception as error:  # noqa: BLE001 - Xlib has many kinds of errors for a display that is not there
            raise ScreenProblem(why_no_display(error)) from None
        if not self._display.has_extension("XTEST"):
            raise ScreenProblem(f"the display {os.environ.get('DISPLAY', '')} takes no keys of programs (XTEST)")
        self._fake: Any = import_module("Xlib.ext.xtest").fake_input
        self._first = int(self._display.display.info.min_keycode)
        count = int(self._display.display.info.max_keycode) - self._first + 1
        self._map = [list(map(int, row)) for row in self._display.get_keyboard_mapping(self._first, count)]
        self._keys = {sym: (self._first + at, level) for sym, at, level in self._named()}
        self._spare = [self._first + at for at, row in enumerate(self._map) if not any(row)]

    def _named(self) -> Iterator[tuple[int, int, int]]:
        """What each key gives, alone or with shift; later ones first, so that the first key of a name is taken."""
        for level in (1, 0):
            for at in range(len(self._map) - 1, -1, -1):
                if level < len(self._map[at]) and self._map[at][level]:
                    yield self._map[at][level], at, level

    def type(self, text: str) -> None:
        """Type a text."""
        syms = [_sym(letter) for letter in text]
        while syms:
            part = self._lend(syms)
            for sym in syms[:part]:
                self._tap(*self._keys[sym])
                time.sleep(_PAUSE)
            syms = syms[part:]
            self._give_back()

    def press(self, names: tuple[str, ...], hold: float) -> None:
        """Press keys together and let them go after `hold` seconds."""
        syms = [self._sym_of(name) for name in names]
        if self._lend(syms) < len(syms):
            raise ScreenProblem("the keyboard has too few keys for that; no key was pressed")
        shift = any(self._keys[sym][1] for sym in syms) and _SHIFT not in syms
        codes = [self._keys[sym][0] for sym in ([_SHIFT] if shift else []) + syms]
        down: list[int] = []
        try:
            for code in codes:
                self._send(_PRESS, code)
                down.append(code)
            time.sleep(max(hold, _PAUSE))
        finally:
            for code in reversed(down):
                self._send(_RELEASE, code)
            time.sleep(_PAUSE)
            self._give_back()

    @staticmethod
    def _sym_of(name: str) -> int:
        if name not in KEYS:
            return _sym(name)
        called = KEYS[name][1]
        return int(import_module("Xlib.XK").string_to_keysym(_NAMES.get(called, called)))

    def _lend(self, syms: list[int]) -> int:
        """Give keys to characters that have none; how many of `syms`, from the first, can be typed now."""
        missing: list[int] = []
        part = 0
        for sym in syms:
            if sym not in self._keys and sym not in missing:
                if len(missing) == len(self._spare):
                    break
                missing.append(sym)
            part += 1
        if not part:
            raise ScreenProblem("the keyboard has no key left for that character; use the clipboard and ctrl+v")
        for sym, code in zip(missing, self._spare, strict=False):
            self._display.change_keyboard_mapping(code, [[sym] * 2])
            self._keys[sym] = (code, 0)
        if missing:
            self._display.sync()
            time.sleep(_NOTICE)
        return part

    def _give_back(self) -> None:
        """Take the keys back, once programs have seen what was typed with them."""
        lent = [sym for sym, (code, _) in self._keys.items() if code in self._spare]
        if lent:
            time.sleep(_NOTICE)
            for sym in lent:
                self._display.change_keyboard_mapping(self._keys.pop(sym)[0], [[0] * 2])
        self._display.sync()

    def _tap(self, code: int, level: int) -> None:
        codes = [self._keys[_SHIFT][0], code] if level else [code]
        for one in codes:
            self._send(_PRESS, one)
        for one in reversed(codes):
            self._send(_RELEASE, one)

    def _send(self, event: int, code: int) -> None:
        self._fake(self._display, event, code)
        self._display.sync()


def _sym(letter: str) -> int:
    """X's number for a character."""
    if letter in "\n\t":
        return _RETURN if letter == "\n" else _TAB
    return ord(letter) if ord(letter) < _LATIN else _UNICODE | ord(letter)
