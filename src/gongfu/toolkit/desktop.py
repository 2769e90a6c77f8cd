"""The screen, the mouse, the keyboard, the clipboard and the text in pictures."""

from __future__ import annotations

import base64
import sys
from collections.abc import Callable, Iterator
from typing import Any, Literal

from gongfu.core.display import Display, text_display
from gongfu.core.errors import ToolFailure, UserError
from gongfu.core.messages import ImagePart
from gongfu.core.secrets import redact
from gongfu.toolkit.desk import Desk
from gongfu.toolkit.keynames import combination
from gongfu.toolkit.ocr import MOST_BYTES, READING, Read, Reader
from gongfu.toolkit.pictures import picture_of
from gongfu.toolkit.places import Places, explained
from gongfu.toolkit.programs import Programs
from gongfu.tools.decorator import tool
from gongfu.tools.needs import display, either, library, program
from gongfu.tools.output import bound
from gongfu.tools.protocol import CallContext, Claim, Facts, Outcome, Tool
from gongfu.workspace.files import read_bytes, write_atomic
from gongfu.workspace.root import Located, Workspace
from gongfu.workspace.screen.orders import (
    Area,
    Button,
    Deed,
    Picture,
    TakeShot,
    UseClipboard,
    UseKeys,
    UseMouse,
)

MouseAction = Literal["position", "move", "click", "double", "right", "drag", "scroll"]
_PACKAGE = "desktop"
_SHOT = (display(), either(library("mss", extra=_PACKAGE), program("xwd"), program("import"), program("grim")))
_HANDS = (display(), either(library("pynput", extra=_PACKAGE), program("xdotool")))
_CLIP = either(program("xclip", apt="xclip"), program("xsel"), program("wl-copy"))
_CLIPS = (display(), _CLIP) if sys.platform == "linux" else ()
_MOST_LETTERS = 2000
_MOST_COPIED = 1024 * 1024
_MOST_HELD = 10.0
_MOST_CLICKS = 100
_SHARP = 4096  # pixels of the longer side that text is read from
_NEVER = 1 << 20  # no coordinate of any screen


def claims(_self: object, _args: dict[str, Any]) -> tuple[Claim, ...]:
    """There is one screen, and everybody uses it one after the other."""
    return (Claim(resource="desktop", write=True),)


