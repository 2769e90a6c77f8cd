"""What must hold of each request and of each fold: the invariants P1 to P13, checked on a session as it goes."""

from __future__ import annotations

import itertools
import json
from collections import Counter
from collections.abc import Sequence
from typing import Any

import msgspec
from msgspec.structs import replace

from gongfu.context.budget import Budget, budget_for
from gongfu.context.layout import stable_tokens, with_tail
from gongfu.context.ledger import Ledger, message_tokens
from gongfu.context.tiers import KEY, KEY_TOOLS, REGULAR, STATE_TOOLS
from gongfu.context.units import units
from gongfu.core.errors import Refusal
from gongfu.core.messages import Message, ReasoningPart
from gongfu.core.specs import ModelInfo, ToolSpec
from gongfu.core.tokens import calibrated, text_tokens
from gongfu.core.told import EpochOpened
from gongfu.engine.planner import Plan
from gongfu.engine.state import SessionState

TOOLS = tuple(
    ToolSpec(name=name, description=f"The tool {name}.", parameters={"type": "object", "properties": {}})
    for name in ("read_file", "shell", "todo", "task")
)
SYSTEM = "You are a test of what requests hold."
MANDATORY, OPTIONAL, EXCLUDED, NESTED = "RULE-ALWAYS", "RULE-MAYBE", "RULE-NEVER", "RULE-NESTED"


class Broken(AssertionError):
    """An invariant does not hold; the words say which, and the seed with which it can be seen again."""


def _thinks(message: Message) -> bool:
    return any(isinstance(part, ReasoningPart) for part in message.parts)


