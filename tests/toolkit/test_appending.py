"""append_file, write_chunk and file_info."""

from __future__ import annotations

import base64
import hashlib
import os
import subprocess
import tempfile
from pathlib import Path

import pytest

from gongfu.toolkit.appending import AppendTools
from gongfu.toolkit.info import InfoTools, kind_of
from gongfu.toolkit.readlog import ReadLog
from gongfu.workspace.files import digest
from gongfu.workspace.root import Workspace
from tests.app.cast import workplace
from tests.toolkit.kit import Workbench
from tests.toolkit.loop import play
from tests.toolkit.pdfs import pdf

pytestmark = pytest.mark.anyio
PIXEL = base64.b64decode(
    "iVBORw0KGgoAAAANSUhEUgAAAAIAAAADCAYAAAC56t6BAAAAEklEQVR4nGP4z8DwHwQZYAwAO+4F+8Kx+ZkAAAAASUVORK5CYII="
)


class Bench(Workbench):
    def __init__(self, folder: Path) -> None:
        self.root = folder.resolve()
        self.reads = ReadLog()
        workspace = Workspace(self.root, self.root)
        self.writers = AppendTools(workspace, self.reads)
        info = InfoTools(workspace, {"HOME": str(folder)})
        tools = (self.writers.append_file, self.writers.write_chunk, info.file_info)
        self.tools = {t.spec.name: t for t in tools}


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    return Bench(tmp_path)


# --- append_file ---------------------------------------------------------------------------------------------------


async def test_appending_through_the_loop(tmp_path: Path) -> None:
    work = workplace(tmp_path)
    played = await play(
        work,
        ("append_file", {"path": "a.txt", "text": "more\n"}),
        ("append_file", {"path": "logs/new.txt", "text": "first"}),
        ("append_file", {"path": "logs/new.txt", "text": "second\n"}),
        ("append_file", {"path": "logs/new.txt", "text": "third", "same_line": True}),
    )
    assert [r.text for r in played.results] == [
        "Appended 1 line to a.txt, which has 2 now.", "Created logs/new.txt (1 line).",
        "Appended 1 line to logs/new.txt, which has 2 now.", "Appended 1 line to logs/new.txt, which has 3 now.",
    ]  # fmt: skip
    assert (work / "a.txt").read_text() == "alpha\nmore\n"
    assert (work / "logs/new.txt").read_text() == "first\nsecond\nthird"


@pytest.mark.parametrize(
    ("raw", "text", "wanted"),
    [
        (b"a\r\nb", "c\nd\n", b"a\r\nb\r\nc\r\nd\r\n"),
        (b"\xef\xbb\xbfa\n", "\u4e2d\n", b"\xef\xbb\xbfa\n\xe4\xb8\xad\n"),
        ("配置文件\n".encode("gbk"), "测试", "配置文件\n测试\n".encode("gbk")),
        (b"a\r\nb\r\n", "c", b"a\r\nb\r\nc\r\n"),
        (b"\xff\xfea\0\n\0", "b\n", b"\xff\xfea\0\n\0b\0\n\0"),
        (b"a\r\nb\n", "c\n", b"a\r\nb\nc\n"),
        (b"", "x", b"x"),
    ],
)
async def test_the_hand_of_the_file_is_kept(bench: Bench, raw: bytes, text: str, wanted: bytes) -> None:
    (bench.root / "f").write_bytes(raw)
    await bench.call("append_file", path="f", text=text)
    assert (bench.root / "f").read_bytes() == wanted


async def test_what_cannot_be_appended(bench: Bench) -> None:
    (bench.root / "f").write_bytes("配置文件\n".encode("gbk"))
    (bench.root / "bin").write_bytes(b"\0\1\2\xff")
    (bench.root / "d").mkdir()
    assert "cannot hold" in await bench.fails("append_file", path="f", text="🙂")
    assert "nothing to append" in await bench.fails("append_file", path="f", text="")
    assert "binary data" in await bench.fails("append_file", path="bin", text="x")
    assert "is a folder" in await bench.fails("append_file", path="d", text="x")
    assert "a part of the path is a file" in await bench.fails("append_file", path="f/x", text="x")
    assert "lone surrogate" in await bench.fails("append_file", path="f", text="\ud800")


