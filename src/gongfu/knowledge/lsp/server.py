"""One running language server: what it has open, and what it says of places in code."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Generator, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, cast

import anyio
import anyio.to_thread

from gongfu.core.base import Base
from gongfu.knowledge.lsp.abilities import ABILITIES, COMPLETIONS, SEVERITIES
from gongfu.knowledge.lsp.answers import as_list, as_number, as_text, read_lines, start_of
from gongfu.knowledge.lsp.client import Client, ServerFailed
from gongfu.knowledge.lsp.servers import Found, language_of
from gongfu.knowledge.lsp.wire import Unit, from_units, from_uri, lines_of, to_units, to_uri
from gongfu.workspace.files import NotText, read_bytes
from gongfu.workspace.sandbox.confinement import Launch

__all__ = ["LanguageServer", "Place", "Problem", "ServerFailed", "Word"]

START = 60.0
ANSWER = 30.0
SETTLE = 60.0  # seconds that a server gets to read the project before the first question
_BEGIN = 5.0  # seconds after which one that should read the project is held not to tell of it
_QUIET = 0.4  # without progress for so long it is held to be ready
_MOST_OPEN = 24
_MOST_PLACES = 5000
_PUBLISHED = 8.0  # seconds in which a server that publishes problems should have done so
_LOOK = 3.0  # seconds for the files beside it
_MOST_FILES = 500  # whose published problems are kept


class Place(Base, frozen=True):
    """A place in a file: `line` from 1, `column` from 0 in characters."""

    path: str
    line: int
    column: int


class Problem(Base, frozen=True):
    """What is wrong at a place. `severity`: error, warning, information or hint."""

    place: Place
    severity: str
    message: str
    code: str = ""
    source: str = ""


class Word(Base, frozen=True):
    """A word that may be completed to."""

    name: str
    kind: str = ""
    detail: str = ""


class _Open(Base, frozen=True):
    version: int
    text: str
    published: int = 0


class LanguageServer:
    """See the module. Texts are given with each question, so that what the server knows is what is on the disk."""

    def __init__(self, found: Found, root: Path, launch: Launch) -> None:
        self.found = found
        self.used = time.monotonic()
        self._root = root
        self._open: dict[Path, _Open] = {}
        self._problems: dict[Path, tuple[int, list[dict[str, Any]]]] = {}
        self._changed = asyncio.Event()
        self._working: set[str] = set()
        self._moved = time.monotonic()
        self._quiescent: bool | None = None
        self._asked = 0
        self._begun = False
        self._ready = False
        self._abilities: dict[str, Any] = {}
        self._unit: Unit = "utf-16"
        self._client = Client(launch, self._told, found.server.settings, to_uri(root))

    @property
    def name(self) -> str:
        return self.found.server.name

    @property
    def alive(self) -> bool:
        return self._client.alive

    @property
    def failure(self) -> str:
        """Why it cannot be asked any more."""
        return self._client.failure

    @property
    def busy(self) -> bool:
        """Whether it is being asked."""
        return self._asked > 0

    def kill(self, why: str) -> None:
        """End it at once."""
        self._client.fail(why)

    async def start(self) -> None:
        """Introduce ourselves. ServerFailed when it does not answer as a server."""
        uri = to_uri(self._root)
        params = {
            "processId": None,  # in a sandbox it would look for ours, and not find it
            "clientInfo": {"name": "gongfu"},
            "rootUri": uri,
            "rootPath": str(self._root),
            "workspaceFolders": [{"uri": uri, "name": self._root.name}],
            "capabilities": ABILITIES,
            "initializationOptions": dict(self.found.server.options),
        }
        result = await self._client.ask("initialize", params, START)
        if not isinstance(result, dict):
            raise ServerFailed("it does not say what it can do")
        found = cast("dict[str, Any]", result).get("capabilities")
        self._abilities = cast("dict[str, Any]", found) if isinstance(found, dict) else {}
        unit = self.found.server.columns or self._abilities.get("positionEncoding")
        self._unit = unit if unit in ("utf-8", "utf-16", "utf-32") else "utf-16"
        self._client.tell("initialized", {})
        if self.found.server.settings:
            self._client.tell("workspace/didChangeConfiguration", {"settings": dict(self.found.server.settings)})

    async def stop(self) -> None:
        """End it."""
        await self._client.stop()

    # --- questions ------------------------------------------------------------------------------------------------

    async def definition(self, path: Path, text: str, line: int, column: int) -> list[Place]:
        """Where the symbol at a place is defined."""
        self._can("definitionProvider", "definitions")
        result = await self._at("textDocument/definition", path, text, line, column)
        return await self._places(result)

    async def look_at(self, files: Sequence[tuple[Path, str]]) -> None:
        """Let the server know files that a question is not about; it gets a moment to read them."""
        for path, text in files:
            self._sync(path, text)
        ends = time.monotonic() + _LOOK
        while any(path not in self._problems for path, _ in files) and time.monotonic() < ends and self.alive:
            await self._news(0.05)

    async def references(self, path: Path, text: str, line: int, column: int) -> list[Place]:
        """Where the symbol at a place is used, its definition among them."""
        self._can("referencesProvider", "references")
        more = {"context": {"includeDeclaration": True}}
        return await self._places(await self._at("textDocument/references", path, text, line, column, more))

    async def hover(self, path: Path, text: str, line: int, column: int) -> str:
        """What the server tells of the symbol at a place, as Markdown."""
        self._can("hoverProvider", "hover")
        result = await self._at("textDocument/hover", path, text, line, column)
        return as_text(cast("dict[str, Any]", result).get("contents")) if isinstance(result, dict) else ""

    async def completion(self, path: Path, text: str, line: int, column: int) -> list[Word]:
        """What may stand at a place."""
        self._can("completionProvider", "completion")
        result = await self._at("textDocument/completion", path, text, line, column)
        items = cast("dict[str, Any]", result).get("items") if isinstance(result, dict) else result
        found = [cast("dict[str, Any]", i) for i in as_list(items)[:_MOST_PLACES] if isinstance(i, dict)]
        found.sort(key=lambda item: str(item.get("sortText") or item.get("label") or ""))
        return [
            Word(
                name=str(item.get("label", "")).strip(),
                kind=COMPLETIONS.get(as_number(item.get("kind")), ""),
                detail=str(item.get("detail") or ""),
            )
            for item in found
        ]

    async def problems(self, path: Path, text: str) -> list[Problem]:
        """What is wrong in a file."""
        with self._at_work():
            return await self._found(path, text)

    async def _found(self, path: Path, text: str) -> list[Problem]:
        self._sync(path, text)
        await self._settle()
        if self._abilities.get("diagnosticProvider"):
            params = {"textDocument": {"uri": to_uri(path)}}
            result = await self._client.ask("textDocument/diagnostic", params, ANSWER)
            found = cast("dict[str, Any]", result).get("items") if isinstance(result, dict) else None
            items = [cast("dict[str, Any]", i) for i in as_list(found) if isinstance(i, dict)]
        else:
            items = []
        published = await self._published(path, wait=not items)
        lines = lines_of(text)
        seen = {str((i.get("range"), i.get("message"))): i for i in (*items, *published)}
        return [p for p in (self._problem(path, item, lines) for item in seen.values()) if p is not None]

    def _can(self, ability: str, what: str) -> None:
        if not self._abilities.get(ability):
            raise ServerFailed(f"it offers no {what}")

    async def _at(
        self, method: str, path: Path, text: str, line: int, column: int, more: dict[str, Any] | None = None
    ) -> Any:
        with self._at_work():
            return await self._asked_at(method, path, text, line, column, more or {})

    @contextmanager
    def _at_work(self) -> Generator[None]:
        """A server that is being asked is not idle."""
        self._asked += 1
        try:
            yield
        finally:
            self._asked -= 1
            self.used = time.monotonic()

    async def _asked_at(self, method: str, path: Path, text: str, line: int, column: int, more: dict[str, Any]) -> Any:
        self._sync(path, text)
        await self._settle()
        lines = lines_of(text)
        row = lines[line - 1] if 0 < line <= len(lines) else ""
        params = {
            "textDocument": {"uri": to_uri(path)},
            "position": {"line": line - 1, "character": to_units(row, column, self._unit)},
            **more,
        }
        return await self._client.ask(method, params, ANSWER)

    # --- documents ------------------------------------------------------------------------------------------------

    def _sync(self, path: Path, text: str) -> None:
        """Tell the server what its open files hold now."""
        self.used = time.monotonic()
        for other in list(self._open):
            if other != path:
                self._refresh(other)
        known = self._open.pop(path, None)
        if known is None:
            self._close_oldest()
            language = language_of(self.found.server, path) or "plaintext"
            document = {"uri": to_uri(path), "languageId": language, "version": 1, "text": text}
            self._client.tell("textDocument/didOpen", {"textDocument": document})
            self._open[path] = _Open(version=1, text=text)
        elif known.text != text:
            self._open[path] = self._change(path, known, text)
        else:
            self._open[path] = known

    def _change(self, path: Path, known: _Open, text: str) -> _Open:
        document = {"uri": to_uri(path), "version": known.version + 1}
        self._problems.pop(path, None)
        self._client.tell("textDocument/didChange", {"textDocument": document, "contentChanges": [{"text": text}]})
        self._client.tell("textDocument/didSave", {"textDocument": {"uri": to_uri(path)}})
        return _Open(version=known.version + 1, text=text)

    def _refresh(self, path: Path) -> None:
        known = self._open[path]
        try:
            raw = read_bytes(path)[0]
        except (OSError, NotText):
            self._close(path)
            return
        text = raw.decode("utf-8", "replace")
        if text != known.text and raw != known.text.encode("utf-8", "surrogatepass"):
            self._open[path] = self._change(path, known, text)

    def _close_oldest(self) -> None:
        while len(self._open) >= _MOST_OPEN:
            self._close(next(iter(self._open)))

    def _close(self, path: Path) -> None:
        del self._open[path]
        self._problems.pop(path, None)
        self._client.tell("textDocument/didClose", {"textDocument": {"uri": to_uri(path)}})

    # --- what it tells --------------------------------------------------------------------------------------------

    def _told(self, method: str, params: dict[str, Any]) -> None:
        match method:
            case "textDocument/publishDiagnostics":
                self._publish(params)
            case "$/progress":
                self._progress(str(params.get("token")), params.get("value"))
            case "experimental/serverStatus":
                self._quiescent = bool(params.get("quiescent"))
                self._stir()
            case _:
                pass

    def _publish(self, params: dict[str, Any]) -> None:
        path = from_uri(str(params.get("uri")))
        if path is None or (path not in self._problems and len(self._problems) >= _MOST_FILES):
            return
        version = params.get("version")
        known = self._open.get(path)
        if known is not None and isinstance(version, int) and version < known.version:
            return  # of a text that is no longer there
        items = [cast("dict[str, Any]", i) for i in as_list(params.get("diagnostics"))[:1000] if isinstance(i, dict)]
        count = self._problems[path][0] if path in self._problems else 0
        self._problems[path] = (count + 1, items)
        self._stir()

    def _progress(self, token: str, value: Any) -> None:
        kind = cast("dict[str, Any]", value).get("kind") if isinstance(value, dict) else None
        if kind == "begin" and len(self._working) < 1000:
            self._working.add(token)
            self._begun = True
        elif kind == "end":
            self._working.discard(token)
        self._stir()

    def _stir(self) -> None:
        self._moved = time.monotonic()
        self._changed.set()

    async def _settle(self) -> None:
        """Wait until the server has read the project, in bounds; it answers by halves before."""
        if self._ready:
            return
        slow = self.found.server.slow
        ends = time.monotonic() + (SETTLE if slow else SETTLE / 4)
        begun = time.monotonic()
        while time.monotonic() < ends and self.alive:
            quiet = time.monotonic() - self._moved
            if self._quiescent is True and not self._working:
                break
            if self._quiescent is None and not self._working:
                waited = time.monotonic() - begun
                if quiet >= _QUIET and waited >= (_BEGIN if slow and not self._begun else 0.0):
                    break
            await self._news(0.1)
        self._ready = True

    async def _published(self, path: Path, *, wait: bool) -> list[dict[str, Any]]:
        """The problems that were published of a file, once they have come and nothing further comes for a moment."""
        ends = time.monotonic() + (_PUBLISHED if wait else _QUIET)
        while time.monotonic() < ends and self.alive:
            known = self._problems.get(path)
            busy = bool(self._working) or self._quiescent is False
            if known is not None and not busy and time.monotonic() - self._moved >= _QUIET:
                break
            await self._news(0.1)
        if not self.alive:
            raise ServerFailed(self.failure)
        return self._problems[path][1] if path in self._problems else []

    async def _news(self, seconds: float) -> None:
        self._changed.clear()
        with anyio.move_on_after(seconds):
            await self._changed.wait()

    # --- reading answers ------------------------------------------------------------------------------------------

    async def _places(self, result: Any) -> list[Place]:
        """The places of an answer; thousands of files may have to be read for their columns."""
        texts = {path: known.text for path, known in self._open.items()}
        return await anyio.to_thread.run_sync(lambda: list(self._read_places(result, texts)), abandon_on_cancel=True)

    def _read_places(self, result: Any, known: Mapping[Path, str]) -> Iterator[Place]:
        texts: dict[Path, list[str]] = {path: lines_of(text) for path, text in known.items()}
        found: list[Any] = [cast("dict[str, Any]", result)] if isinstance(result, dict) else as_list(result)
        for item in found[:_MOST_PLACES]:
            if not isinstance(item, dict):
                continue
            given = cast("dict[str, Any]", item)
            path = from_uri(str(given.get("uri") or given.get("targetUri") or ""))
            start = start_of(given.get("range") or given.get("targetSelectionRange") or given.get("targetRange"))
            if path is None or start is None:
                continue
            if path not in texts:
                texts[path] = read_lines(path)
            yield self._place(path, texts[path], start)

    def _place(self, path: Path, lines: list[str], start: tuple[int, int]) -> Place:
        row = lines[start[0]] if start[0] < len(lines) else ""
        return Place(path=str(path), line=start[0] + 1, column=from_units(row, start[1], self._unit))

    def _problem(self, path: Path, item: dict[str, Any], lines: list[str]) -> Problem | None:
        start = start_of(item.get("range"))
        if start is None:
            return None
        code = item.get("code")
        return Problem(
            place=self._place(path, lines, start),
            severity=SEVERITIES.get(as_number(item.get("severity")), "warning"),
            message=str(item.get("message", "")),
            code=str(code) if isinstance(code, (str, int)) else "",
            source=str(item.get("source") or self.name),
        )
