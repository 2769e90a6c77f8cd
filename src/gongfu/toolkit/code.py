"""The tools definition, references, hover and completion: what a language server would tell an editor.

Python is understood by jedi (`code_apart`), other languages by their language servers where one is installed; else
places are found by name, which is said.
"""

from __future__ import annotations

import re
import time
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

from gongfu.core.display import text_display
from gongfu.core.errors import ToolFailure
from gongfu.toolkit.code_apart import Order, Question, Reply, ask_jedi
from gongfu.toolkit.code_python import packages, sources
from gongfu.toolkit.code_target import CODE, Source, Target, check_name, completed, find_target, named, read_source
from gongfu.toolkit.grep import in_thread
from gongfu.toolkit.places import Places
from gongfu.toolkit.programs import Programs
from gongfu.toolkit.servers import Answerer, ServerTools
from gongfu.toolkit.spots import Candidate, Spot, definitions, grouped, one_line
from gongfu.tools.decorator import tool
from gongfu.tools.needs import is_met, library
from gongfu.tools.protocol import CallContext, Claim, Facts, Outcome, Toolset
from gongfu.workspace.root import Workspace

_PYTHON = (".py", ".pyi", ".pyw")
_SECONDS = 10.0  # for a search by name
_DOCS = 6000
_JEDI = library("jedi", extra="code")


def code_tools(
    workspace: Workspace,
    programs: Programs,
    closing: list[Callable[[], Awaitable[object]]],
    *,
    jedi: bool | None = None,
) -> Toolset:
    """The tools of one session; language servers that they start end through `closing`.

    `jedi` False does without it, None looks whether it is installed.
    """
    from gongfu.toolkit.diagnose import DiagnoseTools

    servers = ServerTools(workspace, programs)
    closing.append(servers.close)
    tools = CodeTools(workspace, programs, servers, jedi=is_met(_JEDI, {}) if jedi is None else jedi)
    checks = DiagnoseTools(workspace, programs, servers, tools.order)
    return (tools.completion, tools.definition, checks.diagnostics, tools.hover, tools.references)


