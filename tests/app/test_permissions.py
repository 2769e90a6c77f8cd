"""Permissions through the whole of an app: what is asked, what a grant covers, what rules decide."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import gongfu
from gongfu.core.errors import ConfigError, UsageError
from gongfu.core.events import CheckpointTaken, PermissionGranted, QuestionAnswered, QuestionAsked
from gongfu.models.scripted.script import Call, Say
from gongfu.store.grants import GrantBook

from .cast import Cast, Run, opened, run, workplace

pytestmark = pytest.mark.anyio
BOTH = "touch one && python3 -c 1"


@pytest.fixture
def work(tmp_path: Path) -> Path:
    return workplace(tmp_path)


def answering(app: gongfu.App, say: Callable[[QuestionAsked], str]) -> Callable[[Any], Any]:
    """Answers every question of the only session that is open."""

    async def answer(event: Any) -> None:
        if isinstance(event, QuestionAsked) and say(event):
            session = next(iter(app._open.values()))
            await session.answer(event.question, say(event))

    return answer


class Asked:
    """What is left of a turn whose app is closed."""

    def __init__(self, ran: Run, grants: list[str]) -> None:
        self._events = [e.event for e in ran.app.journal.read(ran.session.id)]
        self.grants = grants
        self.results = [r for m in ran.session.messages for r in m.results]
        self.messages = str(ran.session.messages)

    def of(self, kind: type[Any]) -> list[Any]:
        return [e for e in self._events if isinstance(e, kind)]

    @property
    def questions(self) -> list[list[str]]:
        """What consent was asked for, question by question."""
        return [[need["text"] for need in q.preview["needs"]] for q in self.of(QuestionAsked)]


async def asked(work: Path, *commands: str, say: Callable[[QuestionAsked], str], **options: Any) -> Asked:
    """One turn in which the model runs `commands`, one after the other."""
    cast = Cast([*(Call("shell", {"command": c}) for c in commands), Say("done")])
    async with opened(work, cast, **options) as app:
        ran = await run(app, during=answering(app, say))
        return Asked(ran, [row.text for row in GrantBook(app.database).rows(str(work))])


def settings(work: Path, text: str) -> None:
    (work.parent / "home").mkdir(exist_ok=True)
    (work.parent / "home" / "config.yaml").write_text(text)


async def test_always_on_a_compound_command_allows_its_parts_and_nothing_else(work: Path) -> None:
    ran = await asked(
        work, BOTH, "touch one", "python3 -c 1", BOTH, "touch one && python3 -c 2", "touch one; touch two",
        say=lambda q: "session",
    )  # fmt: skip
    assert ran.questions == [["touch one", "python3 -c 1"], ["python3 -c 2"], ["touch two"]]
    granted = [g.parts for g in ran.of(PermissionGranted)]
    assert granted == [("touch one", "python3 -c 1"), ("python3 -c 2",), ("touch two",)]


async def test_single_parts_are_taken_by_their_numbers(work: Path) -> None:
    ran = await asked(work, BOTH, BOTH, "touch one", say=lambda q: "session:2")
    assert ran.questions[:2] == [["touch one", "python3 -c 1"], ["touch one"]]
    assert ran.of(PermissionGranted)[0].parts == ("python3 -c 1",)


async def test_once_is_once(work: Path) -> None:
    ran = await asked(work, "touch one", "touch one", say=lambda q: "allow")
    assert ran.questions == [["touch one"], ["touch one"]]
    assert not ran.of(PermissionGranted)


async def test_the_project_remembers_over_sessions_and_can_be_made_to_forget(work: Path) -> None:
    first = await asked(work, "touch one; rm -rf .", say=lambda q: "project")
    assert first.grants == ["touch one"]
    assert first.questions == [["touch one", "rm -rf ."]]
    later = await asked(work, "touch one", "touch two", say=lambda q: "deny")
    assert later.questions == [["touch two"]]
    async with opened(work, Cast([Say("x")])) as app:
        assert GrantBook(app.database).forget(str(work)) == 1
    assert (await asked(work, "touch one", say=lambda q: "deny")).questions == [["touch one"]]


async def test_grave_parts_offer_no_grant_for_the_project(work: Path) -> None:
    ran = await asked(work, "rm -rf .", "touch one", say=lambda q: "deny")
    grave, plain = ran.of(QuestionAsked)
    assert "project" not in grave.options
    assert "project" in plain.options
    assert (work / "a.txt").exists()


async def test_a_line_whose_parts_hang_together_is_never_kept_for_the_project_with_a_grave_part(work: Path) -> None:
    """What such a line grants is the line as a whole, the grave part with it."""
    line = "D=.; touch one; rm -rf $D/*"
    ran = await asked(work, line, say=lambda q: "project")
    assert ran.grants == []
    (question,) = ran.of(QuestionAsked)
    assert "project" not in question.options
    assert question.preview["apart"] is False
    assert (await asked(work, line, say=lambda q: "deny")).questions == ran.questions


async def test_a_grant_elsewhere_is_none_here(work: Path) -> None:
    await asked(work, "touch one", say=lambda q: "project")
    other = work.parent / "other"
    (other / ".git").mkdir(parents=True)
    assert (await asked(other, "touch one", say=lambda q: "deny")).questions == [["touch one"]]


@pytest.mark.parametrize("mode", ["ask", "edits", "auto", "plan"])
async def test_reading_needs_nobody_and_keeps_no_files(work: Path, mode: str) -> None:
    ran = await asked(work, "cat a.txt | wc -l", "ls -la", say=lambda q: "deny", permission=mode)
    assert ran.questions == []
    assert not ran.of(CheckpointTaken)


async def test_rules_decide_in_every_mode(work: Path) -> None:
    settings(
        work,
        "permission:\n  allow: ['shell(python3 *)']\n  ask: ['command(touch two)']\n"
        "  deny: ['write(one)', 'path(b.txt)']\n",
    )
    for mode in ("ask", "full"):
        ran = await asked(
            work, "python3 -c 1", "touch two", "touch one", "cat < b.txt", say=lambda q: "deny", permission=mode
        )
        assert ran.questions == [["touch two"]]
        assert ran.of(QuestionAsked)[0].reason == "permissions.asked_by_rule"
        assert not any((work / name).exists() for name in ("one", "two"))
        assert [r.status for r in ran.results] == ["done", "refused", "refused", "refused"]
        assert "Refused by the policy: the rule write(one) forbids it" in ran.results[2].text
        assert "beta" not in ran.results[3].text


async def test_a_rule_that_is_none_is_told_before_anything_is_sent(work: Path) -> None:
    settings(work, "permission: {deny: ['shell(']}\n")
    with pytest.raises(ConfigError, match=r"line 1, column 21: permission\.deny\[0\] must be TOOL .* not \"shell\(\""):
        opened(work, Cast([Say("x")]))
    settings(work, "permission: {deny: ['${RULE}']}\n")  # known only when the variable is
    with pytest.raises(UsageError, match=r"permission\.deny: 'shell\(' is no rule"):
        opened(work, Cast([Say("x")]), env={**os.environ, "RULE": "shell("})


async def test_plan_says_that_it_is_a_secret_that_it_does_not_read(work: Path) -> None:
    (work / ".env").write_text("KEY=1")
    ran = await asked(work, "cat .env", "cat .env > copy", say=lambda q: "deny", permission="plan")
    assert [r.status for r in ran.results] == ["refused", "refused"]
    assert "may hold secrets" in ran.results[0].text
    assert "`plan` only reads" in ran.results[1].text


async def test_yes_refuses_what_it_would_ask(work: Path) -> None:
    outside = work.parent / "outside"
    ran = await asked(work, "rm -rf .git", f"sudo touch {outside}", "$X y", say=lambda q: "", yes=True)
    assert [a.by for a in ran.of(QuestionAnswered)] == ["policy"] * 3
    assert (work / ".git").exists()
    assert not outside.exists()
    assert all("nobody is there to give it" in r.text for r in ran.results)


async def test_secrets_ask_on_every_path(work: Path) -> None:
    (work / ".env").write_text("KEY=opensesame\n")
    (work / "link").symlink_to(".env")
    lines = ["cat .env", "cat link", "cat .e*", "python3 -c 'print(open(\".env\").read())'", "cp .env x; cat x"]
    for mode in ("ask", "edits", "auto", "plan"):
        ran = await asked(work, *lines, say=lambda q: "deny", permission=mode)
        assert "opensesame" not in ran.messages
        assert len(ran.of(QuestionAsked)) == (len(lines) if mode != "plan" else len(ran.questions))
