"""The journal: the durable events of every session by sequence."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

import msgspec

from gongfu.core.errors import UserError
from gongfu.core.events import AnyEvent, Entry, Event, decode_event, encode_event
from gongfu.store.database import Database

_SPAN: Final = 1 << 32
_PAGE: Final = 512
_APPEND: Final = (
    "INSERT INTO event (key, time, data)"
    " SELECT coalesce((SELECT max(key) FROM event WHERE key > ?1 AND key < ?2), ?1) + 1, ?3, ?4"
    " FROM session WHERE number = ?5"
)


class Journal:
    """Appends events and reads them back. Sequences of a session start at 1 and have no gaps.

    A stored row that cannot be read as JSON is passed over, and named in `damaged`.
    """

    def __init__(self, db: Database) -> None:
        self._db = db
        self._numbers: dict[str, int] = {}
        self._damaged: set[tuple[str, int]] = set()

    @property
    def damaged(self) -> tuple[tuple[str, int], ...]:
        """(session, sequence) of the rows that were passed over so far."""
        return tuple(sorted(self._damaged))

    def append(self, session: str, events: Sequence[Event], *, at: float) -> list[int]:
        """Store `events` of `session` in one transaction, all or none; return their sequences.

        `at` is seconds since 1970. A session that has no row yet gets one. Raises UserError when the session was
        deleted meanwhile, or as `Database` does.
        """
        if not events:
            return []
        rows = [_encode(event) for event in events]
        number = self._numbers.get(session) or self._adopt(session, at)
        last = self._append_one(number, rows[0], at) if len(rows) == 1 else self._append_all(number, rows, at)
        if not last:
            self._numbers.pop(session, None)
            raise UserError("store.session_gone", session=session)
        return list(range(last - len(rows) + 1, last + 1))

    def _append_one(self, number: int, data: str, at: float) -> int:
        """The sequence of the new row, 0 when the session is gone. One statement is a transaction of its own."""
        base = number * _SPAN
        done = self._db.execute(_APPEND, (base, base + _SPAN, at, data, number))
        return (done.lastrowid or base) - base if done.rowcount > 0 else 0

    def _append_all(self, number: int, rows: Sequence[str], at: float) -> int:
        """The sequence of the last of the new rows, 0 when the session is gone."""
        base, last = number * _SPAN, 0
        with self._db.write() as connection:
            for data in rows:
                done = connection.execute(_APPEND, (base, base + _SPAN, at, data, number))
                last = (done.lastrowid or base) - base if done.rowcount > 0 else 0
        return last

    def read(self, session: str, *, after: int = 0, before: int | None = None) -> Iterator[Entry]:
        """The entries with `after` < sequence < `before`, in order. Appending meanwhile is allowed and is seen."""
        number = self._number(session)
        if number is None:
            return
        base = number * _SPAN
        key, end = base + after, base + _SPAN if before is None else base + before
        while rows := self._rows(key, end):
            for key, time, data in rows:  # the last key is where the next page starts
                event = _decode(data)
                if event is None:
                    self._damaged.add((session, key - base))
                else:
                    yield Entry(seq=key - base, time=time, event=event)
            if len(rows) < _PAGE:
                return

    def tail(self, session: str, count: int, *, before: int | None = None) -> list[Entry]:
        """The last `count` entries with a sequence below `before` (None: of all), in order; the rest is not read."""
        number = self._number(session)
        if number is None:
            return []
        base = number * _SPAN
        rows = self._db.read(
            "SELECT key, time, CAST(data AS BLOB) FROM event WHERE key > ? AND key < ? ORDER BY key DESC LIMIT ?",
            (base, base + (_SPAN if before is None else before), count),
        )
        read = [(key - base, time, _decode(data)) for key, time, data in reversed(rows)]
        self._damaged.update((session, seq) for seq, _, event in read if event is None)
        return [Entry(seq=seq, time=time, event=event) for seq, time, event in read if event is not None]

    def last(self, session: str) -> int:
        """The last sequence of `session`; 0 when it has none."""
        number = self._number(session)
        if number is None:
            return 0
        base = number * _SPAN
        key = self._db.read("SELECT max(key) FROM event WHERE key > ? AND key < ?", (base, base + _SPAN))[0][0]
        return key - base if key else 0

    def copy(self, session: str, new_session: str, upto: int) -> int:
        """Copy the events 1..`upto` of `session` to `new_session` with their sequences and times; return how many.

        When `new_session` already has its own first event, that one stays and takes the place of the first.
        Raises ValueError when it has more.
        """
        present = self.last(new_session)
        if present > 1:
            raise ValueError(f"{new_session} already has {present} events")
        source = self._number(session)
        if source is None:
            return 0
        target = self._numbers.get(new_session) or self._adopt(new_session, 0.0)
        with self._db.write() as connection:
            return connection.execute(
                "INSERT INTO event (key, time, data) SELECT key - ?1 + ?2, time, data FROM event"
                " WHERE key > ?1 + ?3 AND key <= ?1 + ?4 ORDER BY key",
                (source * _SPAN, target * _SPAN, present, upto),
            ).rowcount

    def _rows(self, key: int, end: int) -> list[tuple[int, float, bytes]]:
        return self._db.read(
            "SELECT key, time, CAST(data AS BLOB) FROM event WHERE key > ? AND key < ? ORDER BY key LIMIT ?",
            (key, end, _PAGE),
        )

    def _number(self, session: str) -> int | None:
        number = self._numbers.get(session)
        if number is None:
            rows = self._db.read("SELECT number FROM session WHERE id = ?", (session,))
            if not rows:
                return None
            number = self._numbers[session] = int(rows[0][0])
        return number

    def _adopt(self, session: str, at: float) -> int:
        """The number of `session`, whose row is made when it is missing."""
        number = self._number(session)
        if number is None:
            with self._db.write() as connection:
                connection.execute(
                    "INSERT OR IGNORE INTO session (id, created, updated) VALUES (?, ?, ?)", (session, at, at)
                )
            number = self._number(session)
        if number is None:
            raise UserError("store.session_gone", session=session)
        return number


def _encode(event: Event) -> str:
    try:
        return encode_event(event).decode()
    except UnicodeEncodeError:  # half a surrogate pair in some text: JSON cannot hold it, the rest is worth keeping
        import json

        text = json.dumps(msgspec.to_builtins(event), ensure_ascii=False)
        return text.encode("utf-8", "replace").decode()


def _decode(data: bytes) -> AnyEvent | None:
    try:
        return decode_event(data)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return None
