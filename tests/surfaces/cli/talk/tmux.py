"""A real terminal: the program in a window of tmux, typed at and looked at as a person does."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.surfaces.cli.conftest import PYTHON, Program

PATIENCE = 30.0


class Window:
    """The program in a terminal of its own. Each window is a server of tmux by itself, so that none meets another's."""

    def __init__(self, program: Program, *args: str, columns: int = 80, rows: int = 24, **env: str) -> None:
        self._folder = Path(tempfile.mkdtemp(prefix="gongfu-tmux-"))  # a socket's path must be short
        self._socket = str(self._folder / "s")
        self.columns, self.rows = columns, rows
        given = {**program.env, "TERM": "tmux-256color", "SHELL": "/bin/sh", **env}
        given.setdefault("PATH", os.defpath)
        command = ["env", "-i", *(f"{name}={value}" for name, value in given.items()), *PYTHON, *args]
        status = self._folder / "status"
        line = f"{_quoted(command)}; echo $? > {status}; stty sane; exec sleep 1000"
        self._status = status
        self._tmux(
            "new-session", "-d", "-s", "w", "-x", str(columns), "-y", str(rows), "-c", str(program.folder),
            "/bin/sh", "-c", line,
        )  # fmt: skip
        self._tmux("set-option", "-g", "history-limit", "20000")
        self._tmux("set-option", "-g", "status", "off")
        self._tmux("set-option", "-s", "escape-time", "0")
        self._tmux("resize-window", "-t", "w", "-x", str(columns), "-y", str(rows))

    def _tmux(self, *args: str, data: bytes | None = None) -> str:
        done = subprocess.run(
            ["tmux", "-S", self._socket, "-f", "/dev/null", *args],
            env={"PATH": os.environ.get("PATH", os.defpath), "LANG": "C.UTF-8", "HOME": str(self._folder)},
            input=data, capture_output=True, timeout=20, check=False,
        )  # fmt: skip
        return done.stdout.decode("utf-8", "replace")

    # --- a person's hands ---

    def type(self, text: str) -> None:
        """Press the keys of a text."""
        self._tmux("send-keys", "-t", "w", "-l", "--", text)

    def press(self, *keys: str) -> None:
        """Press keys by their names: Enter, Escape, C-c, BTab, Up, M-Enter …"""
        self._tmux("send-keys", "-t", "w", *keys)

    def say(self, text: str) -> None:
        """Type a line and send it."""
        self.type(text)
        self.press("Enter")

    def paste(self, text: str) -> None:
        """Paste, as a terminal does."""
        self._tmux("load-buffer", "-b", "p", "-", data=text.encode())
        self._tmux("paste-buffer", "-p", "-r", "-b", "p", "-t", "w")

    def resize(self, columns: int, rows: int) -> None:
        """Another size."""
        self.columns, self.rows = columns, rows
        self._tmux("resize-window", "-t", "w", "-x", str(columns), "-y", str(rows))

    # --- a person's eyes ---

    @property
    def lines(self) -> list[str]:
        """The visible screen."""
        return self._tmux("capture-pane", "-p", "-t", "w").rstrip("\n").split("\n")

    @property
    def screen(self) -> str:
        """The visible screen as text."""
        return "\n".join(line.rstrip() for line in self.lines)

    @property
    def all(self) -> str:
        """The screen with what was scrolled away above it; wrapped lines are joined."""
        return self._tmux("capture-pane", "-p", "-J", "-S", "-", "-t", "w").rstrip("\n")

    @property
    def painted(self) -> str:
        """The visible screen with its colours as escape sequences."""
        return self._tmux("capture-pane", "-p", "-e", "-t", "w")

    @property
    def cursor(self) -> tuple[int, int]:
        """Column and row of the cursor, from 0."""
        x, y = self._tmux("display-message", "-p", "-t", "w", "#{cursor_x} #{cursor_y}").split()
        return int(x), int(y)

    def until(self, wanted: str | Callable[[str], bool], *, gone: str = "") -> str:
        """Wait until the screen shows `wanted` (or does so by its own word) and `gone` has gone; the screen then."""
        end = time.monotonic() + PATIENCE
        while True:
            screen = self.screen
            there = wanted in screen if isinstance(wanted, str) else wanted(screen)
            if there and not (gone and gone in screen):
                return screen
            assert time.monotonic() < end, f"waited for {wanted!r}:\n{screen}"
            time.sleep(0.03)

    def ready(self) -> str:
        """Wait until the input is there."""
        return self.until(lambda screen: re.search(r"^[›!] ?", screen, re.MULTILINE) is not None)

    def end(self) -> int:
        """Wait until the program has ended; its exit code."""
        end = time.monotonic() + PATIENCE
        while not (self._status.exists() and self._status.read_text().strip()):
            assert time.monotonic() < end, f"it has not ended:\n{self.screen}"
            time.sleep(0.03)
        return int(self._status.read_text())

    def close(self) -> None:
        """Close the window, with whatever runs in it."""
        self._tmux("kill-server")
        shutil.rmtree(self._folder, ignore_errors=True)


def _quoted(command: list[str]) -> str:
    import shlex

    return " ".join(map(shlex.quote, command))


def missing() -> str:
    """Why there is no such terminal here; "" where there is one."""
    if sys.platform == "win32":
        return "tmux is for POSIX"
    return "" if shutil.which("tmux") else "tmux is missing (install the package tmux)"


def need_tmux() -> None:
    """Skip the test, or in CI fail it, where there is no tmux."""
    why = missing()
    if why and os.environ.get("CI") and sys.platform == "linux":
        pytest.fail(why)
    if why:
        pytest.skip(why)
