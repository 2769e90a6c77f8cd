"""Words for the turn that runs: a person's steering, and the reports of agents that work in the background."""

from __future__ import annotations

import anyio

from gongfu.core.messages import Message


class Inbox:
    """Keeps words until the turn takes them, between two requests. `expect` says that a report will come."""

    def __init__(self) -> None:
        self._messages: list[Message] = []
        self._expected = 0
        self._spoken = False
        self._news = anyio.Event()

    def put(self, *messages: Message) -> None:
        """Words of the person; who waits for reports is woken."""
        self._messages.extend(messages)
        self._spoken = True
        self._news.set()

    def note(self, message: Message) -> None:
        """A note that goes with the next request; it wakes nobody."""
        self._messages.append(message)

    def expect(self) -> None:
        """One more report will come."""
        self._expected += 1

    def report(self, message: Message) -> None:
        """A report that was expected is here."""
        self._messages.append(message)
        self._expected -= 1
        self._news.set()

    def take(self) -> list[Message]:
        """What has come since the last call, in order."""
        taken, self._messages = self._messages, []
        self._spoken = False
        return taken

    async def more(self) -> bool:
        """Whether there are, or will be, words for the turn: waits for all reports, or for a word of the person."""
        while self._expected and not self._spoken:
            self._news = anyio.Event()
            await self._news.wait()
        return bool(self._messages)
