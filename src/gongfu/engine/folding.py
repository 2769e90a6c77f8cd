"""Makes the event of a fold: what is decided in `context.fold`, with the texts that stand for what goes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING

from msgspec.structs import replace

from gongfu.context.ledger import message_tokens, part_tokens
from gongfu.context.tiers import RULES
from gongfu.core.events import EpochOpened, SummaryMade
from gongfu.core.told import FoldReason

if TYPE_CHECKING:
    from gongfu.context.fold import Fold, Task
    from gongfu.context.ledger import Ledger
    from gongfu.context.pairs import Pair
    from gongfu.context.units import Units
    from gongfu.engine.state import SessionState

L3, L2 = 8, 10  # percent of the budget
MOST_TOLD = 240
_FORCED = ("overflow", "manual")


class Folding:
    """One fold of a session. Figures are tokens before calibration.

    `total` is the budget, `fixed` what stands before the messages, `back` whether thinking must go back to the model.
    """

    def __init__(
        self,
        state: SessionState,
        ledger: Ledger,
        units: Units,
        *,
        reason: FoldReason,
        model: str,
        total: int,
        fixed: int,
        focus: str = "",
    ) -> None:
        self._state = state
        self._ledger = ledger
        self._reason: FoldReason = reason
        self._model = model
        self._total = total
        self._fixed = fixed
        self._focus = focus
        self._units = units
        self._before = fixed + ledger.total(state.context.view.messages)
        self._rising = 0  # what joined rules cost, which leave the messages and stand before them from now on
        if set(state.context.joined).difference(state.context.risen):
            notes = (s.shown for s in state.context.view.slots if s.raw.id == RULES)
            self._rising = sum(map(ledger.tokens, notes))

    def event(self, *, keep_recent: int, back: bool) -> EpochOpened | None:
        """Decide the fold and word it; None when it would free too little, or what must stay is too much."""
        if self._must and self._before * 2 <= self._total:
            return self._measured(self._opened(forced=True, least=0))
        from gongfu.context.fold import decide  # a short run never folds

        task = self._task(keep_recent, back=back)
        for start, trim in ((task.start, False), (4, False), (4, True)):
            attempt = task if start < 4 else self._hard(task, trim=trim)
            decided = decide(attempt)
            if decided is None:
                return None
            event = self._worded(task, decided)
            if event.after > self._total and decided.rung == 4:  # a recollection is of less worth than going on
                event = self._measured(replace(event, pairs="", shown=(), chain="", summary=""))
            if self._enough(event):
                return event
        return None

    @property
    def _must(self) -> bool:
        """Whether the epoch is opened for what stands before the messages, even if none of them has to go."""
        return self._reason == "rules" or (self._reason == "mode" and self._state.context.remoded)

    def _enough(self, event: EpochOpened) -> bool:
        """Whether a fold is worth it, measured on the messages themselves; one that is forced need only fit."""
        if event.after > self._total:
            return False
        if self._reason == "manual":
            return event.after < self._before
        return event.forced or self._before - event.after >= event.least

    def _task(self, keep_recent: int, *, back: bool) -> Task:
        from gongfu.context.fold import LOW, Task, least_freed

        context, total = self._state.context, self._total
        view = context.view
        hard = self._reason in ("overflow", "manual")
        aim = total * LOW // 100
        return Task(
            units=self._units.update(view.slots),
            total=total,
            fixed=self._fixed,
            head=self._ledger.total(view.messages[: view.head]),
            moving=total * (L3 + L2) // 100,
            aim=min(aim, self._before // 2) if hard else aim,
            least=least_freed(total),
            turns=context.turns,
            keep_recent=keep_recent,
            forced=self._must or self._reason in _FORCED or self._before > total,
            back=back,
            key_absent=context.key_absent,
            start=2 if hard else 1,
            running=len(context.turns) - 1 if self._state.interrupted() else -1,
        )

    def _hard(self, task: Task, *, trim: bool) -> Task:
        """The task of the last rung: only what must stay, the newest results cut where even that is too much."""
        from gongfu.context.shorten import shown_bytes, trimmed_message

        slots = self._state.context.view.slots
        at = next((n for n in range(len(slots) - 1, 0, -1) if slots[n].shown.role == "tool"), 0)
        if not at:
            return replace(task, start=4)
        results = slots[at].shown.results
        newest = tuple((r.call_id, part_tokens(r), shown_bytes(r)) for r in results)
        asked = slots[at - 1].shown
        spared = message_tokens(asked) - message_tokens(trimmed_message(asked, slots[at - 1].at)) if trim else 0
        return replace(task, start=4, newest=newest, trim=trim, spared=spared)

    def _opened(self, *, forced: bool, least: int) -> EpochOpened:
        """The event of an epoch that changes nothing yet."""
        context = self._state.context
        before = context.opened
        return EpochOpened(
            epoch=context.view.epoch + 1,
            reason=self._reason,
            model=self._model,
            forced=forced,
            at=len(self._state.transcript.messages),
            rung=0,
            budget=self._total,
            before=self._before,
            least=least,
            note=before.note if before is not None else "",
            summary=context.summary,
            chain=context.chain,
            pairs=before.pairs if before is not None else "",
            shown=before.shown if before is not None else (),
            rules=tuple(context.joined),
            focus=self._focus,
        )

    def _worded(self, task: Task, decided: Fold) -> EpochOpened:
        moved = self._state.context.moved
        event = replace(
            self._opened(forced=task.forced, least=task.least),
            rung=decided.rung,
            visits=decided.visits,
            masked=decided.masked,
            shrunk=decided.shrunk,
            trimmed=decided.trimmed,
            shortened=decided.shortened,
            dropped=decided.dropped,
            sizes=decided.sizes,
            calls=dict(Counter(name for unit in decided.lost for name in unit.names)),
            kept=decided.kept,
            thinking=decided.thinking,
            moved=tuple(t for t in decided.moved if t not in moved),
            key_absent=decided.key_absent,
        )
        return self._measured(_with_texts(self._state, event, task.total))

    def _measured(self, event: EpochOpened) -> EpochOpened:
        context = self._state.context
        messages = context.view.trial(event, context.labels)
        return replace(event, after=self._fixed + self._rising + sum(map(self._ledger.tokens, messages)))


def _with_texts(state: SessionState, event: EpochOpened, total: int) -> EpochOpened:
    """The note on what is left out, the summary of what moved, and the pairs that matter now."""
    context = state.context
    left_out = context.left_out + Counter(event.calls)
    moved = len(context.moved) + len(event.moved)
    transcript = state.transcript.messages
    room3, room2 = total * L3 // 100, total * L2 // 100
    fresh = context.pairs_of(told_of(event.moved), transcript) if event.moved else []
    pairs = [*context.pairs.pairs, *fresh] if moved else []
    summary, chain = _summary(state, fresh, room3) if moved else (context.summary, context.chain)
    text, shown = "", ()
    if pairs:
        from gongfu.context.pairs import show  # only once turns have moved

        newest = context.turn(len(context.turns) - 1, transcript) if context.turns else ()
        query = " ".join(m.text for m in newest if m.role == "user" and m.kind != "note")
        found = show(pairs, query=f"{query} {event.focus}".strip(), files=_files(newest), room=room2)
        text, shown = found.text, found.turns
    return replace(event, note=_note(left_out, moved), summary=summary, chain=chain, pairs=text, shown=shown)


def told_of(moved: Sequence[int]) -> Sequence[int]:
    """The turns that are told of when very many move at once: the first and the newest of them."""
    return moved if len(moved) <= MOST_TOLD else (*moved[: MOST_TOLD // 4], *moved[-MOST_TOLD * 3 // 4 :])


def _files(messages: Sequence[object]) -> set[str]:
    from gongfu.context.pairs import paths_in
    from gongfu.core.messages import Message

    return {path for m in messages if isinstance(m, Message) for call in m.calls for path in paths_in(call)}


def _summary(state: SessionState, fresh: Sequence[Pair], room: int) -> tuple[str, str]:
    """The recollection from now on: a model's summary where there is one, completed and carried on by an extract."""
    from gongfu.context.summary import chain_part, completed, extract  # only once turns have moved

    context = state.context
    made, chain = context.made.get("history"), context.made.get("chain")
    told, cost = chain_part(chain, len(context.turns), room)
    room -= cost
    before = context.summary
    if not before and context.moved:  # it was given up when there was no room for it
        moved = told_of(sorted(context.moved))
        before = extract("", context.pairs_of(moved, state.transcript.messages), room=room)
    if made is None or not _fits(made, context.moved, fresh):
        return extract(before, fresh, room=room), told
    covered = [pair for pair in fresh if pair.turn < made.upto]
    text = completed(made.text, before, covered, room=room)
    rest = [pair for pair in fresh if pair.turn >= made.upto]
    return (extract(text, rest, room=room) if rest else text), told


def _fits(made: SummaryMade, moved: set[int], fresh: Sequence[Pair]) -> bool:
    """Whether a model's summary may take the place of the one in force: it covers a turn that moves now, or all."""
    return any(pair.turn < made.upto for pair in fresh) or all(t < made.upto for t in moved)


def _note(left_out: Counter[str], moved: int) -> str:
    total = sum(left_out.values())
    if not total and not moved:
        return ""
    most = ", ".join(f"{count} {name}" for name, count in sorted(left_out.items(), key=lambda i: (-i[1], i[0]))[:6])
    calls = f"{total} earlier tool calls ({most}{', …' if len(left_out) > 6 else ''})" if total else ""
    turns = f"most of {moved} earlier turns" if moved else ""
    what = " and ".join(part for part in (calls, turns) if part)
    return (
        f"[To save room {what} are left out here. Nothing is lost: recall with a query, or with an id such as c12 or "
        "turn:3, brings the text back.]"
    )
