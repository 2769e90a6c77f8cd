"""apply_patch: both forms, where hunks belong, what is left alone, and what is said when one does not fit."""

from __future__ import annotations

import os
import re
import subprocess
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gongfu.core.errors import ToolFailure
from gongfu.toolkit.diffs import exact_diff
from gongfu.toolkit.hunks import apply_hunks, new_text
from gongfu.toolkit.patches import parse
from gongfu.toolkit.patching import PatchTools
from gongfu.toolkit.readlog import ReadLog
from gongfu.tools.protocol import Outcome
from gongfu.workspace.encodings import Encoding
from gongfu.workspace.files import TextFile, as_text, digest, newline_style
from gongfu.workspace.root import Workspace
from tests.app.cast import workplace
from tests.toolkit.kit import Ctx
from tests.toolkit.loop import play

pytestmark = pytest.mark.anyio
PLAIN = "--- a/f.py\n+++ b/f.py\n@@ -1,3 +1,3 @@\n one\n-two\n+TWO\n three\n"


class Bench:
    def __init__(self, folder: Path) -> None:
        self.root = folder.resolve()
        self.reads = ReadLog()
        self.tool = PatchTools(Workspace(self.root, self.root), self.reads).apply_patch

    async def apply(self, patch: str) -> Outcome:
        args: dict[str, Any] = {"patch": patch}
        facts = await self.tool.facts(args)
        assert facts.writes == facts.paths
        done = await self.tool.run(args, Ctx())
        assert facts.preview == done.display
        return done

    def put(self, text: str | bytes, name: str = "f.py") -> Path:
        """Write a file as somebody else whom the model has not missed."""
        path = self.root / name
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        self.reads.forget(path)
        return path

    async def refused(self, patch: str) -> str:
        before = self.tree()
        with pytest.raises(ToolFailure) as failure:
            await self.apply(patch)
        assert self.tree() == before
        return str(failure.value)

    def tree(self) -> dict[str, bytes]:
        return {str(p.relative_to(self.root)): p.read_bytes() for p in self.root.rglob("*") if p.is_file()}


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    made = Bench(tmp_path)
    (tmp_path / "f.py").write_text("one\ntwo\nthree\n")
    return made


async def test_a_patch_of_three_files_through_the_loop(tmp_path: Path) -> None:
    work = workplace(tmp_path)
    patch = (
        "diff --git a/a.txt b/a.txt\n--- a/a.txt\n+++ b/a.txt\n@@ -1 +1,2 @@\n alpha\n+omega\n"
        "diff --git a/b.txt b/b.txt\ndeleted file mode 100644\n--- a/b.txt\n+++ /dev/null\n@@ -1 +0,0 @@\n-beta\n"
        "diff --git a/d/c.sh b/d/c.sh\nnew file mode 100755\n--- /dev/null\n+++ b/d/c.sh\n@@ -0,0 +1 @@\n+true\n"
    )
    played = await play(work, ("apply_patch", {"patch": patch}))
    assert played.status == "done"
    assert played.text.splitlines()[:4] == ["Patched 3 files:", "a.txt (+1 -0)", "b.txt removed", "d/c.sh created"]
    assert (work / "a.txt").read_text() == "alpha\nomega\n"
    assert not (work / "b.txt").exists()
    assert (work / "d/c.sh").stat().st_mode & 0o111 == 0o111
    assert played.finished[0].display["added"] == 2


async def test_hunks_move_with_the_lines_and_line_ends_are_the_files(bench: Bench) -> None:
    path = bench.root / "f.py"
    path.write_bytes(b"zero\r\nzero\r\none\r\ntwo\r\nthree\r\n")
    done = await bench.apply(PLAIN)
    assert path.read_bytes() == b"zero\r\nzero\r\none\r\nTWO\r\nthree\r\n"
    assert done.text == "Patched f.py (+1 -1). Now:\n1|zero\n2|zero\n3|one\n4|TWO\n5|three"
    bench.put(b"if x:\n\tone\n\ttwo\n\tthree\n")
    done = await bench.apply(PLAIN.replace(" one", "     one").replace("-two", "-    two").replace("+TWO", "+    TWO"))
    assert path.read_bytes() == b"if x:\n\tone\n\tTWO\n\tthree\n"
    assert "white space differed" in done.text


