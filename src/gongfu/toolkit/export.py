"""Tools that take things out: a session or a document as a file, and what a session is called and told."""

from __future__ import annotations

import base64
import mimetypes
import re
from collections.abc import Awaitable, Callable, Iterator
from pathlib import Path
from typing import Any, Literal, Protocol

import anyio.to_thread

from gongfu.core.display import text_display
from gongfu.core.errors import ToolFailure, UserError
from gongfu.toolkit.places import Places, explained
from gongfu.tools.decorator import tool
from gongfu.tools.protocol import Claim, Facts, Outcome, Tool
from gongfu.workspace.files import read_text_file, write_atomic
from gongfu.workspace.protect import why_protected
from gongfu.workspace.root import Located, Workspace

_SESSION = (".md", ".markdown", ".html", ".htm", ".json", ".pdf")
_DOCUMENT = (".html", ".htm", ".pdf")
_PICTURE = 10 * 1024 * 1024
_DOCUMENT_SIZE = 5 * 1024 * 1024
_TITLE = 200

Part = Literal["system", "rules", "tools", "prompts"]


class Exporter(Protocol):
    """What the composition root does for these tools."""

    async def session(
        self, session: str, suffix: str, folder: str, *, last: bool, everything: bool
    ) -> tuple[bytes, dict[str, bytes]]:
        """A session ("": this one) as the file of a suffix, and files beside it by relative path below `folder`."""
        ...

    def elsewhere(self, session: str) -> str:
        """The file that a session of another workspace is read from; "" for one of this one."""
        ...

    async def document(self, title: str, markdown: str, suffix: str, image: Callable[[str], str]) -> bytes:
        """A Markdown document as the file of a suffix."""
        ...

    def rename(self, title: str) -> None:
        """Give this session another title."""
        ...

    def told(self, part: Part) -> str:
        """What this session tells the model."""
        ...


