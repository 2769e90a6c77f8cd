"""Which files belong to the work: walking a folder with `.gitignore`, `.ignore` and `.git/info/exclude` honoured.

The rules are those of git, and between the files those of ripgrep: any `.ignore` beats any `.gitignore`, a deeper
file beats a higher one, the last pattern of a file wins, and nothing below an ignored folder comes back.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path

from gongfu.core.base import Base
from gongfu.workspace.globs import segment
from gongfu.workspace.root import Workspace, is_below

NEVER = frozenset({".git", ".hg", ".svn", ".jj"})
_MAX_RULES = 1 << 20
_MAX_WILD = 4000  # patterns with wildcards that one file may have: it takes 2 s to prepare so many
_ESCAPED_SLASH = r"(?<!^)(?<!\\)((?:\\\\)*)\\/"  # at the very beginning git lets it match nothing


class _Any(Base, frozen=True):
    """Some patterns: those that are plain names, and an expression for the others."""

    plain: frozenset[str]
    like: re.Pattern[str] | None

    def fits(self, text: str) -> bool:
        return text in self.plain or (self.like is not None and self.like.fullmatch(_bytewise(text)) is not None)


def _bytewise(text: str) -> str:
    """A text with one character for each byte that it has in UTF-8: a wildcard of git stands for a byte."""
    return text if text.isascii() else text.encode("utf-8", "surrogateescape").decode("latin-1")


class _Group(Base, frozen=True):
    """Patterns in a row that all ignore, or all bring back; those on a bare name apart from those on a path."""

    ignore: bool
    name: _Any | None
    name_folder: _Any | None
    path: _Any | None
    path_folder: _Any | None


class Rules:
    """The patterns of one ignore file."""

    __slots__ = ("_groups",)

    def __init__(self, text: str) -> None:
        self._groups = tuple(reversed(list(_groups(text))))

    def match(self, path: str, name: str, *, folder: bool) -> bool | None:
        """Whether the entry at `path` (relative to the ignore file, last part `name`) is ignored; None: not named."""
        for g in self._groups:
            if (
                (g.name is not None and g.name.fits(name))
                or (g.path is not None and g.path.fits(path))
                or (folder and g.name_folder is not None and g.name_folder.fits(name))
                or (folder and g.path_folder is not None and g.path_folder.fits(path))
            ):
                return g.ignore
        return None


@lru_cache(maxsize=256)
def _rules(text: str) -> Rules:
    return Rules(text)


def _groups(text: str) -> Iterator[_Group]:
    sources: dict[tuple[bool, bool], list[str]] = {}
    current: bool | None = None
    wild = 0
    for line in text.removeprefix("\ufeff").split("\n"):
        parsed = _pattern(line)
        if parsed is None:
            continue
        ignore, on_path, folder, pattern = parsed
        wild += not _is_plain(pattern)
        if wild > _MAX_WILD and not _is_plain(pattern):
            continue
        if current is not None and ignore != current:
            yield _group(current, sources)
            sources = {}
        current = ignore
        sources.setdefault((on_path, folder), []).append(pattern)
    if current is not None:
        yield _group(current, sources)


def _is_plain(pattern: str) -> bool:
    return not any(c in pattern for c in "*?[\\")


def _group(ignore: bool, sources: dict[tuple[bool, bool], list[str]]) -> _Group:
    def joined(on_path: bool, folder: bool) -> _Any | None:
        patterns = sources.get((on_path, folder))
        if not patterns:
            return None
        wild = [_source(_bytewise(p), on_path) for p in patterns if not _is_plain(p)]
        like = re.compile("|".join(wild), re.DOTALL) if wild else None
        return _Any(plain=frozenset(p for p in patterns if _is_plain(p)), like=like)

    return _Group(
        ignore=ignore,
        name=joined(False, False),
        name_folder=joined(False, True),
        path=joined(True, False),
        path_folder=joined(True, True),
    )


def _source(pattern: str, on_path: bool) -> str:
    return _path_source(pattern) if on_path else segment(pattern, strict=True)


def _pattern(line: str) -> tuple[bool, bool, bool, str] | None:
    """One line: whether it ignores, is on a path (not a bare name), is for folders only, and its pattern."""
    text = _trimmed(line.removesuffix("\r"))
    if not text or text.startswith("#"):
        return None
    ignore = not text.startswith("!")
    text = text if ignore else text[1:]
    folder = text.endswith("/")
    text = re.sub(_ESCAPED_SLASH, r"\1/", text[:-1] if folder else text)
    if not text:
        return None
    if "/" not in text:
        return ignore, False, folder, text
    return ignore, True, folder, text.removeprefix("/")


def _trimmed(line: str) -> str:
    """Without the spaces at the end, unless a backslash holds one."""
    end = len(line)
    while end > 0 and line[end - 1] in " \t":
        slashes = len(line[: end - 1]) - len(line[: end - 1].rstrip("\\"))
        if slashes % 2:
            break
        end -= 1
    return line[:end]


def _path_source(pattern: str) -> str:
    source = ""
    parts = pattern.split("/")
    for i, part in enumerate(parts):
        last = i == len(parts) - 1
        if len(part) > 1 and not part.strip("*"):
            source += ".+" if last else "(?:[^/]+/)*"
        else:
            source += segment(part, strict=True) + ("" if last else "/")
    return source


class _Level(Base, frozen=True):
    """The rules found in one folder; `offset` is where paths relative to it begin in paths relative to the top."""

    offset: int
    rules: Rules


class Ignores:
    """What is ignored in one folder: the rules of the folders from the top down to it."""

    __slots__ = ("_dot", "_git", "folder", "prefix")

    def __init__(self, folder: str, prefix: str, dot: tuple[_Level, ...], git: tuple[_Level, ...]) -> None:
        self.folder = folder
        self.prefix = prefix
        self._dot = dot
        self._git = git

    @classmethod
    def at(cls, folder: Path, workspace: Workspace) -> Ignores:
        """The rules that hold in a folder; those of the folders above it count up to the root of its workspace."""
        tops = [t for t in (workspace.root, *workspace.extra) if is_below(folder, t)]
        top = max(tops, key=lambda t: len(t.parts)) if tops else _repository(folder)
        excluded = _read(_exclude_file(top))
        git = (_Level(offset=0, rules=_rules(excluded)),) if excluded else ()
        here = cls(str(top), "", (), git)._with_own()
        for part in folder.parts[len(top.parts) :]:
            here = here.enter(part)
        return here

    def enter(self, name: str) -> Ignores:
        """The rules inside the folder `name` of this one."""
        child = Ignores(os.path.join(self.folder, name), f"{self.prefix}{name}/", self._dot, self._git)  # noqa: PTH118
        return child._with_own()

    def _with_own(self) -> Ignores:
        dot, git = _read_in(self.folder, ".ignore"), _read_in(self.folder, ".gitignore")
        if dot:
            self._dot = (_Level(offset=len(self.prefix), rules=_rules(dot)), *self._dot)
        if git:
            self._git = (_Level(offset=len(self.prefix), rules=_rules(git)), *self._git)
        return self

    def covers(self, name: str, *, folder: bool) -> bool:
        """Whether the entry `name` of this folder is ignored."""
        path = self.prefix + name
        for levels in (self._dot, self._git):
            for level in levels:
                found = level.rules.match(path[level.offset :], name, folder=folder)
                if found is not None:
                    return found
        return False


def _repository(folder: Path) -> Path:
    return next((p for p in (folder, *folder.parents) if os.path.lexists(p / ".git")), folder)


def _exclude_file(top: Path) -> Path:
    """`info/exclude` of the repository at `top`, also when `.git` is a file that leads to a worktree's folder."""
    git = top / ".git"
    if git.is_file():
        target = _read(git).removeprefix("gitdir:").strip()
        git = Path(os.path.normpath(top / target)) if target else git
        common = _read(git / "commondir").strip()
        git = Path(os.path.normpath(git / common)) if common else git
    return git / "info" / "exclude"


