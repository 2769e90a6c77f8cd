"""A yes or no at the terminal, outside of a turn."""

from __future__ import annotations

import signal
import threading
from collections.abc import Generator
from contextlib import contextmanager

from gongfu.core.errors import UsageError
from gongfu.surfaces.cli.cli import Cli
from gongfu.surfaces.cli.width import wrap

_YES = {"y", "yes", "是", "好"}


def confirm(cli: Cli, question: str) -> bool:
    """Whether the person says yes; anything else is no. Raises UsageError when nobody can be asked."""
    asked = wrap(f"{question} {cli.say('yes_no')}", max(20, cli.size()[0] - 2))
    line = ask_line(cli, "\n".join(row.strip() for row in asked) + " ")
    return line is not None and line.strip().lower() in _YES


def ask_line(cli: Cli, prompt: str) -> str | None:
    """One line that the person types, None at the end of input. Raises UsageError when nobody can be asked."""
    stream = cli.stdin
    if stream is None or not can_ask(cli):
        raise UsageError("cli.nobody_to_ask")
    with _interruptible():  # before the question is seen: whoever reads it may press Ctrl-C at once
        (cli.err if cli.err.tty else cli.out).write(prompt)
        line = stream.readline()
    return line.rstrip("\n") if line else None


@contextmanager
def _interruptible() -> Generator[None]:
    """Ctrl-C ends a reading that blocks: an event loop would only note it, and wait for the line."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


def can_ask(cli: Cli) -> bool:
    """Whether somebody sees a question and can answer it."""
    return cli.stdin is not None and cli.stdin.isatty() and (cli.err.tty or cli.out.tty)
