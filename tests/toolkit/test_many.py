"""edit_lines, multi_file_edit and diff."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gongfu.toolkit.comparing import CompareTools
from gongfu.toolkit.lines import LineEdit, apply_line_edits
from gongfu.toolkit.many import ManyTools
from gongfu.toolkit.reading import lines_of
from gongfu.toolkit.readlog import ReadLog
from gongfu.workspace.files import as_text, digest, newline_style
from gongfu.workspace.root import Workspace
from tests.app.cast import workplace
from tests.toolkit.kit import Workbench
from tests.toolkit.loop import play

pytestmark = pytest.mark.anyio


class Bench(Workbench):
    def __init__(self, folder: Path) -> None:
        self.root = folder.resolve()
        self.reads = ReadLog()
        workspace = Workspace(self.root, self.root)
        many = ManyTools(workspace, self.reads)
        compare = CompareTools(workspace, lambda _: None)
        self.tools = {t.spec.name: t for t in (many.multi_file_edit, many.edit_lines, compare.diff)}


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    return Bench(tmp_path)


# --- edit_lines ----------------------------------------------------------------------------------------------------


async def test_lines_through_the_loop_count_as_they_were(tmp_path: Path) -> None:
    work = workplace(tmp_path)
    (work / "n.txt").write_text("".join(f"line {n}\n" for n in range(1, 8)))
    edits = [
        {"action": "delete", "line": 2, "last": 3, "expect": "line 2"},
        {"action": "insert", "line": 5, "expect": "line 5", "text": "four and a half\n"},
        {"action": "replace", "line": 7, "expect": "line 7", "text": "seven\neight"},
        {"action": "insert", "line": 8, "expect": "", "text": "nine"},
    ]
    played = await play(work, ("edit_lines", {"path": "n.txt", "edits": edits}))
    assert played.status == "done", played.text
    assert (work / "n.txt").read_text() == "line 1\nline 4\nfour and a half\nline 5\nline 6\nseven\neight\nnine\n"
    assert played.text.startswith("Edited n.txt (+4 -3). Now:\n1|line 1\n")


async def test_a_stale_number_is_refused_and_the_right_one_told(bench: Bench) -> None:
    (bench.root / "f").write_text("a\nb\nc\n")
    said = await bench.fails("edit_lines", path="f", edits=[{"action": "delete", "line": 2, "expect": "c"}])
    assert said == ("line 2 of f is now 'b', not as expected; nothing was changed. What you expect stands at line 3.")
    wrong = {"action": "insert", "line": 4, "expect": "c", "text": "x"}
    assert "line 4 of f is after the last" in await bench.fails("edit_lines", path="f", edits=[wrong])


@pytest.mark.parametrize(
    ("edits", "words"),
    [
        ([], "there is nothing to do"),
        ([{"action": "delete", "line": 0, "expect": "a"}], "there is no line 0: f has 3 lines"),
        ([{"action": "delete", "line": -1, "expect": "a"}], "there is no line -1"),
        ([{"action": "delete", "line": 4, "expect": ""}], "there is no line 4"),
        ([{"action": "insert", "line": 5, "expect": ""}], "there is no line 5"),
        ([{"action": "delete", "line": 2, "last": 1, "expect": "b"}], "last must be from 2 to 3"),
        ([{"action": "delete", "line": 2, "last": 9, "expect": "b"}], "last must be from 2 to 3"),
        ([{"action": "delete", "line": 2, "expect": "b", "text": "x"}], "did you mean replace"),
        ([{"action": "insert", "line": 2, "last": 3, "expect": "b", "text": "x"}], "has no last"),
        ([{"action": "replace", "line": 2, "expect": "b\nc", "text": "x"}], "expect has 2 lines"),
        ([{"action": "replace", "line": 1, "expect": "a", "text": "\ud800"}], "lone surrogate"),
        (
            [
                {"action": "replace", "line": 1, "last": 2, "expect": "a", "text": "x"},
                {"action": "insert", "line": 2, "expect": "b", "text": "y"},
            ],
            "edits 1 and 2 change the same lines",
        ),
    ],
)
async def test_wrong_lines(bench: Bench, edits: list[dict[str, Any]], words: str) -> None:
    (bench.root / "f").write_text("a\nb\nc\n")
    assert words in await bench.fails("edit_lines", path="f", edits=edits)


async def test_the_line_ends_and_the_encoding_stay(bench: Bench) -> None:
    path = bench.root / "f"
    path.write_bytes(b"\xff\xfe" + "a\r\nb\r\nc".encode("utf-16-le"))
    edits = [
        {"action": "replace", "line": 3, "expect": "c", "text": "C\n"},
        {"action": "insert", "line": 4, "expect": "", "text": "d"},
        {"action": "insert", "line": 1, "expect": "a", "text": "零"},
    ]
    await bench.call("edit_lines", path="f", edits=edits)
    assert path.read_bytes() == b"\xff\xfe" + "零\r\na\r\nb\r\nC\r\nd".encode("utf-16-le")
    bench.reads.saw(path, digest(b"older"), 0, 1, 3, 3)
    stale = [{"action": "delete", "line": 1, "expect": "零"}]
    assert "changed by someone else" in await bench.fails("edit_lines", path="f", edits=stale)


@st.composite
def line_changes(draw: st.DrawFn) -> tuple[str, list[LineEdit], list[str]]:
    """A text, edits of it that do not overlap, and the lines that must come out."""
    lines = draw(st.lists(st.sampled_from(["", "a", "b", " c", "é"]), max_size=9))
    ends = draw(st.sampled_from(["\n", "\r\n", "\r"]))
    text = "".join(line + ends for line in lines)
    if draw(st.booleans()) and lines and lines[-1]:
        text = text[: -len(ends)]
    edits: list[LineEdit] = []
    out: list[str] = []
    at = 0
    while at <= len(lines):
        new = draw(st.lists(st.sampled_from(["x", "", "y y"]), min_size=1, max_size=3))
        expect = lines[at] if at < len(lines) else ""
        body = "\n".join(new) + ("\n" if not new[-1] else "")
        what = draw(st.sampled_from(["keep", "keep", "insert", "delete", "replace"]))
        if what == "insert":
            edits.append(LineEdit(action="insert", line=at + 1, expect=expect, text=body))
            out += new
        if at == len(lines):
            break
        if what in ("delete", "replace"):
            last = draw(st.integers(at + 1, len(lines)))
            text_of = "" if what == "delete" else body
            edits.append(LineEdit(action=what, line=at + 1, last=last, expect=expect, text=text_of))
            out += [] if what == "delete" else new
            at = last
        else:
            out.append(lines[at])
            at += 1
    return text, draw(st.permutations(edits)), out


@given(line_changes())
@settings(max_examples=200, deadline=None)
def test_every_edit_lands_where_it_was_meant(case: tuple[str, list[LineEdit], list[str]]) -> None:
    text, edits, wanted = case
    file = as_text(Path("f"), text.encode())
    done = apply_line_edits(file, edits, "f").file
    assert lines_of(done.text) == wanted or (wanted[-1:] == [""] and not text.endswith(("\r", "\n")))
    assert done.raw == done.text.encode()
    assert newline_style(done.text) in (("", False), (file.newline or "\n", False))


# --- multi_file_edit ------------------------------------------------------------------------------------------


async def test_several_files_through_the_loop(tmp_path: Path) -> None:
    work = workplace(tmp_path)
    files = [
        {"path": "a.txt", "edits": [{"old": "alpha", "new": "one"}]},
        {"path": "b.txt", "edits": [{"old": "beta", "new": "two"}, {"old": "two", "new": "three"}]},
    ]
    played = await play(
        work,
        ("multi_file_edit", {"files": files, "dry_run": True}),
        ("multi_file_edit", {"files": files}),
        permission="full",
    )
    assert played.results[0].text.startswith("--- a/a.txt\n+++ b/a.txt\n@@ -1 +1 @@\n-alpha\n+one\n--- a/b.txt")
    assert played.results[0].text.endswith("[nothing was written]")
    assert played.text.startswith("Edited 2 files:\na.txt (+1 -1)\nb.txt (+1 -1)\na.txt now:\n1|one")
    assert (work / "b.txt").read_text() == "three\n"


async def test_all_files_or_none(bench: Bench) -> None:
    for name in "ab":
        (bench.root / name).write_text(f"{name}\n")
    files = [{"path": "a", "edits": [{"old": "a", "new": "A"}]}, {"path": "b", "edits": [{"old": "zzz", "new": "B"}]}]
    said = await bench.fails("multi_file_edit", files=files)
    assert said.startswith("file 2 of 2: old is not in b")
    assert said.endswith("No file was changed.")
    assert "there is nothing to do" in await bench.fails("multi_file_edit", files=[])
    assert "no edits for 'a'" in await bench.fails("multi_file_edit", files=[{"path": "a", "edits": []}])
    assert "c does not exist" in await bench.fails("multi_file_edit", files=[{"path": "c", "edits": files[0]["edits"]}])
    assert "is a folder" in await bench.fails("multi_file_edit", files=[{"path": ".", "edits": files[0]["edits"]}])


async def test_the_same_file_twice_is_edited_in_turn(bench: Bench) -> None:
    (bench.root / "a").write_text("1\n")
    files = [{"path": "a", "edits": [{"old": "1", "new": "2"}]}, {"path": "./a", "edits": [{"old": "2", "new": "3"}]}]
    done = await bench.call("multi_file_edit", files=files)
    assert (bench.root / "a").read_text() == "3\n"
    assert "+1 -1" in done.text


# --- diff ----------------------------------------------------------------------------------------------------


async def test_files_are_compared_through_the_loop(tmp_path: Path) -> None:
    work = workplace(tmp_path)
    played = await play(
        work,
        ("diff", {"path": "a.txt", "other": "b.txt"}),
        ("diff", {"path": "a.txt", "text": "alpha\n"}),
        ("edit_file", {"path": "a.txt", "old": "alpha", "new": "omega"}),
        ("edit_file", {"path": "b.txt", "old": "beta", "new": "b"}),
    )
    texts = [result.text for result in played.results]
    assert texts[0] == "--- a/a.txt\n+++ b/b.txt\n@@ -1 +1 @@\n-alpha\n+beta\n"
    assert texts[1] == "The two are the same."
    played = await play(work, ("diff", {"path": "a.txt"}))
    assert played.text == "--- a/a.txt\n+++ b/a.txt\n@@ -1 +1 @@\n-alpha\n+omega\n"


async def test_what_cannot_be_compared(bench: Bench) -> None:
    (bench.root / "a").write_text("a\r\n")
    (bench.root / "bin").write_bytes(b"\0\1\2")
    assert "not both" in await bench.fails("diff", path="a", other="a", text="")
    assert "does not exist" in await bench.fails("diff", path="a", other="x")
    assert "binary data" in await bench.fails("diff", path="a", other="bin")
    assert "nothing is known of a before now" in await bench.fails("diff", path="a")
    assert "-a\r\n+a\n" in (await bench.call("diff", path="a", text="a\n")).text
