"""The tool try_gui: a graphical program for a while, with a picture of its window."""

from __future__ import annotations

import sys
from collections.abc import AsyncGenerator, Callable, Iterator
from contextlib import ExitStack, asynccontextmanager
from pathlib import Path
from typing import Any, Literal

import anyio
import anyio.to_thread
import msgspec

from gongfu.core.display import Display
from gongfu.core.errors import ToolFailure
from gongfu.toolkit.confined import settled_note
from gongfu.toolkit.desk import WORKER, told_by
from gongfu.toolkit.desktop import kept, shown
from gongfu.toolkit.programs import Programs
from gongfu.tools.decorator import tool
from gongfu.tools.needs import display, either, is_met, program
from gongfu.tools.output import bound, clean_terminal
from gongfu.tools.protocol import CallContext, Claim, Facts, Outcome, Tool
from gongfu.workspace.process import run
from gongfu.workspace.screen.orders import ScreenProblem, Told, TryProgram
from gongfu.workspace.screen.trial import private_display
from gongfu.workspace.shells import find_shell

_XVFB = program("Xvfb", apt="xvfb")
_MOST = 120.0
_SIDES = (100, 4000)
_KEEP = 64 * 1024 * 1024
_SLACK = 30.0  # seconds for starting the display and drawing the picture
_ROOM = 8 * 1024


@asynccontextmanager
async def _display(order: TryProgram, folder: str | None) -> AsyncGenerator[TryProgram]:
    """The order with a display that was started outside a sandbox in which none can be; the sandbox sees `folder`."""
    if order.screen or folder is None:
        yield order
        return
    stack = ExitStack()
    try:
        server = await anyio.to_thread.run_sync(stack.enter_context, private_display(order.size, folder))
        yield msgspec.structs.replace(order, server=server)
    except ScreenProblem as problem:
        raise ToolFailure(str(problem)) from None
    except OSError as error:
        raise ToolFailure(f"the private display did not start: {error}") from None
    finally:
        with anyio.CancelScope(shield=True):
            await anyio.to_thread.run_sync(stack.close)


class TryTools:
    """The tool of one session. `on` says where programs are started, `keep` stores bytes as an artifact."""

    def __init__(
        self, programs: Programs, keep: Callable[[bytes], str], on: Literal["auto", "private", "screen"] = "auto"
    ) -> None:
        self._programs = programs
        self._keep = keep
        self._on = on

    def __iter__(self) -> Iterator[Tool]:
        yield self.try_gui

    def _on_screen(self) -> bool:
        """Whether it happens on the person's screen. ToolFailure when there is no display of any kind."""
        env = self._programs.given
        if self._on != "screen" and sys.platform == "linux" and is_met(_XVFB, env):
            return False
        if self._on == "private":
            raise ToolFailure(f"a private display needs Xvfb, which is not installed: {_XVFB.install or 'Linux only'}")
        if is_met(display(), env):
            return True
        hint = f", and no Xvfb to make one: {_XVFB.install}" if self._on == "auto" else ""
        raise ToolFailure(f"there is no display here{hint}")

    async def _facts(self, args: dict[str, Any]) -> Facts:
        order, cwd = self._order(args)
        where = "on your screen" if order.screen else "on a private display"
        command: str = args["command"]
        preview: Display = {"kind": "command", "command": command, "cwd": str(cwd), "code": None, "output": ""}
        access = ("execute", "desktop") if order.screen else ("execute",)
        return Facts(
            access=access, paths=(str(cwd),), command=command, cwd=str(cwd),
            title=f"{command.strip().splitlines()[0]} ({where})", preview=preview,
        )  # fmt: skip

    def _claims(self, _args: dict[str, Any]) -> tuple[Claim, ...]:
        return (Claim(resource="*", write=True),)  # nobody knows what a program touches

    @tool(access=("execute", "desktop"), facts=_facts, claims=_claims, needs=(either(_XVFB, display()),))
    async def try_gui(
        self, command: str, ctx: CallContext, seconds: float = 10, *, settle: float = 1, cwd: str = "",
        width: int = 1280, height: int = 800,
    ) -> Outcome:  # fmt: skip
        order, folder = self._order(
            {"command": command, "seconds": seconds, "settle": settle, "cwd": cwd, "width": width, "height": height}
        )
        env = await self._programs.child_env(command, folder, {})
        order = msgspec.structs.replace(order, argv=find_shell(env).argv(command))
        launch = await self._programs.launch(WORKER, folder, env, ctx)
        if order.screen and launch.kind == "bwrap":
            raise ToolFailure(
                "the sandbox keeps programs from your screen; nothing was run. With Xvfb it runs on a private display: "
                f"{_XVFB.install}"
            )
        async with _display(order, launch.env.get("TMPDIR") if launch.kind == "landlock" else None) as ready:
            try:
                done = await run(
                    launch.argv, cwd=launch.cwd, env=launch.env, box=launch.box, stdin=msgspec.json.encode(ready),
                    timeout=order.seconds + order.settle + _SLACK, keep=_KEEP,
                )  # fmt: skip
            except (OSError, ValueError) as error:
                raise ToolFailure(f"it could not be started: {error}") from error
        note = settled_note(self._programs.sandbox, launch, over=True)
        return self._outcome(order, told_by(done.output), note)

    def _order(self, args: dict[str, Any]) -> tuple[TryProgram, Path]:
        command: str = args["command"]
        if not command.strip() or "\0" in command:
            raise ToolFailure("command must be a command line without NUL characters; nothing was run")
        seconds, settle = float(args.get("seconds", 10)), float(args.get("settle", 1))
        if not 0 < seconds <= _MOST or not 0 <= settle <= _MOST:
            raise ToolFailure(f"seconds and settle are above 0 and at most {_MOST:.0f}; nothing was run")
        size = (int(args.get("width", 1280)), int(args.get("height", 800)))
        if not all(_SIDES[0] <= side <= _SIDES[1] for side in size):
            raise ToolFailure(f"width and height are between {_SIDES[0]} and {_SIDES[1]} pixels; nothing was run")
        given: str = args.get("cwd") or ""
        try:
            folder = (self._programs.directory / Path(given).expanduser()).resolve()
            if not folder.is_dir():
                raise ToolFailure(f"cwd {given} is no directory; nothing was run")
        except (OSError, ValueError, RuntimeError):
            raise ToolFailure(f"cwd {given!r} is no directory; nothing was run") from None
        order = TryProgram(argv=[command], size=size, seconds=seconds, settle=settle, screen=self._on_screen())
        return order, folder

    def _outcome(self, order: TryProgram, told: Told, note: str) -> Outcome:
        said = bound(clean_terminal(told.output), _ROOM).text().strip()
        windows = ", ".join(f"{w.title!r} ({w.area})" for w in told.windows[:8])
        lines: list[str] = []
        if told.picture is not None:
            lines.append(f"Its window came after {told.seconds:.2f} s" + (f": {windows}." if windows else "."))
        elif told.code is None:
            lines.append(f"No window came in {order.seconds:g} s.")
        else:
            lines.append("It ended before a window came.")
        lines.append("It was stopped." if told.code is None else f"It had ended by itself with code {told.code}.")
        lines += [f"[{note}]"] if note else []
        lines.append(f"Output:\n{said}" if said else "It said nothing.")
        text = "\n".join(lines)
        if told.picture is None:
            return Outcome(text=text, display={"kind": "text", "text": text, "summary": lines[0]}, status="failed")
        picture = told.picture
        outcome = shown(text, picture, kept(self._keep, picture.whole or picture.png))
        return msgspec.structs.replace(outcome, status="failed" if told.code else "done")
