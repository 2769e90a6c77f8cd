"""The tool `mcp` and the tools of servers, through the agent loop: found, judged, asked for, shown."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from gongfu.core.events import QuestionAsked, ToolFinished
from gongfu.models.scripted import Call, Say
from tests.app.cast import Cast, opened, results, run, workplace
from tests.toolkit.loop import play

pytestmark = pytest.mark.anyio
MCP = Path(__file__).parents[1] / "plugins" / "mcp"


@pytest.fixture
def work(tmp_path: Path) -> Path:
    folder = workplace(tmp_path)
    configure(folder, bad={})
    return folder


def configure(folder: Path, more: str = "", **servers: dict) -> None:
    home = folder.parent / "home"
    home.mkdir(exist_ok=True)
    entry = {"command": sys.executable, "args": [str(MCP / "bad_server.py")]}
    given = {name: {**entry, **fields} for name, fields in servers.items()}
    (home / "config.yaml").write_text(more or json.dumps({"mcp": {"servers": given}}) + "\n")


async def test_a_tool_of_a_server_is_found_and_called(work):
    played = await play(work, ("find_tools", {"query": "bad ping answer"}), ("bad__ping", {"x": 1}))
    assert played.results[-2].text.startswith("## bad__ping\n(MCP server bad) Answer.")
    assert (played.status, played.text) == ("done", 'pong 1 {"x": 1}')
    assert "MCP servers: bad. find_tools finds their tools." in played.requests[0].messages[0].text
    tools = [tuple(t.name for t in request.tools) for request in played.requests]
    assert len(set(tools)) == 1
    assert not any("__" in name for name in tools[0])


async def test_a_tool_known_by_name_is_called_at_once(work):
    await play(work, ("find_tools", {"query": "ping"}))
    played = await play(work, ("bad__ping", {}))
    assert "MCP servers: bad (6 tools)" in played.requests[0].messages[0].text
    assert played.text == "pong 1 {}"
    gone = await play(work, ("bad__die", {}))
    assert gone.status == "failed"
    assert "effect is unknown" in gone.text


async def test_a_call_through_mcp_goes_by_the_name_of_the_tool(work):
    cast = Cast([
        Call("use_tool", {"name": "mcp", "arguments": {"action": "list", "server": "bad"}}),
        Call("use_tool", {"name": "mcp", "arguments": {
            "action": "call", "server": "bad", "name": "ping", "arguments": {"a": 2}}}),
        Call("use_tool", {"name": "mcp", "arguments": {"action": "call", "server": "bad", "name": "none"}}),
        Say("Done."),
    ])  # fmt: skip
    async with opened(work, cast, permission="full") as app:
        turn = await run(app)
        finished = turn.of(ToolFinished)
    assert [one.name for one in finished] == ["mcp", "bad__ping", "mcp"]
    assert finished[1].result.text == 'pong 1 {"a": 2}'
    assert "has no tool 'none'" in finished[2].result.text
    assert finished[0].result.text.splitlines()[:2] == [
        "bad: ready; 6 tools, protocol 2025-06-18",
        "- bad__ping: Answer.",
    ]


async def test_mcp_tells_of_servers_and_of_what_is_wrong(work):
    configure(work, bad={"disabled": True}, other={"command": "no-such-program-here"}, both={"url": "http://x"})
    asked = [{"action": "list"}, {"action": "connect", "server": "other"}, {"action": "prompts", "server": "bad"}]
    played = await play(work, *[("mcp", one) for one in asked])
    assert [r.status for r in played.results[-3:]] == ["done", "failed", "failed"]
    assert "other: failed; there is no program no-such-program-here" in played.results[-3].text
    assert "both: wrong; it has both a command and an address" in played.results[-3].text
    assert "switched off" in played.results[-1].text


async def test_without_servers_mcp_says_how_one_is_added(tmp_path):
    played = await play(workplace(tmp_path), ("mcp", {"action": "status"}), ("mcp", {"action": "call", "server": "x"}))
    assert "gongfu mcp add" in played.results[-2].text
    assert [r.status for r in played.results[-2:]] == ["done", "failed"]


async def asked(work: Path, mode: str, *, answer: str = "session", calls: int = 3, **options):
    """Three calls of two tools under a mode: the questions that were asked, and how the calls ended."""
    cast = Cast([Call("use_tool", {"name": name, "arguments": {}}) for name in CALLS[:calls]] + [Say("Done.")])
    questions: list[QuestionAsked] = []
    async with opened(work, cast, permission=mode, **options) as app:
        app.hub.start(app.group)
        await app.hub.settled(20)

        async def during(event) -> None:
            if isinstance(event, QuestionAsked):
                questions.append(event)
                for one in app._open.values():
                    await one.answer(event.question, answer)

        await run(app, during=during)
    return questions, [r.status for r in results(cast.asked[""][-1])]


CALLS = ["bad__ping", "bad__ping", "bad__odd"]


@pytest.mark.parametrize("mode", ["ask", "edits", "auto"])
async def test_each_tool_asks_once_for_a_session(work, mode):
    questions, ended = await asked(work, mode, calls=2)
    assert [(q.tool, q.reason, q.text) for q in questions] == [
        ("bad__ping", "permissions.beyond_workspace", "bad: ping")
    ]
    assert ended == ["done", "done"]


async def test_plan_refuses_what_the_person_did_not_call_reading(work):
    questions, ended = await asked(work, "plan", calls=1)
    assert (questions, ended) == ([], ["refused"])
    configure(work, bad={"read_only": ["ping"]})
    questions, ended = await asked(work, "plan", calls=2)
    assert (questions, ended) == ([], ["done", "done"])


async def test_rules_name_tools_of_servers(work):
    server = json.dumps({"bad": {"command": sys.executable, "args": [str(MCP / "bad_server.py")]}})
    configure(work, more=f"mcp: {{servers: {server}}}\npermission: {{allow: ['bad__*'], deny: [bad__odd]}}\n")
    questions, ended = await asked(work, "ask")
    assert (questions, ended) == ([], ["done", "done", "refused"])


async def test_a_refusal_is_heeded(work):
    questions, ended = await asked(work, "ask", answer="deny", calls=1)
    assert (len(questions), ended) == (1, ["refused"])


async def test_what_a_server_changes_in_the_workspace_can_be_undone(work):
    cast = Cast([Call("use_tool", {"name": "bad__odd", "arguments": {"what": "write"}}), Say("Done.")])
    async with opened(work, cast, permission="full") as app:
        app.hub.start(app.group)
        await app.hub.settled(20)
        turn = await run(app)
        assert (work / "made.txt").read_text() == "by a server"
        assert (await app.undo(turn.session.id)).done
        assert not (work / "made.txt").exists()


def test_nothing_of_mcp_is_loaded_without_servers(tmp_path):
    work = workplace(tmp_path)
    script = tmp_path / "s.yaml"
    script.write_text("- call: list_files\n  arguments: {}\n- say: Done.\n")
    code = (
        "import sys; from gongfu.surfaces.cli.main import main; sys.argv = ['gongfu', '--model', "
        f"'scripted:{script}', '-y', 'list the files'];\n"
        "try: main()\nexcept SystemExit: pass\n"
        "print('LOADED', [m for m in sys.modules if m == 'mcp' or m.startswith(('mcp.', 'gongfu.plugins.mcp'))])"
    )
    env = {"PATH": os.environ["PATH"], "HOME": str(tmp_path), "GONGFU_HOME": str(tmp_path / "home")}
    done = subprocess.run([sys.executable, "-c", code], cwd=work, env=env, capture_output=True, text=True, check=False)
    assert "LOADED []" in done.stdout, done
    assert "Done." in done.stdout
