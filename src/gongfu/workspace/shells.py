"""Which shell runs a command line."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import chain

from gongfu.core.base import Base

_POSIX = ("/bin/bash", "/usr/bin/bash", "/usr/local/bin/bash", "/opt/homebrew/bin/bash", "/bin/sh", "/usr/bin/sh")


class Shell(Base, frozen=True):
    """A shell by `name` (bash, sh, pwsh, powershell, cmd); `start` comes before the command line."""

    name: str
    start: tuple[str, ...]

    def argv(self, command: str) -> list[str]:
        """The arguments that run `command`."""
        return [*self.start, command]


def find_shell(
    env: Mapping[str, str], *, platform: str = sys.platform, exists: Callable[[str], bool] = os.path.exists
) -> Shell:
    """The shell of this machine: bash, else sh; on Windows PowerShell 7, Windows PowerShell, else cmd.

    Start-up files of logins and of interactive shells are not read.
    """
    if platform == "win32":
        return _windows(env, exists)
    path = next((p for p in chain(_POSIX[:4], _on_path("bash", env), _POSIX[4:]) if exists(p)), "sh")
    if path.endswith("bash"):
        return Shell(name="bash", start=(path, "--noprofile", "--norc", "-c"))
    return Shell(name="sh", start=(path, "-c"))


def _on_path(name: str, env: Mapping[str, str]) -> Iterator[str]:
    folders = env.get("PATH", "").split(":")
    yield from (os.path.join(folder, name) for folder in folders if folder.startswith("/"))  # noqa: PTH118


def _windows(env: Mapping[str, str], exists: Callable[[str], bool]) -> Shell:
    flags = ("-NoLogo", "-NoProfile", "-NonInteractive", "-ExecutionPolicy", "Bypass", "-Command")
    folders = [folder.strip('"') for folder in env.get("PATH", env.get("Path", "")).split(";") if folder.strip('"')]
    system = env.get("SystemRoot", env.get("SYSTEMROOT", r"C:\Windows"))
    powershell = rf"{system}\System32\WindowsPowerShell\v1.0\powershell.exe"
    for name, paths in (("pwsh", [rf"{f}\pwsh.exe" for f in folders]), ("powershell", [powershell])):
        found = next((path for path in paths if exists(path)), None)
        if found:
            return Shell(name=name, start=(found, *flags))
    return Shell(name="cmd", start=(env.get("COMSPEC", rf"{system}\System32\cmd.exe"), "/d", "/s", "/c"))


def as_argv(command: str | Sequence[str], env: Mapping[str, str]) -> list[str]:
    """Arguments as they are; a command line goes through the shell of this machine."""
    return find_shell(env).argv(command) if isinstance(command, str) else list(command)


def shell_name(env: Mapping[str, str]) -> str:
    """The name of the shell that runs command lines here."""
    return find_shell(env).name
