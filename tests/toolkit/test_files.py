"""read_file, write_file and list_files at their edges."""

from __future__ import annotations

import os
import shutil
import struct
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import msgspec
import pytest

from gongfu.core.errors import ToolFailure
from gongfu.toolkit.diffs import diff_of
from gongfu.toolkit.files import file_tools
from gongfu.toolkit.pictures import picture_of
from gongfu.toolkit.readlog import ReadLog
from gongfu.tools.protocol import Claim, Outcome, Tool
from gongfu.workspace.root import Workspace

pytestmark = pytest.mark.anyio


class Context:
    call_id = "c1"


class Bench:
    """The tools over a folder; a call goes through facts first, as in a session."""

    def __init__(self, root: Path, limit: int = 32_768) -> None:
        self.root = root.resolve()
        self.reads = ReadLog()
        tools = file_tools(Workspace(self.root, self.root), self.reads, self._artifact, limit=limit)
        self.tools: dict[str, Tool] = {t.spec.name: t for t in tools}

    @staticmethod
    def _artifact(id: str, offset: int, limit: int, room: int) -> Outcome:
        return Outcome(text=f"{id} {offset} {limit} {room <= 32_768}")

    async def __call__(self, name: str, **args: Any) -> Outcome:
        tool = self.tools[name]
        facts = await tool.facts(args)
        assert facts.title
        outcome = await tool.run(args, Context())
        if facts.preview:
            assert facts.preview == outcome.display
        return outcome

    async def fails(self, name: str, **args: Any) -> str:
        with pytest.raises(ToolFailure) as failure:
            await self(name, **args)
        return str(failure.value)


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    (tmp_path / "work").mkdir()
    return Bench(tmp_path / "work")


# --- read_file ----------------------------------------------------------------------------------------------------


async def test_lines_have_numbers(bench: Bench) -> None:
    (bench.root / "a.py").write_bytes(b"one\n\ttwo\n\nfour\n")
    assert (await bench("read_file", path="a.py")).text == "1|one\n2|\ttwo\n3|\n4|four"


async def test_a_part_says_how_to_go_on(bench: Bench) -> None:
    (bench.root / "a").write_text("".join(f"l{i}\n" for i in range(1, 11)))
    shown = await bench("read_file", path="a", offset=3, limit=2)
    assert shown.text == "3|l3\n4|l4\n[lines 3-4 of 10; offset=5 goes on]"
    assert (await bench("read_file", path="a", offset=-2)).text == "9|l9\n10|l10\n[lines 9-10 of 10]"
    assert (await bench("read_file", path="a", offset=-99, limit=1)).text.startswith("1|l1")
    assert await bench.fails("read_file", path="a", offset=11) == "there is no line 11: the file has 10 lines"
    assert "limit must be at least 1" in await bench.fails("read_file", path="a", limit=-1)


async def test_a_long_file_ends_before_the_bound(bench: Bench) -> None:
    small = Bench(bench.root, limit=4096)
    (bench.root / "a").write_text("".join(f"{i} {'中' * 30}\n" for i in range(1000)))
    text = (await small("read_file", path="a")).text
    assert len(text.encode()) <= 4096
    last = int(text.split("\n")[-2].partition("|")[0])
    assert text.endswith(f"[lines 1-{last} of 1,000; offset={last + 1} goes on]")


async def test_a_long_line_is_cut_with_a_mark(bench: Bench) -> None:
    (bench.root / "a").write_text("x" * 5000 + "\nend\n")
    assert (await bench("read_file", path="a")).text == f"1|{'x' * 2000}… [3,000 more characters in this line]\n2|end"


