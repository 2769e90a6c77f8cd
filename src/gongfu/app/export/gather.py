"""Reads a session out of its log into a `Talk`."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from msgspec.structs import replace

from gongfu.app.export.talk import Answer, Done, Item, Talk, Thought, Turn, Words
from gongfu.core import events as ev
from gongfu.core.messages import ImagePart, Message, ReasoningPart
from gongfu.core.told import BatchLabelled
from gongfu.core.words import Language, say
from gongfu.store.sessions import SessionRow


def gather(
    row: SessionRow, entries: Iterable[ev.Entry], *, last: bool = False, everything: bool = False, language: Language
) -> Talk:
    """The session of `row`: prompts and final answers, or with `everything` also thinking, calls and what was said in
    between. `last` leaves all turns but the newest out. A log with gaps gives what it has.
    """
    reader = _Reader(language)
    for entry in entries:
        reader.read(entry)
    turns = [turn if everything else _short(turn) for turn in reader.turns()]
    turns = [turn for turn in turns if turn.items]
    return Talk(
        session=row.id, title=row.title, folder=row.directory, turns=tuple(turns[-1:] if last else turns),
        at=row.created, tokens=row.tokens, cost=row.cost,
    )  # fmt: skip


class _Reader:
    def __init__(self, language: Language) -> None:
        self._language: Language = language
        self._queued: dict[str, Message] = {}
        self._turns: list[Turn] = []
        self._items: list[Item] = []
        self._calls: dict[str, int] = {}
        self._titles: dict[str, str] = {}

    def read(self, entry: ev.Entry) -> None:
        match entry.event:
            case ev.PromptQueued(prompt=prompt, message=message):
                self._queued[prompt] = message
            case ev.TurnStarted() as started:
                self._begin(started, entry.time)
            case ev.MessageAdded(message=message) if message.kind == "steer":
                self._items.append(Words(text=message.text, images=_images(message), steer=True))
            case ev.AnswerReceived(purpose="main", message=message):
                self._answer(message)
            case ev.ToolStarted(call=call, title=title):
                self._titles[call] = title
            case ev.ToolFinished() as finished:
                self._finish(finished)
            case BatchLabelled(calls=calls, text=text):
                self._label(calls, text)
            case ev.TurnFinished() as ended:
                self._end(ended)
            case _:
                pass

    def turns(self) -> list[Turn]:
        if self._items:  # it still runs, or was killed
            self._close(Turn(items=tuple(self._items)))
        return self._turns

    def _begin(self, started: ev.TurnStarted, at: float) -> None:
        if self._items and not started.resumed:
            self._close(Turn(items=tuple(self._items)))
        self._now = Turn(model=started.model, at=at)
        message = self._queued.pop(started.prompt, None)
        if message is not None:
            self._items.append(Words(text=message.text, images=_images(message)))

    _now = Turn()

    def _answer(self, message: Message) -> None:
        thinking = "".join(part.text for part in message.parts if isinstance(part, ReasoningPart))
        if thinking.strip():
            self._items.append(Thought(text=thinking))
        if message.text.strip():
            self._items.append(Answer(text=message.text))
        for call in message.calls:
            self._calls[call.id] = len(self._items)
            self._items.append(Done(name=call.name, title="", arguments=call.raw or call.arguments, status="", text=""))

    def _finish(self, finished: ev.ToolFinished) -> None:
        at = self._calls.get(finished.call, -1)
        found = self._items[at] if 0 <= at < len(self._items) else None
        if isinstance(found, Done):
            self._items[at] = replace(
                found, title=self._titles.get(finished.call, ""), status=finished.result.status,
                text=finished.result.text, display=finished.display, images=finished.result.images,
                seconds=finished.seconds,
            )  # fmt: skip

    def _label(self, calls: tuple[str, ...], text: str) -> None:
        at = self._calls.get(calls[0], -1) if calls else -1
        found = self._items[at] if 0 <= at < len(self._items) else None
        if isinstance(found, Done):
            self._items[at] = replace(found, label=text)

    def _end(self, ended: ev.TurnFinished) -> None:
        if ended.text.strip():
            # an answer in pieces is joined: the pieces give way to the whole
            while self._items and isinstance(self._items[-1], Answer) and self._items[-1].text in ended.text:
                self._items.pop()
            self._items.append(Answer(text=ended.text, final=True))
        reason = _sentence(ended.reason, ended.values, self._language) if ended.reason else ""
        self._close(replace(self._now, items=tuple(self._items), ended=ended.status, reason=reason))

    def _close(self, turn: Turn) -> None:
        self._turns.append(turn)
        self._items = []
        self._calls = {}
        self._titles = {}


def _sentence(key: str, values: dict[str, Any], language: Language) -> str:
    """A sentence of the catalogue; what this version does not know stays as it came."""
    try:
        return say(key, language, **values)
    except (KeyError, IndexError, ImportError, ValueError):
        return key


def _short(turn: Turn) -> Turn:
    items = [item for item in turn.items if isinstance(item, Words) or (isinstance(item, Answer) and item.final)]
    return replace(turn, items=tuple(items))


def _images(message: Message) -> tuple[ImagePart, ...]:
    return tuple(part for part in message.parts if isinstance(part, ImagePart))