async def test_a_place_is_never_guessed(bench: Bench) -> None:
    path = bench.root / "f.py"
    path.write_text("x\none\ntwo\nthree\none\ntwo\nthree\n")
    said = await bench.refused(PLAIN)
    assert "the hunk fits 2 places of f.py, at lines 2, 5; nothing was changed. Give more lines of context." in said
    await bench.apply(PLAIN.replace("-1,3 +1,3", "-5,3 +5,3"))
    assert path.read_text() == "x\none\ntwo\nthree\none\nTWO\nthree\n"


async def test_what_does_not_fit_is_told_with_the_nearest_lines(bench: Bench) -> None:
    said = await bench.refused(PLAIN.replace("-two", "-two and more").replace(" one", " one and"))
    assert "does not fit f.py; nothing was changed. The nearest lines" in said
    await bench.apply(PLAIN)
    assert "it seems to be applied" in await bench.refused(PLAIN)
    assert "does not exist" in await bench.refused(PLAIN.replace("f.py", "g.py"))


@pytest.mark.parametrize(
    ("patch", "words"),
    [
        ("", "this is no patch"),
        ("hello", "this is no patch"),
        ("--- a/f.py\n+++ b/f.py\n@@ -1 +1 @@\n", "an empty hunk"),
        ("@@ -1 +1 @@\n-one\n+two\n", "a hunk without"),
        ("--- a/f.py\n+++ b/f.py\n@@ -1 +1 @@\n-one\n*two\n", "begins with neither a space, + nor -"),
        ("diff --git a/f.py b/f.py\nGIT binary patch\n", "binary file"),
        ("--- /dev/null\n+++ b/f.py\n@@ -0,0 +1 @@\n+x\n", "f.py exists already"),
        (
            "diff --git a/l b/l\nnew file mode 120000\n--- /dev/null\n+++ b/l\n@@ -0,0 +1 @@\n+x\n",
            "links and submodules",
        ),
        ("--- a/../../x\n+++ b/../../x\n@@ -1 +1 @@\n-one\n+two\n", "does not exist"),
        ("--- a/f\0.py\n+++ b/f\0.py\n@@ -1 +1 @@\n-one\n+two\n", "NUL"),
        ("--- a/f.py\n+++ b/f.py\n@@ -1 +1 @@\n-one\n+\ud800\n", "lone surrogate"),
        ("*** Begin Patch\n*** Update File: f.py\n*** End Patch", "an update without any change"),
        ("*** Begin Patch\n*** Update File: f.py\n@@\n*** End Patch", "an update without any change"),
        ("*** Begin Patch\n*** Add File: n\nx\n*** End Patch", "begins with +"),
        ("*** Begin Patch\n*** Frob File: n\n*** End Patch", "is no `*** Update File:`"),
        ("*** Begin Patch\n*** Update File: f.py\n@@ nowhere\n+x\n*** End Patch", "stands nowhere"),
        ("--- a/f.py\n+++ /dev/null\n@@ -1 +0,0 @@\n-one\n", "more in it than that"),
    ],
)
async def test_bad_patches_change_nothing(bench: Bench, patch: str, words: str) -> None:
    assert words in await bench.refused(patch)


async def test_a_failing_hunk_in_the_third_file_leaves_the_others(bench: Bench) -> None:
    for name in "abc":
        (bench.root / name).write_text("one\ntwo\n")
    patch = "".join(f"--- a/{n}\n+++ b/{n}\n@@ -1,2 +1,2 @@\n one\n-two\n+{n}\n" for n in "abc")
    said = await bench.refused(patch.replace("-two\n+c", "-twenty seven\n+c"))
    assert said.startswith("file 3 of 3, c: the hunk does not fit c")
    await bench.apply(patch)
    assert [(bench.root / n).read_text() for n in "abc"] == ["one\na\n", "one\nb\n", "one\nc\n"]


async def test_renames_copies_and_modes(bench: Bench) -> None:
    path = bench.root / "f.py"
    path.chmod(0o640)
    bench.reads.saw(path, digest(path.read_bytes()), 0, 1, 3, 3)
    await bench.apply(
        "diff --git a/f.py b/sub/g.py\nsimilarity index 60%\nrename from f.py\nrename to sub/g.py\n"
        "--- a/f.py\n+++ b/sub/g.py\n@@ -1,3 +1,3 @@\n one\n-two\n+TWO\n three\n"
    )
    moved = bench.root / "sub/g.py"
    assert not path.exists()
    assert moved.read_text() == "one\nTWO\nthree\n"
    assert moved.stat().st_mode & 0o777 == 0o640
    seen = bench.reads.seen(moved)
    assert seen is not None
    assert seen.whole
    assert seen.digest == digest(moved.read_bytes())
    await bench.apply("diff --git a/sub/g.py b/sub/g.py\nold mode 100644\nnew mode 100755\n")
    assert moved.stat().st_mode & 0o777 == 0o751
    await bench.apply("diff --git a/sub/g.py b/h\nsimilarity index 100%\ncopy from sub/g.py\ncopy to h\n")
    assert (bench.root / "h").read_text() == moved.read_text()
    (bench.root / "pic").write_bytes(b"\x89PNG\0\0\xff")
    await bench.apply("diff --git a/pic b/img\nsimilarity index 100%\nrename from pic\nrename to img\n")
    assert (bench.root / "img").read_bytes() == b"\x89PNG\0\0\xff"


