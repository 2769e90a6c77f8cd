"""A text editor of the person, which takes the terminal."""

from __future__ import annotations

import shutil
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final

_USUAL: Final = ("nano", "editor", "micro", "vim", "vi", "emacs")
# programs that come back at once unless they are told to wait for the window
_WAITS: Final = {
    "code": "--wait", "code-insiders": "--wait", "codium": "--wait", "cursor": "--wait", "windsurf": "--wait",
    "zed": "--wait", "subl": "--wait", "mate": "--wait", "gedit": "--wait", "kate": "--block", "gvim": "--nofork",
}  # fmt: skip


def editor_of(env: Mapping[str, str]) -> tuple[list[str], str]:
    """The words that start an editor, and the variable they come from: VISUAL, EDITOR, or "" for a usual one.

    The words are empty when there is none.
    """
    for name in ("VISUAL", "EDITOR"):
        if words := _split(env.get(name, "").strip()):
            program = Path(words[0]).stem.lower()
            flag = _WAITS.get(program, "")
            short = flag[1:3] if program != "gvim" else "-f"
            if flag and flag not in words and short not in words:
                words.insert(1, flag)
            return words, name
    usual = ("notepad",) if sys.platform == "win32" else _USUAL
    found = next((name for name in usual if shutil.which(name, path=env.get("PATH"))), "")
    return [found] if found else [], ""


def _split(line: str) -> list[str]:
    import shlex

    if not line:
        return []
    if shutil.which(line):  # a path with spaces in it
        return [line]
    try:
        words = shlex.split(line, posix=sys.platform != "win32")
    except ValueError:
        return [line]
    return [word.strip('"') for word in words] if sys.platform == "win32" else words


def run_editor(words: Sequence[str], path: Path, env: Mapping[str, str]) -> int:
    """Edit a file with the program of `words`, on the terminal of this process; its exit code.

    OSError when it cannot be started.
    """
    program = shutil.which(words[0], path=env.get("PATH")) or words[0]
    return subprocess.run([program, *words[1:], str(path)], env=dict(env), check=False).returncode
