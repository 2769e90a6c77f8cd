"""A program in a pseudo-terminal, as a person sees it: what it writes, when, and keys that are pressed."""

from __future__ import annotations

import fcntl
import os
import pty
import select
import signal
import struct
import termios
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

ASKED = b"\x1b[6n"  # where is the cursor?
MARK = "\u203a ".encode()  # the prompt
STATUS = " \u00b7 ".encode()  # stands in the line about a session that is opened again
READ = b"% of "  # the line below the input tells how full the context is once the session is there


def environment(home: Path, **more: str) -> dict[str, str]:
    """The environment of a person with an empty script as model and `home` for all else."""
    script = home.parent / "script.yaml"
    if not script.exists():
        script.write_text("steps: []\n", "utf-8")
    return {
        "PATH": os.environ["PATH"], "HOME": str(home.parent), "GONGFU_HOME": str(home), "TERM": "xterm-256color",
        "LANG": "C.UTF-8", "GONGFU_MODEL": f"scripted:{script}", **more,
    }  # fmt: skip


class PtyProgram:
    """Starts `command` at once. `output` is all that it wrote so far."""

    def __init__(
        self, command: Sequence[str], *, env: Mapping[str, str], folder: Path, size: tuple[int, int] = (24, 80)
    ):
        self.output = bytearray()
        self._answered = 0
        self.began = time.perf_counter()
        self.pid, self._end = pty.fork()
        if not self.pid:
            os.chdir(folder)
            os.execvpe(command[0], list(command), dict(env))
        fcntl.ioctl(self._end, termios.TIOCSWINSZ, struct.pack("HHHH", *size, 0, 0))

    def press(self, keys: str) -> None:
        os.write(self._end, keys.encode())

    def take(self, seconds: float) -> bool:
        """Read what there is, waiting up to `seconds` for it; False when nothing came."""
        if not select.select([self._end], [], [], max(0.0, seconds))[0]:
            return False
        try:
            data = os.read(self._end, 1 << 16)
        except OSError:  # Linux: the other end is closed
            return False
        self.output += data
        asked = self.output.count(ASKED)
        for _ in range(asked - self._answered):
            os.write(self._end, b"\x1b[1;1R")
        self._answered = asked
        return bool(data)

    def until(self, words: bytes, *, start: int = 0, seconds: float = 20.0) -> float:
        """The moment (perf_counter) at which `words` had come, behind byte `start` of the output."""
        last = time.perf_counter() + seconds
        while self.output.find(words, start) < 0:
            if time.perf_counter() > last:
                raise TimeoutError(f"{words!r} never came; at the end there was {bytes(self.output[-2000:])!r}")
            self.take(0.5)
        return time.perf_counter()

    def quiet(self, seconds: float = 0.3) -> None:
        """Until nothing has come for so long."""
        while self.take(seconds):
            pass

    def cpu(self) -> float:
        """Seconds of processor time of the program so far (Linux)."""
        fields = Path(f"/proc/{self.pid}/stat").read_text("ascii").rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def end(self) -> None:
        for number in (signal.SIGTERM, signal.SIGKILL):
            try:
                os.kill(self.pid, number)
            except ProcessLookupError:
                break
            last = time.perf_counter() + 2
            while time.perf_counter() < last:
                if os.waitpid(self.pid, os.WNOHANG)[0]:
                    os.close(self._end)
                    return
                self.take(0.05)
