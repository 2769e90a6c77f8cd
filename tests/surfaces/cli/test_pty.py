"""The real program on a pseudo-terminal: streaming, questions, Ctrl-C, and terminals that can do less."""

from __future__ import annotations

import os
import re
import select
import signal
import subprocess
import sys
import time
from collections.abc import Callable

import pytest

from gongfu.models.scripted.script import Call, Say
from gongfu.models.scripted.server import Server

from .conftest import PYTHON, Program
from .screen import FakeTerminal

if sys.platform == "win32":
    pytest.skip("pseudo-terminals are POSIX", allow_module_level=True)

import fcntl
import pty
import struct
import termios

Serve = Callable[..., Server]
COLUMNS = 80
OWN_TERMINAL = (
    "import fcntl, os, sys, termios; fcntl.ioctl(1, termios.TIOCSCTTY, 0); os.execv(sys.argv[1], sys.argv[1:])"
)


class Terminal:
    """A program on a pseudo-terminal, of 80 columns unless `columns` says otherwise."""

    def __init__(
        self, program: Program, *args: str, stdin: int | None = None, columns: int = COLUMNS, **env: str
    ) -> None:
        self.fd, inner = pty.openpty()
        fcntl.ioctl(inner, termios.TIOCSWINSZ, struct.pack("HHHH", 30, columns, 0, 0))

        self.process = subprocess.Popen(
            [sys.executable, "-c", OWN_TERMINAL, *PYTHON, *args], cwd=program.folder, env={**program.env, **env},
            start_new_session=True,
            stdin=inner if stdin is None else stdin, stdout=inner, stderr=inner,
        )  # fmt: skip
        os.close(inner)
        self.raw = ""

    def until(self, words: str) -> None:
        """Read on until `words` have been shown."""
        end = time.monotonic() + 30
        while words not in self.plain:
            assert time.monotonic() < end, self.plain
            if not self._read():
                raise AssertionError(self.plain)

    def _read(self) -> bool:
        if not select.select([self.fd], [], [], 1)[0]:
            return self.process.poll() is None
        try:
            data = os.read(self.fd, 65536)
        except OSError:  # Linux says so when the other side is closed
            return False
        self.raw += data.decode("utf-8", "replace")
        return bool(data)

    def read_for(self, seconds: float) -> None:
        """Take in what is shown within that time, so that nobody has to wait for the screen."""
        if self.fd >= 0 and select.select([self.fd], [], [], seconds)[0]:
            try:
                self.raw += os.read(self.fd, 65536).decode("utf-8", "replace")
            except OSError:  # the other side is closed
                self.hang_up()
        elif self.fd < 0:
            time.sleep(seconds)

    def hang_up(self) -> None:
        """Close the window."""
        os.close(self.fd)
        self.fd = -1

    def type(self, text: str) -> None:
        os.write(self.fd, text.encode())

    def end(self) -> int:
        """Read to the end; the exit code."""
        while self._read():
            pass
        os.close(self.fd)
        return self.process.wait(20)

    @property
    def plain(self) -> str:
        return re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", self.raw).replace("\r\n", "\n")

    @property
    def screen(self) -> list[str]:
        """What is left on the screen and above it."""
        screen = FakeTerminal(COLUMNS)
        screen.write(self.raw)
        return screen.lines


def test_a_turn_streams_and_leaves_a_clean_screen(program: Program, serve: Serve) -> None:
    serve(
        Call("shell", {"command": "echo one; sleep 0.8; echo two"}, text="I **look** first."),
        Say("# Done\n\nIt is `fixed`.\n\n- 中文\n- two\n", reasoning="hm"),
    )
    terminal = Terminal(program, "run", "--yes", "look around")
    assert terminal.end() == 0
    assert "\x1b[1mlook\x1b[0m" in terminal.raw
    assert "│ one" in terminal.plain, "live output was shown"
    screen = terminal.screen
    assert "I look first." in screen
    tool = next(line for line in screen if "shell" in line)
    assert re.fullmatch(r"● shell  echo one; sleep 0.8; echo two  → exit 0, 2 lines  [01]\.\ds", tool), screen
    for line in ("Done", "It is fixed.", " • 中文"):
        assert line in screen
    assert not any("│" in line or "thinking" in line or "hm" in line for line in screen)
    assert any(line.startswith("done in") for line in screen)


def test_permission_is_asked_with_a_preview_and_the_answer_counts(program: Program, serve: Serve) -> None:
    serve(
        Call("write_file", {"path": "a.txt", "content": "hello\n"}),
        Call("shell", {"command": "touch b.txt"}),
        Call("shell", {"command": "touch c.txt"}),
        Say("Done."),
    )
    terminal = Terminal(program, "run", "make files")
    terminal.until("no >")
    assert "write_file  a.txt" in terminal.plain
    assert "1 + hello" in terminal.plain
    terminal.type("what\n")
    terminal.type("y\n")
    terminal.until("touch b.txt")
    terminal.type("n not this one\n")
    terminal.until("touch c.txt")
    terminal.type("y\n")
    assert terminal.end() == 0, terminal.plain
    assert [(program.folder / f"{name}.txt").exists() for name in "abc"] == [True, False, True]
    assert "refused" in terminal.plain
    assert terminal.plain.count("1 + hello") == 1, "what was agreed to is not shown twice"


def test_the_model_may_ask_and_options_have_numbers(program: Program, serve: Serve) -> None:
    server = serve(Call("ask_user", {"question": "Which one?", "options": ["red", "蓝"]}), Say("Done."))
    terminal = Terminal(program, "run", "ask me something")
    terminal.until("2. 蓝")
    terminal.type("2\n")
    assert terminal.end() == 0
    assert "蓝" in str(server.requests[-1].body["messages"][-1])


