"""Real language servers through the tools: pylsp, which the tests bring, and others where they are installed."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from gongfu.core.errors import ToolFailure
from gongfu.knowledge.lsp.servers import SERVERS, Server, find_server
from gongfu.toolkit.code import CodeTools
from gongfu.toolkit.diagnose import DiagnoseTools
from gongfu.toolkit.programs import Programs
from gongfu.toolkit.servers import ServerTools
from gongfu.workspace.root import Workspace
from tests.app.cast import workplace
from tests.knowledge.lsp.test_server import BAD
from tests.toolkit.kit import Ctx
from tests.toolkit.loop import play

pytestmark = pytest.mark.anyio
HERE = str(Path(sys.executable).parent)
ENV = {"PATH": f"{HERE}{os.pathsep}{os.environ['PATH']}", "HOME": os.environ.get("HOME", "/")}


@asynccontextmanager
async def served(root: Path, known: tuple[Server, ...] = SERVERS) -> AsyncGenerator:
    workspace, programs = Workspace(root, root), Programs(directory=root, env=ENV)
    servers = ServerTools(workspace, programs, known)
    tools = CodeTools(workspace, programs, servers, jedi=False)
    checks = DiagnoseTools(workspace, programs, servers, tools.order)

    async def call(name: str, /, **args) -> str:
        tool = checks.diagnostics if name == "diagnostics" else getattr(tools, name)
        call.facts = await tool.facts(args)
        return (await tool.run(args, Ctx())).text

    try:
        yield call
    finally:
        await servers.close()


def only(name: str) -> tuple[Server, ...]:
    return tuple(s for s in SERVERS if s.name == name)


def needed(name: str, file: str) -> None:
    if find_server(Path(file), Path("/nowhere"), ENV, only(name)) is None:
        pytest.skip(f"{name} is not installed ({only(name)[0].install})")


async def test_a_session_with_pylsp(tmp_path):
    if shutil.which("pylsp", path=ENV["PATH"]) is None:
        if os.environ.get("CI") == "true":
            pytest.fail("pylsp is missing: pip install python-lsp-server")
        pytest.skip("pylsp is not installed (pip install python-lsp-server)")
    root = workplace(tmp_path)
    (root / "b.py").write_text('def 问好(名字: str) -> str:\n    """Say hello."""\n    return "😀" + 名字\n')
    (root / "a.py").write_text('from b import 问好\n\nx = "😀😀"; y = 问好("a")\n"".upp\n')
    async with served(root, only("pylsp")) as call:
        assert (await call("definition", path="a.py", line=3, name="问好")).startswith("b.py:1:5 def 问好")
        assert call.facts.access == ("read", "execute")
        assert call.facts.command.endswith("pylsp")
        text = await call("references", path="a.py", line=3, name="问好")
        assert "a.py (2)\n  1:15 from b import 问好\n  3:15 x =" in text
        assert "Say hello." in await call("hover", path="a.py", line=3, name="问好")
        assert "upper" in await call("completion", path="a.py", line=4)
        (root / "b.py").write_text("\n\n# moved\ndef 问好(): ...\n")
        assert (await call("definition", path="a.py", line=3, name="问好")).startswith("b.py:4:5 ")


@pytest.mark.soak
async def test_a_session_with_rust_analyzer(tmp_path):
    needed("rust-analyzer", "a.rs")
    root = workplace(tmp_path)
    (root / "Cargo.toml").write_text('[package]\nname = "demo"\nversion = "0.1.0"\nedition = "2021"\n')
    (root / "src").mkdir()
    (root / "src/main.rs").write_text(
        "/// Adds.\nfn add(a: i32, b: i32) -> i32 {\n    a + b\n}\n\n"
        'fn main() {\n    let s = "😀😀"; let n = add(1, 2);\n'
        '    println!("{s} {n}");\n    let m: i32 = "no";\n}\n'
    )
    async with served(root) as call:
        assert (await call("definition", path="src/main.rs", line=7, name="add")).startswith("src/main.rs:2:4")
        assert "2 references" in await call("references", path="src/main.rs", line=2, name="add")
        assert "Adds." in await call("hover", path="src/main.rs", line=7, name="add")


async def test_a_session_with_clangd(tmp_path):
    needed("clangd", "a.c")
    root = workplace(tmp_path)
    (root / "b.h").write_text("int add(int a, int b);\n")
    (root / "a.c").write_text(
        '#include "b.h"\nint main(void) {\n  const char *s = "😀"; int n = add(1, 2);\n  return n\n}\n'
    )
    async with served(root) as call:
        assert (await call("definition", path="a.c", line=3, name="add")).startswith("b.h:1:5 int add(int a, int b);")
        assert "a.c" in await call("references", path="b.h", line=1, name="add")
        assert "a.c:5:1 error: Expected ';'" in await call("diagnostics", path="a.c")


def bad(how: str, *more: str) -> tuple[Server, ...]:
    return (Server(name="bad", argv=(sys.executable, BAD, how, *more), files={".x": "x"}, install="pip install bad"),)


async def test_when_a_server_dies_the_name_still_leads_there(tmp_path):
    root = workplace(tmp_path)
    (root / "a.x").write_text("function area(w) {\n}\narea(2)\n")
    async with served(root, bad("dies")) as call:
        text = await call("definition", path="a.x", line=3, name="area")
        assert text.startswith("a.x:1:10 function area(w) {")
        assert "bad gave no answer: it ended with code 3: fatal error: out of cheese" in text
        with pytest.raises(ToolFailure, match=r"it offers no completion|left alone"):
            await call("completion", path="a.x", line=3)


async def test_a_server_cannot_make_a_secret_be_shown(tmp_path):
    """It may name any file; only code in its language is read for it."""
    root = workplace(tmp_path)
    secret = tmp_path / "secret.txt"
    secret.write_text("the code is 1234\n")
    (root / "a.x").write_text("area(2)\n")
    async with served(root, bad("secrets", secret.as_uri())) as call:
        text = await call("definition", path="a.x", line=1, name="area")
    assert f"{secret}:1:1 (outside the workspace)" in text
    assert "1234" not in text


async def test_consent_is_asked_for_the_server_as_for_a_command(tmp_path):
    """In "plan" no program runs; the file is not named to it either."""
    root = workplace(tmp_path)
    (root / "node_modules/.bin").mkdir(parents=True)
    server = root / "node_modules/.bin/typescript-language-server"
    server.write_text("#!/bin/sh\ntouch ran\n")
    server.chmod(0o755)
    (root / "a.ts").write_text("const a = 1;\n")
    played = await play(root, ("definition", {"path": "a.ts", "line": 1, "name": "a"}), permission="plan")
    assert played.status == "refused"
    assert not (root / "ran").exists()
