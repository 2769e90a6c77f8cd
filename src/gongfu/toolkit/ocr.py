"""Text in pictures, read on this machine: by rapidocr where it is installed, else by the program tesseract."""

from __future__ import annotations

import base64
import sys
from collections.abc import Iterable, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Literal, TypeAlias

import msgspec

from gongfu.core.base import Base
from gongfu.core.errors import ToolFailure
from gongfu.toolkit.ocr_worker import MARK, MOST_PIXELS, Answer, Job, Row
from gongfu.toolkit.pictures import picture_of
from gongfu.toolkit.programs import Programs
from gongfu.tools.needs import either, is_met, library, program
from gongfu.tools.protocol import CallContext

Engine: TypeAlias = Literal["auto", "rapidocr", "tesseract"]
MOST_BYTES = 30 * 1024 * 1024
_RAPIDOCR = library("rapidocr", "onnxruntime", extra="ocr")
_TESSERACT = program(
    "tesseract",
    apt="tesseract-ocr tesseract-ocr-chi-sim",
    brew="tesseract tesseract-lang",
    winget="tesseract-ocr.tesseract",
)
READING = either(_RAPIDOCR, _TESSERACT)
_PDFTOPPM = program("pdftoppm", apt="poppler-utils", brew="poppler")
_LANGUAGES = ("chi_sim", "eng")
_SECONDS = 90.0
_KEEP = 64 * 1024 * 1024
_WORD = 5  # the level of a word in tesseract's table
_FIELDS = 12


class Read(Base, frozen=True):
    """The text of a picture, row by row as it is read. `by` names what read it, `note` what it lacked."""

    rows: tuple[Row, ...]
    by: str
    note: str = ""

    @property
    def text(self) -> str:
        """The rows below each other."""
        return "\n".join(row.text for row in self.rows)


class Reader:
    """Reads pictures with `engine`; `programs` starts what it needs."""

    def __init__(self, programs: Programs, engine: Engine = "auto") -> None:
        self._programs = programs
        self._engine = engine

    def check(self) -> str:
        """What will read: "rapidocr" or "tesseract". ToolFailure when there is neither."""
        env = self._programs.given
        if self._engine != "tesseract" and is_met(_RAPIDOCR, env):
            return "rapidocr"
        if self._engine != "rapidocr" and is_met(_TESSERACT, env):
            return "tesseract"
        wanted = {"auto": "the packages rapidocr and onnxruntime, or the program tesseract"}
        lacks = wanted.get(self._engine, self._engine)
        command = _TESSERACT.install if self._engine == "tesseract" else _RAPIDOCR.install
        raise ToolFailure(f"reading pictures needs {lacks}, which is not installed. It is installed with: {command}")

    async def read(self, data: bytes, ctx: CallContext) -> Read:
        """The text in a picture. ToolFailure when it cannot be read."""
        picture = picture_of(data)
        if picture is not None and picture.width * picture.height > MOST_PIXELS:
            raise ToolFailure(
                f"the picture has {picture.width}x{picture.height} pixels; at most {MOST_PIXELS:,} are read"
            )
        by = self.check()
        if by == "tesseract":
            return await self._by_tesseract(data, ctx)
        answer = await self._worker(Job(), data, ctx)
        if answer.problem and self._engine == "auto" and is_met(_TESSERACT, self._programs.given):
            return await self._by_tesseract(data, ctx)
        if answer.problem:
            raise ToolFailure(answer.problem)
        return Read(rows=in_order(answer.rows), by="rapidocr")

    async def page(self, data: bytes, number: int, ctx: CallContext) -> bytes:
        """The picture of a page of a PDF."""
        if is_met(_PDFTOPPM, self._programs.given):
            argv = ["pdftoppm", "-png", "-r", "200", "-f", str(number), "-l", str(number), "-singlefile", "-"]
            ran = await self._programs.run(argv, ctx, stdin=data, timeout=_SECONDS, keep=_KEEP)
            start = ran.how.output.find(b"\x89PNG")
            if start < 0:
                raise ToolFailure(f"page {number} of the PDF could not be drawn: {ran.text.strip()[-300:]}")
            return ran.how.output[start:]
        answer = await self._worker(Job(page=number), data, ctx)
        if answer.problem:
            raise ToolFailure(f"the PDF cannot be used: {answer.problem}. With pdftoppm any page could be drawn: "
                              f"{_PDFTOPPM.install}")  # fmt: skip
        return base64.b64decode(answer.picture)

    async def _worker(self, job: Job, data: bytes, ctx: CallContext) -> Answer:
        argv = [sys.executable, "-P", "-m", "gongfu.toolkit.ocr_worker"]
        ran = await self._programs.run(
            argv, ctx, cwd=Path(__file__).parent, stdin=msgspec.json.encode(job) + b"\n" + data, timeout=_SECONDS,
            keep=_KEEP,
        )  # fmt: skip
        _, mark, said = ran.how.output.rpartition(MARK)
        if mark:
            return msgspec.json.decode(said.partition(b"\n")[0], type=Answer)
        why = (
            "it took too long" if ran.how.why_ended != "exit" else (ran.text.strip().splitlines() or ["no reason"])[-1]
        )
        return Answer(problem=f"rapidocr could not read the picture: {why[:300]}")

    async def _by_tesseract(self, data: bytes, ctx: CallContext) -> Read:
        listed = await self._programs.run(["tesseract", "--list-langs"], ctx, timeout=15)
        there = set(listed.text.split())
        languages = [name for name in _LANGUAGES if name in there]
        spoken = ["-l", "+".join(languages)] if languages else []
        # 11 takes text wherever it stands: where the page is laid out first (3), what stands alone is lost
        argv = ["tesseract", "stdin", "stdout", *spoken, "--psm", "11", "-c", "debug_file=/dev/null", "tsv"]
        ran = await self._programs.run(
            argv, ctx, stdin=data, timeout=_SECONDS, keep=_KEEP, env={"OMP_THREAD_LIMIT": "1"}
        )
        if not ran.ok:
            why = "it took too long" if ran.how.why_ended != "exit" else ran.text.strip()[-300:]
            raise ToolFailure(f"tesseract could not read the picture: {why}")
        lacks = "" if "chi_sim" in there else f"Chinese is not read: it needs {_TESSERACT.install}"
        rows = in_order(_from_table(ran.how.output.decode("utf-8", "replace")))
        return Read(rows=rows, by="tesseract", note=lacks)


