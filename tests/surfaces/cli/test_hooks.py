"""Hooks through the real program: what is shown, what is streamed, what settings say."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from typing import Any

from gongfu.models.scripted import Call, Say

from .conftest import Program

WRITE = Call("write_file", {"path": "new.txt", "content": "x"})


def hooks(program: Program, *entries: Any) -> None:
    """Write hooks into the person's settings."""
    program.home.mkdir(exist_ok=True)
    made = entries[0] if isinstance(entries[0], dict) and "event" not in entries[0] else list(entries)
    (program.home / "config.yaml").write_text(json.dumps({"hooks": made}))


def shell(event: str, line: str, **more: Any) -> dict[str, Any]:
    """A hook that a shell runs."""
    return {"event": event, "command": line, "shell": True, **more}


def test_a_denied_call_is_shown_in_a_run_and_in_the_stored_session(program: Program, serve: Callable[..., Any]) -> None:
    serve(WRITE, Say("I could not."))
    hooks(program, shell("before_tool", "echo 'not on Fridays' >&2; exit 2", match="write_file"))
    ran = program.run("run", "--yes", "Write it")
    assert ran.code == 0, ran
    assert ran.out == "I could not.\n"
    assert "hook before_tool  echo 'not on Fridays' >&2; exit 2 → refused: not on Fridays" in ran.err
    assert not (program.folder / "new.txt").exists()
    shown = program.call("show")
    assert "→ refused: not on Fridays" in shown.out
    zh = program.call("show", GONGFU_LANGUAGE="zh")
    assert "钩子 before_tool" in zh.out


def test_an_objection_is_no_refusal(program: Program, serve: Callable[..., Any]) -> None:
    """What a hook blocks after a call was done already: nothing is refused any more."""
    serve(WRITE, Say("Done."))
    hooks(program, shell("after_tool", "echo 'bad style' >&2; exit 2"))
    ran = program.call("run", "--yes", "Write it")
    assert "exit 2 → objects: bad style" in ran.err
    assert (program.folder / "new.txt").exists()


def test_a_call_that_a_hook_changed_is_not_passed_off_as_the_models(
    program: Program, serve: Callable[..., Any]
) -> None:
    serve(WRITE, Say("Done."))
    other = json.dumps({"arguments": {"path": "other.txt", "content": "x"}})
    hooks(program, shell("before_tool", f"echo '{other}'", match="write_file"))
    ran = program.call("run", "--yes", "Write it")
    assert "→ changed the call" in ran.err
    assert (program.folder / "other.txt").exists()
    assert "→ 改了这次调用" in program.call("show", GONGFU_LANGUAGE="zh").out


def test_why_a_hook_failed_is_said_in_the_persons_language(program: Program, serve: Callable[..., Any]) -> None:
    serve(Say("Done."))
    hooks(program, {"event": "prompt", "command": ["no-such-hook"]}, shell("turn_end", "sleep 30", seconds=0.1))
    ran = program.call("run", "--yes", "Do it", GONGFU_LANGUAGE="zh")
    assert "无法启动" in ran.err
    assert "0.1 秒后被停止" in ran.err
    assert "stopped after 0.1 s" in program.call("show").out


def test_a_refused_prompt_ends_the_run_with_its_reason(program: Program, serve: Callable[..., Any]) -> None:
    server = serve(Say("never"))
    hooks(program, shell("prompt", "grep -q secret && { echo 'no secrets' >&2; exit 2; } || true"))
    ran = program.call("run", "--yes", "the secret is 7")
    assert ran.code not in (0, 2), ran
    assert "A hook refused the prompt: no secrets." in ran.err
    assert ran.out == ""
    assert "Traceback" not in ran.err
    assert program.call("run", "--yes", "hello").out == "never\n"
    assert len(server.requests) == 1