class DesktopTools:
    """The tools of one session. `keep` stores bytes as an artifact and gives its id."""

    def __init__(self, workspace: Workspace, programs: Programs, reader: Reader, keep: Callable[[bytes], str]) -> None:
        self._places = Places(workspace)
        self._workspace = workspace
        self._desk = Desk(programs.env)
        self._reader = reader
        self._keep = keep

    def __iter__(self) -> Iterator[Tool]:
        yield from (self.screenshot, self.read_screen, self.ocr, self.mouse, self.keyboard, self.clipboard)

    # --- pictures -------------------------------------------------------------------------------------------------

    async def _shot_facts(self, args: dict[str, Any]) -> Facts:
        order = _shot(args.get("monitor", 0), args.get("region"), args.get("window", ""))
        what = _said(order)
        if not args.get("path"):
            return Facts(access=("desktop",), title=what)
        located = self._judged(args["path"], again=False)
        paths = self._places.paths(located, write=True)
        return Facts(access=("desktop", "write"), paths=paths, writes=paths, title=f"{what} → {located.shown}")

    def _judged(self, path: str, *, again: bool) -> Located:
        located = self._places.again(path) if again else self._places.judge(path)
        if located.path.suffix.lower() != ".png":
            raise ToolFailure(f"path: {located.shown} must end in .png, which is what is written; nothing was done")
        with explained(located):
            if located.path.exists() and (not located.path.is_file() or not _is_png(located)):
                raise ToolFailure(f"{located.shown} exists and is no PNG picture; nothing was done")
        return located

    @tool(access="desktop", facts=_shot_facts, claims=claims, needs=_SHOT)
    async def screenshot(
        self, monitor: int = 0, region: list[int] | None = None, window: str = "", path: str = ""
    ) -> Outcome:
        order = _shot(monitor, region, window)
        located = self._judged(path, again=True) if path else None
        told = await self._desk.do(order)
        if told.picture is None:
            raise ToolFailure("no picture came back")
        picture, note = told.picture, ""
        data = picture.whole or picture.png
        artifact = ""
        if located is not None:
            with explained(located):
                located.path.parent.mkdir(parents=True, exist_ok=True)
                write_atomic(located.path, data, workspace=self._workspace)
            note = f"\nWritten to {located.shown}."
        else:
            artifact = kept(self._keep, data)
        monitors = "; ".join(f"{n}: {area}" for n, area in enumerate(told.monitors, 1)) if told.monitors[1:] else ""
        what = f"the window {told.text!r}" if order.window else "the screen" if not order.part else "the region"
        text = f"{what} {where(picture)}{note}" + (f"\nMonitors: {monitors}" if monitors else "")
        return shown(text[:1].upper() + text[1:], picture, artifact)

    async def _read_facts(self, args: dict[str, Any]) -> Facts:
        order = _shot(args.get("monitor", 0), args.get("region"), args.get("window", ""))
        self._reader.check()
        return Facts(access=("desktop",), title=_said(order))

    @tool(access="desktop", facts=_read_facts, claims=claims, needs=(*_SHOT, READING))
    async def read_screen(
        self, ctx: CallContext, monitor: int = 0, region: list[int] | None = None, window: str = ""
    ) -> Outcome:
        told = await self._desk.do(_shot(monitor, region, window, longest=_SHARP, whole=False))
        if told.picture is None:
            raise ToolFailure("no picture came back")
        picture = told.picture
        read = await self._reader.read(picture.png, ctx)
        across, down = picture.area.width / picture.width, picture.area.height / picture.height
        lines = [
            f"{round(picture.area.left + (row.left + row.width / 2) * across)},"
            f"{round(picture.area.top + (row.top + row.height / 2) * down)} {redact(row.text)}"
            for row in read.rows
        ]
        head = f"Read by {read.by}; each line is the middle of a text on the screen (x,y) and the text."
        return _texts(head, lines, read)

    # --- text in files --------------------------------------------------------------------------------------------

    async def _ocr_facts(self, args: dict[str, Any]) -> Facts:
        located = self._places.judge(args["path"])
        self._reader.check()
        return Facts(access=("read",), paths=self._places.paths(located), title=located.shown)

    def _ocr_claims(self, args: dict[str, Any]) -> tuple[Claim, ...]:
        return (Claim(resource=str(self._workspace.locate(args["path"]).path)),)

    @tool(access="read", facts=_ocr_facts, claims=_ocr_claims, needs=(READING,))
    async def ocr(self, path: str, ctx: CallContext, page: int = 1, boxes: bool = False) -> Outcome:
        located = self._places.again(path)
        with explained(located):
            if located.path.is_dir():
                raise ToolFailure(f"{located.shown} is a folder, not a picture")
            if not located.path.exists():
                raise self._places.missing(located)
            if located.path.stat().st_size > MOST_BYTES:
                raise ToolFailure(f"{located.shown} has more than {MOST_BYTES:,} bytes; make a smaller picture of it")
            data, _ = read_bytes(located.path, MOST_BYTES)
        if page < 1:
            raise ToolFailure("page counts from 1")
        if data.startswith(b"%PDF"):
            data = await self._reader.page(data, page, ctx)
        elif picture_of(data) is None and not data.startswith((b"BM", b"II*\0", b"MM\0*")):
            raise ToolFailure(f"{located.shown} is no picture (PNG, JPEG, GIF, WebP, BMP, TIFF) and no PDF")
        read = await self._reader.read(data, ctx)
        if not boxes:
            return _texts(f"Read by {read.by}:", [redact(line) for line in read.text.splitlines()], read)
        lines = [f"{r.left},{r.top} {r.width}x{r.height} {redact(r.text)}" for r in read.rows]
        return _texts(f"Read by {read.by}; each line is left,top widthxheight in pixels and the text.", lines, read)

    # --- hands ----------------------------------------------------------------------------------------------------

    async def _mouse_facts(self, args: dict[str, Any]) -> Facts:
        order = _mouse(args)
        at = "" if order.x is None else f" at {order.x},{order.y}"
        to = f" to {order.to[0]},{order.to[1]}" if order.to else ""
        button = f" ({order.button})" if order.button != "left" else ""
        return Facts(access=("desktop",), title=f"{args['action']}{button}{at}{to}")

    @tool(access="desktop", facts=_mouse_facts, claims=claims, needs=_HANDS)
    async def mouse(
        self, action: MouseAction, x: int | None = None, y: int | None = None, *, to_x: int | None = None,
        to_y: int | None = None, button: Button = "left", down: int = 0, across: int = 0,
    ) -> Outcome:  # fmt: skip
        order = _mouse(
            {"action": action, "x": x, "y": y, "to_x": to_x, "to_y": to_y, "button": button, "down": down,
             "across": across}
        )  # fmt: skip
        told = await self._desk.do(order)
        at = "" if told.at is None else f" the mouse is at {told.at[0]},{told.at[1]}"
        done = "" if action in ("position", "move") else f"{action} done;"
        return Outcome(text=f"{done}{at}".strip(), display=text_display("", f"{action}{at and at[13:]}"))

    async def _keyboard_facts(self, args: dict[str, Any]) -> Facts:
        order = _keys(args.get("text", ""), args.get("keys") or [], args.get("hold", 0))
        said = f'type "{order.text}"' if order.text else "press " + " ".join("+".join(keys) for keys in order.presses)
        first, _, more = said.partition("\n")
        preview: Display = text_display(order.text) if order.text else {}
        return Facts(access=("desktop",), title=first[:80] + (" …" if more or first[80:] else ""), preview=preview)

    @tool(access="desktop", facts=_keyboard_facts, claims=claims, needs=_HANDS)
    async def keyboard(self, text: str = "", keys: list[str] | None = None, hold: float = 0) -> Outcome:
        order = _keys(text, keys or [], hold)
        await self._desk.do(order, 30 + len(text) * 0.1 + hold * len(order.presses))
        done = f"typed {len(text)} characters" if text else "pressed " + " ".join("+".join(k) for k in order.presses)
        return Outcome(text=f"{done}, into whatever has the focus", display=text_display("", done))

    async def _clipboard_facts(self, args: dict[str, Any]) -> Facts:
        text = _copied(args["action"], args.get("text", ""))
        preview: Display = {} if text is None else text_display(text[:2000])
        return Facts(access=("desktop",), title=f"{args['action']} clipboard", preview=preview)

    @tool(access="desktop", facts=_clipboard_facts, claims=claims, needs=_CLIPS)
    async def clipboard(self, action: Literal["get", "set"], ctx: CallContext, text: str = "") -> Outcome:
        wanted = _copied(action, text)
        told = await self._desk.do(UseClipboard(text=wanted))
        if wanted is not None:
            done = f"{len(wanted)} characters are in the clipboard"
            return Outcome(text=done, display=text_display("", done))
        if not told.text:
            return Outcome(text="The clipboard holds no text.", display=text_display("", "empty"))
        said = bound(redact(told.text), ctx.room - 512)
        return Outcome(text=said.text(), display=text_display(said.text()[:2000], f"{len(told.text)} characters"))


