"""Commands, for the model: seen, added with consent, and followed."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, Literal

from gongfu.config.files import write_private
from gongfu.core.errors import ToolFailure, UserError
from gongfu.plugins.commands import CommandFiles, read_command, with_arguments
from gongfu.plugins.folders import LARGEST, Found
from gongfu.plugins.template import Include, Line, Piece, expand
from gongfu.toolkit.places import Places as Located
from gongfu.tools.decorator import tool
from gongfu.tools.output import bound
from gongfu.tools.protocol import CallContext, Claim, Facts, Outcome, Tool

if TYPE_CHECKING:
    from pathlib import Path

    from gongfu.config.paths import Places
    from gongfu.plugins.commands import Command
    from gongfu.tools.registry import Registry
    from gongfu.workspace.root import Workspace

_NAME = r"[a-z][a-z0-9_-]{0,40}(:[a-z][a-z0-9_-]{0,40}){0,3}"
_MOST = 16_384
Action = Literal["list", "show", "add", "run"]


class CommandTools:
    """The tool `commands` of one session. `registry` has the tools that a command's lines and files go through."""

    def __init__(self, files: CommandFiles, places: Places, workspace: Workspace, registry: Registry) -> None:
        self._files = files
        self._places = places
        self._workspace = workspace
        self._located = Located(workspace)
        self._registry = registry
        self._judged: dict[tuple[str, str], list[Piece]] = {}

    def __iter__(self) -> Iterator[Tool]:
        yield self.commands

    async def _facts(self, args: dict[str, Any]) -> Facts:
        action, name = str(args.get("action", "list")), _bare(str(args.get("name", "")))
        title = f"{action} {name}".strip()[:120]
        if action == "add":
            return self._add_facts(name, str(args.get("text", "")), title)
        if action != "run":
            return Facts(access=("read",), title=title)
        arguments = str(args.get("arguments", ""))
        _, pieces = self._pieces(name, arguments)
        self._judged[name, arguments] = pieces
        lines = [piece.command for piece in pieces if isinstance(piece, Line)]
        paths: list[str] = []
        for piece in pieces:
            if isinstance(piece, Include) and (found := self._path(piece.path)) is not None:
                paths += found
        if not lines:
            return Facts(access=("read",), paths=tuple(paths), title=title)
        cwd, command = str(self._workspace.directory), "\n".join(lines)
        return Facts(
            access=("execute",), paths=(*paths, cwd), command=command, cwd=cwd, title=title,
            preview={"kind": "command", "command": command, "cwd": cwd, "code": None, "output": ""},
        )  # fmt: skip

    def _add_facts(self, name: str, text: str, title: str) -> Facts:
        file = str(self._file(name).resolve())
        return Facts(
            access=("write",), paths=(file,), writes=(file,), title=title,
            preview={"kind": "text", "text": text[:_MOST], "summary": f"/{name}"},
        )  # fmt: skip

    def _claims(self, args: dict[str, Any]) -> tuple[Claim, ...]:
        if args.get("action") == "run":
            return (Claim(resource="*", write=True),)
        return (Claim(resource="commands", write=args.get("action") == "add"),)

    def _file(self, name: str) -> Path:
        if re.fullmatch(_NAME, name) is None:
            raise ToolFailure(f"{name[:80]!r} cannot be a name: small letters, digits, - and _; dir:name for a folder")
        return (self._places.home / "commands").joinpath(*name.split(":")).with_suffix(".md")

    def _get(self, name: str) -> Command:
        if not name:
            raise ToolFailure("name is empty; commands list tells the names")
        try:
            return self._files.get(name)
        except UserError as error:
            raise ToolFailure(str(error)) from None

    def _pieces(self, name: str, arguments: str) -> tuple[Command, list[Piece]]:
        command = self._get(name)
        try:
            given = command.given(arguments)
        except UserError as error:
            raise ToolFailure(str(error)) from None
        template = command.template()
        return command, [*template.filled(given), with_arguments(template, given)]

    def _path(self, text: str) -> tuple[str, ...] | None:
        try:
            located = self._located.judge(text)
            return self._located.paths(located) if located.path.exists() else None
        except (ToolFailure, OSError, ValueError):
            return None

    @tool(access=("read", "write", "execute"), facts=_facts, claims=_claims)
    async def commands(
        self,
        ctx: CallContext,
        action: Action = "list",
        name: str = "",
        arguments: str = "",
        text: str = "",
        replace: bool = False,
    ) -> Outcome:
        name = _bare(name)
        match action:
            case "list":
                return self._list()
            case "show":
                return self._show(self._get(name))
            case "add":
                return self._add(name, text, replace=replace)
            case "run":
                return await self._run(name, arguments, ctx)

    def _list(self) -> Outcome:
        lines: list[str] = []
        for name in self._files.found():
            try:
                command = self._files.get(name)
                lines.append(f"{command.usage}: {command.description} ({command.source})")
            except UserError as error:
                lines.append(f"/{name}: cannot be used ({error})")
        return Outcome(
            text="\n".join(lines),
            display={"kind": "list", "items": lines, "total": len(lines), "summary": f"{len(lines)} commands"},
        )

    def _show(self, command: Command) -> Outcome:
        rows = [("mode", command.mode), ("model", command.model), ("allowed-tools", ", ".join(command.tools))]
        head = [command.usage, command.description, *(f"{key}: {value}" for key, value in rows if value)]
        text = "\n".join([*head, "", command.body])
        return Outcome(text=text, display={"kind": "text", "text": text, "summary": command.usage})

    def _add(self, name: str, text: str, *, replace: bool) -> Outcome:
        file = self._file(name)
        if not text.strip() or "\0" in text:
            raise ToolFailure("text is empty or holds a NUL character; nothing was written")
        data = (text if text.endswith("\n") else f"{text}\n").encode("utf-8", "replace")
        if len(data) > LARGEST:
            raise ToolFailure(f"text is longer than {LARGEST // 1024} KiB; nothing was written")
        if file.exists() and not replace:
            raise ToolFailure(
                f"the person has a command /{name} already; nothing was written (replace=true replaces it)"
            )
        try:
            command = read_command(data.decode(), Found(name=name, path=file, source="user"))
            self._places.ensure(file.parent)
            write_private(file, data)
        except UserError as error:
            raise ToolFailure(f"{error} Nothing was written.") from None
        except OSError as error:
            raise ToolFailure(f"{file} could not be written: {error.strerror or error}") from error
        done = f"{command.usage} is there from now on, in {file}"
        return Outcome(text=done, display={"kind": "text", "text": done, "summary": command.usage})

    async def _run(self, name: str, arguments: str, ctx: CallContext) -> Outcome:
        command, pieces = self._pieces(name, arguments)
        if pieces != self._judged.pop((name, arguments), pieces):
            raise ToolFailure(f"/{name} is not what it was when the call was judged; nothing was run")

        async def run(line: str) -> str:
            return await self._through("shell", {"command": line}, ctx)

        async def include(path: str) -> str | None:
            if self._path(path) is None:
                return None
            where = self._located.again(path).path
            return await self._through("list_files" if where.is_dir() else "read_file", {"path": path}, ctx)

        body = await expand(iter(pieces), run, include)
        notes = [f"It is meant for the work mode {command.mode}; propose that with `mode` first."] * bool(command.mode)
        if command.tools:
            notes.append(f"It may use only these tools: {', '.join(command.tools)}.")
        text = "\n\n".join([f"Follow this now, as if the person had typed {command.usage}:", *notes, body])
        return Outcome(text=text, display={"kind": "text", "text": body, "summary": command.usage})

    async def _through(self, name: str, args: dict[str, Any], ctx: CallContext) -> str:
        found = self._registry.get(name)
        if found is None:
            return f"[the tool {name} is not there]"
        try:
            outcome = await found.run(args, ctx)
        except ToolFailure as failure:
            return f"[{failure}]"
        return bound(outcome.text, _MOST).text("")


def _bare(name: str) -> str:
    return name.strip().removeprefix("/").lower()
