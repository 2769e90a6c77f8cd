"""What is known of a session's context, as a projection of its events."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from functools import partial
from typing import TYPE_CHECKING

from msgspec.structs import replace

from gongfu.context.view import View
from gongfu.core.base import Base
from gongfu.core.messages import Message
from gongfu.core.told import BatchLabelled, EpochOpened, Omitted, RulesJoined, RulesPinned, SummaryFailed, SummaryMade

if TYPE_CHECKING:
    from gongfu.context.pairs import Pair, PairStore


_KEPT = 80  # pairs of one fold that can find a place in the store
_GIVEN_UP = 3  # summaries that failed in a row


class ContextState:
    """Everything that decides what the next request holds. Changed only by the methods named after events.

    `labels` are by call id; `turns` the message numbers at which turns begin; `moved` the turns that left the live
    part; `summary` and `chain` the recollection in force; `made` the newest summary of each kind; `failures` how many
    summaries failed in a row; `left_out` what was dropped so far by tool name; `key_absent` whether a KEY unit was.
    """

    def __init__(self) -> None:
        self.view = View()
        self.labels: dict[str, str] = {}
        self.turns: list[int] = []
        self.moved: set[int] = set()
        self._settled = 0  # the first turn that did not move
        self._pairs: PairStore | None = None
        self.opened: EpochOpened | None = None
        self.summary = ""
        self.chain = ""
        self.made: dict[str, SummaryMade] = {}
        self.failures = 0
        self.left_out: Counter[str] = Counter()
        self.pinned: RulesPinned | None = None
        self.joined: list[str] = []
        self.risen: tuple[str, ...] = ()  # joined rules that have moved up into the standing text
        self.refreshed = False  # other rules were pinned, and no epoch has begun since
        self.remoded = False  # another work mode was chosen, and no epoch has begun since
        self.told_rules = ""  # the fingerprint in the newest receipt since rules were pinned last
        self.delivered: set[str] = set()
        self._absent: list[_Range] = []
        self.key_absent = False

    def turn_started(self, at: int) -> None:
        """A turn with a prompt begins at message `at`."""
        self.turns.append(at)

    def batch_labelled(self, event: BatchLabelled) -> None:
        """A batch has a name; it is the text of its results once they are masked."""
        self.labels.update(dict.fromkeys(event.calls, event.text))

    def summary_made(self, event: SummaryMade) -> None:
        """A model's summary is there for the next epoch."""
        self.made[event.kind] = event
        self.failures = 0

    def summary_failed(self, _event: SummaryFailed) -> None:
        """A summary could not be had."""
        self.failures += 1

    def rules_pinned(self, event: RulesPinned) -> None:
        """The rules that hold from here on."""
        self.refreshed = self.pinned is not None
        self.pinned = event
        self.told_rules = ""
        self.view.nonce = event.nonce
        self.delivered.clear()
        known = {source.path for source in event.sources}
        self.joined = [path for path in self.joined if path in known]
        self.risen = tuple(self.joined)

    def rules_joined(self, event: RulesJoined) -> None:
        """Nested rules whose place was touched."""
        self.joined += [path for path in event.paths if path not in self.joined]

    def epoch_opened(self, event: EpochOpened, transcript: Sequence[Message]) -> None:
        """The fold happens: the view changes, turns become pairs."""
        if event.at and event.at != len(transcript):
            event = _by_ids(event)
        self.left_out.update(event.calls)
        fresh = [turn for turn in event.moved if turn not in self.moved]
        if fresh:
            self._keep_pairs(fresh[-_KEPT:], transcript)
        self.moved.update(fresh)
        self.summary, self.chain = event.summary, event.chain
        self.key_absent = self.key_absent or event.key_absent
        self.risen, self.refreshed, self.remoded = event.rules, False, False
        self._absent = _joined(self._absent, event)
        self.view.open(event, transcript, self.labels)
        self.opened = event

    @property
    def absent(self) -> list[Omitted]:
        """What the epochs dropped, range by range, as receipts list it."""
        return [
            Omitted(
                id=f"u{r.start}" if r.end - r.start <= 2 else f"u{r.start}..u{r.end - 1}",
                reason=r.reason,
                tokens=r.tokens,
            )
            for r in self._absent
        ]

    @property
    def pairs(self) -> PairStore:
        """The past exchanges of the session."""
        if self._pairs is None:
            from gongfu.context.pairs import PairStore  # only after a fold

            self._pairs = PairStore()
        return self._pairs

    def _keep_pairs(self, turns: Sequence[int], transcript: Sequence[Message]) -> None:
        """Turns become pairs; of most, when a session is opened, no pair is ever asked for."""
        from gongfu.context.pairs import pair_of  # only in a fold

        for turn in turns:
            if turn < len(self.turns):
                told = self.turn(turn, transcript)
                labels = {c.id: self.labels[c.id] for m in told for c in m.calls if c.id in self.labels}
                self.pairs.later(turn, partial(pair_of, turn, told, labels))

    def pairs_of(self, turns: Iterable[int], transcript: Sequence[Message]) -> list[Pair]:
        """The pairs of the turns of these numbers."""
        from gongfu.context.pairs import pair_of  # only in a fold

        known = len(self.turns)  # a damaged log may name others
        return [pair_of(turn, self.turn(turn, transcript), self.labels) for turn in turns if turn < known]

    def settled(self) -> int:
        """Messages with lower numbers are of turns that moved away, and no summary is still to be made of them."""
        made = self.made.get("history")
        while self._settled < len(self.turns) and self._settled in self.moved:
            self._settled += 1
        turn = self._settled
        if made is not None and self.failures < _GIVEN_UP:  # one that lags far behind reads them again
            turn = max(min(turn, made.upto), turn - _KEPT)
        return self.turns[turn] if turn < len(self.turns) else 0

    def turn(self, number: int, transcript: Sequence[Message]) -> Sequence[Message]:
        """The messages of a turn as they were."""
        start = self.turns[number]
        end = self.turns[number + 1] if number + 1 < len(self.turns) else len(transcript)
        return transcript[start:end]


def _by_ids(event: EpochOpened) -> EpochOpened:
    """What can be taken from an epoch when rows of the log before it were lost: places and turns have other numbers.

    More is shown then; the next request folds again where that is too much.
    """
    return replace(event, dropped=(), sizes=(), kept=(), shortened=(), thinking=0, moved=(), shown=(), calls={})


class _Range(Base, frozen=True, gc=False):
    """Messages from number `start` on, before `end`, that were dropped."""

    start: int
    end: int
    reason: str
    tokens: int


def _joined(before: Sequence[_Range], event: EpochOpened) -> list[_Range]:
    """What was dropped so far, with what an epoch drops: neighbours that went for the same reason are one."""
    reason = "moved" if event.moved else "folded"
    fresh = (
        _Range(start=start, end=end, reason=reason, tokens=size)
        for (start, end), size in zip(event.dropped, event.sizes, strict=False)
    )
    joined: list[_Range] = []
    for dropped in sorted((*before, *fresh), key=lambda r: r.start):
        last = joined[-1] if joined else None
        if last is not None and last.end == dropped.start and last.reason == dropped.reason:
            tokens = last.tokens + dropped.tokens
            joined[-1] = _Range(start=last.start, end=dropped.end, reason=last.reason, tokens=tokens)
        else:
            joined.append(dropped)
    return joined
