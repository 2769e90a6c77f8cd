"""What the process that uses the screen is told, and what it says."""

from __future__ import annotations

from typing import Final, Literal, TypeAlias

from gongfu.core.base import Base

Button: TypeAlias = Literal["left", "middle", "right"]
Deed: TypeAlias = Literal["position", "move", "click", "drag", "scroll"]
LONGEST_SIDE: Final = 1568  # pixels: more is made smaller by those who serve models, and coordinates would be wrong


class ScreenProblem(Exception):
    """What keeps something from being done with the screen, in a sentence for the model."""


class Area(Base, frozen=True):
    """A part of the screen, in the units that the mouse is moved in."""

    left: int
    top: int
    width: int
    height: int

    def holds(self, x: int, y: int) -> bool:
        """Whether a point lies in it."""
        return self.left <= x < self.left + self.width and self.top <= y < self.top + self.height

    def __str__(self) -> str:
        return f"{self.width}x{self.height} at {self.left},{self.top}"


class Window(Base, frozen=True):
    """A window that is shown."""

    title: str
    area: Area
    id: int = 0


class TakeShot(Base, frozen=True, tag="shot"):
    """Take a picture: of a monitor (from 1), a part, the window whose title holds `window`, else of all."""

    monitor: int = 0
    part: Area | None = None
    window: str = ""
    longest: int = LONGEST_SIDE
    whole: bool = True


class UseMouse(Base, frozen=True, tag="mouse"):
    """Use the mouse; `x` and `y` are where (None: where it is), `to` ends a drag, `wheel` are clicks right and down."""

    deed: Deed
    x: int | None = None
    y: int | None = None
    button: Button = "left"
    count: int = 1
    to: tuple[int, int] | None = None
    wheel: tuple[int, int] = (0, 0)


class UseKeys(Base, frozen=True, tag="keys"):
    """Type `text`, or press combinations of key names one after the other, each held for `hold` seconds."""

    text: str = ""
    presses: tuple[tuple[str, ...], ...] = ()
    hold: float = 0.0


class UseClipboard(Base, frozen=True, tag="clipboard"):
    """Put `text` into the clipboard, or (None) tell what is in it."""

    text: str | None = None


class Server(Base, frozen=True):
    """A private display that runs: its name, the file with its password, the file that holds what it shows."""

    name: str
    login: str
    shows: str


class TryProgram(Base, frozen=True, tag="try"):
    """Start `argv` on a private display of that size (or, `screen`, on the person's), wait up to `seconds` for its
    window and let it stand for `settle` seconds, take its picture and stop it. `server` is a display that runs already.
    """

    argv: list[str]
    server: Server | None = None
    size: tuple[int, int] = (1280, 800)
    seconds: float = 10.0
    settle: float = 1.0
    screen: bool = False
    longest: int = LONGEST_SIDE


class UseNotice(Base, frozen=True, tag="notice"):
    """Show a notice."""

    title: str
    message: str = ""


Order: TypeAlias = TakeShot | UseMouse | UseKeys | UseClipboard | UseNotice | TryProgram


class Picture(Base, frozen=True):
    """A picture of `area`. `png` is what the model is shown, `whole` the same in full where that is more."""

    area: Area
    width: int
    height: int
    png: bytes
    whole: bytes = b""


class Told(Base, frozen=True):
    """What came of an order. `problem` says what kept it from being done."""

    problem: str = ""
    picture: Picture | None = None
    windows: tuple[Window, ...] = ()
    monitors: tuple[Area, ...] = ()
    at: tuple[int, int] | None = None
    text: str = ""
    output: str = ""
    code: int | None = None
    seconds: float = 0.0
    by: str = ""


KEYS: Final[dict[str, tuple[str, str]]] = {
    # name: how pynput and how X call it
    "ctrl": ("ctrl", "ctrl"), "alt": ("alt", "alt"), "shift": ("shift", "shift"), "cmd": ("cmd", "super"),
    "enter": ("enter", "Return"), "esc": ("esc", "Escape"), "tab": ("tab", "Tab"), "space": ("space", "space"),
    "backspace": ("backspace", "BackSpace"), "delete": ("delete", "Delete"), "insert": ("insert", "Insert"),
    "home": ("home", "Home"), "end": ("end", "End"), "pageup": ("page_up", "Prior"), "pagedown": ("page_down", "Next"),
    "up": ("up", "Up"), "down": ("down", "Down"), "left": ("left", "Left"), "right": ("right", "Right"),
    "menu": ("menu", "Menu"), "capslock": ("caps_lock", "Caps_Lock"), "printscreen": ("print_screen", "Print"),
    "altgr": ("alt_gr", "ISO_Level3_Shift"),
    **{f"f{n}": (f"f{n}", f"F{n}") for n in range(1, 21)},
}  # fmt: skip
ALSO: Final = {
    "control": "ctrl", "option": "alt", "command": "cmd", "super": "cmd", "win": "cmd", "windows": "cmd",
    "meta": "cmd", "return": "enter", "escape": "esc", "del": "delete", "ins": "insert", "page_up": "pageup",
    "page_down": "pagedown", "pgup": "pageup", "pgdn": "pagedown", "spacebar": "space", "plus": "+",
}  # fmt: skip
