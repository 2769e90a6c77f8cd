"""Symbols, imports and uses of a Python file, by the parser of the standard library."""

from __future__ import annotations

import ast
import re
import warnings
from collections.abc import Iterator
from typing import TypeAlias

from gongfu.knowledge.model import Facts, Import, Kind, Symbol, Use, first_paragraph, one_line

_Function: TypeAlias = ast.FunctionDef | ast.AsyncFunctionDef
_TRIES = 12
_DEFINITION = re.compile(r"^([ \t]*)(?:async[ \t]+)?(def|class)[ \t]+(\w+)[ \t]*(\([^)\n]*\)?)?", re.MULTILINE)
_NAME = re.compile(r"[A-Za-z_]\w*(?:\.\w+)*")
_CONSTANT = re.compile(r"_*[A-Z][A-Z0-9_]*")


def read_python(text: str) -> Facts:
    """What a Python source says; where parts of it do not parse, what the others say and the names in those."""
    lines = text.count("\n") + (not text.endswith("\n"))
    tree, broken, errors = _parse(text)
    reader = _Reader()
    if tree is not None:
        reader.read(tree)
    for symbol in broken:
        reader.symbols.append(symbol)
    doc = ast.get_docstring(tree) or "" if tree is not None else ""
    return Facts(
        language="python", lines=lines, doc=doc[:2_000], symbols=tuple(reader.symbols), uses=reader.telling_uses(),
        imports=tuple(reader.imports), errors=errors,
    )  # fmt: skip


def _parse(text: str) -> tuple[ast.Module | None, list[Symbol], int]:
    """The tree; where a statement does not parse it is left out, and its definitions are found by their first lines."""
    broken: list[Symbol] = []
    for errors in range(_TRIES):
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # of the code that is read, not of ours
                return ast.parse(text), broken, errors
        except SyntaxError as error:
            lines = text.split("\n")
            first, last = _statement(lines, (error.lineno or 1) - 1)
            broken += _by_lines("\n".join(lines[first:last]), first)
            lines[first:last] = [""] * (last - first)
            text = "\n".join(lines)
        except (RecursionError, MemoryError, ValueError):
            break
    return None, [*broken, *_by_lines(text, 0)], _TRIES


def _statement(lines: list[str], at: int) -> tuple[int, int]:
    """The lines of the outermost statement at line `at`: from one that is not indented up to the next such one."""
    at = min(max(at, 0), len(lines) - 1)
    first = at
    while first > 0 and not _starts(lines[first]):
        first -= 1
    while first > 0 and lines[first - 1].startswith("@"):
        first -= 1
    last = max(at, first) + 1
    while last < len(lines) and (not _starts(lines[last]) or (lines[last - 1].startswith("@") and last - 1 <= at)):
        last += 1
    if not any(line.strip() for line in lines[first:last]):  # the error is told of an empty place: all of it
        return 0, len(lines)
    return first, last


def _starts(line: str) -> bool:
    return bool(line) and line[0] not in " \t#)]}\r\f"


def _by_lines(text: str, offset: int) -> list[Symbol]:
    """Definitions in text that does not parse, by what their lines look like."""
    found: list[Symbol] = []
    around: list[tuple[int, str, bool]] = []
    for match in _DEFINITION.finditer(text):
        depth = len(match[1].expandtabs())
        while around and around[-1][0] >= depth:
            around.pop()
        inside = around[-1] if around else (0, "", False)
        kind: Kind = "class" if match[2] == "class" else "method" if inside[2] else "function"
        qualified = f"{inside[1]}.{match[3]}" if inside[1] else match[3]
        line = text.count("\n", 0, match.start()) + 1 + offset
        signature = one_line(match[4] or "") if kind != "class" else ""
        found.append(
            Symbol(match[3], qualified, kind, line, line, signature, public=not match[3].startswith("_"))
        )  # fmt: skip
        around.append((depth, qualified, kind == "class"))
        if len(found) == 5_000:
            break
    return found


