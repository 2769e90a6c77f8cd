"""Which shell runs a command line, on each platform."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from gongfu.workspace.shells import as_argv, find_shell

SYSTEM = r"C:\Windows\System32"
POWERSHELL = rf"{SYSTEM}\WindowsPowerShell\v1.0\powershell.exe"


@pytest.mark.parametrize(
    ("there", "path", "name", "first"),
    [
        ({"/bin/bash", "/bin/sh"}, "/bin", "bash", "/bin/bash"),
        ({"/opt/homebrew/bin/bash", "/bin/sh"}, "/bin", "bash", "/opt/homebrew/bin/bash"),
        ({"/nix/x/bin/bash", "/bin/sh"}, "/nix/x/bin:/bin", "bash", "/nix/x/bin/bash"),
        ({"/bin/sh"}, "relative:/bin", "sh", "/bin/sh"),
        (set(), "", "sh", "sh"),
    ],
)
def test_posix(there: set[str], path: str, name: str, first: str) -> None:
    for platform in ("linux", "darwin"):
        shell = find_shell({"PATH": path}, platform=platform, exists=there.__contains__)
        assert (shell.name, shell.argv("echo 'x y'")[0], shell.argv("echo 'x y'")[-1]) == (name, first, "echo 'x y'")


@pytest.mark.parametrize(
    ("there", "name", "first"),
    [
        ({r"C:\ps7\pwsh.exe", POWERSHELL}, "pwsh", r"C:\ps7\pwsh.exe"),
        ({POWERSHELL}, "powershell", POWERSHELL),
        (set(), "cmd", rf"{SYSTEM}\cmd.exe"),
    ],
)
def test_windows(there: set[str], name: str, first: str) -> None:
    shell = find_shell({"Path": r'C:\a;"C:\ps7"'}, platform="win32", exists=there.__contains__)
    assert (shell.name, shell.start[0]) == (name, first)
    assert shell.argv("dir")[-1] == "dir"


def test_no_start_up_file_is_read(tmp_path: Path) -> None:
    for name in (".bashrc", ".bash_profile", ".profile", ".bash_login"):
        (tmp_path / name).write_text(f"touch {tmp_path}/read-{name}\n")
    env = {"HOME": str(tmp_path), "PATH": "/usr/bin:/bin"}
    assert subprocess.run(as_argv("echo $HOME", env), env=env, capture_output=True, check=True).stdout
    assert not list(tmp_path.glob("read-*"))
