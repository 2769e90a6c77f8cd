"""Start a program that lives on without us."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from collections.abc import Mapping, Sequence
from pathlib import Path

from gongfu.workspace.proctree import MARK

_FLAGS = 0x200 | 0x08000000  # CREATE_NEW_PROCESS_GROUP, CREATE_NO_WINDOW


def spawn_detached(argv: Sequence[str], env: Mapping[str, str], log: Path) -> int:
    """Start `argv` in a session of its own with exactly `env`, no input and its output in the new file `log`; its pid.

    It is not ended with this process nor with a command that this process is part of. OSError when it cannot start.
    """
    bare = {name: value for name, value in env.items() if name != MARK}
    descriptor = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    try:
        process = subprocess.Popen(
            list(argv),
            env=bare,
            cwd=log.parent,
            stdin=subprocess.DEVNULL,
            stdout=descriptor,
            stderr=subprocess.STDOUT,
            close_fds=True,
            start_new_session=sys.platform != "win32",
            creationflags=_FLAGS if sys.platform == "win32" else 0,
        )
    finally:
        os.close(descriptor)
    # Waited for in a thread: should it end before us it must not stay behind as a zombie that looks alive.
    threading.Thread(target=process.wait, daemon=True, name=f"gongfu-detached-{process.pid}").start()
    return process.pid