async def test_a_link_is_not_taken_for_its_target(bench: Bench) -> None:
    (bench.root / "link").symlink_to("f.py")
    said = await bench.refused("*** Begin Patch\n*** Delete File: link\n*** End Patch")
    assert "link is a link; nothing was changed. delete_file and move_file" in said
    assert "link is a link" in await bench.refused("diff --git a/link b/x\nrename from link\nrename to x\n")
    await bench.apply(PLAIN.replace("f.py", "link"))
    assert (bench.root / "f.py").read_text() == "one\nTWO\nthree\n"
    assert (bench.root / "link").is_symlink()


async def test_the_begin_patch_form(bench: Bench) -> None:
    (bench.root / "old.txt").write_text("bye\n")
    bench.put("\n".join(f"class {n}:\n    def f(self):\n        return 1\n" for n in "AB"), "c.py")
    done = await bench.apply(
        "*** Begin Patch\n*** Add File: new/n.txt\n+hello\n+there\n*** Delete File: old.txt\n"
        "*** Update File: c.py\n*** Move to: d.py\n@@ class B:\n@@     def f(self):\n"
        "-        return 1\n+        return 2\n"
        "*** Update File: f.py\n@@\n three\n+four\n*** End of File\n*** End Patch\n"
    )
    assert done.text.startswith("Patched 4 files:\nnew/n.txt created\nold.txt removed\nc.py → d.py\nf.py (+1 -0)")
    assert (bench.root / "new/n.txt").read_text() == "hello\nthere\n"
    assert (bench.root / "d.py").read_text().endswith("return 1\n\nclass B:\n    def f(self):\n        return 2\n")
    assert (bench.root / "f.py").read_text() == "one\ntwo\nthree\nfour\n"
    assert sorted(bench.tree()) == ["d.py", "f.py", "new/n.txt"]


async def test_the_begin_patch_form_does_not_guess(bench: Bench) -> None:
    bench.put("a\nx\nb\nx\n")
    head = "*** Begin Patch\n*** Update File: f.py\n"
    assert "fits 2 places" in await bench.refused(f"{head}@@\n-x\n+y\n*** End Patch")
    await bench.apply(f"{head}@@ b\n-x\n+y\n*** End Patch")
    assert (bench.root / "f.py").read_text() == "a\nx\nb\ny\n"
    await bench.apply(f"```diff\n{head}@@ a\n-x\n+z\n```\n")
    assert (bench.root / "f.py").read_text() == "a\nz\nb\ny\n"


async def test_wrong_counts_and_lost_spaces_are_forgiven(bench: Bench) -> None:
    bench.put("one\n\ntwo\n")
    await bench.apply("--- f.py\n+++ f.py\n@@ -1,9 +1,7 @@\n one\n\n-two\n+2\n\n")
    assert (bench.root / "f.py").read_text() == "one\n\n2\n"
    await bench.apply("Subject: x\n\n--- a/f.py\t2026-01-01\n+++ b/f.py\t2026-01-02\n@@ ... @@\n-2\n+3\n")
    assert (bench.root / "f.py").read_text() == "one\n\n3\n"
    bench.put("-- a\nb\n")
    await bench.apply("--- a/f.py\n+++ b/f.py\n@@ -1,2 +1,2 @@\n--- a\n+++ b\n b\n-- \n2.40.0\n")
    assert (bench.root / "f.py").read_text() == "++ b\nb\n"


async def test_encodings_and_a_character_that_does_not_fit(bench: Bench) -> None:
    path = bench.root / "f.py"
    raw = "文件的第一行\r\n配置的第二行\r\n".encode("gbk")
    path.write_bytes(raw)
    patch = "--- a/f.py\n+++ b/f.py\n@@ -1,2 +1,2 @@\n 文件的第一行\n-配置的第二行\n+{}\n"
    assert "cannot hold" in await bench.refused(patch.format("🙂"))
    await bench.apply(patch.format("测试"))
    assert path.read_bytes() == "文件的第一行\r\n测试\r\n".encode("gbk")


