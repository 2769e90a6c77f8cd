"""What runs on this machine, for tests of what must have ended (Linux)."""

from __future__ import annotations

from pathlib import Path

from gongfu.workspace.proctree import snapshot


def living(name: str) -> bool:
    """Whether a process lives that was started under the name `name`, or with it as an argument."""
    for pid, proc in snapshot().items():
        try:
            if not proc.dead and name.encode() in Path(f"/proc/{pid}/cmdline").read_bytes().split(b"\0"):
                return True
        except OSError:
            continue
    return False
