"""One-shot runs of the real program: what goes where, and how it exits."""

from __future__ import annotations

import json
import os
import shlex
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import psutil
import pytest

from gongfu.models.scripted.script import Call, Fault, Say
from gongfu.models.scripted.server import Server

from .conftest import PYTHON, Program

Serve = Callable[..., Server]


def shell(command: str, text: str = "") -> Call:
    return Call("shell", {"command": command}, text=text)


def test_the_answer_goes_to_standard_output_and_the_work_to_standard_error(program: Program, serve: Serve) -> None:
    serve(shell("echo hello", "I look first."), Say("All is well. 一切正常。"))
    done = program.run("run", "--yes", "look around")
    assert done.code == 0, done
    assert done.out == "All is well. 一切正常。\n"
    assert "I look first." in done.err
    assert "shell  echo hello" in done.err
    assert "done in" in done.err
    assert "\x1b" not in done.out + done.err


@pytest.mark.parametrize("args", [("do it please",), ("-p", "do"), ("run", "do"), ("--quiet", "do it please")])
def test_every_way_to_give_a_task(program: Program, serve: Serve, args: tuple[str, ...]) -> None:
    server = serve(Say("Done."))
    done = program.call(*args)
    assert (done.code, done.out) == (0, "Done.\n"), done
    assert "do" in server.requests[0].raw.decode()
    assert ("--quiet" in args) == (done.err == "")


def test_piped_text_is_added_or_is_the_task(program: Program, serve: Serve) -> None:
    server = serve(Say("Done.", times=0))
    program.run("-p", "review this", stdin="差异 +1 -1".encode())
    sent = server.requests[0].body["messages"][-1]["content"]
    assert "review this" in sent
    assert "<piped_input>\n差异 +1 -1\n</piped_input>" in sent
    for args in ((), ("run",), ("run", "-")):
        assert program.call(*args, stdin="the whole task").code == 0
        sent = server.requests[-1].body["messages"][-1]["content"]
        assert sent.endswith("the whole task")


def test_a_pipe_that_nobody_writes_to_does_not_hold_the_task_up(program: Program, serve: Serve) -> None:
    serve(Say("Done."))
    reader, writer = os.pipe()
    try:
        started = time.monotonic()
        done = subprocess.run(
            [*PYTHON, "-p", "hi"], stdin=reader, capture_output=True, timeout=60,
            env=program.env, cwd=program.folder, check=False,
        )  # fmt: skip
        assert (done.returncode, done.stdout) == (0, b"Done.\n")
        assert b"Nothing came through the pipe" in done.stderr
        assert time.monotonic() - started < 20
    finally:
        os.close(reader)
        os.close(writer)


def test_json_is_one_object_with_everything(program: Program, serve: Serve) -> None:
    serve(shell("echo hi"), Say("Done. 好"))
    done = program.call("run", "--yes", "--json", "x y")
    result = json.loads(done.out)
    assert done.out.count("\n") == 1
    assert result["type"] == "result"
    assert result["status"] == "done"
    assert result["text"] == "Done. 好"
    assert result["exit_code"] == done.code == 0
    assert result["session"].startswith("s_")
    assert (result["steps"], result["requests"], result["cost"]) == (2, 2, None)
    assert result["usage"]["input"] > 0
    assert set(result["usage"]) == {"input", "cached", "cache_write", "output", "reasoning"}


def test_stream_json_is_one_event_a_line_between_a_header_and_the_result(program: Program, serve: Serve) -> None:
    serve(shell("echo hi"), Say("Done."))
    done = program.call("run", "--yes", "--stream-json", "x y")
    lines = [json.loads(line) for line in done.out.splitlines()]
    assert lines[0] == {"type": "session", "session": lines[0]["session"], "version": lines[0]["version"], "format": 1}
    assert lines[-1]["type"] == "result"
    assert lines[-1]["session"] == lines[0]["session"]
    events = lines[1:-1]
    assert all(line["time"] > 1e9 for line in events)
    durable = [line["seq"] for line in events if line["seq"]]
    assert durable == sorted(set(durable))
    kinds = [line["type"] for line in events]
    for kind in ("turn_started", "request_sent", "answer_received", "tool_started", "tool_finished", "turn_finished"):
        assert kind in kinds
    assert "text_delta" in kinds