async def test_a_file_that_changed_since_it_was_read_is_left(bench: Bench) -> None:
    path = bench.root / "f.py"
    bench.reads.saw(path, digest(b"older"), 0, 1, 3, 3)
    assert "changed by someone else" in await bench.refused(PLAIN)


@pytest.mark.skipif(os.name == "nt" or os.geteuid() == 0, reason="the owner of everything may write everywhere")
async def test_a_folder_that_lets_nothing_in(bench: Bench) -> None:
    (bench.root / "ro").mkdir()
    (bench.root / "ro").chmod(0o555)
    patch = PLAIN + "--- /dev/null\n+++ b/ro/x\n@@ -0,0 +1 @@\n+x\n"
    assert "permission denied" in await bench.refused(patch)


LINES = st.lists(
    st.sampled_from(["", "a", "b", "  c", "\td", "é", "文件的配置", "-- x", "++ y", "@@ z", "\\ q"]), max_size=12
)
ENDS = st.sampled_from(["\n", "\r\n", "\r"])


@st.composite
def texts(draw: st.DrawFn) -> str:
    lines = draw(LINES)
    kind = draw(st.sampled_from(["\n", "\r\n", "\r", "mixed"]))
    ends = [draw(ENDS) if kind == "mixed" else kind for _ in lines]
    text = "".join(line + end for line, end in zip(lines, ends, strict=True))
    return text.rstrip("\r\n") if draw(st.booleans()) else text


CODECS = [
    Encoding(codec="utf-8"), Encoding(codec="utf-8", bom=b"\xef\xbb\xbf"), Encoding(codec="utf-16-le", bom=b"\xff\xfe"),
    Encoding(codec="utf-16-be"), Encoding(codec="gbk"), Encoding(codec="latin-1"),
]  # fmt: skip


@given(texts(), texts(), st.sampled_from(CODECS))
@settings(max_examples=200, deadline=None)
def test_a_patch_makes_one_text_of_another_to_the_byte(old: str, new: str, encoding: Encoding) -> None:
    if encoding.codec == "latin-1":
        old, new = old.replace("文件的配置", "ÄÖÜ"), new.replace("文件的配置", "ÄÖÜ")
    raw = encoding.bom + old.encode(encoding.codec)
    newline, mixed = newline_style(old)
    file = TextFile(
        path=Path("f"), raw=raw, text=old, encoding=encoding, newline=newline, mixed=mixed, digest=digest(raw)
    )
    patch = exact_diff(old, new, "a/f", "b/f")
    if old == new:
        assert patch == ""
        return
    (found,) = parse(patch)
    done = apply_hunks(file, found.hunks, "f").file
    assert done.text == new
    assert done.raw == encoding.bom + new.encode(encoding.codec)


@given(texts(), texts())
@settings(max_examples=150, deadline=None)
def test_a_patch_without_carriage_returns_keeps_the_line_ends(old: str, new: str) -> None:
    """What a model writes has line feeds only: a CRLF file gets the new lines in its own ends."""
    plain_old, plain_new = (re.sub("\r\n|\r", "\n", text) for text in (old, new))
    patch = exact_diff(plain_old, plain_new, "a/f", "b/f")
    if not patch or "\n" not in plain_old:
        return
    (found,) = parse(patch)
    raw = plain_old.replace("\n", "\r\n").encode()
    done = apply_hunks(as_text(Path("f"), raw), found.hunks, "f").file
    assert done.raw == plain_new.replace("\n", "\r\n").encode()


@given(texts(), texts())
@settings(max_examples=15, deadline=None)
def test_a_patch_of_git_makes_the_same(tmp_path_factory: pytest.TempPathFactory, old: str, new: str) -> None:
    folder = tmp_path_factory.mktemp("git")
    (folder / "a").write_bytes(old.encode())
    (folder / "b").write_bytes(new.encode())
    argv = ["git", "diff", "--no-index", "--no-color", "--text", "a", "b"]
    patch = subprocess.run(argv, cwd=folder, capture_output=True, check=False).stdout.decode()
    if not patch:
        assert old == new
        return
    (found,) = parse(patch)
    if found.kind == "add":
        assert new_text(found.hunks) == new
    else:
        assert apply_hunks(as_text(Path("a"), old.encode()), found.hunks, "a").file.raw == new.encode()
