"""Patches as models and git write them, taken apart: unified diffs and the `*** Begin Patch` form.

Lines of a patch end at line feeds only: a carriage return before one belongs to the line, unless every line has one.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Literal, TypeAlias

from gongfu.core.base import Base
from gongfu.core.errors import ToolFailure

MOST_LINES = 200_000
_RANGE = r"@@+ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@+"
_GIT = r'diff --git (?:"(?P<qa>(?:[^"\\]|\\.)*)"|(?P<a>.+?)) (?:"(?P<qb>(?:[^"\\]|\\.)*)"|(?P<b>.+))'
_FENCE = r"^\s*(?:```|~~~)"
_V4A = r"\*\*\* (Update|Add|Delete) File: ?(.*)"
_ESCAPES = {"n": 10, "t": 9, "r": 13, "a": 7, "b": 8, "f": 12, "v": 11}
_BINARY = ("GIT binary patch", "Binary files ")
_HEADS = (
    "index ", "similarity index ", "dissimilarity index ", "old mode ", "new mode ", "new file mode ",
    "deleted file mode ", "rename from ", "rename to ", "copy from ", "copy to ", "--- ", "+++ ",
)  # fmt: skip

Sign: TypeAlias = Literal[" ", "-", "+"]


class PatchLine(Base, frozen=True):
    """A line of a hunk without its line feed; `open` tells that the file has none there."""

    sign: Sign
    text: str
    open: bool = False


class Hunk(Base, frozen=True):
    """A change of some lines. `at` is the number of its first old line as the patch has it (0: it has none).

    `anchors` are lines that stand before it, in order; `last` tells that it reaches to the end of the file; `line` is
    where it begins in the patch.
    """

    lines: tuple[PatchLine, ...]
    at: int = 0
    anchors: tuple[str, ...] = ()
    last: bool = False
    line: int = 0

    def side(self, gone: Sign) -> list[PatchLine]:
        """The lines but those of sign `gone`: "+" leaves the old ones, "-" the new ones."""
        return [line for line in self.lines if line.sign != gone]


class FilePatch(Base, frozen=True):
    """What becomes of one file. `to` is its new name ("" keeps it), `mode` its new permission bits (None keeps them).

    `stays` tells that the old one is copied, not moved.
    """

    kind: Literal["update", "add", "delete"]
    path: str
    to: str = ""
    mode: int | None = None
    stays: bool = False
    hunks: tuple[Hunk, ...] = ()
    line: int = 0


def parse(patch: str) -> list[FilePatch]:
    """The files of a patch, in order. ToolFailure, naming the line, for what is none."""
    lines = patch.split("\n")
    if len(lines) > MOST_LINES:
        raise ToolFailure(f"the patch has more than {MOST_LINES:,} lines; apply it in pieces")
    if lines and not lines[-1]:
        lines.pop()
    if lines and all(line.endswith("\r") for line in lines):
        lines = [line[:-1] for line in lines]
    first = next((at for at, line in enumerate(lines) if line.strip()), 0)
    if first < len(lines) and re.match(_FENCE, lines[first]):
        lines = ["", *_fenced(lines[first + 1 :])]
    begin = next((at for at, line in enumerate(lines) if line.strip() == "*** Begin Patch"), None)
    if begin is not None or any(re.match(_V4A, line) for line in lines):
        files = _Begun(lines, 0 if begin is None else begin + 1).files()
    else:
        files = _Unified(lines).files()
    if not files:
        raise ToolFailure(
            "this is no patch: it needs `--- a/file` and `+++ b/file` lines with hunks (@@ -1,3 +1,4 @@), or the form "
            "`*** Begin Patch` … `*** Update File: path` … `*** End Patch`"
        )
    return files


def _fenced(lines: Sequence[str]) -> list[str]:
    end = next((at for at in range(len(lines) - 1, -1, -1) if re.match(_FENCE, lines[at])), len(lines))
    return list(lines[:end])


def _wrong(number: int, why: str) -> ToolFailure:
    return ToolFailure(f"line {number} of the patch: {why}; nothing was changed")


class _Unified:
    """A unified diff, with git's extended headers or without."""

    def __init__(self, lines: list[str]) -> None:
        self._lines = lines
        self._at = 0

    def files(self) -> list[FilePatch]:
        found: list[FilePatch] = []
        while self._at < len(self._lines):
            if self._begins(self._at):
                found.append(self._file())
            elif self._lines[self._at].startswith("@@"):
                raise _wrong(self._at + 1, "a hunk without `--- a/file` and `+++ b/file` before it")
            else:
                self._at += 1  # words around the diff, as of a mail or a commit
        return found

    def _begins(self, at: int) -> bool:
        line = self._lines[at]
        after = self._lines[at + 1] if at + 1 < len(self._lines) else ""
        return line.startswith("diff --git ") or (line.startswith("--- ") and after.startswith("+++ "))

    def _file(self) -> FilePatch:
        start = self._at
        head: dict[str, str] = {}
        git = re.fullmatch(_GIT, self._lines[self._at].rstrip("\r"))
        if self._lines[self._at].startswith("diff --git "):
            self._at += 1
        while self._at < len(self._lines):
            line = self._lines[self._at].rstrip("\r")
            if line.startswith(_BINARY):
                raise _wrong(self._at + 1, "a change of a binary file, which is not applied; use write_chunk")
            key = next((k for k in _HEADS if line.startswith(k)), None)
            if key is None or key.strip() in head:
                break
            head[key.strip()] = line[len(key) :]
            self._at += 1
        hunks = self._hunks()
        return _made(head, git, hunks, start + 1)

    def _hunks(self) -> tuple[Hunk, ...]:
        hunks: list[Hunk] = []
        while self._at < len(self._lines) and self._lines[self._at].startswith("@@"):
            number = self._at + 1
            match = re.match(_RANGE, self._lines[self._at])
            self._at += 1
            counts = (int(match[2] or 1), int(match[4] or 1)) if match else None
            lines = (self._counted(*counts) if counts else None) or self._until_head()
            if not lines:
                raise _wrong(number, "an empty hunk")
            # a hunk that takes no line stands after the line of its number
            at = int(match[1]) + (match[2] == "0") if match else 0
            hunks.append(Hunk(lines=tuple(lines), at=at, line=number))
        return tuple(hunks)

    def _counted(self, old: int, new: int) -> list[PatchLine] | None:
        """The lines that the numbers of the hunk speak of; None, and none is used up, when they are wrong."""
        lines: list[PatchLine] = []
        at = self._at
        while (old > 0 or new > 0) and at < len(self._lines):
            line = _patch_line(self._lines[at])
            if line is None:
                return None
            old -= line.sign != "+"
            new -= line.sign != "-"
            at += 1
            if at < len(self._lines) and self._lines[at].startswith("\\"):
                line = PatchLine(sign=line.sign, text=line.text, open=True)
                at += 1
            lines.append(line)
        after = self._lines[at] if at < len(self._lines) else ""
        goes_on = after[:1] in ("+", "-", " ") and bool(after.strip()) and not self._begins(at)
        if old or new or (goes_on and after not in ("-- ", "--")):  # these end a mail of git
            return None
        self._at = at
        return lines

    def _until_head(self) -> list[PatchLine]:
        """The lines up to the next hunk, file or end."""
        lines: list[PatchLine] = []
        while self._at < len(self._lines) and not self._begins(self._at):
            text = self._lines[self._at]
            if text.startswith("\\"):
                if lines:
                    lines[-1] = PatchLine(sign=lines[-1].sign, text=lines[-1].text, open=True)
            elif (line := _patch_line(text)) is not None:
                lines.append(line)
            elif text.startswith("@@") or not text.strip():
                break
            else:
                raise _wrong(self._at + 1, f"{text[:60]!r} begins with neither a space, + nor -")
            self._at += 1
        return _without_blank_end(lines)


