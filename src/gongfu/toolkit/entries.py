"""Paths of calls that mean what lies there itself: a link, not what it leads to."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterable
from pathlib import Path

from gongfu.core.base import Base
from gongfu.core.errors import ToolFailure
from gongfu.toolkit.places import Places
from gongfu.workspace.moves import entries
from gongfu.workspace.protect import might_be_secret, why_protected
from gongfu.workspace.root import Workspace

_MOST_SEEN = 50_000  # entries of a folder that are looked at for secrets
MOST_BELOW = 5_000  # files and folders that are named for an undo
_MOST_NAMED = 50
_TELLING = (".git", ".gongfu", ".claude", ".cursor", ".vscode")


class Entry(Base, frozen=True):
    """What lies at `path` (absolute; the folder it is in is resolved, it itself is not), and how it is `shown`."""

    path: Path
    shown: str

    @property
    def exists(self) -> bool:
        """Whether anything is there, a link that leads nowhere too."""
        return os.path.lexists(self.path)

    @property
    def is_folder(self) -> bool:
        """Whether it is a folder, and no link to one."""
        return self.exists and stat.S_ISDIR(os.lstat(self.path).st_mode)


class Below(Base, frozen=True):
    """What a folder holds that matters: `files` and `folders` for an undo (some thousands at most), and `protected`
    paths."""

    files: tuple[str, ...] = ()
    folders: tuple[str, ...] = ()
    protected: tuple[str, ...] = ()


class Entries:
    """Locates entries, first for the policy and again when the call runs, as `Places` does."""

    def __init__(self, workspace: Workspace) -> None:
        self._workspace = workspace
        self.places = Places(workspace)
        self._judged: dict[str, Path] = {}

    def judge(self, text: str) -> Entry:
        """What a path means, remembered for `again`."""
        entry = self.locate(text)
        self._same(text, entry, again=False)
        return entry

    def again(self, text: str) -> Entry:
        """The same when the call runs. ToolFailure when the path leads elsewhere than it did before."""
        entry = self.locate(text)
        self._same(text, entry, again=True)
        return entry

    def _same(self, key: str, entry: Entry, *, again: bool) -> None:
        if not again:
            self._judged[key] = entry.path
        elif self._judged.get(key, entry.path) != entry.path:
            raise ToolFailure(f"{entry.shown} leads elsewhere than when the call was checked; nothing was touched")

    def locate(self, text: str) -> Entry:
        """What a path means; nothing needs to exist. ToolFailure for what can be no path here."""
        located = self._workspace.locate(text)
        path = located.path
        if path != located.asked and located.asked.is_symlink():
            path = Path(os.path.realpath(located.asked.parent)) / located.asked.name
        return Entry(path=path, shown=self._workspace.show(path))

    def there(self, entry: Entry, text: str) -> None:
        """ToolFailure, with the names that come near, when nothing is there."""
        if not entry.exists:
            raise self.places.missing(self._workspace.locate(text))

    def into(self, source: Entry, text: str, *, again: bool) -> Entry:
        """The target of a move or a copy: `text`, or the name of the source in the folder that it names."""
        target = self.again(text) if again else self.judge(text)
        folder = self._workspace.locate(text).path
        names_folder = text.rstrip()[-1:] in ("/", os.sep) or folder.is_dir()
        if not names_folder or folder == source.path:
            return target
        if target.is_folder and _only_case(source.path, target.path):
            return target
        entry = Entry(path=folder / source.path.name, shown=self._workspace.show(folder / source.path.name))
        self._same(f"{text}\0{source.path.name}", entry, again=again)
        return entry

    def below(self, entry: Entry, *, write: bool) -> Below:
        """What lies in a folder that the policy and an undo should know of; nothing for a file."""
        if not entry.is_folder:
            return Below()
        files: list[str] = []
        folders: list[str] = []
        protected: list[str] = []
        for count, (path, status) in enumerate(entries(entry.path)):
            if count > _MOST_SEEN:
                break
            name = path.name
            if len(files) + len(folders) < MOST_BELOW and ".git" not in path.parts:
                (folders if stat.S_ISDIR(status.st_mode) else files).append(str(path))
            if count and (name in _TELLING or might_be_secret(str(path), name)) and len(protected) < _MOST_NAMED:
                why = why_protected(path, self._workspace, write=write)
                if why and not any(path.is_relative_to(p) for p in protected):
                    protected.append(str(path))
        return Below(files=tuple(files), folders=tuple(folders), protected=tuple(protected))

    def check_whole(self, found: Iterable[Entry], verb: str) -> None:
        """ToolFailure for what must stay where it is: the workspace, the home folder, and all above them."""
        workspace = self._workspace
        home = Path(os.path.realpath(os.path.expanduser("~")))  # noqa: PTH111 - pathlib raises where there is no home
        stays = [workspace.root, workspace.directory, home, *workspace.extra, *workspace.private]
        for entry in found:
            path = entry.path
            if path == path.parent or any(path == place or path in place.parents for place in stays):
                raise ToolFailure(f"{entry.shown} is not {verb}: the workspace or the home folder lies in it or is it")
            if entry.is_folder and os.path.ismount(path):
                raise ToolFailure(f"{entry.shown} is not {verb}: a file system is mounted there")


def _only_case(one: Path, other: Path) -> bool:
    return one.parent == other.parent and one != other and one.name.casefold() == other.name.casefold()
