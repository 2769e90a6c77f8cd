"""Sub-agents in the real program: streamed, shown, listed, killed with `kill -9` and gone on with."""

from __future__ import annotations

import json
import signal
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from gongfu.core.events import AgentFinished, AnswerReceived, MessageAdded, ToolFinished
from gongfu.models.scripted.script import Call, Calls, Match, Say
from gongfu.models.scripted.server import Received, Server
from gongfu.store.database import Database
from gongfu.store.journal import Journal
from gongfu.store.sessions import Sessions

from .conftest import Program

Serve = Callable[..., Server]
CHILD = Match(system_contains="a sub-agent of Gongfu")


def child(text: str = "The report: alpha. 报告完毕。", tool: str = "cat a.txt") -> list[Any]:
    """The steps of every sub-agent: one command, then its report."""
    return [
        Say(text, when=Match(system_contains="a sub-agent of Gongfu", tool_result_contains="exit code")),
        Call("shell", {"command": f"{tool}; false"}, when=CHILD),
    ]


def test_the_stream_holds_the_tree_and_show_lists_the_agents(program: Program, serve: Serve) -> None:
    (program.folder / "a.txt").write_text("alpha\n")
    serve(
        *child(),
        Calls((Call("task", {"task": "审查 a.txt"}), Call("task", {"task": "count", "background": True}))),
        Say("Both.", times=0),
    )
    done = program.run("run", "--yes", "--stream-json", "go")
    assert done.code == 0, done
    lines = [json.loads(line) for line in done.out.splitlines()]
    kinds = [line["type"] for line in lines]
    started = {line["agent"]: line for line in lines if line["type"] == "agent_started"}
    assert set(started) == {"agent-1", "agent-2"}
    for name in started:
        inner = [line["event"]["type"] for line in lines if line["type"] == "agent_event" and line["agent"] == name]
        assert inner[0] == "session_created"
        assert {"tool_started", "tool_finished", "answer_received"} <= set(inner)
        assert inner[-1] == "turn_finished"
    assert kinds.count("agent_finished") == 2
    assert lines[-1]["requests"] == kinds.count("request_sent") + 4
    parent = lines[0]["session"]
    shown = program.call("show", parent)
    for name in started:  # once each: what was waited for at its call, what worked beside the turn at its end
        assert shown.out.count(started[name]["session"]) == 1, shown
    assert "agent-1 has reported" not in shown.out
    assert "agent-2 has reported" in shown.out
    usage = program.call("show", parent, "--usage").out
    assert [line.split()[:2] for line in usage.splitlines()[1:]] == [
        ["main", str(kinds.count("request_sent"))],
        ["sub-agent", "4"],
    ]
    fields = json.loads(program.call("show", parent, "--json").out)
    assert [(a["agent"], a["status"], a["background"]) for a in fields["agents"]] == [
        ("agent-1", "done", False),
        ("agent-2", "done", True),
    ]
    inside = program.call("show", started["agent-1"]["session"])
    assert f"a sub-agent of session {parent}" in inside.out
    assert "审查 a.txt" in inside.out
    listed = json.loads(program.call("sessions", "--json").out)["sessions"]
    assert [row["id"] for row in listed] == [parent]
    family = json.loads(program.call("sessions", "--agents", "--json").out)["sessions"]
    assert {row["parent"] for row in family} == {"", parent}
    assert len(family) == 3
    gone = program.call("sessions", "delete", "--yes", parent)
    assert all(line["session"] in gone.out for line in started.values())
    assert json.loads(program.call("sessions", "--agents", "--json").out)["sessions"] == []


def test_without_a_terminal_a_sub_agent_is_one_line_with_figures(program: Program, serve: Serve) -> None:
    (program.folder / "a.txt").write_text("alpha\n")
    serve(*child(), Call("task", {"task": "look at it"}), Say("Done."))
    done = program.run("run", "--yes", "go")
    assert done.out == "Done.\n"
    assert "● task  look at it  → agent-1: 1 call, 2 requests, " in done.err


@pytest.mark.parametrize("background", [False, True])
def test_killed_in_the_middle_of_a_sub_agent_the_session_goes_on_with_one_result_each(
    program: Program, serve: Serve, background: bool
) -> None:
    (program.folder / "a.txt").write_text("alpha\n")

    def main(request: Received) -> Any:
        messages = str(request.body["messages"])
        if "'tool'" not in messages:
            return Call("task", {"task": "look", "background": background})
        return Say("Gone on." if "nterrupted" in messages else "I wait.")

    kill = Call("shell", {"command": "kill -9 $PPID; sleep 5"}, text="I begin.", when=CHILD)
    serve(kill, *[main] * 9)
    killed = program.start("run", "--permission", "full", "go")
    killed.communicate(timeout=30)
    assert killed.returncode == -signal.SIGKILL
    done = program.run("run", "--permission", "full", "--continue")
    assert done.code == 0, done
    assert done.out == "Gone on.\n"
    with Database.open(program.home / "gongfu.db") as database:
        journal, rows = Journal(database), Sessions(database)
        parent, inner = (next(r for r in rows.list(children=True) if bool(r.parent) is own) for own in (False, True))
        events = [e.event for e in journal.read(parent.id)]
    calls = [c.id for e in events if isinstance(e, AnswerReceived) for c in e.message.calls]
    assert [e.call for e in events if isinstance(e, ToolFinished)] == calls
    (result,) = [e.result for e in events if isinstance(e, ToolFinished)]
    assert (result.status, result.agent) == ("done" if background else "interrupted", "agent-1")
    assert background or "What it had said last:\nI begin.\n\n[1 call: 1 shell; 1 request, " in result.text
    (finished,) = [e for e in events if isinstance(e, AgentFinished)]
    assert (finished.status, finished.session, finished.text) == ("interrupted", inner.id, "I begin.")
    assert finished.requests == 1
    assert finished.usage.output > 0
    reports = [e.message for e in events if isinstance(e, MessageAdded) and e.message.agent]
    assert [m.kind for m in reports] == ["note"] * background
    assert all("did not finish (interrupted)" in m.text and "I begin." in m.text for m in reports)


def test_a_killed_sub_agent_can_be_gone_on_with_by_itself(program: Program, serve: Serve) -> None:
    log: Path = program.folder / "log"
    serve(
        Say("The end of it.", when=Match(system_contains="a sub-agent of Gongfu", tool_result_contains="Interrupted")),
        Call("shell", {"command": f"echo once >> {log}; kill -9 $PPID; sleep 5"}, when=CHILD),
        Call("task", {"task": "look", "role": "Be careful.", "tools": ["shell"]}),
        Say("never"),
    )
    killed = program.start("run", "--permission", "full", "go")
    killed.communicate(timeout=30)
    family = json.loads(program.call("sessions", "--agents", "--json").out)["sessions"]
    (inner,) = [row["id"] for row in family if row["parent"]]
    done = program.run("run", "--permission", "full", "--session", inner)
    assert done.out == "The end of it.\n", done
    assert log.read_text() == "once\n"
