"""Drives one turn: shows its events, puts its questions, and lets Ctrl-C stop it."""

from __future__ import annotations

import asyncio
import gc
import os
import signal
import sys
import time
from collections.abc import AsyncIterator, Callable, Generator
from contextlib import contextmanager, suppress
from types import FrameType
from typing import TYPE_CHECKING, Any, NoReturn, Self

import anyio
from anyio.abc import TaskGroup

from gongfu.app import Session
from gongfu.core import events as ev
from gongfu.core.base import Base
from gongfu.core.errors import EXIT_INTERRUPTED, UserError
from gongfu.core.messages import ImagePart
from gongfu.core.modes import Bounds
from gongfu.surfaces.cli.screens import Screen

if TYPE_CHECKING:
    from gongfu.surfaces.cli.answers import Answerer

_FRAME = 0.06  # seconds between two redraws


class Task(Base, frozen=True):
    """What is asked of a session. An empty text goes on with an interrupted turn."""

    text: str
    images: tuple[ImagePart, ...] = ()
    schema: dict[str, Any] | None = None
    bounds: Bounds | None = None


class Drive:
    """One turn of a session on a screen; `person` answers questions when somebody is there."""

    def __init__(self, session: Session, screen: Screen, person: Answerer | None) -> None:
        self._session = session
        self._screen = screen
        self._person = person
        self._asking: dict[str, anyio.CancelScope] = {}

    async def run(self, task: Task, *, stopping: str, signals: Signals) -> ev.TurnFinished:
        """Run the task to the end of its turn. The first of `signals` shows `stopping` and cancels the turn."""
        async with self._session.stream.subscribe() as entries, anyio.create_task_group() as tasks:
            starting = anyio.CancelScope()

            def stop() -> None:
                starting.cancel()
                tasks.start_soon(self._session.cancel)
                with suppress(OSError, UserError):  # the terminal may be what has gone
                    self._screen.note(stopping)

            def gone() -> None:
                tasks.start_soon(_raise_gone)

            with signals.calling(stop), watching(self._screen.reader, gone):
                prompted = None
                with starting:  # to look for a model may take a while
                    prompted = await self._session.prompt(
                        task.text, images=task.images, schema=task.schema, bounds=task.bounds
                    )
                if prompted is None:
                    raise UserError("engine.cancelled", exit_code=EXIT_INTERRUPTED)
                if self._screen.animated:
                    tasks.start_soon(self._animate)
                await self._show(entries, prompted.id, tasks)
                finished = await prompted.result()
                self._screen.finish(finished)
                tasks.cancel_scope.cancel()
                return finished
        raise UserError("engine.cancelled")

    async def _show(self, entries: AsyncIterator[ev.Entry], prompt: str, tasks: TaskGroup) -> None:
        turn = ""
        async for entry in entries:
            event = entry.event
            self._screen.feed(entry)
            match event:
                case ev.RequestSent():
                    collect_again()
                case ev.QuestionAsked() if self._person:
                    scope = self._asking[event.question] = anyio.CancelScope()
                    tasks.start_soon(self._ask, self._person, event, scope)
                case ev.QuestionAnswered() if event.question in self._asking:
                    self._asking.pop(event.question).cancel()
                case ev.TurnStarted() if event.prompt == prompt:
                    turn = event.turn
                case ev.TurnFinished() if event.turn == turn:
                    return
                case ev.PromptDropped() if event.prompt == prompt:
                    return
                case _:
                    pass

    async def _ask(self, person: Answerer, question: ev.QuestionAsked, scope: anyio.CancelScope) -> None:
        self._screen.pause()
        try:
            with scope:
                answer = await person.answer(question)
                self._asking.pop(question.question, None)
                with suppress(UserError):  # it was answered otherwise in the meantime
                    await self._session.answer(question.question, answer)
        finally:
            self._screen.resume()

    async def _animate(self) -> None:
        while True:
            self._screen.tick(time.time())
            await anyio.sleep(_FRAME)


async def _raise_gone() -> None:
    raise BrokenPipeError


@contextmanager
def watching(pipe: int, gone: Callable[[], None]) -> Generator[None]:
    """Call `gone` when the reader of a pipe has left, also while nothing is written. Only Linux tells; -1: no pipe."""
    loop = asyncio.get_running_loop()
    if pipe < 0 or sys.platform != "linux":
        yield
        return

    def left() -> None:
        loop.remove_reader(pipe)
        gone()

    loop.add_reader(pipe, left)  # a pipe's writing end is never readable: this wakes up for its end alone
    try:
        yield
    finally:
        loop.remove_reader(pipe)


def end_now(mark: str) -> NoReturn:
    """End this process at once, and everything that carries `mark`, also what made a session of its own."""
    from gongfu.workspace.process_groups import end, members

    for _ in range(10):
        left = members(-1, mark, reaped=True)
        if not left:
            break
        end(left)
    os._exit(EXIT_INTERRUPTED)


def collect_again() -> None:
    """Switch garbage collection back on, with all that was made during start-up left out of it for good.

    A step makes a few hundred objects that live on; to look at them every 700 costs twice as much as every 5,000.
    """
    if not gc.isenabled():
        gc.freeze()
        gc.set_threshold(5000, 10, 10)
        gc.enable()


class Signals:
    """Catches Ctrl-C and polite ends: the first calls what is to be stopped, any further one `kill` on the spot.

    From the first `calling` to the end of the block in which it was made: what a turn leaves running is ended after it.
    """

    def __init__(self, kill: Callable[[], None]) -> None:
        self._kill = kill
        self._before: dict[int, Any] = {}
        self._count = 0
        self._stop: Callable[[], object] | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        for number, handler in self._before.items():
            signal.signal(number, handler)
        self._before.clear()

    @contextmanager
    def calling(self, stop: Callable[[], None]) -> Generator[None]:
        """In this block the first one calls `stop` in the running loop; after it, when all is ended anyway, nothing."""
        loop = asyncio.get_running_loop()
        self._stop = lambda: loop.call_soon_threadsafe(stop)
        self._catch()
        try:
            yield
        finally:
            self._stop = None

    def again(self) -> None:
        """What was to be stopped has ended: the next one is a first again."""
        self._count = 0

    def _catch(self) -> None:
        with suppress(ValueError):  # not the main thread: nobody presses Ctrl-C there
            for name in ("SIGINT", "SIGTERM", "SIGHUP", "SIGBREAK"):
                number = getattr(signal, name, None)
                if number is not None and number not in self._before:
                    self._before[number] = signal.signal(number, self._caught)

    def _caught(self, number: int, frame: FrameType | None) -> None:
        del number, frame
        self._count += 1
        if self._count > 1:
            self._kill()
        elif self._stop is not None:
            self._stop()