async def test_what_is_unusual_is_said(bench: Bench) -> None:
    (bench.root / "crlf").write_bytes(b"a\r\nb\r\n")
    (bench.root / "mixed").write_bytes(b"a\r\nb\n")
    (bench.root / "gbk").write_bytes("# 配置文件\n".encode("gbk"))
    (bench.root / "end").write_bytes(b"a")
    (bench.root / "stray").write_bytes("你好世界\n".encode() + b"\xff\n")
    (bench.root / "empty").touch()
    assert (await bench("read_file", path="crlf")).text == "1|a\n2|b\n[CRLF line ends]"
    assert (await bench("read_file", path="mixed")).text == "1|a\n2|b\n[mixed line ends]"
    assert (await bench("read_file", path="gbk")).text == "1|# 配置文件\n[encoding gbk]"
    assert (await bench("read_file", path="end")).text == "1|a\n[no line end at the end]"
    assert "2|\ufffd" in (await bench("read_file", path="stray")).text
    assert (await bench("read_file", path="empty")).text == "[the file is empty]"


async def test_what_cannot_be_read_is_explained(bench: Bench) -> None:
    (bench.root / "src").mkdir()
    (bench.root / "src" / "main.py").touch()
    (bench.root / "config.yaml").touch()
    (bench.root / "data.bin").write_bytes(b"\x7fELF\0\0\0")
    (bench.root / "doc.pdf").write_bytes(b"%PDF-1.7\n\0\0")
    assert await bench.fails("read_file", path="main.py") == "main.py does not exist. Near: src/main.py."
    assert await bench.fails("read_file", path="confg.yaml") == "confg.yaml does not exist. Near: config.yaml."
    (bench.root / "说明.md").write_text("x")
    for path in ("说明", "说明.txt"):
        assert await bench.fails("read_file", path=path) == f"{path} does not exist. Near: 说明.md."
    assert "no/where does not exist either" in await bench.fails("read_file", path="no/where/x.py")
    assert "config.yaml is not a folder" in await bench.fails("read_file", path="config.yaml/x")
    assert 'list_files path="src"' in await bench.fails("read_file", path="src")
    assert "is a program (7 bytes), not text" in await bench.fails("read_file", path="data.bin")
    assert "is a PDF that cannot be read" in await bench.fails("read_file", path="doc.pdf")


def _png(width: int, height: int) -> bytes:
    return b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR" + struct.pack(">II", width, height) + b"\x08\x02\0\0\0"


def _jpeg(width: int, height: int) -> bytes:
    exif = b"\xff\xe1\x00\x08Exif\0\0"
    return b"\xff\xd8" + exif + b"\xff\xff\xc2\x00\x11\x08" + struct.pack(">HH", height, width) + b"\x03" + b"\0" * 20


PICTURES = [
    (_png(640, 480), "image/png"),
    (_jpeg(640, 480), "image/jpeg"),
    (b"GIF89a" + struct.pack("<HH", 640, 480) + b"\0\0\0", "image/gif"),
    (
        b"RIFF\0\0\0\0WEBPVP8X\x0a\0\0\0\0\0\0\0" + (639).to_bytes(3, "little") + (479).to_bytes(3, "little"),
        "image/webp",
    ),
    (b"RIFF\0\0\0\0WEBPVP8L\0\0\0\0\x2f" + (639 | 479 << 14).to_bytes(4, "little"), "image/webp"),
    (b"RIFF\0\0\0\0WEBPVP8 \0\0\0\0\0\0\0\x9d\x01\x2a" + struct.pack("<HH", 640, 480), "image/webp"),
]


@pytest.mark.parametrize(("raw", "kind"), PICTURES)
async def test_images_come_with_their_size(bench: Bench, raw: bytes, kind: str) -> None:
    (bench.root / "x.dat").write_bytes(raw)  # the bytes say what it is, not the name
    shown = await bench("read_file", path="x.dat")
    assert shown.text == f"x.dat: {kind}, 640x480"
    (image,) = shown.images
    assert (image.media_type, image.width, image.height) == (kind, 640, 480)
    assert shown.display["kind"] == "image"


def test_broken_images_do_no_harm() -> None:
    for raw, _ in PICTURES:
        for end in range(len(raw)):
            picture_of(raw[:end])


