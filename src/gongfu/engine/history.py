"""All messages of a session by number. What no request can hold any more need not stay in memory: the log has it."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from typing import overload

from gongfu.core.messages import Message


class History(Sequence[Message]):
    """A sequence that grows at its end. `let_go` frees memory; what was let go of is read again when it is asked for.

    `reread` gives all messages anew, in the thread that the store belongs to. Without it nothing is let go of.
    """

    def __init__(self) -> None:
        self._held: list[Message | None] = []
        self._kept: list[int] = []  # the numbers below `_passed` that are held
        self._passed = 0
        self._whole: list[Message] = []  # read again, until the history grows
        self.reread: Callable[[], Sequence[Message]] | None = None

    def append(self, message: Message) -> None:
        """One more message."""
        self._held.append(message)
        self._whole = []

    def extend(self, messages: Iterable[Message]) -> None:
        """Several more."""
        for message in messages:
            self.append(message)

    def put(self, at: int, message: Message) -> None:
        """The message with number `at` is another now."""
        self._held[at] = message
        self._whole = []

    def let_go(self, before: int, keep: Collection[int]) -> None:
        """Free the messages with numbers below `before`, but for those in `keep` and the first."""
        if self.reread is None or before <= self._passed:
            return
        kept: list[int] = []
        for at in (*self._kept, *range(self._passed, before)):
            if at in keep or not at:
                kept.append(at)
            else:
                self._held[at] = None
        self._kept, self._passed, self._whole = kept, before, []

    @property
    def held(self) -> int:
        """How many messages are in memory."""
        return len(self._kept) + len(self._held) - self._passed

    def recent(self) -> list[Message]:
        """Those in memory: all that a request holds, and those that the newest fold took away."""
        return [m for at in self._kept if (m := self._held[at])] + [m for m in self._held[self._passed :] if m]

    def _all(self) -> list[Message]:
        if not self._whole:
            again = () if self.reread is None else self.reread()
            empty = Message(role="user")  # in the place of one whose row was lost meanwhile
            self._whole = [
                held if held is not None else again[at] if at < len(again) else empty
                for at, held in enumerate(self._held)
            ]
        return self._whole

    def __len__(self) -> int:
        return len(self._held)

    @overload
    def __getitem__(self, at: int, /) -> Message: ...
    @overload
    def __getitem__(self, at: slice, /) -> Sequence[Message]: ...

    def __getitem__(self, at: int | slice, /) -> Message | Sequence[Message]:
        if isinstance(at, slice):
            held = self._held[at]
            some = [message for message in held if message is not None]
            return some if len(some) == len(held) else self._all()[at]
        message = self._held[at]
        return self._all()[at] if message is None else message

    def __iter__(self) -> Iterator[Message]:
        for at, message in enumerate(self._held):
            yield self._all()[at] if message is None else message

    def __reversed__(self) -> Iterator[Message]:
        for at in range(len(self._held) - 1, -1, -1):
            yield self[at]
