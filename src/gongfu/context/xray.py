"""The X-ray of a session: where the tokens of a request go, what was left out, what the cache could reuse."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import Literal, TypeAlias

from msgspec.structs import replace

from gongfu.context.receipt import RULE, Receipt, receipts
from gongfu.core.base import Base
from gongfu.core.events import Entry, SessionCreated, SessionTitled
from gongfu.core.messages import Message
from gongfu.core.specs import Usage
from gongfu.core.told import (
    AgentFinished,
    AgentStarted,
    Duty,
    EpochOpened,
    Included,
    RulesJoined,
    RulesPinned,
)

PARTS = (
    "system", "tools", "rules", "memory", "summary", "pairs", "notes", "user", "key", "assistant", "regular", "input",
    "tail", "unlisted",
)  # fmt: skip
"""Where the tokens of a request go, in the order of the wire; "unlisted" is what a receipt does not account for."""

_WORDS = 80
_TIERS = ("system", "user", "key", "assistant", "regular")
_NAMES = {
    "system": "system", "tools": "tools", "rule": "rules", "rules": "rules", "memory": "memory", "memories": "memory",
    "summary": "summary", "chain": "summary", "pair": "pairs", "pairs": "pairs", "note": "notes", "dropped": "notes",
    "tail": "tail", "input": "input",
}  # fmt: skip


def part_of(item: Included, notes: Collection[str] = ()) -> str:
    """The name in `PARTS` that a block or unit counts under. `notes` are the units in which Gongfu speaks."""
    if item.id in notes:
        return "notes"
    name = item.id.partition(":")[0]
    return _NAMES.get(name) or _TIERS[item.tier if 0 <= item.tier < len(_TIERS) else -1]


class Slice(Base, frozen=True):
    """A part of a request: calibrated `tokens`, how many `items`, and how many of those only in their masked form."""

    part: str
    tokens: int
    items: int
    masked: int = 0


class Picture(Base, frozen=True):
    """Where the tokens of one request go. The slices add up to `estimate`; with the rest they are `whole`.

    `free` is what the budget had left, `reserve` is kept for the answer, `margin` for what the estimate may miss.
    `whole` is the window; where that was not recorded it is the budget, and without one the estimate.
    """

    slices: tuple[Slice, ...]
    estimate: int
    free: int
    reserve: int
    margin: int
    whole: int


def picture(receipt: Receipt, notes: Collection[str] = ()) -> Picture:
    """Divide a request into its parts; `notes` as in `part_of`."""
    sums: dict[str, list[int]] = {}
    for item in receipt.included:
        line = sums.setdefault(part_of(item, notes), [0, 0, 0])
        line[0] += item.tokens
        line[1] += 1
        line[2] += item.level == "masked"
    listed = sum(line[0] for line in sums.values())
    if receipt.raw > listed or not listed:
        sums["unlisted"] = [max(receipt.raw - listed, 0) or receipt.estimate, 0, 0]
    names = [name for name in PARTS if name in sums]
    scaled = _scaled([sums[name][0] for name in names], receipt.estimate)
    slices = tuple(
        Slice(part=name, tokens=tokens, items=sums[name][1], masked=sums[name][2])
        for name, tokens in zip(names, scaled, strict=True)
    )
    whole = receipt.window or receipt.budget or receipt.estimate
    free = max(0, receipt.budget - receipt.estimate)
    reserve = min(receipt.reserve, max(0, whole - receipt.budget))
    margin = max(0, whole - max(receipt.budget, receipt.estimate) - reserve)
    return Picture(slices=slices, estimate=receipt.estimate, free=free, reserve=reserve, margin=margin, whole=whole)


def _scaled(values: Sequence[int], total: int) -> list[int]:
    """`values` in proportion so that they add up to `total`: largest remainder, integers only."""
    have = sum(values)
    if not have:
        return [0 for _ in values]
    parts = [value * total // have for value in values]
    order = sorted(range(len(values)), key=lambda n: (-(values[n] * total % have), n))
    for n in order[: total - sum(parts)]:
        parts[n] += 1
    return parts


class Left(Base, frozen=True):
    """What was left out for one reason: how many things, their tokens, and their ids in order."""

    reason: str
    count: int
    tokens: int
    ids: tuple[str, ...] = ()


def left_out(receipt: Receipt) -> list[Left]:
    """What a request does not hold, by reason, the largest first."""
    groups: dict[str, Left] = {}
    for item in receipt.omitted:
        known = groups.get(item.reason, Left(reason=item.reason, count=0, tokens=0))
        groups[item.reason] = Left(
            reason=item.reason, count=known.count + 1, tokens=known.tokens + item.tokens, ids=(*known.ids, item.id)
        )
    return sorted(groups.values(), key=lambda left: (-left.tokens, left.reason))


# --- rules -------------------------------------------------------------------------------------------------------

Delivery: TypeAlias = Literal["delivered", "omitted", "excluded", "waiting", "absent", "unknown"]


class RuleLine(Base, frozen=True):
    """How one envelope of rules (a file, or the neighbouring sections of one duty) stands to one request.

    `name` is its path, with "#" and the first heading for a part of a file; `sha256` the hash that its envelope
    carries; `said` whether the operator named its duty. `state`: "delivered" (the request held it), "omitted" (left out
    for `reason`), "excluded" by the operator's word, "waiting" for its place to be touched, "absent" though configured,
    "unknown" when the receipt lists nothing. Whether a model follows a rule is never known here.
    """

    name: str
    sha256: str
    scope: str
    duty: Duty
    state: Delivery
    said: bool = False
    tokens: int = 0
    reason: str = ""


def _rule_lines(pin: RulesPinned, joined: Collection[str], receipt: Receipt) -> Iterator[RuleLine]:
    from gongfu.context.rules.envelope import envelopes  # only where there are rules

    held = Counter(item.id for item in receipt.included)
    gone = {item.id: item.reason for item in receipt.omitted}
    sizes = {item.id: item.tokens for item in (*receipt.omitted, *receipt.included)}
    sources = {source.path: source for source in pin.sources}
    for envelope in envelopes(pin, joined):
        source = sources[envelope.path]
        digest = re.search(r'sha256="([0-9a-f]+)"', envelope.opening)
        line = RuleLine(
            name=envelope.id.removeprefix(RULE),
            sha256=digest[1] if digest else source.sha256[:16],
            scope=source.scope,
            duty=envelope.duty,
            said=any(section.said and section.duty == envelope.duty for section in source.sections),
            tokens=sizes.get(envelope.id, envelope.tokens),
            state="absent",
        )
        if held[envelope.id]:
            held[envelope.id] -= 1
            yield replace(line, state="delivered")
        else:
            state, reason = _why_not(envelope.duty, gone.get(envelope.id, ""), receipt)
            yield replace(line, state=state, reason=reason)


def _why_not(duty: Duty, reason: str, receipt: Receipt) -> tuple[Delivery, str]:
    """State and reason of an envelope that the request did not hold."""
    if duty == "excluded":
        return "excluded", ""
    if not receipt.detailed:
        return "unknown", ""
    if reason in ("scope", "path"):
        return "waiting", reason
    return ("omitted", reason) if reason else ("absent", "")


# --- the session -------------------------------------------------------------------------------------------------


class Fold(Base, frozen=True):
    """An epoch that was opened: its event, when, and the number of the first request in it (0: none yet)."""

    event: EpochOpened
    seq: int
    time: float
    request: int = 0


class Child(Base, frozen=True):
    """A sub-agent's session, with how it ended once it has."""

    started: AgentStarted
    finished: AgentFinished | None = None