def _patch_line(text: str) -> PatchLine | None:
    if text in ("", "\r"):
        return PatchLine(sign=" ", text=text)  # an empty line whose space was lost
    match text[0]:
        case " ":
            return PatchLine(sign=" ", text=text[1:])
        case "-":
            return PatchLine(sign="-", text=text[1:])
        case "+":
            return PatchLine(sign="+", text=text[1:])
        case _:
            return None


def _without_blank_end(lines: list[PatchLine]) -> list[PatchLine]:
    """Without empty lines at the end, which are between two files and no context."""
    while lines and lines[-1].sign == " " and not lines[-1].text.strip():
        lines.pop()
    return lines


def _made(head: dict[str, str], git: re.Match[str] | None, hunks: tuple[Hunk, ...], number: int) -> FilePatch:
    old, new = _name(head.get("---", "")), _name(head.get("+++", ""))
    if not old and not new and git is not None:
        old = _unquoted(git["qa"]) if git["qa"] is not None else git["a"]
        new = _unquoted(git["qb"]) if git["qb"] is not None else git["b"]
    if old != "/dev/null" and new != "/dev/null":
        plain = not (old.startswith("a/") and new.startswith("b/"))
    else:
        plain = not (old.startswith("a/") or new.startswith("b/"))
    before, after = (old, new) if plain else (old.removeprefix("a/"), new.removeprefix("b/"))
    mode = _mode(head.get("new mode") or head.get("new file mode"), number)
    _mode(head.get("deleted file mode"), number)
    for verb in ("rename", "copy"):
        if f"{verb} from" in head and f"{verb} to" in head:
            source, target = _name(head[f"{verb} from"]), _name(head[f"{verb} to"])
            return FilePatch(
                kind="update", path=source, to=target, mode=mode, stays=verb == "copy", hunks=hunks, line=number
            )
    if "new file mode" in head or old == "/dev/null":
        return FilePatch(kind="add", path=after, mode=mode, hunks=hunks, line=number)
    if "deleted file mode" in head or new == "/dev/null":
        return FilePatch(kind="delete", path=before, hunks=hunks, line=number)
    if not hunks and mode is None:
        raise _wrong(number, "a file without any change")
    to = after if after != before and not plain else ""
    return FilePatch(
        kind="update", path=before if to or not plain else after, to=to, mode=mode, hunks=hunks, line=number
    )


