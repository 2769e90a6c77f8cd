"""Language servers as the tools of code use them: started in the sandbox, asked, ended with the session."""

from __future__ import annotations

import shlex
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import TypeAlias, TypeVar

from gongfu.core.base import Base
from gongfu.core.errors import ToolFailure
from gongfu.knowledge.lsp.pool import Pool
from gongfu.knowledge.lsp.server import LanguageServer, Place, Problem, ServerFailed
from gongfu.knowledge.lsp.servers import SERVERS, Found, Server, find_server, language_of, servers_for
from gongfu.knowledge.lsp.wire import lines_of
from gongfu.toolkit.code_target import MAX_SOURCE, Source, Target, named
from gongfu.toolkit.confined import settled_note
from gongfu.toolkit.grep import in_thread
from gongfu.toolkit.programs import Programs
from gongfu.toolkit.spots import Candidate, Spot
from gongfu.tools.protocol import CallContext, Facts
from gongfu.workspace.files import read_text_file
from gongfu.workspace.protect import why_protected
from gongfu.workspace.root import Workspace
from gongfu.workspace.sandbox.confinement import Launch

_MOST_BESIDE = 20
Got = TypeVar("Got")
Question: TypeAlias = Callable[[LanguageServer], Awaitable[Got]]


class ServerTools:
    """The language servers of one session."""

    def __init__(self, workspace: Workspace, programs: Programs, known: tuple[Server, ...] = SERVERS) -> None:
        self.workspace = workspace
        self._root = workspace.root
        self._programs = programs
        self._known = known
        self._pool = Pool(workspace.root)
        self._launches: list[Launch] = []

    def find(self, path: Path) -> Found | None:
        """The installed server for a file."""
        return find_server(path, self._root, self._programs.given, self._known)

    def kinds(self, path: Path) -> frozenset[str]:
        """The suffixes of files in the same language as a file, and of those that go with it."""
        possible = servers_for(path, self._known)
        return frozenset(possible[0].files) if possible else frozenset((path.suffix.lower(),))

    def facts(self, path: Path, paths: tuple[str, ...], title: str) -> Facts:
        """What a call about a file touches: a server is a program, and may run what the project configures."""
        found = self.find(path)
        if found is None:
            return Facts(access=("read",), paths=paths, title=title)
        command = shlex.join(found.argv)
        return Facts(
            access=("read", "execute"), paths=paths, command=command, cwd=str(self._root),
            title=f"{title} ({found.server.name})",
        )  # fmt: skip

    def lacking(self, path: Path) -> str:
        """What would bring a server for a file."""
        possible = servers_for(path, self._known)
        if not possible:
            return f"no language server is known for {path.suffix or path.name} files"
        return f"no language server for {path.suffix or path.name} is installed ({possible[0].install})"

    def answerer(self, path: Path, ctx: CallContext) -> Answerer | None:
        """Who answers questions about a file, None when no server is installed for it."""
        found = self.find(path)
        return None if found is None else Answerer(self, found, ctx)

    async def get(self, found: Found, ctx: CallContext) -> LanguageServer:
        """The running server."""

        async def launch(one: Found) -> Launch:
            env = await self._programs.child_env(shlex.join(one.argv), self._root, {})
            made = await self._programs.launch(one.argv, self._root, env, ctx)
            settled_note(self._programs.sandbox, made, over=False)
            self._launches.append(made)
            return made

        return await self._pool.get(found, launch)

    def lines(self, path: Path, server: Server) -> tuple[str, ...]:
        """The lines of a file that a server named: of code in its languages only, since it may name any file."""
        located = self.workspace.locate(str(path))
        if not language_of(server, located.path) or why_protected(located.path, self.workspace, write=False):
            return ()
        try:
            return tuple(lines_of(read_text_file(located.path, MAX_SOURCE).text))
        except (OSError, ToolFailure):
            return ()

    def worked(self, found: Found) -> None:
        """A server has answered."""
        self._pool.worked(found)

    async def close(self) -> None:
        """End all servers."""
        await self._pool.close()
        for launch in self._launches:
            settled_note(self._programs.sandbox, launch, over=True)
        self._launches.clear()


class Answerer(Base, frozen=True):
    """One server, asked in one call; a server that died since the last question is started again once."""

    servers: ServerTools
    found: Found
    ctx: CallContext

    async def definition(self, target: Target) -> list[Spot]:
        """Where the symbol at a place is defined."""
        return self._spots(await self._ask(lambda s: s.definition(*_at(target))), target.source)

    async def references(self, target: Target) -> list[Spot]:
        """Where it is used."""
        others = await self._speaking(target) if self.found.server.short else []

        async def question(server: LanguageServer) -> list[Place]:
            await server.look_at(others)
            return await server.references(*_at(target))

        return self._spots(await self._ask(question), target.source)

    async def _speaking(self, target: Target) -> list[tuple[Path, str]]:
        """Other files with the word of a place in them, some of them."""
        kinds = frozenset(self.found.server.files)
        found, _ = await in_thread(
            lambda stop: named(self.servers.workspace, target.word, stop, declared=False, kinds=kinds)
        )
        paths = dict.fromkeys(spot.path for spot in found if spot.path != str(target.source.path))
        some = [Path(p) for p in list(paths)[:_MOST_BESIDE]]
        return [(p, "\n".join(self.servers.lines(p, self.found.server))) for p in some]

    async def hover(self, target: Target) -> list[Spot]:
        """What is said of it."""
        said = (await self._ask(lambda s: s.hover(*_at(target)))).strip()
        return [Spot(path="", docs=said)] if said else []

    async def completion(self, target: Target) -> list[Candidate]:
        """What may stand there."""
        words = await self._ask(lambda s: s.completion(*_at(target)))
        return [Candidate(name=w.name, kind=w.kind, detail=w.detail) for w in words]

    async def problems(self, source: Source) -> list[Problem]:
        """What is wrong in a file."""
        return await self._ask(lambda s: s.problems(source.path, source.text))

    async def _ask(self, question: Question[Got]) -> Got:
        name = self.found.server.name
        try:
            server = await self.servers.get(self.found, self.ctx)
            try:
                answer = await question(server)
            except ServerFailed:
                if server.alive:
                    raise
                server = await self.servers.get(self.found, self.ctx)
                answer = await question(server)
        except ServerFailed as error:
            raise ToolFailure(f"{name} gave no answer: {error}") from None
        self.servers.worked(self.found)
        return answer

    def _spots(self, places: list[Place], source: Source) -> list[Spot]:
        lines: dict[str, tuple[str, ...]] = {str(source.path): source.lines}
        found: list[Spot] = []
        for place in places:
            if place.path not in lines:
                lines[place.path] = self.servers.lines(Path(place.path), self.found.server)
            rows = lines[place.path]
            row = rows[place.line - 1] if 0 < place.line <= len(rows) else ""
            found.append(
                Spot(path=place.path, line=place.line, column=place.column + 1, source=row, signature=row.strip())
            )
        return list(dict.fromkeys(found))


def _at(target: Target) -> tuple[Path, str, int, int]:
    return target.source.path, target.source.text, target.line, target.column