async def test_what_the_model_knows_stays_true(bench: Bench) -> None:
    path = bench.root / "f"
    path.write_text("a\n")
    bench.reads.saw(path, digest(b"a\n"), 0, 1, 1, 1)
    await bench.call("append_file", path="f", text="b")
    seen = bench.reads.seen(path)
    assert seen is not None
    assert (seen.digest, seen.whole) == (digest(b"a\nb\n"), True)
    path.write_text("changed by somebody\n")
    await bench.call("append_file", path="f", text="c")
    assert bench.reads.seen(path) == seen  # so that the next edit is told of it


# --- write_chunk ---------------------------------------------------------------------------------------------------


async def test_parts_through_the_loop(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(scratch))
    work = workplace(tmp_path)
    whole = os.urandom(5000)
    sent = [base64.b64encode(whole[:2000]).decode(), base64.b64encode(whole[2000:]).decode()]
    told = hashlib.sha256(whole).hexdigest()
    played = await play(
        work,
        ("write_chunk", {"path": "out/x.bin", "part": 1, "data": sent[0], "encoding": "base64"}),
        ("write_chunk", {"path": "never", "part": 1, "data": "x"}),
        (
            "write_chunk",
            {
                "path": "out/x.bin",
                "part": 2,
                "data": sent[1],
                "encoding": "base64",
                "finish": True,
                "size": 5000,
                "sha256": told,
            },
        ),
    )
    assert (
        played.results[0].text
        == "Part 1 of out/x.bin is kept (1 part, 2,000 bytes so far). finish=true writes the file."
    )
    assert played.text == "Wrote out/x.bin (5,000 bytes in 2 parts)."
    assert (work / "out/x.bin").read_bytes() == whole
    assert list(scratch.iterdir()) == []  # no part outlives the session


async def test_parts_in_any_order_and_what_is_missing(bench: Bench) -> None:
    assert "begin with part 1" in await bench.fails("write_chunk", path="f", part=2, data="b")
    await bench.call("write_chunk", path="f", part=1, data="a")
    said = (await bench.call("write_chunk", path="f", part=3, data="c")).text
    assert "2 parts, 2 bytes so far; missing: 2" in said
    assert "f lacks part 2; send it" in await bench.fails("write_chunk", path="f", part=3, data="c", finish=True)
    await bench.call("write_chunk", path="f", part=2, data="b")
    assert "part 3 came before" in await bench.fails("write_chunk", path="f", part=2, data="b", finish=True)
    wrong = await bench.fails("write_chunk", path="f", part=3, data="c", finish=True, size=4)
    assert wrong == "the parts have 3 bytes, not 4; f was not written"
    told = "0" * 64
    assert "the SHA-256" in await bench.fails("write_chunk", path="f", part=3, data="c", finish=True, sha256=told)
    await bench.call("write_chunk", path="f", part=3, data="文", finish=True, size=5)
    assert (bench.root / "f").read_bytes() == "ab文".encode()
    assert [p.name for p in bench.root.iterdir()] == ["f"]


