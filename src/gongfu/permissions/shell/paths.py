"""What touching a path means: inside the workspace or not, a place of the system, a secret."""

from __future__ import annotations

import os
import re
from pathlib import Path

from gongfu.permissions.shell.state import Found, State
from gongfu.permissions.shell.words import Word
from gongfu.workspace.protect import why_protected

_SYSTEM = (
    "/usr/", "/bin/", "/sbin/", "/lib/", "/lib32/", "/lib64/", "/opt/", "/etc/", "/nix/store/", "/sys/", "/System/",
    "/private/etc/", "/Applications/", "/snap/",
)  # fmt: skip
_PROC = r"/proc/(cpuinfo|meminfo|version|loadavg|uptime|mounts|filesystems|stat|swaps|partitions|sys(/.*)?)"
_DEVICES = frozenset(["null", "zero", "full", "random", "urandom", "stdin", "stdout", "stderr", "tty", "ptmx"])
_DISKS = r"/dev/(sd|hd|vd|xvd|nvme|mmcblk|disk|rdisk|loop|dm-|mapper/|md|sr|mem|kmem|port).*"
_MATCHES = 2_000


NOWHERE = "/proc/self/fd/unknown"


def real_path(path: str) -> str:
    """Where a path leads; somewhere outside of any workspace when nobody may look."""
    try:
        return os.path.realpath(path)
    except (OSError, ValueError):
        return NOWHERE


def places_of(text: str, state: State) -> list[str | None]:
    """The absolute paths that a word may mean, one for each folder it may be seen from; None: any path at all."""
    if text.startswith("/") or (os.name == "nt" and os.path.isabs(text)):  # noqa: PTH117 - of a text
        return [text]
    return [None if place is None else os.path.join(place, text) for place in state.places]  # noqa: PTH118


def touch(word: Word, state: State, found: Found, *, write: bool = False) -> None:
    """Rate reading or writing what a word names."""
    if not word.literal:
        found.add("unknown", why="shell_unseen", about=word.source)
        return
    if "\0" in word.text or len(word.text) > 4_000:
        found.add("unknown")
        return
    for place in places_of(word.text, state):
        if place is None:
            found.add("unknown", why="shell_somewhere", about=word.text)
        elif word.glob:
            _touch_glob(place, state, found, write=write)
        else:
            touch_path(place, state, found, write=write)


def touch_path(path: str, state: State, found: Found, *, write: bool) -> None:
    """Rate reading or writing an absolute path."""
    asked = os.path.normpath(path)
    device = _device(asked, found, write=write)
    if device:
        return
    real = real_path(path)
    if real == NOWHERE:
        found.add("unknown", why="shell_unseen", about=asked)
    for each in dict.fromkeys((asked, real)):
        protected = why_protected(Path(each), state.workspace, write=write)
        if protected:
            found.add(
                "credential" if protected == "secret" else "destructive", why=f"protected_{protected}", about=each
            )
    if state.workspace.contains(Path(real)):
        found.add("write" if write else "read")
    elif write:
        found.add("outside", why="outside_write", about=real)
        if is_system(real):
            found.add("privilege")
    elif is_system(real) or re.fullmatch(_PROC, real):
        found.add("read")
    else:
        found.add("outside", why="outside_read", about=real)


def _device(path: str, found: Found, *, write: bool) -> bool:
    """Rates devices; whether it was one."""
    if not path.startswith("/dev/"):
        return False
    net = re.match(r"/dev/(?:tcp|udp)/([^/]+)/", path)
    if net is not None:
        found.add("network")
        found.hosts[net[1]] = None
        return True
    name = path[5:]
    if name in _DEVICES or re.fullmatch(r"fd/\d+", name):
        found.add("read")
        return True
    if write or re.fullmatch(_DISKS, path):
        if re.fullmatch(_DISKS, path):
            found.add("destructive", why="shell_device", about=path)
        found.add("privilege", "outside")
        return True
    return False


def is_system(real: str) -> bool:
    """Whether a path is a place of the system, where nothing of a person is."""
    return f"{real}/".startswith(_SYSTEM)


def inside(word: Word, state: State) -> bool:
    """Whether all that a word may mean lies in the workspace, below its folders."""
    if not word.plain:
        return False
    for place in places_of(word.text, state):
        if place is None:
            return False
        real = Path(real_path(place))
        if not state.workspace.contains(real) or real in (state.workspace.root, *state.workspace.extra):
            return False
    return True


def _touch_glob(path: str, state: State, found: Found, *, write: bool) -> None:
    """What a pattern may stand for: the folder that it starts in, and what of the disk fits it now."""
    import glob  # only for lines with patterns

    fixed = re.split(r"[*?\[]", path, maxsplit=1)[0].rpartition("/")[0] or "/"
    rest = path[len(fixed) :]
    if ".." in rest.split("/"):
        found.add("unknown", why="shell_unseen", about=path)
        return
    touch_path(fixed, state, found, write=write and state.workspace.contains(Path(real_path(fixed))))
    if write:
        touch_path(f"{fixed}/x", state, found, write=True)
    base = real_path(fixed)
    for seen, match in enumerate(glob.iglob(path)):  # noqa: PTH207 - as a shell does it
        if seen > _MATCHES:
            found.add("unknown", why="shell_unseen", about=path)
            return
        if os.path.basename(match).startswith("-") and "/" not in rest.strip("/"):  # noqa: PTH119
            found.add("unknown", why="shell_unseen", about=match)
        if real_path(match) != base + match[len(fixed) :] or why_protected(Path(match), state.workspace, write=write):
            touch_path(match, state, found, write=write)
