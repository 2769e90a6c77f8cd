"""Finds the rule files of a project and reads them; the one part of the rules that touches the disk."""

from __future__ import annotations

import hashlib
import os
import re
import stat
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from gongfu.context.rules.found import MAX_DEPTH, MAX_FILE, Draft, Found, Kind, Misfit, Unfit
from gongfu.core.base import Base
from gongfu.core.errors import ConfigError, ToolFailure
from gongfu.workspace.files import open_regular
from gongfu.workspace.ignore import NEVER, Ignores, is_folder
from gongfu.workspace.names import show_name
from gongfu.workspace.root import Workspace, rest_below

OWN: Final = "~/.gongfu/AGENTS.md"
_MOST: Final = 512  # files looked at, far beyond what may be pinned
_MOST_HASHED: Final = 16 << 20
_FOLDER: Final = ".gongfu"
_POINTER: Final = r"(?i)(?:(?:please )?(?:see|read|follow) )?[@`]?(?:\./)?AGENTS\.md[`.]*"
_SKIPPED: Final = NEVER | {"node_modules", "__pycache__", "site-packages"}

NAMES: Final[tuple[tuple[str, Kind], ...]] = (("AGENTS.md", "agents"), ("CLAUDE.md", "claude"))


class _Place(Base, frozen=True):
    file: Path
    path: str
    kind: Kind
    depth: int
    scope: str
    nested: bool = False


def discover(
    *, root: Path, directory: Path, own: Path | None = None, entries: int = 50_000, seconds: float = 1.0
) -> Found:
    """The rule files for work in `directory` under `root` (both resolved): the user's `own`, those from the root down
    to the directory, and nested ones in the rest of the root, found by a walk of at most `entries` and `seconds`.

    Ignored folders and hidden ones are not walked into. Nothing is decided here: what is wrong with a file is told.
    """
    reader = _Reader()
    if own is not None:
        reader.take(_Place(file=own, path=OWN, kind="agents", depth=-1, scope="~"))
    chain = _chain(root, directory)
    for depth, folder in enumerate(chain):
        reader.level(folder, _relative(folder, root), depth)
    walk = _Walk(root, entries, time.monotonic() + seconds)
    done = {str(folder) for folder in chain}
    for folder in walk.folders():
        if folder not in done:
            path = Path(folder)
            scope = _relative(path, root)
            reader.level(path, scope, scope.count("/") + 1, nested=True)
        if reader.full:
            break
    if walk.truncated or reader.full:
        reader.ignored.append((".", "walk"))
    return Found(drafts=tuple(reader.drafts), misfits=tuple(reader.misfits), ignored=tuple(reader.ignored))


def _chain(root: Path, directory: Path) -> list[Path]:
    rest = rest_below(str(directory), str(root))
    folders = [root]
    for name in Path(rest).parts if rest else ():
        folders.append(folders[-1] / name)
    return folders


def _relative(path: Path, root: Path) -> str:
    rest = rest_below(str(path), str(root)) or "."
    return show_name(rest.replace(os.sep, "/"))


class _Walk:
    """Folders below the root that hold rule files, in the order of their names."""

    def __init__(self, root: Path, entries: int, deadline: float) -> None:
        self._root = root
        self._left = entries
        self._deadline = deadline
        self.truncated = False

    def folders(self) -> Iterator[str]:
        waiting = [Ignores.at(self._root, Workspace(self._root, self._root))]
        while waiting and not self.truncated:
            here = waiting.pop()
            try:
                with os.scandir(here.folder) as listing:
                    found = sorted(listing, key=lambda e: e.name)
            except OSError:
                continue
            self._left -= len(found)
            self.truncated = self._left < 0 or time.monotonic() > self._deadline
            names = {entry.name for entry in found}
            if names & {"AGENTS.md", "CLAUDE.md", _FOLDER}:
                yield here.folder
            inner = [e.name for e in found if _entered(e) and not here.covers(e.name, folder=True)]
            waiting.extend(here.enter(name) for name in reversed(inner))


def _entered(entry: os.DirEntry[str]) -> bool:
    return not entry.name.startswith(".") and entry.name not in _SKIPPED and is_folder(entry)


