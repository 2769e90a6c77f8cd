"""The tools on the index of code: search_symbols, code_index, symbols, callers, callees, impact, module_docs."""

from __future__ import annotations

import posixpath
from collections import Counter
from collections.abc import Callable
from typing import Any, Literal, TypeVar

from gongfu.core.display import text_display
from gongfu.core.errors import ToolFailure
from gongfu.knowledge.code import Ref
from gongfu.knowledge.docs import files_of, module_doc
from gongfu.knowledge.finding import find, pick
from gongfu.knowledge.index import Index
from gongfu.knowledge.languages import EXTENSIONS
from gongfu.toolkit.counts import counted
from gongfu.toolkit.places import Places
from gongfu.toolkit.symbol_lines import Lines
from gongfu.tools.decorator import tool
from gongfu.tools.protocol import Claim, Facts, Outcome, Toolset
from gongfu.workspace.root import Located

Answer = TypeVar("Answer")
_LONGEST = 400
_MOST_MEANT = 6


def search_symbols_tools(index: Index) -> Toolset:
    """search_symbols."""
    return (SymbolTools(index).search_symbols,)


def knowledge_tools(index: Index) -> Toolset:
    """code_index, symbols, callers, callees, impact and module_docs."""
    tools = SymbolTools(index)
    return (tools.code_index, tools.symbols, tools.callers, tools.callees, tools.impact, tools.module_docs)