async def test_an_image_too_large_to_show(bench: Bench) -> None:
    (bench.root / "x.png").write_bytes(_png(20_000, 10))
    assert "20000x10 pixels" in await bench.fails("read_file", path="x.png")


async def test_notebooks_are_cells(bench: Bench) -> None:
    cells = [
        {"cell_type": "markdown", "source": ["# Title\n", "text"]},
        {
            "cell_type": "code", "source": "print(1)\n",
            "outputs": [
                {"output_type": "stream", "text": ["1\n"]},
                {"output_type": "display_data", "data": {"image/png": "…", "text/plain": "<Figure>"}},
                {"output_type": "error", "ename": "E", "evalue": "bad"},
            ],
        },
    ]  # fmt: skip
    (bench.root / "n.ipynb").write_bytes(msgspec.json.encode({"cells": cells}))
    text = (await bench("read_file", path="n.ipynb")).text
    assert "--- cell 1 (markdown) ---\n# Title\ntext\n--- cell 2 (code) ---\nprint(1)\n--- output ---\n1\n" in text
    assert "<Figure>\n[image/png]\nE: bad\n[a notebook of 2 cells" in text
    assert (await bench("read_file", path="n.ipynb", offset=1)).text.startswith('1|{"cells"')
    (bench.root / "broken.ipynb").write_text('{"cells": 3}')
    assert (await bench("read_file", path="broken.ipynb")).text.startswith('1|{"cells"')


async def test_the_id_of_an_output_is_handed_to_recall(bench: Bench) -> None:
    assert (await bench("read_file", path="artifact:a1", offset=4999)).text == "artifact:a1 4999 2000 True"
    assert (await bench("read_file", path="artifact:a1", limit=2)).text == "artifact:a1 1 2 True"


async def test_a_file_too_large_to_hold_is_read_through(bench: Bench) -> None:
    path = bench.root / "big.log"
    with path.open("wb") as file:
        for i in range(90_000):
            file.write(b"%08d %s\n" % (i, b"x" * 100))
    shown = await bench("read_file", path="big.log", offset=80_000, limit=2)
    assert shown.text.startswith("80000|00079999 xxx")
    assert shown.text.endswith("[lines 80000-80001 of 90,000 of a large file]")
    assert "too large to count lines" in await bench.fails("read_file", path="big.log", offset=-5)


async def test_a_sparse_giant_is_no_text(bench: Bench) -> None:
    path = bench.root / "giant"
    with path.open("wb") as file:
        file.truncate(10 << 30)
    assert "too large" in await bench.fails("read_file", path="giant")


async def test_reads_claim_their_path(bench: Bench) -> None:
    (bench.root / "a").touch()
    assert bench.tools["read_file"].claims({"path": "./a"}) == (Claim(resource=str(bench.root / "a")),)
    assert bench.tools["write_file"].claims({"path": "a"}) == (Claim(resource=str(bench.root / "a"), write=True),)
    assert bench.tools["read_file"].claims({"path": "artifact:a1"}) == ()


# --- write_file ---------------------------------------------------------------------------------------------------


async def test_a_new_file_with_its_folders(bench: Bench) -> None:
    done = await bench("write_file", path="a/b/c.txt", content="x\ny\n")
    assert done.text == "Created a/b/c.txt (2 lines)."
    assert (bench.root / "a/b/c.txt").read_bytes() == b"x\ny\n"
    assert done.display["new"]
    assert (done.display["added"], done.display["removed"]) == (2, 0)


async def test_a_file_that_was_never_read_is_not_written_over(bench: Bench) -> None:
    (bench.root / "a").write_text("precious\n")
    assert "you have not read it" in await bench.fails("write_file", path="a", content="x\n")
    assert (bench.root / "a").read_text() == "precious\n"
    await bench("read_file", path="a")
    assert (await bench("write_file", path="a", content="x\n")).text == "Wrote a (+1 -1)."
    assert (await bench("write_file", path="a", content="y\n")).text == "Wrote a (+1 -1)."  # its own text is known