def shown(text: str, picture: Picture, artifact: str) -> Outcome:
    """An outcome with a picture for the model and the person."""
    data = base64.b64encode(picture.png).decode("ascii")
    image = ImagePart(media_type="image/png", data=data, width=picture.width, height=picture.height)
    display = {
        "kind": "image", "media_type": "image/png", "artifact": artifact, "width": picture.width,
        "height": picture.height, "summary": f"{picture.width}x{picture.height}",
    }  # fmt: skip
    return Outcome(text=text, display=display, images=(image,))


def where(picture: Picture) -> str:
    """How a point of the picture is found on the screen."""
    area = picture.area
    if (picture.width, picture.height) == (area.width, area.height):
        moved = f"; a point of it lies at x+{area.left}, y+{area.top} on the screen" if area.left or area.top else ""
        return f"{area}{moved}."
    across, down = area.width / picture.width, area.height / picture.height
    return (
        f"{area}, shown as {picture.width}x{picture.height}: a point of the picture lies at "
        f"x*{across:.4g}+{area.left}, y*{down:.4g}+{area.top} on the screen."
    )


def kept(keep: Callable[[bytes], str], data: bytes) -> str:
    """The id of the artifact with `data`; "" when there is no room for it."""
    try:
        return keep(data)
    except UserError:
        return ""


def _is_png(located: Located) -> bool:
    with located.path.open("rb") as file:
        return file.read(8) == b"\x89PNG\r\n\x1a\n"


