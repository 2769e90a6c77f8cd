"""`--mode`, `gongfu modes`, `gongfu commands`, and tasks that start with a slash."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable

import pytest

from gongfu.models.scripted.script import Call, Say
from gongfu.models.scripted.server import Server

from .conftest import Program

Serve = Callable[..., Server]


def test_modes_are_listed_and_shown(program: Program) -> None:
    (program.home / "modes").mkdir(parents=True)
    (program.home / "modes" / "mine.md").write_text("---\ndescription: My way\n---\nDo.\n")
    (program.home / "modes" / "bad.md").write_text("---\nwrong: 1\n---\n")
    done = program.call("modes")
    assert done.code == 0
    assert [line.split()[0] for line in done.out.splitlines()] == [
        "bad", "design", "develop", "devops", "docs", "mine", "review", "test",
    ]  # fmt: skip
    assert "My way  (yours)" in done.out
    assert "bad.md" in done.out
    shown = program.call("modes", "show", "design", "--lang", "zh")
    assert "docs/**" in shown.out
    assert "不改" in shown.out
    fields = json.loads(program.call("modes", "show", "review", "--json").out)
    assert fields["floors"][0]["elsewhere"] == "deny"
    assert json.loads(program.call("modes", "--json").out)["modes"][0]["problem"]
    wrong = program.call("modes", "show", "reveiw")
    assert wrong.code == 2
    assert "review" in wrong.err


def test_commands_are_listed_and_shown(program: Program) -> None:
    done = program.call("commands")
    assert done.code == 0
    assert done.out.startswith("/commit")
    assert "/review [path" in done.out
    assert "mode: review" in program.call("commands", "show", "/review").out
    assert json.loads(program.call("commands", "--json").out)["commands"][0]["name"] == "commit"
    assert program.call("commands", "show", "nothing").code == 2


def test_a_run_in_a_mode_names_it_and_keeps_to_it(program: Program, serve: Serve) -> None:
    serve(
        Call("shell", {"command": "touch made"}), Call("edit_file", {"path": "a", "old": "b", "new": "c"}),
        Say("Done."), Say("Again."), Say("Free."),
    )  # fmt: skip
    done = program.call("run", "--mode", "review", "--permission", "full", "Do it")
    assert done.code == 0, done
    assert "work mode: review" in done.err
    assert "the work mode review does not run" in done.err
    assert "`--mode` chooses another, or none" in done.err  # the way out
    assert "There is no tool 'edit_file'. The work mode review offers fewer" in done.err
    assert not (program.folder / "made").exists()
    again = program.call("--continue", "And now?", "--permission", "full")
    assert "work mode: review" in again.err  # it stays with the session
    left = program.call("--continue", "Free now?", "--mode", "none")
    assert left.code == 0, left
    assert "work mode" not in left.err
    wrong = program.call("run", "--mode", "reveiw", "Do it")
    assert wrong.code == 2
    assert "review" in wrong.err


def test_a_task_that_starts_with_a_slash_is_a_command(program: Program, serve: Serve) -> None:
    server = serve(Say("One."), Say("Two."), Say("Three."))
    (program.folder / "x.py").write_text("x = 1\n")
    assert program.call("/explain x.py").code == 0
    assert program.call("run", "/review").code == 0
    assert program.call("-p", "/plan tidy up").code == 0
    shown = program.call("show").out
    assert "› /plan tidy up" in shown
    assert "do not carry it out" not in shown
    assert "do not carry it out" in program.call("show", "--verbose").out
    texts = [json.dumps(r.body, ensure_ascii=False) for r in server.requests]
    assert "Explain this, from the code as it is: x.py" in texts[0]
    assert "For this turn the work mode review holds" in texts[1]
    assert "do not carry it out: tidy up" in texts[2]


def test_an_unknown_command_is_not_sent_and_leaves_no_session(program: Program, serve: Serve) -> None:
    server = serve(Say("Never."))
    done = program.call("/reveiw src")
    assert done.code == 2
    assert "/review" in done.err
    assert not server.requests
    assert "reveiw" not in program.call("sessions").out


def test_the_words_behind_a_command_may_be_piped(program: Program, serve: Serve) -> None:
    server = serve(Say("One."))
    assert program.call("/explain", stdin="$(touch made)\n").code == 0
    assert "$(touch made)" in json.dumps(server.requests[0].body)
    assert not (program.folder / "made").exists()


@pytest.mark.skipif(sys.platform == "win32", reason="pseudo-terminals are POSIX")
def test_at_a_terminal_the_lines_of_a_command_ask(program: Program, serve: Serve) -> None:
    from .test_pty import Terminal

    serve(Say("Answered."))
    (program.home / "commands").mkdir(parents=True)
    (program.home / "commands" / "make.md").write_text("Look: !`touch made && echo it-ran`\n")
    terminal = Terminal(program, "/make")
    terminal.until("touch made")
    terminal.type("y\r")
    terminal.until("Answered.")
    assert (program.folder / "made").exists()


@pytest.mark.skipif(sys.platform == "win32", reason="pseudo-terminals are POSIX")
def test_at_a_terminal_the_person_decides_on_a_mode(program: Program, serve: Serve) -> None:
    from .test_pty import Terminal

    server = serve(Call("use_tool", {"name": "mode", "arguments": {"name": "review"}}), Say("Answered."))
    terminal = Terminal(program, "run", "Review this")
    terminal.until("from none to review")
    terminal.type("switch\r")
    terminal.until("Answered.")
    assert "work mode: review" in terminal.plain
    assert "# Work mode: review" in json.dumps(server.requests[1].body)
