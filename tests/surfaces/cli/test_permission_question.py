"""The permission question as a person sees it: nothing of a command is hidden, and an answer means what it says."""

from __future__ import annotations

import io
import os
import sys
from collections.abc import Callable
from typing import Any

import pytest

from gongfu.core import events as ev
from gongfu.core.display import plan_display, refusal_display
from gongfu.core.messages import ResultPart
from gongfu.core.words import Language
from gongfu.models.scripted import Call, Say
from gongfu.models.scripted.server import Server
from gongfu.surfaces.cli.answers import decided
from gongfu.surfaces.cli.ask import Person
from gongfu.surfaces.cli.cli import Cli
from gongfu.surfaces.cli.render.history import History
from gongfu.surfaces.cli.render.lines import Lines
from gongfu.surfaces.cli.speech import Speech
from gongfu.surfaces.cli.style import Style
from gongfu.surfaces.cli.width import width

from .conftest import Program
from .events import entry

Serve = Callable[..., Server]

WITH_PROJECT = ("allow", "session", "project", "deny")
WITHOUT = ("allow", "session", "deny")


@pytest.mark.parametrize(
    ("typed", "options", "parts", "answer"),
    [
        ("y", WITHOUT, 0, "allow"),
        ("", WITHOUT, 0, "deny"),
        ("n use pnpm", WITHOUT, 0, "deny: use pnpm"),
        ("否 用 pnpm", WITHOUT, 0, "deny: 用 pnpm"),
        ("n, not that", WITHOUT, 0, "deny: not that"),
        ("s", WITH_PROJECT, 3, "session"),
        ("s 1,3", WITH_PROJECT, 3, "session:1,3"),
        ("s 1，3", WITH_PROJECT, 3, "session:1,3"),
        ("p 1 2", WITH_PROJECT, 3, "project:1,2"),
        # what is no answer is asked again, and runs nothing
        ("hmm", WITHOUT, 0, ""),
        ("y but only the first", WITHOUT, 3, ""),
        ("s 4", WITH_PROJECT, 3, ""),
        ("s 0", WITH_PROJECT, 3, ""),
        ("s 1 x", WITH_PROJECT, 3, ""),
        ("s 1", WITH_PROJECT, 0, ""),
        ("p", WITHOUT, 0, ""),
    ],
)
def test_what_is_typed_means_what_it_says(typed: str, options: tuple[str, ...], parts: int, answer: str) -> None:
    assert decided(typed + "\n", options, parts) == answer


def lines(columns: int = 0) -> Lines:
    return Lines(style=Style(color=False), speech=Speech(language="en"), columns=columns)


@pytest.mark.parametrize("hidden", ["\x1b]0; rm -rf x \x07", "\x1b[8m rm -rf x \x1b[0m", "\x1b[2K\r rm -rf x "])
def test_no_character_of_a_command_is_hidden_from_who_consents(hidden: str) -> None:
    shown = "\n".join(lines().preview({"kind": "command", "command": f"ls{hidden}b", "cwd": ""}))
    assert "rm -rf x" in shown
    assert "\\x1b" in shown
    assert not {c for c in shown if c < " " and c != "\n"}


@pytest.mark.parametrize(
    "preview",
    [
        {"kind": "diff", "path": "a.sh", "diff": "--- a\n+++ b\n@@ -1 +1 @@\n-x\n+echo hi\x1b]0; rm -rf x #\x07\n"},
        {"kind": "text", "text": "hi\x1b]0; rm -rf x #\x07"},
        {"kind": "list", "items": ["hi\x1b]0; rm -rf x #\x07"]},
    ],
)
def test_no_character_of_what_is_written_is_hidden_either(preview: dict[str, Any]) -> None:
    shown = "\n".join(lines().preview(preview))
    assert "\\x1b]0; rm -rf x #\\x07" in shown


@pytest.mark.parametrize("columns", [40, 80, 100])
def test_parts_fit_the_terminal_and_the_grave_one_is_marked(columns: int) -> None:
    needs = [
        {"text": "python3 tools/build.py --with options", "reason": "permissions.rated_run", "grave": False},
        {"text": "sudo rm -rf build", "reason": "permissions.shell_privilege", "about": "sudo", "grave": True},
    ]
    rows = lines(columns).needs(needs)
    assert all(width(row) < columns for row in rows), rows
    assert rows[0].startswith("  1. python3 tools")
    assert [row[0] for row in rows if "." in row[:5]] == [" ", "!"]
    assert "acts with other rights" in " ".join(" ".join(rows).split())