class SymbolTools:
    """See `search_symbols_tools` and `knowledge_tools`. Every answer is for the files as they are when it is given."""

    def __init__(self, index: Index) -> None:
        self._index = index
        self._workspace = index.workspace
        self._places = Places(index.workspace)
        self._lines = Lines(index)

    async def _facts(self, args: dict[str, Any]) -> Facts:
        """What is read is the code of the workspace, or of the part that is named."""
        path = args.get("path")
        located = self._places.judge(path) if path else None
        about = next(
            (str(args[k]) for k in ("query", "symbol", "target", "module", "path", "action") if args.get(k)), ""
        )
        paths = self._places.paths(located) if located is not None else (str(self._workspace.root),)
        for name in ("module", "target"):  # a name or a path
            given = str(args.get(name) or "").strip()
            if given and "\0" not in given and len(given) <= _LONGEST:
                meant = self._places.judge(given)
                paths = (*paths, *(self._places.paths(meant) if meant.path.exists() else ()))
        return Facts(access=("read",), paths=paths, title=about[:80])

    def _claims(self, args: dict[str, Any]) -> tuple[Claim, ...]:
        _ = args  # all of the code may be read
        return (Claim(resource=str(self._workspace.root)),)

    # --- tools ------------------------------------------------------------------------------------------------------

    @tool(access="read", facts=_facts, claims=_claims)
    async def search_symbols(self, query: str, kind: str = "", path: str = "", limit: int = 20) -> Outcome:
        query = _checked("query", query)
        below = self._relative(path) if path else ""
        limit = min(max(limit, 1), 100)

        def wanted(file: str) -> bool:
            return not below or file == below or file.startswith(f"{below}/")

        def answer() -> tuple[list[str], int]:
            found, total = find(
                self._index.finder, query, kinds=_kinds(kind), wanted=wanted if below else None, limit=limit
            )
            return [self._lines.symbol(m.ref, doc=True) for m in found], total

        lines, total = await self._index.ask(answer)
        where = f" below {path}" if path else ""
        if not lines:
            return self._outcome([f"No symbol is called anything like {query}{where}"], "0 symbols")
        if total > len(lines):
            lines.append(f"[{len(lines)} of {total}; narrow by kind or path, or raise limit]")
        return self._outcome(lines, counted(total, "symbol"))

    @tool(access="read", facts=_facts, claims=_claims)
    async def code_index(self, action: Literal["status", "refresh", "rebuild"] = "status") -> Outcome:
        fresh = await (self._index.rebuild() if action == "rebuild" else self._index.refresh())
        status = await self._index.status()
        lines = [f"{counted(files, 'file')}, {counted(n, 'line')}, {counted(count, 'symbol')}: {name}"
                 for name, (files, n, count) in
                 sorted(status.languages.items(), key=lambda item: -item[1][1])]  # fmt: skip
        lines = lines or ["No file in a language that is known"]
        lines += [f"{counted(count, 'file')} left out: {_WHY.get(why, why)}" for why, count in status.skipped.items()]
        if status.errors:
            lines.append(f"{counted(len(status.errors), 'file')} with syntax errors: {', '.join(status.errors[:5])}")
        if status.truncated:
            lines.append("The folder is too large: not all of it was looked at")
        lines.append(f"[{counted(fresh.parsed, 'file')} read anew, {fresh.gone} gone, {fresh.seconds:.2f} s]")
        return self._outcome(lines, f"{sum(row[0] for row in status.languages.values())} files")

    @tool(access="read", facts=_facts, claims=_claims)
    async def symbols(self, path: str) -> Outcome:
        relative = self._named_file(path)

        def answer() -> list[str]:
            return [line for file in files_of(self._index.code, relative) for line in self._lines.outline(file)]

        lines = await self._index.ask(answer)
        if not lines:
            raise self._no_file(path)
        return self._outcome(lines, f"{len(lines)} lines")

    @tool(access="read", facts=_facts, claims=_claims)
    async def callers(self, symbol: str, limit: int = 50) -> Outcome:
        return await self._about(symbol, lambda refs: self._lines.callers(refs, min(max(limit, 1), 500)))

    @tool(access="read", facts=_facts, claims=_claims)
    async def callees(self, symbol: str, limit: int = 50) -> Outcome:
        return await self._about(symbol, lambda refs: self._lines.callees(refs, min(max(limit, 1), 500)))

    @tool(access="read", facts=_facts, claims=_claims)
    async def impact(self, target: str, depth: int = 3) -> Outcome:
        target, depth = _checked("target", target), min(max(depth, 1), 8)
        relative = self._named_file(target) if ":" not in target else ""

        def answer() -> list[str]:
            code = self._index.code
            files = files_of(code, relative) if relative else []
            refs = [] if files else self._meant(target)
            return self._lines.impact(self._index.graph.impact(refs, files, depth=depth), refs, files)

        lines = await self._index.ask(answer)
        return self._outcome(lines, lines[0].rpartition(": ")[2])

    @tool(access="read", facts=_facts, claims=_claims)
    async def module_docs(self, module: str, private: bool = False) -> Outcome:
        relative = self._named_file(_checked("module", module))

        def answer() -> list[str]:
            code = self._index.code
            docs = [module_doc(code, p, private=private) for p in files_of(code, relative)]
            return [line for doc in docs for line in self._lines.module(doc)]

        lines = await self._index.ask(answer)
        if not lines:
            raise self._no_file(module)
        return self._outcome(lines, f"{len(lines)} lines")

    # --- inside -----------------------------------------------------------------------------------------------------

    async def _about(self, symbol: str, say: Callable[[list[Ref]], list[str]]) -> Outcome:
        symbol = _checked("symbol", symbol)
        lines = await self._index.ask(lambda: say(self._meant(symbol)))
        return self._outcome(lines, lines[0].rpartition(": ")[2])

    def _meant(self, symbol: str) -> list[Ref]:
        """The symbols that a name means. ToolFailure for none, with what is near, and for too many."""
        code = self._index.code
        place, colon, rest = symbol.replace("::", ".").rpartition(":")
        name = f"{self._relative(place)}:{rest}" if colon and place else symbol
        refs = pick(code, name)
        if not refs:
            near = [
                self._lines.symbol(m.ref) for m in find(self._index.finder, rest or symbol, limit=5)[0] if m.score > 0.5
            ]
            hint = "\nNear:\n" + "\n".join(near) if near else " search_symbols finds names by their parts."
            raise ToolFailure(f"no symbol is called {symbol} in the workspace.{hint}")
        if len(refs) > _MOST_MEANT:
            some = "\n".join(self._lines.symbol(ref) for ref in refs[:10])
            raise ToolFailure(
                f"{len(refs)} symbols are called {symbol}; say which as Class.name, module.name or path:name:\n{some}"
            )
        return refs

    def _named_file(self, text: str) -> str:
        """A path as the index has it, or the text itself where it may be the name of a module."""
        text = _checked("path", text)
        located = self._places.again(text)
        if located.path.exists():
            if not located.inside:
                raise ToolFailure(f"{located.shown} lies outside the workspace, whose code alone is indexed")
            return self._relative(text)
        return text

    def _relative(self, text: str) -> str:
        located = self._places.again(text)
        try:
            return located.path.relative_to(self._workspace.root).as_posix()
        except ValueError:
            raise ToolFailure(f"{located.shown} lies outside the workspace, whose code alone is indexed") from None

    def _no_file(self, text: str) -> ToolFailure:
        located = self._places.again(text)
        if not located.path.exists():
            return self._places.missing(located) if "/" in text or "." in text else ToolFailure(
                f"{text} is no file, folder or module of the workspace"
            )  # fmt: skip
        if located.path.is_dir():
            return ToolFailure(self._folders_in(located))
        if located.path.suffix.lower() not in EXTENSIONS:
            return ToolFailure(f"{located.shown} is in no language that is read; read_file shows it")
        return ToolFailure(f"{located.shown} has no symbols, or is ignored by the workspace; read_file shows it")

    def _folders_in(self, located: Located) -> str:
        """What is said of a folder with too many files below it to outline at once, or with none."""
        top = f"{self._relative(located.shown)}/".removeprefix("./")
        below = Counter(posixpath.dirname(p) for p in list(self._index.code.files) if p.startswith(top))
        if not below:
            return (
                f"there are no source files in {located.shown} that are read; languages that are: Python, JavaScript, "
                "TypeScript, Go, Rust, Java, C, C++"
            )
        some = ", ".join(f"{self._lines.path(p)} ({n})" for p, n in sorted(below.items())[:30])
        more = f" and {len(below) - 30} more" if len(below) > 30 else ""
        return f"{counted(below.total(), 'file')} below {located.shown} are too many at once; name one of: {some}{more}"

    def _outcome(self, lines: list[str], summary: str) -> Outcome:
        return Outcome(text="\n".join(lines), display=text_display("", summary[:100]))


