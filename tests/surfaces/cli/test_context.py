"""`gongfu context`: what a request carried, drawn for a person and told as data."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from gongfu.config.paths import Places
from gongfu.context.receipt import receipts
from gongfu.context.xray import PARTS, xray
from gongfu.core import events as ev
from gongfu.core.events import decode_event
from gongfu.core.messages import CallPart, Message, user
from gongfu.core.specs import Usage
from gongfu.core.told import (
    AgentFinished,
    AgentStarted,
    Duty,
    FoldReason,
    Included,
    Omitted,
    RuleSection,
    RuleSource,
    RulesPinned,
)
from gongfu.models.scripted.script import Call, Say
from gongfu.models.scripted.server import Server
from gongfu.store.database import Database
from gongfu.store.journal import Journal
from gongfu.store.sessions import Sessions
from gongfu.surfaces.cli import context_view as view_module
from gongfu.surfaces.cli.context_bar import Chart, shares
from gongfu.surfaces.cli.context_page import percent
from gongfu.surfaces.cli.context_view import View
from gongfu.surfaces.cli.speech import Speech
from gongfu.surfaces.cli.style import Style
from gongfu.surfaces.cli.width import width
from tests.context.sent import SYSTEM, Log, unit

from .conftest import Program

PRINT = "ab12cd34ef56" + "0" * 52


def rule(path: str, duty: Duty, *, nested: bool = False) -> RuleSource:
    section = RuleSection(heading="", text="Do it.", sha256="0" * 64, duty=duty, said=True)
    return RuleSource(
        path=path, kind="agents", depth=0, scope=".", sha256="3f2a9b8c7d6e" + "1" * 52, sections=(section,),
        nested=nested,
    )  # fmt: skip


def story(session: str = "s_story") -> Log:
    """A session of six requests: two of the turn, one beside it, one that failed, two after a fold."""
    log = Log(session)
    sources = (rule("AGENTS.md", "mandatory"), rule("CLAUDE.md", "optional"), rule("old.md", "excluded"))
    log.add(RulesPinned(fingerprint=PRINT, revision=1, nonce="n", sources=sources))
    head = (*SYSTEM, Included(id="rule:AGENTS.md", tier=0, tokens=2100))
    left = (
        Omitted(id="rule:CLAUDE.md", reason="budget", tokens=9000),
        Omitted(id="rule:old.md", reason="excluded", tokens=300),
    )
    live = (unit(0, 120, 1), unit(1, 20_000), unit(3, 300, 2), unit(5, 90, 3))
    log.send(*head, live[0], rules=PRINT, omitted=left)
    log.send(*head, *live, rules=PRINT, omitted=left)
    log.send(
        Included(id="system", tier=0, tokens=80), Included(id="input", tier=1, tokens=40), model="p/fast",
        purpose="tool_use_summary_generation", scope="auxiliary", stable="3.3",
    )  # fmt: skip
    log.send(*head, *live, unit(7, 60_000), rules=PRINT, omitted=left, answer=False)
    log.add(ev.RequestFailed(request="r4", fault="overloaded", status=529, retry_in=1.5))
    log.fold(masked=("c1", "c2"), dropped=((3, 5),), moved=(0,), focus="the parser")
    kept = (Included(id="summary", tier=0, tokens=900), live[0], unit(1, 60, level="masked"), live[2])
    gone = (*left, Omitted(id="u5", reason="moved", tokens=90), Omitted(id="u7", reason="folded", tokens=60_000))
    log.send(*head, *kept, rules=PRINT, omitted=gone, fold="high")
    log.send(*head, *kept, unit(9, 500), Included(id="tail", tier=0, tokens=14), rules=PRINT, omitted=gone)
    log.add(AgentStarted(agent="explorer", session="s_child", call="c9", task="Look around"))
    log.add(
        AgentFinished(
            agent="explorer", session="s_child", call="c9", status="done", usage=Usage(input=30_000, output=800)
        )
    )
    return log


def story_with(*events: ev.AnyEvent) -> Log:
    """The same, with something said."""
    log = story("s_more")
    for event in events:
        log.add(event)
    return log


def store(program: Program, log: Log, id: str = "s_story", *, parent: str = "", at: float = 5000.0) -> None:
    """Put a log where the program finds it."""
    places = Places(home=program.home)
    places.ensure()
    database = Database.open(places.store)
    rows = Sessions(database)
    rows.create(id, directory=str(program.folder), root=str(program.folder), parent=parent, at=at)
    rows.set_title(id, "Fix the parser")
    for entry in log.entries:
        Journal(database).append(id, [entry.event], at=entry.time)
    database.close()


@pytest.fixture
def told(program: Program) -> Program:
    """A program with the story in its store."""
    store(program, story())
    return program


def view(columns: int = 80, **given: Any) -> View:
    options = {"style": Style(color=given.pop("color", False)), "speech": Speech(language=given.pop("language", "en"))}
    return View(columns=columns, **options, **given)


def test_the_last_main_request_is_shown_with_its_parts(told: Program) -> None:
    ended = told.call("context")
    assert (ended.code, ended.err) == (0, "")
    for line in (
        "request 6 of 6 · main · p/m",
        "6.6k of 98.0k tokens for the prompt · window 128.0k · 9 messages, 24.0 kB on the wire",
        "The provider counted 6.0k tokens (0.91 × the estimate), 5.5k of them from its cache, and 50 in the answer.",
    ):
        assert line in ended.out.splitlines(), ended.out
    rows = {m[1]: m[2] for m in re.finditer(r"^ \S (\S.*?)  +(\S+) +<?\d+%", ended.out, re.MULTILINE)}
    assert rows == {
        "system prompt": "770", "tool schemas": "1.4k", "project rules": "2.3k", "summary": "990", "your words": "132",
        "key tools, sub-agents": "330", "other tools": "616", "tail": "15", "free": "91.4k",
        "kept for the answer": "27.4k",
        "margin for errors": "2.6k",
    }  # fmt: skip


def test_what_was_left_out_is_told_with_why_and_how_it_comes_back(told: Program) -> None:
    shown = told.call("context").out
    assert re.search(r"folded away +1 +60\.0k  u7\n", shown)
    assert re.search(r"no room +1 +9\.0k  rule:CLAUDE.md\n", shown)
    assert re.search(r"became past exchanges +1 +90  u5\n", shown)
    assert re.search(r"excluded by your word +1 +300  rule:old.md\n", shown)
    assert "the model can bring it back with `recall`" in shown


def test_rules_say_configured_and_delivered_and_never_followed(told: Program) -> None:
    shown = told.call("context").out
    assert "fingerprint ab12cd34ef56\n" in shown
    assert re.search(r"AGENTS.md +mandatory +3f2a9b8c7d6e +2\.1k +delivered\n", shown)
    assert re.search(r"CLAUDE.md +optional +3f2a9b8c7d6e +9\.0k +not delivered: no room\n", shown)
    assert re.search(r"old.md +excluded +3f2a9b8c7d6e +300 +excluded by your word\n", shown)
    assert "follow" not in shown.lower()
    assert "遵守" not in told.call("context", "--lang", "zh").out


def test_a_fold_and_the_cache_are_told(told: Program) -> None:
    shown = told.call("context", "--request", "5").out
    assert "Epoch 1: folded before request 5, because the context was nearly full." in shown
    assert "81.0k → 48.0k tokens, step 2 of 4: ordinary tool calls left out." in shown
    assert "Results masked: 2; stretches left out: 1; turns moved: 1." in shown
    assert "Asked to keep: the parser" in shown
    assert "It does not begin with all of the one before: folded (the context was nearly full)." in shown
    assert re.search(
        r"request 5: folded \(the context was nearly full\); 80\.\dk tokens of the one before not reused", shown
    ), shown
    assert "First epoch: the history is whole" in told.call("context", "--request", "2").out


def test_verbose_lists_every_block_and_what_was_left_out(told: Program) -> None:
    words = ev.MessageAdded(message=user("Look at the parser,\nplease."))
    said = Message(role="assistant", parts=(CallPart(id="c1", name="grep"), CallPart(id="c2", name="grep")))
    store(told, story_with(words, ev.AnswerReceived(request="r0", message=said)), "s_more", at=9000.0)
    shown = told.call("context", "--verbose").out
    held = shown[shown.index("Held, in order") : shown.index("Left out")].splitlines()[1:-1]
    assert [row.split()[0] for row in held] == [
        "tools", "system", "rule:AGENTS.md", "summary", "u0", "u1", "u3", "u9", "tail",
    ]  # fmt: skip
    assert re.search(r"u0 +your words +120 +Look at the parser, please\.$", held[4])
    assert re.search(r"u1 +other tools +60  masked  grep ×2$", held[5])
    assert re.search(r"\n  u7 +folded away +60\.0k\n", shown)
    assert json.loads(told.call("context", "--json").out)["units"]["u1"] == "grep ×2"
    assert "Held, in order" not in told.call("context").out


def test_sub_agents_are_listed_and_their_own_sessions_are_shown_by_id(told: Program) -> None:
    assert re.search(r"explorer  s_child  done  30\.8k  Look around\n", told.call("context").out)
    child = Log("s_child", parent="s_story")
    child.send(*SYSTEM, unit(0, 40, 1))
    store(told, child, "s_child", parent="s_story", at=9000.0)
    shown = told.call("context", "s_child").out
    assert "sub-agent of session s_story" in shown
    assert "request 1 of 1" in shown
    assert told.call("context").out.startswith("s_story")  # the latest of a person's own


def test_every_request_has_a_line(told: Program) -> None:
    lines = told.call("context", "--all").out.splitlines()
    rows = [line for line in lines if re.match(r" *\d+  ", line)]
    assert len(rows) == 6
    assert re.match(r" +1 +4\.6k +4\.2k +0% +stop +main +p/m$", rows[0])
    assert re.match(r" +3 .* tool_use_summary_generation +p/fast$", rows[2])
    assert re.match(r" +4 +\S+ +- +29% +overloaded +main +p/m$", rows[3])
    assert lines[lines.index(rows[4]) - 1] == "── epoch 1: the context was nearly full, 81.0k → 48.0k"


def test_the_data_hold_all_of_it(told: Program) -> None:
    data = json.loads(told.call("context", "--json", "--request", "r5").out)
    assert data["type"] == "context"
    assert (data["session"], data["title"], len(data["requests"])) == ("s_story", "Fix the parser", 6)
    request = data["request"]
    assert (request["number"], request["fold"], request["broke"], request["epoch"]) == (5, "high", "epoch", 1)
    assert [i["id"] for i in request["included"]][-4:] == ["summary", "u0", "u1", "u3"]
    assert request["included"][-2] == {"id": "u1", "tier": 4, "level": "masked", "tokens": 60}
    assert {o["id"]: o["reason"] for o in request["omitted"]}["u7"] == "folded"
    parts = request["parts"]
    filled = sum(s["tokens"] for s in parts["slices"])
    assert filled == request["estimate"]
    assert filled + parts["free"] + parts["reserve"] + parts["margin"] == parts["whole"] == 128_000
    assert [(r["name"], r["state"]) for r in request["rule_lines"]] == [
        ("AGENTS.md", "delivered"), ("CLAUDE.md", "omitted"), ("old.md", "excluded"),
    ]  # fmt: skip
    assert request["epoch_opened"]["before"] == 81_000
    assert (data["epochs"][0]["reason"], data["epochs"][0]["request"]) == ("high", 5)
    assert data["cache"]["breaks"] == [
        {"number": 5, "request": "r5", "reason": "epoch", "fold": "high", "lost": data["cache"]["breaks"][0]["lost"]}
    ]
    assert data["purposes"]["tool_use_summary_generation"]["requests"] == 1
    assert data["agents"][0]["finished"]["usage"]["input"] == 30_000
    assert "included" not in data["requests"][0]
    assert data["requests"][3]["usage"] is None
    whole = json.loads(told.call("context", "--json", "--all").out)
    assert whole["requests"][5]["included"][-1]["id"] == "tail"


@pytest.mark.parametrize(
    ("args", "code", "says"),
    [
        (("nope",), 1, "nope"),
        (("--request", "7"), 1, "Session s_story has no request 7; it has 1 to 6."),
        (("--request", "0"), 1, "no request 0"),
        (("--request", "-1"), 1, "no request -1"),
        (("--request", "99999999999999999999"), 1, "no request 9999"),
        (("--request", ""), 1, "has no request"),
        (("--request", "x"), 1, "no request x"),
        (("--request", "r"), 1, "more than one request of session s_story: r1, r2"),
        (("--request", "2", "--all"), 2, "--request and --all"),
        (("s_story", "more"), 2, "takes no further arguments"),
    ],
)
def test_what_is_asked_wrongly_is_a_sentence(told: Program, args: tuple[str, ...], code: int, says: str) -> None:
    ended = told.call("context", *args)
    assert (ended.code, ended.out) == (code, "")
    assert says in ended.err
    assert "Traceback" not in ended.err


def test_a_session_that_sent_nothing_says_so(program: Program) -> None:
    assert "There is no earlier session in" in program.call("context").err
    store(program, Log("s_empty"), "s_empty")
    ended = program.call("context")
    assert (ended.code, ended.out) == (1, "")
    assert "Session s_empty has sent no request yet" in ended.err
    assert json.loads(program.call("context", "--json").out)["request"] is None


def test_sessions_from_before_receipts_show_what_they_have(program: Program) -> None:
    log = Log("s_old")
    log.add(
        ev.RequestSent(request="r_a", purpose="main", model="p/m", estimate=5000, budget=98_000, messages=3, bytes=9)
    )
    log.add(
        ev.RequestSent(request="r_b", purpose="main", model="p/m", estimate=6000, budget=98_000, messages=5, bytes=9)
    )
    store(program, log, "s_old")
    shown = program.call("context", "--request", "a").out
    assert "recorded before receipts" in shown
    assert re.search(r"not itemised +5\.0k +5%", shown)
    assert re.search(r"free +93\.0k +95%", shown)
    assert "No answer to it is recorded." in shown
    assert "Nothing was left out" not in shown
    assert program.call("context", "--all").code == 0
    assert json.loads(program.call("context", "--json").out)["request"]["share"] is None


@pytest.mark.parametrize("language", ["en", "zh"])
@pytest.mark.parametrize("columns", [24, 32, 40, 60, 80, 132])
@pytest.mark.parametrize("color", [True, False])
@pytest.mark.parametrize("verbose", [True, False])
def test_no_line_is_wider_than_the_terminal(columns: int, language: str, color: bool, verbose: bool) -> None:
    seen = xray(story().entries)
    drawn = view(columns, language=language, color=color, verbose=verbose)
    for lines in (drawn.listing(seen), *(drawn.request(seen, r) for r in seen.receipts)):
        assert ("\x1b[" in "".join(lines)) == color
        plain = [re.sub(r"\x1b\[[\d;]*m", "", line) for line in lines]
        assert [line for line in plain if width(line) > columns] == []
        assert [line for line in plain if re.search(r"\{\w|\bNone\b", line)] == []


def test_names_that_would_steer_the_terminal_do_not() -> None:
    log = Log()
    evil = "a\x1b[31mred\u202e\n.md"
    log.add(RulesPinned(fingerprint="f", revision=1, nonce="n", sources=(rule(evil, "optional"),)))
    omitted = (Omitted(id=f"rule:{evil}", reason="\x1b[2Jodd"),)
    log.send(*SYSTEM, Included(id=f"rule:{evil}", tier=0), rules="f", omitted=omitted, model="p/\x1b]0;x\x07m")
    log.add(AgentStarted(agent="\x1b[1mx", session="s_1", call="c1", task="\x1b[2J"))
    seen = xray(log.entries)
    for columns in (0, 40, 100):
        drawn = view(columns, verbose=True)
        shown = "\n".join([*drawn.request(seen, seen.receipts[0]), *drawn.listing(seen)])
        assert not re.search(r"[\x00-\x09\x0b-\x1f\u202e]", shown)


def test_an_output_that_has_no_symbols_gets_letters(told: Program) -> None:
    ended = told.run("context", PYTHONIOENCODING="ascii")
    assert ended.code == 0
    assert "\\u" not in ended.out
    bar = next(line for line in ended.out.splitlines() if line.startswith(" ") and "...." in line)
    assert re.fullmatch(r" S+T+R+Z+U+K+#+t+\.+=+-+", bar)
    assert len(bar) == 79


@pytest.mark.parametrize("cells", [1, 5, 30, 78])
@pytest.mark.parametrize("amounts", [[], [0, 0], [5], [1, 100_000], [1] * 40, [3, 0, 9, 10_000, 2]])
def test_a_bar_has_all_its_cells_and_shows_the_smallest_part(amounts: list[int], cells: int) -> None:
    given = shares(amounts, cells)
    assert sum(given) == (cells if sum(amounts) else 0)
    if len([a for a in amounts if a]) <= cells:
        assert all(bool(a) == bool(g) for a, g in zip(amounts, given, strict=True))
    assert min(given, default=0) >= 0


def test_a_small_chart_shows_the_worst_of_many() -> None:
    chart = Chart(style=Style())
    assert chart.spark([0.0, 0.5, 1.0, None], 10) == "▁▅█?"
    assert chart.spark([1.0] * 50 + [0.0] + [1.0] * 49, 10) == "█████▁████"
    assert Chart(style=Style(), symbols=False).spark([0.0, 0.55, 1.0], 9) == "059"


@pytest.mark.parametrize(
    ("part", "whole", "shown"),
    [(0, 10, "0%"), (1, 0, "0%"), (1, 1000, "<1%"), (50, 100, "50%"), (999, 1000, "99%"), (10, 10, "100%")],
)
def test_a_share_is_only_whole_when_it_is(part: int, whole: int, shown: str) -> None:
    assert percent(part, whole) == shown


def test_reading_takes_no_lock_and_changes_nothing(told: Program) -> None:
    lock = Places(home=told.home).locks
    before = (told.home / Places(home=told.home).store.name).read_bytes()
    told.call("context")
    assert not list(Path(lock).glob("*")) if lock.exists() else True
    assert (told.home / Places(home=told.home).store.name).read_bytes() == before


def test_every_word_is_in_the_catalogue_and_none_is_there_for_nothing() -> None:
    from gongfu.core.words import rules as rule_words
    from gongfu.core.words import xray as words

    source = "".join(p.read_text("utf-8") for p in Path(view_module.__file__).parent.glob("context*.py"))
    used = set(re.findall(r'(?:tell|_title)\(\s*["\']([a-z_]+)["\']', source))
    used |= set(re.findall(r'"xray\.([a-z_]+)"', source))
    families = {"part", "left", "state", "fold", "rung", "broke", "head"}
    listed = set(words.TEXT) - {name for name in words.TEXT if name.partition("_")[0] in families and "_" in name}
    assert used - set(words.TEXT) == set()
    assert listed - used - {"epoch", "epoch_unsent"} == set()
    for family, names in {"part": PARTS, "fold": FoldReason.__args__}.items():
        assert {f"{family}_{name}" for name in names} <= set(words.TEXT)
    assert {f"duty_{name}" for name in Duty.__args__} <= set(rule_words.TEXT)


def test_a_real_session_tells_its_fold(program: Program, serve: Callable[..., Server]) -> None:
    for n in range(20):
        (program.folder / f"f{n}.txt").write_text(f"mark-{n:03d} " + f"text of file {n}\n" * 150)
    steps = [Call("read_file", {"path": f"f{n}.txt"}) for n in range(20)]
    server = serve(*steps, Say("Done."))
    program.env["GONGFU_CONTEXT_WINDOW"] = "14000"
    assert program.call("run", "--yes", "Read them.").code == 0
    data = json.loads(program.call("context", "--json").out)
    assert len(data["requests"]) == len(server.requests) == 21
    assert [r["bytes"] for r in data["requests"]] == [len(r.raw) for r in server.requests]
    fold = data["epochs"][-1]
    assert (fold["reason"], fold["after"] < fold["before"]) == ("high", True)
    first = data["requests"][data["epochs"][0]["request"] - 1]
    assert (first["fold"], first["broke"], first["epoch"]) == ("high", "epoch", 1)
    assert data["request"]["epoch_opened"]["epoch"] == data["request"]["epoch"] == fold["epoch"]
    assert data["cache"]["breaks"][0]["number"] == first["number"]
    shown = program.call("context").out
    assert f"Epoch {fold['epoch']}: folded before request {fold['request']}" in shown
    assert "not itemised" not in shown
    assert "No project rules were configured." in shown
    listed = program.call("context", "--all").out
    assert listed.count("── epoch ") == len(data["epochs"])


def test_a_fold_is_one_quiet_line_as_it_happens_and_in_what_is_shown_again(
    program: Program, serve: Callable[..., Server]
) -> None:
    for n in range(20):
        (program.folder / f"f{n}.txt").write_text(f"mark-{n:03d} " + f"text of file {n}\n" * 150)
    steps = [Call("read_file", {"path": f"f{n}.txt"}) for n in range(9)]
    serve(*steps, Say("Half."), *steps[:1], Say("Done."))
    program.env["GONGFU_CONTEXT_WINDOW"] = "14000"
    live = program.call("run", "--yes", "Read them.")
    line = re.search(
        r"^· context folded: (\S+) → (\S+) tokens \(the context was nearly full\)$", live.err, re.MULTILINE
    )
    assert line, live
    assert line[0] in program.call("show").out.splitlines()
    assert f"· 已折叠上下文：{line[1]} → {line[2]} token（上下文将满）" in program.call("show", "--lang", "zh").out
    streamed = program.call("run", "--continue", "--yes", "--stream-json", "--quiet", "More.").out
    kinds = [json.loads(row)["type"] for row in streamed.splitlines()]
    assert kinds.count("request_sent") == 2
    whole = json.loads(program.call("show", "--json").out)
    texts = [p["text"] for m in whole["messages"] if m["role"] == "tool" for p in m["parts"]]
    assert [f"mark-{n:03d}" in text for n, text in enumerate(texts[:9])] == [True] * 9  # folded, and not lost
    assert "context folded" not in program.call("run", "--yes", "--quiet", "x", GONGFU_MODEL="none/none").err


def test_the_stream_of_events_tells_the_same(program: Program, serve: Callable[..., Server]) -> None:
    for n in range(20):
        (program.folder / f"f{n}.txt").write_text(f"mark-{n:03d} " + f"text of file {n}\n" * 150)
    serve(*[Call("read_file", {"path": f"f{n}.txt"}) for n in range(12)], Say("Done."))
    program.env["GONGFU_CONTEXT_WINDOW"] = "14000"
    rows = [json.loads(r) for r in program.call("run", "--yes", "--stream-json", "Read them.").out.splitlines()]
    opened = [row for row in rows if row["type"] == "epoch_opened"]
    assert opened
    assert opened[0]["after"] < opened[0]["before"]
    events = [decode_event(json.dumps(row)) for row in rows if row["type"] != "result"]
    live = receipts(ev.Entry(seq=n, time=0.0, event=event) for n, event in enumerate(events))
    data = json.loads(program.call("context", "--json", "--all").out)
    told = [[item["id"] for item in request["included"]] for request in data["requests"]]
    assert [[item.id for item in receipt.included] for receipt in live] == told
    assert [r["request"] for r in data["requests"]] == [r.request for r in live]
