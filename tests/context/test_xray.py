"""Where the tokens of a request go, how the rules stand to it, and the cache over a session."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gongfu.context.receipt import Receipt
from gongfu.context.rules.envelope import envelopes
from gongfu.context.xray import PARTS, left_out, note_units, part_of, picture, totals, xray
from gongfu.core import events as ev
from gongfu.core.messages import Message, TextPart
from gongfu.core.specs import Usage
from gongfu.core.told import (
    AgentFinished,
    AgentStarted,
    Duty,
    Included,
    Omitted,
    RuleSection,
    RulesJoined,
    RuleSource,
    RulesPinned,
)
from tests.context.sent import SYSTEM, Log, unit


def receipt(*included: Included, **fields: object) -> Receipt:
    raw = sum(item.tokens for item in included)
    given = {"raw": raw, "estimate": raw, "budget": 1000, "window": 1500, "reserve": 400} | fields
    return Receipt(
        session="s", number=1, seq=1, time=0, request="r", purpose="main", model="p/m", included=included, **given
    )  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("id", "tier", "part"),
    [
        ("system", 0, "system"), ("tools", 0, "tools"), ("rule:a/AGENTS.md", 0, "rules"), ("memory:m1", 0, "memory"),
        ("summary", 0, "summary"), ("chain", 0, "summary"), ("pair:3", 0, "pairs"), ("note", 0, "notes"),
        ("u0", 1, "user"), ("u1", 2, "key"), ("u2", 3, "assistant"), ("u3", 4, "regular"), ("u4", 77, "regular"),
        ("tail", 0, "tail"), ("input", 1, "input"),
    ],
)  # fmt: skip
def test_every_block_has_its_part(id: str, tier: int, part: str) -> None:
    assert part_of(Included(id=id, tier=tier)) == part
    assert part in PARTS


def test_notes_of_gongfu_are_no_answers_of_the_model() -> None:
    messages = [
        Message(role="user", parts=(TextPart(text="<environment>"),), kind="note"),
        Message(role="user", parts=(TextPart(text="Fix it."),)),
        Message(role="user", parts=(TextPart(text="[agent-1 reports]"),), kind="note", agent="agent-1"),
    ]
    notes = note_units(messages)
    held = [Included(id=f"u{at}", tier=tier, tokens=1) for at, tier in enumerate((3, 1, 2))]
    assert [part_of(item, notes) for item in held] == ["notes", "user", "key"]
    assert [s.part for s in picture(receipt(*held), notes).slices] == ["notes", "user", "key"]


def test_the_parts_of_a_request_add_up_to_its_window() -> None:
    shown = picture(
        receipt(*SYSTEM[:1], unit(1, 10), unit(3, 21, level="masked"), estimate=1464, raw=1331, budget=2000)
    )
    assert [(s.part, s.tokens, s.items, s.masked) for s in shown.slices] == [
        ("tools", 1430, 1, 0),
        ("regular", 34, 2, 1),
    ]
    shown = picture(receipt(unit(1, 600)))
    assert (shown.free, shown.reserve, shown.margin, shown.whole) == (400, 400, 100, 1500)


items = st.lists(st.builds(Included, id=st.sampled_from(["system", "u1", "tail"]), tier=st.integers(0, 4),
                           tokens=st.integers(0, 5000)), max_size=8)  # fmt: skip


@given(items, st.integers(0, 20_000), st.integers(0, 20_000), st.integers(0, 20_000), st.integers(0, 9000))
def test_the_slices_are_the_estimate_whatever_the_figures(
    included: list, estimate: int, budget: int, window: int, reserve: int
) -> None:
    shown = picture(receipt(*included, estimate=estimate, budget=budget, window=window, reserve=reserve))
    listed = sum(i.tokens for i in included)
    assert sum(s.tokens for s in shown.slices) == estimate
    assert min((s.tokens for s in shown.slices), default=0) >= 0
    assert min(shown.free, shown.reserve, shown.margin) >= 0
    if estimate <= budget <= window and listed:
        assert estimate + shown.free + shown.reserve + shown.margin == window


def test_what_a_receipt_does_not_account_for_is_shown_as_such() -> None:
    old = picture(receipt(raw=0, estimate=500, window=0, reserve=0))
    assert [(s.part, s.tokens) for s in old.slices] == [("unlisted", 500)]
    assert (old.free, old.whole) == (500, 1000)
    short = picture(receipt(unit(1, 100), raw=150, estimate=150))
    assert [(s.part, s.tokens) for s in short.slices] == [("regular", 100), ("unlisted", 50)]


def test_what_was_left_out_is_grouped_by_reason() -> None:
    omitted = (
        Omitted(id="u1", reason="folded", tokens=10),
        Omitted(id="rule:a", reason="budget", tokens=50),
        Omitted(id="u3", reason="folded", tokens=20),
    )
    groups = left_out(receipt(omitted=omitted))
    assert [(g.reason, g.count, g.tokens, g.ids) for g in groups] == [
        ("budget", 1, 50, ("rule:a",)),
        ("folded", 2, 30, ("u1", "u3")),
    ]


def source(path: str, *duties: Duty, said: bool = True, nested: bool = False) -> RuleSource:
    sections = tuple(
        RuleSection(heading=f"H{n}", text=f"# H{n}\nDo {path} {n}.\n", sha256="0" * 64, duty=duty, said=said)
        for n, duty in enumerate(duties)
    )
    return RuleSource(
        path=path, kind="agents", depth=0, scope=".", sha256=path[0] * 64, sections=sections, nested=nested
    )


def test_rules_are_delivered_only_when_the_request_carried_them() -> None:
    sources = (
        source("AGENTS.md", "mandatory", "mandatory", "optional"),
        source("big.md", "optional", said=False),
        source("no.md", "excluded"),
        source("dir/AGENTS.md", "mandatory", nested=True),
        source("cut.md", "mandatory"),
    )
    log = Log()
    log.add(RulesPinned(fingerprint="f1", revision=1, nonce="abcd", sources=sources))
    held = (Included(id="rule:AGENTS.md#H0", tier=0, tokens=30), Included(id="rule:cut.mdx", tier=0, tokens=12))
    omitted = (
        Omitted(id="rule:big.md", reason="budget", tokens=900),
        Omitted(id="rule:no.md", reason="excluded"),
        Omitted(id="rule:dir/AGENTS.md", reason="scope"),
    )
    log.send(*SYSTEM, *held, rules="f1", omitted=omitted)
    log.add(RulesPinned(fingerprint="f2", revision=2, nonce="abcd", sources=sources[:1], by="refresh"))
    seen = xray(log.entries)
    lines = seen.rules_of(seen.receipts[0])
    assert [(line.name, line.duty, line.state, line.reason) for line in lines] == [
        ("AGENTS.md#H0", "mandatory", "delivered", ""),
        ("AGENTS.md#H2", "optional", "absent", ""),
        ("big.md", "optional", "omitted", "budget"),
        ("no.md", "excluded", "excluded", ""),
        ("dir/AGENTS.md", "mandatory", "waiting", "scope"),
        ("cut.md", "mandatory", "absent", ""),
    ]
    carried = "".join(e.opening for e in envelopes(log.entries[1].event))  # type: ignore[arg-type]
    assert all(f'sha256="{line.sha256}"' in carried for line in lines)
    assert len({line.sha256 for line in lines[:2]}) == 2
    assert [line.said for line in lines[:3]] == [True, True, False]


def test_requests_without_rules_and_beside_the_turn_tell_of_none() -> None:
    log = Log()
    log.add(RulesPinned(fingerprint="f", revision=1, nonce="n", sources=(source("a.md", "mandatory"),)))
    log.send(*SYSTEM)
    log.send(unit(0), purpose="label", scope="auxiliary")
    seen = xray(log.entries)
    assert [seen.rules_of(r) for r in seen.receipts] == [[], []]


def test_a_request_knows_the_fold_of_its_epoch() -> None:
    log = Log()
    log.send(*SYSTEM, unit(0))
    log.fold(reason="cold")
    log.send(*SYSTEM, fold="cold")
    log.send(unit(0), purpose="label", scope="auxiliary")
    log.fold(reason="manual", focus="the parser")
    seen = xray(log.entries)
    assert [(f.event.reason, f.request) for f in seen.folds] == [("cold", 2), ("manual", 0)]
    found = [seen.fold_of(r) for r in seen.receipts]
    assert [f and f.event.reason for f in found] == [None, "cold", None]


def test_the_session_and_its_sub_agents_are_named() -> None:
    log = Log("s_me", parent="s_boss")
    log.add(ev.SessionTitled(title="T"))
    log.add(AgentStarted(agent="a", session="s_1", call="c1", task="look"))
    log.add(AgentStarted(agent="b", session="s_2", call="c2", task="run"))
    log.add(AgentFinished(agent="a", session="s_1", call="c1", status="done", requests=3))
    log.add(AgentFinished(agent="z", session="s_9", call="c9", status="done"))
    log.add(RulesJoined(paths=("sub/AGENTS.md",)))
    seen = xray(log.entries)
    assert (seen.session, seen.parent, seen.title, seen.joined) == ("s_me", "s_boss", "T", ("sub/AGENTS.md",))
    assert [(c.started.agent, c.finished and c.finished.requests) for c in seen.children] == [("a", 3), ("b", None)]


def test_totals_say_what_was_reused_and_where_the_cache_broke() -> None:
    log = Log()
    log.send(*SYSTEM, unit(0))  # 2100
    log.send(*SYSTEM, unit(0), unit(1))  # 2200, 2100 of it again
    log.send(unit(0, 40), purpose="label", scope="auxiliary", usage=Usage(input=50, cached=10))
    log.fold()
    log.send(*SYSTEM, unit(1), fold="high", answer=False)  # 2100, 2000 of it again
    log.add(ev.RequestFailed(request="r4", fault="overloaded"))
    summed = totals(xray(log.entries).receipts)
    assert (summed.main.requests, summed.main.sent, summed.main.reused) == (3, 6400, 4100)
    assert summed.main.share == pytest.approx(4100 / 6400)
    assert (summed.all.requests, summed.all.failed, summed.all.usage.input) == (4, 1, 2100 + 2200 + 50)
    assert summed.by_purpose["label"].cached == pytest.approx(0.2)
    assert [(b.number, b.reason, b.fold, b.lost) for b in summed.breaks] == [(4, "epoch", "high", 200)]


def test_an_unknown_price_makes_the_sum_unknown() -> None:
    log = Log()
    log.send(*SYSTEM)
    log.send(*SYSTEM, answer=False)
    answer = ev.AnswerReceived(
        request="r2", message=ev.Message(role="assistant"), usage=Usage(input=1, output=1), model="p/m"
    )
    log.add(answer)
    assert totals(xray(log.entries).receipts[:1]).all.cost == pytest.approx(0.01)
    assert totals(xray(log.entries).receipts).all.cost is None


def test_nothing_sent_gives_nothing() -> None:
    summed = totals([])
    assert (summed.all.requests, summed.main.share, summed.all.cached, summed.breaks) == (0, None, None, ())
    assert xray([]).receipts == ()
