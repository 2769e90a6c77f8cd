"""Which names are covered: by git's rules for ignoring, applied without git, so that nothing of a repository runs."""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path

from gongfu.workspace.checkpoint.index import Tracked
from gongfu.workspace.git import find_git_dir
from gongfu.workspace.ignore import Rules
from gongfu.workspace.root import joined

_MAX = 1 << 20
_EXCLUDES = rb"(?im)^[ \t]*excludesfile[ \t]*=[ \t]*\"?([^\"\r\n]+?)\"?[ \t]*\r?$"


@lru_cache(maxsize=256)
def _rules(text: str) -> Rules:
    return Rules(text)


class Cover:
    """The rules inside one folder: what is ignored there, and what of that is tracked all the same.

    `top` is how long the path of the repository's top is, slash included, `prefix` the path of the folder below the
    scanned root, "/" at its end unless empty; patterns of `levels` count from an offset in the path below `base`.
    """

    __slots__ = ("_above", "_levels", "_person", "_start", "prefix", "tracked")

    def __init__(
        self, prefix: str, start: int, above: str, levels: tuple[tuple[int, Rules], ...], tracked: Tracked | None,
        person: tuple[Rules, ...],
    ) -> None:  # fmt: skip
        self.prefix = prefix
        self._start = start
        self._above = above
        self._levels = levels
        self._person = person
        self.tracked = tracked

    @classmethod
    def of(cls, root: Path, env: Mapping[str, str]) -> Cover:
        """The rules at the root; those of a repository around it count."""
        person = _persons(env)
        git_dir = find_git_dir(root)
        top = _top(root) if git_dir is not None else None
        if git_dir is None or top is None:
            return cls("", 0, "", (), None, person)._with_own(str(root))
        here = cls("", 0, "", _excluded(str(git_dir), person), Tracked(str(git_dir)), person)._with_own(str(top))
        folder = str(top)
        for part in root.parts[len(top.parts) :]:
            folder = joined(folder, part)
            here._above += f"{part}/"
            here._with_own(folder)
        return here

    def enter(self, name: str, folder: str, *, own: bool, repository: bool) -> Cover:
        """The rules in the folder `name` of this one; `own` tells that it has a `.gitignore`, `repository` a `.git`."""
        prefix = f"{self.prefix}{name}/"
        if repository and (git_dir := _own_git_dir(folder)):
            levels = _excluded(git_dir, self._person)
            child = Cover(prefix, len(prefix), "", levels, Tracked(git_dir), self._person)
        else:
            child = Cover(prefix, self._start, self._above, self._levels, self.tracked, self._person)
        return child._with_own(folder) if own else child

    def _with_own(self, folder: str) -> Cover:
        text = _text(joined(folder, ".gitignore"), follow=False)
        if text:
            self._levels = ((len(self._path("")), _rules(text)), *self._levels)
        return self

    def _path(self, name: str) -> str:
        return f"{self._above}{self.prefix[self._start :]}{name}"

    def ignores(self, name: str, *, folder: bool) -> bool:
        """Whether git ignores a name in this folder, tracked or not."""
        if not self._levels:
            return False
        path = self._path(name)
        for offset, rules in self._levels:
            found = rules.match(path[offset:], name, folder=folder)
            if found is not None:
                return found
        return False

    def tracks(self, name: str, *, folder: bool) -> bool:
        """Whether a name in this folder, or something in the folder of that name, is tracked."""
        if self.tracked is None:
            return False
        path = self._path(name)
        return self.tracked.below(path) if folder else self.tracked.file(path)


def _top(folder: Path) -> Path | None:
    return next((place for place in (folder, *folder.parents) if os.path.lexists(place / ".git")), None)


def _own_git_dir(folder: str) -> str:
    """The git directory of a repository whose top is just this folder; "" for any other."""
    found = find_git_dir(Path(folder))
    if found is None:
        return ""
    entry = joined(folder, ".git")
    here = os.path.isfile(entry) or str(found) == entry  # noqa: PTH113 - else it is that of a folder above
    return str(found) if here and found != find_git_dir(Path(folder).parent) else ""


def _excluded(git_dir: str, person: tuple[Rules, ...]) -> tuple[tuple[int, Rules], ...]:
    common = _text(joined(git_dir, "commondir")).strip()
    text = _text(joined(joined(git_dir, common) if common else git_dir, "info/exclude"))
    return (*([(0, _rules(text))] if text else []), *((0, rules) for rules in person))


def _persons(env: Mapping[str, str]) -> tuple[Rules, ...]:
    """What the person ignores in all repositories: `core.excludesFile`, as far as it stands in their own settings."""
    home = env.get("HOME") or env.get("USERPROFILE") or ""
    config = env.get("XDG_CONFIG_HOME") or (joined(home, ".config") if home else "")
    file = joined(config, "git/ignore") if config else ""
    settings = env.get("GIT_CONFIG_GLOBAL")
    places = [settings] if settings else [joined(config, "git/config"), joined(home, ".gitconfig")] if home else []
    for place in places:
        for found in re.findall(_EXCLUDES, _text(place).encode("utf-8", "surrogateescape")):
            name = os.fsdecode(found)
            file = joined(home, name[2:]) if name.startswith("~/") else name
    text = _text(file) if file else ""
    return (_rules(text),) if text else ()


def _text(file: str, *, follow: bool = True) -> str:
    try:
        if not stat.S_ISREG(os.stat(file, follow_symlinks=follow).st_mode):  # noqa: PTH116
            return ""
        with open(file, "rb") as stream:  # noqa: PTH123
            return stream.read(_MAX).decode("utf-8", "surrogateescape")
    except (OSError, ValueError):
        return ""