def test_hooks_are_in_the_stream_of_json(program: Program, serve: Callable[..., Any]) -> None:
    serve(Say("ok"))
    hooks(program, shell("session_start", "echo context"), shell("prompt", "exit 3"))
    ran = program.call("run", "--yes", "--stream-json", "Hello")
    events = [json.loads(line) for line in ran.out.splitlines()]
    told = [e for e in events if e["type"] == "hook_ran"]
    assert [(e["event"], e.get("code"), e.get("decision", "")) for e in told] == [
        ("session_start", 0, ""), ("prompt", 3, ""),
    ]  # fmt: skip
    assert [e["key"] for e in events if e["type"] == "warning_raised"] == ["hooks.failed"]


def test_what_only_went_on_is_not_shown(program: Program, serve: Callable[..., Any]) -> None:
    serve(WRITE, Say("ok"))
    hooks(program, shell("before_tool", "true"), shell("prompt", "echo a note"))
    ran = program.call("run", "--yes", "Write it")
    assert (ran.code, ran.out) == (0, "ok\n")
    assert "hook" not in ran.err


def test_a_project_s_hooks_wait_for_trust(program: Program, serve: Callable[..., Any]) -> None:
    serve(Say("ok"))
    (program.folder / ".gongfu").mkdir()
    marker = program.folder / "ran"
    entry = shell("session_start", f"touch {marker}")
    (program.folder / ".gongfu/config.yaml").write_text(json.dumps({"hooks": [entry]}))
    assert program.call("run", "--yes", "Hello").code == 0
    assert not marker.exists()


def test_the_hooks_of_a_trusted_project_come_after_the_person_s(program: Program, serve: Callable[..., Any]) -> None:
    serve(Say("ok"), Say("ok"))
    order = program.folder / "order"
    hooks(program, shell("session_start", f"echo person >> {order}"))
    (program.folder / ".gongfu").mkdir()
    table = {"SessionStart": [{"hooks": [{"type": "command", "command": f"sleep 0.1; echo project >> {order}"}]}]}
    (program.folder / ".gongfu/config.yaml").write_text(json.dumps({"hooks": table}))
    ran = program.call("run", "--yes", "--trust", "Hello")
    assert ran.code == 0, ran
    assert order.read_text().split() == ["person", "project"]


def test_settings_of_hooks_are_read_shown_and_set(program: Program) -> None:
    table = {"PreToolUse": [{"matcher": "Bash", "hooks": [{"type": "command", "command": "echo ${NOT_SET}"}]}]}
    hooks(program, table)
    assert json.loads(program.call("config", "get", "hooks").out) == table
    assert "PreToolUse" in program.call("config", "list").out
    ran = program.call("config", "set", "hooks", '[{event: prompt, command: [echo, "a b"], seconds: 5}]')
    assert ran.code == 0, ran
    assert program.call("config", "get", "hooks.0.event").out == "prompt\n"
    assert json.loads(program.call("config", "get", "hooks.0.command").out) == ["echo", "a b"]
    assert program.call("config", "get", "hooks.1.event").code == 2
    refused = program.call("config", "set", "hooks.0.event", "turn_end")
    assert refused.code == 2
    assert "is set as a whole" in refused.err
    for wrong in ("[{event: promt, command: x}]", "[{event: prompt}]", "[{event: prompt, command: x, when: y}]"):
        refused = program.call("config", "set", "hooks", wrong)
        assert refused.code == 2, refused
        assert "Traceback" not in refused.err
    assert program.call("config", "get", "hooks.0.event").out == "prompt\n"
    schema = json.loads(program.call("config", "schema").out)
    assert schema["$defs"]["Hook"]["required"] == ["event", "command"]