def test_a_piped_task_can_still_ask_at_the_terminal(program: Program, serve: Serve) -> None:
    serve(Call("shell", {"command": "touch a.txt"}), Say("Done."))
    reader, writer = os.pipe()
    os.write(writer, b"make a file")
    os.close(writer)
    terminal = Terminal(program, "run", stdin=reader)
    os.close(reader)
    terminal.until("no >")
    terminal.type("y\n")
    assert terminal.end() == 0
    assert (program.folder / "a.txt").exists()


def test_ctrl_c_at_a_question_and_at_a_command(program: Program, serve: Serve) -> None:
    serve(Call("shell", {"command": "python3 -m http.server 0"}, text="Wait."))
    terminal = Terminal(program, "run", "wait long")
    terminal.until("no >")
    terminal.type("\x03")
    assert terminal.end() == 130
    assert "Traceback" not in terminal.plain
    assert any(line.startswith("stopped after") for line in terminal.screen)


def test_the_terminal_that_goes_away_ends_the_turn(program: Program, serve: Serve) -> None:
    serve(Call("shell", {"command": "touch started; sleep 306.5"}))
    terminal = Terminal(program, "run", "--yes", "wait long")
    end = time.monotonic() + 30
    while not (program.folder / "started").exists():
        assert time.monotonic() < end
        select.select([], [], [], 0.02)
    terminal.process.send_signal(signal.SIGHUP)
    assert terminal.end() == 130


@pytest.mark.parametrize("env", [{"NO_COLOR": "1"}, {"TERM": "dumb"}])
def test_without_colour_there_is_none(program: Program, serve: Serve, env: dict[str, str]) -> None:
    serve(
        Call("write_file", {"path": "a.txt", "content": "x\n"}, text="I **write**."),
        Say("Done `now`.\n\n```python\nx = 1\n```\n"),
    )
    terminal = Terminal(program, "run", "--permission", "edits", "write it", **env)
    assert terminal.end() == 0
    assert not re.search(r"\x1b\[[0-9;]*m", terminal.raw)
    if env.get("TERM") == "dumb":
        assert "\x1b" not in terminal.raw
        assert "Done `now`." in terminal.plain
    assert "1 + x" in terminal.plain


def test_gongfu_alone_opens_a_conversation(program: Program) -> None:
    terminal = Terminal(program, LANG="zh_CN.UTF-8", DEEPSEEK_API_KEY="x")
    terminal.until("要做什么")
    terminal.type("\x04")
    assert terminal.end() == 0
    assert not re.search(r"s_\w+", program.call("sessions").out), "nothing was said: nothing stays behind"


def test_deleting_a_session_asks_first(program: Program, serve: Serve) -> None:
    serve(Say("Done."))
    program.call("run", "say hello to me")
    id = re.search(r"s_\w+", program.call("sessions").out)
    assert id
    terminal = Terminal(program, "sessions", "delete", id[0])
    terminal.until("no >")
    terminal.type("n\n")
    assert terminal.end() == 1
    assert id[0] in program.call("sessions").out


def test_a_slip_at_the_question_about_rules_is_no_word_on_them(program: Program, serve: Serve) -> None:
    serve(Say("Done."))
    (program.folder / "AGENTS.md").write_text("Use tabs.\n")
    terminal = Terminal(program, "run", "Go.")
    terminal.until("[3] >")
    terminal.type("mandatroy\n")
    while terminal.plain.count("[3] >") < 2:  # asked again; it may come in one piece with what was typed
        assert terminal._read(), terminal.plain
    terminal.type("1\n")
    assert terminal.end() == 0
    assert re.search(r"AGENTS\.md +mandatory ", program.call("rules").out)


@pytest.mark.parametrize("command", ["delete", "refresh"])
def test_ctrl_c_at_a_yes_or_no_ends_the_program_and_changes_nothing(
    program: Program, serve: Serve, command: str
) -> None:
    serve(Say("One."), Say("Two."))
    rule = program.folder / "AGENTS.md"
    rule.write_text("Use tabs.\n")
    assert program.call("run", "--yes", "Go.").code == 0
    rule.write_text("Use spaces.\n")
    session = re.findall(r"s_\w+", program.call("sessions").out)[0]
    terminal = Terminal(program, *(["sessions", "delete", session] if command == "delete" else ["rules", "refresh"]))
    terminal.until("[n]")
    terminal.type("\x03")
    assert terminal.end() == 130
    assert "Traceback" not in terminal.plain
    assert session in program.call("sessions").out
    assert program.call("rules", "history", session).out.count("revision") == 1


def test_first_steps_ask_for_a_model_and_keep_the_key_to_themselves(program: Program) -> None:
    terminal = Terminal(program, "init", DEEPSEEK_BASE_URL="http://127.0.0.1:9/v1")
    terminal.until("1 >")
    number = re.search(r"(\d)\. another provider", terminal.plain)
    assert number
    terminal.type(f"{number[1]}\n")
    terminal.until("OpenAI-compatible server:")
    terminal.type("deepseek\n")
    terminal.until("it is not shown):")
    terminal.type("sk-very-secret\n")
    terminal.until("Model [")
    terminal.type("deepseek-chat\n")
    terminal.until("all the same?")  # nobody answers there: it is said before anything is written
    assert not (program.home / "keys.yaml").exists()
    terminal.type("y\n")
    assert terminal.end() == 0, terminal.plain
    assert "sk-very-secret" not in terminal.plain
    assert "Ready: deepseek/deepseek-chat" in terminal.plain
    assert "sk-very-secret" in (program.home / "keys.yaml").read_text()
