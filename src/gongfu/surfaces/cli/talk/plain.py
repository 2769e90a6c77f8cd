"""The face on a terminal that only takes lines (TERM=dumb): what is typed ends with Enter, nothing is redrawn."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, TypeVar
from unicodedata import normalize

import anyio
from anyio import to_thread
from anyio.lowlevel import checkpoint

from gongfu.core.events import QuestionAsked
from gongfu.surfaces.cli.cli import Cli
from gongfu.surfaces.cli.style import clean, one_line
from gongfu.surfaces.cli.talk.face import Option, Pick, Picked, Typed
from gongfu.surfaces.cli.talk.full_width import halved

if TYPE_CHECKING:
    from gongfu.surfaces.cli.ask import Person
    from gongfu.surfaces.cli.talk.talk import Talk

T = TypeVar("T")

_QUIET = 0.1  # seconds without a word after which it is the person's turn to type


class Plain:
    """Reads lines from the terminal. One that ends in a backslash goes on in the next."""

    drawn = False

    def __init__(self, cli: Cli, talk: Talk, person: Person) -> None:
        self.cli = cli
        self._talk = talk
        self._person = person
        self._left = anyio.Event()
        self._mine = anyio.Lock()  # held by who reads the terminal
        self._reading: anyio.CancelScope | None = None
        self.waiting = 0  # who else is to read
        self._ready = ""
        self._prompted = False  # the prompt stands there, with nothing behind it but what is being typed
        self._fresh = True  # what comes next begins a line
        self._news = anyio.Event()

    # --- Face ---

    @property
    def size(self) -> tuple[int, int]:
        """Columns and rows as they are now."""
        return self.cli.size()

    def show(self, text: str) -> None:
        """Write lines; they stand neither behind a prompt nor behind words that are still coming."""
        if text:
            lead = "" if self._fresh or self._prompted else "\n"
            self.write(lead + (text if text.endswith("\n") else f"{text}\n"))

    def write(self, text: str) -> None:
        """Write words as they come. A mere line end is left out where a line begins already."""
        if not text or (text == "\n" and self._fresh):
            return
        self.cli.out.write(f"\n{text}" if self._prompted else text)
        self._prompted, self._fresh = False, text.endswith("\n")
        self._news.set()

    def wake(self) -> None:
        """Nothing is alive here."""

    async def pick(self, pick: Pick) -> Picked | None:
        """A numbered list, answered by a number, a key, the beginning of a label, or an own answer."""
        async with self._alone():
            self.show("\n".join(["", clean(pick.title), *pick.lines, *_listed(pick.options)]))
            picked: Picked | None = None
            with anyio.move_on_after(pick.seconds):
                while True:
                    line = await self._person.line(self._hint(pick))
                    if line is None or not line.strip():
                        break
                    picked = _chosen(pick, line.strip())
                    if picked is not None:
                        break
            return picked

    def _hint(self, pick: Pick) -> str:
        return f"{pick.free}> " if pick.free else self.cli.say("talk.plain_pick") + " "

    async def ask(self, label: str, *, secret: bool = False, default: str = "") -> str | None:
        """A line; a secret one is not shown."""
        async with self._alone():
            if secret:
                from getpass import getpass

                try:
                    return await to_thread.run_sync(lambda: getpass(f"{label} "), abandon_on_cancel=True)
                except (EOFError, KeyboardInterrupt):
                    return None
            line = await self._person.line(f"{label}{f' [{default}]' if default else ''} ")
            return None if line is None else line.strip() or default

    async def answer(self, question: QuestionAsked) -> str:
        """The dialogue in lines."""
        async with self._alone():
            return await self._person.answer(question)

    async def read(self, title: str, lines: Sequence[str]) -> None:
        """All of it."""
        self.show("\n".join(([title] if title else []) + list(lines)))

    async def outside(self, work: Callable[[], T]) -> T:
        """See `Face.outside`."""
        async with self._alone():
            return await to_thread.run_sync(work)

    def put(self, text: str) -> None:
        """A line that is sent with a mere Enter."""
        self._ready = text
        if text:
            self.show(self.cli.say("talk.plain_ready", text=one_line(text, 200)))

    def clear(self) -> None:
        """A line between what was and what comes."""
        self.show("\n---\n")

    def bell(self) -> None:
        """Ring."""
        self.cli.out.write("\a")

    def leave(self) -> None:
        """End `run`, or the turn where one runs."""
        if self._talk.running:
            self._talk.start(self._talk.interrupt)
        else:
            self._left.set()

    # --- life ---

    async def run(self) -> None:
        """Take lines until the end of input or `leave`."""
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(self._lines)
            await self._left.wait()
            tasks.cancel_scope.cancel()

    async def _lines(self) -> None:
        await self._talk.ready.wait()
        while True:
            ended = False
            async with self._mine:
                with anyio.CancelScope() as self._reading:  # given up when somebody else is to read
                    if not self.waiting:
                        ended = await self._one()
                self._reading = None
            if ended:
                self._left.set()
                return
            await checkpoint()  # who waits for the terminal gets it

    async def _one(self) -> bool:
        """Read a line and send it; True at the end of input."""
        line = await self._typed()
        while line is not None and line.rstrip("\r\n").endswith("\\"):
            more = await self._typed(". ")
            line = line.rstrip("\r\n")[:-1] + "\n" + (more or "")
        if line is None:
            return True
        text, self._ready = halved(line.strip()) or self._ready, ""
        if text in ("?", "？"):
            text = "/help"
        if text:
            self._talk.submit(Typed(text=text, shown=text))
        return False

    async def _typed(self, prompt: str = "> ") -> str | None:
        """The next line. It can be typed at any time; the prompt stands there only while it is awaited."""
        line: str | None = None
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(self._prompt, prompt)
            line = await self._person.line("")
            self._prompted, self._fresh = False, True  # the terminal has ended the line
            tasks.cancel_scope.cancel()
        return line

    async def _prompt(self, prompt: str) -> None:
        """Show the prompt once everything is said, and again after more was."""
        while True:
            self._news = anyio.Event()
            with anyio.move_on_after(_QUIET) as waited:
                await self._news.wait()
            if not waited.cancelled_caught:
                continue
            if self._talk.running:
                await anyio.sleep(_QUIET)
                continue
            self.cli.out.write(prompt if self._fresh else f"\n{prompt}")
            self._prompted = True
            await self._news.wait()

    def alone(self) -> None:
        """Somebody else is to read: the prompt that stands there is done."""
        if self._prompted:
            self.write("\n")
        self._fresh = True

    def _alone(self) -> _Alone:
        return _Alone(self)

    def stop_reading(self) -> None:
        """Let go of the terminal: somebody else is to read from it."""
        if self._reading is not None:
            self._reading.cancel()

    @property
    def mine(self) -> anyio.Lock:
        """Held by who reads the terminal."""
        return self._mine


class _Alone:
    """The terminal for a dialogue: the prompt that waits is given up and comes again after it."""

    def __init__(self, face: Plain) -> None:
        self._face = face

    async def __aenter__(self) -> None:
        self._face.waiting += 1
        self._face.stop_reading()
        try:
            await self._face.mine.acquire()
        finally:
            self._face.waiting -= 1
        self._face.alone()

    async def __aexit__(self, *_: object) -> None:
        self._face.mine.release()


def _listed(options: Sequence[Option]) -> list[str]:
    return [
        f"  {number}. {option.key + ': ' if option.key else ''}{clean(option.label)}  {clean(option.detail)}".rstrip()
        for number, option in enumerate(options, 1)
    ]


def _chosen(pick: Pick, text: str) -> Picked | None:
    if text.isdecimal() and 0 < int(text) <= len(pick.options):
        return Picked(value=pick.options[int(text) - 1].value)
    key = normalize("NFKC", text).lower()
    for option in pick.options:
        if text == option.value or key in (option.key.lower(), option.value.lower()):
            return Picked(value=option.value)
    starts = [option for option in pick.options if option.label.lower().startswith(key)]
    if len(starts) == 1:
        return Picked(value=starts[0].value)
    return Picked(value="", text=text) if pick.free else None
