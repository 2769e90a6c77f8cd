"""find_files and search_text: what is found, in which order, and the same with ripgrep and without."""

from __future__ import annotations

import os
import shutil
import threading
import time
from collections.abc import Callable
from contextlib import aclosing
from pathlib import Path
from typing import Any

import anyio
import anyio.to_thread
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from gongfu.core.backtracking import loops
from gongfu.core.errors import ToolFailure
from gongfu.toolkit.grep import Hits, Query, Skipped, in_thread, search
from gongfu.toolkit.ripgrep import chunks, search_with_rg
from gongfu.toolkit.search import search_tools
from gongfu.tools.protocol import Outcome, Tool
from gongfu.workspace.ignore import walk
from gongfu.workspace.root import Workspace

pytestmark = pytest.mark.anyio
RG = shutil.which("rg") or ""
needs_rg = pytest.mark.skipif(not RG, reason="ripgrep is not installed (apt-get install ripgrep)")
ENV = dict(os.environ)


class Context:
    call_id = "c1"


@pytest.fixture
def root(tmp_path: Path) -> Path:
    top = tmp_path.resolve() / "w"
    files = {
        "src/app.py": b"import os\n\ndef main():\n    return 1\n\ndef other():\n    return main()\n",
        "src/win.py": b"def main():\r\n    pass\r\n",
        "src/gbk.py": "# 配置文件\ndef main(): pass  # 入口\n".encode("gbk"),
        "src/wide.txt": "def main 宽\n".encode("utf-16"),
        "src/wide_bare.txt": "def main two\nmore\n".encode("utf-16-le"),
        "src/bom.py": "\ufeffdef main(): ...\n".encode(),
        "src/latin.py": b"# caf\xe9\ndef main(): pass\n",
        "data.bin": b"def main\0\1\2",
        "ignored/x.py": b"def main(): ignored\n",
        ".hidden/x.py": b"def main(): hidden\n",
        ".github/w.yml": b"name: main\n",
        ".env": b"SECRET=main\n",
        "server.pem": b"main key\n",
        ".gitignore": b"ignored/\n",
        "docs/读我.md": "# main 说明\n".encode(),
        "two\nlines.txt": b"main\n",
    }
    for name, raw in files.items():
        path = top / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(raw)
    (top / "link.py").symlink_to("src/app.py")
    return top


def tools(root: Path, *, limit: int = 32_768) -> dict[str, Tool]:
    return {t.spec.name: t for t in search_tools(Workspace(root, root), env=ENV, limit=limit)}


async def call(root: Path, name: str, limit: int = 32_768, **args: Any) -> Outcome:
    tool = tools(root, limit=limit)[name]
    facts = await tool.facts(args)
    assert facts.access == ("read",)
    assert facts.title == args["pattern"] or " in " in facts.title
    return await tool.run(args, Context())


async def text(root: Path, name: str, **args: Any) -> str:
    return (await call(root, name, **args)).text


# --- find_files ---------------------------------------------------------------------------------------------------


async def test_files_by_name(root: Path) -> None:
    assert await text(root, "find_files", pattern="*.py", path="src") == (
        "src/app.py\nsrc/bom.py\nsrc/gbk.py\nsrc/latin.py\nsrc/win.py\n[5 files, by name]"
    )
    assert await text(root, "find_files", pattern="docs/**") == "docs/读我.md\n[1 file, by name]"
    assert await text(root, "find_files", pattern="*.{md,txt}") == (
        "docs/读我.md\nsrc/wide.txt\nsrc/wide_bare.txt\ntwo\\nlines.txt\n[4 files, by name]"
    )
    assert await text(root, "find_files", pattern="x.py") == "No file matches x.py in ."
    assert "link.py" in await text(root, "find_files", pattern="*.py")
    assert await text(root, "find_files", pattern="**/*.yml", path=".github") == ".github/w.yml\n[1 file, by name]"
    assert await text(root, "find_files", pattern=".github/*") == ".github/w.yml\n[1 file, by name]"
    assert "src/app.py" in await text(root, "find_files", pattern=f"{root}/src/a*.py")


async def test_the_newest_first(root: Path) -> None:
    for age, name in enumerate(["src/win.py", "src/app.py", "src/bom.py"]):
        os.utime(root / name, ns=(10**18, 2 * 10**18 - age))
    listed = await text(root, "find_files", pattern="src/[wab]*.py", sort="newest")
    assert listed == "src/win.py\nsrc/app.py\nsrc/bom.py\n[3 files, newest first]"