def _read_in(folder: str, name: str) -> str:
    return _read(Path(folder, name)) if os.path.lexists(os.path.join(folder, name)) else ""  # noqa: PTH118


def _read(path: Path) -> str:
    try:
        if not path.is_file():
            return ""
        with path.open("rb") as file:
            return file.read(_MAX_RULES).decode("utf-8", "surrogateescape")
    except OSError:
        return ""


class Walk:
    """The files below a folder, in the order of their names folder by folder; iterate it once.

    `truncated` tells afterwards that the bound was reached, `unreadable` how many folders could not be read.
    """

    def __init__(self, folder: Path, workspace: Workspace, *, hidden: bool, ignored: bool, limit: int) -> None:
        self._folder = folder
        self._workspace = workspace
        self._hidden = hidden
        self._ignored = ignored
        self._left = limit
        self.truncated = False
        self.unreadable = 0

    def __iter__(self) -> Iterator[Path]:
        waiting: list[Ignores | str] = [Ignores.at(self._folder, self._workspace)]
        while waiting:
            here = waiting.pop()
            if isinstance(here, str):
                yield Path(here)
                continue
            found = self._entries(here)
            waiting.extend(reversed(found))
            if self.truncated:
                yield from (Path(p) for p in reversed(waiting) if isinstance(p, str))
                return

    def _entries(self, here: Ignores) -> list[Ignores | str]:
        """What to visit in a folder, in order: files by their path, folders by their rules."""
        try:
            with os.scandir(here.folder) as entries:
                found = sorted(entries, key=_order)
        except OSError:
            self.unreadable += 1
            return []
        result: list[Ignores | str] = []
        for entry in found:
            if self._left <= 0:
                self.truncated = True
                break
            self._left -= 1
            visit = self._visit(entry, here)
            if visit is not None:
                result.append(visit)
        return result

    def _visit(self, entry: os.DirEntry[str], here: Ignores) -> Ignores | str | None:
        name = entry.name
        if name in NEVER or (not self._hidden and name.startswith(".")):
            return None
        folder = is_folder(entry)
        if not self._ignored and here.covers(name, folder=folder):
            return None
        if folder:
            return here.enter(name)
        return entry.path if is_file(entry, self._workspace) else None


def _order(entry: os.DirEntry[str]) -> bytes:
    return os.fsencode(entry.name)


def is_folder(entry: os.DirEntry[str]) -> bool:
    """A folder that may be entered: no link, no junction of Windows."""
    try:
        return entry.is_dir(follow_symlinks=False) and not _is_junction(entry)
    except OSError:
        return False


def _is_junction(entry: os.DirEntry[str]) -> bool:
    check = getattr(entry, "is_junction", None)
    return bool(check and check())


def is_file(entry: os.DirEntry[str], workspace: Workspace) -> bool:
    """A regular file, or a link to one that lies inside the workspace."""
    try:
        if not entry.is_symlink():
            return entry.is_file(follow_symlinks=False)
        return entry.is_file() and workspace.contains(Path(os.path.realpath(entry.path)))
    except OSError:
        return False


def walk(
    folder: Path, workspace: Workspace, *, hidden: bool = False, ignored: bool = False, limit: int = 200_000
) -> Walk:
    """The files below a resolved folder: ignored ones and those of version control left out, links not entered.

    `hidden` lets names with a leading dot in, `ignored` those that ignore files leave out. At most `limit` entries
    are looked at.
    """
    return Walk(folder, workspace, hidden=hidden, ignored=ignored, limit=limit)
