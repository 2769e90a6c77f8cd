"""Finds what a confined command must not see, and what it must not change although it lies in the workspace."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path

from gongfu.core.base import Base
from gongfu.workspace.protect import SECRET_FOLDERS, why_protected
from gongfu.workspace.root import Workspace, rest_below

_SYSTEM = (
    "/etc/shadow", "/etc/shadow-", "/etc/gshadow", "/etc/gshadow-", "/etc/sudoers", "/etc/sudoers.d",
    "/etc/ssl/private", "/etc/NetworkManager/system-connections", "/etc/wireguard", "/etc/krb5.keytab",
    "/var/lib/docker", "/var/lib/containerd", "/var/lib/kubelet", "/var/run/secrets", "/run/secrets",
    "/run/credentials",
)  # fmt: skip
_SOCKETS = (
    "/run/user", "/run/dbus", "/run/docker.sock", "/run/docker", "/run/containerd", "/run/podman", "/run/crio",
    "/run/systemd/private", "/run/systemd/io.systemd.ManagedOOM", "/run/libvirt", "/run/lxd.socket",
    "/run/snapd.socket", "/run/snapd-snap.socket", "/run/gnome", "/run/pcscd", "/run/cups", "/run/avahi-daemon",
    "/run/uuidd", "/var/lib/lxd/unix.socket", "/var/snap/lxd/common/lxd/unix.socket",
)  # fmt: skip
_OWN = (".gongfu", ".mcp.json", ".claude")
_OF_GIT = ("hooks", "config", "config.worktree", "info/attributes")
TEMPORARY = ("/tmp", "/var/tmp", "/dev/shm")  # noqa: S108 - these are given private ones
SOCKET_TABLE = "/proc/net/unix"


class Kept(Base, frozen=True):
    """Of the folders that may be written: those which are added for git, what stays as it is, what cannot be moved."""

    added: tuple[str, ...] = ()
    read_only: tuple[str, ...] = ()
    pinned: tuple[str, ...] = ()


def real_paths(paths: Iterable[str]) -> list[str]:
    """Those that exist, links resolved, each once."""
    return list(dict.fromkeys(os.path.realpath(p) for p in paths if os.path.lexists(p)))


def homes(env: Mapping[str, str]) -> list[str]:
    """The home of the environment and that of the account."""
    found = [env.get("HOME", "")]
    with suppress(KeyError, ImportError):
        import pwd  # not on every platform

        found.append(pwd.getpwuid(os.getuid()).pw_dir)
    return [home for home in dict.fromkeys(found) if home.startswith("/") and os.path.isdir(home) and home != "/"]  # noqa: PTH112


def hidden(workspace: Workspace, env: Mapping[str, str], more: Sequence[str]) -> tuple[str, ...]:
    """Credentials, sockets of services and Gongfu's own folders, as far as they exist; outer ones only.

    What contains a folder of the workspace is left out: the workspace is to be seen. So is what is closed to this user
    anyway: each hidden path costs every command a mount.
    """
    wanted: list[str] = [*_SYSTEM, *_SOCKETS, *(str(p) for p in workspace.private)]
    if env.get("XDG_RUNTIME_DIR", "").startswith("/"):
        wanted.append(env["XDG_RUNTIME_DIR"])
    with suppress(OSError):
        keys = (name for name in os.listdir("/etc/ssh") if name.startswith("ssh_host_"))  # noqa: PTH208
        wanted.extend(f"/etc/ssh/{name}" for name in keys if not name.endswith(".pub"))
    for home in homes(env):
        wanted.extend(home + folder.rstrip("/") for folder in SECRET_FOLDERS)
        wanted.extend(_secret_files(home, workspace))
        wanted.extend(_secret_files(f"{home}/.config", workspace))
    wanted.extend(os.path.expanduser(path) for path in more)  # noqa: PTH111
    roots = [str(p) for p in (workspace.root, workspace.directory, *workspace.extra)]
    found = [p for p in real_paths(wanted) if not any(rest_below(root, p) is not None for root in roots)]
    return outer(p for p in found if not _closed(p))


def _closed(path: str) -> bool:
    """Whether an ordinary user has no right at all on a file or folder of somebody else."""
    if os.geteuid() == 0:
        return False
    try:
        info = os.stat(path)  # noqa: PTH116
    except OSError:
        return False
    if info.st_uid in (os.getuid(), os.geteuid()) or not (stat.S_ISREG(info.st_mode) or stat.S_ISDIR(info.st_mode)):
        return False
    effective = os.access in os.supports_effective_ids
    return not any(os.access(path, way, effective_ids=effective) for way in (os.R_OK, os.W_OK, os.X_OK))


def outer(paths: Iterable[str]) -> tuple[str, ...]:
    """The paths that do not lie below another of them, in order."""
    kept: list[str] = []
    for path in sorted(set(paths)):
        if not kept or rest_below(path, kept[-1]) is None:
            kept.append(path)
    return tuple(kept)


def _secret_files(folder: str, workspace: Workspace) -> list[str]:
    try:
        names = os.listdir(folder)  # noqa: PTH208
    except OSError:
        return []
    paths = (f"{folder}/{name}" for name in names)
    return [p for p in paths if why_protected(Path(p), workspace, write=False) == "secret" and not os.path.isdir(p)]  # noqa: PTH112


def sockets(covered: Sequence[str], open_to: Sequence[str]) -> tuple[str, ...]:
    """The sockets that programs of this machine have bound to paths, save those below the folders given."""
    try:
        with open(SOCKET_TABLE, "rb") as table:  # noqa: PTH123
            lines = table.read().splitlines()[1:]
    except OSError:
        return ()
    found: set[str] = set()
    for line in lines:
        fields = line.split(None, 7)
        if len(fields) == 8 and fields[7].startswith(b"/"):
            found.add(os.fsdecode(fields[7]))
    return tuple(
        sorted(
            path
            for path in set(real_paths(found))
            if not any(rest_below(path, folder) is not None for folder in (*covered, *open_to))
        )
    )


def kept(folders: Sequence[str], nested: Sequence[str] = ()) -> Kept:
    """What is kept in the folders of the workspace; also the folder of git that lies elsewhere (a worktree's).

    `nested` are repositories in those folders: as a command may have made them, nothing elsewhere is opened for them.
    """
    added: list[str] = []
    read_only: list[str] = []
    pinned: list[str] = []
    for folder in dict.fromkeys((*folders, *nested)):
        read_only.extend(f"{folder}/{name}" for name in _OWN)
        git = f"{folder}/.git"
        if os.path.isfile(git):  # noqa: PTH113
            read_only.append(git)
            common = _common_of(git)
            if common and not any(rest_below(common, f) is not None for f in folders):
                if folder not in folders:
                    continue
                added.append(common)
            git = common
        if git and os.path.isdir(git):  # noqa: PTH112
            _keep_git(git, read_only, pinned)
    existing = [p for p in read_only if os.path.lexists(p) and not os.path.islink(p)]  # noqa: PTH114
    return Kept(added=tuple(added), read_only=tuple(existing), pinned=tuple(pinned))


def _keep_git(git: str, read_only: list[str], pinned: list[str]) -> None:
    pinned.append(git)
    read_only.extend(f"{git}/{name}" for name in _OF_GIT)
    for kind in ("modules", "worktrees"):
        inner = f"{git}/{kind}"
        with suppress(OSError):
            names = sorted(os.listdir(inner))  # noqa: PTH208
            pinned.append(inner)
            for name in names:
                pinned.append(f"{inner}/{name}")
                read_only.extend(f"{inner}/{name}/{part}" for part in (*_OF_GIT, "commondir", "gitdir"))


def _common_of(git: str) -> str:
    """The common folder of git that the file `.git` of a worktree or a submodule names; "" when it is none."""
    try:
        with open(git, encoding="utf-8", errors="surrogateescape") as file:  # noqa: PTH123
            named = file.read(4096).removeprefix("gitdir:").strip()
        own = os.path.realpath(os.path.join(os.path.dirname(git), named))  # noqa: PTH118, PTH120
        try:
            with open(f"{own}/commondir", encoding="utf-8", errors="surrogateescape") as file:  # noqa: PTH123
                common = os.path.realpath(os.path.join(own, file.read(4096).strip()))  # noqa: PTH118
        except FileNotFoundError:
            common = own
    except (OSError, ValueError):
        return ""
    looks = all(os.path.exists(f"{common}/{name}") for name in ("HEAD", "objects", "refs"))  # noqa: PTH110
    return common if looks and _points_back(own, git) else ""


def _points_back(own: str, git: str) -> bool:
    """Whether git made this link: a worktree's folder names the file, a submodule's lies below `modules`."""
    try:
        with open(f"{own}/gitdir", encoding="utf-8", errors="surrogateescape") as file:  # noqa: PTH123
            return os.path.realpath(file.read(4096).strip()) == os.path.realpath(git)
    except OSError:
        return "/.git/modules/" in f"{own}/"


def shown_in_temporary(env: Mapping[str, str], more: Iterable[str]) -> tuple[str, ...]:
    """What of the program path, and of `more`, lies in a temporary folder and would vanish with it."""
    folders = [*env.get("PATH", "").split(":"), *more]
    found = [p for p in real_paths(f for f in folders if f.startswith("/")) if is_temporary(p)]
    tops = [os.path.dirname(p) if p.endswith("/bin") else p for p in found]  # noqa: PTH120 - with its libraries
    return tuple(dict.fromkeys(p for p in tops if p not in TEMPORARY))


def is_temporary(path: str) -> bool:
    """Whether a resolved path lies in one of the system's temporary folders."""
    return any(rest_below(path, folder) is not None for folder in TEMPORARY)