class _Reader:
    """Goes through a tree without recursion: what is deep costs no stack."""

    def __init__(self) -> None:
        self.symbols: list[Symbol] = []
        self.imports: list[Import] = []
        self.uses: list[Use] = []
        self._types: list[dict[str, str]] = []
        self._locals: dict[int, set[str]] = {}
        self._exported: frozenset[str] | None = None

    def read(self, tree: ast.Module) -> None:
        self._exported = _all_of(tree)
        waiting: list[tuple[ast.AST, int, bool]] = [(node, -1, True) for node in reversed(tree.body)]
        while waiting:
            node, inside, own = waiting.pop()
            inner = self._symbol(node, inside) if own else inside
            self._look(node, inner)
            block = isinstance(node, _BLOCKS)
            waiting.extend(
                (child, inner, (block and isinstance(child, ast.stmt)) or isinstance(child, _PARTS))
                for child in reversed(list(ast.iter_child_nodes(node)))
            )

    # --- symbols ----------------------------------------------------------------------------------------------------

    def _symbol(self, node: ast.AST, inside: int) -> int:
        """The index of the symbol that a node makes, else that of the one around it."""
        match node:
            case ast.ClassDef():
                bases = tuple(name for base in node.bases if (name := _dotted(base)))
                words = [*map(_source, node.bases), *(f"{k.arg}={_source(k.value)}" for k in node.keywords if k.arg)]
                signature = f"({', '.join(words)})" if words else ""
                return self._add(node.name, "class", node, inside, one_line(signature), _doc(node), bases)
            case ast.FunctionDef() | ast.AsyncFunctionDef():
                kind: Kind = "method" if inside >= 0 and self.symbols[inside].kind == "class" else "function"
                index = self._add(node.name, kind, node, inside, one_line(_signature(node)), _doc(node))
                self._types[index].update(_argument_types(node))
                return index
            case ast.Assign() | ast.AnnAssign():
                self._assigned(node, inside)
            case _ if type(node).__name__ == "TypeAlias":  # from Python 3.12 on
                name = getattr(getattr(node, "name", None), "id", "")
                if name:
                    self._add(name, "type", node, inside, "")
            case _:
                pass
        return inside

    def _assigned(self, node: ast.Assign | ast.AnnAssign, inside: int) -> None:
        around = self.symbols[inside].kind if inside >= 0 else ""
        targets = node.targets if isinstance(node, ast.Assign) else [node.target]
        if around in ("function", "method"):
            return
        for target in targets:
            if isinstance(target, ast.Name):
                self._add(target.id, _value_kind(target.id, node, around), node, inside, _value(node))

    def _add(  # noqa: PLR0917 - the fields of a symbol
        self, name: str, kind: Kind, node: ast.AST, inside: int, signature: str, doc: str = "",
        bases: tuple[str, ...] = (),
    ) -> int:  # fmt: skip
        around = self.symbols[inside] if inside >= 0 else None
        qualified = f"{around.qualified}.{name}" if around else name
        public = not name.startswith("_") or (name.startswith("__") and name.endswith("__"))
        if around is not None:
            public = public and around.public and around.kind == "class"
        elif self._exported is not None:
            public = name in self._exported
        types: dict[str, str] = {}
        self._types.append(types)
        line = getattr(node, "lineno", 1)
        end = getattr(node, "end_lineno", None) or line
        self.symbols.append(
            Symbol(name, qualified, kind, line, end, signature, doc, inside, bases, types, public)
        )  # fmt: skip
        return len(self.symbols) - 1

    # --- uses -------------------------------------------------------------------------------------------------------

    def _look(self, node: ast.AST, inner: int) -> None:
        match node:
            case ast.Call(func=ast.Name(id=name)):
                self._use(name, "", node, inner, call=True)
            case ast.Call(func=ast.Attribute(attr=name, value=value)):
                self._use(name, _receiver(value), node, inner, call=True)
            case ast.Attribute(attr=name, value=value, ctx=ast.Load()):
                receiver = _dotted(value)
                if receiver:
                    self._use(name, receiver, node, inner, call=False)
            case ast.Name(id=name, ctx=ast.Load()):
                self._use(name, "", node, inner, call=False)
            case ast.Name(id=name):
                self._own(name, inner)
            case ast.arg(arg=name, annotation=annotation):
                self._own(name, inner)
                if annotation is not None:
                    self._quoted(annotation, inner)
            case ast.Import() | ast.ImportFrom():
                self._import(node)
            case _:
                self._note_types(node, inner)

    def _import(self, node: ast.Import | ast.ImportFrom) -> None:
        for alias in node.names:
            if isinstance(node, ast.ImportFrom):
                module = "." * node.level + (node.module or "")
                self.imports.append(Import(alias.asname or alias.name, module, alias.name, node.lineno))
            elif alias.asname:
                self.imports.append(Import(alias.asname, alias.name, "", node.lineno))
            else:
                for local in dict.fromkeys((alias.name.partition(".")[0], alias.name)):
                    self.imports.append(Import(local, local, "", node.lineno))

    def _note_types(self, node: ast.AST, inner: int) -> None:
        match node:
            case ast.Assign(targets=[target], value=value):
                self._typed(target, _made(value), inner)
            case ast.AnnAssign(target=target, annotation=annotation):
                self._typed(target, _named(annotation), inner)
            case ast.With() | ast.AsyncWith():
                for item in node.items:
                    if item.optional_vars is not None:
                        self._typed(item.optional_vars, _made(item.context_expr), inner)
            case _:
                pass

    def _own(self, name: str, inside: int) -> None:
        """A function has a variable of its own that is called so."""
        if inside >= 0 and self.symbols[inside].kind != "class":
            self._locals.setdefault(inside, set()).add(name)

    def _is_local(self, name: str, inside: int) -> bool:
        while inside >= 0:
            if name in self._locals.get(inside, ()):
                return True
            inside = self.symbols[inside].parent
        return False

    def _quoted(self, annotation: ast.expr, inside: int) -> None:
        """Names in an annotation that is written as a string."""
        if isinstance(annotation, ast.Constant) and isinstance(annotation.value, str):
            for match in _NAME.finditer(annotation.value[:500]):
                self._use(match[0].rpartition(".")[2], match[0].rpartition(".")[0], annotation, inside, call=False)

    def _use(self, name: str, receiver: str, node: ast.expr, inside: int, *, call: bool) -> None:
        end = node.func.end_lineno if isinstance(node, ast.Call) else None  # of a chain, where this name stands
        self.uses.append(Use(name, receiver, end or node.lineno, inside, call))

    def _typed(self, target: ast.expr, type_name: str, inside: int) -> None:
        """Remember the type of a variable where it holds: `self.x` for the class, others for the function."""
        name = _dotted(target)
        if not type_name or not name or inside < 0:
            return
        holder = inside
        if name.startswith("self."):
            while holder >= 0 and self.symbols[holder].kind != "class":
                holder = self.symbols[holder].parent
        elif self.symbols[holder].kind == "class":
            name = f"self.{name}"
        elif "." in name:
            return
        if holder >= 0:
            self._types[holder].setdefault(name, type_name)

    def telling_uses(self) -> tuple[Use, ...]:
        """Calls, and other uses of names that the file defines or imports; those of one line once."""
        known = {s.name for s in self.symbols if s.parent < 0 or self.symbols[s.parent].kind != "class"}
        known |= {i.alias for i in self.imports}
        called = {(u.name, u.receiver, u.line, u.inside) for u in self.uses if u.call}
        found: dict[tuple[str, str, int, int, bool], Use] = {}
        for use in self.uses:
            place = (use.name, use.receiver, use.line, use.inside)
            if not use.receiver and self._is_local(use.name, use.inside):
                continue
            head = use.receiver.partition(".")[0] or use.name
            if use.call or ((head in known or use.receiver in ("self", "cls")) and place not in called):
                found.setdefault((*place, use.call), use)
        return tuple(sorted(found.values(), key=lambda u: u.line))


_DEFINITIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
_PARTS = (ast.ExceptHandler, ast.match_case)
_BLOCKS = (
    *_DEFINITIONS, ast.If, ast.Try, ast.TryStar, ast.With, ast.AsyncWith, ast.For, ast.AsyncFor, ast.While, ast.Match,
    *_PARTS,
)  # fmt: skip


def _arguments(node: _Function) -> Iterator[ast.arg]:
    arguments = node.args
    yield from (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs)
    yield from filter(None, (arguments.vararg, arguments.kwarg))


def _argument_types(node: _Function) -> dict[str, str]:
    return {a.arg: t for a in _arguments(node) if a.annotation is not None and (t := _named(a.annotation))}


def _all_of(tree: ast.Module) -> frozenset[str] | None:
    """The names in `__all__`; None when there is none that can be read."""
    for node in tree.body:
        match node:
            case ast.Assign(targets=[ast.Name(id="__all__")], value=ast.List(elts=items) | ast.Tuple(elts=items)):
                return frozenset(i.value for i in items if isinstance(i, ast.Constant) and isinstance(i.value, str))
            case _:
                pass
    return None


def _doc(node: _Function | ast.ClassDef) -> str:
    match node.body[0]:
        case ast.Expr(value=ast.Constant(value=str(text))):
            return first_paragraph(text)
        case _:
            return ""


