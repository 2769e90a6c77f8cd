"""Code understood: jedi on this repository and on small projects, and what models get wrong when they point at code."""

from __future__ import annotations

import contextlib
import os
from pathlib import Path

import pytest

from gongfu.core.errors import ToolFailure
from gongfu.toolkit.code import code_tools
from gongfu.toolkit.code_apart import Order, ask_jedi
from gongfu.toolkit.programs import Programs
from gongfu.workspace.root import Workspace
from tests.app.cast import workplace
from tests.toolkit.kit import Ctx
from tests.toolkit.loop import play

pytestmark = pytest.mark.anyio
REPOSITORY = Path(__file__).parents[2]
ENV = {"PATH": os.environ["PATH"], "HOME": os.environ.get("HOME", "/")}


def tools_of(root: Path, **more):
    made = code_tools(Workspace(root, root), Programs(directory=root, env=ENV), [], **more)
    return {tool.spec.name: tool for tool in made}


async def call(root: Path, tool: str, /, **args):
    found = tools_of(root)[tool]
    await found.facts(args)
    return (await found.run(args, Ctx())).text


@pytest.fixture
def project(tmp_path: Path) -> Path:
    root = workplace(tmp_path)
    (root / "src/shop").mkdir(parents=True)
    (root / "src/shop/__init__.py").write_text("")
    (root / "src/shop/cart.py").write_text(
        'class Cart:\n    """Holds goods. 购物车"""\n\n    def add(self, name: str, count: int = 1) -> "Cart":\n'
        '        """Put goods in."""\n        return self\n\n\ndef 总价(cart: Cart) -> int:\n    return len("😀")\n'
    )
    (root / "main.py").write_text(
        'from shop.cart import Cart, 总价\n\ncart = Cart()\ns = "😀😀"; cart.add("x").add("y")\n'
        "print(总价(cart))\ncart.\n"
    )
    return root


# --- this repository --------------------------------------------------------------------------------------------------


async def test_definition_of_run_turn_from_the_runner():
    text = await call(REPOSITORY, "definition", path="src/gongfu/engine/runner.py", name="run_turn")
    assert text.startswith("src/gongfu/engine/turn.py:")
    assert "def run_turn(*, asker: Asker" in text


async def test_references_of_registry():
    text = await call(REPOSITORY, "references", name="gongfu.tools.registry.Registry")
    assert "src/gongfu/app/equip.py (" in text
    assert "tests/tools/test_disclosure.py" in text
    count, files = (int(word) for word in text.splitlines()[0].split() if word.isdigit())
    assert count > 20
    assert files >= 9
    assert "class Registry:" in text


# --- a small project --------------------------------------------------------------------------------------------------


async def test_a_name_on_a_line_is_enough(project):
    found = await call(project, "definition", path="main.py", line=4, name="add")
    assert found.startswith("src/shop/cart.py:4:9 def add(")
    assert found == await call(project, "definition", path="main.py", line=4, column=17)
    assert found == await call(project, "definition", path="main.py", line=5, name="add")  # a line beside it
    assert (await call(project, "definition", name="shop.cart.Cart.add")).startswith("src/shop/cart.py:4:9 def add(")
    assert (await call(project, "definition", path="main.py", line=5, name="总价")).startswith("src/shop/cart.py:9:5")


async def test_references_are_grouped_and_counted(project):
    text = await call(project, "references", path="src/shop/cart.py", name="总价")
    assert text.splitlines()[0] == "3 references in 2 files"
    assert "main.py (2)\n  1:29 from shop.cart import Cart, 总价\n  5:7 print(总价(cart))" in text


async def test_hover_tells_signature_and_words(project):
    text = await call(project, "hover", path="main.py", line=4, name="add")
    assert "def add(name: str, count: int=1)" in text
    assert "Put goods in." in text
    assert "购物车" in await call(project, "hover", name="shop.cart.Cart")


async def test_completion(project):
    text = await call(project, "completion", path="main.py", line=6)
    assert "add (function)" in text
    assert "__" not in text
    inside = await call(project, "completion", path="main.py", line=4, after='cart.add("x"')
    assert inside.startswith("in the call of add(name: str, count: int=1)")