def test_a_schema_makes_the_answer_data(program: Program, serve: Serve) -> None:
    (program.folder / "s.json").write_text(
        '{"type": "object", "required": ["n"], "properties": {"n": {"type": "integer"}}}'
    )
    serve(Say('{"n": 42}', times=0))
    done = program.call("run", "--output-schema", "s.json", "how many?")
    assert (done.code, json.loads(done.out)) == (0, {"n": 42}), done
    done = program.call("run", "--output-schema", "s.json", "--json", "how many?")
    assert json.loads(done.out)["output"] == {"n": 42}


def test_a_session_goes_on(program: Program, serve: Serve) -> None:
    server = serve(Say("One.", times=0))
    first = json.loads(program.call("run", "--json", "first task").out)["session"]
    assert json.loads(program.call("-c", "--json", "second task").out)["session"] == first
    assert json.loads(program.call("-s", first[:10], "--json", "third task").out)["session"] == first
    assert "first task" in server.requests[-1].raw.decode()
    nothing = program.call("-c")
    assert nothing.code == 1
    assert "nothing to" in nothing.err.lower()


def test_limits_end_with_4_and_an_unknown_price_with_2(program: Program, serve: Serve) -> None:
    server = serve(shell("echo 1"), shell("echo 2"), shell("echo 3"))
    done = program.call("run", "--yes", "--max-steps", "2", "count please")
    assert done.code == 4, done
    assert "limit of one turn" in done.err
    asked = len(server.requests)
    done = program.call("run", "--max-cost", "1", "count please")
    assert done.code == 2, done
    assert "price" in done.err
    assert len(server.requests) == asked


def test_a_wrong_key_is_one_clear_sentence(program: Program, serve: Serve) -> None:
    serve(Say("never"), key="another")
    done = program.call("run", "hello you")
    assert done.code == 1, done
    assert "key was not accepted" in done.err
    assert "Traceback" not in done.err
    assert "test-key" not in done.err


def test_nobody_there_is_one_clear_sentence(program: Program) -> None:
    env = {"OPENAI_BASE_URL": "http://127.0.0.1:9/v1", "OPENAI_API_KEY": "k", "GONGFU_MODEL": "x"}
    done = program.call("run", "--max-minutes", "0.05", "hello you", **env)
    assert done.code in (1, 4), done
    assert "cannot be reached" in done.err
    assert "127.0.0.1:9" in done.err
    assert done.out == ""


def test_an_unknown_provider_is_a_usage_error(program: Program) -> None:
    done = program.call("run", "--model", "deepsek/chat", "hello you")
    assert done.code == 2, done
    assert "deepseek" in done.err


def test_without_any_model_it_says_what_to_do(program: Program) -> None:
    done = program.call("run", "hello you")
    assert done.code == 2, done
    assert "gongfu models pull" in done.err


def test_a_prompt_that_cannot_fit_is_refused_with_numbers_and_nothing_is_sent(program: Program, serve: Serve) -> None:
    server = serve(Say("never"))
    done = program.call("run", "-", stdin="word " * 400_000)
    assert done.code == 3, done
    assert "200,000" in done.err or "200000" in done.err or "200k" in done.err, done.err
    assert len(done.err) < 2000
    assert server.requests == []


def test_a_prompt_of_two_megabytes_arrives_whole_where_it_fits(program: Program, serve: Serve) -> None:
    server = serve(Say("Read."))
    program.home.mkdir()
    (program.home / "config.yaml").write_text("model_settings: {openai/test-model: {max_context_tokens: 0}}\n")
    done = program.run("run", "-", stdin=b"word " * 400_000, GONGFU_CONTEXT_WINDOW="2000000")
    assert (done.code, done.out) == (0, "Read.\n"), done
    assert len(server.requests[0].raw) > 2_000_000


def test_a_failing_model_after_its_retries_ends_with_1_and_the_answer_object_says_why(
    program: Program, serve: Serve
) -> None:
    serve(Fault("status", status=400, message="no such parameter"))
    done = program.call("run", "--json", "hello you")
    result = json.loads(done.out)
    assert done.code == result["exit_code"] == 1
    assert result["status"] == "failed"
    assert "no such parameter" in result["reason"]


def test_what_needs_a_yes_is_refused_without_a_terminal(program: Program, serve: Serve) -> None:
    server = serve(shell("touch made.txt"), Say("I may not."))
    done = program.call("run", "make a file")
    assert done.code == 0, done
    assert not (program.folder / "made.txt").exists()
    assert "refused" in done.err
    assert len(server.requests) == 2


