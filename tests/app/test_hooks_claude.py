"""Claude Code's hooks as they are."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from gongfu.core.errors import UserError
from gongfu.core.events import (
    WarningRaised,
)
from gongfu.models.scripted import Call, Say

from .hooks import Place, prompt, shown, stored

pytestmark = pytest.mark.anyio
WRITE = Call("write_file", {"path": "new.txt", "content": "x"})


@pytest.fixture
def place(tmp_path: Path) -> Place:
    return Place(tmp_path)


async def test_the_shape_of_claude_code(place: Place) -> None:
    place.claude(
        {
            "SessionStart": [("startup", "print('context of the session')")],
            "UserPromptSubmit": [
                ("", ("print(json.dumps({'hookSpecificOutput': {'hookEventName': 'UserPromptSubmit', "
                     "'additionalContext': 'context of the prompt'}, 'suppressOutput': True}))"))
            ],
            "PreToolUse": [
                ("Bash", ("args = event['tool_input']; args['command'] = 'echo changed'\n"
                         "print(json.dumps({'hookSpecificOutput': {'hookEventName': 'PreToolUse', "
                         "'permissionDecision': 'allow', 'permissionDecisionReason': 'ok', 'updatedInput': args}}))")),
                ("Edit|Write", ("if event['tool_input']['file_path'].endswith('.env'):\n"
                               "    sys.stderr.write('secrets stay'); sys.exit(2)")),
            ],
            "PostToolUse": [
                ("Write|Edit|MultiEdit", "print('not for the model')\n"),
                ("Bash", ("print(json.dumps({'decision': 'block', 'reason': 'look again', "
                         "'systemMessage': 'told to the person'}))")),
            ],
            "Stop": [("", ("print(json.dumps({'decision': 'block', 'reason': 'run the tests'}) "
                          "if not event['stop_hook_active'] else '')"))],
        }
    )  # fmt: skip
    app, model = place.open(
        Call("shell", {"command": "echo original", "timeout": 5, "background": False}),
        Call("write_file", {"path": ".env", "content": "x"}),
        Call("write_file", {"path": "sub/ok.txt", "content": "y"}),
        Say("first"),
        Say("last"),
    )
    async with app:
        session = await app.session()
        end = await prompt(session, "Go")
        warnings = stored(app, session, WarningRaised)
    assert (end.status, end.text) == ("done", "last")
    assert not (place.work / ".env").exists()
    assert (place.work / "sub/ok.txt").read_text() == "y"
    texts = [shown(m) for m in model.requests[-1].messages]
    told = "\n".join(texts)
    for words in (
        "context of the session",
        "context of the prompt",
        "changed",
        "look again",
        "secrets stay",
        "run the",
    ):
        assert words in told
    for words in ("original\n", "not for the model", "told to the person"):
        assert words not in told
    assert [w.values["text"] for w in warnings if w.key == "hooks.told"] == ["told to the person"]
    by_event: dict[str, list[dict[str, Any]]] = {}
    for one in place.log:
        by_event.setdefault(one["hook_event_name"], []).append(one)
    bash, env, ok = by_event["PreToolUse"]
    assert (bash["tool_name"], bash["tool_input"]) == (
        "Bash", {"command": "echo original", "timeout": 5000, "run_in_background": False},
    )  # fmt: skip
    assert (env["tool_name"], env["tool_input"]["file_path"]) == ("Write", str(place.work / ".env"))
    assert bash["permission_mode"] == "bypassPermissions"
    assert "changed" in by_event["PostToolUse"][0]["tool_response"]["stdout"]
    assert by_event["PostToolUse"][1]["tool_input"] == {"file_path": str(place.work / "sub/ok.txt"), "content": "y"}
    assert [e["stop_hook_active"] for e in by_event["Stop"]] == [False, True]
    assert by_event["SessionStart"][0]["source"] == "startup"
    assert ok["session_id"] == session.id


async def test_claude_code_ends_and_asks(place: Place) -> None:
    place.claude(
        {
            "PreToolUse": [
                ("mcp__.*|Read", "print(json.dumps({'hookSpecificOutput': {'permissionDecision': 'ask'}}))"),
                ("*", "print(json.dumps({'decision': 'approve'}))"),
            ],
            "SubagentStop": [("", "")],
            "PreCompact": [("manual", "sys.exit(2)")],
        }
    )
    app, model = place.open(Call("read_file", {"path": "a.txt"}), Call("task", {"task": "t"}), Say("sub"), Say("ok"))
    async with app:
        session = await app.session()
        await prompt(session)
        with pytest.raises(UserError):
            await session.compact()
    assert model.requests[1].messages[-1].results[0].status == "refused"  # asked for, and nobody was there
    names = [e["hook_event_name"] for e in place.log]
    assert names == ["PreToolUse", "PreToolUse", "PreToolUse", "SubagentStop", "PreCompact"]
    assert place.log[2]["tool_input"]["prompt"] == "t"


async def test_a_hook_of_our_list_may_speak_claude(place: Place) -> None:
    place.hook("before_tool", "print(json.dumps({'hookSpecificOutput': {'permissionDecision': 'deny'}}))",
               shape="claude", match="Write|Bash")  # fmt: skip
    app, _ = place.open(WRITE, Say("ok"))
    async with app:
        await prompt(await app.session())
    assert place.log[0]["tool_input"] == {"file_path": str(place.work / "new.txt"), "content": "x"}
    assert not (place.work / "new.txt").exists()
