"""Markdown files with a front matter: those that ship, then the person's, then those of a trusted project."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from hashlib import sha256
from pathlib import Path
from typing import Any, Final, Literal, TypeAlias, TypeVar

import msgspec

from gongfu.config.document import Document
from gongfu.config.paths import Places
from gongfu.context.rules.sections import front_matter
from gongfu.core.base import Base
from gongfu.core.errors import ConfigError

Source: TypeAlias = Literal["built-in", "user", "project"]
T = TypeVar("T")

LARGEST: Final = 256 * 1024
_DEEPEST: Final = 4
_MOST: Final = 500
_OWN: Final = Path(__file__).parent.parent / "resources"


class Found(Base, frozen=True):
    """One file: its name (`dir:name` for a file in a folder), where it lies, and whose it is."""

    name: str
    path: Path
    source: Source


class Folders(Base, frozen=True):
    """Where such files lie. `project` is the root of a trusted project, None when there is none; `digests` are what its
    files held when they were trusted, by their names from the root.
    """

    places: Places
    project: Path | None = None
    digests: dict[str, str] = {}

    def find(self, kind: str) -> dict[str, list[Found]]:
        """The files of a kind ("modes", "commands") by name, those that replace others behind them."""
        found: dict[str, list[Found]] = {}
        folders: list[tuple[Path, Source]] = [(_OWN / kind, "built-in"), (self.places.home / kind, "user")]
        if self.project is not None:
            folders.append((self.project / ".gongfu" / kind, "project"))
        for folder, source in folders:
            for path in _files(folder, _DEEPEST):
                parts = path.relative_to(folder).with_suffix("").parts
                name = ":".join(part.lower().replace(" ", "-") for part in parts)
                found.setdefault(name, []).append(Found(name=name, path=path, source=source))
        return dict(sorted(found.items()))

    def read(self, found: Found) -> str:
        """The text of a file. ConfigError when it cannot be read or, of a project, is not what was trusted."""
        try:
            data = _read(found.path)
        except OSError as error:
            raise ConfigError("modes.unreadable", file=found.path, reason=error.strerror or error) from error
        if found.source == "project" and self.project is not None:
            name = found.path.relative_to(self.project).as_posix()
            if self.digests.get(name) != sha256(data).hexdigest():
                raise ConfigError("modes.not_trusted", file=found.path)
        try:
            return data.decode("utf-8-sig").replace("\r\n", "\n")
        except UnicodeDecodeError as error:
            raise ConfigError("modes.unreadable", file=found.path, reason="no UTF-8") from error


def _files(folder: Path, depth: int) -> Iterator[Path]:
    try:
        with os.scandir(folder) as entries:
            inside = sorted(entries, key=lambda entry: entry.name)[:_MOST]
    except OSError:
        return
    for entry in inside:
        if entry.name.startswith("."):
            continue
        if entry.is_dir(follow_symlinks=False):
            if depth > 1:
                yield from _files(Path(entry.path), depth - 1)
        elif entry.name.lower().endswith(".md") and entry.is_file():
            yield Path(entry.path)


def _read(path: Path) -> bytes:
    """The bytes of a regular file that is not too large. OSError else; never waits."""
    descriptor = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0))
    try:
        about = os.fstat(descriptor)
        if not stat.S_ISREG(about.st_mode) or about.st_size > LARGEST:
            raise OSError(f"no regular file of at most {LARGEST // 1024} KiB")
        return os.read(descriptor, LARGEST + 1)
    finally:
        os.close(descriptor)


def parsed(text: str, kind: type[T], file: str) -> tuple[T, str]:
    """The front matter of `text` as `kind`, and the body. ConfigError, with the line, for what does not fit."""
    front, body = front_matter(text)
    document = Document(f"\n{front}", file)  # its lines count from the dashes
    data: dict[str, Any] = {key.replace("-", "_"): value for key, value in document.data.items()}
    try:
        return msgspec.convert(data, kind), body.strip("\n")
    except msgspec.ValidationError as error:
        raise ConfigError("modes.bad_front", file=file, reason=str(error)) from error