def test_wrong_hooks_are_told_with_their_place(program: Program) -> None:
    program.home.mkdir()
    for text, line, words in (
        ("hooks:\n  PreToolUs: []\n", 2, "hooks.PreToolUse"),
        ("hooks:\n  Stop:\n    - hooks:\n        - {type: prompt, command: x}\n", 4, "must be command"),
        ("hooks:\n  Stop:\n    - hooks:\n        - {type: command, command: x, timeout: soon}\n", 4, "number > 0"),
        ("hooks:\n  Stop: {}\n", 2, "[{…}, …]"),
        ("hooks:\n  PreToolUse:\n    - matcher: '(['\n      hooks: []\n", 3, "regular expression"),
        ("hooks:\n- event: prompt\n  command: x\n  seconds: 0\n", 4, "number > 0"),
        ("hooks:\n- event: prompt\n  command: ''\n", 3, "text"),
        ("hooks:\n- {event: prompt, command: x, shape: claude, match: '('}\n", 2, "regular expression"),
        ("hooks: 7\n", 1, "[{…}, …]"),
    ):
        (program.home / "config.yaml").write_text(text)
        ran = program.call("config", "get", "hooks")
        assert ran.code == 2, (text, ran)
        assert f"line {line}, column" in ran.err, (text, ran)
        assert words in ran.err, (text, ran)


def test_a_fold_that_a_hook_refuses(program: Program, serve: Callable[..., Any]) -> None:
    serve(Say("ok", times=0))
    hooks(program, shell("before_compact", "echo 'keep it all' >&2; exit 2"))
    assert program.call("run", "--yes", "Hello").code == 0
    ran = program.call("compact")
    assert ran.code == 1, ran
    assert "A hook does not let the context be folded: keep it all. Nothing was changed." in ran.err


def test_verbose_shows_every_hook(program: Program, serve: Callable[..., Any]) -> None:
    serve(Say("ok"))
    hooks(program, shell("prompt", "echo a note"), shell("prompt", "exit 1"))
    ran = program.call("run", "--yes", "--verbose", "Hello")
    assert "hook prompt  echo a note\n" in ran.err
    assert "hook prompt  exit 1" not in ran.err  # the warning tells
    assert "The hook of prompt `exit 1` failed (exit 1); it was passed over." in ran.err


def test_a_hook_that_starts_the_program_does_not_start_it_for_ever(program: Program, serve: Callable[..., Any]) -> None:
    server = serve(Say("ok", times=0))
    again = f"{sys.executable} -m gongfu run --yes Again 2>> {program.folder}/err"
    hooks(program, shell("session_start", again))
    ran = program.call("run", "--yes", "Hello")
    assert (ran.code, ran.out) == (0, "ok\n")
    assert "A hook started Gongfu, whose hook started Gongfu again, 3 deep." in (program.folder / "err").read_text()
    assert len(server.requests) == 3


def test_a_kill_while_a_hook_runs_loses_nothing_and_lets_nothing_past(
    program: Program, serve: Callable[..., Any]
) -> None:
    server = serve(WRITE, Say("ok"))
    killer = program.folder / "killer.py"
    killer.write_text(
        "import json, os, sys\nevent = json.load(sys.stdin)\nmark = event['event']\n"
        "if not os.path.exists(mark):\n    open(mark, 'w').close()\n    os.kill(os.getppid(), 9)\n"
    )
    words = [sys.executable, "-S", str(killer)]
    hooks(program, *({"event": event, "command": words} for event in ("prompt", "before_tool", "turn_end")))
    ended = [program.run("run", "--yes", "Write it")]
    for _ in range(3):
        ended.append(program.run("run", "--yes", "--continue"))
        assert "Traceback" not in ended[-1].err
    assert [one.code for one in ended[:3]] == [-9, -9, -9], ended
    assert (program.folder / "new.txt").read_text() == "x"
    assert len(server.requests) == 2
    assert (ended[3].code, ended[3].out) == (0, "ok\n"), ended[3]


def test_nothing_of_hooks_is_loaded_where_there_are_none(program: Program, serve: Callable[..., Any]) -> None:
    serve(Say("ok"))
    code = (
        "import sys; from gongfu.surfaces.cli.main import main\n"
        "try:\n    main()\nexcept SystemExit: pass\n"
        "print([m for m in sys.modules if 'hook' in m and m.startswith('gongfu')])"
    )
    import subprocess

    done = subprocess.run(
        [sys.executable, "-c", code, "run", "--yes", "Hello"], cwd=program.folder, env=program.env,
        capture_output=True, text=True, timeout=60, check=False,
    )  # fmt: skip
    assert done.stdout.splitlines()[-1] == "[]", done