@pytest.mark.skipif(os.name == "nt", reason="sends POSIX signals")
def test_ctrl_c_stops_the_turn_and_leaves_no_process(program: Program, serve: Serve) -> None:
    serve(shell("setsid sleep 301.5 & sleep 302.5 & echo $$ > pid; sleep 303.5"))
    process = program.start("run", "--yes", "--json", "wait long")
    wait_for(program.folder / "pid")
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=20)
    assert process.returncode == 130, err
    assert json.loads(out)["status"] == "cancelled"
    assert not any(map(lives, ("sleep 301.5", "sleep 302.5", "sleep 303.5")))


@pytest.mark.skipif(os.name == "nt", reason="sends POSIX signals")
def test_a_turn_that_was_stopped_goes_on(program: Program, serve: Serve) -> None:
    server = serve(shell("echo $$ > pid; sleep 307.5"), Say("Gone on."))
    process = program.start("run", "--yes", "wait long")
    wait_for(program.folder / "pid")
    process.send_signal(signal.SIGTERM)
    assert process.wait(20) == 130
    assert not lives("sleep 307.5")
    done = program.run("-c")
    assert (done.code, done.out) == (0, "Gone on.\n"), done
    assert [m["role"] for m in server.requests[-1].body["messages"]][-2:] == ["assistant", "tool"]


@pytest.mark.skipif(os.name == "nt", reason="sends POSIX signals")
def test_ctrl_c_while_the_model_is_silent(program: Program, serve: Serve) -> None:
    server = serve(Fault("hang", after=-1))
    process = program.start("run", "wait long")
    until(lambda: bool(server.requests))
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=20)
    assert process.returncode == 130, err
    assert b"stopping" in err
    assert b"Traceback" not in err


@pytest.mark.skipif(os.name == "nt", reason="sends POSIX signals")
def test_ctrl_c_twice_ends_at_once(program: Program, serve: Serve) -> None:
    serve(shell("trap '' TERM INT; setsid sleep 304.5 & echo $$ > pid; while :; do sleep 305.5; done"))
    process = program.start("run", "--yes", "wait long")
    wait_for(program.folder / "pid")
    process.send_signal(signal.SIGINT)
    process.send_signal(signal.SIGINT)
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=20)
    assert process.returncode == 130, err
    assert not any(map(lives, ("sleep 304.5", "sleep 305.5")))


def test_a_reader_that_is_gone_ends_it_quietly(program: Program, serve: Serve) -> None:
    serve(Say("a long answer\n" * 3_000))
    process = program.start("run", "talk long")
    assert process.stdout is not None
    process.stdout.close()
    assert process.stderr is not None
    err = process.stderr.read().decode()
    process.wait(30)
    assert "Traceback" not in err
    assert "Exception" not in err


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux tells that a reader has left")
def test_a_turn_ends_when_the_reader_of_its_events_leaves(program: Program, serve: Serve) -> None:
    serve(shell("sleep 308.5"))
    process = program.start("run", "--yes", "--stream-json", "wait long")
    assert process.stdout is not None
    assert process.stderr is not None
    until(lambda: b"tool_started" in process.stdout.readline())  # type: ignore[union-attr]
    process.stdout.close()
    process.wait(20)
    assert process.stderr.read() == b""
    assert not lives("sleep 308.5")


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full")
def test_a_full_place_for_the_answer_is_told(program: Program, serve: Serve) -> None:
    serve(Say("Done."))
    with Path("/dev/full").open("wb") as full:
        done = subprocess.run(
            [*PYTHON, "-p", "hi"], stdin=subprocess.DEVNULL, stdout=full, stderr=subprocess.PIPE,
            env=program.env, cwd=program.folder, timeout=60, check=False,
        )  # fmt: skip
    assert done.returncode == 1
    assert b"Traceback" not in done.stderr
    assert b"No space left" in done.stderr
    assert b"inside Gongfu" not in done.stderr


@pytest.mark.parametrize("encoding", ["ascii", "gbk", "latin-1"])
def test_any_encoding_of_the_streams_will_do(program: Program, serve: Serve, encoding: str) -> None:
    serve(shell("echo 你好"), Say("好的 ● café 🎉"))
    done = program.run("run", "--yes", "x y", PYTHONIOENCODING=encoding)
    assert done.code == 0, done
    assert b"Traceback" not in done.raw
    text = done.raw.decode(encoding)
    assert "\\U0001f389" in text
    assert ("好的" in text) == (encoding == "gbk")


