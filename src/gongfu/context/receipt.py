"""Receipts: what each request carried, as the log tells it.

The log holds them in a compact form: a request of an epoch lists only what it holds beyond an earlier one. Here they
are made so (`Lineage`) and read back whole (`receipts`).
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence

from msgspec.structs import replace

from gongfu.core.base import Base
from gongfu.core.events import AnswerReceived, Entry, RequestFailed, RequestSent, SessionCreated
from gongfu.core.prefix import shared_start
from gongfu.core.specs import ToolSpec, Usage
from gongfu.core.told import Included, Omitted

RULE = "rule:"
TAIL = "tail"
INPUT = "input"  # what an auxiliary request asks about: never twice the same


class Receipt(Base, frozen=True):
    """One request on the wire, whole. Figures are tokens unless said otherwise.

    The fields from `request` to `stable` are those of `core.events.RequestSent`, with `included` complete and in the
    order of the wire, and `omitted` with what earlier requests of the epoch told of the history that was left out.
    `number` counts the requests of the session from 1, `seq` and `time` are those of its event. `usage` is what the
    provider counted, None while no answer has come; `finish` and `cut` tell how the answer ended, `fault` and `status`
    why there was none, `retry_in` the seconds until the next attempt (None: none).
    """

    session: str
    number: int
    seq: int
    time: float
    request: str
    purpose: str
    model: str
    attempt: int = 1
    estimate: int = 0
    budget: int = 0
    messages: int = 0
    bytes: int = 0
    prefix: str = ""
    raw: int = 0
    epoch: int = 0
    scope: str = "main"
    rules: str = ""
    after: str = ""
    included: tuple[Included, ...] = ()
    omitted: tuple[Omitted, ...] = ()
    reused: int = 0
    broke: str = ""
    fold: str = ""
    window: int = 0
    reserve: int = 0
    stable: str = ""
    usage: Usage | None = None
    cost: float | None = None
    seconds: float = 0.0
    finish: str = ""
    cut: bool = False
    fault: str = ""
    detail: str = ""
    status: int | None = None
    retry_in: float | None = None

    @property
    def detailed(self) -> bool:
        """Whether it lists what the request held; requests recorded before that was done do not."""
        return bool(self.included)

    @property
    def share(self) -> float | None:
        """The share of the request that an earlier one began with, 0 to 1; None when it is not known."""
        return min(1.0, self.reused / self.raw) if self.raw and self.included else None


_SENT = RequestSent.__struct_fields__


def receipts(entries: Iterable[Entry]) -> list[Receipt]:
    """The receipts of a session's events, in the order in which the requests left. Other events may be among them."""
    session = ""
    found: dict[str, Receipt] = {}
    gone: dict[int, tuple[Omitted, ...]] = {}  # what the fold of each epoch left out, told once
    for entry in entries:
        match entry.event:
            case SessionCreated(session=id):
                session = session or id
            case RequestSent() as sent:
                base = found.get(sent.after) if sent.after else None
                fields = {name: getattr(sent, name) for name in _SENT}
                fields["included"] = _joined(base.included if base else (), sent.included)
                if sent.scope == "main":
                    rules = tuple(o for o in sent.omitted if o.id.startswith(RULE))
                    if len(rules) < len(sent.omitted):
                        gone[sent.epoch] = tuple(o for o in sent.omitted if not o.id.startswith(RULE))
                    fields["omitted"] = (*rules, *gone.get(sent.epoch, ()))
                found[sent.request] = Receipt(
                    session=session, number=len(found) + 1, seq=entry.seq, time=entry.time, **fields
                )
            case AnswerReceived() | RequestFailed() as event if event.request in found:
                found[event.request] = _ended(found[event.request], event)
            case _:
                pass
    return list(found.values())


def _ended(receipt: Receipt, event: AnswerReceived | RequestFailed) -> Receipt:
    if isinstance(event, RequestFailed):
        return replace(receipt, fault=event.fault, detail=event.detail, status=event.status, retry_in=event.retry_in)
    counted = event.usage if event.usage != Usage() else None
    return replace(receipt, usage=counted, cost=event.cost, seconds=event.seconds, finish=event.finish, cut=event.cut)


def _lasting(included: Sequence[Included]) -> Sequence[Included]:
    """What the next request of the epoch begins with: all but the tail."""
    return included[:-1] if included and included[-1].id == TAIL else included


def _joined(base: Sequence[Included], added: Sequence[Included]) -> tuple[Included, ...]:
    return (*_lasting(base), *added)


def continued(request: str, previous: Sequence[Included], now: Sequence[Included]) -> tuple[str, tuple[Included, ...]]:
    """The compact form, as `RequestSent.after` and `.included`.

    `previous` is all that `request` held (of the same epoch). When `now` begins with it, its tail aside, that is
    (`request`, what came behind it); else ("", all of `now`).
    """
    lasting = tuple(_lasting(previous))
    if lasting and tuple(now[: len(lasting)]) == lasting:
        return request, tuple(now[len(lasting) :])
    return "", tuple(now)