_WHY = {
    "huge": "larger than 1 MB", "generated": "generated", "minified": "minified", "deep": "nested too deep",
    "binary": "no text", "failed": "no parser survives them",
    "grammar": "their grammar is not installed (pip install 'gongfu[code]')",
}  # fmt: skip
_KINDS = frozenset(
    ["function", "method", "class", "struct", "enum", "interface", "trait", "type", "constant", "variable", "field",
     "macro", "module"]
)  # fmt: skip


def _kinds(kind: str) -> tuple[str, ...]:
    """The kinds that are asked for; ToolFailure for one that there is not."""
    wanted = tuple(k.strip().lower() for k in kind.replace("|", ",").split(",") if k.strip())
    bad = next((k for k in wanted if k not in _KINDS), None)
    if bad is not None:
        raise ToolFailure(f"there is no kind {bad[:40]!r}; kinds are {', '.join(sorted(_KINDS))}")
    return wanted


def _checked(name: str, text: str) -> str:
    text = text.strip()
    if not text:
        raise ToolFailure(f"{name} is empty")
    if len(text) > _LONGEST or "\0" in text or any("\ud800" <= c <= "\udfff" for c in text):
        raise ToolFailure(f"{name} cannot be a name: give at most {_LONGEST} plain characters")
    return text
