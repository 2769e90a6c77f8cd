"""Programs that stand in where a library of the screen is not there."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys

from gongfu.workspace.screen.orders import ScreenProblem

_SECONDS = 15.0


def on_wayland() -> bool:
    """Whether the screen is that of a Wayland session."""
    return sys.platform == "linux" and bool(os.environ.get("WAYLAND_DISPLAY"))


def has(name: str) -> bool:
    """Whether a program is on PATH."""
    return shutil.which(name) is not None


def call(*argv: str, stdin: bytes = b"", fine: tuple[int, ...] = (0,)) -> bytes:
    """What a program says. ScreenProblem when it ends with another code than those that are `fine`."""
    try:
        done = subprocess.run(argv, input=stdin, capture_output=True, timeout=_SECONDS, check=False)
    except (OSError, subprocess.TimeoutExpired) as error:
        raise ScreenProblem(f"{argv[0]} did not work: {error}") from None
    if done.returncode not in fine:
        said = done.stderr.decode("utf-8", "replace").strip()[:300]
        raise ScreenProblem(f"{argv[0]} did not work: {said or f'exit code {done.returncode}'}")
    return done.stdout


def why_no_display(error: Exception) -> str:
    """A failure to reach the screen in words: `error` is what a library says."""
    shown = os.environ.get("DISPLAY", "")
    if sys.platform == "linux" and shown:
        return f"the display {shown} cannot be used: {str(error).strip() or type(error).__name__}"
    return f"the screen cannot be used: {str(error).strip() or type(error).__name__}"
