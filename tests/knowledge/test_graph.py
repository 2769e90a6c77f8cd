"""Who calls whom, with which certainty, and what a change touches: small cases of each language, and this code base."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from gongfu.knowledge import open_index
from gongfu.knowledge.finding import pick
from gongfu.knowledge.graph import is_test
from gongfu.knowledge.index import Index
from tests.knowledge.test_index import put

pytestmark = pytest.mark.anyio
REPOSITORY = Path(__file__).parents[2]


@asynccontextmanager
async def code(root: Path, files: dict[str, str]) -> AsyncGenerator[Index, None]:
    (root / ".git").mkdir(parents=True)
    for path, text in files.items():
        put(root, path, text)
    index = open_index(root.resolve(), None)
    await index.refresh()
    yield index
    await index.close()


async def callers(index: Index, name: str) -> list[str]:
    edges = await index.callers(name)
    return [
        f"{e.path}:{e.line} {index.code.symbol(e.other).qualified if e.other else '-'} {e.certainty}" for e in edges
    ]


async def test_python_by_imports_receivers_and_types(tmp_path: Path) -> None:
    store = (
        "class Base:\n    def put(self, x): ...\nclass Store(Base):\n    def get(self):\n        return self.put(1)\n"
        "    @classmethod\n    def open(cls) -> 'Store':\n        return cls()\n"
    )
    use = (
        "import app.store as st\nfrom app import Store\n\n\ndef typed(a: Store):\n    a.put(1)\n\n\n"
        "def made():\n    s = Store.open()\n    s.put(2)\n\n\ndef module():\n    st.Store().put(3)\n\n\n"
        "def unknown(b):\n    b.get()\n    b.put(4)\n\n\ndef other():\n    import json\n    json.put(5)\n"
    )
    hold = (
        "from .store import Store\n\n\nclass Holder:\n    def __init__(self, store: Store):\n"
        "        self.store = store\n        self.own = Store()\n\n    def go(self):\n"
        "        self.own.put(1)\n        self.later(self.go)\n\n"
        "    def later(self, f): ...\n"
    )
    files = {
        "src/app/__init__.py": "from app.store import Store as Store\n",
        "src/app/store.py": store,
        "src/app/use.py": use,
        "src/app/hold.py": hold,
        "elsewhere/store.py": "def put(x): ...\n",
    }
    async with code(tmp_path, files) as index:
        assert await callers(index, "Base.put") == [
            "src/app/store.py:5 Store.get certain",
            "src/app/use.py:15 module certain",
            "src/app/hold.py:10 Holder.go likely",
            "src/app/use.py:6 typed likely",
            "src/app/use.py:11 made likely",
            "src/app/use.py:20 unknown possible",
        ]
        assert await callers(index, "elsewhere.store.put") == []
        assert "src/app/use.py:10 made certain" in await callers(index, "Store.open")
        assert await callers(index, "Holder.go") == ["src/app/hold.py:11 Holder.go certain"]
        used = [c.split()[0] for c in await callers(index, "app.store.Store")]
        assert {"src/app/use.py:5", "src/app/use.py:10", "src/app/hold.py:7"} <= set(used)
        assert [index.code.symbol(r).qualified for r in pick(index.code, "src/app/hold.py:10")] == ["Holder.go"]
        assert pick(index.code, "nothing") == []


LANGUAGES = {
    "script": (
        {
            "a.ts": (
                "export function help(x: number) { return x; }\n"
                "export class Store { put(x: number) { return help(x); } }\n"
            ),
            "b.ts": (
                "import { help as h, Store } from './a';\nimport * as all from './a';\n"
                "function one() { return h(1); }\nfunction two(s: Store) { return s.put(all.help(2)); }\n"
            ),
            "index.js": "const { help } = require('./a');\nconst three = () => help(3);\n",
        },
        {
            "help": [
                "a.ts:2 Store.put certain",
                "b.ts:3 one certain",
                "b.ts:4 two certain",
                "index.js:2 three certain",
            ],
            "Store.put": ["b.ts:4 two likely"],
        },
    ),
    "go": (
        {
            "go.mod": "module example.com/m\n",
            "main.go": (
                'package main\nimport "example.com/m/util"\ntype Server struct { store *util.Store }\n'
                "func (s *Server) Run() { util.Help(); s.store.Put(); local() }\n"
            ),
            "other.go": "package main\nfunc local() {}\n",
            "util/util.go": "package util\ntype Store struct {}\nfunc (s *Store) Put() { Help() }\nfunc Help() {}\n",
        },
        {
            "Help": ["main.go:4 Server.Run certain", "util/util.go:3 Store.Put certain"],
            "Store.Put": ["main.go:4 Server.Run likely"],
            "local": ["main.go:4 Server.Run certain"],
        },
    ),
    "rust": (
        {
            "src/lib.rs": (
                "mod store;\nuse crate::store::{Store, help};\n"
                "pub fn run(s: &Store) { s.put(); help(); let t = Store::open(); t.put(); }\n"
            ),
            "src/store.rs": (
                "pub struct Store {}\nimpl Store {\n  pub fn open() -> Self { Store {} }\n"
                "  pub fn put(&self) { self.inner(); }\n  fn inner(&self) {}\n}\npub fn help() {}\n"
            ),
        },
        {
            "help": ["src/lib.rs:3 run certain"],
            "Store.put": ["src/lib.rs:3 run likely"],
            "Store.inner": ["src/store.rs:4 Store.put certain"],
            "Store::open": ["src/lib.rs:3 run certain"],
        },
    ),
    "java": (
        {
            "a/b/Store.java": (
                "package a.b;\npublic class Store {\n  void put() { check(); }\n  void check() {}\n"
                "  static void make() {}\n}\n"
            ),
            "a/c/Use.java": (
                "package a.c;\nimport a.b.Store;\nclass Use {\n  Store store;\n"
                "  void go() { store.put(); Store.make(); }\n}\n"
            ),
        },
        {
            "Store.put": ["a/c/Use.java:5 Use.go likely"],
            "Store.check": ["a/b/Store.java:3 Store.put certain"],
            "Store.make": ["a/c/Use.java:5 Use.go certain"],
        },
    ),
    "c": (
        {
            "util.h": "int help(int x);\n",
            "util.c": '#include "util.h"\nint help(int x) { return x; }\n',
            "main.c": '#include "util.h"\nstatic int own(void) { return help(1); }\nint main(void) { return own(); }\n',
            "shape.hpp": "class Shape {\n public:\n  int area();\n  int twice();\n};\n",
            "shape.cpp": (
                '#include "shape.hpp"\nint Shape::area() { return 1; }\n'
                "int Shape::twice() { return this->area() * 2; }\n"
                "int use(Shape &s) { return s.twice(); }\n"
            ),
        },
        {
            "help": ["main.c:2 own likely"],
            "own": ["main.c:3 main certain"],
            "Shape.area": ["shape.cpp:3 Shape.twice certain"],
            "Shape::twice": ["shape.cpp:4 use likely"],
        },
    ),
}


@pytest.mark.parametrize("language", LANGUAGES)
async def test_other_languages(tmp_path: Path, language: str) -> None:
    pytest.importorskip("tree_sitter_rust", reason="the grammars are not installed (pip install 'gongfu[code]')")
    files, wanted = LANGUAGES[language]
    async with code(tmp_path, files) as index:
        assert {name: await callers(index, name) for name in wanted} == wanted


async def test_impact_goes_step_by_step_to_the_tests(tmp_path: Path) -> None:
    files = {
        "low.py": "def low(): ...\n\n\ndef free(): ...\n",
        "mid.py": "from low import low\n\n\ndef mid():\n    def inner():\n        return low()\n    return inner()\n",
        "high.py": "from mid import mid\n\n\nclass High:\n    def go(self):\n        return mid()\n",
        "tests/test_high.py": "from high import High\n\n\ndef test_go():\n    assert High().go()\n",
        "tests/test_other.py": "def test_nothing(): ...\n",
    }
    async with code(tmp_path, files) as index:
        found = await index.impact("low.low")
        assert found.files == ("high.py", "mid.py", "tests/test_high.py")
        assert found.tests == ("tests/test_high.py",)
        assert [(r.path, r.depth) for r in found.reached if r.ref is None or "test" in r.path] == [
            ("tests/test_high.py", 3)
        ]
        assert (await index.impact("low.low", depth=1)).files == ("mid.py",)
        assert (await index.impact("low.free")).files == ()
        assert (await index.impact("low.py")).tests == ("tests/test_high.py",)


def test_which_paths_are_tests() -> None:
    tests = [
        "tests/a.py",
        "a/test_b.py",
        "x_test.go",
        "a.spec.ts",
        "src/test/java/A.java",
        "FooTest.java",
        "__tests__/a.js",
    ]
    assert all(map(is_test, tests))
    assert not any(map(is_test, ["src/testimony.py", "src/latest/a.py", "contest.go", "Attest.java"]))


async def test_this_code_base(tmp_path: Path) -> None:
    for part in ("engine", "tools", "app"):
        shutil.copytree(REPOSITORY / "src/gongfu" / part, tmp_path / "src/gongfu" / part)
    shutil.copytree(REPOSITORY / "tests/tools", tmp_path / "tests/tools")
    put(tmp_path, "src/gongfu/__init__.py", (REPOSITORY / "src/gongfu/__init__.py").read_bytes())
    subprocess.run(["git", "init", "-q", tmp_path], check=True)
    index = open_index(tmp_path.resolve(), None)
    found = await callers(index, "gongfu.engine.turn.run_turn")
    assert [c for c in found if c.startswith("src/gongfu/engine/runner.py") and c.endswith("certain")]
    impact = await index.impact("gongfu.tools.registry.Registry", depth=2)
    assert {"src/gongfu/app/equip.py", "src/gongfu/engine/dispatch.py"} <= set(impact.files)
    assert "tests/tools/test_disclosure.py" in impact.tests
    calls = {
        index.code.symbol(e.other).qualified for e in await index.callees("gongfu.engine.turn.run_turn") if e.other
    }
    assert {"Ending", "Words.add", "Dispatcher.run"} <= calls
    docs = await index.module_doc("gongfu.tools.registry")
    assert docs[0].name == "gongfu.tools.registry"
    assert "Registry" in [e.symbol.name for e in docs[0].entries]
    matches, _ = await index.find("runTurn")
    assert index.code.symbol(matches[0].ref).qualified == "run_turn"
