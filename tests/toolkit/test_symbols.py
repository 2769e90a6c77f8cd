"""The tools on the index of code, each through the agent loop, and what they say to bad questions."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from gongfu.core.errors import ToolFailure
from gongfu.knowledge import open_index
from gongfu.toolkit.symbols import SymbolTools
from tests.knowledge.test_index import put
from tests.toolkit.kit import Ctx
from tests.toolkit.loop import play

pytestmark = pytest.mark.anyio


@pytest.fixture
def work(tmp_path: Path) -> Path:
    top = tmp_path.resolve() / "work"
    (top / ".git").mkdir(parents=True)
    put(top, "pkg/__init__.py", '"""A package."""\n')
    put(
        top,
        "pkg/a.py",
        '"""Module a."""\nfrom pkg.b import read_file as h\n\ndef top(x: int) -> int:\n    """Tops it."""\n'
        "    return h(x)\n",
    )
    put(
        top,
        "pkg/b.py",
        'def read_file(x):\n    """读取配置文件。"""\n    return _hidden(x)\n\ndef _hidden(x):\n    return open(x)\n',
    )
    put(top, "tests/test_a.py", "from pkg.a import top\ndef test_top():\n    assert top(1)\n")
    return top


SAYS: list[tuple[str, dict[str, Any], str]] = [
    ("search_symbols", {"query": "rdFl"}, "pkg/b.py:1 function read_file(x)  # 读取配置文件。"),
    ("search_symbols", {"query": "配置文件"}, "pkg/b.py:1 function read_file(x)  # 读取配置文件。"),
    (
        "search_symbols",
        {"query": "top", "path": "pkg", "kind": "function"},
        "pkg/a.py:4 function top(x: int) -> int  # Tops it.",
    ),
    ("search_symbols", {"query": "zzz"}, "No symbol is called anything like zzz"),
    ("code_index", {}, "4 files, 16 lines, 4 symbols: python"),
    ("code_index", {"action": "rebuild"}, "4 files, 16 lines, 4 symbols: python"),
    (
        "symbols",
        {"path": "pkg/b.py"},
        "pkg/b.py (python, 6 lines)\n  1-3 function read_file(x)\n  5-6 function _hidden(x)",
    ),
    ("callers", {"symbol": "read_file"}, "pkg/b.py:1 function read_file(x): 1 use (1 certain)\n  pkg/a.py:6 top"),
    ("callees", {"symbol": "pkg/b.py:2"}, "calls 1 symbol of the workspace\n  line 3: pkg/b.py:5 function _hidden(x)"),
    ("impact", {"target": "_hidden"}, "test_a.py\nstep 1:\n  pkg/b.py:3 read_file\nstep 2:\n  pkg/a.py:6 top"),
    ("impact", {"target": "pkg/b.py"}, "pkg/b.py: a change may touch 2 places in 2 files, 1 of tests"),
    ("module_docs", {"module": "pkg.b"}, "pkg/b.py (pkg.b)\n  1 function read_file(x)\n      读取配置文件。"),
]


async def test_each_through_the_loop(work: Path) -> None:
    played = await play(work, *[(name, args) for name, args, _ in SAYS])
    for (name, args, wanted), result in zip(SAYS, played.results, strict=True):
        assert (result.status, wanted in result.text) == ("done", True), (name, args, result.text)


async def test_a_change_between_two_calls_is_seen(work: Path) -> None:
    write = ("shell", {"command": "printf 'def fresh(): ...\\n' > pkg/c.py"})
    played = await play(work, ("search_symbols", {"query": "fresh"}), write, ("search_symbols", {"query": "fresh"}))
    assert "No symbol" in played.results[0].text
    assert played.text == "pkg/c.py:1 function fresh()"


@pytest.mark.parametrize(
    ("name", "args", "why"),
    [
        ("callers", {"symbol": "read_fil"}, "Near:\npkg/b.py:1 function read_file(x)"),
        ("callers", {"symbol": ""}, "symbol is empty"),
        ("callees", {"symbol": "a\0b"}, "cannot be a name"),
        ("impact", {"target": "\ud800"}, "cannot be a name"),
        ("impact", {"target": "x" * 100_000}, "cannot be a name"),
        ("search_symbols", {"query": "  "}, "query is empty"),
        ("search_symbols", {"query": "a", "kind": "verb"}, "there is no kind 'verb'"),
        ("search_symbols", {"query": "a", "path": "/etc"}, "outside the workspace"),
        ("symbols", {"path": "nope.py"}, "does not exist"),
        ("symbols", {"path": "/etc"}, "outside the workspace"),
        ("symbols", {"path": "notes.md"}, "in no language that is read"),
        ("module_docs", {"module": "nowhere"}, "no file, folder or module"),
        ("callers", {"symbol": "run"}, "8 symbols are called run; say which"),
    ],
)
async def test_bad_questions(work: Path, name: str, args: dict[str, Any], why: str) -> None:
    put(work, "notes.md", "# notes\n")
    for number in range(8):
        put(work, f"many/m{number}.py", "def run(): ...\n")
    tools = SymbolTools(open_index(work, None))
    with pytest.raises(ToolFailure, match=r"(?s).*") as caught:
        await getattr(tools, name).run(args, Ctx())
    assert why in str(caught.value)


async def test_a_folder_of_folders_is_outlined_or_its_parts_are_named(work: Path) -> None:
    put(work, "src/shop/cart.py", "def add(): ...\n")
    tools = SymbolTools(open_index(work, None))
    for ask in (tools.symbols.run({"path": "src"}, Ctx()), tools.module_docs.run({"module": "src"}, Ctx())):
        assert "function add()" in (await ask).text
    for number in range(31):
        put(work, f"src/many/m{number}.py", "def run(): ...\n")
    (work / "empty").mkdir()
    with pytest.raises(
        ToolFailure, match=r"32 files below src are too many at once; name one of: src/many \(31\), src/"
    ):
        await tools.symbols.run({"path": "src"}, Ctx())
    with pytest.raises(ToolFailure, match="no source files in empty"):
        await tools.symbols.run({"path": "empty"}, Ctx())


async def test_what_is_long_is_bounded(work: Path) -> None:
    put(
        work,
        "many.py",
        "from pkg.b import read_file\n" + "".join(f"def f{n}():\n    return read_file({n})\n" for n in range(900)),
    )
    tools = SymbolTools(open_index(work, None))
    for name, args in (
        ("callers", {"symbol": "read_file"}),
        ("impact", {"target": "read_file"}),
        ("search_symbols", {"query": "f"}),
    ):
        outcome = await getattr(tools, name).run(args, Ctx())
        assert len(outcome.text) < 8_000
        assert "more" in outcome.text or "narrow" in outcome.text
