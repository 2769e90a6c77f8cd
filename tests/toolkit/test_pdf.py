"""read_file of PDFs: their pages as text, and what is said of those that have none or mean harm."""

from __future__ import annotations

import io
import time
import zlib
from pathlib import Path

import pypdf
import pytest

from gongfu.core.errors import ToolFailure
from gongfu.toolkit.pdf import pdf_text
from tests.app.cast import workplace
from tests.toolkit.loop import play
from tests.toolkit.pdfs import joined, pdf

pytestmark = pytest.mark.anyio


async def test_the_pages_of_a_pdf_through_the_loop(tmp_path: Path) -> None:
    work = workplace(tmp_path)
    (work / "paper").write_bytes(pdf(*(f"Page number {n} speaks" for n in range(1, 26))))
    played = await play(work, ("read_file", {"path": "paper", "offset": 2, "limit": 2}), direct=True)
    pages = "--- page 2 ---\nPage number 2 speaks\n--- page 3 ---\nPage number 3 speaks"
    assert played.text == f"{pages}\n[pages 2-3 of 25; offset=4 goes on]"
    assert played.finished[0].display["summary"] == "2 pages"


async def test_twenty_pages_by_themselves_and_numbers_from_the_end() -> None:
    raw = pdf(*(f"Page {n}." for n in range(1, 26)))
    read = await pdf_text(raw, "a.pdf")
    assert (read.first, read.last, read.total) == (1, 20, 25)
    read = await pdf_text(raw, "a.pdf", offset=-2)
    assert (read.first, read.last) == (24, 25)
    read = await pdf_text(raw, "a.pdf", room=40)
    assert read.text == "--- page 1 ---\nPage 1.\n[pages 1-1 of 25; offset=2 goes on]"
    with pytest.raises(ToolFailure, match=r"there is no page 26: a\.pdf has 25 pages"):
        await pdf_text(raw, "a.pdf", offset=26)
    with pytest.raises(ToolFailure, match="limit must be at least 1 page"):
        await pdf_text(raw, "a.pdf", limit=0)


async def test_scanned_pages_are_told_from_empty_ones() -> None:
    read = await pdf_text(pdf("", "", pictures=True), "scan.pdf")
    assert read.scanned
    assert read.text.startswith("--- page 1 ---\n[a picture without text]")
    assert read.text.endswith("[scanned pages: the tool ocr reads pictures]")
    read = await pdf_text(pdf(""), "empty.pdf")
    assert not read.scanned
    assert read.text == "--- page 1 ---\n[no text]"


async def test_encrypted_and_broken_ones() -> None:
    writer = pypdf.PdfWriter(clone_from=io.BytesIO(pdf("secret words")))
    writer.encrypt("password")
    locked = io.BytesIO()
    writer.write(locked)
    with pytest.raises(ToolFailure, match="encrypted and needs a password"):
        await pdf_text(locked.getvalue(), "a.pdf")
    open_to_all = pypdf.PdfWriter(clone_from=io.BytesIO(pdf("for all")))
    open_to_all.encrypt("", owner_password="owner")
    readable = io.BytesIO()
    open_to_all.write(readable)
    assert "for all" in (await pdf_text(readable.getvalue(), "a.pdf")).text
    for raw in (b"%PDF-1.7\n", b"%PDF-1.7 rubbish \0\xff" * 50, pdf("x")[:120]):
        with pytest.raises(ToolFailure, match="is a PDF that cannot be read"):
            await pdf_text(raw, "a.pdf")


def _packed(count: int) -> bytes:
    """A page that draws `count` letters, packed."""
    stream = zlib.compress(b"BT (x) Tj ET\n" * count, 9)
    page = b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 9 9] /Contents 4 0 R /Resources << /Font << >> >> >>"
    return joined([
        b"<< /Type /Catalog /Pages 2 0 R >>", b"<< /Type /Pages /Kids [3 0 R] /Count 1 >>", page,
        b"<< /Filter /FlateDecode /Length %d >>\nstream\n%s\nendstream" % (len(stream), stream),
    ])  # fmt: skip


async def test_a_bomb_ends_with_its_process() -> None:
    """A page that unpacks to much, one that takes minutes, and a tree of pages that leads in a circle."""
    started = time.monotonic()
    assert "cannot be read: Limit reached" in (await pdf_text(_packed(7_000_000), "bomb.pdf")).text
    with pytest.raises(ToolFailure, match=r"page 1 of slow\.pdf took too long to read; offset=2 tries the next one"):
        await pdf_text(_packed(5_000_000), "slow.pdf", seconds=1)
    circle = [b"<< /Type /Catalog /Pages 2 0 R >>", b"<< /Type /Pages /Kids [2 0 R 2 0 R] /Count 9 >>"]
    with pytest.raises(ToolFailure):
        await pdf_text(joined(circle), "circle.pdf", seconds=3)
    assert time.monotonic() - started < 15