async def test_a_line_that_says_it_all_stands_alone(project):
    assert len((await call(project, "definition", path="main.py", line=4, name="add")).splitlines()) == 1
    with pytest.raises(ToolFailure, match=r"nope was found \(searched by name, not by meaning\)"):
        await call(project, "definition", name="nope")


async def test_private_names_are_offered_once_one_is_begun(project):
    (project / "p.py").write_text("x = ''\nx.__le\n")
    assert "__len__" in await call(project, "completion", path="p.py", line=2)


async def test_what_lies_outside_is_said_to(project):
    (project / "b.py").write_text("import json\njson.loads\n")
    text = await call(project, "definition", path="b.py", line=2, name="loads")
    assert "json/__init__.py" in text
    assert "(outside the workspace)" in text


async def test_a_name_that_jedi_does_not_find_is_sought_in_all_languages(project):
    (project / "a.go").write_text("package a\n\nfunc (c *Cart) Checkout(x int) error {\n\treturn nil\n}\n")
    text = await call(project, "definition", name="Checkout")
    assert text.startswith("a.go:3:16 func (c *Cart) Checkout(x int) error {")
    assert "found by name, not by meaning" in text


async def test_nothing_of_a_project_is_run(project):
    """Neither its modules nor its compiled ones, its interpreter, or what jedi imports by itself."""
    trap = f"open({str(project / 'ran')!r}, 'w')\n"
    (project / "trap.py").write_text(f"{trap}class Trap:\n    x = 1\n")
    (project / "gi.py").write_text(trap)
    (project / "sitecustomize.py").write_text(trap)
    (project / ".venv/bin").mkdir(parents=True)
    (project / ".venv/pyvenv.cfg").write_text("home = /usr/bin\n")
    site = project / ".venv/lib/python3.11/site-packages"
    site.mkdir(parents=True)
    (site / "evil.pth").write_text(f"import sys; {trap}")
    (site / "numpy").mkdir()
    (site / "numpy/__init__.py").write_text(f"{trap}def array(): ...\n")
    python = project / ".venv/bin/python"
    python.write_text(f"#!/bin/sh\ntouch {project}/ran\n")
    python.chmod(0o755)
    (project / "c.py").write_text("import gi, trap, numpy, _speed\ntrap.Trap.x\nnumpy.array\ngi.x\n_speed.run\n")
    (project / "_speed.cpython-311-x86_64-linux-gnu.so").write_bytes(b"\x7fELF not really")
    assert "trap.py" in await call(project, "definition", path="c.py", line=2, name="x")
    assert "numpy/__init__.py" in await call(project, "definition", path="c.py", line=3, name="array")
    with contextlib.suppress(ToolFailure):
        await call(project, "hover", path="c.py", line=5, name="_speed")
    await call(project, "completion", path="c.py", line=4, after="gi.")
    assert not (project / "ran").exists()


async def test_a_question_that_takes_too_long_ends(project):
    text = (project / "main.py").read_text()
    order = Order(
        do="references", root=str(project), path=str(project / "main.py"), text=text, line=3, column=1, seconds=0.0
    )
    reply = await ask_jedi(order, ENV)
    assert reply.partial


# --- what is wrong with a call ----------------------------------------------------------------------------------------

WRONG = [
    ({"path": "main.py", "line": 99, "name": "x"}, "main.py has 7 lines; there is no line 99"),
    ({"path": "main.py", "line": -1, "name": "x"}, "there is no line -1"),
    ({"path": "main.py", "line": 1, "name": "nothing_like_it"}, "nothing_like_it is not on line 1 .* nor anywhere"),
    ({"path": "main.py", "line": 1, "name": "print"}, "print is not on line 1 .*; it is on line 5"),
    ({"path": "main.py", "line": 3, "column": 500}, "line 3 has 13 characters; there is no column 500"),
    ({"path": "main.py", "line": 4}, "say which name on line 4 is meant"),
    ({"path": "main.py"}, "give a line"),
    ({"path": "main.py", "name": "nothing_like_it"}, "main.py has no nothing_like_it"),
    ({}, "give path and line"),
    ({"name": "nothing_like_it"}, "no definition of nothing_like_it"),
    ({"name": "x" * 100_000}, "name must be one name"),
    ({"name": "a\0b"}, "name must be one name"),
    ({"name": "a\ud800"}, "name must be one name"),
    ({"path": "gone.py", "line": 1, "name": "x"}, "gone.py does not exist"),
    ({"path": "src", "line": 1, "name": "x"}, "src is a folder"),
    ({"path": "binary.py", "line": 1, "name": "x"}, "not text"),
    ({"path": "a\0.py", "line": 1, "name": "x"}, "NUL character"),
    ({"path": "huge.py", "line": 1, "name": "x"}, "more than the"),
]