def _texts(head: str, lines: list[str], read: Read) -> Outcome:
    if not lines:
        return Outcome(
            text=f"No text was found (by {read.by}). {read.note}".rstrip(), display=text_display("", "no text")
        )
    text = "\n".join([head, *lines, *([f"[{read.note}]"] if read.note else [])])
    return Outcome(text=text, display={"kind": "list", "items": lines, "total": len(lines), "summary": read.by})


def _said(order: TakeShot) -> str:
    if order.window:
        return f'window "{order.window}"'
    if order.part is not None:
        return f"region {order.part}"
    return f"monitor {order.monitor}" if order.monitor else "screen"


def _shot(
    monitor: int, region: list[int] | None, window: str, *, longest: int = TakeShot().longest, whole: bool = True
) -> TakeShot:
    if sum((monitor != 0, region is not None, bool(window))) > 1:
        raise ToolFailure("give one of monitor, region and window, or none for the whole screen")
    if monitor < 0:
        raise ToolFailure("monitor counts from 1; 0 is all of them")
    part = None
    if region is not None:
        if len(region) != 4 or min(region[2:], default=0) <= 0 or max(map(abs, region)) > _NEVER:
            raise ToolFailure("region is [left, top, width, height], with a width and a height above 0")
        part = Area(left=region[0], top=region[1], width=region[2], height=region[3])
    return TakeShot(monitor=monitor, part=part, window=window, longest=longest, whole=whole)


def _mouse(args: dict[str, Any]) -> UseMouse:
    action: MouseAction = args["action"]
    x, y, to_x, to_y = (args.get(name) for name in ("x", "y", "to_x", "to_y"))
    if (x is None) != (y is None) or (to_x is None) != (to_y is None):
        raise ToolFailure("x and y belong together, and so do to_x and to_y")
    if any(n is not None and abs(n) > _NEVER for n in (x, y, to_x, to_y)):
        raise ToolFailure("the point lies outside every screen; nothing was done")
    if action == "move" and x is None:
        raise ToolFailure("move needs x and y")
    if (action == "drag") != (to_x is not None):
        raise ToolFailure("drag needs to_x and to_y, and nothing else takes them")
    down, across = int(args.get("down") or 0), int(args.get("across") or 0)
    if action == "scroll" and not (down or across):
        raise ToolFailure("scroll needs down (or across): clicks of the wheel, below 0 for up (or left)")
    if max(abs(down), abs(across)) > _MOST_CLICKS:
        raise ToolFailure(f"at most {_MOST_CLICKS} clicks of the wheel at a time")
    deed: Deed = "click" if action in ("double", "right") else action
    return UseMouse(
        deed=deed, x=x, y=y, button="right" if action == "right" else args.get("button") or "left",
        count=2 if action == "double" else 1, wheel=(across, down),
        to=None if to_x is None or to_y is None else (to_x, to_y),
    )  # fmt: skip


def _keys(text: str, keys: list[str], hold: float) -> UseKeys:
    if bool(text) == bool(keys):
        raise ToolFailure('give text to type it, or keys to press them, such as ["ctrl+s"]')
    if len(text) > _MOST_LETTERS or len(keys) > _MOST_CLICKS:
        raise ToolFailure(
            f"at most {_MOST_LETTERS} characters are typed and {_MOST_CLICKS} combinations pressed at a time; a longer "
            "text goes through the clipboard: set it there and press ctrl+v"
        )
    bad = next((c for c in text if not (c.isprintable() or c in "\n\t")), "")
    if bad:
        raise ToolFailure(f"text holds {bad!r}, which no key types; nothing was typed")
    if not 0 <= hold <= _MOST_HELD:
        raise ToolFailure(f"hold is between 0 and {_MOST_HELD:.0f} seconds")
    return UseKeys(text=text, presses=tuple(combination(one) for one in keys), hold=hold)


def _copied(action: str, text: str) -> str | None:
    if action == "get":
        if text:
            raise ToolFailure('get takes no text; action="set" puts it into the clipboard')
        return None
    if not text or "\0" in text:
        raise ToolFailure("set needs a text without NUL characters; the clipboard was left alone")
    if len(text) > _MOST_COPIED:
        raise ToolFailure(f"at most {_MOST_COPIED:,} characters go into the clipboard")
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        raise ToolFailure("text holds half a character (a lone surrogate); the clipboard was left alone") from None
    return text
