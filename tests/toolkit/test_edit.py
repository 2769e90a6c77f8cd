"""edit_file: where it finds a place, what it leaves alone, and what it says when it cannot."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gongfu.core.errors import ToolFailure
from gongfu.toolkit.edit import edit_tools
from gongfu.toolkit.edits import Edit, apply_edits
from gongfu.toolkit.readlog import ReadLog
from gongfu.tools.protocol import Outcome
from gongfu.tools.validate import validate
from gongfu.workspace.files import as_text, digest
from gongfu.workspace.root import Workspace

pytestmark = pytest.mark.anyio


class Context:
    call_id = "c1"


async def edit(folder: Path, raw: bytes, **args: Any) -> tuple[Outcome, bytes]:
    """Edit a file with that content, through validation and facts; the outcome and what the file is then."""
    root = folder.resolve()
    path = root / "f.py"
    path.write_bytes(raw)
    (tool,) = edit_tools(Workspace(root, root), ReadLog())
    checked = validate(tool.spec.parameters, {"path": "f.py", **args})
    assert checked.problem == ""
    facts = await tool.facts(checked.args)
    outcome = await tool.run(checked.args, Context())
    assert facts.preview == outcome.display
    assert facts.writes == (str(path),)
    return outcome, path.read_bytes()


async def refused(folder: Path, raw: bytes, **args: Any) -> str:
    with pytest.raises(ToolFailure) as failure:
        await edit(folder, raw, **args)
    assert (folder / "f.py").read_bytes() == raw
    return str(failure.value)


async def test_one_exact_replacement_and_its_lines(tmp_path: Path) -> None:
    raw = "".join(f"line {i}\n" for i in range(1, 21)).encode()
    done, now = await edit(tmp_path, raw, old="line 10\nline 11\n", new="line ten\n")
    assert now == raw.replace(b"line 10\nline 11\n", b"line ten\n")
    assert done.text == "Edited f.py (+1 -2). Now:\n8|line 8\n9|line 9\n10|line ten\n11|line 12\n12|line 13"
    assert done.display["diff"].startswith("--- a/f.py\n+++ b/f.py\n@@ -7,8 +7,7 @@\n line 7\n")


async def test_several_edits_each_on_what_the_ones_before_left(tmp_path: Path) -> None:
    edits = [{"old": "a", "new": "bb"}, {"old": "bb\n", "new": "c\n"}, {"old": "z", "new": "y"}]
    done, now = await edit(tmp_path, b"a\n1\n2\n3\n4\n5\n6\nz\n", edits=edits)
    assert now == b"c\n1\n2\n3\n4\n5\n6\ny\n"
    assert done.text.endswith("1|c\n2|1\n3|2\n...\n6|5\n7|6\n8|y")


async def test_one_edit_that_does_not_fit_undoes_all(tmp_path: Path) -> None:
    words = await refused(tmp_path, b"a b\n", edits=[{"old": "a", "new": "x"}, {"old": "zz", "new": "y"}])
    assert words.startswith("edit 2 of 2: old is not in f.py")


async def test_all_places(tmp_path: Path) -> None:
    _, now = await edit(tmp_path, b"aXaXa\n", old="X", new="--", all=True)
    assert now == b"a--a--a\n"
    _, now = await edit(tmp_path, b"aaaa\n", old="aa", new="b", all=True)
    assert now == b"bb\n"
    raw = ("名字 = 1\r\n" * 3000).encode("gbk")
    _, now = await edit(tmp_path, raw, old="= 1\n", new="= 2\n", all=True)
    assert now == raw.replace(b"1", b"2")


async def test_an_ambiguous_text_is_answered_with_the_lines(tmp_path: Path) -> None:
    words = await refused(tmp_path, b"x\ny\nx\n\nx\n", old="x", new="z")
    assert words.startswith("old stands 3 times in f.py, at lines 1, 3, 5; nothing was changed.")
    assert "overlap" not in words
    assert "2 times" in await refused(tmp_path, b"aaa\n", old="aa", new="b")


async def test_empty_and_equal_texts_are_refused(tmp_path: Path) -> None:
    assert "old is empty. To insert" in await refused(tmp_path, b"a\n", old="", new="b")
    assert "the same" in await refused(tmp_path, b"a\n", old="a", new="a")
    assert "new is missing" in await refused(tmp_path, b"a\n", old="a")
    assert "nothing to do" in await refused(tmp_path, b"a\n")
    assert "lone surrogate" in await refused(tmp_path, b"a\n", old="a", new="\ud800")
    assert "is empty, so old is not in it; use write_file" in await refused(tmp_path, b"", old="a", new="b")


async def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    root = tmp_path.resolve()
    (root / "main.py").touch()
    (tool,) = edit_tools(Workspace(root, root), ReadLog())
    with pytest.raises(ToolFailure, match=r"mian.py does not exist. Near: main.py"):
        await tool.run({"path": "mian.py", "old": "a", "new": "b"}, Context())
    with pytest.raises(ToolFailure, match="is a folder"):
        await tool.run({"path": ".", "old": "a", "new": "b"}, Context())


async def test_shapes_that_models_send(tmp_path: Path) -> None:
    _, now = await edit(tmp_path, b"a\n", edits='[{"old_string": "a", "new_string": "b"}]')
    assert now == b"b\n"
    _, now = await edit(tmp_path, b"a\n", edits={"old": "a", "new": "c"})
    assert now == b"c\n"
    _, now = await edit(tmp_path, b"a\na\n", old="a", new="d", all="true", edits=None)
    assert now == b"d\nd\n"


async def test_an_edit_that_is_done_already_is_recognised(tmp_path: Path) -> None:
    words = await refused(tmp_path, b"one\nvalue = 2\n", old="value = 1", new="value = 2")
    assert "new already stands at line 2" in words


async def test_a_missing_line_end_at_the_end_stays_missing(tmp_path: Path) -> None:
    _, now = await edit(tmp_path, b"a\nb", old="b\n", new="c\n")
    assert now == b"a\nc"


async def test_line_numbers_that_were_copied_are_taken_off(tmp_path: Path) -> None:
    _, now = await edit(tmp_path, b"aa\nbb\n", old="1|aa\n2|bb", new="1|aa\n2|cc")
    assert now == b"aa\ncc\n"
    _, now = await edit(tmp_path, b"1|aa\n", old="1|aa", new="1|bb")  # but not where they belong to the file
    assert now == b"1|bb\n"


async def test_stray_bytes_beside_an_edit_stay(tmp_path: Path) -> None:
    raw = "你好世界\n".encode() + b"a\xffb = 1\nc = 2\n"
    _, now = await edit(tmp_path, raw, old="世界\n", new="天地\n")
    assert now == raw.replace("世界".encode(), "天地".encode())
    _, now = await edit(tmp_path, raw, old="c = 2", new="c = 3")
    assert now == raw.replace(b"2", b"3")


TABS = "def f(x):\n\tif x:\n\t\treturn 1\n\treturn 2\n"


@pytest.mark.parametrize(
    ("file", "old", "new", "result"),
    [
        (  # four spaces for tabs; deeper and shallower lines are new
            TABS,
            "    if x:\n        return 1\n",
            "    if x:\n        if y:\n            return 3\n        return 1\n    else:\n        pass\n",
            "def f(x):\n\tif x:\n\t\tif y:\n\t\t\treturn 3\n\t\treturn 1\n\telse:\n\t\tpass\n\treturn 2\n",
        ),
        (  # two spaces in the text, four in the file
            "class A:\n    def f(self):\n        pass\n",
            "  def f(self):\n    pass\n",
            "  def f(self):\n    for x in y:\n      pass\n",
            "class A:\n    def f(self):\n        for x in y:\n            pass\n",
        ),
        (  # four in the text, two in the file
            "class A:\n  def f(self):\n    pass\n",
            "    def f(self):\n        pass",
            "    def f(self):\n        pass\n\n    def g(self):\n        pass",
            "class A:\n  def f(self):\n    pass\n\n  def g(self):\n    pass\n",
        ),
        (  # the text begins at the margin, the file is indented
            "class A:\n    def f(self):\n        return 1\n",
            "def f(self):\n    return 1\n",
            "def f(self):\n    if x:\n        return 2\n    return 1\n",
            "class A:\n    def f(self):\n        if x:\n            return 2\n        return 1\n",
        ),
        (  # trailing spaces in the file, none in the text; the untouched line keeps its own
            "a = 1  \nb = 2\t\nc = 3\n",
            "a = 1\nb = 2\n",
            "a = 1\nb = 5\n",
            "a = 1  \nb = 5\nc = 3\n",
        ),
        (  # curly quotes and a dash in the file stay where the text has straight ones
            "print(“héllo” – ‘x’, 1)\n",
            "print(\"héllo\" - 'x', 1)",
            "print(\"héllo\" - 'x', 2)",
            "print(“héllo” – ‘x’, 2)\n",
        ),
        (  # runs of white space inside a line
            "x   =   f( a,\tb )\n",
            "x = f( a, b )",
            "x = g( a, b )",
            "x   =   g( a,\tb )\n",
        ),
        (  # a no-break space in the file
            "if\u00a0x:\n    pass\n",
            "if x:\n    pass\n",
            "if x:\n    return\n",
            "if\u00a0x:\n    return\n",
        ),
        (  # CRLF in the file, tabs for spaces, all at once
            "def f():\r\n\tpass\r\nend\r\n",
            "def f():\n    pass\n",
            "def f():\n    if x:\n        pass\n",
            "def f():\r\n\tif x:\r\n\t\tpass\r\nend\r\n",
        ),
        (  # blank lines with spaces in them
            "a\n   \nb\n",
            "a\n\nb\n",
            "a\n\nc\n",
            "a\n   \nc\n",
        ),
        (  # an ellipsis
            "wait…\n", "wait...", "wait... now", "wait… now\n",
        ),
    ],
)  # fmt: skip
async def test_a_place_that_differs_in_white_space_only(
    tmp_path: Path, file: str, old: str, new: str, result: str
) -> None:
    done, now = await edit(tmp_path, file.encode(), old=old, new=new)
    assert now.decode() == result
    assert "white space differed" in done.text


async def test_two_such_places_are_none(tmp_path: Path) -> None:
    raw = b"if a:\n\tx = 1\nif b:\n\t\tx = 1\n"
    words = await refused(tmp_path, raw, old="    x = 1\n", new="    x = 2\n")
    assert "but for white space it fits 2 places, at lines 2, 4" in words
    assert "fits 2 places" in await refused(tmp_path, raw, old="    x = 1\n", new="    x = 2\n", all=True)


async def test_no_match_shows_the_nearest_lines_and_inserts_nothing(tmp_path: Path) -> None:
    raw = b"import os\n\ndef load(path):\n\tdata = read(path)\n\treturn data \n\ndef save(path):\n\tpass\n"
    words = await refused(tmp_path, raw, old="def load(path):\n    data = open(path)\n    return data\n", new="x")
    assert words == (
        "old is not in f.py; nothing was changed. The nearest lines (· space, → tab):\n"
        "2|\n3|def load(path):\n4|→data = read(path)\n5|→return data·\n6|\n"
        "Copy old exactly from the file."
    )
    assert "no lines come near" in await refused(tmp_path, raw, old="completely different words", new="x")


@settings(max_examples=150, deadline=None)
@given(
    st.lists(
        st.tuples(st.text(st.sampled_from("ab \t'“é中"), max_size=6), st.sampled_from(["\n", "\r\n", "\r"])),
        max_size=10,
    ),
    st.sampled_from(["utf-8", "utf-8-sig", "utf-16", "gbk"]),
    st.data(),
)
def test_only_the_span_changes_whatever_the_line_ends(
    lines: list[tuple[str, str]], encoding: str, data: st.DataObject
) -> None:
    text = "".join(a + b for a, b in lines)
    raw = text.encode(encoding, "ignore")
    file = as_text(Path("f"), raw)
    start = data.draw(st.integers(0, len(file.text)))
    end = data.draw(st.integers(start, len(file.text)))
    if (0 < start < len(file.text) and file.text[start - 1 : start + 1] == "\r\n") or file.text[
        end - 1 : end + 1
    ] == "\r\n":
        return
    old = file.text[start:end].replace("\r\n", "\n").replace("\r", "\n")
    new = data.draw(st.sampled_from(["", "X", "X\nY", old + "Z", "Z" + old, old.replace("a", "X")]))
    try:
        done = apply_edits(file, [Edit(old=old, new=new)], "f")
    except ToolFailure:
        return
    (span,) = done.spans
    before, after = done.file.text[: span.start], done.file.text[span.end :]
    assert file.text.startswith(before)
    assert file.text.endswith(after)
    assert done.file.raw.startswith(file.raw[: len(file.encoding.bom)])
    assert done.file.raw[len(file.encoding.bom) :].decode(file.encoding.codec) == done.file.text
    assert done.file.digest == digest(done.file.raw)
    written = done.file.text[span.start : span.end]
    if file.text.count(old) == 1 and not done.loosely:
        assert written.replace("\r\n", "\n").replace("\r", "\n") == new
    if not file.mixed and file.newline:
        assert set(_ends(written)) <= {file.newline}


def _ends(text: str) -> list[str]:
    import re

    return re.findall(r"\r\n|\n|\r", text)


@settings(max_examples=120, deadline=None)
@given(st.text(st.sampled_from("ab \t\n()*.\"'"), max_size=40), st.text(st.sampled_from("ab \t\n()*.\"'"), max_size=12))
def test_no_text_breaks_the_search(text: str, old: str) -> None:
    try:
        done = apply_edits(as_text(Path("f"), text.encode()), [Edit(old=old, new="NEW")], "f")
    except ToolFailure:
        return
    assert "NEW" in done.file.text


def test_long_lines_of_spaces_are_searched_quickly() -> None:
    file = as_text(Path("f"), (" " * 20_000 + "x\n").encode() * 20)
    with pytest.raises(ToolFailure):
        apply_edits(file, [Edit(old="    a    b    c\n\n\n   d", new="x")], "f")