def _mode(text: str | None, number: int) -> int | None:
    if text is None:
        return None
    bits = text.strip()
    if not re.fullmatch("[0-7]{6}", bits):
        raise _wrong(number, f"{bits!r} is no mode of a file")
    if not bits.startswith("100"):
        raise _wrong(number, "links and submodules are not changed by patches here; use shell")
    return int(bits[-3:], 8)


def _name(text: str) -> str:
    """A path as a header has it, without the date that may follow it."""
    text = text.rstrip("\r")
    if text.startswith('"'):
        end = re.match(r'"((?:[^"\\]|\\.)*)"', text)
        return _unquoted(end[1]) if end else text
    return text.partition("\t")[0].rstrip()


def _unquoted(text: str) -> str:
    """A path that git wrote with C's escapes."""
    out = bytearray()
    for piece in re.finditer(r"\\([0-7]{3})|\\(.)|([^\\]+)", text, re.DOTALL):
        if piece[1]:
            out.append(int(piece[1], 8) & 0xFF)
        elif piece[2]:
            code = _ESCAPES.get(piece[2])
            out += bytes([code]) if code is not None else piece[2].encode("utf-8", "surrogateescape")
        else:
            out += piece[3].encode("utf-8", "surrogateescape")
    return out.decode("utf-8", "surrogateescape")


class _Begun:
    """A patch of the form `*** Begin Patch`."""

    def __init__(self, lines: list[str], start: int) -> None:
        self._lines = lines
        self._at = start

    def files(self) -> list[FilePatch]:
        found: list[FilePatch] = []
        while self._at < len(self._lines):
            line = self._lines[self._at].rstrip()
            if line == "*** End Patch":
                break
            match = re.fullmatch(_V4A, line)
            if match is None:
                if line and not found and not line.startswith("***"):
                    self._at += 1
                    continue
                if line:
                    raise _wrong(self._at + 1, f"{line[:60]!r} is no `*** Update File:`, `*** Add File:` or the like")
                self._at += 1
                continue
            self._at += 1
            found.append(self._file(match[1], match[2].strip()))
        return found

    def _file(self, verb: str, path: str) -> FilePatch:
        number = self._at
        if not path:
            raise _wrong(number, "the path is missing")
        if verb == "Delete":
            return FilePatch(kind="delete", path=path, line=number)
        if verb == "Add":
            return FilePatch(kind="add", path=path, hunks=self._added(), line=number)
        to = ""
        if self._at < len(self._lines) and (found := re.match(r"\*\*\* Move to: ?(.+)", self._lines[self._at])):
            to = found[1].strip()
            self._at += 1
        hunks = self._hunks()
        if not hunks and not to:
            raise _wrong(number, "an update without any change")
        return FilePatch(kind="update", path=path, to=to, hunks=hunks, line=number)

    def _over(self) -> bool:
        return (
            self._at >= len(self._lines) or re.match(r"\*\*\* (End Patch|\w+ File:)", self._lines[self._at]) is not None
        )

    def _added(self) -> tuple[Hunk, ...]:
        lines: list[PatchLine] = []
        number = self._at + 1
        while not self._over():
            text = self._lines[self._at]
            if text.startswith("+"):
                lines.append(PatchLine(sign="+", text=text[1:]))
            elif text.strip() and not text.startswith("*** End of File"):
                raise _wrong(self._at + 1, "every line of a new file begins with +")
            self._at += 1
        return (Hunk(lines=tuple(lines), line=number),) if lines else ()

    def _hunks(self) -> tuple[Hunk, ...]:
        hunks: list[Hunk] = []
        while not self._over():
            number = self._at + 1
            anchors, at = self._anchors()
            lines, last = self._body()
            if lines:
                hunks.append(Hunk(lines=tuple(lines), at=at, anchors=anchors, last=last, line=number))
            elif anchors:
                raise _wrong(number, "nothing follows the @@ line")
        return tuple(hunks)

    def _anchors(self) -> tuple[tuple[str, ...], int]:
        anchors: list[str] = []
        at = 0
        while not self._over() and self._lines[self._at].startswith("@@"):
            line = self._lines[self._at]
            ranged = re.match(_RANGE, line)
            if ranged is not None:
                at = int(ranged[1]) + (ranged[2] == "0")
            elif line[2:].strip(" @"):
                anchors.append(line[2:].strip().removesuffix("@@").strip())
            self._at += 1
        return tuple(anchors), at

    def _body(self) -> tuple[list[PatchLine], bool]:
        lines: list[PatchLine] = []
        while not self._over() and not self._lines[self._at].startswith("@@"):
            text = self._lines[self._at]
            self._at += 1
            if text.rstrip() == "*** End of File":
                return lines, True
            if text.startswith("\\"):
                if lines:
                    lines[-1] = PatchLine(sign=lines[-1].sign, text=lines[-1].text, open=True)
                continue
            line = _patch_line(text)
            if line is None:
                raise _wrong(self._at, f"{text[:60]!r} begins with neither a space, + nor -")
            lines.append(line)
        return _without_blank_end(lines), False
