"""A session as its log tells of it, read without opening it."""

from __future__ import annotations

from collections.abc import Iterable

from msgspec.structs import replace

from gongfu.context.xray import Xray, note_units, unit_names, xray
from gongfu.core.events import BatchLabelled, Entry, MessageAdded, PromptQueued, TurnStarted
from gongfu.core.messages import Message
from gongfu.engine.transcript import Transcript
from gongfu.store.sessions import SessionRow


def look(row: SessionRow, entries: Iterable[Entry]) -> Xray:
    """The X-ray of the session of `row`, with a few words for each unit. A log with gaps gives what it has."""
    kept = list(entries)
    transcript = Transcript()
    labels: dict[str, str] = {}
    queued: dict[str, Message] = {}
    for entry in kept:
        transcript.apply(entry.event)
        match entry.event:
            case PromptQueued(prompt=prompt, message=message):
                queued[prompt] = message
            case TurnStarted(prompt=prompt, blocked=False) if prompt in queued:
                transcript.apply(MessageAdded(message=queued.pop(prompt)))
            case BatchLabelled(calls=calls, text=text):
                labels.update(dict.fromkeys(calls, text))
            case _:
                pass
    units, notes = unit_names(transcript.messages, labels), note_units(transcript.messages)
    return replace(xray(kept), session=row.id, title=row.title, parent=row.parent, units=units, notes=notes)
