"""Sub-agents on the command line: a group each while they work, one line with figures at their end."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from gongfu.core import events as ev
from gongfu.core.specs import Usage
from gongfu.surfaces.cli.answers import named
from gongfu.surfaces.cli.render.history import History
from gongfu.surfaces.cli.render.lines import Lines
from gongfu.surfaces.cli.render.plain import Plain
from gongfu.surfaces.cli.render.terminal import Terminal
from gongfu.surfaces.cli.speech import Speech
from gongfu.surfaces.cli.style import Style

from .events import answer, entry, finished, started

LINES = Lines(style=Style(color=False), speech=Speech())


def begun(agent: str = "agent-1", call: str = "c1", *, background: bool = False, task: str = "look\nwell") -> ev.Entry:
    return entry(ev.AgentStarted(agent=agent, session=f"s_{agent}", call=call, task=task, background=background))


def inner(event: ev.AnyEvent, agent: str = "agent-1") -> ev.Entry:
    return entry(ev.AgentEvent(agent=agent, session=f"s_{agent}", event=msgspec.to_builtins(event)))


def ended(agent: str = "agent-1", call: str = "c1", **more: Any) -> ev.Entry:
    fields = {
        "status": "done",
        "calls": 2,
        "requests": 3,
        "seconds": 4.2,
        "usage": Usage(input=8000, output=120),
    } | more
    return entry(ev.AgentFinished(agent=agent, session=f"s_{agent}", call=call, **fields))


def shown(**more: Any) -> dict[str, Any]:
    return {"kind": "agent", "agent": "agent-1", "calls": 2, "requests": 3, "tokens": 8120, **more}


def test_each_running_sub_agent_shows_what_it_does_now() -> None:
    it = Terminal(LINES)
    for number in (1, 2):
        it.feed(entry(started("task", f"look {number}", f"c{number}")), 80)
        it.feed(begun(f"agent-{number}", f"c{number}"), 80)
    assert it.living(1002.0, 80)[1] == "  │ agent-1 · waiting for the model"
    it.feed(inner(started("read_file", "src/文件.py")), 80)
    it.feed(inner(started("shell", "pytest -q")), 80)
    it.feed(inner(started("list_files", "docs"), "agent-2.1"), 80)
    lines = it.living(1003.0, 80)
    assert lines[0].endswith("task  look 1  3.0s")
    assert lines[1] == "  │ agent-1 · 2 calls so far · shell  pytest -q"
    assert lines[2].endswith("task  look 2  3.0s")
    assert lines[3] == "  │ agent-2 · 0 calls so far · agent-2.1: list_files  docs"
    assert it.feed(ended(), 80) == ""
    line = it.feed(entry(finished(name="task", call="c1", display=shown())), 80)
    assert line.strip() == "● task  look 1  → agent-1: 2 calls, 3 requests, 8.1k tokens  0.8s"
    assert len(it.living(1004.0, 80)) == 2


def test_why_a_sub_agent_stopped_is_said() -> None:
    it = Terminal(LINES)
    it.feed(entry(started("task", "look", "c1")), 200)
    it.feed(begun(), 200)
    display = shown(reason="engine.limit_steps", values={"steps": 7})
    line = it.feed(entry(finished(name="task", call="c1", status="failed", display=display)), 200)
    assert line.startswith("✗ task  look  → failed: agent-1: 2 calls, 3 requests, 8.1k tokens: Stopped at the limit")


def test_agents_in_the_background_have_lines_of_their_own() -> None:
    it, plain = Terminal(LINES), Plain(LINES)
    assert (it.feed(begun(background=True), 80), plain.feed(begun(background=True)).err) == ("", "")
    it.feed(inner(started("shell", "sleep 9")), 80)
    it.feed(entry(ev.RequestSent(request="r", purpose="main", model="x/y"), time=1001.0), 80)
    lines = it.living(1002.0, 80)
    assert "y …" in lines[0]
    assert lines[1].endswith("agent-1  look …  2.0s")
    assert lines[2] == "  │ agent-1 · 1 call so far · shell  sleep 9"
    last = it.feed(ended(status="cancelled", reason="engine.cancelled"), 80)
    assert last.startswith("✗ agent-1 was cancelled: ")
    assert "→ 2 calls, 3 requests, 8.1k tokens  4.2s" in last
    assert it.living(1003.0, 80) == lines[:1] or len(it.living(1003.0, 80)) == 1


def test_without_a_terminal_the_call_alone_is_shown_and_with_verbose_each_step() -> None:
    quiet, loud = Plain(LINES), Plain(Lines(style=Style(color=False), speech=Speech(), verbose=True))
    for it in (quiet, loud):
        it.feed(entry(started("task", "look", "c1")))
        assert it.feed(begun()).err == ""
    assert quiet.feed(inner(started("read_file", "a.txt"))).err == ""
    assert loud.feed(inner(started("read_file", "a.txt"))).err == "  agent-1 · read_file  a.txt\n"
    warned = quiet.feed(inner(ev.WarningRaised(key="engine.tool_bug", values={"tool": "shell"}))).err
    assert warned.startswith("agent-1: ")
    failed = ev.RequestFailed(request="r", fault="throttled", status=429, retry_in=2.0)
    assert "(HTTP 429)" in quiet.feed(inner(failed)).err
    assert quiet.feed(inner(ev.RequestFailed(request="r", fault="throttled", purpose="summary"))).err == ""
    assert quiet.feed(ended()).err == ""
    assert "agent-1: 2 calls" in quiet.feed(entry(finished(name="task", call="c1", display=shown()))).err


def test_a_stored_session_lists_its_agents_with_their_sessions() -> None:
    beside = finished(name="task", call="c2", display={"kind": "text", "text": "s_agent-2", "summary": "agent-2"})
    beside = msgspec.structs.replace(beside, result=msgspec.structs.replace(beside.result, agent="agent-2"))
    entries = [
        entry(answer("", "task", "other", "task")),
        entry(started("task", "look", "c0")),
        begun(call="c0"),
        ended(call="c0"),
        entry(finished(name="task", call="c0", display=shown())),
        entry(started("task", "watch", "c2")),
        begun("agent-2", "c2", background=True),
        entry(beside),
        ended("agent-2", "c2"),
    ]
    lines = "".join(History(LINES, lambda text: text).blocks(entries)).splitlines()
    assert lines == [
        "● task  look  → agent-1: 2 calls, 3 requests, 8.1k tokens  0.8s  s_agent-1",
        "● task  watch  → agent-2 works in the background  0.8s  s_agent-2",
        "● agent-2 has reported  → 2 calls, 3 requests, 8.1k tokens  4.2s",
    ]


@pytest.mark.parametrize("language", ["en", "zh"])
def test_every_way_to_end_has_its_words(language: Any) -> None:
    lines = Lines(style=Style(color=False), speech=Speech(language=language))
    for status in ("done", "failed", "refused", "budget", "cancelled", "interrupted"):
        event = ended(status=status).event
        (line,) = Plain(lines).feed(entry(event)).err.splitlines()
        assert "agent-1" in line
        assert status not in line or language == "en"


def test_a_question_names_who_asks() -> None:
    question = ev.QuestionAsked(question="q", about="question", text="Which?", agent="agent-1.2")
    assert named(question, "Which?") == "agent-1.2: Which?"
