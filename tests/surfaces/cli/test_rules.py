"""`gongfu rules` and `--rules`: what is configured, what was delivered, what a person decides."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from gongfu.config.paths import Places
from gongfu.context.rules.sections import sha256_of
from gongfu.core.words import rules as words
from gongfu.models.scripted.script import Call, Say
from gongfu.models.scripted.server import Server
from gongfu.store.database import Database
from gongfu.store.rulebook import Rulebook

from .conftest import Ended, Program

Serve = Callable[..., Server]


def write(program: Program, **files: str) -> None:
    for name, text in files.items():
        path = program.folder / name.replace("__", "/").replace("_md", ".md")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")


def data(ended: Ended) -> dict[str, Any]:
    assert ended.code == 0, ended
    return json.loads(ended.out)


def rule(shown: dict[str, Any], name: str) -> dict[str, Any]:
    return next(r for r in shown["rules"] if r["rule"] == name)


def run_once(program: Program, *args: str) -> str:
    result = program.call("run", "--json", "--yes", *args, "Do it.")
    assert result.code == 0, result
    return json.loads(result.out)["session"]


def test_without_rules_it_says_so(program: Program) -> None:
    shown = program.call("rules")
    assert shown.code == 0
    assert "no rule files here" in shown.err
    assert data(program.call("rules", "show", "--json"))["rules"] == []


def test_configured_and_delivered_are_kept_apart_and_followed_is_never_claimed(program: Program, serve: Serve) -> None:
    write(
        program,
        AGENTS_md="# A\nUse tabs.\n# B\nOld.\n",
        CLAUDE_md="Be brief.\n",
        web__AGENTS_md="Web.\n",
        e__AGENTS_md="",
    )
    assert program.call("rules", "classify", "AGENTS.md", "mandatory").code == 0
    assert program.call("rules", "classify", "AGENTS.md#b", "excluded", "--why", "superseded").code == 0
    serve(Call("shell", {"command": "true"}), Say("Done."))
    before = program.call("rules")
    assert re.search(r"^AGENTS\.md#A +mandatory +- ", before.out, re.MULTILINE), before
    session = run_once(program)
    for args in ((), ("show",), ("show", session), ("show", session[:14])):
        out = program.call("rules", *args).out
        assert re.search(r"^AGENTS\.md#A +mandatory +2/2 +\d+ +\. +[0-9a-f]{12}$", out, re.MULTILINE), out
        assert re.search(r"^AGENTS\.md#B +excluded \(superseded\) +never ", out, re.MULTILINE), out
        assert re.search(r"^CLAUDE\.md +optional \(unclassified\) +2/2 ", out, re.MULTILINE), out
        assert re.search(
            r"^web/AGENTS\.md .* not yet .* web \(joins when touched\) +[0-9a-f]{12}$", out, re.MULTILINE
        ), out
        assert "Ignored: e/AGENTS.md (empty)" in out
        assert "Whether a model follows a rule is not known" in out
    shown = data(program.call("rules", "show", "--json", session))
    assert (shown["session"], shown["requests"], shown["revision"]) == (session, 2, 1)
    assert rule(shown, "AGENTS.md#A") | {"tokens": 0} == {
        "rule": "AGENTS.md#A", "configured": "mandatory", "classified": True, "why": "", "was": "", "scope": ".",
        "paths": [], "joined": True, "tokens": 0, "sha256": sha256_of("# A\nUse tabs.\n"), "delivered": 2,
        "last_request": rule(shown, "CLAUDE.md")["last_request"],
    }  # fmt: skip
    assert rule(shown, "AGENTS.md#B")["delivered"] == 0
    assert "followed" not in json.dumps(shown)
    assert not [text for pair in words.TEXT.values() for text in pair if "followed" in text]


def test_a_word_is_given_by_path_pattern_section_and_place(program: Program) -> None:
    write(program, AGENTS_md="# A\nx\n## B\ny\n", vendor__x__AGENTS_md="x", vendor__y__AGENTS_md="y", a__CLAUDE_md="a")
    said = data(program.call("rules", "classify", "vendor/**", "excluded", "--why", "withdrawn", "--json"))["words"]
    assert [(w["path"], w["duty"], w["why"]) for w in said] == [
        ("vendor/x/AGENTS.md", "excluded", "withdrawn"),
        ("vendor/y/AGENTS.md", "excluded", "withdrawn"),
    ]
    said = data(program.call("rules", "classify", "./AGENTS.md#a", "mandatory", "--json"))["words"]
    assert [w["heading"] for w in said] == ["A", "A > B"]
    assert data(program.call("rules", "classify", str(program.folder / "a" / "CLAUDE.md"), "optional", "--json"))[
        "words"
    ]
    history = data(program.call("rules", "history", "--json"))
    assert len(history["words"]) == 5
    assert "withdrawn" in program.call("rules", "history").out


def test_a_folder_may_have_a_number_sign_in_its_name(program: Program) -> None:
    write(program, **{"c#__AGENTS_md": "# A\nUse tabs.\n# B\nOld.\n"})
    assert program.call("rules", "classify", "c#/AGENTS.md#B", "excluded").code == 0
    assert program.call("rules", "classify", "./c#/AGENTS.md", "mandatory").code == 0
    shown = data(program.call("rules", "--json"))["rules"]
    assert {r["rule"]: r["configured"] for r in shown} == {"c#/AGENTS.md#A": "mandatory", "c#/AGENTS.md#B": "excluded"}


def test_the_users_own_rule_has_a_place_and_a_word(program: Program) -> None:
    (program.home / "x").mkdir(parents=True)
    (program.home / "AGENTS.md").write_text("Mine.\n")
    assert program.call("rules", "classify", "~/.gongfu/AGENTS.md", "mandatory").code == 0
    assert program.call("rules", "classify", str(program.home / "AGENTS.md"), "optional").code == 0
    shown = data(program.call("rules", "show", "--json"))
    assert rule(shown, "~/.gongfu/AGENTS.md")["configured"] == "optional"


@pytest.mark.parametrize(
    ("args", "says"),
    [
        (("classify", "nope.md", "mandatory"), "There is no rule file nope.md here"),
        (("classify", "AGENTS.md#nope", "mandatory"), "There is no section 'nope' in AGENTS.md"),
        (("classify", "AGENTS.md", "maybe"), "mandatory, optional, excluded"),
        (("classify", "AGENTS.md"), "DUTY is missing"),
        (("classify", "AGENTS.md", "optional", "--why", "withdrawn"), "--why belongs to `excluded` only"),
        (("refresh", "--yes-fingerprints", "abc"), "does not name two fingerprints"),
        (("show", "s_nope"), "s_nope"),
        (("shw",), "Did you mean `gongfu rules show`?"),
    ],
)
def test_what_is_typed_wrong_is_told(program: Program, args: tuple[str, ...], says: str) -> None:
    write(program, AGENTS_md="# A\nx\n")
    ended = program.call("rules", *args)
    assert ended.code in (1, 2)
    assert says in ended.err
    assert "Traceback" not in ended.err


def test_rules_that_do_not_fit_end_the_run_with_3_and_nothing_is_sent(program: Program, serve: Serve) -> None:
    server = serve()
    write(program, AGENTS_md="Word of the law.\n" * 3000)
    ended = program.call("run", "--yes", "--rules", "mandatory-all", "Do it.", GONGFU_CONTEXT_WINDOW="16000")
    assert ended.code == 3, ended
    assert "RULES_EXCEED_BUDGET" in ended.err
    assert "AGENTS.md (" in ended.err
    assert server.requests == []
    result = program.call("run", "--json", "--rules", "mandatory-all", "Do it.", GONGFU_CONTEXT_WINDOW="16000")
    assert (result.code, json.loads(result.out)["reason_key"]) == (3, "rules.exceed_budget")
    chinese = program.call("run", "--rules", "mandatory-all", "--lang", "zh", "做吧。", GONGFU_CONTEXT_WINDOW="16000")
    assert "RULES_EXCEED_BUDGET：必须遵守的规则约需" in chinese.err


def test_a_file_over_the_limit_ends_the_run_with_3_until_it_is_excluded(program: Program, serve: Serve) -> None:
    server = serve(Say("Done."))
    write(program, sub__AGENTS_md="x" * 70_000)
    ended = program.call("run", "--yes", "Do it.")
    assert ended.code == 3, ended
    assert "RULES_LIMIT" in ended.err
    assert "sub/AGENTS.md" in ended.err
    assert server.requests == []
    assert "no earlier session" in program.call("show").err.lower() or program.call("sessions").out == ""
    assert program.call("rules").code == 3
    assert program.call("rules", "classify", "sub/AGENTS.md", "mandatory").code == 2
    assert program.call("rules", "classify", "sub/AGENTS.md", "excluded").code == 0
    assert program.call("run", "--yes", "Do it.").code == 0


def test_the_word_for_a_run(program: Program, serve: Serve) -> None:
    serve(Say("One."), Say("Two."), Say("Three."))
    write(program, AGENTS_md="Root.\n", web__AGENTS_md="Web.\n")
    duties = {}
    for policy in ("mandatory-root", "mandatory-all", "optional"):
        shown = data(program.call("rules", "show", "--json", run_once(program, "--rules", policy)))
        duties[policy] = [r["configured"] for r in shown["rules"]]
        assert shown["by"] == f"--rules {policy}"
    assert duties == {
        "mandatory-root": ["mandatory", "optional"],
        "mandatory-all": ["mandatory", "mandatory"],
        "optional": ["optional", "optional"],
    }
    wrong = program.call("run", "--rules", "all", "Do it.")
    assert wrong.code == 2
    assert "mandatory-root, mandatory-all, optional" in wrong.err


def test_an_optional_rule_without_room_is_told_on_screen(program: Program, serve: Serve) -> None:
    serve(Say("Done."))
    write(program, AGENTS_md="x" * 60_000)
    ended = program.call("run", "--yes", "Do it.", GONGFU_CONTEXT_WINDOW="40000")
    assert ended.code == 0, ended
    assert "Optional rules may take a tenth of the room, and these did not fit: AGENTS.md" in ended.err


def test_a_refresh_without_a_terminal_shows_and_then_takes_what_was_seen(program: Program, serve: Serve) -> None:
    server = serve(Say("One."), Say("Two."), Say("Three."))
    write(program, AGENTS_md="Use tabs.\n")
    program.call("rules", "classify", "AGENTS.md", "mandatory")
    session = run_once(program)
    same = program.call("rules", "refresh", session)
    assert "Nothing to refresh" in same.out
    write(program, AGENTS_md="Use \x1b[31mspaces.\n")
    shown = program.call("rules", "refresh")
    assert shown.code == 0
    assert "-Use tabs." in shown.out
    assert "+Use" in shown.out
    assert "\x1b[31m" not in shown.out
    assert "mandatory → optional" in shown.out
    assert "--keep-duties" in shown.out
    assert "differs" not in shown.out
    assert f"`gongfu rules refresh {session}` shows the difference" in program.call("rules", "show", session).out
    seen = data(program.call("rules", "refresh", "--json", "--keep-duties"))
    assert (seen["applied"], seen["changes"][0]["after"]) == (False, "mandatory")
    pair = f"{seen['pinned'][:12]}:{seen['live'][:12]}"
    stale = program.call("rules", "refresh", "--yes-fingerprints", pair)  # without --keep-duties it is another thing
    assert stale.code == 3
    assert "REFRESH_STALE" in stale.err
    assert data(program.call("rules", "show", session, "--json"))["revision"] == 1
    taken = program.call("rules", "refresh", "--keep-duties", "--yes-fingerprints", pair)
    assert taken.code == 0, taken
    assert "revision 2" in taken.out
    assert program.call("run", "--yes", "-s", session, "Again.").code == 0
    assert b"[31mspaces." in server.requests[1].raw
    assert b"Use tabs." not in server.requests[1].raw
    history = program.call("rules", "history", session)
    assert "revision 1" in history.out
    assert "revision 2" in history.out


def test_a_refresh_from_another_program_is_rejected_while_the_session_is_open(program: Program, serve: Serve) -> None:
    serve(Call("shell", {"command": "until [ -e go ]; do sleep 0.05; done"}), Say("Done."))
    write(program, AGENTS_md="Use tabs.\n")
    running = program.start("run", "--yes", "--stream-json", "Do it.")
    assert running.stdout is not None
    session = ""
    for line in running.stdout:
        fields = json.loads(line)
        session = session or str(fields.get("session") or fields.get("event", {}).get("session", ""))
        if b"tool_started" in line:
            break
    ended = program.call("rules", "refresh", session)
    (program.folder / "go").touch()
    running.communicate(timeout=30)
    assert ended.code == 3, ended
    assert "RULES_CHANGED" in ended.err


def test_every_sentence_of_the_area_is_said_in_both_languages() -> None:
    for name, (english, chinese) in words.TEXT.items():
        assert english
        assert re.findall(r"{(\w+)", english) or not re.findall(r"{(\w+)", chinese), name
        assert set(re.findall(r"{(\w+)", english)) == set(re.findall(r"{(\w+)", chinese)), name


@pytest.mark.skipif(sys.platform == "win32", reason="pseudo-terminals are POSIX")
@pytest.mark.parametrize("language", ["en", "zh"])
def test_in_a_narrow_terminal_the_names_of_the_rules_stay(program: Program, language: str) -> None:
    from gongfu.surfaces.cli.width import width

    from .test_pty import Terminal

    write(program, AGENTS_md="Use tabs.\n", web__AGENTS_md="Web.\n")
    terminal = Terminal(program, "rules", "--lang", language, columns=40)
    assert terminal.end() == 0
    lines = terminal.plain.splitlines()
    assert max(map(width, lines)) <= 40, terminal.plain
    assert [line.split()[0] for line in lines if line.lstrip().startswith(("AGENTS", "web/"))] == [
        "AGENTS.md",
        "web/AGENTS.md",
    ]


@pytest.mark.skipif(sys.platform == "win32", reason="pseudo-terminals are POSIX")
class TestAtATerminal:
    """The question of the first run, and a refresh that asks."""

    @pytest.mark.parametrize(
        ("typed", "answer", "duties"),
        [("2\n", "mandatory-all", ["mandatory", "mandatory"]), ("\n", "optional", ["optional", "optional"])],
    )
    def test_the_first_run_asks_once(
        self, program: Program, serve: Serve, typed: str, answer: str, duties: list[str]
    ) -> None:
        from .test_pty import Terminal

        serve(Say("One."), Say("Two."))
        write(program, AGENTS_md="Root.\n", web__AGENTS_md="Web.\n")
        terminal = Terminal(program, "run", "Do it.")
        terminal.until("3. none")
        assert "AGENTS.md, web/AGENTS.md" in terminal.plain.replace("\n", " ")
        terminal.type(typed)
        assert terminal.end() == 0, terminal.plain
        assert [r["configured"] for r in data(program.call("rules", "show", "--json"))["rules"]] == duties
        with Database.open(Places(home=program.home).store) as db:
            assert Rulebook(db).asked(str(Path(program.folder).resolve())) == answer
        again = Terminal(program, "run", "Do it again.")
        assert again.end() == 0
        assert "3. none" not in again.plain

    def test_nobody_is_asked_when_the_command_says_it(self, program: Program, serve: Serve) -> None:
        from .test_pty import Terminal

        serve(Say("One."), Say("Two."))
        write(program, AGENTS_md="Root.\n")
        for flags in (("--rules", "mandatory-all"), ("--yes",)):
            terminal = Terminal(program, "run", *flags, "Do it.")
            assert terminal.end() == 0
            assert "3. none" not in terminal.plain

    def test_a_refresh_asks(self, program: Program, serve: Serve) -> None:
        from .test_pty import Terminal

        serve(Say("One."))
        write(program, AGENTS_md="Use tabs.\n")
        session = run_once(program)
        write(program, AGENTS_md="Use spaces.\n")
        for typed, code, revision in (("n\n", 1, 1), ("y\n", 0, 2)):
            terminal = Terminal(program, "rules", "refresh", session)
            terminal.until("Replace the pinned rules")
            assert "+Use spaces." in terminal.plain
            terminal.type(typed)
            assert terminal.end() == code, terminal.plain
            assert data(program.call("rules", "show", session, "--json"))["revision"] == revision
