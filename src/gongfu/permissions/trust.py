"""What in a folder would run programs or take effect once the folder is trusted. It is only read; nothing runs.

Files count by their content, so that what a later `git pull` brings is noticed. Git's own settings and hooks below
`.git` do not count: no pull changes them, and a `git config` by the person is no news to the person.
"""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import Final, Literal, TypeAlias

from gongfu.core.base import Base
from gongfu.workspace.root import is_below, joined

Trouble: TypeAlias = Literal["outside", "no_file", "too_large", "too_many", "unreadable"]

PLACES: Final = (".gongfu", ".mcp.json", ".agents/skills", ".claude/skills")
"""Where things lie that take effect, from the root of the folder."""

_SKILLS: Final = (".gongfu/skills", ".agents/skills", ".claude/skills")
_RULES: Final = ".gongfu/rules"  # texts for the model, which have a question of their own
_LARGEST: Final = 4 << 20
_WHOLE: Final = 32 << 20
_MOST: Final = 4000
_WORDS: Final = 2000
_WORD: Final = rb"(?:\$\{\w+\}|[^\s\"'`\[\]{}(),;|&<>])+"
_WRITTEN: Final = rb"(?<![<>])>>?[ \t]*" + _WORD  # what a line only writes is not what it runs
_VARIABLE: Final = r"^\$(?:\w+|\{\w+\})/"
_RUNS: Final = rb"!\s*`"
_NONBLOCK: Final[int] = getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_BINARY", 0)


class Problem(Base, frozen=True):
    """Something that cannot be checked, so that the folder cannot be trusted: what it is called, and why."""

    name: str
    why: Trouble


class Findings(Base, frozen=True):
    """What takes effect: the SHA-256 of each file by its name from the root ("/" between folders), and what cannot be
    checked.
    """

    files: dict[str, str] = {}
    problems: tuple[Problem, ...] = ()

    @property
    def anything(self) -> bool:
        """Whether there is anything to be trusted or refused."""
        return bool(self.files or self.problems)

    @property
    def fingerprint(self) -> str:
        """SHA-256 over names and contents; the same for every folder that holds nothing."""
        from hashlib import sha256  # only where there is something

        lines = [f"{name}\0{digest}" for name, digest in sorted(self.files.items())]
        lines += [f"{p.name}\0{p.why}" for p in self.problems]
        return sha256("\n".join(lines).encode("utf-8", "surrogateescape")).hexdigest()


NOTHING: Final = Findings()


def look(root: Path, *, own: Path) -> Findings:
    """What in the folder `root` (resolved) would take effect; `own` is Gongfu's home, which is no project's.

    Costs a look at four names when there is nothing.
    """
    top = str(root)
    there = [name for name in PLACES if os.path.lexists(joined(top, name))]
    if not there:
        return NOTHING
    return _Look(root, own).findings(there)


def repository(root: Path) -> str:
    """What tells the repository in the folder `root` from another one that is put in its place; "" for none."""
    git = joined(str(root), ".git")
    try:
        found = os.stat(git)  # noqa: PTH116
    except OSError:
        return ""
    if not stat.S_ISDIR(found.st_mode):  # a worktree or a submodule: a file that says where
        return f"{found.st_ino} {found.st_mtime_ns}"
    try:
        made = os.stat(joined(git, "description"))  # noqa: PTH116 - git writes it once
    except OSError:
        return f"{found.st_ino}"
    return f"{found.st_ino} {made.st_mtime_ns}"


