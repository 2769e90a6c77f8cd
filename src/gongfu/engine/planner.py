"""Plans each request of a session: lays it out, folds when it is due, refuses what cannot fit, says what it holds."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from msgspec.structs import replace

from gongfu.context.budget import Budget
from gongfu.context.fold import COLD, HIGH
from gongfu.context.layout import Layout, marks_of, newest_turn, stable_tokens, with_tail
from gongfu.context.ledger import Ledger
from gongfu.context.receipt import Described, stable_hash
from gongfu.context.tiers import RULES
from gongfu.context.units import Units
from gongfu.core.base import Base
from gongfu.core.errors import Refusal
from gongfu.core.events import AnyEvent, EpochOpened, Included, Omitted, WarningRaised
from gongfu.core.messages import CallPart, Message
from gongfu.core.specs import ModelInfo, ToolSpec
from gongfu.core.tokens import calibrated, text_tokens
from gongfu.core.told import FoldReason
from gongfu.engine.folding import Folding
from gongfu.engine.holdings import Holdings
from gongfu.engine.state import SessionState

if TYPE_CHECKING:
    from gongfu.context.rules.standing import Standing

CACHE_SECONDS = 300.0  # how long a provider keeps a prompt, about
OPTIONAL_RULES = 10  # percent of the budget
_UNIT = 10_000


class Plan(Base, frozen=True):
    """A request ready to be written, and what its receipt says. `standing` are the rules that its bytes must hold."""

    layout: Layout
    described: Described
    omitted: tuple[Omitted, ...]
    stable: str
    rules: str
    epoch: int
    fold: str
    included: tuple[Included, ...] = ()
    standing: Standing | None = None

    def check(self, body: bytes) -> None:
        """The gate on the bytes that would be sent. Refusal when a mandatory rule is not in them exactly once."""
        if self.standing is not None:
            from gongfu.context.rules.gate import check_body  # only where there are rules

            check_body(body, self.standing.mandatory, self.standing.excluded)


class _Way:
    """One way to price the messages, and what is kept up with them."""

    def __init__(self, ledger: Ledger, system: str, fixed: int, state: SessionState) -> None:
        self.ledger = ledger
        self.units = Units(ledger)
        self.holdings = Holdings(system, fixed, state, ledger, self.units)


class Planner:
    """Plans the requests of a session. `folded` is told which calls are not shown in full any more, and which are."""

    def __init__(
        self,
        *,
        system: str,
        tools: tuple[ToolSpec, ...],
        state: SessionState,
        ledger: Ledger,
        emit: Callable[[AnyEvent], None],
        keep_recent: int = 10,
        rules_share: float = 0.4,
        folded: Callable[[Sequence[CallPart], Sequence[CallPart]], None] | None = None,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self._state = state
        self._emit = emit
        self._keep_recent = keep_recent
        self._rules_share = rules_share
        self._folded = folded
        self._clock = clock
        self._ledger = ledger
        self._standings: dict[object, Standing] = {}
        self._told: set[str] = set()
        self.renew(system, tools)

    def renew(self, system: str, tools: tuple[ToolSpec, ...]) -> None:
        """What stands before all messages from the next request on."""
        self._system = system
        self._tools = tools
        self._stable = stable_hash(system, tools)
        self._fixed = stable_tokens(system, tools)
        self._way = _Way(self._ledger, system, self._fixed, self._state)
        self._ways = {(False, 0): self._way}  # without any thinking, or with that of the turn of this number only
        self._futile = 0  # the size at which a fold freed too little: not tried again before it has grown

    # --- what others ask ---

    def used(self, info: ModelInfo) -> int:
        """Tokens of the next request as things stand, calibrated, without its tail."""
        self._price_for(info, begin=False)
        view = self._state.context.view
        # calls may be open: no sync
        waiting = sum(map(self._way.ledger.price, view.fresh(self._state.transcript.messages)))
        stored = self._fixed + self._standing_tokens + self._way.ledger.total(view.messages)
        return calibrated(stored + waiting, self._ratios(info))

    _standing_tokens = 0

    def _price_for(self, info: ModelInfo, *, begin: bool = True) -> None:
        """From here on messages cost what they cost `info`: thinking that it is not sent costs nothing.

        A new turn counts from its first request on: `begin`, and all messages before are in view.
        """
        context = self._state.context
        turn = len(context.turns) if info.reasoning_sent == "tool_rounds" else 0
        key = (info.reasoning_sent == "never", turn)
        if key not in self._ways:
            if turn and not begin:
                return
            start = context.turns[-1] if turn else 0
            silent = [slot.shown for slot in context.view.slots if slot.at < start]
            ledger = Ledger(thinking=not key[0], silent=silent)
            self._ways = {k: way for k, way in self._ways.items() if not k[1]}  # those of earlier turns are of no use
            self._ways[key] = _Way(ledger, self._system, self._fixed, self._state)
        self._way = self._ways[key]

    def _ratios(self, info: ModelInfo) -> Sequence[float]:
        return self._state.ratios.get(info.ref, ())

    # --- planning ---

    def plan(self, info: ModelInfo, budget: Budget, tail: Sequence[str] = (), *, overflow: bool = False) -> Plan:
        """The next request. May record that an epoch was opened, once; raises Refusal when it cannot fit."""
        state = self._state
        if not (info.window or info.small or state.lineage.asked(info.ref)):
            values = {"model": info.ref, "window": budget.window}
            self._emit(WarningRaised(key="context.window_unknown", values=values))
        state.context.view.sync(state.transcript.messages)
        self._price_for(info)
        standing = self._standing(info, budget)
        extra = sum(map(text_tokens, tail))
        raw = self._raw(info, standing) + extra
        reason = self._due(info, budget, calibrated(raw, self._ratios(info)), overflow=overflow)
        fold_reason = ""
        if reason is not None and self.fold(info, budget, reason, standing=standing, extra=extra) is not None:
            fold_reason = reason
            standing = self._standing(info, budget)
            raw = self._raw(info, standing) + extra
        estimate = calibrated(raw, self._ratios(info))
        if estimate > budget.total and standing is not None and standing.optional:  # the first thing to give way
            standing = self._standing(info, budget, chosen=())
            raw = self._raw(info, standing) + extra
            estimate = calibrated(raw, self._ratios(info))
        if estimate > budget.total:
            self._refuse(info, budget, estimate)
        return self._planned(info, standing, tail, raw=raw, estimate=estimate, reason=fold_reason)

    def _raw(self, info: ModelInfo, standing: Standing | None) -> int:
        self._standing_tokens = standing.tokens if standing is not None else 0
        return self._fixed + self._standing_tokens + self._way.ledger.total(self._shown(info))

    def _shown(self, info: ModelInfo) -> Sequence[Message]:
        """The stored messages of the next request. A small model is told all rules behind its system prompt."""
        messages = self._state.context.view.messages
        if info.small and self._state.context.pinned is not None:
            return [m for m in messages if m.id != RULES]
        return messages

    def _due(self, info: ModelInfo, budget: Budget, estimate: int, *, overflow: bool) -> FoldReason | None:
        """Whether an epoch must or may be opened now, and why."""
        if overflow:
            return "overflow"
        context = self._state.context
        if context.refreshed or context.remoded:
            return "rules" if context.refreshed else "mode"
        if estimate * 100 > budget.total * HIGH:
            grown = estimate > self._futile + budget.total // 50
            return "high" if estimate > budget.total or not self._futile or grown else None
        if estimate * 100 <= budget.total * COLD or info.small:
            return None
        before = self._state.lineage.newest
        if before is None:
            return None
        if before.model != info.ref:
            return "model"
        if before.stable and before.stable != self._stable:
            return "tools" if before.stable.partition(".")[2] != self._stable.partition(".")[2] else "mode"
        return "cold" if self._clock() - self._state.answered_at > CACHE_SECONDS else None

    def fold_due(self, info: ModelInfo, budget: Budget, tail: Sequence[str] = (), *, overflow: bool) -> str:
        """Why `plan` would try to fold now; "" when it would not. Nothing is recorded."""
        self._state.context.view.sync(self._state.transcript.messages)
        self._price_for(info)
        try:
            raw = self._raw(info, self._standing(info, budget)) + sum(map(text_tokens, tail))
        except Refusal:  # the rules do not fit: `plan` will say so
            return ""
        return self._due(info, budget, calibrated(raw, self._ratios(info)), overflow=overflow) or ""

    def fold_now(self, info: ModelInfo, budget: Budget, focus: str) -> EpochOpened | None:
        """Fold because a person wants it."""
        self._state.context.view.sync(self._state.transcript.messages)
        self._price_for(info)
        return self.fold(info, budget, "manual", standing=self._standing(info, budget), focus=focus)

    def fold(
        self,
        info: ModelInfo,
        budget: Budget,
        reason: FoldReason,
        *,
        standing: Standing | None = None,
        extra: int = 0,
        focus: str = "",
    ) -> EpochOpened | None:
        """Open an epoch if that frees enough, or must be; None when nothing was done."""
        one = calibrated(_UNIT, self._ratios(info))
        folding = Folding(
            self._state,
            self._way.ledger,
            self._way.units,
            reason=reason,
            model=info.ref,
            total=budget.total * _UNIT // one,
            fixed=self._fixed + extra + (standing.tokens if standing is not None else 0),
            focus=focus,
        )
        event = folding.event(keep_recent=self._keep_recent, back=info.reasoning_back == "always")
        if event is None:
            self._futile = self.used(info)
            return None
        self._futile = 0
        before = self._full_calls() if self._folded is not None else []
        self._emit(event)
        if self._folded is not None:
            visible = self._full_calls()
            ids = {c.id for c in visible}
            self._folded([c for c in before if c.id not in ids], visible)
        self._state.let_go()
        for way in self._ways.values():
            way.ledger.forget_but(self._state.context.view.messages)
        return event

    def _full_calls(self) -> list[CallPart]:
        view = self._state.context.view
        cut = view.cut
        return [c for slot in view.slots for c in slot.shown.calls if c.id not in cut]

    def _refuse(self, info: ModelInfo, budget: Budget, estimate: int) -> None:
        view = self._state.context.view
        fixed = self._fixed + self._standing_tokens
        newest = calibrated(fixed + sum(map(self._way.ledger.tokens, newest_turn(view.messages))), self._ratios(info))
        code = "current_turn_does_not_fit" if newest > budget.total else "request_exceeds_window"
        raise Refusal(
            f"context.{code}",
            tokens=estimate,
            budget=budget.total,
            window=budget.window,
            reserved=budget.output,
            newest=newest,
        )

    # --- rules ---

    def _chosen(self, info: ModelInfo) -> tuple[str, ...] | None:
        """The rules that the last request of this epoch to this model held; None when none was sent yet."""
        before, context = self._state.lineage.newest, self._state.context
        if before is None or context.pinned is None or before.rules != context.pinned.fingerprint:
            return None
        if info.small or before.model != info.ref or before.epoch != context.view.epoch:
            return None
        return tuple(item.id for item in before.included if item.id.startswith("rule:"))

    def _standing(self, info: ModelInfo, budget: Budget, *, chosen: tuple[str, ...] | None = None) -> Standing | None:
        """The rules of the next request; None without any. Refusal when the mandatory ones are too large.

        Optional ones are chosen once an epoch (`chosen`: now, as given), so that the block stays the same.
        """
        context = self._state.context
        if context.pinned is None or not context.pinned.sources:
            return None
        total = budget.total * _UNIT // calibrated(_UNIT, self._ratios(info))
        chosen = self._chosen(info) if chosen is None else chosen
        joined = tuple(context.joined)
        key = (context.pinned.fingerprint, tuple(context.risen), joined, total, info.small, chosen)
        if key not in self._standings:
            from gongfu.context.rules.standing import standing  # only where there are rules

            found = standing(
                context.pinned,
                frozenset(context.joined if info.small else context.risen),
                budget=total,
                share=self._rules_share,
                optional_room=total * OPTIONAL_RULES // 100,
                chosen=chosen,
                noted=joined,
            )
            self._tell(found)
            self._standings = {key: found if info.small else self._with_joined(found)}
        return self._standings[key]

    def _with_joined(self, found: Standing) -> Standing:
        """With the envelopes of rules that joined in this epoch: they stand in notes among the live units."""
        context = self._state.context
        waiting = [path for path in context.joined if path not in context.risen]
        if not waiting or context.pinned is None:
            return found
        from gongfu.context.rules.envelope import joining_note

        _, held = joining_note(context.pinned, waiting)
        mandatory = tuple(e for e in held if e.duty == "mandatory")
        ids = {e.id for e in held}
        return replace(
            found,
            mandatory=(*found.mandatory, *mandatory),
            omitted=tuple(o for o in found.omitted if o.id not in ids),
        )

    def _tell(self, found: Standing) -> None:
        """The person is told, once, of each optional rule for which there is no room."""
        fresh = [o for o in found.left_out if o.id not in self._told]
        if fresh:
            self._told.update(o.id for o in fresh)
            rules = ", ".join(o.id.removeprefix("rule:") for o in fresh)
            self._emit(
                WarningRaised(key="rules.left_out", values={"rules": rules, "tokens": sum(o.tokens for o in fresh)})
            )

    # --- receipts ---

    def described(self, info: ModelInfo, included: Sequence[Included]) -> Described:
        """How a request that holds `included`, or another try of it, stands to those before."""
        context = self._state.context
        return self._state.lineage.describe(
            model=info.ref, included=included, epoch=context.view.epoch, stable=self._stable, rules=self._rules
        )

    @property
    def _rules(self) -> str:
        pinned = self._state.context.pinned
        return pinned.fingerprint if pinned is not None else ""

    def _planned(
        self, info: ModelInfo, standing: Standing | None, tail: Sequence[str], *, raw: int, estimate: int, reason: str
    ) -> Plan:
        context = self._state.context
        messages = tuple(self._shown(info))
        included = self._way.holdings.included(standing, self._standing_tokens, tail, small=info.small)
        _check_planned(standing, included)
        layout = Layout(
            system=self._system,
            standing=standing.text if standing is not None else "",
            tools=self._tools,
            messages=with_tail(messages, tail),
            marks=marks_of(context.view.head, len(messages) - bool(tail)),  # none behind what is not stored
            raw=raw,
            estimate=estimate,
        )
        return Plan(
            layout=layout,
            described=self.described(info, included),
            omitted=(*(standing.omitted if standing is not None else ()), *(context.absent if reason else ())),
            stable=self._stable,
            rules=self._rules,
            epoch=context.view.epoch,
            fold=reason,
            included=tuple(included),
            standing=standing,
        )


def _check_planned(standing: Standing | None, included: Sequence[Included]) -> None:
    """The gate after planning: each mandatory rule stands in the plan exactly once, an excluded one nowhere."""
    if standing is None or not (standing.mandatory or standing.excluded):
        return
    counts = Counter(item.id for item in included if item.id.startswith("rule:"))
    wrong = [e for e in standing.mandatory if counts[e.id] != 1] + [e for e in standing.excluded if counts[e.id]]
    if wrong:
        raise Refusal("rules.not_delivered", rule=wrong[0].id.removeprefix("rule:"), count=counts[wrong[0].id])
