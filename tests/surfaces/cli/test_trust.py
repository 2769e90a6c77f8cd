"""`gongfu trust`, `--trust`, and the question at the first run."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from gongfu.models.scripted.script import Call, Say
from gongfu.models.scripted.server import Server

from .conftest import Program

if sys.platform == "win32":
    pytest.skip("pseudo-terminals are POSIX", allow_module_level=True)

from .test_pty import Terminal

Serve = Callable[..., Server]
QUESTION = "can run programs on your machine"


def write(program: Program, name: str, text: str) -> Path:
    path = program.folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    return path


def configured(program: Program, hook: str = "echo hooked") -> Path:
    return write(
        program, ".gongfu/config.yaml", f"hooks: [{{event: prompt, command: '{hook}'}}]\nlimits: {{max_steps: 7}}\n"
    )


def test_it_shows_asks_and_remembers(program: Program) -> None:
    configured(program, "sh -c ''date''")
    write(program, ".gongfu/tools/x.py", "1")
    write(program, ".mcp.json", json.dumps({"mcpServers": {"db": {"command": "npx", "args": ["db\x1b[2J", "a\nb"]}}}))
    shown = program.call("trust")
    assert shown.code == 1
    assert "hook prompt  sh -c" in shown.out
    assert "tool .gongfu/tools/x.py" in shown.out
    assert "MCP server db  npx db\\x1b[2J a\\nb" in shown.out
    assert "--yes" in shown.err
    assert "\x1b" not in shown.out
    assert not (program.home / "trusted.json").exists()
    assert program.call("trust", "--yes").code == 0
    again = program.call("trust")
    assert (again.code, "is trusted" in again.out) == (0, True)
    assert str(program.folder) in program.call("trust", "--list").out
    write(program, ".gongfu/tools/x.py", "2")
    changed = program.call("trust")
    assert changed.code == 1
    assert "tool .gongfu/tools/x.py changed" in changed.out
    assert program.call("trust", "--revoke").code == 0
    assert program.call("trust", "--list").out == ""


def test_as_json(program: Program) -> None:
    configured(program)
    whole = json.loads(program.call("trust", "--json").out)
    assert (whole["type"], whole["trusted"]) == ("trust", False)
    assert {"kind": "hook", "name": "prompt", "runs": "echo hooked", "new": False} in whole["effects"]
    assert json.loads(program.call("trust", "--json", "--yes").out)["trusted"] is True
    assert json.loads(program.call("trust", "--list", "--json").out)["folders"][0]["path"] == str(program.folder)
    assert json.loads(program.call("trust", "--revoke", "--json").out)["changed"] is True


def test_nothing_to_trust_and_wrong_words(program: Program) -> None:
    plain = program.call("trust")
    assert (plain.code, "nothing to trust" in plain.out) == (0, True)
    assert program.call("trust", "--list", "--revoke").code == 2
    assert program.call("trust", "/").code != 0
    assert program.run("trust", str(program.folder.parent), "--yes").code != 0  # the home folder of these tests
    assert not (program.home / "trusted.json").exists()


def test_a_folder_that_is_named(program: Program) -> None:
    configured(program)
    (program.folder / ".git").mkdir()
    (program.folder / "src").mkdir()
    assert str(program.folder) in program.call("trust", "src", "--yes").out
    assert program.call("trust").code == 0


def test_without_a_terminal_one_line_says_what_is_left_out(program: Program, serve: Serve) -> None:
    configured(program)
    server = serve(Say("Done.", times=0))
    done = program.call("run", "do")
    assert done.code == 0
    assert [line for line in done.err.splitlines() if "not trusted" in line] == [
        "This folder is not trusted, so this has no effect: .gongfu/config.yaml. Look with `gongfu trust`."
    ]
    assert b"hooked" not in server.requests[-1].raw
    with_it = program.call("run", "--trust", "do")
    assert with_it.code == 0
    assert "not trusted" not in with_it.err
    assert b"hooked" in server.requests[-1].raw
    assert not (program.home / "trusted.json").exists()


def test_a_plain_folder_says_nothing(program: Program, serve: Serve) -> None:
    serve(Say("Done."))
    done = program.call("run", "do")
    assert (done.code, "trust" in done.err) == (0, False)


def test_a_damaged_list_matters_only_where_something_is_to_be_trusted(program: Program, serve: Serve) -> None:
    server = serve(Say("Done.", times=0))
    program.home.mkdir(exist_ok=True)
    (program.home / "trusted.json").write_text("{")
    plain = program.call("run", "do")
    assert (plain.code, "trust" in plain.err) == (0, False)
    configured(program)
    done = program.call("run", "do")
    assert done.code == 0
    assert done.err.count("trusted.json is no list of trusted folders") == 1
    assert "has no effect" not in done.err
    assert b"hooked" not in server.requests[-1].raw
    asked = Terminal(program, "run", "do it")
    assert asked.end() == 0
    assert QUESTION not in asked.plain
    assert program.call("trust", "--yes").code == 1
    assert program.call("run", "--trust", "do").code == 0
    assert b"hooked" in server.requests[-1].raw
    assert "mend the file" in program.call("doctor").out
    assert (program.home / "trusted.json").read_text() == "{"


def test_after_a_no_nothing_more_is_said(program: Program, serve: Serve) -> None:
    configured(program)
    serve(Say("Done."))
    asked = Terminal(program, "run", "do it")
    asked.until("> ")
    asked.type("2\n")
    assert asked.end() == 0
    assert "has no effect" not in asked.plain


def test_no_part_of_a_command_to_be_trusted_is_hidden(program: Program) -> None:
    configured(program, "true " + "x" * 300 + "; \\e]0;rm -rf y\\a")
    shown = program.call("trust").out
    assert "x" * 300 in shown
    assert "rm -rf y" in shown


def test_the_question_comes_once_and_yes_takes_effect_at_once(program: Program, serve: Serve) -> None:
    configured(program)
    server = serve(Say("Done.", times=0))
    first = Terminal(program, "run", "do it")
    first.until(QUESTION)
    assert "hook prompt  echo hooked" in first.plain
    assert server.requests == []
    first.until("> ")
    first.type("1\n")
    assert first.end() == 0
    assert b"hooked" in server.requests[-1].raw
    second = Terminal(program, "run", "do it")
    assert second.end() == 0
    assert QUESTION not in second.plain
    configured(program, "echo zebra")
    third = Terminal(program, "run", "do it")
    third.until(QUESTION)
    assert "changed" in third.plain
    third.until("> ")
    third.type("\n")
    assert third.end() == 0
    assert b"zebra" not in server.requests[-1].raw


def test_no_is_remembered(program: Program, serve: Serve) -> None:
    configured(program)
    server = serve(Say("Done.", times=0))
    first = Terminal(program, "run", "do it")
    first.until("> ")
    first.type("2\n")
    assert first.end() == 0
    second = Terminal(program, "run", "do it")
    assert second.end() == 0
    assert QUESTION not in second.plain
    assert "not trusted" not in second.plain
    assert b"hooked" not in server.requests[-1].raw


def test_trust_and_rules_are_asked_about_in_one_dialogue(program: Program, serve: Serve) -> None:
    configured(program)
    write(program, "AGENTS.md", "Use tabs.\n")
    server = serve(Say("Done.", times=0))
    terminal = Terminal(program, "run", "do it")
    terminal.until(QUESTION)
    assert "AGENTS.md" not in terminal.plain
    terminal.until("> ")
    terminal.type("1\n")
    terminal.until("AGENTS.md")
    assert server.requests == []
    terminal.type("1\n")
    assert terminal.end() == 0
    second = Terminal(program, "run", "do it")
    assert second.end() == 0
    assert "?" not in second.plain


def test_hooks_of_git_alone_are_asked_about_and_run_when_trusted(program: Program, serve: Serve) -> None:
    subprocess.run(["git", "init", "-q", "."], cwd=program.folder, check=True)
    hook = write(program, ".git/hooks/pre-commit", "#!/bin/sh\necho ran > fired\n")
    hook.chmod(0o755)
    commit = Call("shell", {"command": "git -c user.name=a -c user.email=a@b commit --allow-empty -qm x"})
    serve(commit, Say("Done."), commit, Say("Done."))
    assert program.call("run", "--yes", "commit").code == 0
    assert not (program.folder / "fired").exists()
    terminal = Terminal(program, "run", "--permission", "auto", "commit")
    terminal.until(QUESTION)
    assert "git hook pre-commit" in terminal.plain
    terminal.until("> ")
    terminal.type("1\n")
    assert terminal.end() == 0
    assert (program.folder / "fired").exists(), terminal.plain


def test_a_repository_inside_is_another(program: Program, serve: Serve) -> None:
    """Trust in a folder says nothing of a repository that lies in it; the outer one keeps its hooks elsewhere."""
    outer, inner = program.folder, program.folder / "vendor"
    for folder in (outer, inner):
        folder.mkdir(exist_ok=True)
        subprocess.run(["git", "init", "-q", "."], cwd=folder, check=True)
        hook = folder / ".git" / "hooks" / "pre-commit"
        hook.parent.mkdir(exist_ok=True)
        hook.write_text(f"#!/bin/sh\n: > {folder}/fired\n")
        hook.chmod(0o755)
    assert program.call("trust", "--yes").code == 0
    commit = "git -c user.name=a -c user.email=a@b commit --allow-empty -qm x"
    serve(Call("shell", {"command": f"cd vendor && {commit}"}), Call("shell", {"command": commit}), Say("Done."))
    assert program.call("run", "--yes", "commit").code == 0
    assert not (inner / "fired").exists()


def test_settings_show_what_holds(program: Program) -> None:
    configured(program)
    before = program.call("config", "list")
    assert "max_steps" not in before.out
    assert "not used" in before.err
    program.call("trust", "--yes")
    assert "max_steps" in program.call("config", "list").out
    os.truncate(program.folder / ".gongfu" / "config.yaml", 0)
    assert "max_steps" not in program.call("config", "list").out


def test_doctor_says_how_the_folder_stands(program: Program) -> None:
    def folder() -> str:
        checks = json.loads(program.call("doctor", "--json").out)["checks"]
        return next(check["detail"] for check in checks if check["name"] == "folder")

    assert folder() == str(program.folder)
    configured(program)
    assert folder().endswith("(not trusted)")
    program.call("trust", "--yes")
    assert folder().endswith("(trusted)")
    configured(program, "echo zebra")
    assert "something has changed" in folder()