async def test_many_files_are_counted(root: Path) -> None:
    for i in range(250):
        (root / f"n{i:03}.log").touch()
    found = await call(root, "find_files", pattern="*.log")
    assert found.text.endswith("n199.log\n[200 of 250 files, by name; narrow the glob to see the others]")
    assert (found.display["total"], len(found.display["items"])) == (250, 200)


async def test_bad_places_are_explained(root: Path) -> None:
    for args, words in (
        ({"pattern": "*", "path": "srcc"}, "srcc does not exist. Near: src."),
        ({"pattern": "*", "path": "src/app.py"}, "is a file; path must be a folder"),
        ({"pattern": " "}, "pattern is empty"),
        ({"pattern": "/etc/*"}, "leads out of"),
    ):
        with pytest.raises(ToolFailure) as failure:
            await call(root, "find_files", **args)
        assert words in str(failure.value)


# --- search_text --------------------------------------------------------------------------------------------------


async def test_lines_with_numbers_in_every_encoding(root: Path) -> None:
    shown = await text(root, "search_text", pattern=r"def \w+", path="src")
    assert shown == (
        "src/app.py\n3:def main():\n6:def other():\nsrc/bom.py\n1:def main(): ...\nsrc/gbk.py\n"
        "2:def main(): pass  # 入口\nsrc/latin.py\n2:def main(): pass\nsrc/wide.txt\n1:def main 宽\n"
        "src/wide_bare.txt\n1:def main two\nsrc/win.py\n1:def main():\n[8 matches in 7 files]"
    )
    assert await text(root, "search_text", pattern="配置.件", path="src") == (
        "src/gbk.py\n1:# 配置文件\n[1 match in 1 file]"
    )
    assert "docs/读我.md\n1:# main 说明" in await text(root, "search_text", pattern="说明", literal=True)


async def test_what_is_left_out(root: Path) -> None:
    shown = await text(root, "search_text", pattern="main", show="files")
    assert shown.split("\n")[:-2] == [
        "docs/读我.md",
        "src/app.py",
        "src/bom.py",
        "src/gbk.py",
        "src/latin.py",
        "src/wide.txt",
        "src/wide_bare.txt",
        "src/win.py",
        "two\\nlines.txt",
    ]  # fmt: skip  (no link, no ignored, hidden or binary file)
    assert shown.endswith("[not searched, protected: server.pem]")
    hidden = await text(root, "search_text", pattern="SECRET", glob=".*")
    assert hidden == "No match for SECRET in 1 file of .\n[not searched, protected: .env]"
    assert "1:name: main" in await text(root, "search_text", pattern="main", path=".github")
    assert "1:name: main" in await text(root, "search_text", pattern="main", glob=".github/**")
    assert "1:SECRET=main" in await text(root, "search_text", pattern="main", path=".env")  # asked for by name


async def test_context_counts_case_and_globs(root: Path) -> None:
    shown = await text(root, "search_text", pattern="def", path="src/app.py", context=1)
    assert shown == "2-\n3:def main():\n4-    return 1\n5-\n6:def other():\n7-    return main()\n[2 matches in 1 file]"
    apart = await text(root, "search_text", pattern="import|other", path="src/app.py", context=1)
    assert apart == "1:import os\n2-\n--\n5-\n6:def other():\n7-    return main()\n[2 matches in 1 file]"
    assert await text(root, "search_text", pattern="def", glob="src/a*.py", show="count") == (
        "src/app.py: 2\n[2 matches in 1 file]"
    )
    assert "No match for DEF in" in await text(root, "search_text", pattern="DEF", path="src")
    assert "[8 matches in 7 files]" in await text(root, "search_text", pattern="DEF", path="src", ignore_case=True)
    only = await text(root, "search_text", pattern="def", glob="*.py !bom.py !gbk.py", show="files")
    assert only.startswith("src/app.py\nsrc/latin.py\nsrc/win.py\n")
    assert await text(root, "search_text", pattern="main()", literal=True, path="src/app.py") == (
        "3:def main():\n7:    return main()\n[2 matches in 1 file]"
    )
    assert "[1 match" in await text(root, "search_text", pattern="pass$", path="src/win.py")


