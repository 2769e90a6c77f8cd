"""What a file looks like to the model: numbered lines, cells of a notebook, or words on why it cannot be shown."""

from __future__ import annotations

import re
from typing import Any, BinaryIO, cast

import msgspec

from gongfu.core.base import Base
from gongfu.core.errors import ToolFailure
from gongfu.workspace.encodings import detect
from gongfu.workspace.files import TextFile

LONGEST_LINE = 2000
_SAMPLE = 1 << 16
_BREAK = r"\r\n|\n|\r"
_SURROGATES = "[\ud800-\udfff]"


class View(Base, frozen=True):
    """Lines for the model. `first` to `last` of `total` are shown (from 1); `text` has their numbers and the notes."""

    text: str
    first: int
    last: int
    total: int


def lines_of(text: str) -> list[str]:
    """The lines without their ends; a line end at the very end begins no further line."""
    lines = re.split(_BREAK, text)
    if lines and not lines[-1]:
        lines.pop()
    return lines


def numbered(lines: list[str], first: int) -> str:
    """Lines with their numbers, fit for the model."""
    return "\n".join(f"{first + i}|{fit(line)}" for i, line in enumerate(lines))


def fit(line: str, longest: int = LONGEST_LINE) -> str:
    """A line that is not too long and has no lone surrogates."""
    if len(line) > longest:
        line = f"{line[:longest]}… [{len(line) - longest:,} more characters in this line]"
    return re.sub(_SURROGATES, "\ufffd", line)


def view(lines: list[str], *, offset: int, limit: int, room: int, notes: tuple[str, ...] = ()) -> View:
    """At most `limit` lines from number `offset` on (negative: counted from the end) in `room` bytes.

    ToolFailure when there is no line of that number.
    """
    total = len(lines)
    if limit < 1:
        raise ToolFailure(f"limit must be at least 1; arrived: {limit}")
    first = max(1, total + 1 + offset if offset < 0 else offset)
    if total == 0:
        return View(text="[the file is empty]", first=1, last=0, total=0)
    if first > total:
        raise ToolFailure(f"there is no line {first:,}: the file has {total:,} line{'' if total == 1 else 's'}")
    shown: list[str] = []
    for line in lines[first - 1 : first - 1 + limit]:
        text = f"{first + len(shown)}|{fit(line)}"
        room -= len(text.encode("utf-8")) + 1
        if room < 0 and shown:
            break
        shown.append(text)
    last = first + len(shown) - 1
    remarks = list(notes)
    if first > 1 or last < total:
        more = f"; offset={last + 1} goes on" if last < total else ""
        remarks.insert(0, f"lines {first}-{last} of {total:,}{more}")
    if remarks:
        shown.append(f"[{'; '.join(remarks)}]")
    return View(text="\n".join(shown), first=first, last=last, total=total)


def notes_on(file: TextFile) -> tuple[str, ...]:
    """What is unusual about a file and matters to whoever edits it."""
    notes: list[str] = []
    encoding = file.encoding
    if encoding.codec != "utf-8":
        notes.append(f"encoding {encoding.codec}")
    if encoding.errors != "strict":
        notes.append("some bytes fit no character and are shown as \ufffd")
    if file.mixed:
        notes.append("mixed line ends")
    elif file.newline not in ("", "\n"):
        notes.append("CRLF line ends" if file.newline == "\r\n" else "CR line ends")
    if file.text and not file.text.endswith(("\n", "\r")):
        notes.append("no line end at the end")
    return tuple(notes)


def large_view(file: BinaryIO, *, offset: int, limit: int, room: int) -> tuple[View, str]:
    """Lines of a file too large to be held, and its digest: read through once, only what is shown is kept."""
    from hashlib import blake2b  # the digest of `workspace.files`, over a stream

    if offset < 0:
        raise ToolFailure("this file is too large to count lines from its end; give a positive offset")
    first, whole = max(1, offset), blake2b(digest_size=16)
    sample = file.read(_SAMPLE)
    encoding = detect(sample[: sample.rfind(b"\n") + 1] or sample)
    if encoding is None or encoding.codec.startswith("utf-16"):
        raise ToolFailure("this file is too large and no plain text; it cannot be shown")
    file.seek(0)
    shown: list[str] = []
    total, begins = 0, True
    while piece := file.readline(_SAMPLE):
        whole.update(piece)
        total += begins
        if begins and first <= total < first + limit and room > 0:
            text = f"{total}|{fit(piece.decode(encoding.codec, 'replace').rstrip(chr(10) + chr(13)))}"
            room -= len(text.encode("utf-8")) + 1
            shown.append(text)
        begins = piece.endswith(b"\n")
    if not shown:
        raise ToolFailure(f"there is no line {first:,}: the file has {total:,} line{'' if total == 1 else 's'}")
    last = first + len(shown) - 1
    shown.append(f"[lines {first}-{last} of {total:,} of a large file]")
    return View(text="\n".join(shown), first=first, last=last, total=total), whole.hexdigest()


def notebook_text(text: str) -> str | None:
    """The cells of a Jupyter notebook with their outputs as text; None when it is no notebook."""
    try:
        whole: Any = msgspec.json.decode(text)
    except (msgspec.DecodeError, UnicodeEncodeError, RecursionError):
        return None
    if not isinstance(whole, dict) or not isinstance(cast("dict[str, Any]", whole).get("cells"), list):
        return None
    parts: list[str] = []
    for number, cell in enumerate(cast("list[Any]", whole["cells"]), 1):
        if not isinstance(cell, dict):
            continue
        fields = cast("dict[str, Any]", cell)
        parts.append(f"--- cell {number} ({fields.get('cell_type', 'unknown')}) ---")
        parts.append(_joined(fields.get("source")))
        outputs = [_output(o) for o in cast("list[Any]", fields.get("outputs") or [])]
        if any(outputs):
            parts += ["--- output ---", *filter(None, outputs)]
    count = len(cast("list[Any]", whole["cells"]))
    parts.append(f"[a notebook of {count} cells; give offset or limit to read its JSON, which is what edits work on]")
    return "\n".join(parts)


def _joined(source: Any) -> str:
    if isinstance(source, list):
        return "".join(str(s) for s in cast("list[Any]", source)).rstrip("\n")
    return str(source or "").rstrip("\n")


def _output(output: Any) -> str:
    if not isinstance(output, dict):
        return ""
    fields = cast("dict[str, Any]", output)
    if fields.get("output_type") == "error":
        return f"{fields.get('ename', 'error')}: {fields.get('evalue', '')}"
    data = cast("dict[str, Any]", fields["data"]) if isinstance(fields.get("data"), dict) else {}
    text = _joined(fields.get("text") or data.get("text/plain"))
    images = [f"[{kind}]" for kind in data if kind.startswith("image/")]
    if len(text) > LONGEST_LINE:
        text = f"{text[:LONGEST_LINE]}… [{len(text) - LONGEST_LINE:,} more characters]"
    return "\n".join(filter(None, [text, *images]))