class ExportTools:
    """export_session, publish_doc, session_prompt and set_title of one session."""

    def __init__(self, workspace: Workspace, exporter: Exporter) -> None:
        self._workspace = workspace
        self._places = Places(workspace)
        self._exporter = exporter

    def __iter__(self) -> Iterator[Tool]:
        yield self.export_session
        yield self.publish_doc
        yield self.session_prompt
        yield self.set_title

    # --- a session ---

    async def _session_facts(self, args: dict[str, Any]) -> Facts:
        target = self._target(args["path"], _SESSION, overwrite=bool(args.get("overwrite")))
        paths = self._places.paths(target, write=True)
        writes = (*paths, str(_beside(target.path))) if target.path.suffix in (".md", ".markdown") else paths
        beyond = self._exporter.elsewhere(str(args.get("session") or "").strip())
        paths = (beyond, *writes) if beyond else writes
        return Facts(access=("write",), paths=paths, writes=writes, title=target.shown)

    def _session_claims(self, args: dict[str, Any]) -> tuple[Claim, ...]:
        return (Claim(resource=str(self._workspace.locate(args["path"]).path), write=True),)

    @tool(access="write", facts=_session_facts, claims=_session_claims)
    async def export_session(
        self, path: str, last_turn: bool = False, everything: bool = False, session: str = "", overwrite: bool = False
    ) -> Outcome:
        target = self._places.again(path)
        suffix, beside = target.path.suffix.lower(), _beside(target.path)
        data, more = await _explained(
            self._exporter.session(session.strip(), suffix, beside.name, last=last_turn, everything=everything)
        )
        if more and beside.exists() and not overwrite:
            raise ToolFailure(f"{self._workspace.show(beside)} exists already; nothing was written. Take another name.")

        def write() -> None:
            for name, content in more.items():
                file = target.path.parent / name
                file.parent.mkdir(parents=True, exist_ok=True)
                write_atomic(file, content, workspace=self._workspace)
            self._write(target, data, overwrite=overwrite)

        await anyio.to_thread.run_sync(write)
        pictures = f" and {len(more)} pictures in {self._workspace.show(beside)}" if more else ""
        return _wrote(target, data, pictures)

    # --- a document ---

    async def _document_facts(self, args: dict[str, Any]) -> Facts:
        source = self._places.judge(args["path"])
        target = self._target(args["output"], _DOCUMENT, overwrite=bool(args.get("overwrite")))
        writes = self._places.paths(target, write=True)
        title = f"{source.shown} → {target.shown}"
        return Facts(access=("write",), paths=(*self._places.paths(source), *writes), writes=writes, title=title)

    def _document_claims(self, args: dict[str, Any]) -> tuple[Claim, ...]:
        source, target = (str(self._workspace.locate(args[name]).path) for name in ("path", "output"))
        return (Claim(resource=source), Claim(resource=target, write=True))

    @tool(access="write", facts=_document_facts, claims=_document_claims)
    async def publish_doc(self, path: str, output: str, title: str = "", overwrite: bool = False) -> Outcome:
        source, target = self._places.again(path), self._places.again(output)
        with explained(source):
            if not source.path.exists():
                raise self._places.missing(source)
            if source.path.is_file() and source.path.stat().st_size > _DOCUMENT_SIZE:
                raise ToolFailure(f"{source.shown} is larger than 5 MB; nothing was written. Publish a part of it.")
            text = (await anyio.to_thread.run_sync(read_text_file, source.path)).text
        named = title.strip() or _heading(text) or source.path.stem
        missing: list[str] = []

        def image(address: str) -> str:
            shown = self._picture(source, address)
            if not shown:
                missing.append(address)
            return shown

        data = await _explained(self._exporter.document(named, text, target.path.suffix.lower(), image))
        await anyio.to_thread.run_sync(lambda: self._write(target, data, overwrite=overwrite))
        left = dict.fromkeys(missing)
        note = f" Pictures that were left out: {', '.join(list(left)[:10])}." if left else ""
        return _wrote(target, data, "", note)

    def _picture(self, source: Located, address: str) -> str:
        """A picture of the workspace as a `data:` address; "" for any other one."""
        if re.match(r"[a-z][a-z0-9+.-]*:|//", address, re.IGNORECASE):
            return ""
        from urllib.parse import unquote  # only for documents with pictures

        try:
            place = (source.path.parent / unquote(address.partition("#")[0].partition("?")[0])).resolve()
            kind = mimetypes.guess_type(place.name)[0] or ""
            if not self._workspace.contains(place) or why_protected(place, self._workspace):
                return ""
            if kind not in ("image/png", "image/jpeg", "image/gif", "image/webp"):
                return ""
            if place.stat().st_size > _PICTURE:
                return ""
            return f"data:{kind};base64,{base64.b64encode(place.read_bytes()).decode()}"
        except (OSError, ValueError, RuntimeError):
            return ""

    # --- the session itself ---

    @tool(access="read")
    async def set_title(self, title: str) -> Outcome:
        line = " ".join(title.split())
        if not line:
            raise ToolFailure("title is empty; the session keeps the one it has")
        if len(line) > _TITLE:
            raise ToolFailure(f"title is longer than {_TITLE} characters; the session keeps the one it has")
        self._exporter.rename(line)
        return Outcome(text=f"This session is now called: {line}", display=text_display(line, line))

    @tool(access="read")
    async def session_prompt(self, part: Part = "system") -> Outcome:
        text = self._exporter.told(part)
        return Outcome(text=text, display=text_display("", f"{part}, {len(text):,} characters"))

    # --- inside ---

    def _target(self, path: str, suffixes: tuple[str, ...], *, overwrite: bool) -> Located:
        target = self._places.judge(path)
        if target.path.suffix.lower() not in suffixes:
            raise ToolFailure(f"{target.shown} must end in one of {', '.join(suffixes)}; nothing was written")
        if target.path.is_dir():
            raise ToolFailure(f"{target.shown} is a folder; nothing was written. Name a file in it.")
        if not overwrite and not self._places.consent(target) and target.path.exists():
            raise ToolFailure(f"{target.shown} exists already; nothing was written. Give overwrite=true to replace it.")
        return target

    def _write(self, target: Located, data: bytes, *, overwrite: bool) -> None:
        with explained(target):
            target.path.parent.mkdir(parents=True, exist_ok=True)
            write_atomic(target.path, data, expect=None if overwrite else "", workspace=self._workspace)


def _beside(path: Path) -> Path:
    """Where the pictures of a Markdown file go."""
    return path.with_name(f"{path.stem}-images")


def _heading(text: str) -> str:
    found = re.search(r"(?m)^#{1,2} +(.+?) *#*$", text)
    return found[1].strip() if found else ""


async def _explained(work: Awaitable[Any]) -> Any:
    """What a person is told of a failure is told to the model too."""
    try:
        return await work
    except UserError as error:
        raise ToolFailure(str(error)) from error


def _wrote(target: Located, data: bytes, pictures: str, note: str = "") -> Outcome:
    size = f"{len(data):,} bytes"
    return Outcome(
        text=f"Wrote {target.shown} ({size}){pictures}.{note}",
        display=text_display(target.shown, f"{target.shown}, {size}"),
    )
