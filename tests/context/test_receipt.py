"""Receipts are written compactly and read back whole; what a cache can reuse is told by the blocks themselves."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gongfu.context.receipt import Held, Lineage, continued, receipts, shared_tokens, stable_hash, why_broken
from gongfu.core.events import RequestFailed, RequestSent, decode_event, encode_event
from gongfu.core.specs import ToolSpec, Usage
from gongfu.core.told import Included, Omitted
from tests.context.sent import SYSTEM, Log, unit

TAIL = Included(id="tail", tier=0, tokens=9)


def test_a_growing_request_lists_only_what_is_new_and_is_read_back_whole() -> None:
    log = Log()
    first = log.send(*SYSTEM, unit(0, tier=1))
    second = log.send(*SYSTEM, unit(0, tier=1), unit(1), TAIL)
    third = log.send(*SYSTEM, unit(0, tier=1), unit(1), unit(3))
    assert (first.after, first.reused, first.broke) == ("", 0, "first")
    assert (second.after, [i.id for i in second.included]) == ("r1", ["u1", "tail"])
    assert (third.after, [i.id for i in third.included]) == ("r2", ["u3"])
    assert (third.reused, third.broke) == (2200, "")
    assert [r.included for r in receipts(log.entries)] == log.wholes


def test_a_retry_adds_nothing_and_reuses_all_but_the_tail() -> None:
    log = Log()
    log.send(*SYSTEM, unit(0), TAIL, answer=False)
    again = log.send(*SYSTEM, unit(0), TAIL, attempt=2)
    assert (again.after, again.included, again.reused, again.broke) == ("r1", (TAIL,), 2100, "")


def test_a_fold_begins_a_list_of_its_own() -> None:
    log = Log()
    log.send(*SYSTEM, unit(0), unit(1), unit(3))
    log.fold()
    folded = log.send(*SYSTEM, unit(0), unit(1, level="masked", tokens=20), unit(3), fold="high")
    assert (folded.after, len(folded.included)) == ("", 5)
    assert (folded.reused, folded.broke, folded.fold) == (2100, "epoch", "high")


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"model": "p/other"}, "model"),
        ({"stable": "99999999.22222222"}, "system"),
        ({"stable": "11111111.99999999"}, "tools"),
        ({"rules": "f2"}, "rules"),
        ({"epoch": 1, "included": (*SYSTEM, unit(3))}, "epoch"),
        ({"included": (*SYSTEM, unit(3))}, "history"),
        ({"included": (SYSTEM[0], Included(id="system", tier=0, tokens=701), unit(0))}, "system"),
        ({"included": (Included(id="tools", tier=0, tokens=1), SYSTEM[1], unit(0)), "epoch": 1}, "tools"),
        ({"epoch": 1}, ""),
        ({"included": (*SYSTEM, unit(0), unit(1))}, ""),
    ],
)
def test_the_word_for_a_broken_cache(change: dict, reason: str) -> None:
    before = {"request": "r1", "model": "p/m", "stable": "11111111.22222222", "rules": "f1"}
    held = Held(included=(*SYSTEM, unit(0)), **before)
    assert why_broken(held, Held(**{**before, "included": (*SYSTEM, unit(0)), **change})) == reason


def test_another_model_has_a_cache_of_its_own_and_the_first_one_is_found_again() -> None:
    log = Log()
    log.send(*SYSTEM, unit(0))
    away = log.send(*SYSTEM, unit(0), unit(1), model="p/other")
    back = log.send(*SYSTEM, unit(0), unit(1), unit(3))
    assert (away.reused, away.broke, away.after) == (0, "model", "r1")
    assert (back.reused, back.broke, back.after) == (2100, "", "r2")
    assert [r.included for r in receipts(log.entries)] == log.wholes


def test_blocks_that_kept_their_size_but_not_their_text_are_not_counted_as_reused() -> None:
    rule = Included(id="rule:AGENTS.md", tier=0, tokens=50)
    log = Log()
    log.send(*SYSTEM, rule, unit(0), rules="f1")
    changed = log.send(*SYSTEM, rule, unit(0), rules="f2")
    assert (changed.reused, changed.broke) == (2000, "rules")
    other = log.send(*SYSTEM, rule, unit(0), rules="f2", stable="9.9")
    assert (other.reused, other.broke) == (0, "system")


def test_work_beside_the_turn_has_its_own_line_and_its_input_is_never_reused() -> None:
    prompt = Included(id="system", tier=0, tokens=80)
    text, another = (Included(id="input", tier=1, tokens=40) for _ in range(2))
    log = Log()
    log.send(*SYSTEM, unit(0))
    label = log.send(prompt, text, purpose="label", model="p/fast", scope="auxiliary", stable="3.3")
    other = log.send(prompt, another, purpose="label", model="p/fast", scope="auxiliary", stable="3.3")
    main = log.send(*SYSTEM, unit(0), unit(1))
    assert [(r.reused, r.broke) for r in (label, other, main)] == [(0, "aux"), (80, "aux"), (2100, "")]
    assert main.after == "r1"
    assert [r.included for r in receipts(log.entries)] == log.wholes


def test_what_a_fold_left_out_stays_told_for_its_epoch() -> None:
    gone = Omitted(id="u1..u6", reason="folded", tokens=900)
    rule, other = (Omitted(id=f"rule:{name}", reason="budget", tokens=5) for name in ("a", "b"))
    log = Log()
    log.send(*SYSTEM, omitted=(rule,))
    log.fold()
    log.send(*SYSTEM, omitted=(rule, gone), fold="high")
    log.send(*SYSTEM, unit(7), omitted=(other,))
    log.send(unit(0), purpose="label", scope="auxiliary")
    log.fold()
    log.send(*SYSTEM)
    told = [r.omitted for r in receipts(log.entries)]
    assert told == [(rule,), (rule, gone), (other, gone), (), ()]


def test_a_receipt_knows_how_its_request_ended() -> None:
    log = Log("s_1")
    log.send(*SYSTEM, answer=False)
    log.add(RequestFailed(request="r1", fault="overloaded", detail="busy", status=529, retry_in=1.5))
    log.send(*SYSTEM, attempt=2, usage=Usage(input=2100, cached=2000, output=7))
    log.send(*SYSTEM, unit(0), answer=False)
    failed, answered, open_ = receipts(log.entries)
    assert (failed.fault, failed.status, failed.retry_in, failed.usage) == ("overloaded", 529, 1.5, None)
    assert (answered.usage, answered.cost, answered.seconds) == (Usage(input=2100, cached=2000, output=7), 0.01, 2.0)
    assert (open_.usage, open_.fault, open_.finish) == (None, "", "")
    assert [(r.session, r.number, r.seq) for r in (failed, open_)] == [("s_1", 1, 2), ("s_1", 3, 6)]


def test_logs_from_before_receipts_are_read() -> None:
    old = decode_event(b'{"type":"request_sent","request":"r9","purpose":"main","model":"p/m","estimate":5000}')
    log = Log()
    log.add(old)
    receipt = receipts(log.entries)[0]
    assert (receipt.estimate, receipt.detailed, receipt.share, receipt.included) == (5000, False, None, ())


def test_a_part_of_a_log_is_read_without_the_request_it_goes_on_from() -> None:
    log = Log()
    log.send(*SYSTEM, unit(0))
    log.send(*SYSTEM, unit(0), unit(1))
    assert [i.id for i in receipts(log.entries[3:])[0].included] == ["u1"]


def test_the_hashes_of_the_stable_part_tell_prompt_and_tools_apart() -> None:
    tool = ToolSpec(name="x", description="d", parameters={"type": "object"})
    other = ToolSpec(name="x", description="e", parameters={"type": "object"})
    one, two, three = stable_hash("a", [tool]), stable_hash("b", [tool]), stable_hash("a", [other])
    assert one.split(".")[1] == two.split(".")[1]
    assert one.split(".")[0] == three.split(".")[0]
    assert len({one, two, three}) == 3


blocks = st.lists(
    st.builds(unit, st.integers(0, 6), tokens=st.sampled_from([3, 5]), level=st.sampled_from(["full", "masked"])),
    max_size=6,
)
tails = st.sampled_from([[], [TAIL]])


@given(st.lists(st.tuples(blocks, tails, st.booleans(), st.sampled_from(["p/m", "p/n"])), min_size=1, max_size=8))
def test_whatever_is_sent_is_read_back_as_it_was(requests: list) -> None:
    log = Log()
    for held, tail, fold, model in requests:
        if fold:
            log.fold()
        log.send(*held, *tail, model=model)
    stored = [e.event for e in log.entries]
    assert [decode_event(encode_event(e)) for e in stored] == stored
    assert [r.included for r in receipts(log.entries)] == log.wholes
    again = Lineage()
    for event in stored:
        if isinstance(event, RequestSent):
            again.apply(event)
    described = [lineage.describe(model="p/m", included=log.wholes[-1], epoch=9) for lineage in (again, log.lineage)]
    assert described[0] == described[1]


@given(blocks, blocks)
def test_the_shared_part_is_a_prefix_of_both(previous: list, now: list) -> None:
    shared = shared_tokens(previous, now)
    assert shared <= min(sum(i.tokens for i in previous), sum(i.tokens for i in now))
    after, added = continued("r", previous, now)
    assert (after == "r") == (bool(previous) and now[: len(previous)] == previous)
    assert list(added) == (now[len(previous) :] if after else now)
    assert shared_tokens(previous, [*previous, *now]) == sum(i.tokens for i in previous)
