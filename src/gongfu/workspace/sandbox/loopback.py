"""One network for the commands of an app: it has a loopback only, so that one reaches what another serves."""

from __future__ import annotations

import json
import os
import subprocess
from contextlib import suppress

from gongfu.workspace.sandbox.bwrap import Style

_SECONDS = 10.0


class Loopback:
    """Namespaces that live as long as this object, or a command in them: open files hold them, no process does.

    `join` is what a command is to be started with to be in them; () when they could not be made. Commands in them
    share ports and abstract sockets, nothing else: each has its own namespace of users below.
    """

    def __init__(self, style: Style) -> None:
        self._files: list[int] = []
        self.join: tuple[str, ...] = ()
        if style.nsenter:
            with suppress(OSError, ValueError, KeyError, subprocess.SubprocessError):
                self._open(style)

    def _open(self, style: Style) -> None:
        pid, holder = _hold(style)
        try:
            place = f"/proc/{os.getpid()}/fd"
            options: list[str] = []
            for kind in ("user", "net"):
                there, here = f"/proc/{pid}/ns/{kind}", f"/proc/self/ns/{kind}"
                if os.readlink(there) == os.readlink(here):  # noqa: PTH115
                    if kind == "net":
                        return
                    continue
                self._files.append(os.open(there, os.O_RDONLY | os.O_CLOEXEC))
                options.append(f"--{kind}={place}/{self._files[-1]}")
            self.join = (style.nsenter, *options, "--preserve-credentials", "--")
        finally:
            holder.communicate(timeout=_SECONDS)

    def close(self) -> None:
        """Let go of the namespaces; commands that still run in them keep them."""
        for file in self._files:
            os.close(file)
        self._files.clear()
        self.join = ()


def _hold(style: Style) -> tuple[int, subprocess.Popen[bytes]]:
    """A process in new namespaces, until its input ends. OSError or ValueError when there is none."""
    source, target = os.pipe()
    try:
        words = [style.program, "--unshare-net", *(["--unshare-user"] if style.user else [])]
        words += ["--ro-bind", "/", "/", "--info-fd", str(target), "--", "/bin/sh", "-c", "read _"]
        holder = subprocess.Popen(
            words, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, pass_fds=[target],
            cwd="/", env={"PATH": "/usr/bin:/bin"},
        )  # fmt: skip
    finally:
        os.close(target)
    try:
        with os.fdopen(source, "rb") as file:
            return int(json.load(file)["child-pid"]), holder
    except (ValueError, KeyError):
        holder.communicate(timeout=_SECONDS)
        raise
