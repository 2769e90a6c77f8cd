"""What is read of one file in each language: symbols with their places, imports, calls; and of files in bad shape."""

from __future__ import annotations

import os

import pytest

from gongfu.knowledge.languages import language_of, refine, why_skipped
from gongfu.knowledge.model import Facts, pack, unpack
from gongfu.knowledge.parse import parse

needs_grammars = pytest.mark.usefixtures("_grammars")


@pytest.fixture
def _grammars() -> None:
    try:
        import tree_sitter_rust  # noqa: F401
    except ImportError:
        if os.environ.get("CI"):
            raise
        pytest.skip("the grammars are not installed (pip install 'gongfu[code]')")


def read(name: str, source: str | bytes) -> Facts:
    raw = source.encode() if isinstance(source, str) else source
    facts = parse(name, language_of(name), raw)
    assert unpack(pack(facts)) == facts
    return facts


def symbols(facts: Facts) -> list[str]:
    return [
        f"{s.line}-{s.end} {s.kind} {s.qualified}{s.signature if s.kind in ('function', 'method') else ''}"
        for s in facts.symbols
    ]


def calls(facts: Facts) -> set[str]:
    return {f"{u.receiver + '.' if u.receiver else ''}{u.name}" for u in facts.uses if u.call}


def imports(facts: Facts) -> set[tuple[str, str, str]]:
    return {(i.alias, i.module, i.name) for i in facts.imports}


PYTHON = '''"""What it is for."""
import os.path as p
from .near import one as two, three
LIMIT: int = 3
class Base(Other, metaclass=M):
    """A base.

    More."""
    field: str = ""
    async def go(self, a: int, *, b: str = "x") -> "Base":
        """Goes."""
        self.store = Store()
        return await self.store.put(two(a))
    @property
    def _hidden(self): ...
def outer(items):
    def inner(x): return three(x)
    return [inner(i) for i in items]
'''


def test_python() -> None:
    facts = read("a.py", PYTHON)
    assert facts.doc == "What it is for."
    assert symbols(facts) == [
        "4-4 constant LIMIT",
        "5-15 class Base",
        "9-9 field Base.field",
        "10-13 method Base.go(self, a: int, *, b: str='x') -> 'Base'",
        "15-15 method Base._hidden(self)",
        "16-18 function outer(items)",
        "17-17 function outer.inner(x)",
    ]
    base = next(s for s in facts.symbols if s.name == "Base")
    assert (base.doc, base.bases, base.types["self.store"]) == ("A base.", ("Other",), "Store")
    assert {s.name for s in facts.symbols if not s.public} == {"_hidden", "inner"}
    assert imports(facts) == {("p", "os.path", ""), ("two", ".near", "one"), ("three", ".near", "three")}
    assert {"Store", "self.store.put", "two", "three", "inner"} <= calls(facts)


@pytest.mark.parametrize("codec", ["gbk", "utf-8-sig", "utf-16", "latin-1"])
def test_python_in_other_encodings(codec: str) -> None:
    words = "价格" if codec != "latin-1" else "café"
    line = "" if codec in ("utf-8-sig", "utf-16") else f"# -*- coding: {codec} -*-\n"
    facts = read("a.py", f'{line}def f():\n    """{words}"""\n'.encode(codec))
    assert [(s.name, s.doc) for s in facts.symbols] == [("f", words)]


def test_of_python_that_does_not_parse_what_can_be_read_is() -> None:
    source = (
        "import os\n\ndef good(a):\n    return os.getcwd()\n\nclass Bad:\n    def broken(self, x:\n"
        "        return 1\n\n\n@wrap\ndef fine():\n    return good(1)\n"
    )
    facts = read("a.py", source)
    names = {s.qualified: s.line for s in facts.symbols}
    assert facts.errors >= 1
    assert names == {"good": 3, "Bad": 6, "Bad.broken": 7, "fine": 12}
    assert "good" in calls(facts)
    assert symbols(read("b.py", "print 'old'\ndef f(): pass\n")) == ["2-2 function f()"]
    assert {s.name for s in read("c.py", "x = (\n" * 3 + "def f(a, b):\n  pass\n").symbols} == {"f"}