def _from_table(table: str) -> tuple[Row, ...]:
    """The lines in tesseract's table of words (TSV)."""
    lines: dict[tuple[str, ...], list[Row]] = {}
    for line in table.splitlines():
        field = line.split("\t")
        if len(field) != _FIELDS or field[0] != str(_WORD) or not field[11].strip():
            continue
        left, top, width, height = map(int, field[6:10])
        row = Row(text=field[11].strip(), left=left, top=top, width=width, height=height)
        lines.setdefault(tuple(field[1:5]), []).append(row)
    return tuple(_joined(words) for words in lines.values())


def in_order(rows: Iterable[Row]) -> tuple[Row, ...]:
    """Pieces of text as lines, from the top, each from the left: pieces that stand beside each other are one line."""
    lines: list[list[Row]] = []
    for row in sorted(rows, key=lambda r: (r.top + r.height / 2, r.left)):
        middle = row.top + row.height / 2
        last = lines[-1][-1] if lines else None
        if last is not None and abs(last.top + last.height / 2 - middle) < min(last.height, row.height) / 2:
            lines[-1].append(row)
        else:
            lines.append([row])
    return tuple(_joined(sorted(line, key=lambda r: r.left)) for line in lines)


def _joined(pieces: Sequence[Row]) -> Row:
    text = pieces[0].text
    for before, piece in pairwise(pieces):
        gap = piece.left - before.left - before.width
        near = gap < min(before.height, piece.height)
        chinese = _is_wide(before.text[-1:]) or _is_wide(piece.text[:1])
        text += ("" if chinese and near else " " if near else "   ") + piece.text
    left, top = min(p.left for p in pieces), min(p.top for p in pieces)
    right, low = max(p.left + p.width for p in pieces), max(p.top + p.height for p in pieces)
    return Row(text=text, left=left, top=top, width=right - left, height=low - top)


def _is_wide(letter: str) -> bool:
    return bool(letter) and (
        0x2E80 <= ord(letter) <= 0x9FFF or 0xF900 <= ord(letter) <= 0xFFEF or ord(letter) >= 0x20000
    )
