"""Finds out what confines commands on this machine, by trying it; what was found is kept for the next run."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path

import msgspec

from gongfu.core.base import Base
from gongfu.workspace.environment import search_path
from gongfu.workspace.sandbox.bwrap import Style, arguments
from gongfu.workspace.sandbox.confinement import Confinement, Kind

_SECONDS = 10.0
_SWITCHES = (
    "/proc/sys/kernel/random/boot_id",
    "/proc/sys/kernel/unprivileged_userns_clone",
    "/proc/sys/kernel/apparmor_restrict_unprivileged_userns",
    "/proc/sys/user/max_user_namespaces",
)


class Found(Base, frozen=True):
    """What there is: `kind`, bubblewrap's `style`, Landlock's version, and why there is no bubblewrap: a key of the
    catalogue ("" when there is or when it is not wanted) with its `reason`."""

    kind: Kind
    style: Style | None = None
    abi: int = 0
    why: str = ""
    reason: str = ""


class _Known(Base, frozen=True):
    key: list[str]
    user: bool
    nsenter: str


def guess(wanted: str, env: Mapping[str, str]) -> Kind:
    """What `probe` will probably find, without trying anything."""
    if sys.platform != "linux" or wanted == "off":
        return "none"
    if wanted != "landlock" and _program(env):
        return "bwrap"
    return "landlock" if wanted != "bwrap" and _landlock() else "none"


def probe(wanted: str, env: Mapping[str, str], memory: Path | None = None) -> Found:
    """What confines commands here, for the setting `wanted`. A success of bubblewrap is kept in the file `memory`."""
    if wanted == "off":
        return Found(kind="none", why="off")
    if sys.platform != "linux":
        return Found(kind="none", why="platform", reason=sys.platform)
    problem = Found(kind="none")
    if wanted != "landlock":
        style, problem = _bubblewrap(env, memory)
        if style is not None:
            return Found(kind="bwrap", style=style)
    version = _landlock() if wanted != "bwrap" else 0
    if version:
        return Found(kind="landlock", abi=version, why=problem.why, reason=problem.reason)
    if wanted == "landlock":
        return Found(kind="none", why="no_landlock")
    return problem


def _landlock() -> int:
    from gongfu.workspace.sandbox import landlock  # loads ctypes: only where there is no bubblewrap

    return landlock.abi()


def _program(env: Mapping[str, str], name: str = "bwrap") -> str:
    """A program, bubblewrap's if nothing else is said, from a folder of the system first: a project's own folder may
    come early in PATH."""
    folders = ("/usr/bin", "/bin", "/usr/local/bin", *search_path(env).split(":"))
    paths = (f"{folder}/{name}" for folder in folders)
    return next((path for path in paths if os.access(path, os.X_OK) and os.path.isfile(path)), "")  # noqa: PTH113


def _bubblewrap(env: Mapping[str, str], memory: Path | None) -> tuple[Style | None, Found]:
    program = _program(env)
    if not program:
        return None, Found(kind="none", why="no_bwrap")
    nsenter = _program(env, "nsenter")
    key = _key(program, nsenter)
    remembered = _recall(memory, key)
    if remembered is not None:
        return Style(program=program, user=remembered.user, nsenter=remembered.nsenter), Found(kind="none")
    reason = ""
    for user in (False, True):
        style = Style(program=program, user=user)
        reason = _try(style)
        if not reason:
            style = _sharing(style, nsenter)
            _keep(memory, _Known(key=key, user=user, nsenter=style.nsenter))
            return style, Found(kind="none")
    return None, Found(kind="none", why="bwrap_fails", reason=reason)


def _sharing(style: Style, nsenter: str) -> Style:
    """The style with `nsenter` when commands can share a network by it."""
    from gongfu.workspace.sandbox.loopback import Loopback

    wanted = Style(program=style.program, user=style.user, nsenter=nsenter)
    shared = Loopback(wanted)
    works = bool(shared.join) and not _try(wanted, shared.join)
    shared.close()
    return wanted if works else style


def _try(style: Style, join: Sequence[str] = ()) -> str:
    """Why it does not work; "" when it does."""
    temp = "/var/empty" if os.path.isdir("/var/empty") else "/mnt"  # noqa: PTH112 - any folder will do
    limits = Confinement(temp=temp)
    argv = [*arguments(style, limits, (), "/", join), "/bin/sh", "-c", "exit 7"]
    try:
        done = subprocess.run(
            argv, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, check=False,
            timeout=_SECONDS, env={"PATH": "/usr/bin:/bin"}, cwd="/",
        )  # fmt: skip
    except (OSError, subprocess.SubprocessError) as error:
        return str(error)
    if done.returncode == 7:
        return ""
    return done.stderr.decode("utf-8", "replace").strip().partition("\n")[0].removeprefix("bwrap: ") or "?"


def _key(program: str, nsenter: str) -> list[str]:
    """What the outcome depends on: the programs, this boot with its switches, the user and the namespaces."""
    parts = [program, nsenter, str(os.getuid())]
    for path in (program, nsenter):
        with suppress(OSError):
            parts.append(str(Path(path).stat().st_mtime_ns))
    for name in ("user", "mnt", "net"):
        with suppress(OSError):
            parts.append(os.readlink(f"/proc/self/ns/{name}"))  # noqa: PTH115
    for switch in _SWITCHES:
        try:
            with open(switch, encoding="utf-8") as file:  # noqa: PTH123
                parts.append(file.read().strip())
        except OSError:
            parts.append("-")
    return parts


def _recall(memory: Path | None, key: list[str]) -> _Known | None:
    if memory is None:
        return None
    try:
        known = msgspec.json.decode(memory.read_bytes(), type=_Known)
        return known if known.key == key else None
    except (OSError, ValueError):
        return None


def _keep(memory: Path | None, known: _Known) -> None:
    if memory is None or not memory.parent.parent.is_dir():
        return
    with suppress(OSError):
        memory.parent.mkdir(mode=0o700, exist_ok=True)
        draft = memory.with_name(f"{memory.name}.{os.getpid()}")
        draft.write_bytes(msgspec.json.encode(known))
        draft.replace(memory)
