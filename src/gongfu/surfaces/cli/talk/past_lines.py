"""What a person typed before, in this conversation and in earlier ones: kept in one file of theirs."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from pathlib import Path
from threading import Lock, Thread

import msgspec

from gongfu.core.base import Base

PIECE = "\ufffc"  # stands in a text where something long was pasted
MOST, LARGEST = 5_000, 1_000_000  # entries and bytes of the file
_LONGEST = 64_000  # characters of one entry: a longer one is remembered only as long as this process lives
_LINE = 300_000  # bytes of one line of the file


class PastLine(Base, frozen=True):
    """One prompt or command: its text, with `PIECE` where something of `pasted` stands, in order."""

    text: str
    pasted: tuple[str, ...] = ()
    root: str = ""
    at: int = 0

    @property
    def size(self) -> int:
        return len(self.text) + sum(map(len, self.pasted))


def _redact(text: str) -> str:
    from gongfu.core.secrets import redact  # compiles its expressions: only when something is written

    return redact(text)


class PastLines:
    """The history of prompts for the folder `root`, in the file at `path`, which any number of processes share.

    Nothing is read before `load`, which blocks, as `flush` does. A file that cannot be read or written costs the
    history, and nothing else. Secrets are taken out by `redact` before anything is written.
    """

    def __init__(self, path: Path | None, root: str = "", *, redact: Callable[[str], str] = _redact) -> None:
        self._path = path
        self._root = root
        self._redact = redact
        self._own: list[PastLine] = []  # of this conversation, the oldest first
        self._read: Sequence[PastLine] = ()
        self._unwritten: list[PastLine] = []
        self._writing = Lock()
        self._crowded = False
        self._merged: list[PastLine] | None = None
        self._folded: dict[int, str] = {}  # by the identity of the lines above, which live as long
        self.loaded = path is None

    def load(self) -> None:
        """Read the file, once; safe in a thread."""
        if self.loaded or self._path is None:
            return
        self._read = read_lines(self._path)
        for line in self._read:
            self._fold(line)
        self._crowded = len(self._read) > MOST
        self._merged = None
        self.loaded = True

    def newest(self) -> Sequence[PastLine]:
        """What is known: of this conversation first, then of this folder, then of others; the newest first, each once.

        Before `load` only the first of these are there.
        """
        if self._merged is None:
            here = [line for line in self._read if line.root == self._root]
            elsewhere = [line for line in self._read if line.root != self._root]
            seen: dict[tuple[str, tuple[str, ...]], PastLine] = {}
            for line in (*reversed(self._own), *reversed(here), *reversed(elsewhere)):
                seen.setdefault((line.text, line.pasted), line)
            self._merged = list(seen.values())
        return self._merged

    def matching(self, words: str) -> list[PastLine]:
        """The lines that hold all `words`, whatever their case, also in what was pasted; the newest first."""
        wanted = words.casefold().split()
        return [line for line in self.newest() if (text := self._fold(line)) and all(word in text for word in wanted)]

    def _fold(self, line: PastLine) -> str:
        if (folded := self._folded.get(id(line))) is None:
            folded = self._folded[id(line)] = "\n".join((line.text, *line.pasted)).casefold()
        return folded

    def add(self, text: str, pasted: Sequence[str] = ()) -> None:
        """Remember what was sent. It is written by a thread, which the end of the process waits for."""
        line = PastLine(text=text, pasted=tuple(pasted), root=self._root, at=int(time.time()))
        if not text.strip() or (self._own and (self._own[-1].text, self._own[-1].pasted) == (text, line.pasted)):
            return
        self._own.append(line)
        for gone in self._own[:-MOST]:
            self._folded.pop(id(gone), None)
        del self._own[:-MOST]
        self._merged = None
        if self._path is not None and line.size <= _LONGEST:
            self._unwritten.append(line)
            Thread(target=self.flush, name="gongfu-history").start()

    def flush(self) -> None:
        """Write what is not written yet, in its order."""
        if self._path is None:
            return
        with self._writing:
            lines, self._unwritten = self._unwritten, []
            if not lines:
                return
            data = b"".join(msgspec.json.encode(self._without_secrets(line)) + b"\n" for line in lines)
            with suppress(OSError, TimeoutError):
                _append(self._path, data, crowded=self._crowded)
                self._crowded = False

    def _without_secrets(self, line: PastLine) -> PastLine:
        return PastLine(
            text=_sound(self._redact(line.text)),
            pasted=tuple(_sound(self._redact(text)) for text in line.pasted),
            root=_sound(line.root),
            at=line.at,
        )


def _sound(text: str) -> str:
    return text.encode("utf-8", "replace").decode()


def read_lines(path: Path) -> list[PastLine]:
    """The entries of a file, the oldest first; what is damaged is passed over. A file that is none gives none."""
    from gongfu.core.errors import ToolFailure
    from gongfu.workspace.files import open_regular

    try:
        with open_regular(Path(os.path.realpath(path))) as file:
            size = file.seek(0, os.SEEK_END)
            file.seek(max(0, size - 2 * LARGEST))
            raw = file.read(2 * LARGEST)
    except (OSError, ValueError, ToolFailure):
        return []
    rows = raw.split(b"\n")
    return list(_decoded(rows if size <= 2 * LARGEST else rows[1:]))


def _decoded(rows: Iterable[bytes]) -> Iterable[PastLine]:
    from gongfu.surfaces.cli.talk.pasting import cleaned, without_marks

    decoder = msgspec.json.Decoder(PastLine)
    for row in rows:
        if not 2 < len(row) <= _LINE:
            continue
        try:
            line = decoder.decode(row)
        except (msgspec.DecodeError, RecursionError, UnicodeDecodeError):
            continue
        text = without_marks(cleaned(line.text))
        if text.strip() and text.count(PIECE) == len(line.pasted):
            pasted = tuple(map(cleaned, line.pasted))
            yield PastLine(text=text, pasted=pasted, root=line.root, at=line.at)


def _append(path: Path, data: bytes, *, crowded: bool) -> None:
    from gongfu.workspace.locks import FileLock

    path = Path(os.path.realpath(path))  # a link stays one when the file is shortened
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    if path.exists() and not path.is_file():
        return  # a folder, a pipe: somebody else's
    with FileLock(path.with_name(f"{path.name}.lock"), timeout=5.0):
        flags = os.O_RDWR | os.O_APPEND | os.O_CREAT | getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_BINARY", 0)
        descriptor = os.open(path, flags, 0o600)
        try:
            size = os.lseek(descriptor, 0, os.SEEK_END)
            if hasattr(os, "fchmod"):
                os.fchmod(descriptor, 0o600)
            if size:
                os.lseek(descriptor, size - 1, os.SEEK_SET)
                if os.read(descriptor, 1) != b"\n":
                    data = b"\n" + data  # a write was cut off by a crash
            os.write(descriptor, data)
        finally:
            os.close(descriptor)
        if crowded or size + len(data) > LARGEST:
            _shorten(path)


def _shorten(path: Path) -> None:
    """Keep the newest entries, a good deal fewer than there may be."""
    kept: list[bytes] = []
    room = LARGEST * 3 // 4
    for line in reversed(read_lines(path)):
        row = msgspec.json.encode(line) + b"\n"
        room -= len(row)
        if room < 0 or len(kept) >= MOST * 4 // 5:
            break
        kept.append(row)
    temporary = path.with_name(f".{path.name}.{os.urandom(6).hex()}.tmp")
    try:
        descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0), 0o600)
        with open(descriptor, "wb") as file:  # noqa: PTH123 - a descriptor
            file.write(b"".join(reversed(kept)))
        temporary.replace(path)
    except OSError:
        temporary.unlink(missing_ok=True)
        raise


class Walk:
    """Goes through past lines one by one, from a draft that is not lost."""

    def __init__(self, past: PastLines) -> None:
        self._past = past
        self._at = 0  # 0 is the draft
        self._lines: Sequence[PastLine] = ()
        self.draft = ""

    @property
    def away(self) -> bool:
        """Whether a past line is shown, not the draft."""
        return self._at > 0

    def older(self, draft: str) -> PastLine | None:
        """The next older line, None when there is none; `draft` is kept when the way begins."""
        if not self.away:
            self.draft, self._lines = draft, self._past.newest()
        if self._at >= len(self._lines):
            return None
        self._at += 1
        return self._lines[self._at - 1]

    def newer(self) -> PastLine | None:
        """The next newer line; None when that is the draft."""
        self._at = max(0, self._at - 1)
        return self._lines[self._at - 1] if self.away else None

    def end(self) -> None:
        """What is shown is the draft from now on."""
        self._at, self._lines, self.draft = 0, (), ""
