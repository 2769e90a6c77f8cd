"""A conversation: what a person types goes to a session, and what happens there is shown."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from difflib import get_close_matches
from typing import TYPE_CHECKING

import anyio
import anyio.abc
import anyio.lowlevel

from gongfu.app import App, Session
from gongfu.core import events as ev
from gongfu.core.errors import ProviderFault, UserError, root_of
from gongfu.surfaces.cli.cli import Cli
from gongfu.surfaces.cli.drive import collect_again
from gongfu.surfaces.cli.style import clean, one_line
from gongfu.surfaces.cli.talk.commands.catalog import SLASHES, run_of, slash_of
from gongfu.surfaces.cli.talk.face import Face, Typed
from gongfu.surfaces.cli.talk.view import View

if TYPE_CHECKING:
    from gongfu.surfaces.cli.options import Opening

_SLICE = 0.004  # seconds of work on events after which keys get their turn


class Talk:
    """Holds the session that is talked to, the view of it, and the face it is shown on."""

    def __init__(self, cli: Cli, app: App, session: Session, opening: Opening) -> None:
        self.cli = cli
        self.app = app
        self.opening = opening
        self.session = session
        self.view = View(cli, app, session)
        self.face: Face
        self._tasks: anyio.abc.TaskGroup
        self._pump: anyio.CancelScope | None = None
        self._asking: dict[str, anyio.CancelScope] = {}
        self._order = anyio.Lock()
        self._news: list[Callable[[], None]] = []

    # --- words ---

    def note(self, text: str) -> None:
        """Say something that is no event."""
        self.face.show("\n".join(self.cli.out_style.dim(row) for row in text.split("\n")))

    def complain(self, error: BaseException) -> None:
        """Say what went wrong. What is no error of a person is raised again."""
        error = root_of(error)
        match error:
            case UserError():
                text = self.cli.say.told(error.key, error.values)
            case ProviderFault() | EOFError():
                text = str(error)
            case _:
                raise error
        self.face.show(f"{self.cli.out_style.red('✗')} {clean(text)}")

    # --- what is alive, of the session that is talked to now ---

    def living(self, now: float, columns: int, rows: int) -> Sequence[str]:
        """See `View.living`."""
        return self.view.living(now, columns, rows)

    def status(self, now: float, columns: int) -> Sequence[str]:
        """See `View.status`."""
        return self.view.status(now, columns)

    # --- what is typed ---

    def submit(self, typed: Typed) -> None:
        """Take what was typed; it is worked on beside everything else."""
        self.start(lambda: self._take(typed))

    def start(self, work: Callable[[], Awaitable[None]]) -> None:
        """Do something beside everything else; what goes wrong is told."""

        async def guarded() -> None:
            try:
                await work()
            except (UserError, ProviderFault) as error:
                self.complain(error)

        self._tasks.start_soon(guarded)

    async def _take(self, typed: Typed) -> None:
        text = typed.text.strip()
        if text.startswith("!"):
            from gongfu.surfaces.cli.talk.commands.shell import by_hand

            await by_hand(self, text[1:].strip())
        elif text.startswith("/") and await self._slash(text, typed):
            return
        else:
            await self.send(typed)

    async def _slash(self, text: str, typed: Typed) -> bool:
        """Run a command of the conversation; False for what is one of the person's files, or no command at all."""
        name, _, args = text[1:].partition(" ")
        found = slash_of(name)
        if found is None or not name:
            if not self.is_prompt(name):
                self._unknown(name, typed)
                return True
            return False
        known, slash = found
        if not slash.beside and self.session.running:
            self.note(self.cli.say("talk.busy", name=known))
            self.face.put(typed.shown)
            return True
        await run_of(known, slash)(self, args.strip())
        return True

    def is_prompt(self, name: str) -> bool:
        """Whether `/name` begins a prompt: a command of a file, a path, or nothing that looks like a command."""
        from gongfu.plugins.commands import is_command

        if not is_command(f"/{name}"):
            return True
        if ":" in name:
            return True
        return name.lower() in self.app.command_files.found() or _is_path(name)

    def _unknown(self, name: str, typed: Typed) -> None:
        names = [
            *SLASHES,
            *(alias for one in SLASHES.values() for alias in one.aliases),
            *self.app.command_files.found(),
        ]
        close = get_close_matches(name.lower(), names, n=1, cutoff=0.6)
        said = one_line(name, 60)
        key = "talk.unknown_command_but" if close else "talk.unknown_command"
        self.note(self.cli.say(key, name=said, close=close[0] if close else ""))
        self.face.put(typed.shown)

    async def send(self, typed: Typed) -> None:
        """A prompt for the session: at once, or while a turn runs into it or behind it, as `typed.how` says."""
        async with self._order:
            try:
                if (
                    self.session.running
                    and typed.how == "steer"
                    and not typed.images
                    and not typed.text.startswith("/")
                ):
                    await self.session.steer(typed.text)
                    self.view.steered(typed.text)
                    self.face.wake()
                else:
                    await self.app.prompt(self.session, typed.text, images=typed.images)
            except (UserError, ProviderFault) as error:
                self.complain(error)
                self.face.put(typed.shown or typed.text)

    async def interrupt(self) -> None:
        """Stop the turn that runs."""
        if self.session.running:
            self.note(self.cli.say("talk.stopping"))
        await self.session.cancel()

    # --- sessions ---

    async def switch(self, session: Session) -> None:
        """Talk to another session; the one before is closed."""
        before = self.session
        if session is before:
            return
        if self._pump is not None:
            self._pump.cancel()
        self.session = session
        self.cli.session = session.id
        self.view = View(self.cli, self.app, session)
        self._follow()
        await before.close()
        if before.state.turn is None and before.state.finished is None and before.state.created is not None:
            with suppress(UserError):
                await self.app.delete(before.id)
        self.face.wake()

    def _follow(self) -> None:
        """Show what there is of the session, and then what comes."""
        self.face.show(self.view.opening(self.face.size[0]))
        self._pump = anyio.CancelScope()
        self._tasks.start_soon(self._show, self.session, self._pump)

    async def _show(self, session: Session, scope: anyio.CancelScope) -> None:
        with scope:
            async with session.stream.subscribe() as entries:
                since = anyio.current_time()
                async for entry in entries:
                    await self._feed(entry)
                    if anyio.current_time() - since > _SLICE:
                        await anyio.lowlevel.checkpoint()
                        since = anyio.current_time()

    async def _feed(self, entry: ev.Entry) -> None:
        event = entry.event
        if isinstance(event, ev.RequestSent):
            collect_again()
        self.face.show(self.view.feed(entry, self.face.size[0]))
        self.face.wake()
        match event:
            case ev.QuestionAsked() if event.question in self.session.pending.open:
                scope = self._asking[event.question] = anyio.CancelScope()
                self._tasks.start_soon(self._ask, event, scope)
            case ev.QuestionAnswered() if event.question in self._asking:
                self._asking.pop(event.question).cancel()
            case ev.TurnFinished():
                self.turn_ended(event)
            case _:
                pass

    async def _ask(self, question: ev.QuestionAsked, scope: anyio.CancelScope) -> None:
        session = self.session
        with scope:
            answer = await self.face.answer(question)
            self._asking.pop(question.question, None)
            with suppress(UserError):  # it was answered otherwise in the meantime
                await session.answer(question.question, answer)

    def turn_ended(self, finished: ev.TurnFinished) -> None:
        """What is to happen when a turn is over."""
        if finished.seconds >= 10:
            self.face.bell()

    # --- life ---

    async def run(self, face: Face, go: Callable[[], Awaitable[None]], first: Typed | None = None) -> None:
        """Talk until the face is left: `go` runs it. `first` is sent at once."""
        self.face = face
        async with anyio.create_task_group() as tasks:
            self._tasks = tasks
            self._follow()
            if first is not None:
                self.submit(first)
            try:
                await go()
            finally:
                tasks.cancel_scope.cancel()


def _is_path(name: str) -> bool:
    import os

    return os.path.lexists(f"/{name.partition('/')[0]}") and "/" in name
