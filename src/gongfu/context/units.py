"""Units of context. A unit lives or dies whole: what belongs together is never torn apart."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Literal, TypeAlias

from gongfu.context.ledger import Ledger, part_tokens
from gongfu.context.tiers import REGULAR, STATE_TOOLS, call_tier, message_tier
from gongfu.core.base import Base
from gongfu.core.messages import CallPart, Message, ResultPart
from gongfu.core.tokens import PER_MESSAGE

Kind: TypeAlias = Literal["text", "tools"]
MASK = 40
"""Tokens that a masked result takes, about: its label, its size and where the whole of it is."""
WORTH = 200  # characters of a result that masking would not make shorter
LONG_TEXT = 4096  # tokens of a text that a fold cuts to head and tail
CUT_TEXT = 4096  # bytes that are left of it
_ARGUMENTS = 400
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
    `paths` are the files that the calls name, `renews` those of them that are shown or written whole.
    """

    at: int
    size: int
    kind: Kind
    tier: int
    tokens: int
    less: int
    calls: tuple[str, ...] = ()
    part: bool = False
    long: bool = False
    paths: tuple[str, ...] = ()
    renews: tuple[str, ...] = ()
    names: tuple[str, ...] = ()

    @property
    def id(self) -> str:
        """Its name in receipts and for recall."""
        return f"u{self.at}"


def newest_states(slots: Sequence[Slot]) -> dict[str, str]:
    """The id of the newest call of each state tool."""
    newest: dict[str, str] = {}
    for slot in reversed(slots):
        for call in slot.raw.calls if slot.raw.role == "assistant" else ():
            if call.name in STATE_TOOLS:
                newest.setdefault(call.name, call.id)
    return newest


def units(slots: Sequence[Slot], ledger: Ledger, newest: Mapping[str, str]) -> list[Unit]:
    """The units of what is shown, in order; one look at each message."""
    found: list[Unit] = []
    at = 0
    while at < len(slots):
        slot = slots[at]
        paired = at + 1 < len(slots) and slots[at + 1].shown.role == "tool" and slots[at + 1].at == slot.at + 1
        if slot.shown.role == "assistant" and slot.shown.calls and paired:
            found.extend(_group(slot, slots[at + 1], newest, ledger))
            at += 2
        else:
            found.append(_text(slot, ledger))
            at += 1
    return found


def _text(slot: Slot, ledger: Ledger) -> Unit:
    tokens = ledger.tokens(slot.shown)
    less = min(tokens, CUT_TEXT // 4 + 40) if tokens > LONG_TEXT else tokens
    return Unit(at=slot.at, size=1, kind="text", tier=message_tier(slot.raw), tokens=tokens, less=less)


def _group(slot: Slot, answers: Slot, newest: Mapping[str, str], ledger: Ledger) -> Iterator[Unit]:
    results = {r.call_id: r for r in answers.shown.results}
    by_tier: dict[int, list[CallPart]] = {}
    for call in slot.shown.calls:
        by_tier.setdefault(call_tier(call, results.get(call.id), newest), []).append(call)
    total = ledger.tokens(slot.shown) + ledger.tokens(answers.shown)
    if len(by_tier) == 1:
        tier, calls = next(iter(by_tier.items()))
        yield _tools(slot.at, tier, calls, results, total, part=False)
        return
    regular = by_tier.pop(REGULAR, [])
    keys = [c for calls in by_tier.values() for c in calls]
    apart = sum(_cost(c, results.get(c.id)) for c in regular)
    yield _tools(slot.at, min(by_tier), keys, results, total - apart, part=bool(regular))
    if regular:
        yield _tools(slot.at, REGULAR, regular, results, apart, part=True)


def _cost(call: CallPart, result: ResultPart | None) -> int:
    return part_tokens(call) + (PER_MESSAGE if result is None else part_tokens(result))


def _tools(
    at: int, tier: int, calls: Sequence[CallPart], results: Mapping[str, ResultPart], tokens: int, *, part: bool
) -> Unit:
    gain = 0
    long = False
    paths: list[str] = []
    renews: list[str] = []
    for call in calls:
        result = results.get(call.id)
        if result is not None and (len(result.text) > WORTH or result.images):
            gain += max(0, part_tokens(result) - MASK)
            long = long or len(result.text) > 800 or bool(result.images)
        if len(call.arguments) > _ARGUMENTS:
            gain += max(0, part_tokens(call) - _ARGUMENTS // 4)
            long = long or len(call.arguments) > 800
        if path := path_of(call):
            paths.append(path)
            if call.name in _WHOLE and '"offset"' not in call.arguments:
                renews.append(path)
    return Unit(
        at=at, size=2, kind="tools", tier=tier, tokens=tokens, less=tokens - gain, calls=tuple(c.id for c in calls),
        part=part, long=long, paths=tuple(paths), renews=tuple(renews), names=tuple(c.name for c in calls),
    )  # fmt: skip


def path_of(call: CallPart) -> str:
    """The file that a call reads or writes, as its arguments say; "" when they name none."""
    found = call.arguments.find('"path":')
    if found < 0:
        return ""
    start = call.arguments.find('"', found + 7)
    end = call.arguments.find('"', start + 1)
    return call.arguments[start + 1 : end] if 0 < start < end else ""
