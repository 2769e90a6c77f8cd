"""What is on the disk, as far as one command line asks for it."""

from __future__ import annotations

import os
import stat
from collections.abc import Sequence
from pathlib import PurePath

from gongfu.workspace.globs import name_regex
from gongfu.workspace.root import joined


class Disk:
    """What is on the disk, as far as one command line asks for it; each folder is looked at once.

    Paths are texts and errors of the system mean that nothing is there: pathlib takes ten times as long, and raises
    for names that are too long.
    """

    def __init__(self, home: str) -> None:
        self._home = home
        self._folders = {"": "", "/": ""}
        self._listed: dict[str, list[str]] = {}

    def real(self, path: str) -> tuple[str, bool]:
        """Where a path leads after resolving links, and whether something is there."""
        folder, _, name = path.rpartition("/")
        is_link, exists = _looked_at(path)
        if is_link or name in ("", "..") or os.sep != "/":
            return real_path(path), os.path.exists(path)  # noqa: PTH110
        return f"{self._folder(folder)}/{name}", exists

    def _folder(self, path: str) -> str:
        """Where a folder really is, without a slash at its end: below its parent, unless it is a link."""
        new: list[str] = []
        while (place := self._folders.get(path)) is None:
            new.append(path)
            path = path.rpartition("/")[0]
        for folder in reversed(new):
            name = folder.rpartition("/")[2]
            is_link = name == ".." or _looked_at(folder)[0]
            place = real_path(folder).rstrip("/") if is_link else f"{place}/{name}"
            self._folders[folder] = place
        return place

    def leads_to(self, word: str, base: str) -> list[str]:
        """The absolute paths that a word names; a glob is tried on the disk."""
        if not word.strip("*") or "\0" in word or len(word) > 1000:
            return []
        text = self._home + word[1:] if word == "~" or word.startswith(("~/", "~\\")) else word
        try:
            if not text.isascii():
                os.fsencode(text)
            if not is_glob(text):
                return [os.path.normpath(joined(base, text))]
            return self._globbed(text, base)
        except ValueError:
            return []

    def _globbed(self, pattern: str, base: str) -> list[str]:
        """What a shell would make of a pattern: a leading dot is matched by a dot only."""
        anchor, parts = _taken_apart(pattern)
        places = [anchor or base]
        for part in parts:
            following: list[str] = []
            for place in places:
                if part == ".." or not is_glob(part):
                    following.append(joined(place, part))
                elif part == "**":
                    following.extend([place, *self.names(place, "*")])
                else:
                    following.extend(self.names(place, part))
            places = following[:500]
        return [p for p in places if os.path.exists(p)]  # noqa: PTH110

    def names(self, place: str, part: str) -> list[str]:
        """The paths in the folder `place` whose names match; at most 2,000 names are looked at."""
        listed = self._listed.get(place)
        if listed is None:
            try:
                with os.scandir(place) as entries:
                    listed = sorted(e.name for _, e in zip(range(2000), entries, strict=False))
            except OSError:
                listed = []
            self._listed[place] = listed
        dotted = part.startswith((".", "["))
        fits = name_regex(part, ignore_case=True).fullmatch
        return [joined(place, n) for n in listed if (dotted or not n.startswith(".")) and fits(n)]

    def below(self, place: str) -> list[str]:
        """All paths in the folder `place`."""
        self.names(place, "*")
        return [joined(place, n) for n in self._listed[place]]


def real_path(path: str) -> str:
    """Where a path leads; the path itself when nobody may look, as at the links of another's process."""
    try:
        return os.path.realpath(path)
    except OSError:
        return path


def _looked_at(path: str) -> tuple[bool, bool]:
    """Whether a path is a link, and whether it is anything."""
    try:
        return stat.S_ISLNK(os.lstat(path).st_mode), True
    except (OSError, ValueError):
        return False, False


def _taken_apart(pattern: str) -> tuple[str, Sequence[str]]:
    if os.sep == "/":
        return "/" if pattern.startswith("/") else "", [p for p in pattern.split("/") if p not in ("", ".")]
    whole = PurePath(pattern)
    return whole.anchor, whole.parts[1 if whole.anchor else 0 :]


def is_glob(text: str) -> bool:
    return "*" in text or "?" in text or "[" in text