class _Look:
    def __init__(self, root: Path, own: Path) -> None:
        self._root = Path(os.path.realpath(root))
        self._own = Path(os.path.realpath(own))
        self._data: dict[str, bytes] = {}
        self._digests: dict[str, str] = {}
        self._problems: list[Problem] = []
        self._seen: set[str] = set()
        self._bytes = 0

    def findings(self, names: list[str]) -> Findings:
        for name in names:
            try:
                self._enter(name)
            except _FullError:
                self._trouble(name, "too_many")
        self._named()
        self._drop_plain_skills()
        return Findings(files=self._digests, problems=tuple(self._problems))

    def _trouble(self, name: str, why: Trouble) -> None:
        self._problems.append(Problem(name=name, why=why))

    def _enter(self, name: str) -> None:
        path = joined(str(self._root), name)
        real = os.path.realpath(path)
        if real == str(self._own):
            return
        if not is_below(Path(real), self._root):
            self._trouble(name, "outside")
            return
        try:
            found = os.stat(real)  # noqa: PTH116
            if stat.S_ISDIR(found.st_mode):
                self._folder(name, real)
            elif stat.S_ISREG(found.st_mode):
                self._file(name, real, found)
            else:
                self._trouble(name, "no_file")
        except OSError:
            self._trouble(name, "unreadable")

    def _folder(self, name: str, real: str) -> None:
        if name == _RULES or real in self._seen:
            return
        self._seen.add(real)
        with os.scandir(real) as entries:
            inside = sorted(entry.name for entry in entries)
        for entry in inside:
            if len(self._digests) + len(self._problems) >= _MOST or len(self._seen) >= _MOST:
                raise _FullError
            self._enter(f"{name}/{entry}")

    def _file(self, name: str, real: str, found: os.stat_result) -> None:
        if found.st_size > _LARGEST:
            self._trouble(name, "too_large")
            return
        data = _read(real)
        if data is None:
            self._trouble(name, "no_file")
        elif len(data) > _LARGEST:
            self._trouble(name, "too_large")
        else:
            self._bytes += len(data)
            if self._bytes > _WHOLE:
                raise _FullError
            self._data[name] = data
            self._digests[name] = _digest(data)

    def _named(self) -> None:
        """Scripts elsewhere in the folder that hooks and servers name: they run as well."""
        for name in (".gongfu/config.yaml", ".mcp.json"):
            data = self._data.get(name, b"")
            if name != ".mcp.json" and b"hooks" not in data and b"mcp" not in data:
                continue
            for script in _scripts(data):
                path = os.path.normpath(joined(str(self._root), script))
                rest = os.path.relpath(path, self._root).replace(os.sep, "/")
                if rest.startswith("..") or rest in self._digests or not os.path.isfile(path):  # noqa: PTH113
                    continue
                try:
                    self._enter(rest)
                except _FullError:
                    self._trouble(rest, "too_many")
                    return

    def _drop_plain_skills(self) -> None:
        """A skill that is only text runs nothing, and takes effect like any other text of the folder."""
        groups: dict[str, list[str]] = {}
        for name in self._data:
            for folder in _SKILLS:
                if name.startswith(f"{folder}/"):
                    skill = name[len(folder) + 1 :].partition("/")[0]
                    groups.setdefault(f"{folder}/{skill}", []).append(name)
        for names in groups.values():
            if all(n.lower().endswith((".md", ".txt")) and not re.search(_RUNS, self._data[n]) for n in names):
                for name in names:
                    del self._digests[name]


class _FullError(Exception):
    """More than is looked at."""


def _scripts(data: bytes) -> Iterator[str]:
    words = dict.fromkeys(re.findall(_WORD, re.sub(_WRITTEN, b" ", data)))
    for word in list(words)[:_WORDS]:
        text = re.sub(_VARIABLE, "", os.fsdecode(word).rstrip(":"))
        if text and "\0" not in text and len(text) < 1000:
            yield text


def _read(real: str) -> bytes | None:
    """The bytes of a regular file, one more than the largest at most; None when it is none by now. Never waits."""
    descriptor = os.open(real, os.O_RDONLY | _NONBLOCK)
    try:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            return None
        parts: list[bytes] = []
        left = _LARGEST + 1
        while left and (data := os.read(descriptor, left)):
            parts.append(data)
            left -= len(data)
        return b"".join(parts)
    finally:
        os.close(descriptor)


def _digest(data: bytes) -> str:
    from hashlib import sha256  # only where there is something

    return sha256(data).hexdigest()
