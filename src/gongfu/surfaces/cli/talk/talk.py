"""A conversation: what a person types goes to a session, and what happens there is shown."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Generator, Sequence
from contextlib import contextmanager, nullcontext, suppress
from typing import TYPE_CHECKING, cast

import anyio
import anyio.abc
import anyio.lowlevel
from anyio import to_thread

from gongfu.core.errors import ProviderFault, UserError, root_of
from gongfu.surfaces.cli.cli import Cli
from gongfu.surfaces.cli.render.lines import in_talk
from gongfu.surfaces.cli.style import clean
from gongfu.surfaces.cli.talk.face import Face, Typed
from gongfu.surfaces.cli.width import wrap

if TYPE_CHECKING:
    from gongfu.app import App, Session
    from gongfu.core import events as ev
    from gongfu.surfaces.cli.options import Opening
    from gongfu.surfaces.cli.talk.hand import ByHand
    from gongfu.surfaces.cli.talk.opened import Opened
    from gongfu.surfaces.cli.talk.plain_view import PlainView, Writes
    from gongfu.surfaces.cli.talk.underway import Underway
    from gongfu.surfaces.cli.talk.view import View

_SLICE = 0.004  # seconds of work on events after which keys get their turn
_SHOWN = 2_000  # characters that are kept of a prompt as it was typed, where it was sent otherwise
_LONG = 10.0  # seconds of a turn after which its end is worth a sign


class Talk:
    """Holds the session that is talked to, the view of it, and the face it is shown on.

    The face is there first: `app`, `session` and `view` come with `begin`, and what is typed before waits for them.
    """

    def __init__(self, cli: Cli, opening: Opening, *, compact: bool = False) -> None:
        self.cli = cli
        self.opening = opening
        self.ready = anyio.Event()
        self.app: App
        self.session: Session
        self.view: View | PlainView
        self.face: Face
        self.tasks: anyio.abc.TaskGroup
        self._pump: anyio.CancelScope | None = None
        self._asking: dict[str, anyio.CancelScope] = {}
        self._order = anyio.Lock()
        self._compact = compact
        self._seen: tuple[str, Opened] | None = None  # the session whose end is shown already, and what was told of it
        self.on_ready: Callable[[], None] = lambda: None
        self.on_turn_end: Callable[[], None] = lambda: None
        self.by_hand: list[ByHand] = []
        self._underway: list[Underway] = []
        self._stops: list[Callable[[], None]] = []

    @property
    def running(self) -> bool:
        """Whether there is something to interrupt: a turn, or a command that says how it is stopped."""
        return bool(self._stops) or (self.ready.is_set() and self.session.running)

    @contextmanager
    def stoppable(self, stop: Callable[[], None]) -> Generator[None]:
        """While this block runs, `interrupt` calls `stop` (of several such blocks: that of the newest)."""
        self._stops.append(stop)
        self.face.wake()
        try:
            yield
        finally:
            self._stops.remove(stop)
            self.face.wake()

    @contextmanager
    def underway(self, text: str, stop: Callable[[], None] | None = None) -> Generator[None]:
        """While this block runs, `text` says so; with `stop`, `interrupt` calls that."""
        if not self.face.drawn:
            self.note(f"{text} …")
        from gongfu.surfaces.cli.talk.underway import Underway  # only where a command takes time

        one = Underway(text, self.cli.out_style, self.cli.say, self.cli.out.encoding, stops=stop is not None)
        self._underway.append(one)
        try:
            with self.stoppable(stop) if stop is not None else nullcontext():
                self.face.wake()
                yield
        finally:
            self._underway.remove(one)
            self.face.wake()

    # --- words ---

    def note(self, text: str) -> None:
        """Say something that is no event."""
        rows = wrap(text, max(8, self.face.size[0] - 1))
        self.face.show("\n".join(self.cli.out_style.dim(row) for row in rows))

    def complain(self, error: BaseException) -> None:
        """Say what went wrong; the details of what is no error of a person go into a file."""
        error = root_of(error)
        match error:
            case UserError():
                text = self.cli.say.told(error.key, error.values)
            case ProviderFault():
                text = str(error)
            case _:
                from gongfu.surfaces.cli.crash import report

                text = report(self.cli, error)
        first, *more = wrap(in_talk(clean(text)), max(8, self.face.size[0] - 3))
        self.face.show("\n".join([f"{self.cli.out_style.red('✗')} {first}", *(f"  {row}" for row in more)]))

    # --- what is alive, of the session that is talked to now ---

    def living(self, now: float, columns: int, rows: int) -> Sequence[str]:
        """See `View.living`; commands that the person runs by hand stand below."""
        if not self.ready.is_set():
            return ()
        hand = [line for one in (*self.by_hand, *self._underway) for line in one.living(now, columns)]
        return [*self.view.living(now, columns, max(3, rows - 3 * len(hand))), *hand]

    def status(self, now: float, columns: int) -> Sequence[str]:
        """See `View.status`; an empty line until the session is there."""
        return self.view.status(now, columns) if self.ready.is_set() else ("",)

    @property
    def moving(self) -> bool:
        """See `View.moving`."""
        return bool(self.by_hand or self._underway) or (self.ready.is_set() and self.view.moving)

    # --- what is typed ---

    def submit(self, typed: Typed) -> None:
        """Take what was typed; it is worked on beside everything else."""
        self.start(lambda: self._take(typed))

    def start(self, work: Callable[[], Awaitable[None]]) -> None:
        """Do something beside everything else, once the session is there; what goes wrong is told."""

        async def guarded() -> None:
            await self.ready.wait()
            try:
                await work()
            except Exception as error:  # noqa: BLE001 - a fault of one command must not end the conversation
                self.complain(error)

        self.tasks.start_soon(guarded)

    async def _take(self, typed: Typed) -> None:
        text = typed.text.strip()
        if text.startswith("!"):
            from gongfu.surfaces.cli.talk.commands.shell import by_hand

            await by_hand(self, text[1:].strip())
        elif text.startswith("/"):
            from gongfu.surfaces.cli.talk.slashed import slashed  # only where there is a slash

            await slashed(self, text, typed)
        else:
            await self.send(typed)

    async def send(self, typed: Typed) -> None:
        """A prompt for the session: at once, or while a turn runs into it or behind it, as `typed.how` says."""
        async with self._order:
            try:
                plain = not typed.images and not typed.text.startswith("/")
                if self.session.running and typed.how == "steer" and plain:
                    self.view.steered(typed.text)
                    await self.session.steer(typed.text)
                elif typed.text.startswith("/"):
                    await self.app.prompt(self.session, typed.text, images=typed.images)
                else:
                    await self._prompt(typed)
            except (UserError, ProviderFault) as error:
                self.complain(error)
                self.face.put(typed.shown or typed.text)
            self.face.wake()

    async def _prompt(self, typed: Typed) -> None:
        """A plain prompt, with the files and resources that it names; it is shown as it was typed."""
        text, images, shown = typed.text, typed.images, typed.shown or typed.text
        if "@" in text or "＠" in text:
            from gongfu.surfaces.cli.talk.commands.custom import whole  # only where something is named

            found = await whole(self, text)
            text, images = found.prompt, (*images, *found.images)
        from gongfu.core.modes import Bounds  # not before the first screen

        bounds = Bounds(command=shown[:_SHOWN]) if text != shown else None
        await self.session.prompt(text, images=images, bounds=bounds)

    async def interrupt(self) -> None:
        """Stop the newest of what can be stopped, else the turn that runs."""
        if self._stops:
            self._stops[-1]()
            return
        if self.session.running:
            self.view.stopping()
            self.face.wake()
        await self.session.cancel()

    # --- sessions ---

    async def switch(self, session: Session) -> None:
        """Talk to another session; the one before is closed, and deleted where nothing was said in it."""
        before = self.session
        if session is before:
            return
        self._unfollow()
        self._hold(session)
        await before.close()
        await self.forget(before)
        self.face.wake()

    async def forget(self, session: Session) -> None:
        """Delete a session in which nothing was begun."""
        if session.state.created is not None and session.state.turn is None and session.state.finished is None:
            with suppress(UserError):
                await self.app.delete(session.id)

    def begin(self, app: App, session: Session) -> None:
        """The session is there."""
        self.app = app
        self._hold(session)
        self.ready.set()
        self.on_ready()
        self.face.wake()

    def foreshow(self, app: App, id: str) -> None:
        """Show the end of a session that is about to be opened: to read all of a long one takes a while."""
        if not self.face.drawn:
            return
        from gongfu.surfaces.cli.talk.opened import opened
        from gongfu.surfaces.cli.talk.view import lines_for

        columns = self.face.size[0]
        shown = opened(self.cli, app, id, lines_for(self.cli, columns), compact=self._compact)
        self.face.show(shown.text)
        self._seen = (id, shown)

    def _hold(self, session: Session) -> None:
        self.session = session
        self.cli.session = session.id
        before = self.view if self.ready.is_set() else None
        self.view = self._view_of(session)
        if before is not None:
            self.view.set_view(compact=before.compact, verbose=before.verbose)
        elif self._compact:
            self.view.set_view(compact=True)
        if self._seen is not None and self._seen[0] == session.id:
            self.view.follow_on(self._seen[1])  # its end is on the screen already
        elif opening := self.view.opening(self.face.size[0]):
            self.face.show(opening)
        self._seen = None
        self._pump = anyio.CancelScope()
        self.tasks.start_soon(self._show, session, self._pump)

    def _view_of(self, session: Session) -> View | PlainView:
        if self.face.drawn:
            from gongfu.surfaces.cli.talk.view import View  # after the first screen

            return View(self.cli, self.app, session)
        from gongfu.surfaces.cli.talk.plain_view import PlainView

        return PlainView(self.cli, session, cast("Writes", self.face))

    def _unfollow(self) -> None:
        if self._pump is not None:
            self._pump.cancel()
        for scope in self._asking.values():
            scope.cancel()
        self._asking.clear()

    async def _show(self, session: Session, scope: anyio.CancelScope) -> None:
        with scope:
            async with session.stream.subscribe() as entries:
                since = anyio.current_time()
                async for entry in entries:
                    try:
                        await self._feed(entry)
                    except Exception as error:  # noqa: BLE001 - what cannot be shown must not end the conversation
                        self.complain(error)
                    if anyio.current_time() - since > _SLICE:
                        await anyio.lowlevel.checkpoint()
                        since = anyio.current_time()

    async def _feed(self, entry: ev.Entry) -> None:
        from gongfu.core import events as ev

        event = entry.event
        view, columns = self.view, self.face.size[0]
        if view.heavy(entry):  # the keys get their turn meanwhile
            self.face.show(await to_thread.run_sync(view.feed, entry, columns))
        else:
            self.face.show(view.feed(entry, columns))
        self.face.wake()
        match event:
            case ev.RequestSent():
                from gongfu.surfaces.cli.drive import collect_again

                collect_again()
            case ev.QuestionAsked() if event.question in self.session.pending.open:
                scope = self._asking[event.question] = anyio.CancelScope()
                self.tasks.start_soon(self._ask, event, scope)
            case ev.QuestionAnswered() if event.question in self._asking:
                self._asking.pop(event.question).cancel()
            case ev.TurnFinished():
                self._turn_ended(event)
            case _:
                pass

    async def _ask(self, question: ev.QuestionAsked, scope: anyio.CancelScope) -> None:
        session = self.session
        self.face.bell()
        with scope:
            answer = await self.face.answer(question)
            self._asking.pop(question.question, None)
            with suppress(UserError):  # it was answered otherwise in the meantime
                await session.answer(question.question, answer)

    def _turn_ended(self, finished: ev.TurnFinished) -> None:
        self.on_turn_end()
        if finished.seconds >= _LONG and finished.status != "cancelled":
            self.face.bell()