async def test_existing_files_and_bad_parts(bench: Bench) -> None:
    path = bench.root / "f"
    path.write_text("old")
    path.chmod(0o600)
    assert "exists already" in await bench.fails("write_chunk", path="f", part=1, data="x")
    await bench.call("write_chunk", path="f", part=1, data="new", overwrite=True)
    path.write_text("somebody's")
    late = await bench.fails("write_chunk", path="f", part=2, data="", finish=True, overwrite=True)
    assert "is not what it was when the first part came" in late
    await bench.call("write_chunk", path="f", part=1, data="new", finish=True, overwrite=True)
    assert path.read_text() == "new"
    assert path.stat().st_mode & 0o777 == 0o600
    for args, words in (
        ({"part": 0}, "part must be from 1"), ({"part": -3}, "part must be from 1"), ({"part": 10**9}, "part must be"),
        ({"part": 1, "data": "a&b", "encoding": "base64"}, "no base64"),
        ({"part": 1, "data": "é", "encoding": "base64"}, "no base64"),
        ({"part": 1, "sha256": "xyz"}, "64 hexadecimal digits"), ({"part": 1, "data": "\ud800"}, "lone surrogate"),
    ):  # fmt: skip
        assert words in await bench.fails("write_chunk", path="g", **args)
    (bench.root / "d").mkdir()
    assert "is a folder" in await bench.fails("write_chunk", path="d", part=1)


async def test_what_was_never_finished_goes_with_the_session(bench: Bench) -> None:
    await bench.call("write_chunk", path="f", part=1, data="a")
    folder = bench.writers._folder
    assert folder is not None
    assert folder.exists()
    await bench.writers.close()
    assert not folder.exists()
    assert bench.tree() == {}


# --- file_info -----------------------------------------------------------------------------------------------------


async def test_info_through_the_loop(tmp_path: Path) -> None:
    work = tmp_path / "repo"
    work.mkdir()
    subprocess.run(["git", "init", "-q"], cwd=work, check=True)
    (work / "a.py").write_bytes("x = '文'\r\ny = 1".encode())
    (work / ".gitignore").write_text("*.png\n")
    (work / "p.png").write_bytes(PIXEL)
    subprocess.run(["git", "add", "a.py"], cwd=work, check=True)
    (work / "doc").write_bytes(pdf("one", "two"))
    (work / "link").symlink_to("a.py")
    names = ("a.py", "p.png", "doc", "link", ".")
    played = await play(work, *(("file_info", {"path": n, "sha256": n == "a.py"}) for n in names))
    python, picture, paper, link, folder = (r.text.splitlines() for r in played.results)
    assert python[:3] == [
        "a.py: text/x-python, 16 bytes, 2 lines", "encoding utf-8, line ends CRLF", "no line end at the end",
    ]  # fmt: skip
    assert python[3] == f"sha256: {hashlib.sha256((work / 'a.py').read_bytes()).hexdigest()}"
    assert python[-1] == "git: tracked"
    assert picture[0] == f"p.png: image/png, 2x3 pixels, {len(PIXEL)} bytes"
    assert picture[-1] == "git: ignored"
    assert paper[0].startswith("doc: application/pdf, ")
    assert paper[-2:] == ["git: not tracked", "pages: 2"]
    assert link[:2] == ["link: a link to a.py", "which leads to a.py"]
    assert folder[0].startswith(".: a folder with ")


async def test_odd_things(bench: Bench) -> None:
    (bench.root / "dead").symlink_to("nowhere")
    os.mkfifo(bench.root / "pipe")
    (bench.root / "z").write_bytes(b"PK\x03\x04" + b"\0" * 20 + b"word/document.xml")
    (bench.root / "bad.pdf").write_bytes(b"%PDF-1.7\nx")
    (bench.root / "empty").touch()
    assert "leads nowhere" in (await bench.call("file_info", path="dead")).text
    assert (await bench.call("file_info", path="pipe")).text.startswith("pipe: a pipe\n")
    assert "wordprocessingml" in (await bench.call("file_info", path="z")).text
    assert "pages: unknown" in (await bench.call("file_info", path="bad.pdf")).text
    assert "empty: text/plain, 0 bytes, 0 lines" in (await bench.call("file_info", path="empty")).text
    assert "does not exist. Near: empty" in await bench.fails("file_info", path="emty")
    assert kind_of(b"\x1f\x8b\x08") == "application/gzip"
    assert kind_of(b"plain") == ""
