"""A face that records what is shown and plays what a person does, and a conversation on it."""

from __future__ import annotations

import io
import re
from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import anyio
from anyio import to_thread

from gongfu.core.errors import UserError
from gongfu.core.events import QuestionAsked
from gongfu.surfaces.cli.cli import Cli
from gongfu.surfaces.cli.options import Opening
from gongfu.surfaces.cli.talk.face import Pick, Picked, Typed
from gongfu.surfaces.cli.talk.talk import Talk
from tests.app.cast import opened

_PAINT = re.compile(r"\x1b\[[0-9;]*m")


class Stub:
    """A `Face`. `shown` holds what was shown, without paint; `picks` are played one after the other: a value, a
    function of the pick that gives one, None for Esc, or `Picked` itself; `lines` answer `ask`, `answers` questions.
    """

    def __init__(self, *, drawn: bool = True, columns: int = 80, rows: int = 24) -> None:
        self.drawn = drawn
        self.size = (columns, rows)
        self.shown: list[str] = []
        self.picks: list[str | Picked | Callable[[Pick], str | None] | None] = []
        self.lines: list[str | None] = []
        self.answers: list[str] = []
        self.asked: list[Pick] = []
        self.questions: list[QuestionAsked] = []
        self.input = ""
        self.cleared = 0
        self.rung = 0
        self.left = False
        self._news = anyio.Event()

    def show(self, text: str) -> None:
        if text:
            self.shown.append(_PAINT.sub("", text))
            self._wake()

    def write(self, text: str) -> None:
        self.show(text)

    def wake(self) -> None:
        self._wake()

    def _wake(self) -> None:
        self._news.set()
        self._news = anyio.Event()

    async def pick(self, pick: Pick) -> Picked | None:
        self.asked.append(pick)
        assert self.picks, f"nobody expected a choice: {pick.title}"
        given = self.picks.pop(0)
        if given is None or isinstance(given, Picked):
            return given
        value = given if isinstance(given, str) else given(pick)
        if value is None:
            return None
        assert value in [option.value for option in pick.options], f"{value} is not among {pick.options}"
        return Picked(value=value)

    async def ask(self, label: str, *, secret: bool = False, default: str = "") -> str | None:
        assert self.lines, f"nobody expected to be asked: {label}"
        given = self.lines.pop(0)
        return given if given is None else given or default

    async def answer(self, question: QuestionAsked) -> str:
        self.questions.append(question)
        if not self.answers:
            await anyio.sleep_forever()
        return self.answers.pop(0)

    async def read(self, title: str, lines: Sequence[str]) -> None:
        self.show("\n".join([title, *lines]))

    async def outside(self, work: Callable[[], Any]) -> Any:
        return await to_thread.run_sync(work)

    def put(self, text: str) -> None:
        self.input = text

    def clear(self) -> None:
        self.cleared += 1

    def bell(self) -> None:
        self.rung += 1

    def leave(self) -> None:
        self.left = True

    # --- what a test asks ---

    @property
    def text(self) -> str:
        """All that was shown."""
        return "\n".join(self.shown)

    async def until(self, true: Callable[[], bool]) -> None:
        """Wait until something is so."""
        with anyio.fail_after(20):
            while not true():
                with anyio.move_on_after(0.05):
                    await self._news.wait()


class Conversation(Talk):
    """A `Talk` whose commands can be waited for."""

    @property
    def stub(self) -> Stub:
        """Its face."""
        assert isinstance(self.face, Stub)
        return self.face

    async def do(self, line: str) -> str:
        """Type a line and wait until its work is done; what was shown meanwhile, complaints included."""
        before = len(self.stub.shown)
        try:
            await self._take(Typed(text=line, shown=line))
        except UserError as error:
            self.complain(error)
        said = self.stub.shown[before:]
        if said and said[0].startswith("\n› /"):  # which command it was stands above what it says
            said = said[1:]
        return "\n".join(said)

    async def say(self, text: str) -> None:
        """A prompt, and wait for the end of its turn."""
        await self.send(Typed(text=text))
        await self.idle()

    async def queue(self, text: str) -> None:
        """A prompt that waits for the end of the turn."""
        await self.send(Typed(text=text, how="queue"))

    async def asking(self) -> None:
        """Wait until the turn has asked its model."""
        from gongfu.core.events import RequestSent

        def asked() -> bool:
            return any(isinstance(entry.event, RequestSent) for entry in self.app.journal.read(self.session.id))

        with anyio.fail_after(20):
            while not self.session.running or not asked():
                await anyio.sleep(0.005)

    async def idle(self) -> None:
        """Wait until no turn runs and none waits."""
        with anyio.fail_after(20):
            while self.session.running or self.session.queue:
                await anyio.sleep(0.002)
            await anyio.wait_all_tasks_blocked()


@asynccontextmanager
async def conversation(
    work: Path, cast: Any, *, face: Stub | None = None, language: str = "en", session: str = "", **options: Any
) -> AsyncGenerator[Conversation]:
    """A conversation in the folder `work` with a scripted model (see `tests.app.cast`)."""
    cli = Cli([], {"GONGFU_LANG": language, "TERM": "xterm"}, stdin=None, stdout=io.StringIO(), stderr=io.StringIO())
    if language == "zh":
        cli.speak("zh")
    talk = Conversation(cli, Opening())
    talk.face = face or Stub()
    wrong: BaseException | None = None
    async with opened(work, cast, **options) as app, anyio.create_task_group() as tasks:
        talk.tasks = tasks
        talk.begin(app, await app.session(session))
        try:
            yield talk
        except Exception as error:
            wrong = error
        tasks.cancel_scope.cancel()
    if wrong is not None:
        raise wrong
