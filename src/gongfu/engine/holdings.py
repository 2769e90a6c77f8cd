"""What a request holds, item by item, as its receipt lists it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from gongfu.context.ledger import Ledger
from gongfu.context.receipt import TAIL
from gongfu.context.tiers import RULES, SYSTEM
from gongfu.context.units import Units
from gongfu.core.events import Included
from gongfu.core.tokens import PER_MESSAGE, text_tokens
from gongfu.engine.state import SessionState

if TYPE_CHECKING:
    from gongfu.context.rules.standing import Standing
    from gongfu.context.units import Slot


class Holdings:
    """Keeps the list of what requests hold: what is new is looked at once, an epoch makes all of it anew.

    Items that stay are the same objects each time: receipts are compared by identity before they are by value.
    `stable` are the tokens of tools and system prompt.
    """

    def __init__(self, system: str, stable: int, state: SessionState, ledger: Ledger, units: Units) -> None:
        self._state = state
        self._ledger = ledger
        self._units = units
        tools = stable - PER_MESSAGE - text_tokens(system)
        self._first = (
            Included(id="tools", tier=SYSTEM, tokens=tools),
            Included(id="system", tier=SYSTEM, tokens=stable - tools),
        )
        self._items: list[Included] = []
        self._itemised = (-1, -1)  # the epoch and the number of units that are itemised

    def included(
        self, standing: Standing | None, standing_tokens: int, tail: Sequence[str], *, small: bool
    ) -> list[Included]:
        """All that the next request holds, in the order of the wire. A `small` model has joined rules in `standing`."""
        view = self._state.context.view
        first, count = self._itemised
        if first != view.epoch:
            self._items, count = self._head(), 0
        self._items.extend(self._fresh(count))
        self._itemised = (view.epoch, len(self._units.all))
        found = [
            *self._first,
            *(_framed("rules", standing_tokens, standing.included) if standing is not None else ()),
            *((i for i in self._items if not i.id.startswith("rule")) if small else self._items),
        ]
        if tail:
            found.append(Included(id=TAIL, tier=SYSTEM, tokens=sum(map(text_tokens, tail))))
        return found

    def _head(self) -> list[Included]:
        event = self._state.context.opened
        if event is None:
            return []
        texts = (("summary", event.summary or event.chain), ("pairs", event.pairs), ("note", event.note))
        names = [name for name, text in texts if text]
        notes = self._state.context.view.messages
        return [Included(id=name, tier=SYSTEM, tokens=self._ledger.tokens(notes[at])) for at, name in enumerate(names)]

    def _joined(self, slot: Slot) -> list[Included]:
        """The envelopes in a note of rules that joined."""
        pinned = self._state.context.pinned
        if pinned is None:
            return []
        from gongfu.context.rules.envelope import envelopes

        joined = envelopes(pinned, self._state.context.joined)
        held = [Included(id=e.id, tier=SYSTEM, tokens=e.tokens) for e in joined if e.opening in slot.shown.text]
        return _framed(f"rules:u{slot.at}", self._ledger.tokens(slot.shown), held)

    def _fresh(self, start: int) -> list[Included]:
        """The items of the units from number `start` on."""
        view = self._state.context.view
        joined = self._state.context.joined
        known = {slot.at: slot for slot in view.slots if slot.raw.id == RULES} if joined else {}
        found: list[Included] = []
        for unit in self._units.update(view.slots)[start:]:
            if unit.at in known:
                found.extend(self._joined(known[unit.at]))
                continue
            masked = bool(unit.calls) and view.masked.issuperset(unit.calls)
            level = "masked" if masked else "full"
            found.append(Included(id=unit.id, tier=unit.tier, level=level, tokens=unit.tokens))
        return found


def _framed(name: str, tokens: int, held: Sequence[Included]) -> list[Included]:
    """`held` behind a block `name` for the words around them, so that all of them are `tokens`."""
    rest = tokens - sum(item.tokens for item in held)
    return [Included(id=name, tier=SYSTEM, tokens=rest), *held] if rest > 0 else list(held)
