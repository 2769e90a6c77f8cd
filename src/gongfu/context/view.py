"""What requests really hold: the transcript as the epochs left it. A pure function of the log."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from operator import is_

from msgspec.structs import replace

from gongfu.context.shorten import LONG_VALUE, cut_message, masked_call, masked_result, shrunk_result, worth_masking
from gongfu.context.tiers import RULES
from gongfu.context.units import Slot
from gongfu.core.messages import (
    CallPart,
    Message,
    Part,
    ReasoningPart,
    ResultPart,
    user,
)
from gongfu.core.told import EpochOpened

_MANY = 200


class View:
    """The messages of the next request, without its tail: the head (summary, pairs, note), then what is live.

    Between two epochs it only grows: `sync` takes in what the transcript has gained. `open` applies an epoch.
    A group is taken in once it is closed: call `sync` and `open` only while no call is open.
    """

    def __init__(self) -> None:
        self.epoch = 0
        self.head = 0  # how many of `messages` are summary, pairs and note
        self.messages: list[Message] = []
        self.slots: list[Slot] = []
        self.masked: set[str] = set()
        self.nonce = ""
        self._shrunk: dict[str, int] = {}
        self._trimmed: set[str] = set()
        self._next = 0
        self._tried: tuple[tuple[object, ...], int, list[Slot]] | None = None

    @property
    def cut(self) -> set[str]:
        """The calls that are not shown in full, or whose results are not."""
        return self.masked.union(self._shrunk, self._trimmed)

    @property
    def taken(self) -> int:
        """How many messages of the transcript were taken in."""
        return self._next

    def fresh(self, transcript: Sequence[Message]) -> Sequence[Message]:
        """The messages that `sync` would take in."""
        return transcript[self._next :]

    def sync(self, transcript: Sequence[Message]) -> None:
        """Take in the messages that are new."""
        for at in range(self._next, len(transcript)):
            raw = transcript[at]
            shown = raw if not self.nonce or raw.id == RULES else _scrubbed(raw, self.nonce)
            self.slots.append(Slot(at=at, raw=raw, shown=shown))
            self.messages.append(shown)
        self._next = len(transcript)

    def mend(self, transcript: Sequence[Message]) -> None:
        """Results that were lost from the log were made up: show them where their calls are shown."""
        slots = list(self.slots)
        for place in range(1, len(slots)):
            slot, asked = slots[place], slots[place - 1]
            if slot.raw.role == "tool" and slot.raw is not transcript[slot.at]:
                there = {r.call_id: r for r in (*transcript[slot.at].results, *slot.shown.results)}
                parts = tuple(there[c.id] for c in asked.shown.calls if c.id in there)
                slots[place] = Slot(at=slot.at, raw=transcript[slot.at], shown=replace(slot.shown, parts=parts))
        self.slots = slots
        self.messages = [*self.messages[: self.head], *(slot.shown for slot in slots)]

    def open(self, event: EpochOpened, transcript: Sequence[Message], labels: Mapping[str, str]) -> None:
        """Begin the epoch: what it drops goes, what it masks is masked, for good."""
        self.sync(transcript)
        slots = self._left(event, labels)
        self._tried = None
        self.epoch = event.epoch
        self.masked.update(event.masked)
        self._shrunk.update(event.shrunk)
        self._trimmed.update(event.trimmed)
        self.slots = slots
        self._forget()
        heads = head_of(event)
        self.head = len(heads)
        self.messages = [*heads, *(slot.shown for slot in self.slots)]

    def _forget(self) -> None:
        """Calls that are not shown any more are neither masked nor cut; looked at when there are many."""
        if len(self.masked) + len(self._trimmed) + len(self._shrunk) < len(self.slots) + _MANY:
            return
        shown = {call.id for slot in self.slots for call in slot.shown.calls}
        self.masked &= shown
        self._trimmed &= shown
        self._shrunk = {call: size for call, size in self._shrunk.items() if call in shown}

    def trial(self, event: EpochOpened, labels: Mapping[str, str]) -> list[Message]:
        """The messages that `open` would leave; nothing changes."""
        return [*head_of(event), *(slot.shown for slot in self._left(event, labels))]

    def _left(self, event: EpochOpened, labels: Mapping[str, str]) -> list[Slot]:
        """The slots that stay. What was tried last is known when the same decisions come again."""
        decisions = (
            event.masked, event.shrunk, event.trimmed, event.shortened, event.dropped, event.kept, event.thinking
        )  # fmt: skip
        if self._tried is not None:
            tried, count, left = self._tried
            if count == len(self.slots) and all(map(is_, tried, decisions)):
                return left
        left = _opened(self.slots, event, labels)
        self._tried = (decisions, len(self.slots), left)
        return left


def head_of(event: EpochOpened) -> list[Message]:
    """The notes before the live units: the recollection, the past pairs, what was left out."""
    from gongfu.context.summary import introduce  # only after a fold

    recollection = introduce(event.summary, event.chain) if event.summary or event.chain else ""
    return [user(text, kind="note") for text in (recollection, event.pairs, event.note) if text]


def _opened(
    slots: Sequence[Slot],
    event: EpochOpened,
    labels: Mapping[str, str],
) -> list[Slot]:
    """The slots that stay, in one pass, with what the epoch changes of them."""
    changes = _Changes(event, labels)
    ranges = iter((*event.dropped, (0, 0)))
    start, end = next(ranges)
    some_kept = bool(event.kept)
    left: list[Slot] = []
    for slot in slots:
        at = slot.at
        while end and at >= end:
            start, end = next(ranges)
        gone = start <= at < end
        if gone and not some_kept:
            continue
        shown = changes.of(slot, gone=gone)
        if shown is slot.shown:
            left.append(slot)
        elif shown is not None:
            left.append(Slot(at=at, raw=slot.raw, shown=shown))
    return left


class _Changes:
    """What one epoch makes of each message. Messages are given in order: a tool message follows its calls."""

    def __init__(self, event: EpochOpened, labels: Mapping[str, str]) -> None:
        self._kept = set(event.kept)
        self._shortened = set(event.shortened)
        self._masked = set(event.masked)
        self._shrunk = dict(event.shrunk)
        self._trimmed = set(event.trimmed)
        self._labels = labels
        self._thinking = event.thinking
        self._asked: Message | None = None  # the calls that the next tool message answers, when they are shown

    def of(self, slot: Slot, *, gone: bool) -> Message | None:
        """The message as it is shown from now on; None when nothing of it stays."""
        role, shown = slot.raw.role, slot.shown
        if role == "tool":
            return self._results(slot, gone=gone)
        if role == "user":
            if gone or slot.raw.id == RULES:
                return None
        elif calls := [part for part in shown.parts if type(part) is CallPart]:
            thoughts = slot.at < self._thinking and any(type(part) is ReasoningPart for part in shown.parts)
            if gone or thoughts or any(len(call.arguments) > LONG_VALUE for call in calls):
                return self._calls(slot, gone=gone)
            self._asked = slot.raw
        elif gone:
            return None
        else:
            shown = self._plain(slot)
        return cut_message(shown, slot.at) if slot.at in self._shortened else shown

    def _results(self, slot: Slot, *, gone: bool) -> Message | None:
        if self._asked is None:
            return None
        parts: list[Part] = []
        changed = False
        for part in slot.shown.parts:
            if not isinstance(part, ResultPart) or (gone and part.call_id not in self._kept):
                changed = True
                continue
            new = part
            if part.call_id in self._masked:
                new = self._mask(slot, part)
            elif part.call_id in self._shrunk:
                new = shrunk_result(part, self._shrunk[part.call_id])
            changed = changed or new is not part
            parts.append(new)
        # of a damaged log it may be empty until it is mended
        return replace(slot.shown, parts=tuple(parts)) if changed else slot.shown

    def _mask(self, slot: Slot, result: ResultPart) -> ResultPart:
        call = result.call_id
        raw = result
        if slot.raw is not slot.shown:
            raw = next((r for r in slot.raw.results if r.call_id == call), result)
        if not worth_masking(raw):
            return result
        label = self._labels.get(call, "")
        if not label and self._asked is not None:
            for part in self._asked.parts:
                if isinstance(part, CallPart) and part.id == call:
                    label = part.name
        return masked_result(raw, label)

    def _calls(self, slot: Slot, *, gone: bool) -> Message | None:
        parts: list[Part] = []
        calls = 0
        for part in slot.shown.parts:
            if isinstance(part, CallPart):
                if gone and part.id not in self._kept:
                    continue
                calls += 1
                short = part.id in self._masked or part.id in self._trimmed
                parts.append(masked_call(part) if short else part)
            elif not (isinstance(part, ReasoningPart) and slot.at < self._thinking):
                parts.append(part)
        self._asked = slot.raw if calls else None
        if not calls:
            return None
        shown = _with(slot.shown, parts)
        return cut_message(shown, slot.at) if slot.at in self._shortened else shown

    def _plain(self, slot: Slot) -> Message:
        if slot.at >= self._thinking:
            return slot.shown
        return _with(slot.shown, [p for p in slot.shown.parts if not isinstance(p, ReasoningPart)])


def _with(message: Message, parts: Sequence[Part]) -> Message:
    """The message with `parts`; the very same one when nothing has changed, so that its price is known."""
    old = message.parts
    same = len(old) == len(parts) and all(map(is_, old, parts))
    return message if same else replace(message, parts=tuple(parts))


def _scrubbed(message: Message, nonce: str) -> Message:
    """The message with the mark of the rule envelopes made harmless: only Gongfu's own envelopes carry it."""
    from gongfu.context.rules.envelope import scrub_message  # only where there are rules

    return scrub_message(message, nonce)