class Holding:
    """The checks. A session that is checked has the attributes named here."""

    seed: int
    requests: int
    folds: int
    dialect: str
    keep_recent: int
    state: SessionState
    ledger: Ledger
    info: ModelInfo
    writers: dict[str, Any]
    digest: Any
    seen: Counter[str]
    last: tuple[int, str, list[Message], Plan] | None
    masked: set[str]
    lost_keys: set[int]

    def hold(self, name: str, truth: bool, **seen: object) -> None:
        """Raise unless `truth`."""
        if not truth:
            raise Broken(f"{name} is broken: seed {self.seed}, request {self.requests}: {seen}")

    def _check(self, plan: Plan, budget: Budget, tail: Sequence[str]) -> None:
        layout, stored = plan.layout, list(self.state.context.view.messages)
        ratios = self.state.ratios.get(self.info.ref, ())
        self.hold("P1", layout.estimate <= budget.total, estimate=layout.estimate, budget=budget.total)
        raw = stable_tokens(SYSTEM, TOOLS) + self._priced(stored) + sum(map(text_tokens, tail))
        raw += text_tokens(layout.standing) if layout.standing else 0
        self.hold(
            "P2",
            layout.raw == raw == sum(i.tokens for i in plan.included),
            raw=layout.raw,
            again=raw,
            items=sum(i.tokens for i in plan.included),
        )
        self.hold("P2 calibration", layout.estimate == calibrated(raw, ratios), ratios=list(ratios))
        self.hold("P2 tail", layout.messages == with_tail(tuple(stored), tail))
        names = [(i.id, i.tier) for i in plan.included]  # a mixed batch has two units in one place
        self.hold("P2 names", len(set(names)) == len(names), names=names)
        self._paired(stored)
        self._visible(stored)
        self._grown(plan, stored)
        body = self.writers[self.info.ref].write(self._request(plan, layout.messages)).data
        plan.check(body)
        self.digest.update(body)
        self._ruled(body)
        if self.requests % 5 == 0:
            self._alternates(json.loads(body))
        self.last = (plan.epoch, self.info.ref, stored, plan)

    def _priced(self, stored: Sequence[Message]) -> int:
        """What the messages cost; thinking that the model is not sent costs nothing."""
        view, sent = self.state.context.view, self.info.reasoning_sent
        start = {"never": 1 << 60, "tool_rounds": self.state.context.turns[-1]}.get(sent, 0)
        head = sum(map(message_tokens, stored[: view.head]))
        return head + sum(message_tokens(slot.shown, thinking=slot.at >= start) for slot in view.slots)

    def _paired(self, messages: Sequence[Message]) -> None:
        seen: set[str] = set()
        for at, message in enumerate(messages):
            if message.calls:
                ids = [c.id for c in message.calls]
                after = messages[at + 1] if at + 1 < len(messages) else Message(role="tool")
                self.hold("P3", ids == [r.call_id for r in after.results] and after.role == "tool", ids=ids)
                self.hold("P3", seen.isdisjoint(ids), ids=ids)
                seen.update(ids)
            elif message.role == "tool":
                self.hold("P3", at > 0 and bool(messages[at - 1].calls), at=at)

    def _visible(self, messages: Sequence[Message]) -> None:
        history = self.state.transcript.messages
        newest = next(m for m in reversed(history) if m.role == "user" and m.kind == "")
        there = any(m.role == "user" and m.text == newest.text for m in messages)
        self.hold("P7 words", there, words=newest.text[:60])
        steer = next((m.text for m in reversed(history) if m.role == "user" and m.kind != "note"), "")
        self.hold("P7 steer", any(m.role == "user" and m.text == steer for m in messages), words=steer[:60])
        self._thought(messages)
        at = next((n for n in range(len(history) - 1, -1, -1) if history[n].calls), None)
        if at is None:
            return
        shown = {r.call_id: r.text for m in messages for r in m.results}
        for result in history[at + 1].results:
            cut = result.call_id in self.state.context.view._shrunk
            text = shown.get(result.call_id)
            self.hold(
                "P7 results",
                text is not None and (cut or text == result.text),
                call=result.call_id,
                text=str(text)[:80],
            )

    def _thought(self, messages: Sequence[Message]) -> None:
        """P11: thinking of the running turn stays with its calls, whatever words came in between."""
        start = self.state.context.turns[-1]
        thought = {m.calls[0].id for m in self.state.transcript.messages[start:] if m.calls and _thinks(m)}
        for message in messages:
            for call in message.calls[:1]:
                self.hold("P11 thinking", call.id not in thought or _thinks(message), call=call.id)

    def _grown(self, plan: Plan, stored: list[Message]) -> None:
        view = self.state.context.view
        if self.last is not None and self.last[0] == plan.epoch:
            _, ref, before, earlier = self.last
            self.hold("P5 messages", stored[: len(before)] == before)
            now, then = plan.layout.standing, earlier.layout.standing
            self.hold("P5 standing", now == then or ref != self.info.ref, now=now[-300:], then=then[-300:])
            if ref == self.info.ref and self.requests % 3 == 0:
                one, two = (self.writers[ref].write(self._request(plan, m)).data for m in (before, stored))
                end = one.rindex(b"]")
                start = one.index(b'"input":[' if self.dialect == "responses" else b'"messages":[')
                part = one[start:end]
                # marks move in one dialect; some models must not be sent the thinking of earlier turns
                if self.dialect != "messages" and self.info.reasoning_back != "tool_rounds":
                    self.hold("P5 bytes", two[two.index(part[:12]) :].startswith(part))
            self.hold("P12", self.masked == view.masked)
        self.masked = set(view.masked)

    def _ruled(self, body: bytes) -> None:
        pinned = self.state.context.pinned
        if pinned is None:
            return
        text = body.decode()
        self.hold("P4", text.count(MANDATORY) == 1 and EXCLUDED not in text, count=text.count(MANDATORY))
        joined = bool(self.state.context.joined)
        self.hold("P4", text.count(NESTED) == joined, count=text.count(NESTED), joined=joined)

    def _alternates(self, body: dict[str, Any]) -> None:
        if self.dialect == "responses":
            calls: list[str] = []
            for item in body["input"]:
                if item.get("type") == "function_call":
                    calls.append(item["call_id"])
                elif item.get("type") == "function_call_output":
                    self.hold("P11", item["call_id"] in calls, item=item["call_id"])
            return
        roles = [m["role"] for m in body["messages"]]
        if self.dialect == "messages":
            self.hold(
                "P11",
                roles[0] == "user" and all(a != b for a, b in itertools.pairwise(roles)),
                roles=roles[:12],
            )
        else:
            self.hold("P11", roles[0] in ("system", "developer") and "user" in roles, roles=roles[:5])
            for one, two in itertools.pairwise(roles):
                self.hold("P11", two != "tool" or one in ("assistant", "tool"), pair=(one, two))

    # --- of each fold ---

    def _before_fold(self, event: EpochOpened) -> None:
        view = self.state.context.view
        self._slots = units(view.slots, self.ledger)

    def _after_fold(self, event: EpochOpened) -> None:
        self.folds += 1
        self.seen.update((f"rung {event.rung}", event.reason))
        before, view = self._slots, self.state.context.view
        freed = event.before - event.after
        self.hold("P8", event.forced or freed >= event.least or (event.reason == "manual" and freed > 0), event=event)
        self.hold("P10", event.visits <= 5 * len(before), visits=event.visits, units=len(before))
        shown = {c.id for s in view.slots for c in s.shown.calls}
        names = {c: n for u in before for c, n in zip(u.calls, u.names, strict=True)}
        for unit in before:  # where reports and other key results are gone
            if unit.tier == KEY and any(c not in shown and names[c] in KEY_TOOLS - STATE_TOOLS for c in unit.calls):
                self.lost_keys.add(unit.at)
        if event.rung < 2 or not self.lost_keys:
            return
        recent = {u.at for u in before[-2 * self.keep_recent :]}
        newest = max((u.at for u in before if u.kind == "tools"), default=-1)
        for unit in before:
            if unit.tier == REGULAR and unit.at != newest and any(c in shown for c in unit.calls):
                self.hold("P13", unit.at in recent, unit=unit.id, lost=sorted(self.lost_keys))
                self.hold("P13 reports", unit.at >= max(self.lost_keys), unit=unit.id, lost=sorted(self.lost_keys))

    # --- the same log gives the same bytes ---

    def _again(self) -> None:
        """P6: what follows after a restart is what would have followed without one."""
        state = self._replica()
        mine, theirs = self.state.context.view, state.context.view
        if self.state.transcript.open_calls:
            return
        mine.sync(self.state.transcript.messages)
        theirs.sync(state.transcript.messages)
        self.hold("P6", msgspec.json.encode(mine.messages) == msgspec.json.encode(theirs.messages))
        self.hold("P6", (mine.epoch, mine.masked) == (theirs.epoch, theirs.masked))
        self.hold("P6", state.ratios == self.state.ratios)
        if self.last is not None and self.state.transcript.messages[-1].role == "tool":
            self._larger(state)

    def _larger(self, state: SessionState) -> None:
        """P9: with twice the window the same history still has what is required, and is refused no sooner."""
        info = replace(self.info, window=self.info.window * 2)
        ledger = Ledger()
        try:
            self._planner(self._replica(), ledger, lambda event: None).plan(self.info, self._budget())
        except Refusal:
            return
        plan = self._planner(state, ledger, state.apply).plan(info, budget_for(info))
        self.hold("P9", plan.layout.estimate <= budget_for(info).total)
        mine, self.state = self.state, state
        self._paired(plan.layout.messages)
        self._visible(plan.layout.messages)
        self.state = mine
