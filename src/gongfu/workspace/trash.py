"""The trash of the system: where a person looks for what was deleted."""

from __future__ import annotations

import os
import stat
import sys
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

_DESKTOPS = ("XDG_CURRENT_DESKTOP", "DESKTOP_SESSION", "DISPLAY", "WAYLAND_DISPLAY")
_TRIES = 1000


def put_in_trash(path: Path, env: Mapping[str, str]) -> str:
    """Move what lies at an absolute path (a link itself, not its target) to the trash; where it is now.

    "" when there is no trash for it here: on Linux where no desktop is and no trash was ever made, or on a disk that
    takes none; then nothing was done. OSError when it cannot be moved.
    """
    if sys.platform == "win32":
        return _windows(path)
    if sys.platform == "darwin":
        return _named(path, Path(env.get("HOME", "")) / ".Trash")
    return _freedesktop(path, env)


# --- freedesktop.org trash specification 1.0 -----------------------------------------------------------------------


def _freedesktop(path: Path, env: Mapping[str, str]) -> str:
    home = _home_trash(env)
    if home is None:
        return ""
    if _device(home) == os.lstat(path).st_dev:
        return _filed(path, home, str(path))
    top = _top(path)
    own = top / f".Trash-{os.getuid()}" if sys.platform != "win32" else top
    try:
        own.mkdir(mode=0o700, exist_ok=True)
        status = os.lstat(own)
    except OSError:
        return ""
    if not stat.S_ISDIR(status.st_mode) or status.st_uid != os.getuid():
        return ""
    return _filed(path, own, os.path.relpath(path, top))


def _home_trash(env: Mapping[str, str]) -> Path | None:
    """The person's trash; None where nobody has one."""
    data = env.get("XDG_DATA_HOME", "")
    home = env.get("HOME", "")
    if not data and not os.path.isabs(home):  # noqa: PTH117 - a text
        return None
    trash = Path(data if os.path.isabs(data) else f"{home}/.local/share") / "Trash"  # noqa: PTH117
    if trash.is_dir() or any(env.get(name) for name in _DESKTOPS):
        return trash
    return None


def _device(path: Path) -> int:
    """The device of a path, or of the nearest folder above it that exists."""
    for place in (path, *path.parents):
        with suppress(OSError):
            return place.stat().st_dev
    return -1


def _top(path: Path) -> Path:
    """The folder where the file system of a path is mounted."""
    device, top = os.lstat(path).st_dev, path.parent
    while top != top.parent and top.parent.stat().st_dev == device:
        top = top.parent
    return top


def _filed(path: Path, trash: Path, original: str) -> str:
    """Move into a trash with the note that says where it was and when it was deleted."""
    from datetime import datetime
    from urllib.parse import quote

    files, notes = trash / "files", trash / "info"
    trash.mkdir(mode=0o700, parents=True, exist_ok=True)
    for folder in (files, notes):
        folder.mkdir(mode=0o700, exist_ok=True)
    when = datetime.now().astimezone().strftime("%Y-%m-%dT%H:%M:%S")
    place = quote(os.fsencode(original), safe="/")
    for count in range(1, _TRIES):
        name = path.name if count == 1 else f"{path.stem[:200]}.{count}{path.suffix}"
        note = notes / f"{name}.trashinfo"
        try:
            with note.open("x", encoding="ascii") as file:
                file.write(f"[Trash Info]\nPath={place}\nDeletionDate={when}\n")
        except FileExistsError:
            continue
        target = files / name
        if os.path.lexists(target):  # left without its note: its name is taken
            note.unlink()
            continue
        try:
            path.rename(target)
        except OSError:
            with suppress(OSError):
                note.unlink()
            raise
        return str(target)
    return ""


# --- other systems -------------------------------------------------------------------------------------------------


def _named(path: Path, trash: Path) -> str:
    """Move into a folder under a name that is free there; "" when the folder is not there, or on another disk."""
    if not trash.is_dir() or trash.stat().st_dev != os.lstat(path).st_dev:
        return ""
    for count in range(1, _TRIES):
        target = trash / (path.name if count == 1 else f"{path.stem} {count}{path.suffix}")
        if not os.path.lexists(target):
            path.rename(target)
            return str(target)
    return ""


def _windows(path: Path) -> str:
    """Through the shell of Windows, which keeps it in the recycle bin of its drive."""
    if sys.platform != "win32":
        return ""
    import ctypes
    from ctypes import wintypes

    class Operation(ctypes.Structure):
        _fields_ = [
            ("hwnd", wintypes.HWND), ("wFunc", wintypes.UINT), ("pFrom", wintypes.LPCWSTR), ("pTo", wintypes.LPCWSTR),
            ("fFlags", wintypes.WORD), ("fAnyOperationsAborted", wintypes.BOOL), ("hNameMappings", wintypes.LPVOID),
            ("lpszProgressTitle", wintypes.LPCWSTR),
        ]  # fmt: skip

    delete, undoable, silent, no_confirmation, no_error = 3, 0x40, 0x4, 0x10, 0x400
    operation = Operation(None, delete, f"{path}\0", None, undoable | silent | no_confirmation | no_error)
    code = ctypes.windll.shell32.SHFileOperationW(ctypes.byref(operation))
    if code or operation.fAnyOperationsAborted:
        raise OSError(f"the recycle bin did not take it (code {code})")
    return "the recycle bin"