async def test_a_file_of_which_only_a_part_was_read(bench: Bench) -> None:
    (bench.root / "a").write_text("".join(f"{i}\n" for i in range(1, 11)))
    await bench("read_file", path="a", limit=3)
    await bench("read_file", path="a", offset=8, limit=2)
    assert "only lines 1-3, 8-9 of the 10" in await bench.fails("write_file", path="a", content="x\n")
    await bench("read_file", path="a", offset=4, limit=4)
    await bench("read_file", path="a", offset=10)
    await bench("write_file", path="a", content="x\n")


async def test_the_same_content_is_not_written(bench: Bench) -> None:
    (bench.root / "a").write_bytes(b"x\r\ny\r\n")
    before = (bench.root / "a").stat().st_mtime_ns
    assert "already has exactly this content" in (await bench("write_file", path="a", content="x\ny\n")).text
    assert (bench.root / "a").stat().st_mtime_ns == before


async def test_what_cannot_be_written_is_explained(bench: Bench) -> None:
    (bench.root / "dir").mkdir()
    (bench.root / "file").touch()
    (bench.root / "x.bin").write_bytes(b"\0\1\2")
    assert "is a folder" in await bench.fails("write_file", path="dir", content="x")
    assert "part of the path is a file" in await bench.fails("write_file", path="file/x/y", content="x")
    assert "not text" in await bench.fails("write_file", path="x.bin", content="x")
    assert "lone surrogate at character 2" in await bench.fails("write_file", path="new", content="a\ud800")
    assert not (bench.root / "new").exists()


async def test_a_link_put_in_between_is_noticed(bench: Bench, tmp_path: Path) -> None:
    outside = tmp_path.resolve() / "outside"
    outside.mkdir()
    (bench.root / "sub").mkdir()
    tool = bench.tools["write_file"]
    args = {"path": "sub/a", "content": "x"}
    await tool.facts(args)
    (bench.root / "sub").rmdir()
    (bench.root / "sub").symlink_to(outside)
    with pytest.raises(ToolFailure, match="leads elsewhere"):
        await tool.run(args, Context())
    assert list(outside.iterdir()) == []


async def test_facts_name_resolved_paths_and_protected_names(bench: Bench, tmp_path: Path) -> None:
    outside = tmp_path.resolve() / "plain.txt"
    outside.write_text("x\n")
    (bench.root / "link").symlink_to(outside)
    (bench.root / ".env").symlink_to(outside)
    facts = await bench.tools["read_file"].facts({"path": "link"})
    assert facts.paths == (str(outside),)
    hidden = await bench.tools["read_file"].facts({"path": ".env"})
    assert hidden.paths == (str(outside), str(bench.root / ".env"))
    new = await bench.tools["write_file"].facts({"path": "n", "content": "a\n"})
    assert new.writes == new.paths == (str(bench.root / "n"),)
    assert new.preview["diff"] == "--- /dev/null\n+++ b/n\n@@ -0,0 +1 @@\n+a\n"


# --- list_files ---------------------------------------------------------------------------------------------------


async def test_a_tree(bench: Bench, tmp_path: Path) -> None:
    for name in ("src/a/deep/x", "src/b.py", "node_modules/m/index.js", ".github/w.yml", ".git/config", "empty/"):
        path = bench.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.mkdir() if name.endswith("/") else path.touch()
    (bench.root / ".gitignore").write_text("node_modules/\n*.log\n")
    (bench.root / "x.log").touch()
    (bench.root / "link").symlink_to("src/b.py")
    (bench.root / "two\nlines").touch()
    assert (await bench("list_files")).text.split("\n") == [
        ".github/", "  w.yml", ".gitignore", "empty/", "link -> src/b.py", "node_modules/ (ignored)", "src/",
        "  a/ (1 entry)", "  b.py", "two\\nlines", "x.log (ignored)",
    ]  # fmt: skip
    assert (await bench("list_files", path="src", depth=3)).text == "a/\n  deep/\n    x\nb.py"
    assert (await bench("list_files", path="empty")).text == "[the folder is empty]"
    assert 'read_file path="src/b.py"' in await bench.fails("list_files", path="src/b.py")
    assert "does not exist. Near: src" in await bench.fails("list_files", path="scr")


