"""What a person types with a slash becomes a prompt with its bounds: the same on every surface."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from gongfu.core.base import Base
from gongfu.core.errors import ToolFailure, UsageError
from gongfu.core.messages import ImagePart
from gongfu.core.modes import Bounds, Floor
from gongfu.engine.aside import run_aside
from gongfu.engine.attempt import Refused
from gongfu.plugins.commands import is_command, with_arguments
from gongfu.plugins.template import expand as fill
from gongfu.toolkit.catalog import CORE, SHELF
from gongfu.tools.output import bound

if TYPE_CHECKING:
    from gongfu.app.app import App
    from gongfu.engine.session import Session

MOST = 16_384  # bytes of what one command says or one file holds


class Expanded(Base, frozen=True):
    """A prompt ready to be sent: the text for the model, pictures of files that were named, and what holds for its
    turn alone. A text without a command is as it was, without bounds.
    """

    prompt: str
    images: tuple[ImagePart, ...] = ()
    bounds: Bounds | None = None

    @property
    def mode(self) -> str:
        """The work mode of which the floor holds for the turn; "" for none."""
        return self.bounds.mode.name if self.bounds is not None and self.bounds.mode is not None else ""

    @property
    def model(self) -> str:
        """The model of the turn; "" for the usual one."""
        return self.bounds.model if self.bounds is not None else ""

    @property
    def allowed_tools(self) -> tuple[str, ...]:
        """All that may be called in the turn; () for no limit."""
        return self.bounds.tools if self.bounds is not None else ()


async def expand(app: App, text: str, session: Session) -> Expanded:
    """What `text` is for the model. See `App.expand`."""
    name = is_command(text)
    if not name or _is_path(app, name):
        return Expanded(prompt=text)
    command = app.command_files.get(name)
    template = command.template()
    given = command.given(text.lstrip()[len(name) + 1 :])
    mode = app.get_mode(command.mode) if command.mode else None
    if template.runs and not _quotes(app):
        raise UsageError("modes.no_posix_shell", name=name)
    await app.router.chain("main", command.model)  # a model that cannot be had: nothing is run for it
    floors = mode.floors if mode is not None else ()
    images: list[ImagePart] = []
    body = await fill(
        template.filled(given), partial(_run, session, floors), partial(include, app, session, images, floors=floors)
    )
    body += with_arguments(template, given)
    if mode is not None and mode.text:
        body += f"\n\n[For this turn the work mode {mode.name} holds.]\n{mode.text}"
    bounds = Bounds(
        command=" ".join(text.split())[:500], model=command.model, mode=mode, tools=_with_members(command.tools)
    )
    return Expanded(prompt=body, images=tuple(images), bounds=bounds)


def _is_path(app: App, name: str) -> bool:
    """Whether `/name` is something on the disk and no command: then it is a word like any other."""
    import os

    return name.lower() not in app.command_files.found() and os.path.lexists(f"/{name}")


def _quotes(app: App) -> bool:
    """Whether commands run in a shell whose quotes are known."""
    import sys

    from gongfu.workspace.shells import shell_name

    return sys.platform != "win32" or shell_name(app.options.env) in ("bash", "sh")


def _with_members(tools: tuple[str, ...]) -> tuple[str, ...]:
    """A name that is no tool but a family means all its tools."""
    known = {name for names in (*CORE.values(), *SHELF.values()) for name in names}
    named = ((t,) if t in known else (*CORE.get(t, ()), *SHELF.get(t, ())) or (t,) for t in tools)
    return tuple(dict.fromkeys(name for names in named for name in names))


async def _run(session: Session, floors: tuple[Floor, ...], line: str) -> str:
    session.begin()  # a question may be asked, and stands in the log
    done = await run_aside(session, "shell", {"command": line}, floors=floors)
    if isinstance(done, Refused):
        return f"[`{line}` was not run. {done.text}]"
    return bound(done.text, MOST).text("")


async def include(
    app: App, session: Session, images: list[ImagePart], path: str, *, floors: tuple[Floor, ...] = ()
) -> str | None:
    """What a file holds or a folder lists, by permission and bounded; its pictures go to `images`. None for no path."""
    try:
        where = app.workspace.locate(path).path
        if not where.exists():
            return None
    except (ToolFailure, OSError, ValueError):  # no path
        return None
    session.begin()
    tool = "list_files" if where.is_dir() else "read_file"
    done = await run_aside(session, tool, {"path": path}, floors=floors)
    if isinstance(done, Refused):
        return f"[It was not read. {done.text}]"
    images.extend(done.images)
    return bound(done.text, MOST).text("")