def test_it_speaks_chinese(program: Program, serve: Serve) -> None:
    serve(shell("echo hi"), Say("完成。"))
    done = program.call("run", "--yes", "看看这里", LANG="zh_CN.UTF-8")
    assert done.code == 0, done
    assert "完成，用时" in done.err


def test_a_run_without_a_terminal_loads_nothing_heavy(program: Program, serve: Serve) -> None:
    serve(Say("Hi."))
    code = (
        "import sys; from gongfu.surfaces.cli.main import main\n"
        "sys.argv = ['gongfu', 'run', '--yes', 'say hi']\n"
        "code = main(); print(*sorted(sys.modules)); sys.exit(code)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=program.folder, env=program.env, capture_output=True, check=True,
        stdin=subprocess.DEVNULL,
    )  # fmt: skip
    loaded = set(done.stdout.decode().splitlines()[-1].split())
    assert "gongfu.app" in loaded
    heavy = {
        "rich", "ruamel", "ruamel.yaml", "prompt_toolkit", "fastapi", "pydantic", "mcp", "numpy", "charset_normalizer",
        "jsonschema", "json_repair", "markdown_it", "pygments", "email", "httpx2", "jedi", "tree_sitter",
        "playwright",
        "mss", "pynput", "pypdf", "nh3", "cnlunar", "trafilatura", "lxml", "typst", "jinja2", "html.parser", "smtplib",
    }  # fmt: skip
    assert not heavy & loaded
    rooms = {name.rpartition(".")[2] for name in loaded if name.startswith(("gongfu.toolkit.", "gongfu.knowledge"))}
    shelf = {"export", "plans", "notebook", "clock", "git_read", "code", "moving", "desktop", "browser", "mcp"}
    assert not rooms & shelf  # what stands on the shelf costs nothing until it is asked for
    assert not {name for name in loaded if name.startswith("gongfu.plugins.mcp")}


def wait_for(path: Path) -> None:
    until(lambda: path.exists() and bool(path.read_text().strip()))


def until(true: Callable[[], bool]) -> None:
    end = time.monotonic() + 30
    while not true():
        assert time.monotonic() < end, "it did not happen"
        time.sleep(0.02)


def lives(word: str) -> bool:
    """Whether some process (that is more than a zombie) has `word` in its command line."""
    for process in psutil.process_iter(["cmdline", "status"]):
        if process.info["status"] != psutil.STATUS_ZOMBIE and word in " ".join(process.info["cmdline"] or ()):
            return True
    return False


@pytest.mark.parametrize(
    "wrong", [["--max-cost", "nan"], ["--max-steps", "0"], ["--nope"], ["--json", "--stream-json"]]
)
@pytest.mark.parametrize("form", ["--json", "--stream-json"])
def test_what_is_wrong_with_a_command_line_comes_in_the_form_that_it_asks_for(
    program: Program, form: str, wrong: list[str]
) -> None:
    done = program.call("run", form, *wrong, "count")
    assert done.code == 2
    assert json.loads(done.out.splitlines()[-1])["exit_code"] == 2


def test_an_interrupt_while_the_program_loads_leaves_no_traceback(program: Program) -> None:
    script = (
        "import sys\n"
        "class Press:\n"
        "    def find_spec(self, name, *more):\n"
        "        if name == 'gongfu.surfaces.cli.main':\n"
        "            raise KeyboardInterrupt\n"
        "sys.meta_path.insert(0, Press())\n"
        "from gongfu.__main__ import main\n"
        "main()\n"
    )
    done = subprocess.run([sys.executable, "-c", script], env=program.env, capture_output=True, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (130, b"", b"")


def test_a_window_that_nobody_knows_is_told_once_with_the_command_that_sets_it(program: Program, serve: Serve) -> None:
    serve(Say("One."), Say("Two."), Say("Three."))
    program.env.pop("GONGFU_CONTEXT_WINDOW")
    first = program.call("run", "Say one.")
    (warning,) = [line for line in first.err.splitlines() if line.startswith("⚠")]
    assert "is not known, so 32,768 tokens of it are used" in warning
    assert "⚠" not in program.call("run", "--continue", "Say two.").err, "it was said in this session"
    command = shlex.split(warning.split("`")[1])
    assert command[-1] == "N"
    assert program.call(*command[1:-1], "50000").code == 0
    third = program.call("run", "Say three.")
    assert (third.code, "⚠" in third.err) == (0, False)
    assert "window 50.0k" in program.call("context").out