def test_a_part_that_its_reason_begins_with_is_not_said_twice() -> None:
    needs = [
        {"text": "../x", "reason": "permissions.outside_write", "about": "../x"},
        {"text": "git push", "reason": "permissions.rated_run"},
    ]
    assert lines(80).needs(needs)[0] == "  1. ../x lies outside the workspace"


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        ("session:2", "allowed for this session (only part 2)"),
        ("project:1,3", "allowed for this project (only parts 1,3)"),
    ],
)
def test_a_session_that_is_read_again_says_which_parts_were_allowed(answer: str, said: str) -> None:
    asked = ev.QuestionAsked(question="q", about="permission", text="touch z; rm y; ls", tool="shell", call="c0")
    talk = [entry(asked), entry(ev.QuestionAnswered(question="q", answer=answer, by="person"))]
    assert "".join(History(lines(), str).blocks(talk)) == f"? shell  touch z; rm y; ls → {said} (you)\n"


@pytest.mark.parametrize("columns", [0, 40, 80, 100])
@pytest.mark.parametrize("language", ["en", "zh"])
def test_why_a_call_was_refused_is_never_cut(columns: int, language: Language) -> None:
    call = ToolCall(columns, language)
    rows = call.refused(f"git push --force origin {'very-' * 20}long", about="git push --force origin main")
    told = "".join("".join(rows).split())
    for words in ("git push --force origin main", call.speech("refused_nobody", why="").strip(" ,，")):
        assert "".join(words.split()) in told
    assert columns == 0 or all(width(row) <= columns for row in rows), rows


@pytest.mark.parametrize("columns", [0, 20, 40, 80])
def test_a_call_that_was_done_is_never_called_refused(columns: int) -> None:
    rows = ToolCall(columns, "en").done("make")
    assert len(rows) == 1
    assert "refused" not in rows[0]
    assert "exit 0" in rows[0]


class ToolCall:
    def __init__(self, columns: int, language: Language) -> None:
        self.speech = Speech(language=language)
        self._lines = Lines(style=Style(color=False), speech=self.speech, columns=columns)

    def done(self, command: str) -> list[str]:
        result = ResultPart(call_id="c0", text="built")
        started = ev.ToolStarted(call="c0", name="list_some_files", title=command, arguments={})
        shown = {"kind": "command", "summary": "exit 0"}
        return self._lines.tool(
            started, ev.ToolFinished(call="c0", name="list_some_files", result=result, display=shown)
        )

    def refused(self, command: str, *, about: str) -> list[str]:
        display = refusal_display("permissions.shell_destructive", about=about, by="nobody", said="")
        result = ResultPart(call_id="c0", text="no", status="refused")
        started = ev.ToolStarted(call="c0", name="shell", title=command, arguments={})
        return self._lines.tool(started, ev.ToolFinished(call="c0", name="shell", result=result, display=display))


@pytest.mark.skipif(sys.platform == "win32", reason="pseudo-terminals are POSIX")
@pytest.mark.parametrize(
    "command",
    [
        "true " + "x" * 330 + "; rm -rf important",
        "cat > f <<'EOF'\n" + "\n".join(f"line {n}" for n in range(120)) + "\nEOF\nrm -rf important",
    ],
)
def test_the_end_of_a_long_command_is_shown_before_it_is_allowed(program: Program, serve: Serve, command: str) -> None:
    from .test_pty import Terminal

    serve(Call("shell", {"command": command}), Say("Done."))
    terminal = Terminal(program, "run", "go")
    terminal.until("no >")
    shown = terminal.plain.partition("1. ")[0]  # above the parts, each of which may be cut
    assert "rm -rf important" in shown.replace("\n", "")
    terminal.type("n\n")
    assert terminal.end() == 0


@pytest.mark.anyio
@pytest.mark.parametrize(("typed", "answer"), [("1", "edits"), ("3", "no"), ("first the tests", "first the tests")])
async def test_a_plan_is_shown_whole_to_who_only_takes_lines(typed: str, answer: str) -> None:
    out, (reads, writes) = io.StringIO(), os.pipe()
    cli = Cli([], {}, stdin=None, stdout=None, stderr=out)
    preview = plan_display("Split it", "\n".join(f"- step {n}" for n in range(80)))
    asked = ev.QuestionAsked(
        question="q", about="question", text="Split it", options=("edits", "ask", "no"), default="no", preview=preview
    )
    try:
        os.write(writes, f"{typed}\n".encode())
        assert await Person(cli, reads).answer(asked) == answer
    finally:
        os.close(reads)
        os.close(writes)
    shown = out.getvalue()
    assert "step 0" in shown
    assert "step 79" in shown
    assert "Plan: Split it" in shown
    assert "2. Carry it out; ask before each change" in shown