@needs_grammars
def test_javascript() -> None:
    facts = read(
        "a.js",
        "// What it is for.\nimport def, {a as b} from './x.js';\nimport * as ns from './y';\n"
        "const {r} = require('./z');\n\n"
        "/** Greets. */\nexport function greet(name, n = 1) {\n  return b(name) + ns.q(r());\n}\n"
        "const helper = (x) => greet(x);\n"
        "export class A extends B {\n  #p() { this.m(); }\n  m() { new C(); }\n}\nexport * from './w';\n",
    )
    assert facts.doc == "What it is for."
    assert symbols(facts) == [
        "7-9 function greet(name, n = 1)", "10-10 function helper(x)", "11-14 class A", "12-12 method A.#p()",
        "13-13 method A.m()",
    ]  # fmt: skip
    assert facts.symbols[0].doc == "Greets."
    assert facts.symbols[2].bases == ("B",)
    assert calls(facts) == {"require", "b", "ns.q", "r", "greet", "this.m", "C"}
    assert imports(facts) == {
        ("def", "./x.js", "default"), ("b", "./x.js", "a"), ("ns", "./y", ""), ("r", "./z", "r"), ("", "./w", "*")
    }  # fmt: skip


@needs_grammars
def test_typescript() -> None:
    facts = read(
        "a.tsx",
        "import React from 'react';\ninterface P { name: string; go(): void }\nexport type T = P | null;\n"
        "enum E { A }\n"
        "abstract class K<T> extends Base<T> implements P {\n  private x: Store;\n"
        "  g(a: number): string { return this.x.save(a); }\n}\n"
        "// The page.\nexport const App = ({p}: P): JSX.Element => <Item a={1}/>;\n"
        "namespace N { export function inner() {} }\n",
    )
    assert symbols(facts) == [
        "2-2 interface P", "2-2 field P.name", "2-2 method P.go(): void", "3-3 type T", "4-4 enum E", "5-8 class K",
        "7-7 method K.g(a: number): string", "10-10 function App({p}: P): JSX.Element", "11-11 module N",
        "11-11 function N.inner()",
    ]  # fmt: skip
    assert (facts.symbols[5].bases, facts.symbols[5].types) == (("Base", "P"), {"self.x": "Store"})
    assert facts.symbols[7].doc == "The page."
    assert calls(facts) == {"this.x.save", "Item"}


@needs_grammars
def test_go() -> None:
    facts = read(
        "a.go",
        '// Package main does.\npackage main\nimport (\n "fmt"\n z "example.com/a/util"\n)\n'
        "// Server serves.\ntype Server struct { store *Store }\n"
        "type I interface { Do(x int) error }\nconst Max = 3\nvar (\n a = 1\n)\n// Run it.\n"
        "func (s *Server) Run(n int) error { s.store.Get(); z.Help(); return start() }\n"
        "func start() error { fmt.Println(Max); return nil }\n",
    )
    assert facts.doc == "Package main does."
    assert symbols(facts) == [
        "8-8 struct Server", "9-9 interface I", "9-9 method I.Do(x int) error", "10-10 constant Max",
        "12-12 variable a",
        "15-15 method Server.Run(n int) error", "16-16 function start() error",
    ]  # fmt: skip
    run = facts.symbols[5]
    assert (run.doc, run.types["s"], run.public, facts.symbols[6].public) == ("Run it.", "Server", True, False)
    assert imports(facts) == {("fmt", "fmt", ""), ("z", "example.com/a/util", "")}
    assert calls(facts) == {"s.store.Get", "z.Help", "start", "fmt.Println"}


@needs_grammars
def test_rust() -> None:
    facts = read(
        "a.rs",
        "//! The crate.\nuse std::{fmt, io::{self, Read as R}};\nuse crate::store::*;\n/// A point.\n"
        "#[derive(Debug)]\npub struct Point<T> { x: T, s: Store }\n"
        "impl<T> Point<T> {\n  /// New one.\n  pub fn new(x: T) -> Self { Store::open(); Self { x } }\n"
        "  fn go(&self) { self.s.put(); helper(1); }\n}\n"
        'pub trait Shape { fn area(&self) -> f64; }\nfn helper(a: i32) -> i32 { println!("x"); a }\n'
        "mod inner { pub fn deep() {} }\n",
    )
    assert facts.doc == "The crate."
    assert symbols(facts) == [
        "6-6 struct Point", "9-9 method Point.new(x: T) -> Self", "10-10 method Point.go(&self)", "12-12 trait Shape",
        "12-12 method Shape.area(&self) -> f64", "13-13 function helper(a: i32) -> i32", "14-14 module inner",
        "14-14 function inner.deep()",
    ]  # fmt: skip
    assert [s.doc for s in facts.symbols[:2]] == ["A point.", "New one."]
    assert imports(facts) == {
        ("fmt", "std", "fmt"), ("io", "std", "io"), ("R", "std::io", "Read"), ("", "crate::store", "*")
    }  # fmt: skip
    assert calls(facts) == {"Store.open", "self.s.put", "helper", "println"}