class Xray(Base, frozen=True):
    """All that the log of one session tells of its requests. `units` says in a few words what "u12" and others are.

    `notes` are the units in which Gongfu itself speaks to the model: where it works, what earlier sessions left open.
    """

    session: str
    title: str = ""
    parent: str = ""
    receipts: tuple[Receipt, ...] = ()
    folds: tuple[Fold, ...] = ()
    pins: tuple[RulesPinned, ...] = ()
    joined: tuple[str, ...] = ()
    children: tuple[Child, ...] = ()
    units: dict[str, str] = {}
    notes: frozenset[str] = frozenset()

    def fold_of(self, receipt: Receipt) -> Fold | None:
        """The fold that opened the epoch of a request; None in the first epoch and for work beside the turn."""
        if receipt.scope == "auxiliary":
            return None
        return next((f for f in reversed(self.folds) if f.event.epoch == receipt.epoch and f.seq < receipt.seq), None)

    def rules_of(self, receipt: Receipt) -> list[RuleLine]:
        """How the configured rules stand to a request, in their order; [] without rules or for work beside the turn."""
        pin = next((p for p in reversed(self.pins) if p.fingerprint == receipt.rules), None) if receipt.rules else None
        return list(_rule_lines(pin, self.joined, receipt)) if pin else []


def unit_names(messages: Sequence[Message], labels: Mapping[str, str]) -> dict[str, str]:
    """A few words for each unit of a transcript: how a text begins, the label of a batch, or the names of its calls."""
    names: dict[str, str] = {}
    for at, message in enumerate(messages):
        if message.role == "tool":
            continue
        told = next((labels[call.id] for call in message.calls if call.id in labels), "")
        counts = Counter(call.name for call in message.calls)
        calls = ", ".join(f"{name} ×{count}" if count > 1 else name for name, count in counts.items())
        words = " ".join(message.text.split())
        names[f"u{at}"] = told or calls or (words if len(words) <= _WORDS else f"{words[: _WORDS - 1]}…")
    return names


