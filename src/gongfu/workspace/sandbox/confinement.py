"""What a confined command may touch, and how a command is really started."""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Literal, TypeAlias

from gongfu.core.base import Base

Kind: TypeAlias = Literal["bwrap", "landlock", "none"]
Network: TypeAlias = Literal["off", "list", "on"]
Popen: TypeAlias = "subprocess.Popen[bytes]"
Start: TypeAlias = Callable[[Callable[[], Popen]], Popen]


class Confinement(Base, frozen=True):
    """The limits of one command. All paths are absolute, resolved and exist.

    `writable` may be written, `read_only` below them may not, `pinned` are folders there that cannot be renamed (else
    what is read-only in them could be moved away), `hidden` is not seen, and wins over `writable`. `shown` are folders
    below the temporary folder that are needed to run programs. `temp` is what stands for /tmp. `read_only` names are
    those that programs outside run or obey. `masked` are secrets in what may be written: they are not read.
    """

    writable: tuple[str, ...] = ()
    read_only: tuple[str, ...] = ()
    pinned: tuple[str, ...] = ()
    hidden: tuple[str, ...] = ()
    masked: tuple[str, ...] = ()
    shown: tuple[str, ...] = ()
    temp: str = ""
    network: Network = "off"


class Box(Base, frozen=True):
    """How the process of a command is to be handled.

    `own_pids`: it stands in a pid namespace: its own process only waits and passes the exit code on, so a polite signal
    goes to the others, and the code of a signal is 128 + n. `start` starts it (in a thread that is restricted).
    """

    own_pids: bool = False
    start: Start | None = None


PLAIN = Box()


class Launch(Base, frozen=True):
    """What is really started for a command: `kind` says by what it is confined ("none": not at all), `network` what it
    reaches, `masked` which secrets of the workspace it does not read, `shared` that the commands of an app have its
    network in common. `absent` names were not there when it started, and are not to come from it."""

    argv: list[str]
    cwd: Path
    env: dict[str, str]
    kind: Kind = "none"
    network: Network = "on"
    box: Box = PLAIN
    masked: tuple[str, ...] = ()
    shared: bool = False
    absent: tuple[str, ...] = ()