def _signature(node: _Function) -> str:
    result = f" -> {_source(node.returns)}" if node.returns is not None else ""
    return f"({_source(node.args)}){result}"


def _source(node: ast.AST | None) -> str:
    try:
        return ast.unparse(node) if node is not None else ""
    except (RecursionError, ValueError):
        return "…"


def _value(node: ast.Assign | ast.AnnAssign) -> str:
    kind = f": {_source(node.annotation)}" if isinstance(node, ast.AnnAssign) else ""
    short = isinstance(node.value, ast.Constant | ast.Name | ast.Attribute | ast.UnaryOp)
    value = f" = {_source(node.value)}" if node.value is not None and short else ""
    return one_line(f"{kind}{value}", 100)


def _value_kind(name: str, node: ast.Assign | ast.AnnAssign, around: str) -> Kind:
    if isinstance(node, ast.AnnAssign) and "TypeAlias" in _source(node.annotation):
        return "type"
    if isinstance(node.value, ast.Call) and _dotted(node.value.func).endswith(("TypeVar", "NewType", "ParamSpec")):
        return "type"
    if _CONSTANT.fullmatch(name) is not None:
        return "constant"
    return "field" if around == "class" else "variable"


def _dotted(node: ast.AST) -> str:
    """`a.b.c` as text; "" for what is no chain of names (deeper than anybody writes included)."""
    parts: list[str] = []
    while isinstance(node, ast.Attribute) and len(parts) < 16:
        parts.append(node.attr)
        node = node.value
    if isinstance(node, ast.Subscript) and not parts:
        return _dotted(node.value) if isinstance(node.value, ast.Name | ast.Attribute) else ""
    return ".".join(reversed([*parts, node.id])) if isinstance(node, ast.Name) else ""


def _receiver(node: ast.expr) -> str:
    """What a method is called on: a chain of names, `Name()` for what a call gives, `?` for anything else."""
    if isinstance(node, ast.Call):
        inner = _dotted(node.func)
        return f"{inner}()" if inner else "?"
    return _dotted(node) or "?"


def _named(annotation: ast.expr) -> str:
    """The class that an annotation names, `X | None` and `Optional[X]` included; "" for others."""
    match annotation:
        case ast.Name() | ast.Attribute():
            return _dotted(annotation)
        case ast.Constant(value=str(text)):
            name = text.removesuffix("| None").strip()
            return name if _NAME.fullmatch(name) is not None else ""
        case ast.BinOp(left=left, op=ast.BitOr(), right=ast.Constant(value=None)):
            return _named(left)
        case ast.Subscript(value=value, slice=inner) if _dotted(value).rpartition(".")[2] in ("Optional", "Final"):
            return _named(inner)
        case ast.Subscript(value=value):
            return _dotted(value)
        case _:
            return ""


def _made(value: ast.expr) -> str:
    """The class that an expression makes an object of, as far as its text tells: `X(...)` and `X.open(...)`."""
    if isinstance(value, ast.Await):
        value = value.value
    if not isinstance(value, ast.Call):
        return ""
    name = _dotted(value.func)
    last = name.rpartition(".")
    if last[2][:1].isupper():
        return name
    return last[0] if last[0].rpartition(".")[2][:1].isupper() else f"{name}()" if name else ""
