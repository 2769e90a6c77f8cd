"""The root of the workspace, and where a path written by a model really leads."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from pathlib import Path

from gongfu.core.base import Base
from gongfu.core.errors import ToolFailure, UserError
from gongfu.workspace.names import hidden_name, plain_path, show_name

_FOLDS = sys.platform in ("win32", "darwin")  # file systems there usually ignore case


def find_root(start: Path, *, allow: bool = False) -> Path:
    """The nearest folder at or above `start` that holds `.git`, else `start`; absolute, links resolved.

    The home folder and the root of a disk are never taken because a `.git` lies there. When `start` is one of them
    it is refused with UserError, unless `allow` says that the person named it.
    """
    try:
        here = _real(start)
    except OSError:  # the current folder was deleted
        raise UserError("files.no_folder", path=str(start)) from None
    if not here.is_dir():
        raise UserError("files.no_folder", path=str(start))
    home = _real(os.path.expanduser("~"))  # noqa: PTH111 - pathlib raises where there is no home
    if allow:
        return here
    if _too_wide(here, home):
        raise UserError("files.root_too_wide", path=str(here))
    for folder in (here, *here.parents):
        if _too_wide(folder, home):
            break
        if os.path.lexists(folder / ".git"):
            return folder
    return here


def _too_wide(folder: Path, home: Path) -> bool:
    return folder in {folder.parent, home} or folder in home.parents


def _real(path: Path | str) -> Path:
    """The path with links resolved as far as it exists."""
    return Path(os.path.realpath(path))


def rest_below(path: str, folder: str) -> str | None:
    """What of `path` lies below `folder`: "" for the folder itself, None when it does not lie there. Both are absolute
    and resolved. Case counts only where file systems heed it.
    """
    if _FOLDS:
        path, folder = path.casefold(), folder.casefold()
    if not path.startswith(folder):
        return None
    rest = path[len(folder) :]
    if not rest or folder.endswith(os.sep):
        return rest
    return rest[1:] if rest.startswith(os.sep) else None


def joined(folder: str, name: str) -> str:
    """`os.path.join` of two texts, at a fifth of its price: it is done for every word of every command line."""
    if os.sep != "/" or not folder:
        return os.path.join(folder, name)  # noqa: PTH118
    return name if name.startswith("/") else f"{folder}{name}" if folder.endswith("/") else f"{folder}/{name}"


def is_below(path: Path, folder: Path) -> bool:
    """Whether `path` is `folder` or lies below it, as `rest_below` says."""
    return rest_below(str(path), str(folder)) is not None


class Located(Base, frozen=True):
    """Where a path leads. `path` is absolute after resolving links, also when its end does not exist yet.

    `inside`: below the root or a further folder of the workspace. `shown` leads back to the same path when it is
    located again: relative to the working directory with forward slashes when inside the root, else absolute.
    `asked` is the absolute path before links were resolved.
    """

    path: Path
    asked: Path
    inside: bool
    shown: str


class Workspace:
    """The folders that the agent works in.

    `root` confines it, `directory` is where relative paths start, `extra` are further folders that count as inside,
    `private` are folders of Gongfu itself (settings, keys, sessions). All are resolved once, here. `barred` tells
    whether the person forbids reading an absolute path; it is None when nothing is forbidden.
    """

    __slots__ = ("barred", "directory", "extra", "private", "root")

    def __init__(
        self, root: Path, directory: Path, extra: tuple[Path, ...] = (), private: tuple[Path, ...] = ()
    ) -> None:
        self.root = _real(root)
        self.directory = _real(directory)
        self.extra = tuple(_real(p) for p in extra)
        self.private = tuple(_real(p) for p in private)
        self.barred: Callable[[str], bool] | None = None

    def locate(self, text: str) -> Located:
        """Find out where `text` leads; nothing needs to exist. ToolFailure for what can be no path here."""
        name = self._spelled(plain_path(text, windows=sys.platform == "win32"))
        asked = Path(os.path.abspath(os.path.join(self.directory, name)))  # noqa: PTH100, PTH118 - keeps `a/../b` honest
        try:
            path = _real(os.path.join(self.directory, name))  # noqa: PTH118 - pathlib would drop what `..` means after a link
            looping = path.is_symlink()
        except (OSError, ValueError) as error:
            why = error.strerror if isinstance(error, OSError) else error
            raise ToolFailure(f"{show_name(text)!r} cannot be a path here: {why}") from None
        if looping:
            raise ToolFailure(f"{show_name(text)!r} is a link that leads in a circle")
        return Located(path=path, asked=asked, inside=self.contains(path), shown=self.show(path))

    def contains(self, path: Path) -> bool:
        """Whether a resolved path lies inside the workspace."""
        return any(is_below(path, folder) for folder in (self.root, *self.extra))

    def show(self, path: Path) -> str:
        """A resolved path as the model and the person are shown it, see `Located.shown`."""
        if not is_below(path, self.root):
            return show_name(path.as_posix())
        try:
            return show_name(Path(os.path.relpath(path, self.directory)).as_posix())
        except ValueError:  # another drive of Windows
            return show_name(path.as_posix())

    def _spelled(self, name: str) -> str:
        """`name` with `~` expanded; if nothing is called so, the likely other spelling of something that exists."""
        if name == "~" or name.startswith(("~/", "~\\")):
            return os.path.expanduser(name)  # noqa: PTH111 - pathlib raises where there is no home
        if any("\ud800" <= c <= "\udfff" for c in name):
            raise ToolFailure("the path has a lone surrogate in it; write the name in plain Unicode")
        if self._exists(name):
            return name
        for other in (name.strip(), name.replace("\\", "/"), hidden_name(name)):
            if other and other != name and self._exists(other):
                return other
        if "\\" in name and "/" not in name and self._exists(name.replace("\\", "/").rpartition("/")[0]):
            return name.replace("\\", "/")
        return name.strip()

    def _exists(self, name: str) -> bool:
        try:
            return bool(name) and os.path.lexists(os.path.join(self.directory, name))  # noqa: PTH118
        except (OSError, ValueError):
            return False