@needs_grammars
def test_java() -> None:
    facts = read(
        "Foo.java",
        "package a.b;\nimport java.util.List;\nimport static a.b.C.run;\n/** Doc here. */\n"
        "public class Foo extends Bar implements Baz<X> {\n"
        "  public static final int MAX = 3;\n  private Store store;\n  /** Makes. */\n"
        "  public Foo(int a) { store.put(a); run(); }\n"
        "  List<String> names(String q) { return new Helper().all(q); }\n  enum Color { RED }\n}\n",
    )
    assert symbols(facts) == [
        "5-12 class Foo", "6-6 constant Foo.MAX", "7-7 field Foo.store", "9-9 method Foo.Foo(int a)",
        "10-10 method Foo.names(String q) -> List<String>", "11-11 enum Foo.Color", "11-11 constant Foo.Color.RED",
    ]  # fmt: skip
    assert (facts.symbols[0].bases, facts.symbols[0].doc, facts.symbols[3].doc) == (
        ("Bar", "Baz"),
        "Doc here.",
        "Makes.",
    )
    assert imports(facts) == {("List", "java.util", "List"), ("run", "a.b.C", "run")}
    assert {"store.put", "run", "Helper"} <= calls(facts)


@needs_grammars
def test_c_and_cpp() -> None:
    facts = read(
        "a.c",
        '/* What it is for. */\n#include <stdio.h>\n#include "util.h"\n#define MAX 10\n'
        "#define SQ(x) ((x)*(x))\nstruct node { int v; };\n"
        "int add(int a, int b);\n/* Subtracts. */\nstatic int sub(int a, int b) { return add(a, -b); }\n"
        "char *dup(const char *s) { return SQ(sub(1,2)); }\n",
    )
    assert [s.split(" ", 1)[1] for s in symbols(facts)] == [
        "constant MAX", "macro SQ", "struct node", "function add(int a, int b) -> int",
        "function sub(int a, int b) -> int", "function dup(const char *s) -> char",
    ]  # fmt: skip
    assert [s.name for s in facts.symbols if s.declared] == ["add"]
    assert (facts.symbols[4].doc, facts.symbols[4].public) == ("Subtracts.", False)
    assert calls(facts) == {"add", "SQ", "sub"}
    header = (
        b"namespace ns {\nclass Foo : public Bar {\n public:\n  int get() const { return help(); }\n"
        b"  void set(int v);\n};\nvoid Foo::set(int v) { this->get(); }\n}\n"
    )
    assert refine("c", header) == "cpp"
    facts = read("a.h", header)
    assert symbols(facts) == [
        "1-8 module ns", "2-6 class ns.Foo", "4-4 method ns.Foo.get() const -> int",
        "5-5 method ns.Foo.set(int v) -> void",
        "7-7 method ns.Foo.set(int v) -> void",
    ]  # fmt: skip
    assert calls(facts) == {"help", "this.get"}


@pytest.mark.parametrize(
    ("name", "raw", "why"),
    [
        ("a.js", b"x" * (1 << 20) + b"yy", "huge"),
        ("a.min.js", b"var a=1", "minified"),
        ("b.js", b"f(1);" * 5_000, "minified"),
        ("a.go", b"// Code generated by protoc. DO NOT EDIT.\npackage a\n", "generated"),
        ("a_pb2.py", b"x = 1\n", "generated"),
        ("a.py", b"x = " + b"(" * 5_000 + b")" * 5_000, "minified"),
        ("b.py", b"x = " + b"\n".join([b"("] * 500) + b"\n" + b"\n".join([b")"] * 500), "deep"),
        ("c.py", b"# an emoticon :( is fine\n" * 50, ""),
        ("d.py", b"\0\1\2\3binary", ""),
    ],
)
def test_what_is_left_out(name: str, raw: bytes, why: str) -> None:
    assert why_skipped(name, raw) == why


def test_what_is_no_text_is_no_error() -> None:
    assert read("d.py", b"\0\1\2\3binary").problem == "binary"
    assert read("e.py", b"").symbols == ()
    assert read("f.py", b"# coding: hex\nx = 1\n").problem == ""
    assert read("g.py", "x = " + "-" * 30_000 + "1\n").problem in ("", "failed", "minified")
