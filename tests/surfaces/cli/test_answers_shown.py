"""Answers to questions: in the person's words, and never beside a line that says the same."""

from __future__ import annotations

from typing import Any

import pytest

from gongfu.core import events as ev
from gongfu.surfaces.cli.render.history import History
from gongfu.surfaces.cli.render.lines import Lines
from gongfu.surfaces.cli.render.plain import Plain
from gongfu.surfaces.cli.render.terminal import Terminal
from gongfu.surfaces.cli.speech import Speech
from gongfu.surfaces.cli.style import Style

from .events import entry


def lines(language: Any = "en") -> Lines:
    return Lines(style=Style(color=False), speech=Speech(language=language))


def talk(answer: str, by: Any, *, about: Any = "permission", agent: str = "") -> list[ev.Entry]:
    text, tool = ("touch z\nrm y", "shell") if about == "permission" else ("Which colour?", "ask_user")
    asked = ev.QuestionAsked(question="q", about=about, text=text, tool=tool, call="c0", agent=agent)
    return [entry(asked), entry(ev.QuestionAnswered(question="q", answer=answer, by=by))]


def again(entries: list[ev.Entry], language: str = "en") -> str:
    return "".join(History(lines(language), str).blocks(entries))


def live(entries: list[ev.Entry], language: str = "en") -> str:
    """What both live forms show; they must agree."""
    plain, terminal = Plain(lines(language)), Terminal(lines(language))
    shown = "".join(plain.feed(e).err for e in entries)
    assert "".join(terminal.feed(e, 80) for e in entries) == shown
    return shown


@pytest.mark.parametrize(
    ("answer", "by", "said"),
    [
        ("allow", "person", "? shell  touch z → allowed (you)\n"),
        ("session", "person", "? shell  touch z → allowed for this session (you)\n"),
        ("deny", "person", ""),  # the line of the call says that it was refused, and why
        ("deny: 请不要", "person", ""),
        ("deny", "policy", ""),
        ("deny", "timeout", "? shell  touch z → refused (no answer in time)\n"),
    ],
)
def test_a_consent_is_told_when_a_session_is_read_again(answer: str, by: str, said: str) -> None:
    assert again(talk(answer, by)) == said
    assert live(talk(answer, by)) == ("" if by == "person" else said)


def test_the_answer_to_a_question_stands_in_the_line_of_its_call() -> None:
    for by in ("person", "policy", "cancel"):
        assert again(talk("blue", by, about="question")) == ""
        assert live(talk("blue", by, about="question")) == ""
    assert live(talk("blue", "timeout", about="question")) == "? Which colour? → blue (no answer in time)\n"


def test_what_a_sub_agent_asks_has_no_line_of_a_call_here() -> None:
    assert again(talk("deny: 请不要", "person", agent="agent-1")) == (
        "? agent-1: shell  touch z → refused: 请不要 (you)\n"
    )
    assert live(talk("deny", "policy", agent="agent-1")) == "? agent-1: shell  touch z → refused (nobody to ask)\n"
    unanswered = talk("", "policy", about="question", agent="agent-1")
    assert live(unanswered) == "? agent-1: Which colour? → no answer (nobody to ask)\n"
    assert live(talk("deny", "person", agent="agent-1")) == ""


def test_no_word_of_the_log_is_left_in_chinese() -> None:
    assert again(talk("session", "person"), "zh") == "? shell  touch z → 本次会话都允许（你）\n"
    told = live(talk("deny", "policy", agent="agent-1"), "zh")
    assert told == "? agent-1: shell  touch z → 已拒绝（无人可问）\n"


def test_an_answer_from_a_newer_version_is_shown_as_it_is() -> None:
    assert "→ always (you)" in again(talk("always", "person", agent="agent-1"))


@pytest.mark.parametrize(
    ("answer", "about", "agent", "said"),
    [
        ("allow", "permission", "", ""),
        ("session:1,3", "permission", "", "? shell  touch z → allowed for this session (only parts 1,3) (you)\n"),
        ("project", "permission", "", "? shell  touch z → allowed for this project (you)\n"),
        ("deny: no", "permission", "", ""),
        ("deny: no", "permission", "reviewer", "? reviewer: shell  touch z → refused: no (you)\n"),
        ("blue", "question", "", ""),
        ("session", "question", "", ""),
    ],
)
def test_where_a_dialogue_is_gone_what_lasts_is_told(answer: str, about: str, agent: str, said: str) -> None:
    terminal = Terminal(lines(), talking=True)
    shown = "".join(terminal.feed(one, 80) for one in talk(answer, "person", about=about, agent=agent))
    assert shown.strip() == said.strip()
