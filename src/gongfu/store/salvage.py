"""Saves what can be read of a damaged store into a new one; the damaged file is only read."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final, TypeAlias

import msgspec

from gongfu.core.errors import UserError
from gongfu.core.events import SessionCreated, decode_event
from gongfu.store.database import Database
from gongfu.store.pages import Pages, Value

_SPAN: Final = 1 << 32
_SESSION: Final = "number, id, title, directory, root, parent, created, updated, turns, tokens, cost, todo"
_COLUMNS: Final = _SESSION.count(",") + 1
_WIDTHS: Final = (_COLUMNS - 1, _COLUMNS)  # a row that was written before `todo` came has none
_WORD: Final = 'number, root, path, heading, sha256, duty, why, at, "by"'
_Event: TypeAlias = tuple[int, float, str]


def salvage(path: Path) -> Path:
    """Copy every session and event that can be read at `path` to a new store beside it; return the new file.

    Nothing at `path` is changed. Raises UserError when the file cannot be read or the new one not be written.
    """
    try:
        pages = Pages(path)
    except OSError as error:
        raise UserError("store.io", path=path, reason=error.strerror or error) from error
    sessions: dict[int, list[Value]] = {}
    spans: dict[int, tuple[_Event, _Event]] = {}
    words: dict[int, list[Value]] = {}
    for rowid, row in pages.rows():
        if _is_session(row):
            _keep_session(sessions, rowid, row)
        elif _is_word(row):
            words[rowid] = row
        elif event := _event(rowid, row):
            first, last = spans.get(rowid // _SPAN, (event, event))
            spans[rowid // _SPAN] = (min(first, event), max(last, event))
    for number in spans.keys() - sessions.keys():
        sessions[number] = _lost_session(number, *spans[number])
    target = path.with_name(f"{path.stem}-salvaged-{time.strftime('%Y%m%d-%H%M%S')}{path.suffix}")
    _fill(target, sessions, words, (event for row in pages.rows() if (event := _event(*row))))
    return target


def swap_in(path: Path, salvaged: Path) -> Path:
    """Put the salvaged store in the place of the damaged one at `path`; return where the damaged one now lies."""
    aside = path.with_name(f"{path.name}.damaged-{time.strftime('%Y%m%d-%H%M%S')}")
    try:
        for tail in ("-wal", "-shm", ""):
            part = path.with_name(f"{path.name}{tail}")
            if part.exists():
                part.rename(f"{aside}{tail}")
        salvaged.rename(path)
    except OSError as error:
        raise UserError("store.io", path=path, reason=error.strerror or error) from error
    return aside


def _fill(
    target: Path, sessions: dict[int, list[Value]], words: dict[int, list[Value]], events: Iterator[_Event]
) -> None:
    marks = ", ".join("?" * _COLUMNS)
    with Database.open(target) as db, db.write() as connection:
        connection.executemany(
            f"INSERT OR IGNORE INTO session ({_SESSION}) VALUES ({marks})",  # noqa: S608 - constant texts
            [(number, *row[1:], *[""] * (_COLUMNS - len(row))) for number, row in sorted(sessions.items())],
        )
        connection.executemany(
            f"INSERT INTO rule_word ({_WORD}) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",  # noqa: S608 - constant texts
            [(number, *row[1:]) for number, row in sorted(words.items())],
        )
        connection.executemany("INSERT OR REPLACE INTO event (key, time, data) VALUES (?, ?, ?)", events)


def _is_session(row: list[Value]) -> bool:
    return len(row) in _WIDTHS and row[0] is None and isinstance(row[1], str) and isinstance(row[6], int | float)


def _is_word(row: list[Value]) -> bool:
    """Whether the row is the operator's word on a project rule."""
    texts = all(isinstance(row[at], str) for at in (1, 2, 3, 4, 5, 6, 8)) if len(row) == 9 else False
    return texts and row[0] is None and row[5] in ("mandatory", "optional", "excluded") and len(str(row[4])) == 64


def _event(rowid: int, row: list[Value]) -> _Event | None:
    """The row as (key, time, data) when it is an event whose data is whole."""
    if len(row) != 3 or row[0] is not None or rowid <= _SPAN or not isinstance(row[2], str):
        return None
    try:
        msgspec.json.decode(row[2], type=dict[str, Any])
    except (msgspec.DecodeError, RecursionError):
        return None
    return rowid, float(row[1]) if isinstance(row[1], int | float) else 0.0, row[2]


def _keep_session(sessions: dict[int, list[Value]], number: int, row: list[Value]) -> None:
    """Of two versions of one row (an old page may lie about) the later counts."""
    known = sessions.get(number)
    if known is None or float(row[7] or 0) >= float(known[7] or 0):
        sessions[number] = row


def _lost_session(number: int, first: _Event, last: _Event) -> list[Value]:
    """A row for events whose own was lost: from the first event when that is left."""
    name, directory, root = f"s_salvaged{number}", "", ""
    try:
        event = decode_event(first[2])
    except msgspec.DecodeError:
        event = None
    if isinstance(event, SessionCreated):
        name, directory, root = event.session, event.directory, event.root
    return [None, name, "", directory, root, "", first[1], last[1], 0, 0, None, ""]
