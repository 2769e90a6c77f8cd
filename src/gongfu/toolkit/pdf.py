"""The text of a PDF, page by page, read in a process of its own: a file that means harm can stop nothing but that."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Literal, TypeAlias, cast

import msgspec

from gongfu.core.base import Base
from gongfu.core.errors import ToolFailure
from gongfu.workspace.apart import run_apart

MAX_PDF = 64 * 1024 * 1024
_SECONDS = 30.0
_KEEP = 8 * 1024 * 1024
_PAGES = 20  # when nobody says how many
_MOST_PAGES = 500
_PAGE = 64 * 1024  # characters of one page
_MEMORY = 1 << 30

Problem: TypeAlias = Literal["", "encrypted", "broken"]


class Line(Base, frozen=True):
    """One line of what the process says: the head (`total`, `problem`), then a `page` each."""

    page: int = 0
    text: str = ""
    images: bool = False
    total: int = -1
    problem: Problem = ""
    why: str = ""


class PdfText(Base, frozen=True):
    """Pages of a PDF. `text` has them with their numbers and a note; `first` to `last` of `total` are in it.

    `scanned` tells that the pages that were read hold pictures and no text.
    """

    text: str
    first: int
    last: int
    total: int
    scanned: bool = False


async def pdf_text(
    raw: bytes, name: str, *, offset: int = 1, limit: int = _PAGES, room: int = 32_768, seconds: float = _SECONDS
) -> PdfText:
    """At most `limit` pages from number `offset` on (negative: counted from the end) in `room` bytes.

    It ends within `seconds`, with the pages that were read by then. ToolFailure, calling the file `name`, for one that
    is encrypted, broken or too large, and when there is no such page.
    """
    if len(raw) > MAX_PDF:
        raise ToolFailure(f"{name} is a PDF of {len(raw):,} bytes; at most {MAX_PDF:,} are read. Split it first.")
    if limit < 1:
        raise ToolFailure(f"limit must be at least 1 page; arrived: {limit}")
    argv = [sys.executable, "-P", "-m", "gongfu.toolkit.pdf", str(offset), str(min(limit, _MOST_PAGES)), str(room)]
    done = await run_apart(
        argv, cwd=Path(__file__).parent, env=_env(os.environ), stdin=raw, seconds=seconds, mark="gongfu-pdf", keep=_KEEP
    )
    head, pages = _told(done.out)
    if head is None or head.problem == "broken":
        why = head.why if head is not None else "it took too long" if done.code is None else "it needs too much memory"
        raise ToolFailure(f"{name} is a PDF that cannot be read: {why}. Ask the user for another copy.")
    if head.problem == "encrypted":
        raise ToolFailure(f"{name} is encrypted and needs a password. Ask the user for a copy without one.")
    first = max(1, head.total + 1 + offset if offset < 0 else offset or 1)
    if first > head.total:
        raise ToolFailure(f"there is no page {first:,}: {name} has {head.total:,} page{'s' * (head.total != 1)}")
    if not pages:
        why = "took too long" if done.code is None else "needs too much memory"
        raise ToolFailure(f"page {first} of {name} {why} to read; offset={first + 1} tries the next one")
    return _view(pages, head.total, room, late=done.code is None, wanted=limit)


def _env(given: Mapping[str, str]) -> dict[str, str]:
    """What Python needs to start, and no more."""
    return {k: v for k, v in given.items() if k in ("PATH", "SYSTEMROOT", "LANG", "LC_ALL", "PYTHONPATH")}


def _told(out: bytes) -> tuple[Line | None, list[Line]]:
    lines: list[Line] = []
    for piece in out.split(b"\n"):
        try:
            lines.append(msgspec.json.decode(piece, type=Line))
        except msgspec.DecodeError:  # where it was stopped, or a library said something
            continue
    head = next((line for line in lines if line.total >= 0 or line.problem), None)
    return head, [line for line in lines if line.page]


def _view(pages: list[Line], total: int, room: int, *, late: bool, wanted: int) -> PdfText:
    shown: list[str] = []
    for page in pages:
        text = page.text.strip() or ("[a picture without text]" if page.images else "[no text]")
        block = f"--- page {page.page} ---\n{text}"
        room -= len(block.encode("utf-8", "replace")) + 1
        if room < 0 and shown:
            break
        shown.append(block)
    first, last = pages[0].page, pages[0].page + len(shown) - 1
    read = pages[: len(shown)]
    scanned = all(not page.text.strip() for page in read) and any(page.images for page in read)
    notes: list[str] = []
    if first > 1 or last < total:
        notes.append(f"pages {first}-{last} of {total:,}" + (f"; offset={last + 1} goes on" if last < total else ""))
    if late and len(read) == len(pages) and len(pages) < wanted:
        notes.append("the next page took too long")
    if scanned:
        notes.append("scanned pages: the tool ocr reads pictures")
    if notes:
        shown.append(f"[{'; '.join(notes)}]")
    return PdfText(text="\n".join(shown), first=first, last=last, total=total, scanned=scanned)


# --- the process ---------------------------------------------------------------------------------------------------


def main() -> None:
    """Reads a PDF from standard input and says a `Line` for the whole and one for each page."""
    offset, limit, room = map(int, sys.argv[1:4])
    _confine()
    for line in lines_of_pdf(sys.stdin.buffer.read(), offset, limit, room):
        sys.stdout.buffer.write(msgspec.json.encode(line) + b"\n")
        sys.stdout.buffer.flush()


def _confine() -> None:
    """Bound the memory where the system can."""
    if sys.platform != "win32":
        import resource  # exists on POSIX only

        _, hard = resource.getrlimit(resource.RLIMIT_AS)
        most = _MEMORY if hard == resource.RLIM_INFINITY else min(_MEMORY, hard)
        try:
            resource.setrlimit(resource.RLIMIT_AS, (most, hard))
        except (ValueError, OSError):  # macOS knows the limit and refuses it
            return


def lines_of_pdf(raw: bytes, offset: int, limit: int, room: int) -> Iterator[Line]:
    """The head and the pages from `offset` on, until `limit` pages or `room` characters are there."""
    import io

    import pypdf  # slow to load, and only in this process

    told = _listen()
    library = cast("Any", pypdf)
    try:
        reader: Any = library.PdfReader(io.BytesIO(raw), strict=False)
        if reader.is_encrypted and not reader.decrypt(""):
            yield Line(problem="encrypted")
            return
        total = len(reader.pages)
    except MemoryError:
        yield Line(problem="broken", why="it needs too much memory")
        return
    except Exception as error:  # noqa: BLE001 - the edge of a process: a broken file may raise anything
        kind = "encrypted" if type(error).__name__ in ("FileNotDecryptedError", "DependencyError") else "broken"
        yield Line(problem=kind, why=_words(error))
        return
    yield Line(total=total)
    first = max(1, total + 1 + offset if offset < 0 else offset or 1)
    for number in range(first, min(total, first + limit - 1) + 1):
        told.clear()
        line = _page(reader, number, told)
        yield line
        room -= len(line.text)
        if room < 0:
            return


def _listen() -> list[str]:
    """What the library complains of from now on."""
    import logging

    told: list[str] = []

    class Ear(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            told.append(record.getMessage())

    logger = logging.getLogger("pypdf")
    logger.addHandler(Ear())
    logger.propagate = False
    return told


def _page(reader: Any, number: int, told: list[str]) -> Line:
    try:
        page: Any = reader.pages[number - 1]
        text = str(page.extract_text() or "")
        if not text.strip() and told:
            return Line(page=number, text=f"[this page cannot be read: {told[-1][:200]}]")
        return Line(page=number, text=_plain(text), images=not text.strip() and _has_pictures(page))
    except MemoryError:
        return Line(page=number, text="[this page needs too much memory to be read]")
    except Exception as error:  # noqa: BLE001 - one broken page must not hide the others
        return Line(page=number, text=f"[this page cannot be read: {_words(error)}]")


def _plain(text: str) -> str:
    cut = text[:_PAGE].encode("utf-8", "replace").decode("utf-8")
    return cut.replace("\0", "") + (f"… [{len(text) - _PAGE:,} more characters]" if len(text) > _PAGE else "")


def _has_pictures(page: Any) -> bool:
    """Whether a page draws a picture; nothing is decoded."""
    found: Any = page.get("/Resources")
    resources: Any = found.get_object() if found is not None else {}
    objects: Any = resources.get("/XObject")
    items: Any = objects.get_object() if objects is not None else {}
    return any(item.get_object().get("/Subtype") == "/Image" for item in items.values())


def _words(error: Exception) -> str:
    said = " ".join(str(error).split())[:200]
    return said or type(error).__name__


if __name__ == "__main__":
    main()