async def test_a_tree_is_bounded(bench: Bench) -> None:
    for i in range(500):
        (bench.root / f"d{i % 5}").mkdir(exist_ok=True)
        (bench.root / f"d{i % 5}" / f"file{i:04}").touch()
    lines = (await bench("list_files")).text.split("\n")
    assert len(lines) <= 420
    assert any(line.strip() == "[5 more]" for line in lines) or any("more]" in line for line in lines)
    small = (await Bench(bench.root, limit=2000)("list_files")).text
    assert len(small.encode()) <= 2000
    assert small.endswith("more lines left out; list a folder further down]")


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() != 0, reason="needs root to become another user")
def test_a_file_that_may_not_be_read_is_explained() -> None:
    name = tempfile.mkdtemp()  # the folders of pytest are closed to others
    folder = Path(name).resolve()
    folder.chmod(0o755)
    secret = folder / "secret"
    secret.write_text("x")
    secret.chmod(0o600)
    code = (
        f"import sys; sys.path[:] = {sys.path!r}\n"
        "import os, anyio, hashlib\nfrom pathlib import Path\n"
        "from gongfu.toolkit.files import FileTools\nfrom gongfu.toolkit.readlog import ReadLog\n"
        "from gongfu.workspace.root import Workspace\nimport gongfu.workspace.writing, anyio._backends._asyncio\n"
        f"w = Workspace(Path({str(folder)!r}), Path({str(folder)!r}))\n"
        "tool = FileTools(w, ReadLog(), None, limit=9999).read_file\ntool.spec\n"
        "os.setgid(65534); os.setuid(65534)\n"
        "try: anyio.run(tool.run, {'path': 'secret'}, None)\n"
        "except Exception as e: print(type(e).__name__, e)\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    shutil.rmtree(folder)
    assert "ToolFailure secret may not be accessed: permission denied" in done.stdout, done.stdout + done.stderr


# --- diffs --------------------------------------------------------------------------------------------------------


def test_diffs_are_those_of_the_diff_program() -> None:
    import difflib
    import random

    chance = random.Random(7)
    for _ in range(200):
        old = [chance.choice("abcdef") + "\n" for _ in range(chance.randrange(30))]
        new = [line for line in old if chance.random() > 0.2]
        for _ in range(chance.randrange(4)):
            new.insert(chance.randrange(len(new) + 1), "NEW\n")
        shown = diff_of("f", "".join(old), "".join(new))
        theirs = list(difflib.unified_diff(old, new, "a/f", "b/f"))
        assert shown["added"] - shown["removed"] == len(new) - len(old)
        assert _apply(old, shown["diff"]) == new
        assert bool(shown["diff"]) == bool(theirs)


def _apply(old: list[str], diff: str) -> list[str]:
    """What a unified diff makes of `old`, its positions checked."""
    out: list[str] = []
    at = 0
    for line in diff.splitlines()[2:]:
        if line.startswith("@@"):
            span = line.split()[1][1:].split(",")
            start = int(span[0]) - (1 if span[1:] != ["0"] else 0)
            out += old[at:start]
            at = start
            new_span = line.split()[2][1:].split(",")
            assert len(out) == int(new_span[0]) - (1 if new_span[1:] != ["0"] else 0)
        elif line.startswith("+"):
            out.append(line[1:] + "\n")
        else:
            assert old[at] == line[1:] + "\n"
            out += [old[at]] if line.startswith(" ") else []
            at += 1
    return out + old[at:]


def test_a_huge_change_is_quick_and_bounded() -> None:
    old = "".join(f"old {i}\n" for i in range(50_000))
    new = "".join(f"new {i}\n" for i in range(50_000))
    shown = diff_of("f", old, new)
    assert (shown["added"], shown["removed"]) == (50_000, 50_000)
    assert len(shown["diff"]) < 210_000