def note_units(messages: Sequence[Message]) -> frozenset[str]:
    """The units of a transcript that are notes of Gongfu; what a sub-agent reports is its own word and none."""
    return frozenset(f"u{at}" for at, m in enumerate(messages) if m.kind == "note" and not m.agent)


def xray(entries: Iterable[Entry]) -> Xray:
    """Read a session's events. Logs from before there were receipts give what they have."""
    kept = list(entries)
    found = receipts(kept)
    session = title = parent = ""
    folds: list[Fold] = []
    pins: list[RulesPinned] = []
    joined: list[str] = []
    children: dict[str, Child] = {}
    for entry in kept:
        match entry.event:
            case SessionCreated() as event:
                session, parent = session or event.session, parent or event.parent
            case SessionTitled(title=text):
                title = text
            case EpochOpened() as event:
                first = next((r.number for r in found if r.seq > entry.seq and r.scope == "main"), 0)
                folds.append(Fold(event=event, seq=entry.seq, time=entry.time, request=first))
            case RulesPinned() as event:
                pins.append(event)
            case RulesJoined(paths=paths):
                joined += paths
            case AgentStarted() as event:
                children[event.session] = Child(started=event)
            case AgentFinished() as event if event.session in children:
                children[event.session] = Child(started=children[event.session].started, finished=event)
            case _:
                pass
    return Xray(
        session=session,
        title=title,
        parent=parent,
        receipts=tuple(found),
        folds=tuple(folds),
        pins=tuple(pins),
        joined=tuple(joined),
        children=tuple(children.values()),
    )


# --- the cache over a session ------------------------------------------------------------------------------------


class Break(Base, frozen=True):
    """A request that could not begin with all of the one before it. `fold` is why its epoch was opened, if it was.

    `lost` is how many tokens of the earlier one had to be read anew.
    """

    number: int
    request: str
    reason: str
    fold: str = ""
    lost: int = 0


class Purpose(Base, frozen=True):
    """The requests of one purpose. `input`, `cached` and `output` are what providers counted, `cost` US dollars.

    `sent` and `reused` are estimates before calibration, of requests that list what they hold.
    """

    requests: int = 0
    failed: int = 0
    sent: int = 0
    reused: int = 0
    counted: int = 0
    usage: Usage = Usage()
    cost: float | None = 0.0

    @property
    def share(self) -> float | None:
        """Tokens reused / tokens sent, 0 to 1; None when no request lists what it held."""
        return min(1.0, self.reused / self.sent) if self.sent else None

    @property
    def cached(self) -> float | None:
        """The share of the prompt tokens that providers say came from their cache; None when none counted."""
        return min(1.0, self.usage.cached / self.usage.input) if self.usage.input else None


class Totals(Base, frozen=True):
    """The requests of a session together, and by purpose in the order of their first request.

    `folds` counts requests of the turn itself that began an epoch.
    """

    all: Purpose
    by_purpose: dict[str, Purpose]
    breaks: tuple[Break, ...]
    folds: int = 0

    @property
    def main(self) -> Purpose:
        """The requests of the agent itself."""
        return self.by_purpose.get("main", Purpose())


def _plus(line: Purpose, receipt: Receipt) -> Purpose:
    usage = receipt.usage
    unpriced = line.cost is None or (usage is not None and receipt.cost is None)
    return Purpose(
        requests=line.requests + 1,
        failed=line.failed + bool(receipt.fault),
        sent=line.sent + (receipt.raw if receipt.detailed else 0),
        reused=line.reused + (min(receipt.reused, receipt.raw) if receipt.detailed else 0),
        counted=line.counted + (usage is not None),
        usage=line.usage + (usage or Usage()),
        cost=None if unpriced else (line.cost or 0.0) + (receipt.cost or 0.0),
    )


def totals(requests: Sequence[Receipt]) -> Totals:
    """Add up receipts: what was sent, what could be reused, what broke the cache and where."""
    whole = Purpose()
    lines: dict[str, Purpose] = {}
    breaks: list[Break] = []
    last = 0
    for receipt in requests:
        whole = _plus(whole, receipt)
        lines[receipt.purpose] = _plus(lines.get(receipt.purpose, Purpose()), receipt)
        if receipt.purpose != "main":
            continue
        if receipt.broke and receipt.broke != "first":
            lost = max(0, last - receipt.reused)
            breaks.append(
                Break(
                    number=receipt.number, request=receipt.request, reason=receipt.broke, fold=receipt.fold, lost=lost
                )
            )
        last = receipt.raw
    folds = sum(bool(receipt.fold) for receipt in requests)
    return Totals(all=whole, by_purpose=lines, breaks=tuple(breaks), folds=folds)
