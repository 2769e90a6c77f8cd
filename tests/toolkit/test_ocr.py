"""Text in pictures: Chinese and English, by rapidocr and by tesseract, in files, PDFs and on the screen."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from gongfu.core.errors import ToolFailure
from gongfu.toolkit.ocr import Reader, Row, in_order
from gongfu.toolkit.programs import Programs
from tests.app.cast import workplace
from tests.toolkit.kit import Ctx
from tests.toolkit.loop import play
from tests.toolkit.screens import display, env_of, needed

pytestmark = pytest.mark.anyio
PAGE = """
#set page(width: 16cm, height: 6cm, margin: 0.8cm)
#set text(size: 18pt, font: ("Noto Sans CJK SC", "Noto Serif CJK SC"))
Invoice number 2026-11

今天天气很好，适合练功夫。

Left words #h(1fr) 右边文字
"""


@pytest.fixture(scope="module")
def drawn(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], bytes]:
    """The page as a picture or a PDF that holds nothing but the picture."""
    needed(library="typst")
    import typst

    folder = tmp_path_factory.mktemp("drawn")
    compiled: Any = typst.compile

    def draw(kind: str) -> bytes:
        picture = folder / "page.png"
        if not picture.exists():
            (folder / "page.typ").write_text(PAGE, "utf-8")
            compiled(str(folder / "page.typ"), output=str(picture), format="png", ppi=120)
        if kind == "png":
            return picture.read_bytes()
        scan = '#set page(width: 16cm, height: 6cm, margin: 0cm)\n#image("page.png", width: 100%)\n#pagebreak()\nwords'
        (folder / "scan.typ").write_text(scan, "utf-8")
        compiled(str(folder / "scan.typ"), output=str(folder / "scan.pdf"), format="pdf")
        return (folder / "scan.pdf").read_bytes()

    return draw


def reader(folder: Path, engine: Any = "auto", **env: str) -> Reader:
    return Reader(Programs(directory=folder, env=env_of(folder) | env), engine)


def by_tesseract(tmp_path: Path) -> Path:
    """A workspace whose person chose tesseract, which is quick."""
    needed("tesseract")
    home = tmp_path / "home"
    home.mkdir()
    (home / "config.yaml").write_text("desktop: {ocr: tesseract}\n")
    return workplace(tmp_path)


def squeezed(text: str) -> str:
    return text.replace(" ", "").replace("，", ",")


@pytest.mark.parametrize("engine", ["rapidocr", "tesseract"])
async def test_chinese_and_english_are_read_in_order(tmp_path: Path, drawn: Any, engine: str) -> None:
    needed(*(["tesseract"] if engine == "tesseract" else []), library=engine if engine == "rapidocr" else "")
    read = await reader(tmp_path, engine).read(drawn("png"), Ctx())
    assert read.by == engine
    first, second, third = [squeezed(row.text) for row in read.rows]
    assert first == "Invoicenumber2026-11"
    assert "适合练功夫" in second
    assert second.startswith("今天天")
    assert third == "Leftwords右边文字"
    tops = [row.top for row in read.rows]
    assert tops == sorted(tops)
    assert all(row.left >= 20 and row.width > 100 and 10 < row.height < 80 for row in read.rows)


async def test_the_tool_reads_a_picture_and_says_who_read_it(tmp_path: Path, drawn: Any) -> None:
    work = by_tesseract(tmp_path)
    (work / "page.png").write_bytes(drawn("png"))
    played = await play(work, ("ocr", {"path": "page.png", "boxes": True}), env=env_of(work), permission="plan")
    assert played.status == "done"
    head, *lines = played.text.splitlines()
    assert head.startswith("Read by tesseract; each line is left,top widthxheight")
    assert lines[0].endswith("Invoice number 2026-11")
    left, top = lines[0].split()[0].split(",")
    assert (int(left) > 20, int(top) > 20) == (True, True)


async def test_a_scanned_page_of_a_pdf_is_read(tmp_path: Path, drawn: Any) -> None:
    work = by_tesseract(tmp_path)
    (work / "scan.pdf").write_bytes(drawn("pdf"))
    played = await play(
        work,
        ("ocr", {"path": "scan.pdf"}),
        ("ocr", {"path": "scan.pdf", "page": 9}),
        ("ocr", {"path": "scan.pdf", "page": 0}),
        env=env_of(work),
    )
    first, far, zero = played.results
    assert first.text.startswith("Read by tesseract:")
    assert "2026-11" in first.text
    assert "练功夫" in squeezed(first.text)
    assert far.status == "failed"
    assert "page" in far.text
    assert "counts from 1" in zero.text


async def test_what_is_no_picture_is_told(tmp_path: Path) -> None:
    needed("tesseract")
    work = workplace(tmp_path)
    (work / "broken.png").write_bytes(b"\x89PNG\r\n\x1a\n" + b"\0" * 40)
    (work / "huge.png").write_bytes(b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR" + b"\0\1\0\0" * 2 + b"\x08\x02\0\0\0")
    (work / "folder").mkdir()
    (work / ".env").write_text("KEY=1\n")
    calls = ["a.txt", "broken.png", "huge.png", "folder", "nothing.png", "a\0b"]
    played = await play(work, *[("ocr", {"path": p}) for p in calls], env=env_of(work))
    for result, why in zip(
        played.results,
        ["is no picture", "could not read", "at most 50,000,000", "is a folder", "does not exist", ""],
        strict=True,
    ):
        assert result.status == "failed"
        assert why in result.text, result.text
        assert "Traceback" not in result.text


async def test_without_anything_that_reads_it_says_what_would(tmp_path: Path) -> None:
    empty = tmp_path / "bin"
    empty.mkdir()
    with pytest.raises(ToolFailure, match=r"needs tesseract, which is not installed.*apt-get install tesseract-ocr"):
        reader(tmp_path, "tesseract", PATH=str(empty)).check()


async def test_words_on_the_screen_come_with_their_place(tmp_path: Path, drawn: Any) -> None:
    needed("Xvfb", library="tkinter")
    needed(library="mss")
    import subprocess
    import sys

    work = by_tesseract(tmp_path)
    picture = work / "page.png"
    picture.write_bytes(drawn("png"))
    show = (
        "import sys, tkinter; root = tkinter.Tk(); root.geometry('+150+100');"
        "image = tkinter.PhotoImage(file=sys.argv[1]); tkinter.Label(root, image=image, bd=0).pack();"
        "root.bind('<Map>', lambda e: root.after(100, print, 'ready')); root.mainloop()"
    )
    with display("1200x700x24") as shown:
        process = subprocess.Popen(
            [sys.executable, "-u", "-c", show, str(picture)], env=env_of(work, shown), stdout=subprocess.PIPE
        )
        try:
            assert process.stdout is not None
            assert process.stdout.readline() == b"ready\n"
            played = await play(work, ("read_screen", {}), env=env_of(work, shown))
        finally:
            process.terminate()
            process.communicate()
    assert played.status == "done", played.text
    line = next(one for one in played.text.splitlines() if "2026-11" in one)
    x, y = map(int, line.split()[0].split(","))
    assert 150 < x < 700
    assert 100 < y < 250


def test_pieces_beside_each_other_are_one_line() -> None:
    rows = [
        Row(text="world", left=60, top=11, width=50, height=20),
        Row(text="下一行", left=0, top=50, width=60, height=20),
        Row(text="hello", left=0, top=10, width=50, height=20),
        Row(text="far", left=400, top=9, width=30, height=20),
        Row(text="继续", left=62, top=51, width=40, height=20),
    ]
    assert [row.text for row in in_order(rows)] == ["hello world   far", "下一行继续"]
