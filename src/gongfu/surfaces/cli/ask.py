"""Questions to the person at the terminal: may this run, and what the model wants to know."""

from __future__ import annotations

import os
import sys
from contextlib import suppress

import anyio

from gongfu.core.events import QuestionAsked
from gongfu.surfaces.cli.answers import Asked, allowed, asked, decided, named, plan_answers, plan_of, said
from gongfu.surfaces.cli.cli import Cli
from gongfu.surfaces.cli.render.lines import Lines
from gongfu.surfaces.cli.style import clean, one_line
from gongfu.surfaces.cli.width import wrap


class Person:
    """Somebody who can be asked: they see one of the standard streams and type at the terminal `fd`."""

    def __init__(self, cli: Cli, fd: int) -> None:
        self._cli = cli
        self._fd = fd
        self._out = cli.out if cli.out.tty else cli.err
        style = cli.out_style if cli.out.tty else cli.err_style
        self._style = style
        self._lines = Lines(style=style, speech=cli.say, columns=cli.size()[0])

    async def answer(self, question: QuestionAsked) -> str:
        """Show the question with what it is about and wait for an answer. The end of input counts as no answer."""
        _drop_typed_ahead(self._fd)
        if question.about == "permission":
            return await self._permission(question)
        return await self._question(question)

    async def line(self, prompt: str) -> str | None:
        """A line that is typed after `prompt`, or several that were pasted; None at the end of input."""
        return await self._read(prompt)

    async def _permission(self, question: QuestionAsked) -> str:
        say, style, columns = self._cli.say, self._style, self._cli.size()[0]
        about = asked(question, self._lines, columns)
        self._out.line(f"\n{style.yellow('?')} {style.bold(about.title)}")
        if about.reason:
            self._out.line(style.dim(f"  {about.reason}"))
        for line in (*about.preview, *self._lines.needs(list(about.needs))):
            self._out.line(line)
        self._hint(about, question.options)
        choices = say(_choices(question.options))
        while True:
            line = await self._read("\n".join(f"  {row}" for row in self._wrapped(choices)) + " ")
            if line is None:
                return "deny"
            answer = decided(line, question.options, about.parts)
            if answer:
                return answer
            for row in self._wrapped(say("permission_how")):
                self._out.line(style.dim(f"  {row}"))

    def _hint(self, about: Asked, options: tuple[str, ...]) -> None:
        """Say how parts are picked, and what a grave one means, where that is so."""
        say = self._cli.say
        hints = [say("permission_pick")] if about.parts else []
        hints += [say("permission_grave")] if about.grave and "project" in options else []
        for hint in hints:
            for row in self._wrapped(hint):
                self._out.line(self._style.dim(f"  {row}"))

    def _wrapped(self, text: str) -> list[str]:
        return [row.strip() for row in wrap(text, max(20, self._cli.size()[0] - 4))]

    async def _question(self, question: QuestionAsked) -> str:
        say, style = self._cli.say, self._style
        self._out.line()
        columns = self._cli.size()[0]
        text, options = named(question, clean(question.text)), question.options
        if question.preview.get("kind") == "plan":
            text, lines = plan_of(question, say, columns - 4, color=style.color)
            answers = plan_answers(question, say)
            options = tuple(answers.get(one, say("talk_ask.plan_no")) for one in options)
            self._out.line("\n".join(f"  {line}" for line in lines) + "\n")
        for at, row in enumerate(wrap(text, max(20, columns - 3))):
            self._out.line(f"{' ' if at else style.yellow('?')} {style.bold(row)}")
        for number, option in enumerate(options, 1):
            for at, row in enumerate(wrap(one_line(option, 300), max(20, columns - 6))):
                self._out.line(f"     {row}" if at else f"  {number}. {row}")
        default = question.default
        if default in question.options:
            default = str(question.options.index(default) + 1)
        hint = say("question_default", default=one_line(default, 80)) if default else ""
        if question.seconds:
            hint += say("question_time", seconds=int(question.seconds))
        line = await self._read(f"  {style.dim(hint)}> ")
        return said(question, line or "")

    async def _read(self, prompt: str) -> str | None:
        self._out.write(prompt)
        data = await _read_line(self._fd)
        if not data:
            self._out.line()
            return None
        return data.decode("utf-8", "replace")


def _choices(options: tuple[str, ...]) -> str:
    """The name of the line that shows what can be answered."""
    takes = allowed(options)
    if "project" in takes:
        return "permission_choices_project"
    return "permission_choices" if "session" in takes else "yes_no"


async def _read_line(fd: int) -> bytes:
    """One line of a terminal, b"" at its end; cancelled at once when the wait is."""
    if sys.platform == "win32":
        return await _read_line_in_thread(fd)
    await anyio.wait_readable(fd)
    return os.read(fd, 65536)


async def _read_line_in_thread(fd: int) -> bytes:
    """For a console that cannot be waited on: a daemon thread reads, so that the program can end without it."""
    import asyncio
    from threading import Thread

    loop = asyncio.get_running_loop()
    done: asyncio.Future[bytes] = loop.create_future()

    def put(data: bytes) -> None:
        if not done.done():
            done.set_result(data)

    def read() -> None:
        try:
            data = os.read(fd, 65536)
        except OSError:
            data = b""
        with suppress(RuntimeError):  # the loop has ended meanwhile
            loop.call_soon_threadsafe(put, data)

    Thread(target=read, daemon=True).start()
    return await done


def _drop_typed_ahead(fd: int) -> None:
    """Forget keys that were pressed before the question was seen."""
    if sys.platform == "win32":
        return
    import termios  # not on Windows

    with suppress(termios.error):
        termios.tcflush(fd, termios.TCIFLUSH)


def somebody(cli: Cli) -> Person | None:
    """The person at the terminal, or None when nobody can see a question or answer it."""
    if not (cli.out.tty or cli.err.tty):
        return None
    try:
        if cli.stdin is not None and cli.stdin.isatty():
            return Person(cli, cli.stdin.fileno())
        return Person(cli, os.open("CONIN$" if sys.platform == "win32" else "/dev/tty", os.O_RDWR))
    except (OSError, ValueError):
        return None
