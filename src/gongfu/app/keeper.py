"""Keeps the files of the workspace for one session, so that a turn can be undone (`engine.guard.Guard`)."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, TypeVar

import anyio
import anyio.to_thread

from gongfu.core.errors import UserError
from gongfu.core.events import AnyEvent, WarningRaised
from gongfu.core.guarded import CheckpointTaken

if TYPE_CHECKING:
    from gongfu.app.shelf import Kept, Place, Shelf

T = TypeVar("T")
_NAMED = 20  # paths that a warning or an event names


class Keeper:
    """The guard of one session. `place` says where the files and the store of checkpoints are.

    The first call of a turn that may change files takes the checkpoint "before", the end of the turn the one "after".
    When nothing changed in between both are dropped.
    """

    def __init__(self, session: str, place: Callable[[], Place], emit: Callable[[AnyEvent], None]) -> None:
        self._session = session
        self._place = place
        self._emit = emit
        self._lock = anyio.Lock()
        self._turn = ""
        self._before: Kept | None = None
        self._failed = False
        self._touched: set[str] = set()
        self._shelf: Shelf | None = None
        self._known: bytes | None = None
        self._told_narrow = False

    async def before_change(self, turn: str, paths: Sequence[str]) -> None:
        """See `Guard`: the first call of a turn waits here until everything is kept, and those beside it with it."""
        async with self._lock:
            if turn != self._turn:
                self._turn, self._before, self._failed = turn, None, False
            if self._failed:
                return
            new = [path for path in paths if path not in self._touched]
            if self._before is None:
                await self._first(turn, new)
            elif new:
                await self._more(self._before, new)

    async def turn_ended(self, turn: str) -> None:
        """See `Guard`: what the turn left is kept, unless it is what it found."""
        async with self._lock:
            before, self._before = self._before, None
            if before is None or turn != self._turn:
                return
            from gongfu.app.shelf import keep_after  # no turn without a change needs it

            done = await self._done(turn, lambda shelf: keep_after(shelf, before, tuple(self._touched)))
            if done is None:
                return
            after, changed = done
            self._known = after.tree
            if changed:
                self._emit(_event(after, "after"))
            self._warn(after)

    @property
    def holds(self) -> bool:
        """Whether the running turn can be undone: how the files were before its first change is kept."""
        return self._before is not None and not self._failed

    def close(self) -> None:
        """Close the store, if it was opened."""
        shelf, self._shelf = self._shelf, None
        if shelf is not None:
            shelf.close()

    async def _first(self, turn: str, new: Sequence[str]) -> None:
        from gongfu.app.shelf import keep_before  # no turn without a change needs it

        given_up = threading.Event()
        touched, known = (*self._touched, *new), self._known

        def work(shelf: Shelf) -> Kept:
            return keep_before(shelf, self._session, turn, touched, known=known, given_up=given_up.is_set)

        try:
            self._before = await self._done(turn, work)
        finally:
            given_up.set()  # a turn that is cancelled does not wait, and what comes too late is not kept
        if self._before is not None:
            self._touched.update(new)
            self._emit(_event(self._before, "before"))
            if self._before.narrow and not self._told_narrow:
                self._told_narrow = True
                self._emit(WarningRaised(key="undo.narrow"))

    async def _more(self, before: Kept, paths: Sequence[str]) -> None:
        from gongfu.app.shelf import add_to

        added = await self._done(before.turn, lambda shelf: add_to(shelf, before, tuple(paths)))
        if added is not None:
            self._touched.update(paths)
            self._before = added

    async def _done(self, turn: str, work: Callable[[Shelf], T]) -> T | None:
        """What `work` comes to in a thread; None when it could not be done, which is told."""
        from gongfu.app.shelf import Shelf

        def run() -> T:
            if self._shelf is None:
                self._shelf = Shelf(self._place())
            return work(self._shelf)

        try:
            return await anyio.to_thread.run_sync(run, abandon_on_cancel=True)
        except (UserError, OSError) as error:
            self._failed = True
            reason = str(error) if isinstance(error, UserError) else f"{error.strerror or error}."
            self._emit(WarningRaised(key="undo.not_kept", values={"reason": reason, "turn": turn}))
            return None

    def _warn(self, after: Kept) -> None:
        """Name what changed and cannot be given back; ignored files change too often to be worth a warning."""
        if after.lost:
            more = len(after.lost) - _NAMED
            paths = ", ".join(after.lost[:_NAMED]) + (f", … (+{more})" if more > 0 else "")
            self._emit(WarningRaised(key="undo.partly_kept", values={"paths": paths}))


def _event(kept: Kept, when: str) -> CheckpointTaken:
    return CheckpointTaken(
        checkpoint=kept.id,
        when="after" if when == "after" else "before",
        turn=kept.turn,
        files=kept.files,
        changed=kept.changed,
        bytes=kept.bytes,
        seconds=round(kept.seconds, 3),
        uncovered=kept.uncovered[:_NAMED],
    )
