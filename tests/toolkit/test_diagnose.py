"""What is wrong in code is found without running it: syntax, and the checkers that a project has set up."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import msgspec
import pytest

from gongfu.core.errors import ToolFailure
from gongfu.toolkit.checkers import checkers, in_characters
from gongfu.toolkit.code import code_tools
from gongfu.toolkit.programs import Programs
from gongfu.workspace.root import Workspace
from tests.app.cast import workplace
from tests.toolkit.kit import Ctx
from tests.toolkit.loop import play

pytestmark = pytest.mark.anyio
HERE = str(Path(sys.executable).parent)


async def diagnose(root: Path, path: str = "", *, here: bool = False) -> tuple[str, str]:
    """The text, and the command that consent is asked for."""
    env = {"PATH": f"{HERE if here else ''}{os.pathsep}/usr/bin{os.pathsep}/bin", "HOME": str(root.parent)}
    made = code_tools(Workspace(root, root), Programs(directory=root, env=env), [])
    tool = next(t for t in made if t.spec.name == "diagnostics")
    facts = await tool.facts({"path": path})
    assert ("execute" in facts.access) == bool(facts.command)
    return (await tool.run({"path": path}, Ctx())).text, facts.command


async def test_syntax_of_python(tmp_path):
    root = workplace(tmp_path)
    (root / "a.py").write_text("def f(:\n    pass\n")
    (root / "b.py").write_text("x = 1\n")
    (root / "c.py").write_text("x = " + "(" * 3000 + "\n")
    (root / "n.py").write_bytes(b"x = '\0'\n")
    text, command = await diagnose(root, ".")
    assert command == ""
    assert "a.py:1:7 error: invalid syntax" in text
    assert "c.py:1" in text
    assert "n.py:1" in text
    assert "b.py" not in text
    assert (await diagnose(root, "b.py"))[0] == "no problems (syntax; 1 file)"


async def test_the_checkers_that_the_project_has_set_up(tmp_path):
    root = workplace(tmp_path)
    (root / "pyproject.toml").write_text('[tool.ruff.lint]\nselect = ["F"]\n[tool.mypy]\n')
    (root / "a.py").write_text("import os\n\nprint(你)\n")
    text, command = await diagnose(root, "a.py", here=True)
    assert "ruff check" in command
    assert "a.py:1:8 warning: `os` imported but unused [F401 ruff]" in text
    assert "a.py:3:7 error: Undefined name `你` [F821 ruff]" in text
    assert "mypy is set up here but not installed (pip install mypy)" in text or "mypy" in command
    assert not (root / ".ruff_cache").exists()


@pytest.mark.parametrize(
    ("name", "text", "line"),
    [
        ("a.js", "function f( {\n  return 1;\n", "a.js:1"),
        ("a.ts", "const x: number = ;\n", "a.ts:1"),
        ("a.go", "package a\nfunc f( {\n}\n", "a.go:2"),
        ("A.java", "class A { void f() { int x = ; } }\n", "A.java:1"),
        ("a.rs", "fn f( {\n", "a.rs:1"),
        ("a.c", "int f( { return 1; }\n", "a.c:1"),
        ("a.cpp", "class A { int f( };\n", "a.cpp:1"),
        ("a.json", '{"a": [1,]}\n', "a.json:1"),
        ("a.toml", "a = \n", "a.toml:1"),
    ],
)
async def test_syntax_of_other_languages(name, text, line, tmp_path):
    root = workplace(tmp_path)
    (root / name).write_text(text)
    said, _ = await diagnose(root, name)
    assert f"{line}:" in said
    assert " error: " in said


async def test_changed_files(tmp_path):
    root = workplace(tmp_path)
    (root / ".git").rmdir()
    (root / "old.py").write_text("def f(:\n")
    git = ["git", "-c", "user.name=a", "-c", "user.email=a@b.c", "-C", str(root)]
    for args in (["init", "-q"], ["add", "."], ["commit", "-q", "-m", "x"]):
        subprocess.run([*git, *args], check=True)
    assert (await diagnose(root))[0] == "No changed file holds code."
    (root / "新 file.py").write_text("def g(:\n")
    text, _ = await diagnose(root)
    assert "新 file.py:1" in text
    assert "old.py" not in text


async def test_what_is_wrong_with_a_call(tmp_path):
    root = workplace(tmp_path)
    (root / "b.py").write_bytes(b"\x00\xff" * 100)
    for path, said in (
        ("gone.py", "does not exist"),
        ("b.py", "not text"),
        ("a\0", "NUL character"),
        ("", "changed"),
    ):
        with pytest.raises(ToolFailure, match=said):
            await diagnose(root, path)
    assert "No code that can be checked" in (await diagnose(root, "a.txt"))[0]


def test_columns_count_characters(tmp_path):
    """pyright counts units of UTF-16, mypy bytes."""
    file = tmp_path / "a.py"
    file.write_text('x = "😀你"; f(1)\n')
    at = {"start": {"line": 0, "character": 11}}
    said = msgspec.json.encode(
        {"generalDiagnostics": [{"file": str(file), "range": at, "message": "m"}, 3, {}]}
    ).decode()
    (tmp_path / "pyproject.toml").write_text("[tool.pyright]\n[tool.mypy]\n")
    pyright, mypy = checkers(tmp_path, None, {"PATH": ""})
    found = in_characters(list(pyright.read(f"noise\n{said}\n", tmp_path)), pyright.unit)
    assert (found[0].line, found[0].column) == (1, 11)
    found = in_characters(list(mypy.read("a.py:1:16: error: m  [code]\nx\n", tmp_path)), mypy.unit)
    assert (found[0].path, found[0].column, found[0].code) == (str(file), 11, "code")
    assert list(pyright.read("[", tmp_path)) == list(pyright.read("", tmp_path)) == list(mypy.read("x", tmp_path)) == []


def test_settings_that_cannot_be_read_set_nothing_up(tmp_path):
    for text in ("[tool", "tool = 3", "\0", "[tool.ruff]" * 2):
        (tmp_path / "pyproject.toml").write_text(text)
        assert checkers(tmp_path, None, {"PATH": HERE}) == ()


async def test_names_that_look_like_options_are_none(tmp_path):
    root = workplace(tmp_path)
    (root / "ruff.toml").write_text("")
    (root / "--fix.py").write_text("import os\n")
    text, _ = await diagnose(root, "./--fix.py", here=True)
    assert "F401" in text
    assert (root / "--fix.py").read_text() == "import os\n"


async def test_through_the_loop(tmp_path):
    root = workplace(tmp_path)
    (root / "a.py").write_text("def f(:\n")
    played = await play(root, ("diagnostics", {"path": "a.py"}), permission="plan")
    assert "a.py:1:7 error: invalid syntax" in played.text