def _shared(previous: Sequence[Included], now: Sequence[Included]) -> int:
    lasting = _lasting(previous)
    count = shared_start(lasting, now)  # in one process they are the same objects
    if count and now[count - 1].id == INPUT:
        return count - 1
    for before, after in zip(lasting[count:], now[count:], strict=False):
        if before != after or after.id == INPUT:
            break
        count += 1
    return count


def shared_tokens(previous: Sequence[Included], now: Sequence[Included]) -> int:
    """Tokens (before calibration) of what both begin with: the part that a prompt cache can serve again."""
    return sum(item.tokens for item in now[: _shared(previous, now)])


def stable_hash(system: str, tools: Sequence[ToolSpec]) -> str:
    """`RequestSent.stable`: the system prompt's hash, a dot, the hash of the tools' names, descriptions and schemas."""
    from msgspec import json

    told = [(tool.name, tool.description, tool.parameters) for tool in tools]
    return f"{_digest(system.encode('utf-8', 'surrogatepass'))}.{_digest(json.encode(told))}"


def _digest(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()[:8]


class Held(Base, frozen=True, gc=False):
    """What is remembered of a request so that the next can be told apart from it. `included` is whole."""

    request: str
    model: str
    epoch: int = 0
    stable: str = ""
    rules: str = ""
    included: tuple[Included, ...] = ()


def why_broken(previous: Held, now: Held) -> str:
    """Why a cache of `previous` cannot serve all of it to `now`, in one word; "" when it can.

    "model", "tools", "system", "rules" (they changed inside an epoch), "epoch" (history was folded; `RequestSent.fold`
    says why) or "history" (something that was sent before is no longer at its place).
    """
    if previous.model != now.model:
        return "model"
    if previous.stable and now.stable and previous.stable != now.stable:
        return "tools" if previous.stable.partition(".")[0] == now.stable.partition(".")[0] else "system"
    lasting = _lasting(previous.included)
    shared = _shared(lasting, now.included)
    if shared == len(lasting) and previous.rules == now.rules:
        return ""
    different = {item.id for item in (*lasting[shared : shared + 1], *now.included[shared : shared + 1])}
    for name in ("tools", "system"):
        if name in different:
            return name
    if previous.epoch != now.epoch:
        return "epoch"
    if previous.rules != now.rules or any(name.startswith(RULE) for name in different):
        return "rules"
    return "history"


class Described(Base, frozen=True, gc=False):
    """What a receipt says of a request beside the one before: fields of `RequestSent` of the same names."""

    after: str = ""
    included: tuple[Included, ...] = ()
    reused: int = 0
    broke: str = ""


class Lineage:
    """Remembers the newest requests of a session, as a projection of `RequestSent` events, and compares the next.

    Requests are compared with the newest one of the same purpose, and by what they reuse also with the newest main one
    of the same model.
    """

    def __init__(self) -> None:
        self._newest: dict[str, Held] = {}
        self._of_model: dict[tuple[str, str], Held] = {}

    @property
    def newest(self) -> Held | None:
        """The newest request of the turn itself."""
        return self._newest.get("main")

    def asked(self, model: str) -> bool:
        """Whether a model was sent a request of the turn itself before."""
        return (model, "main") in self._of_model

    def apply(self, event: RequestSent) -> None:
        """Take in a request that was sent; `included` is in its compact form, as it is recorded."""
        newest = self._newest.get(event.purpose)
        base = newest.included if newest is not None and event.after and newest.request == event.after else ()
        held = Held(
            request=event.request,
            model=event.model,
            epoch=event.epoch,
            stable=event.stable,
            rules=event.rules,
            included=_joined(base, event.included),
        )
        self._newest[event.purpose] = self._of_model[event.model, event.purpose] = held

    def describe(
        self,
        *,
        model: str,
        included: Sequence[Included],
        epoch: int = 0,
        purpose: str = "main",
        stable: str = "",
        rules: str = "",
    ) -> Described:
        """How a request that is about to leave stands to those before. `included` is all that it holds, in order."""
        now = Held(request="", model=model, epoch=epoch, stable=stable, rules=rules, included=tuple(included))
        newest = self._newest.get(purpose)
        after, added = "", now.included
        if newest is not None and newest.epoch == epoch:
            after, added = continued(newest.request, newest.included, now.included)
        same, main = self._of_model.get((model, purpose)), self._of_model.get((model, "main"))
        reused = _reused(same, now) if same is main else max(_reused(same, now), _reused(main, now))
        return Described(after=after, included=added, reused=reused, broke=self._broke(purpose, same, main, now))

    def _broke(self, purpose: str, same: Held | None, main: Held | None, now: Held) -> str:
        if purpose != "main":
            whole = any(held is not None and not why_broken(held, now) for held in (same, main))
            return "" if whole else "aux"
        if same is not None:
            return why_broken(same, now)
        return "model" if "main" in self._newest else "first"


def _reused(previous: Held | None, now: Held) -> int:
    """What a cache of `previous` can serve. Blocks that kept their size but not their text are not counted."""
    if previous is None:
        return 0
    if previous.stable != now.stable and previous.stable and now.stable:
        return 0
    same = previous.included
    if previous.rules != now.rules:
        same = same[: next((n for n, item in enumerate(same) if item.id.startswith(RULE)), len(same))]
    return shared_tokens(same, now.included)
