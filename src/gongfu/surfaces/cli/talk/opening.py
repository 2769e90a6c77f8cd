"""Opens a conversation: the face at once, and what it talks to behind it."""

from __future__ import annotations

import asyncio
import os
import signal
from collections.abc import Awaitable, Callable, Generator
from contextlib import contextmanager
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

import anyio
from anyio import to_thread

from gongfu.core.base import Base
from gongfu.core.errors import UserError
from gongfu.core.version import __version__
from gongfu.surfaces.cli.cli import Cli
from gongfu.surfaces.cli.options import Opening
from gongfu.surfaces.cli.talk.face import Face
from gongfu.surfaces.cli.talk.talk import Talk
from gongfu.surfaces.cli.width import wrap

if TYPE_CHECKING:
    from gongfu.surfaces.cli.talk.past_lines import PastLines
    from gongfu.surfaces.cli.talk.screen import Screen


class Wanted(Base, frozen=True):
    """What is talked about: a session by its id, the latest of the folder, or a new one.

    `text` and the files `images` are its first prompt, if there is any; `compact` is how batches are shown.
    """

    opening: Opening
    session: str = ""
    latest: bool = False
    text: str = ""
    images: tuple[str, ...] = ()
    compact: bool = False


def converse(cli: Cli, wanted: Wanted) -> int:
    """Talk until the person leaves; the exit code."""

    async def work() -> int:
        talk = Talk(cli, wanted.opening, compact=wanted.compact)
        if _can_draw(cli):
            return await _drawn(cli, talk, wanted)
        from gongfu.surfaces.cli.ask import somebody
        from gongfu.surfaces.cli.talk.plain import Plain

        person = somebody(cli)
        if person is None:
            raise UserError("cli.no_task")
        face = Plain(cli, talk, person)
        _greet(cli)
        cli.shows = face.show
        try:
            return await _live(cli, talk, wanted, face, face.run)
        finally:
            cli.shows = None

    from gongfu.surfaces.cli.loop import new_loop

    return anyio.run(work, backend_options={"loop_factory": new_loop})


async def _drawn(cli: Cli, talk: Talk, wanted: Wanted) -> int:
    screen = _screen(cli, talk)
    _greet(cli)
    cli.shows = screen.show
    try:
        with _polite(screen):
            return await _live(cli, talk, wanted, screen, screen.run)
    finally:
        cli.shows = None


@contextmanager
def _polite(screen: Screen) -> Generator[None]:
    """Give the terminal back when this process is told to end, also before anything is there that could be told."""
    loop, before = asyncio.get_running_loop(), dict[int, Any]()

    def end(number: int, _: object) -> None:
        if screen.app.is_running:
            loop.call_soon_threadsafe(screen.leave)
        else:
            signal.signal(number, signal.SIG_DFL)
            signal.raise_signal(number)

    for name in ("SIGTERM", "SIGHUP"):
        number = getattr(signal, name, None)
        if number is not None:
            before[number] = signal.signal(number, end)
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _screen(cli: Cli, talk: Talk) -> Screen:
    from gongfu.surfaces.cli.talk.completing import Completions
    from gongfu.surfaces.cli.talk.editor import Editor
    from gongfu.surfaces.cli.talk.keys import Keys
    from gongfu.surfaces.cli.talk.menu import menu
    from gongfu.surfaces.cli.talk.screen import Screen, Shown

    keys, completions = Keys(talk), Completions(talk)
    talk.on_ready = lambda: completions.news()  # noqa: PLW0108 - the menu says later what that is
    editor = Editor(
        cli,
        talk.submit,
        completions,
        menu(lambda: editor.buffer),
        lambda: talk.ready.is_set() and talk.session.running,
        past=_past(cli),
        face=lambda: screen,
    )
    shown = Shown(living=talk.living, status=talk.status, moving=lambda: talk.moving)
    screen = Screen(cli, shown, editor, keys.bindings)
    keys.meet(screen)
    return screen


def _past(cli: Cli) -> PastLines:
    """What was typed before; only what is typed now where there is no home to keep it in."""
    from gongfu.config.paths import places
    from gongfu.surfaces.cli.talk.past_lines import PastLines

    try:
        return PastLines(places(cli.env).home / "prompts.jsonl", str(_root()))
    except UserError:
        return PastLines(None)


def _root() -> Path:
    """The folder that is worked in, as far as it can be told before anything is open."""
    from gongfu.workspace.root import find_root

    try:
        return find_root(Path())
    except OSError:  # the folder has gone: opening it says so
        return Path()


async def _live(cli: Cli, talk: Talk, wanted: Wanted, face: Face, run: Callable[[], Awaitable[None]]) -> int:
    """Run the face, and beside it open what it talks to; when the face is left, that is closed."""
    talk.face = face
    async with anyio.create_task_group() as tasks:
        talk.tasks = tasks

        async def facing() -> None:
            await run()
            tasks.cancel_scope.cancel()

        tasks.start_soon(facing)
        await to_thread.run_sync(partial(import_module, _BEHIND))  # keys are taken meanwhile
        await import_module(_BEHIND).stay(cli, talk, wanted)
    return 0


_BEHIND = "gongfu.surfaces.cli.talk.behind"


def _can_draw(cli: Cli) -> bool:
    """Whether both ends are a terminal that understands escape sequences."""
    return cli.out.tty and not cli.dumb and (os.name == "nt" or bool(cli.env.get("TERM")))


def _greet(cli: Cli) -> None:
    style = cli.out_style
    root, home = str(_root()), cli.env.get("HOME") or os.devnull
    shown = f"~{root[len(home) :]}" if root == home or root.startswith(home + os.sep) else root
    cli.out.line(f"{style.bold('Gongfu')} {style.dim(__version__)}  {style.dim(shown)}")
    cli.out.line("\n".join(style.dim(row) for row in wrap(cli.say("talk.hints"), cli.size()[0] - 1)))
