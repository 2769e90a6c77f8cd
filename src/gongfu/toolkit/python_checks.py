"""What can be seen in the syntax tree of a Python file that a reviewer would remark on."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from typing import Literal, TypeAlias, cast

from gongfu.core.base import Base

Severity = Literal["high", "medium", "low"]
Function: TypeAlias = ast.FunctionDef | ast.AsyncFunctionDef
_BRANCHES = (
    ast.If, ast.For, ast.AsyncFor, ast.While, ast.ExceptHandler, ast.IfExp, ast.comprehension, ast.Assert,
    ast.match_case,
)  # fmt: skip
_COMPLEX = 12
_LONG = 80  # lines
_MANY = 7  # parameters
_DEEP = 5
_FILE = 800  # lines
_SCOPES = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Lambda)


class Remark(Base, frozen=True):
    """One remark. `last` is the last line that it is about, `shown` the file."""

    line: int
    severity: Severity
    what: str
    last: int = 0
    shown: str = ""

    def of(self, shown: str) -> Remark:
        """The same of a file."""
        return Remark(line=self.line, severity=self.severity, what=self.what, last=self.last, shown=shown)

    @property
    def span(self) -> frozenset[int]:
        """The lines that it is about."""
        return frozenset(range(self.line, max(self.line, self.last) + 1))


def remarks_on(text: str) -> list[Remark]:
    """Remarks on the text of a Python file, in the order of its lines."""
    try:
        tree = ast.parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        return [Remark(line=getattr(error, "lineno", 1) or 1, severity="high", what=f"cannot be read: {error}")]
    try:
        found = [*_nodes(tree), *_unused(tree, text), *_lines(text)]
    except RecursionError:
        return [Remark(line=1, severity="medium", what="nested too deeply to be reviewed")]
    return sorted(found, key=lambda remark: remark.line)


def _nodes(tree: ast.Module) -> Iterator[Remark]:
    for node in ast.walk(tree):
        match node:
            case ast.FunctionDef() | ast.AsyncFunctionDef():
                yield from _function(node)
            case ast.ExceptHandler():
                yield from _handler(node)
            case ast.Call(func=ast.Name(id="eval" | "exec" as name)):
                yield Remark(line=node.lineno, severity="high", what=f"{name}() runs whatever it is given")
            case ast.Call(func=ast.Name(id="breakpoint")) | ast.Call(func=ast.Attribute(attr="set_trace")):
                yield Remark(line=node.lineno, severity="high", what="a breakpoint was left in")
            case ast.Call():
                yield from _call(node)
            case ast.Compare():
                yield from _comparison(node)
            case ast.Assert(test=ast.Tuple(elts=[_, *_])):
                yield Remark(line=node.lineno, severity="high", what="assert of a tuple is always true")
            case _:
                pass


def _function(node: Function) -> Iterator[Remark]:
    last = node.end_lineno or node.lineno
    complexity = 1 + sum(_weight(inner) for inner in _own(node))
    length = last - node.lineno + 1
    if complexity > _COMPLEX:
        what = f"{node.name} has a complexity of {complexity} (more than {_COMPLEX})"
        yield Remark(line=node.lineno, last=last, severity="high" if complexity > 2 * _COMPLEX else "medium", what=what)
    if length > _LONG:
        what = f"{node.name} has {length} lines (more than {_LONG})"
        yield Remark(line=node.lineno, last=last, severity="medium", what=what)
    depth = _depth(node.body)
    if depth > _DEEP:
        what = f"{node.name} nests {depth} blocks (more than {_DEEP})"
        yield Remark(line=node.lineno, last=last, severity="medium", what=what)
    given = [*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs]
    count = len([a for a in given if a.arg not in ("self", "cls")])
    if count > _MANY:
        yield Remark(line=node.lineno, severity="low", what=f"{node.name} has {count} parameters (more than {_MANY})")
    for default in [*node.args.defaults, *(d for d in node.args.kw_defaults if d is not None)]:
        made = isinstance(default, ast.Call) and isinstance(default.func, ast.Name)
        if isinstance(default, ast.List | ast.Dict | ast.Set) or (
            made and isinstance(default, ast.Call) and ast.unparse(default.func) in ("list", "dict", "set")
        ):
            what = f"{node.name} has a mutable default, which all calls share"
            yield Remark(line=default.lineno, severity="high", what=what)


def _own(node: ast.AST) -> Iterator[ast.AST]:
    """What a function does itself: functions and classes inside are their own."""
    for child in ast.iter_child_nodes(node):
        if not isinstance(child, _SCOPES):
            yield child
            yield from _own(child)


def _weight(node: ast.AST) -> int:
    if isinstance(node, ast.BoolOp):
        return len(node.values) - 1
    return int(isinstance(node, _BRANCHES))


def _depth(body: list[ast.stmt]) -> int:
    deepest = 0
    for node in body:
        if isinstance(node, _SCOPES):
            continue
        blocks = [getattr(node, name, None) for name in ("body", "orelse", "finalbody")]
        blocks += [handler.body for handler in getattr(node, "handlers", [])]
        chain = isinstance(node, ast.If) and len(node.orelse) == 1 and isinstance(node.orelse[0], ast.If)
        for at, block in enumerate(blocks):
            if isinstance(block, list) and block:
                deepest = max(deepest, _depth(cast("list[ast.stmt]", block)) + (0 if chain and at == 1 else 1))
    return deepest


def _handler(node: ast.ExceptHandler) -> Iterator[Remark]:
    silent = all(
        isinstance(s, ast.Pass) or (isinstance(s, ast.Expr) and isinstance(s.value, ast.Constant)) for s in node.body
    )
    if node.type is None:
        yield Remark(line=node.lineno, severity="high", what="bare except catches even what ends the program")
    elif silent and isinstance(node.type, ast.Name) and node.type.id in ("Exception", "BaseException"):
        yield Remark(line=node.lineno, severity="high", what=f"except {node.type.id} goes on in silence")


def _call(node: ast.Call) -> Iterator[Remark]:
    words = {k.arg: k.value for k in node.keywords if k.arg}
    shell = words.get("shell")
    if isinstance(shell, ast.Constant) and shell.value is True:
        yield Remark(line=node.lineno, severity="medium", what="shell=True: what comes from outside could run there")
    verify = words.get("verify")
    if isinstance(verify, ast.Constant) and verify.value is False:
        yield Remark(line=node.lineno, severity="high", what="verify=False trusts any server")
    match node.func:
        case ast.Attribute(value=ast.Name(id="yaml"), attr="load") if "Loader" not in words and len(node.args) < 2:
            yield Remark(line=node.lineno, severity="high", what="yaml.load makes any object; safe_load does not")
        case ast.Attribute(value=ast.Name(id="pickle"), attr="load" | "loads"):
            yield Remark(line=node.lineno, severity="medium", what="pickle runs code of what it reads")
        case ast.Attribute(value=ast.Name(id="os"), attr="system"):
            yield Remark(line=node.lineno, severity="medium", what="os.system goes through a shell")
        case _:
            pass


def _comparison(node: ast.Compare) -> Iterator[Remark]:
    for op, right in zip(node.ops, node.comparators, strict=True):
        if isinstance(op, ast.Eq | ast.NotEq) and isinstance(right, ast.Constant) and right.value is None:
            yield Remark(line=node.lineno, severity="low", what="compare with None by `is`")
        value = right.value if isinstance(right, ast.Constant) else None
        if isinstance(op, ast.Is | ast.IsNot) and isinstance(value, str | int) and not isinstance(value, bool):
            yield Remark(line=node.lineno, severity="high", what="`is` with a literal compares identities")


def _unused(tree: ast.Module, text: str) -> Iterator[Remark]:
    """Imports at the top of a module that nothing names. An __init__ that only passes on names has none."""
    bound: dict[str, tuple[int, int]] = {}
    for node in tree.body:
        if isinstance(node, ast.Import | ast.ImportFrom) and getattr(node, "module", "") != "__future__":
            for alias in node.names:
                name = alias.asname or alias.name.partition(".")[0]
                passed_on = alias.asname == alias.name
                if name != "*" and not passed_on:
                    bound[name] = (node.lineno, node.end_lineno or node.lineno)
    used = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}
    words = {
        word
        for node in ast.walk(tree)
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and len(node.value) < 500
        for word in re.findall(r"\w+", node.value)
    }  # __all__, and types in quotes
    if len(tree.body) == sum(isinstance(n, ast.Import | ast.ImportFrom | ast.Expr) for n in tree.body):
        return
    lines = text.splitlines()
    for name, (line, last) in bound.items():
        if name not in used | words and not any("noqa" in row for row in lines[line - 1 : last]):
            yield Remark(line=line, last=last, severity="low", what=f"{name} is imported and not used")


def _lines(text: str) -> Iterator[Remark]:
    lines = text.splitlines()
    if len(lines) > _FILE:
        yield Remark(
            line=1, last=len(lines), severity="low", what=f"the file has {len(lines)} lines (more than {_FILE})"
        )
    for number, line in enumerate(lines, 1):
        if match := re.search(r"#.*?\b(TO[D]O|FIX[M]E|X{3}|HACK)\b:?(.{0,80})", line[:1000]):
            yield Remark(line=number, severity="low", what=f"left open: {match[1]}{match[2].rstrip()}")
        if re.match(r"(?:<{7}|={7}|>{7})(?: |$)", line):
            yield Remark(line=number, severity="high", what="a mark of a merge conflict")
