"""What a fold keeps: exact, deterministic, in a handful of passes over the units. Integer arithmetic only.

The ladder: (1) mask stale and old results and cut long texts; (2) leave regular groups out, behind one note; (3) move
the oldest turns to pairs and summary; (4) keep only what must stay; a caller refuses when even that is too much.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Sequence

from gongfu.context.tiers import ASSISTANT, KEY, REGULAR, SYSTEM, USER
from gongfu.context.units import LONG_TEXT, Unit
from gongfu.core.base import Base

HIGH, COLD, LOW = 80, 55, 50  # percent of the budget: fold above, fold when the cache is cold, aim
NEWEST_RESULTS = 10
USER_FLOOR = 20_000
NOTE = 120  # tokens set aside for the note on what was left out
LEAST_SHOWN = 256  # bytes of a result that is cut
HINT = 32  # bytes about by which a cut text is longer than what is left of it


class Task(Base, frozen=True):
    """What a fold works on; all figures in tokens as estimated before calibration.

    `total` is the budget, `fixed` what stands before the live units and stays, `head` what summary, pairs and note
    take now, `moving` what they may take once turns move. `aim` is where the fold should end, `least` what it must
    free. `forced`: it happens even when it frees less. `back`: thinking must go back to the provider and stays.
    `key_absent`: an earlier fold had to leave a KEY unit out. `turns` are the message numbers at which turns begin,
    `running` is the number of one that has not come to its end: it is no past exchange yet. `newest` are the calls of
    the newest tool group, each with the tokens and the bytes of its result. `trim`: long arguments and texts of that
    group are cut, too, which saves `spared` tokens.
    """

    units: Sequence[Unit]
    total: int
    fixed: int
    head: int
    moving: int
    aim: int
    least: int
    turns: Sequence[int]
    keep_recent: int = 10
    forced: bool = False
    back: bool = False
    key_absent: bool = False
    start: int = 1
    running: int = -1
    newest: tuple[tuple[str, int, int], ...] = ()
    trim: bool = False
    spared: int = 0


class Fold(Base, frozen=True):
    """What was decided, in the terms of `EpochOpened`: `lost` are units left out, `visits` counts looks at a unit."""

    rung: int
    masked: tuple[str, ...] = ()
    shrunk: tuple[tuple[str, int], ...] = ()
    trimmed: tuple[str, ...] = ()
    shortened: tuple[int, ...] = ()
    dropped: tuple[tuple[int, int], ...] = ()
    sizes: tuple[int, ...] = ()
    kept: tuple[str, ...] = ()
    thinking: int = 0
    moved: tuple[int, ...] = ()
    lost: tuple[Unit, ...] = ()
    key_absent: bool = False
    visits: int = 0


def least_freed(total: int) -> int:
    """What a fold must free: max(20% of the budget, min(8k tokens, 25% of it))."""
    return max(total // 5, min(8192, total // 4))


class _Desk:
    """The units of one fold with what becomes of each: None (left out), False (masked or cut) or True (as it is)."""

    def __init__(self, task: Task) -> None:
        self.task = task
        self.units = task.units
        self.tiers = [unit.tier for unit in task.units]
        self.fate: list[bool | None] = [None] * len(task.units)
        self.visits = len(task.units)  # they were made in one pass
        self.used = 0
        self.must: list[int] = []
        self.old = [False] * len(task.units)
        self.masked = 0  # what all units cost with the old ones masked
        self.first_user = self.last_user = -1
        self._mark()

    def _mark(self) -> None:
        """One pass from the end: what must stay, what is stale, what is old, and what rung 1 would leave."""
        renewed: set[str] = set()
        states: set[str] = set()
        groups, newest, place = 0, -1, -1
        turn = self.turn
        for at in range(len(self.units) - 1, -1, -1):
            self.visits += 1
            unit = self.units[at]
            if unit.state:
                if unit.state in states:
                    self.tiers[at] = REGULAR
                states.add(unit.state)
            tier = self.tiers[at]
            if unit.kind == "tools":
                groups += unit.at != place
                place = unit.at
                newest = unit.at if newest < 0 else newest
                if unit.at == newest:
                    self.must.append(at)
                else:
                    stale = len(unit.paths) == len(unit.calls) and renewed.issuperset(unit.paths)
                    aged = groups > NEWEST_RESULTS and unit.long
                    self.old[at] = tier == REGULAR and (stale or aged)
                renewed.update(unit.renews)
            elif tier == USER:
                if self.last_user < 0 or unit.at >= turn:
                    self.must.append(at)
                self.last_user = max(self.last_user, at)
                self.first_user = at
            elif tier == SYSTEM or (tier == KEY and newest < 0):
                self.must.append(at)  # a report that no tool result has followed is as new as can be
            else:
                self.old[at] = tier == ASSISTANT and unit.tokens > LONG_TEXT
            self.masked += self.cost(at, not self.old[at])
        self.must.reverse()

    @property
    def turn(self) -> int:
        """The message at which the newest turn begins; a number beyond all messages when none is known."""
        return self.task.turns[-1] if self.task.turns else sys.maxsize

    def cost(self, at: int, whole: bool) -> int:
        unit = self.units[at]
        return unit.tokens if whole else unit.less

    def keep(self, at: int, *, whole: bool = True) -> None:
        """Keep a unit; one already kept may only come up from masked to whole."""
        before = self.fate[at]
        if before or (before is False and not whole):
            return
        self.used += self.cost(at, whole) - (self.cost(at, whole=False) if before is False else 0)
        self.fate[at] = whole


def decide(task: Task) -> Fold | None:
    """Decide a fold; None when it would free too little and is not forced.

    `after` of the fold is measured by the caller on the messages themselves.
    """
    desk = _Desk(task)
    before = task.fixed + task.head + sum(u.tokens for u in task.units)
    if task.start <= 1:
        after = task.fixed + task.head + desk.masked
        if before - after >= task.least and after * 100 <= task.total * (HIGH - 10):
            return _mask_old(desk)
    if task.start <= 3:
        rung = _select(desk)
        after = task.fixed + (task.moving if rung > 2 else task.head) + NOTE + desk.used
        if after <= task.total and (task.forced or before - after >= task.least):
            return _fold(desk, rung)
    _only_must(desk)
    after = task.fixed + task.moving + NOTE + desk.used
    if not task.forced and before - after < task.least:
        return None
    return _fold(desk, 4)


def _mask_old(desk: _Desk) -> Fold:
    """Rung 1: everything stays, old and stale results masked, long texts cut."""
    for at in range(len(desk.units)):
        desk.visits += 1
        desk.keep(at, whole=not desk.old[at])
    return _fold(desk, 1)


def _begin(desk: _Desk) -> None:
    desk.fate = [None] * len(desk.units)
    desk.used = 0


def _select(desk: _Desk) -> int:
    """Rungs 2 and 3: choose within the room; the rung that was needed."""
    task = desk.task
    texts = sum(u.tokens for u in desk.units if u.kind == "text" and u.tier != SYSTEM)
    room = task.aim - task.fixed - NOTE - task.head
    rung = 2 if texts * 10 <= max(0, room) * 6 and task.start <= 2 else 3
    if rung > 2:
        room = task.aim - task.fixed - NOTE - task.moving
    _begin(desk)
    for at in desk.must:
        desk.keep(at)
    _user_floor(desk, room, everything=rung == 2)
    _recency(desk, room)
    _keys_and_quotas(desk, room)
    return rung


def _user_floor(desk: _Desk, room: int, *, everything: bool) -> None:
    """The first task and the newest words of the person verbatim; on rung 2 all texts."""
    units = desk.units
    left = min(USER_FLOOR, desk.task.total // 5)
    if desk.first_user >= 0:
        first = desk.first_user
        whole = units[first].tokens <= min(left, max(0, room - desk.used))
        desk.keep(first, whole=whole)
        left -= desk.cost(first, whole)
    for at in range(len(units) - 1, -1, -1):
        desk.visits += 1
        unit = units[at]
        if desk.fate[at] is not None or unit.kind != "text":
            continue
        if desk.tiers[at] == USER and left >= unit.tokens and desk.used + unit.tokens <= room:
            desk.keep(at)
            left -= unit.tokens
        elif everything and desk.tiers[at] in (USER, ASSISTANT):
            desk.keep(at, whole=unit.tokens <= LONG_TEXT)


def _recency(desk: _Desk, room: int) -> None:
    """The newest units, at most half of what is left; an oversize tool unit is masked and the scan goes on."""
    left = max(0, room - desk.used) // 2
    for at in range(len(desk.units) - 1, max(-1, len(desk.units) - 1 - 2 * desk.task.keep_recent), -1):
        unit = desk.units[at]
        if desk.fate[at] is not None:
            continue
        whole = unit.tokens <= left and not desk.old[at]
        if whole or unit.less <= left:
            desk.keep(at, whole=whole)
            left -= desk.cost(at, whole)


def _keys_and_quotas(desk: _Desk, room: int) -> None:
    """KEY units full, then masked, then whatever room is left for them; then quotas; then what fits, newest first.

    While a KEY unit is absent no regular one beyond the recency floor is kept.
    """
    units = desk.units
    rest = max(0, room - desk.used)
    full, masked = rest // 4, rest * 15 // 100
    tiers: dict[int, list[int]] = {USER: [], ASSISTANT: [], REGULAR: []}
    absent: list[int] = []
    held: list[int] = []  # masked for want of room
    for at in range(len(units) - 1, -1, -1):
        desk.visits += 1
        unit = units[at]
        if desk.fate[at] is not None:
            continue
        if desk.tiers[at] != KEY:
            tiers.setdefault(desk.tiers[at], []).append(at)
        elif unit.tokens <= full:
            desk.keep(at)
            full -= unit.tokens
        elif unit.less <= masked:
            desk.keep(at, whole=False)
            held.append(at)
            masked -= unit.less
        else:
            absent.append(at)
    for at in absent:
        if desk.used + units[at].less <= room:
            desk.keep(at, whole=False)
    absent = [at for at in absent if desk.fate[at] is None]
    if not absent:
        _unmask(desk, held, min(room, desk.used + full + masked))
    _quotas(desk, room, tiers, regular=not absent and not desk.task.key_absent)
    _unmask(desk, held, room)
    _rather_keys(desk, room, absent)


def _unmask(desk: _Desk, held: Sequence[int], room: int) -> None:
    """KEY units come up from masked to full while there is room, newest first."""
    for at in held:
        if desk.used + desk.units[at].tokens - desk.units[at].less <= room:
            desk.keep(at)


def _rather_keys(desk: _Desk, room: int, absent: Sequence[int]) -> None:
    """No regular unit of the recency floor stays that is older than a KEY unit that is absent."""
    if not absent:
        return
    must = set(desk.must)
    for at in range(max(0, len(desk.units) - 2 * desk.task.keep_recent), absent[0]):
        fate = desk.fate[at]
        if fate is not None and desk.tiers[at] == REGULAR and at not in must:
            desk.used -= desk.cost(at, fate)
            desk.fate[at] = None
    for at in absent:
        if desk.used + desk.units[at].less <= room:
            desk.keep(at, whole=False)


def _quotas(desk: _Desk, room: int, tiers: dict[int, list[int]], *, regular: bool) -> None:
    left = max(0, room - desk.used)
    shares = {USER: left * 35 // 100, ASSISTANT: left * 25 // 100, REGULAR: left * 40 // 100 if regular else 0}
    over: list[int] = []
    for tier, share in shares.items():
        free = share
        for at in tiers[tier]:
            desk.visits += 1
            whole = tier != REGULAR and desk.units[at].tokens <= LONG_TEXT
            cost = desk.cost(at, whole)
            if cost <= free:
                desk.keep(at, whole=whole)
                free -= cost
            elif tier != REGULAR or regular:
                over.append(at)
    for at in sorted(over, reverse=True):  # newest first, whatever the tier
        if desk.used + desk.units[at].less <= room:
            desk.keep(at, whole=False)


def _only_must(desk: _Desk) -> None:
    """Rung 4: what must stay, and the first task when there is room."""
    _begin(desk)
    for at in desk.must:
        desk.keep(at)
    first = desk.first_user
    if first >= 0 and desk.task.fixed + desk.used + desk.units[first].less <= desk.task.aim:
        desk.keep(first, whole=False)


def _fold(desk: _Desk, rung: int) -> Fold:
    """The fates of the units in the terms of an epoch."""
    task, units = desk.task, desk.units
    masked: list[str] = []
    shortened: list[int] = []
    lost: list[int] = []
    for at, (unit, fate) in enumerate(zip(units, desk.fate, strict=True)):
        if fate is None:
            lost.append(at)
        elif not fate and unit.less < unit.tokens:
            if unit.kind == "tools":
                masked += unit.calls
            else:
                shortened.append(unit.at)
    if task.trim:
        shortened += sorted({units[at].at for at in desk.must if units[at].kind == "tools"})
    kept_places = {units[at].at for at, fate in enumerate(desk.fate) if fate is not None}
    partly = {units[at].at for at in lost} & kept_places
    kept = [c for at, u in enumerate(units) if u.at in partly and desk.fate[at] is not None for c in u.calls]
    dropped, sizes = _ranges(units[at] for at in lost)
    moved = _turns_of((units[at] for at in lost if desk.tiers[at] in (USER, ASSISTANT)), task)
    thinking = 0 if task.back or desk.last_user < 0 else min(units[desk.last_user].at, desk.turn)
    return Fold(
        rung=rung, masked=tuple(masked), shortened=tuple(shortened), dropped=dropped, sizes=sizes,
        kept=tuple(kept), thinking=thinking, moved=moved, lost=tuple(units[at] for at in lost), visits=desk.visits,
        key_absent=any(desk.tiers[at] == KEY for at in lost),
        shrunk=_shrunk(desk) if rung == 4 else (), trimmed=tuple(call for call, _, _ in task.newest if task.trim),
    )  # fmt: skip


def _shrunk(desk: _Desk) -> tuple[tuple[str, int], ...]:
    """Calls of the newest group whose results must be cut so that what must stay fits, with the bytes left to each.

    Long ones give way before short ones do.
    """
    task = desk.task
    over = task.fixed + NOTE + desk.used - task.spared - task.total
    if over <= 0 or not task.newest:
        return ()
    sizes = sorted(tokens for _, tokens, _ in task.newest)
    left = max(0, sum(sizes) - over) * 19 // 20
    level = 0
    for number, size in enumerate(sizes):
        level = left // (len(sizes) - number)
        if size > level:
            break
        left -= size
    cut = [(call, tokens, size) for call, tokens, size in task.newest if tokens > level]
    return tuple((call, max(LEAST_SHOWN, size * level // tokens - HINT)) for call, tokens, size in cut)


def _ranges(lost: Iterable[Unit]) -> tuple[tuple[tuple[int, int], ...], tuple[int, ...]]:
    """[from, to) of what is left out, and the tokens in each."""
    found: list[tuple[int, int]] = []
    sizes: list[int] = []
    for unit in lost:
        end = unit.at + unit.size
        if found and unit.at <= found[-1][1]:
            found[-1] = (found[-1][0], max(end, found[-1][1]))
            sizes[-1] += unit.tokens
        else:
            found.append((unit.at, end))
            sizes.append(unit.tokens)
    return tuple(found), tuple(sizes)


def _turns_of(lost: Iterable[Unit], task: Task) -> tuple[int, ...]:
    from bisect import bisect_right  # only in a fold

    found = {bisect_right(task.turns, unit.at) - 1 for unit in lost}
    return tuple(sorted(t for t in found if t >= 0 and t != task.running))