@pytest.mark.parametrize("tool", ["definition", "hover", "references"])
async def test_wrong_calls_are_told_what_would_be_right(tool, project):
    (project / "binary.py").write_bytes(b"\x00\x01\x02\xff" * 100)
    with (project / "huge.py").open("wb") as file:
        file.truncate(8 * 1024 * 1024)
    for args, said in WRONG:
        if tool != "definition" and "no definition" in said:
            continue
        with pytest.raises(ToolFailure, match=said):
            await call(project, tool, **args)


async def test_completion_tells_what_is_wrong(project):
    for args, said in (({"line": 0}, "line is missing"), ({"line": 1, "after": "zzz"}, "zzz is not on line 1"),
                       ({"line": 1, "column": 999}, "no column 999")):  # fmt: skip
        with pytest.raises(ToolFailure, match=said):
            await call(project, "completion", path="main.py", **args)


async def test_files_outside_and_secrets_are_named_to_the_policy(project):
    outside = project.parent / "other.py"
    outside.write_text("x = 1\n")
    facts = await tools_of(project)["definition"].facts({"path": str(outside), "line": 1, "name": "x"})
    assert facts.paths == (str(outside),)
    assert facts.access == ("read",)


async def test_secrets_in_lines_are_not_shown(project):
    token = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
    (project / "k.py").write_text(f'TOKEN = "{token}"\nprint(TOKEN)\n')
    for tool in ("definition", "references"):
        text = await call(project, tool, path="k.py", line=2, name="TOKEN")
        assert "TOKEN" in text
        assert token not in text


async def test_deep_code_does_not_take_the_process_down(project):
    (project / "deep.py").write_text("x = " + "(" * 5000 + ")" * 5000 + "\ny = x\n")
    with contextlib.suppress(ToolFailure):
        await call(project, "definition", path="deep.py", line=2, name="x")


async def test_other_files_are_answered_by_name_and_say_what_is_missing(project):
    (project / "x.zig").write_text("fn area(w: u32) u32 {\n    return w;\n}\nconst a = area(2);\n")
    text = await call(project, "references", path="x.zig", line=4, name="area")
    assert "2 references in 1 file" in text
    assert "found by name, not by meaning" in text
    assert "no language server for .zig is installed" in text or "zls" in text


async def test_without_jedi_and_server_python_is_answered_by_name(project, monkeypatch):
    monkeypatch.setitem(ENV, "PATH", str(project / "bin"))
    monkeypatch.setitem(ENV, "HOME", str(project))
    tools = tools_of(project, jedi=False)
    args = {"path": "main.py", "line": 5, "name": "总价"}
    assert (await tools["definition"].facts(args)).access == ("read",)
    outcome = await tools["definition"].run(args, Ctx())
    assert outcome.text.startswith("src/shop/cart.py:9:5 def 总价(cart: Cart)")
    assert "found by name" in outcome.text


@pytest.mark.parametrize(
    ("tool", "args", "said"),
    [
        ("definition", {"name": "shop.cart.Cart"}, "src/shop/cart.py:1:7 class Cart"),
        ("references", {"path": "src/shop/cart.py", "line": 1, "name": "Cart"}, "references in 2 files"),
        ("hover", {"path": "main.py", "line": 4, "name": "add"}, "Put goods in."),
        ("completion", {"path": "main.py", "line": 6}, "add (function)"),
    ],
)
async def test_through_the_loop(tool, args, said, project):
    played = await play(project, (tool, args), permission="plan")
    assert played.status == "done", played.text
    assert said in played.text
