"""Labels from the command line to the wire and back: events, JSON, usage, and the bytes of requests."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from typing import Any

import pytest

from gongfu.core.specs import Usage
from gongfu.models.scripted.script import Call, Calls, Fault, Match, Say
from gongfu.models.scripted.server import Server

from .conftest import Program

Serve = Callable[..., Server]
FAST = {"GONGFU_FAST_MODEL": "fast-model"}
LABEL = "tool_use_summary_generation"
BATCH = Calls((Call("read_file", {"path": "a.txt"}, id="w1"), Call("shell", {"command": "echo hi"}, id="w2")))
READS = Calls((Call("read_file", {"path": "a.txt"}, id="w3"), Call("read_file", {"path": "b.txt"}, id="w4")))


LABELS = Say("Label: Read a.txt and greeted", usage=Usage(input=123, output=7), when=Match(model="fast-model"), times=0)
SLOWLY = Fault("slow", seconds=0.05, answer=Say("All of this is done now, and it took a while to say."))


def ready(program: Program) -> None:
    for name in ("a.txt", "b.txt"):
        (program.folder / name).write_text("one\n", encoding="utf-8")


def of_model(server: Server, model: str) -> list[Any]:
    return [r for r in server.requests if r.body.get("model") == model]


def lines(text: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in text.splitlines()]


def test_the_stream_tells_labels_with_the_calls_before_them(program: Program, serve: Serve) -> None:
    ready(program)
    server = serve(LABELS, BATCH, READS, SLOWLY)
    done = program.call("run", "--yes", "--stream-json", "look around", **FAST)
    assert done.code == 0, done
    events = lines(done.out)
    told = [e for e in events if e["type"] == "tool_use_summary"]
    assert {(e["text"], tuple(e["preceding_tool_use_ids"]), e["by"]) for e in told} == {
        ("Read a.txt and greeted", ("c1", "c2"), "model"),
        ("Read 2 files", ("c3", "c4"), "plain"),
    }
    assert all(e["seq"] for e in told)
    beside = events[-1]["usage_beside"][LABEL]
    assert (beside["requests"], beside["input"], beside["output"]) == (1, 123, 7)
    assert events[-1]["requests"] == 3
    assert len(of_model(server, "fast-model")) >= 1


def test_the_result_holds_the_labels(program: Program, serve: Serve) -> None:
    ready(program)
    serve(READS, Say("Done."))
    result = json.loads(program.call("run", "--yes", "--json", "look around").out)
    (told,) = result["tool_use_summaries"]
    assert told == {
        "type": "tool_use_summary", "text": "Read 2 files", "preceding_tool_use_ids": ["c1", "c2"], "by": "plain",
    }  # fmt: skip
    assert "usage_beside" not in result


def test_a_session_read_again_shows_labels_and_usage_by_purpose(program: Program, serve: Serve) -> None:
    ready(program)
    serve(LABELS, BATCH, READS, SLOWLY)
    program.call("run", "--yes", "look around", **FAST)
    shown = program.call("show").out
    assert "● Read a.txt and greeted\n" in shown
    assert "● Read 2 files\n" in shown
    compact = program.call("show", "--compact").out
    assert "● Read a.txt and greeted +1\n" in compact
    assert "read_file" not in compact
    told = json.loads(program.call("show", "--json").out)
    assert [t["text"] for t in told["tool_use_summaries"]].count("Read 2 files") == 1
    usage = program.call("show", "--usage").out
    (line,) = [line.split() for line in usage.splitlines() if line.startswith(LABEL)]
    assert line[1:4] == ["1", "123", "0"]
    used = json.loads(program.call("show", "--usage", "--json").out)["usage"]
    assert used[LABEL]["input"] == 123
    assert used["main"]["requests"] == 3


def test_compact_runs_show_one_line_a_batch(program: Program, serve: Serve) -> None:
    ready(program)
    serve(READS, Say("Done."))
    done = program.call("run", "--yes", "--compact", "look around")
    assert "● Read 2 files\n" in done.err
    assert "read_file" not in done.err
    assert done.out == "Done.\n"


def test_requests_have_the_same_bytes_with_labels_and_without(program: Program, serve: Serve) -> None:
    ready(program)
    bodies: list[list[bytes]] = []
    steps = [BATCH, READS, SLOWLY]
    for number, env in enumerate([FAST, {}, {**FAST, "GONGFU_EMIT_TOOL_USE_SUMMARIES": "0"}]):
        server = serve(LABELS, *steps)
        done = program.call("run", "--yes", "look around", GONGFU_HOME=str(program.home) + str(number), **env)
        assert done.code == 0, done
        bodies.append([r.raw for r in of_model(server, "test-model")])
        asked = [r for r in of_model(server, "fast-model") if b"batch of tool calls" in r.raw]
        assert len(asked) == (1 if number == 0 else 0)
        assert len(bodies[-1]) == 3
    assert bodies[0] == bodies[1] == bodies[2]


def test_a_fast_model_that_never_answers_delays_nothing(program: Program, serve: Serve) -> None:
    ready(program)
    server = serve(Fault("hang", after=-1, when=Match(model="fast-model"), times=0), BATCH, READS, Say("Done."))
    started = time.monotonic()
    done = program.run("run", "--yes", "--stream-json", "look around", **FAST)
    assert time.monotonic() - started < 10
    assert done.code == 0, done
    assert len(of_model(server, "fast-model")) >= 1
    assert [e["text"] for e in lines(done.out) if e["type"] == "tool_use_summary"] == ["Read 2 files"]
    assert "fast-model" not in done.err


@pytest.mark.parametrize("status", [401, 500])
def test_a_fast_model_that_fails_is_nobody_s_business(program: Program, serve: Serve, status: int) -> None:
    ready(program)
    serve(Fault("status", status=status, when=Match(model="fast-model"), times=0), BATCH, SLOWLY)
    done = program.call("run", "--yes", "look around", **FAST)
    assert done.code == 0, done
    assert "fast-model" not in done.err
    assert "HTTP" not in done.err


def test_the_first_batch_brings_a_title_by_the_fast_model(program: Program, serve: Serve) -> None:
    ready(program)
    serve(Say("Looking around", when=Match(model="fast-model"), times=0), READS, SLOWLY)
    program.call("run", "--yes", "please look around in this folder", **FAST)
    (row,) = json.loads(program.call("sessions", "--json").out)["sessions"]
    assert row["title"] == "Looking around"