class _Reader:
    """Reads candidates and sorts them: rules, what cannot be one, what holds nothing."""

    def __init__(self) -> None:
        self.drafts: list[Draft] = []
        self.misfits: list[Misfit] = []
        self.ignored: list[tuple[str, str]] = []

    @property
    def full(self) -> bool:
        return len(self.drafts) + len(self.misfits) + len(self.ignored) >= _MOST

    def level(self, folder: Path, scope: str, depth: int, *, nested: bool = False) -> None:
        """The rule files of one folder."""
        prefix = "" if scope == "." else f"{scope}/"
        for name, kind in NAMES:
            place = _Place(file=folder / name, path=prefix + name, kind=kind, depth=depth, scope=scope, nested=nested)
            self.take(place, beside=prefix)
        self._rules(folder / _FOLDER, f"{prefix}{_FOLDER}", scope, depth, nested=nested)

    def _rules(self, folder: Path, shown: str, scope: str, depth: int, *, nested: bool) -> None:
        inner = folder / "rules"
        if not inner.is_dir():
            return
        for linked, path in ((folder, shown), (inner, f"{shown}/rules")):
            if linked.is_symlink():
                self._misfit(f"{path}/", "link", os.fsencode(os.readlink(linked)))  # noqa: PTH115 - may be no UTF-8
                return
        waiting = [(inner, f"{shown}/rules")]
        while waiting and not self.full:
            here, path = waiting.pop()
            try:
                with os.scandir(here) as listing:
                    found = sorted(listing, key=lambda e: e.name)
            except OSError:
                self._misfit(f"{path}/", "unreadable", b"")
                continue
            for entry in found:
                name = f"{path}/{show_name(entry.name)}"
                if is_folder(entry):
                    waiting.append((here / entry.name, name))
                elif entry.name.endswith(".md"):
                    self.take(
                        _Place(file=here / entry.name, path=name, kind="rules", depth=depth, scope=scope, nested=nested)
                    )
                elif entry.is_symlink() and entry.is_dir():
                    self._misfit(f"{name}/", "link", os.fsencode(os.readlink(entry.path)))  # noqa: PTH115

    def take(self, place: _Place, *, beside: str | None = None) -> None:
        """Read one candidate, if it is there."""
        try:
            status = place.file.lstat()
        except OSError:
            return
        if stat.S_ISLNK(status.st_mode):
            target = os.fsencode(os.readlink(place.file))  # noqa: PTH115 - may be no UTF-8
            if beside is not None and self._twin(place.file):
                self.ignored.append((place.path, "same"))
            else:
                self._misfit(place.path, "link", target)
            return
        if not stat.S_ISREG(status.st_mode):
            self._misfit(place.path, "special", b"")
            return
        try:
            self._read(place, status.st_size, beside)
        except (OSError, ToolFailure):
            self._misfit(place.path, "unreadable", b"")

    def _read(self, place: _Place, size: int, beside: str | None) -> None:
        with open_regular(place.file) as file:
            raw = file.read(MAX_FILE + 1)
            if len(raw) > MAX_FILE:
                digest = hashlib.sha256(raw)
                digest.update(file.read(_MOST_HASHED))
                digest.update(str(size).encode())
                self.misfits.append(
                    Misfit(path=place.path, reason="size", sha256=digest.hexdigest(), size=max(size, len(raw)))
                )
                return
        if raw[:2] in (b"\xff\xfe", b"\xfe\xff"):  # UTF-16, whose every other byte may be NUL
            self._misfit(place.path, "encoding", raw)
            return
        if b"\0" in raw:
            self._misfit(place.path, "nul", raw)
            return
        try:
            text = raw.decode("utf-8-sig")
        except UnicodeDecodeError:
            self._misfit(place.path, "encoding", raw)
            return
        if place.depth > MAX_DEPTH:
            self._misfit(place.path, "depth", raw)
            return
        self._keep(place, text.replace("\r\n", "\n").replace("\r", "\n"), beside)

    def _keep(self, place: _Place, text: str, beside: str | None) -> None:
        from gongfu.context.rules.sections import front_matter, sha256_of  # only where there are rules

        paths: tuple[str, ...] = ()
        body = text
        if place.kind == "rules":
            front, body = front_matter(text)
            try:
                paths = _globs(front, place.path) if front else ()
            except ConfigError:
                self.ignored.append((place.path, "front_matter"))
        if not body.strip():
            self.ignored.append((place.path, "empty"))
        elif beside is not None and place.kind == "claude" and self._repeats(text, f"{beside}AGENTS.md"):
            self.ignored.append((place.path, "same"))
        else:
            self.drafts.append(
                Draft(
                    path=place.path, kind=place.kind, depth=place.depth, scope=place.scope, text=text,
                    sha256=sha256_of(text), paths=paths, nested=place.nested,
                )
            )  # fmt: skip

    def _repeats(self, text: str, agents: str) -> bool:
        """Whether a CLAUDE.md says nothing that the AGENTS.md beside it does not say."""
        twin = next((d for d in reversed(self.drafts) if d.path == agents), None)
        return twin is not None and (text.strip() == twin.text.strip() or bool(re.fullmatch(_POINTER, text.strip())))

    def _twin(self, file: Path) -> bool:
        """Whether a link leads to the other rule file of the same folder, which is taken for itself."""
        target = Path(os.path.realpath(file))
        other = file.with_name("AGENTS.md" if file.name == "CLAUDE.md" else "CLAUDE.md")
        return target == other and not other.is_symlink() and other.is_file()

    def _misfit(self, path: str, reason: Unfit, evidence: bytes) -> None:
        digest = hashlib.sha256(reason.encode() + b"\n" + evidence).hexdigest()
        self.misfits.append(Misfit(path=path, reason=reason, sha256=digest, size=len(evidence)))


def _globs(front: str, path: str) -> tuple[str, ...]:
    """The `paths:` of a front matter. ConfigError for what is no YAML or no list of patterns.

    A pattern cannot take anything back: one that begins with "!" would never hold, so it is none.
    """
    from gongfu.config.document import Document  # ruamel loads only for a rule that has a front matter

    value: object = Document(front, path).data.get("paths")
    items = _list(value)
    if items is None or any(item.startswith("!") for item in items):
        raise ConfigError("rules.bad_paths", file=path)
    return tuple(dict.fromkeys(items))[:100]


def _list(value: object) -> list[str] | None:
    if value is None:
        return []
    if isinstance(value, str):
        return [p.strip() for p in re.split(r",(?![^{}]*\})", value) if p.strip()]
    if isinstance(value, list) and all(isinstance(item, str) for item in value):  # pyright: ignore[reportUnknownVariableType]
        return [str(item).strip() for item in value if str(item).strip()]  # pyright: ignore[reportUnknownVariableType, reportUnknownArgumentType]
    return None
