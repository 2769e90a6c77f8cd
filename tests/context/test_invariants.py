"""The invariants P1 to P13 on random sessions (`fuzz`): 500 requests here, 50,000 in the soak."""

from __future__ import annotations

import os
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gongfu.context.fold import Fold, Task, decide
from gongfu.context.tiers import ASSISTANT, KEY, REGULAR, SYSTEM, USER
from gongfu.context.units import Unit

from .fuzz import Fuzz
from .holding import Broken

ROOT = Path(__file__).parents[2]
PER_SESSION = 50


def played(seed: int, requests: int = PER_SESSION) -> Fuzz:
    fuzz = Fuzz(seed)
    fuzz.run(requests)
    return fuzz


@pytest.mark.parametrize("chunk", [0, 1, 2, *(pytest.param(n, marks=pytest.mark.soak) for n in (3, 4, 5))])
def test_500_random_requests_keep_all_invariants(chunk: int) -> None:
    total = folds = 0
    for seed in range(chunk * 5, chunk * 5 + 5):
        fuzz = played(seed)
        total += fuzz.requests
        folds += fuzz.folds
    assert total >= 150
    assert folds > 0


@pytest.mark.soak
@pytest.mark.parametrize("chunk", range(64))
def test_50000_random_requests_keep_all_invariants(chunk: int) -> None:
    total = 0
    for seed in range(10_000 + chunk * 22, 10_000 + chunk * 22 + 22):
        total += played(seed).requests
    assert total >= 600


def test_the_sessions_are_as_varied_as_they_should_be() -> None:
    """A generator that never folds proves nothing."""
    seen: Counter[str] = Counter()
    refusals = 0
    for seed in range(100, 116):
        fuzz = played(seed, 40)
        seen += fuzz.seen
        refusals += fuzz.refusals
    assert all(seen[f"rung {n}"] for n in (1, 2, 3, 4)), seen
    assert all(seen[name] for name in ("high", "overflow", "manual", "crash")), seen
    assert refusals > 0


def test_p7_the_prompt_of_the_turn_stays_when_more_words_come_behind_it() -> None:
    Fuzz(8).run(PER_SESSION)


def test_p6_the_bytes_do_not_hang_on_the_order_of_hashes() -> None:
    code = (
        "from tests.context.fuzz import Fuzz\n"
        "for seed in (3, 5, 27):\n"
        "    fuzz = Fuzz(seed); fuzz.run(30); print(fuzz.requests, fuzz.folds, fuzz.digest.hexdigest())"
    )
    outputs = {
        subprocess.run(
            [sys.executable, "-c", code],
            cwd=ROOT,
            env={**os.environ, "PYTHONHASHSEED": seed},
            check=True,
            capture_output=True,
            text=True,
        ).stdout
        for seed in ("0", "4242")
    }
    assert len(outputs) == 1
    assert sum(int(line.split()[1]) for line in outputs.pop().splitlines()) > 0  # folds


def test_a_broken_invariant_is_seen() -> None:
    """The checks can fail: a fold that drops the newest words, and a result that is lost, are noticed."""
    fuzz = played(1, 20)
    whole = list(fuzz.state.context.view.messages)
    with pytest.raises(Broken, match="P7"):
        fuzz._visible([m for m in whole if m.role != "user"])
    with pytest.raises(Broken, match="P3"):
        fuzz._paired([m for m in whole if m.role != "tool"])
    plan = fuzz.last[3]  # type: ignore[index]
    with pytest.raises(Broken, match="P5"):
        fuzz._grown(plan, whole[1:])


sizes = st.integers(10, 4000)
kinds = st.sampled_from(["user", "assistant", "regular", "regular", "regular", "key", "note"])


@st.composite
def histories(draw: st.DrawFn) -> list[Unit]:
    found: list[Unit] = []
    at = 0
    for number, (kind, size) in enumerate(draw(st.lists(st.tuples(kinds, sizes), min_size=1, max_size=60))):
        if kind in ("regular", "key"):
            tier = KEY if kind == "key" else REGULAR
            call = f"c{number}"
            found.append(
                Unit(at=at, size=2, kind="tools", tier=tier, tokens=size, less=min(size, 60), calls=(call,),
                     long=size > 300, names=("shell",))
            )  # fmt: skip
            at += 2
        else:
            tier = {"user": USER, "assistant": ASSISTANT, "note": SYSTEM}[kind]
            found.append(Unit(at=at, size=1, kind="text", tier=tier, tokens=size, less=size))
            at += 1
    return found


def task(units: list[Unit], total: int, *, forced: bool = True, start: int = 1) -> Task:
    turns = [u.at for u in units if u.tier == USER]
    return Task(units=units, total=total, fixed=500, head=0, moving=total * 18 // 100, aim=total // 2,
                least=total // 5, turns=turns, forced=forced, start=start)  # fmt: skip


def required(units: list[Unit]) -> list[Unit]:
    """The newest words, the newest tool group, what belongs to the system."""
    newest = [max((u for u in units if u.tier == USER), key=lambda u: u.at, default=None)]
    newest.append(max((u for u in units if u.kind == "tools"), key=lambda u: u.at, default=None))
    return [u for u in newest if u is not None] + [u for u in units if u.tier == SYSTEM]


def loses(fold: Fold, unit: Unit) -> bool:
    dropped = any(start <= unit.at < end for start, end in fold.dropped) and not set(unit.calls) & set(fold.kept)
    return dropped or bool(set(unit.calls) & set(fold.masked))


@settings(max_examples=150, deadline=None)
@given(histories(), st.integers(2000, 60_000), st.integers(1, 4), st.sampled_from([1, 2, 4]))
def test_p9_and_p10_what_is_required_stays_at_every_budget_and_looks_are_few(
    units: list[Unit], total: int, times: int, start: int
) -> None:
    for budget in (total, total * times):
        fold = decide(task(units, budget, start=start))
        if fold is None:
            continue
        assert not [u.id for u in required(units) if loses(fold, u)]
        assert fold.visits <= 5 * len(units)


@settings(max_examples=150, deadline=None)
@given(histories(), st.integers(2000, 60_000))
def test_p8_and_p13_a_fold_frees_enough_and_keys_outlive_ordinary_results(units: list[Unit], total: int) -> None:
    fold = decide(task(units, total, forced=False))
    if fold is None or fold.rung not in (2, 3):
        return
    gone = [u.at for u in units if u.tier == KEY and loses(fold, u) and not set(u.calls) & set(fold.masked)]
    if not gone:
        return
    recent = {u.at for u in units[-20:]}
    newest = max(u.at for u in units if u.kind == "tools")
    for unit in units:
        if unit.tier == REGULAR and unit.at != newest and not any(s <= unit.at < e for s, e in fold.dropped):
            assert unit.at in recent
            assert unit.at > max(gone)
