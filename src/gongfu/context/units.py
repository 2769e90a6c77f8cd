"""Units of context. A unit lives or dies whole: what belongs together is never torn apart."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal, TypeAlias

from gongfu.context.ledger import Ledger, part_tokens
from gongfu.context.shorten import LONG_TEXT, LONG_VALUE, cut_message, masked_call, worth_masking
from gongfu.context.tiers import REGULAR, STATE_TOOLS, call_tier, message_tier
from gongfu.core.base import Base
from gongfu.core.messages import CallPart, Message, ResultPart
from gongfu.core.tokens import PER_MESSAGE

Kind: TypeAlias = Literal["text", "tools"]
MASK = 40
"""Tokens that a masked result takes, about: its label, its size and where the whole of it is."""
LONG_RESULT = 800  # characters of a result that a fold masks once ten newer ones have followed
_WHOLE = ("read_file", "write_file")


class Slot(Base, frozen=True, gc=False):
    """A message of the transcript as it is shown: `at` is its index there, `raw` what it was."""

    at: int
    raw: Message
    shown: Message


class Unit(Base, frozen=True, gc=False):
    """A text, or a tool group: the calls of one answer with all their results.

    A mixed batch gives two units at the same place, one of its key calls and one of the others (`part` true); else
    `calls` are all of the group's. `size` counts messages, `tokens` what it costs as shown, `less` what it would cost
    masked or cut (the same when nothing is to be gained). `long` tells that some result passes 800 characters.
    `state` names the state tool whose call it is: only the newest of each is KEY. `paths` are the files that the calls
    name, `renews` those of them that are shown or written whole.
    """

    at: int
    size: int
    kind: Kind
    tier: int
    tokens: int
    less: int
    calls: tuple[str, ...] = ()
    part: bool = False
    state: str = ""
    long: bool = False
    paths: tuple[str, ...] = ()
    renews: tuple[str, ...] = ()
    names: tuple[str, ...] = ()

    @property
    def id(self) -> str:
        """Its name in receipts and for recall."""
        return f"u{self.at}"


class Units:
    """The units of a view, kept up with it: what is new is looked at once, an epoch makes all of them anew."""

    def __init__(self, ledger: Ledger) -> None:
        self._ledger = ledger
        self._slots: list[Slot] = []
        self._count = 0
        self.all: list[Unit] = []

    def update(self, slots: list[Slot]) -> list[Unit]:
        """All units of `slots`, in order. A view has another list of slots for each epoch, which only grows."""
        if slots is not self._slots:
            self._slots, self._count, self.all = slots, 0, []
        self.all.extend(units(slots[self._count :] if self._count else slots, self._ledger))
        self._count = len(slots)
        return self.all


def units(slots: Sequence[Slot], ledger: Ledger) -> list[Unit]:
    """The units of what is shown, in order; one look at each message."""
    found: list[Unit] = []
    at, end = 0, len(slots)
    while at < end:
        slot = slots[at]
        following = slots[at + 1] if at + 1 < end else slot
        if following.shown.role == "tool" and slot.shown.role == "assistant" and following.at == slot.at + 1:
            found.extend(_group(slot, following, ledger))
            at += 2
        else:
            found.append(_text(slot, ledger))
            at += 1
    return found


def _text(slot: Slot, ledger: Ledger) -> Unit:
    tokens = ledger.tokens(slot.shown)
    less = min(tokens, ledger.price(cut_message(slot.shown, slot.at))) if tokens > LONG_TEXT else tokens
    return Unit(at=slot.at, size=1, kind="text", tier=message_tier(slot.raw), tokens=tokens, less=less)


def _group(slot: Slot, answers: Slot, ledger: Ledger) -> list[Unit]:
    """The unit of a group, or two: of its key calls and of its ordinary ones."""
    calls = slot.shown.calls
    results = {r.call_id: r for r in answers.shown.results}
    tiers = [call_tier(c, results.get(c.id)) for c in calls]
    asked, answered = ledger.tokens(slot.shown), ledger.tokens(answers.shown)
    regular = [c for c, tier in zip(calls, tiers, strict=True) if tier == REGULAR]
    if not regular or len(regular) == len(calls):
        tier = min(tiers, default=REGULAR)
        return [_tools(slot.at, tier, calls, results, tokens=asked + answered, results_cost=answered)]
    keys = [c for c, tier in zip(calls, tiers, strict=True) if tier != REGULAR]
    told = sum(part_tokens(results[c.id]) for c in regular if c.id in results)
    apart = told + sum(map(part_tokens, regular))
    key = _tools(
        slot.at, min(tiers), keys, results, tokens=asked + answered - apart, results_cost=answered - told, part=True
    )
    return [key, _tools(slot.at, REGULAR, regular, results, tokens=apart, results_cost=told, part=True)]


def _tools(
    at: int,
    tier: int,
    calls: Sequence[CallPart],
    results: Mapping[str, ResultPart],
    *,
    tokens: int,
    results_cost: int,
    part: bool = False,
) -> Unit:
    """One unit. What masking saves is taken from the known price of all results: no long text is looked at again."""
    left = 0  # tokens that the results take when the long ones are masked
    gain = 0  # tokens saved of arguments
    long = worth = False
    paths: list[str] = []
    renews: list[str] = []
    for call in calls:
        result = results.get(call.id)
        size = 0 if result is None else len(result.text)
        if result is not None and worth_masking(result):
            left += MASK
            worth = True
            long = long or size > LONG_RESULT or bool(result.images)
        elif result is not None:
            left += part_tokens(result)
        if len(call.arguments) > LONG_VALUE and (masked := masked_call(call)) is not call:
            gain += max(0, part_tokens(call) - part_tokens(masked))
            long = long or len(call.arguments) > LONG_RESULT
        if path := path_of(call):
            paths.append(path)
            if call.name in _WHOLE and result is not None and result.status == "done" and not _bounded(call):
                renews.append(path)
    if worth:
        gain += max(0, results_cost - left - PER_MESSAGE)
    return Unit(
        at=at, size=2, kind="tools", tier=tier, tokens=tokens, less=tokens - gain, calls=tuple([c.id for c in calls]),
        part=part, state=calls[0].name if len(calls) == 1 and calls[0].name in STATE_TOOLS else "", long=long,
        paths=tuple(paths), renews=tuple(renews), names=tuple([c.name for c in calls]),
    )  # fmt: skip


def _bounded(call: CallPart) -> bool:
    """Whether a call reads some lines of a file only."""
    return call.name == "read_file" and ('"offset"' in call.arguments or '"limit"' in call.arguments)


def path_of(call: CallPart) -> str:
    """The file that a call reads or writes, as its arguments say; "" when they name none."""
    found = call.arguments.find('"path":')
    if found < 0:
        return ""
    start = call.arguments.find('"', found + 7)
    end = call.arguments.find('"', start + 1)
    return call.arguments[start + 1 : end] if 0 < start < end else ""