async def test_bad_patterns_are_explained(root: Path) -> None:
    for args, words in (
        ({"pattern": "("}, "no regular expression"),
        ({"pattern": ""}, "pattern is empty; to list files use find_files"),
        ({"pattern": "a\nb"}, "lines are searched one by one"),
    ):
        with pytest.raises(ToolFailure) as failure:
            await call(root, "search_text", **args)
        assert words in str(failure.value)
    assert "[1 match" in await text(
        root, "search_text", pattern="(?<=re)turn 1", path="src"
    )  # ripgrep has no lookbehind
    assert "[1 match" in await text(root, "search_text", pattern=r"\p{Han}文件", path="src")


async def test_the_result_is_bounded_and_all_is_counted(root: Path) -> None:
    for i in range(40):
        (root / f"many{i:02}.txt").write_text("needle here\n" * 50 + "x" * 3000 + " needle\n")
    shown = await text(root, "search_text", pattern="needle", limit=4096)
    assert len(shown.encode()) <= 4096
    assert "[2,040 matches in 40 files; not all are shown: narrow by path, glob or pattern]" in shown
    wide = await text(root, "search_text", pattern="x needle")
    assert "more characters in this line]" in wide
    (root / "one.txt").write_text("needle\n" * 500)
    assert "[400 more in this file]" in await text(root, "search_text", pattern="needle", path="one.txt")


async def test_huge_files_are_named_and_not_searched(root: Path) -> None:
    with (root / "huge.log").open("wb") as file:
        file.truncate(10 << 30)
    started = time.monotonic()
    shown = await text(root, "search_text", pattern="main", show="files")
    assert time.monotonic() - started < 10
    assert "not searched, over 16 MB: huge.log" in shown
    with pytest.raises(
        ToolFailure, match=r"huge\.log is over 16 MB and was not searched; the shell can: .*'a b' huge\.log"
    ):
        await text(root, "search_text", pattern="a b", path="huge.log")


async def test_a_cancelled_search_stops() -> None:
    begun, ended = threading.Event(), threading.Event()

    def work(stop: Callable[[], bool]) -> None:
        begun.set()
        while not stop():
            pass
        ended.set()

    async with anyio.create_task_group() as group:
        group.start_soon(in_thread, work)
        await anyio.to_thread.run_sync(begun.wait)
        group.cancel_scope.cancel()
    assert await anyio.to_thread.run_sync(ended.wait, 30)


# --- with ripgrep and without -------------------------------------------------------------------------------------

PATTERNS = [
    "main", r"def \w+", "^def", "pass$", r"\bmain\b", "m.in", "[a-m]ain", "(main|other)", "入口", "配置.件", "é", r"\d",
    "^$", "x{2,3}", r"\s+return", "MAIN", "^", "[^a]", r"\.", "caf", "宽", r"main\(\)", ".", "a|", r"\w$",
]  # fmt: skip


async def both(root: Path, query: Query) -> tuple[list[Hits], list[Hits]]:
    files = [p for p in walk(root, Workspace(root, root), hidden=True) if not p.is_symlink()]
    until = time.monotonic() + 60
    ours = list(search(files, query, Skipped(), lambda: False, until))
    theirs: list[Hits] = []
    async with aclosing(search_with_rg(RG, files, query, Skipped(), env=ENV, until=until, most=9999)) as groups:
        async for group in groups:
            theirs += group
    return ours, theirs


@needs_rg
@pytest.mark.parametrize("pattern", PATTERNS)
async def test_the_same_results(root: Path, pattern: str) -> None:
    for query in (
        Query(pattern=pattern), Query(pattern=pattern, ignore_case=True, context=2),
        Query(pattern=pattern, literal=True),
    ):  # fmt: skip
        ours, theirs = await both(root, query)
        assert ours == theirs


@needs_rg
@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    st.lists(
        st.binary(max_size=60) | st.text(st.sampled_from("ab c中é\r\n\t"), max_size=60).map(str.encode), max_size=6
    ),
    st.sampled_from([*PATTERNS, "a", "b c", "中", "a.*b", "[ab]+", "a\\b"]),
    st.integers(0, 2),
)
def test_the_same_results_for_any_bytes(tmp_path: Path, contents: list[bytes], pattern: str, context: int) -> None:
    folder = tmp_path.resolve() / "any"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    for i, raw in enumerate(contents):
        (folder / f"f{i}").write_bytes(raw)
    ours, theirs = anyio.run(both, folder, Query(pattern=pattern, context=context))
    assert ours == theirs


@needs_rg
async def test_many_files_go_through_ripgrep_in_order(root: Path) -> None:
    for i in range(700):
        (root / f"m{i:03}").write_text(f"needle {i}\n")
    (root / "m350").write_bytes("needle 针\n".encode("gbk"))
    shown = await text(root, "search_text", pattern="needle", glob="m*", show="files")
    assert shown.split("\n")[:-1] == [f"m{i:03}" for i in range(700)]
    assert "m350\n1:needle 针" in await text(root, "search_text", pattern="needle 针")


