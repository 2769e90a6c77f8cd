"""Artifacts: whole outputs, of which the model and the person are shown a bounded view, as files by session."""

from __future__ import annotations

import errno
import os
from collections.abc import Iterator
from pathlib import Path
from types import TracebackType
from typing import Self

from gongfu.core.errors import UserError


class ArtifactWriter:
    """Streams bytes into one new artifact. What was written stays, also when the disk fills up in between."""

    def __init__(self, path: Path, descriptor: int) -> None:
        """Use `Artifacts.writer`; this holds the open file."""
        self.path = path
        self.size = 0
        self._descriptor = descriptor

    @property
    def id(self) -> str:
        """Its name in the session, such as "a1"."""
        return self.path.name

    def write(self, data: bytes) -> None:
        """Append bytes. Raises UserError when the disk is full or fails; the part that fitted is kept."""
        view = memoryview(data)
        try:
            while view:
                count = os.write(self._descriptor, view)
                self.size += count
                view = view[count:]
        except OSError as error:
            raise _explain(error, self.path) from error

    def close(self) -> None:
        """Close the file; closing twice is no error."""
        if self._descriptor >= 0:
            descriptor, self._descriptor = self._descriptor, -1
            try:
                os.close(descriptor)
            except OSError as error:
                raise _explain(error, self.path) from error

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


class Artifacts:
    """The artifacts of all sessions under one folder: `<session>/a<N>`, N from 1 and never given twice."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def writer(self, session: str) -> ArtifactWriter:
        """A new artifact of `session`, open for writing."""
        folder = self._of(session)
        try:
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            number = max(_numbers(folder), default=0)
            while True:
                number += 1
                path = folder / f"a{number}"
                try:
                    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0)
                    return ArtifactWriter(path, os.open(path, flags, 0o600))
                except FileExistsError:  # another process was faster
                    continue
        except OSError as error:
            raise _explain(error, folder) from error

    def put(self, session: str, data: bytes) -> str:
        """Store `data` as a new artifact and return its id."""
        with self.writer(session) as writer:
            writer.write(data)
        return writer.id

    def open(self, session: str, id: str) -> Path:
        """The file of an artifact. Raises UserError when there is none."""
        path = self._of(session) / _safe(id)
        if not path.is_file():
            raise UserError("store.artifact_unknown", id=id, session=session)
        return path

    def all(self, session: str) -> dict[str, Path]:
        """The files of all artifacts of `session` by id, in the order they were made."""
        folder = self._of(session)
        try:
            return {f"a{number}": folder / f"a{number}" for number in sorted(_numbers(folder))}
        except (FileNotFoundError, NotADirectoryError):
            return {}

    def read(
        self, session: str, id: str, *, offset_lines: int = 0, limit_lines: int = 2000, limit_bytes: int = 1 << 20
    ) -> tuple[str, int]:
        """(text, total): the lines from `offset_lines` (0 is the first) on, and how many lines there are.

        At most `limit_lines` lines and `limit_bytes` bytes are given, whatever the size of the file. Bytes that are
        no UTF-8 come as U+FFFD.
        """
        kept: list[bytes] = []
        room = limit_bytes
        total = 0
        ended = True
        try:
            with self.open(session, id).open("rb") as file:
                # A line may be as long as the file: pieces are bounded, and the end of a line is where it says so.
                while piece := file.readline(1 << 16):
                    if room > 0 and offset_lines <= total < offset_lines + limit_lines:
                        kept.append(piece[:room])
                        room -= len(piece)
                    ended = piece.endswith(b"\n")
                    total += ended
        except OSError as error:
            raise _explain(error, self._of(session) / id) from error
        return b"".join(kept).decode("utf-8", "replace"), total + (not ended)

    def copy(self, session: str, to: str) -> None:
        """Give the session `to`, which has none yet, all artifacts of `session` under the same ids."""
        from shutil import copyfile  # only for a fork

        files, folder = self.all(session), self._of(to)
        try:
            if files:
                folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            for name, file in files.items():
                copyfile(file, folder / name)
                (folder / name).chmod(0o600)
        except OSError as error:
            raise _explain(error, folder) from error

    def size(self, session: str | None = None) -> int:
        """Bytes of the artifacts of one session, or of all."""
        folders = [self._of(session)] if session is not None else _entries(self._folder)
        return sum(file.stat().st_size for folder in folders for file in _entries(folder) if file.is_file())

    def delete(self, session: str) -> None:
        """Delete all artifacts of `session`; one that has none is no error."""
        folder = self._of(session)
        try:
            for file in _entries(folder):
                file.unlink(missing_ok=True)
            if folder.is_dir():
                folder.rmdir()
        except OSError as error:
            raise _explain(error, folder) from error

    def _of(self, session: str) -> Path:
        return self._folder / _safe(session)


def _safe(name: str) -> str:
    """A name that stays in its folder; UserError for one that would leave it."""
    if not name or name.startswith(".") or not name.replace("_", "").replace("-", "").replace(".", "").isalnum():
        raise UserError("store.bad_name", name=name)
    return name


def _entries(folder: Path) -> list[Path]:
    try:
        return list(folder.iterdir())
    except (FileNotFoundError, NotADirectoryError):
        return []


def _numbers(folder: Path) -> Iterator[int]:
    for name in os.listdir(folder):  # noqa: PTH208 - names suffice
        if name[:1] == "a" and name[1:].isdecimal():
            yield int(name[1:])


def _explain(error: OSError, path: Path) -> UserError:
    if error.errno in (errno.ENOSPC, errno.EDQUOT):
        return UserError("store.artifact_full", path=path)
    return UserError("store.artifact_io", path=path, reason=error.strerror or error)