class CodeTools:
    """See `code_tools`."""

    def __init__(self, workspace: Workspace, programs: Programs, servers: ServerTools, *, jedi: bool) -> None:
        self._workspace = workspace
        self._places = Places(workspace)
        self._programs = programs
        self._servers = servers
        self._jedi = jedi

    # --- what a call touches --------------------------------------------------------------------------------------

    async def _facts(self, args: dict[str, Any]) -> Facts:
        path, name = args.get("path", ""), args.get("name", "")
        what = one_line(name or args.get("after", "") or f"line {args.get('line', 0)}", 80)
        if not path:
            return Facts(access=("read",), paths=(str(self._workspace.root),), title=what)
        located = self._places.judge(path)
        paths = self._places.paths(located)
        title = f"{what} in {located.shown}"
        if self._by_jedi(located.path):
            return Facts(access=("read",), paths=paths, title=title)
        return self._servers.facts(located.path, paths, title)

    def _claims(self, _args: dict[str, Any]) -> tuple[Claim, ...]:
        return (Claim(resource=str(self._workspace.root)),)

    def _by_jedi(self, path: Path) -> bool:
        return self._jedi and path.suffix.lower() in _PYTHON

    # --- the tools ------------------------------------------------------------------------------------------------

    @tool(access=("read", "execute"), facts=_facts, claims=_claims)
    async def definition(
        self, ctx: CallContext, name: str = "", path: str = "", line: int = 0, column: int = 0
    ) -> Outcome:
        name = check_name(name)
        found, note = await self._places_of("definition", ctx, name, path, line, column)
        if not found:
            how = f" ({note.replace('found', 'searched', 1)})" if note else ""
            raise ToolFailure(f"no definition of {one_line(name) or 'it'} was found{how}; search_text finds any word")
        text = definitions(found, self._workspace)
        return _outcome(text, note, f"{len(found)} definition{'s' * (len(found) > 1)}")

    @tool(access=("read", "execute"), facts=_facts, claims=_claims)
    async def references(
        self, ctx: CallContext, name: str = "", path: str = "", line: int = 0, column: int = 0
    ) -> Outcome:
        name = check_name(name)
        found, note = await self._places_of("references", ctx, name, path, line, column)
        if not found:
            return _outcome(f"No reference to {one_line(name) or 'it'} was found.", note, "0 references")
        text, count, files = grouped(found, self._workspace)
        summary = f"{count} reference{'s' * (count > 1)} in {files} file{'s' * (files > 1)}"
        return _outcome(f"{summary}\n{text}", note, summary)

    @tool(access=("read", "execute"), facts=_facts, claims=_claims)
    async def hover(self, ctx: CallContext, name: str = "", path: str = "", line: int = 0, column: int = 0) -> Outcome:
        name = check_name(name)
        found, note = await self._places_of("hover", ctx, name, path, line, column)
        if not found:
            raise ToolFailure(f"nothing is known of {one_line(name) or 'it'}{note and f' ({note})'}")
        texts = [_described(spot, self._workspace) for spot in found[:5]]
        return _outcome("\n\n".join(texts), note, one_line(found[0].signature or found[0].name or found[0].docs, 80))

    @tool(access=("read", "execute"), facts=_facts, claims=_claims)
    async def completion(self, ctx: CallContext, path: str, line: int, after: str = "", column: int = 0) -> Outcome:
        source = read_source(self._places, path)
        target = completed(source, line, column, after)
        if self._by_jedi(source.path):
            reply = await self.ask("completion", target)
            begun = source.lines[target.line - 1][: target.column]
            private = re.search(r"(?<!\w)_\w*\Z", begun) is not None
            found = [one for one in reply.candidates if private or not one.name.startswith("__")]
            return _candidates(found or reply.candidates, reply.calls)
        server = self._servers.answerer(source.path, ctx)
        if server is None:
            raise ToolFailure(self._servers.lacking(source.path))
        return _candidates(await server.completion(target), ())

    # --- who answers ----------------------------------------------------------------------------------------------

    async def _places_of(
        self, do: Question, ctx: CallContext, name: str, path: str, line: int, column: int
    ) -> tuple[list[Spot], str]:
        """Places, and what should be known of them."""
        if not path:
            return await self._of_name(do, name)
        source = read_source(self._places, path)
        target = find_target(source, name, line, column)
        if self._by_jedi(source.path):
            reply = await self.ask(do, target)
            return list(reply.spots), "not all files were looked at: time was up" if reply.partial else ""
        server = self._servers.answerer(source.path, ctx)
        try:
            if server is not None:
                return await _of_server(server, do, target), ""
            why = self._servers.lacking(source.path)
        except ToolFailure as failure:
            why = str(failure)
        kinds = self._servers.kinds(source.path)
        found, note = await self._by_name(target.word or name, declared=do != "references", kinds=kinds)
        return found, f"{note}; {why}"

    async def _of_name(self, do: Question, name: str) -> tuple[list[Spot], str]:
        if not name:
            raise ToolFailure("give path and line, or the qualified name of a symbol")
        spots: list[Spot] = []
        if self._jedi and re.fullmatch(r"\w+(?:\.\w+)+", name):
            spots = list((await self.order(Order(do="find", root="", name=name))).spots)
        if not spots:
            spots, note = await self._by_name(name, declared=True)
        else:
            note = ""
        if do == "definition" or not spots:
            return spots, note
        first = spots[0]
        if (
            self._by_jedi(Path(first.path))
            and (not note or len(spots) == 1)
            and self._workspace.contains(Path(first.path))
        ):
            source = read_source(self._places, first.path)
            reply = await self.ask(do, Target(source=source, line=max(first.line, 1), column=max(first.column, 1) - 1))
            return list(reply.spots), "not all files were looked at: time was up" if reply.partial else ""
        if do == "hover":
            return spots, note
        return await self._by_name(name, declared=False)

    async def _by_name(self, name: str, *, declared: bool, kinds: frozenset[str] = CODE) -> tuple[list[Spot], str]:
        until = time.monotonic() + _SECONDS
        found, whole = await in_thread(
            lambda stop: named(
                self._workspace, name, lambda: stop() or time.monotonic() > until, declared=declared, kinds=kinds
            )
        )
        return found, "found by name, not by meaning" if whole else "found by name; not all files were looked at"

    async def ask(self, do: Question, target: Target) -> Reply:
        """Ask jedi about a place."""
        source = target.source
        return await self.order(
            Order(
                do=do, root="", path=str(source.path), text=source.text, line=target.line, column=target.column
            )
        )  # fmt: skip

    async def order(self, order: Order) -> Reply:
        """Ask jedi, told where this project's modules are."""
        from msgspec.structs import replace

        root = self._workspace.root
        order = replace(
            order, root=str(root), sources=sources(self._workspace),
            packages=packages(self._workspace, self._programs.given),
        )  # fmt: skip
        reply = await ask_jedi(order, self._programs.env)
        if reply.problem:
            raise ToolFailure(f"{reply.problem}; search_text finds names")
        if self._workspace.barred is None:
            return reply
        return replace(reply, spots=tuple(spot for spot in reply.spots if not self._workspace.barred(spot.path)))


async def _of_server(server: Answerer, do: Question, target: Target) -> list[Spot]:
    match do:
        case "references":
            return await server.references(target)
        case "hover":
            return await server.hover(target)
        case _:
            return await server.definition(target)


def _described(spot: Spot, workspace: Workspace) -> str:
    from gongfu.core.secrets import redact
    from gongfu.toolkit.spots import where

    head = "\n".join(one_line(line, 400) for line in spot.signature.splitlines())
    docs = redact(spot.docs.strip())
    if len(docs) > _DOCS:
        docs = f"{docs[:_DOCS]}\n[{len(docs) - _DOCS:,} more characters]"
    at = f"[{spot.kind or 'symbol'} {spot.name}, {where(spot, workspace)}]" if spot.line or spot.name else ""
    return "\n".join(filter(None, [head, at, docs and f"\n{docs}"])).strip()


def _candidates(found: tuple[Candidate, ...] | list[Candidate], calls: tuple[str, ...]) -> Outcome:
    if not found and not calls:
        return _outcome("Nothing can be completed there.", "", "0 candidates")
    lines = [f"in the call of {one_line(call)}" for call in calls]
    lines += [" ".join(filter(None, [one.name, f"({one.kind})" if one.kind else "", one_line(one.detail, 80)]))
              for one in found[:80]]  # fmt: skip
    if len(found) > 80:
        lines.append("[more than 80; write some of the name]")
    return _outcome("\n".join(lines), "", f"{len(found)} candidate{'s' * (len(found) != 1)}")


def _outcome(text: str, note: str, summary: str) -> Outcome:
    whole = f"{text}\n[{note}]" if note else text
    return Outcome(text=whole, display=text_display(whole, summary))


__all__ = ["CodeTools", "Source", "code_tools"]
