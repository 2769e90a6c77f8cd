"""A session as its log tells of it, read without opening it."""

from __future__ import annotations

from collections.abc import Iterable

from msgspec.structs import replace

from gongfu.context.xray import Xray, note_units, unit_names, xray
from gongfu.core.events import BatchLabelled, Entry
from gongfu.engine.transcript import transcript_of
from gongfu.store.sessions import SessionRow


def look(row: SessionRow, entries: Iterable[Entry]) -> Xray:
    """The X-ray of the session of `row`, with a few words for each unit. A log with gaps gives what it has."""
    kept = list(entries)
    transcript = transcript_of(entry.event for entry in kept)
    labels: dict[str, str] = {}
    for entry in kept:
        if isinstance(entry.event, BatchLabelled):
            labels.update(dict.fromkeys(entry.event.calls, entry.event.text))
    units, notes = unit_names(transcript.messages, labels), note_units(transcript.messages)
    return replace(xray(kept), session=row.id, title=row.title, parent=row.parent, units=units, notes=notes)