def test_groups_fit_on_a_command_line() -> None:
    files = [Path("/" + "d" * 100 + str(i)) for i in range(15_000)]
    groups = list(chunks(files))
    assert [p for g in groups for p in g] == files
    assert len(groups) > 2
    assert all(sum(len(str(p)) for p in g) < 400_000 for g in groups)


@pytest.mark.parametrize(
    "pattern",
    [
        "(a+)+$",
        "(a|aa)+$",
        "(a*)*b",
        r"([a-z]+)*\d",
        "(?:a+){2,}b",
        "(.*)(.*)(.*)(.*)x$",
        r"(a+)\1+b",
        r"\w*\w*\w*\w*-",
    ],
)
@pytest.mark.parametrize("rg", ["", pytest.param(RG, marks=needs_rg)])
async def test_an_expression_that_takes_for_ever_is_stopped_and_the_program_goes_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, pattern: str, rg: str
) -> None:
    monkeypatch.setattr("gongfu.toolkit.search._SECONDS", 0.15)
    (tmp_path / "evil.txt").write_text("a" * 60_000 + "!\n")
    (tmp_path / "gbk.txt").write_bytes(("功夫是一种技能，练出来的本事" + "a" * 60_000 + "!\n").encode("gbk"))
    tool = search_tools(Workspace(tmp_path, tmp_path), env=ENV, rg=rg)[1]
    begun = time.monotonic()
    with anyio.fail_after(20):
        outcome = await tool.run({"pattern": pattern}, Context())
    assert time.monotonic() - begun < 15
    assert "stopped after" in outcome.text or "No match" in outcome.text


@pytest.mark.parametrize("pattern", [r"\w+Error", ".*x=.*y", "[^q]*q", r"\s+z"])
async def test_a_very_long_line_does_not_hold_the_program(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, pattern: str
) -> None:
    monkeypatch.setattr("gongfu.toolkit.search._SECONDS", 0.15)
    (tmp_path / "app.min.js").write_text("b" * 400_000 + " " * 400_000 + "b" * 400_000)
    (tmp_path / "blank.txt").write_text("\n" * 400_000)
    tool = search_tools(Workspace(tmp_path, tmp_path), env=ENV, rg="")[1]
    with anyio.fail_after(20):
        outcome = await tool.run({"pattern": pattern}, Context())
    assert "stopped after" in outcome.text


async def test_risky_expressions_find_the_same_apart(root: Path) -> None:
    (root / "a \udcff.txt").write_text("def main() here\n")
    for rg in {"", RG}:
        tool = search_tools(Workspace(root, root), env=ENV, rg=rg)[1]
        plain = await tool.run({"pattern": "def main"}, Context())
        risky = await tool.run({"pattern": "(?:d|de|def)+ (?:m+a+)+in"}, Context())
        assert risky.text == plain.text


def test_loops_are_counted() -> None:
    counts = {
        "abc": 0, r"a\+\*": 0, "[*+]": 0, "a{3}": 0, "a{2,5}": 0, "a+": 1, "a{3,}": 1, "a{1,500}": 1, ".*b.*": 2,
        "(foo|bar)": 0, "(foo|bar)+": 4, "(a+)+": 4, "(a+)": 1, r"(a)\1": 1, "((a+)b)*": 4, r"[\]*]+": 1, "a?": 0,
        "(?:ab)+c": 1, "(?P<x>a*)b*": 2, "": 0, ")": 0, "(": 0,
    }  # fmt: skip
    assert {pattern: loops(pattern) for pattern in counts} == counts


@needs_rg
async def test_a_very_long_line_is_left_to_a_program_that_is_quick_with_it(tmp_path: Path) -> None:
    (tmp_path / "app.min.js").write_text("function a(){return 1};" * 80_000 + "the end")
    (tmp_path / "b.js").write_text("function b() { the end }\n")
    tool = search_tools(Workspace(tmp_path, tmp_path), env=ENV, rg=RG)[1]
    with anyio.fail_after(10):
        none = await tool.run({"pattern": "function.*zzz"}, Context())
        both = await tool.run({"pattern": "function.*the end", "show": "files"}, Context())
    assert none.text.startswith("No match")
    assert "stopped" not in none.text
    assert "b.js" in both.text
    assert "app.min.js" in both.text
