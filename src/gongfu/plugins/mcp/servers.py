"""Which MCP servers there are: those of the settings, and those of a project's `.mcp.json`."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from fnmatch import fnmatchcase
from hashlib import sha256
from typing import Any, Final, Literal, TypeAlias, cast

import msgspec

from gongfu.config.expand import MissingVariable, expand
from gongfu.config.settings import McpServer
from gongfu.core.base import Base

FILE: Final = ".mcp.json"
"""Where a project names its servers, in the shape of Claude Code."""

Kind: TypeAlias = Literal["stdio", "http", "sse"]
_KINDS: Final[dict[str, str]] = {
    "": "auto", "stdio": "stdio", "http": "http", "streamable-http": "http", "streamable_http": "http",
    "streamableHttp": "http", "sse": "sse",
}  # fmt: skip


class Server(Base, frozen=True):
    """One server by the name that people gave it. `label` is its name in the names of its tools.

    `project`: it comes from the project's files. `problem` says why it cannot be used as it stands ("" when it can).
    """

    name: str
    label: str
    entry: McpServer = McpServer()
    project: bool = False
    problem: str = ""

    @property
    def kinds(self) -> tuple[Kind, ...]:
        """The ways to speak to it, in the order in which they are tried."""
        if self.entry.transport != "auto":
            return (self.entry.transport,)
        return ("http", "sse") if self.entry.url else ("stdio",)

    @property
    def digest(self) -> str:
        """The same for the same entry: what was learned of another one does not count for it."""
        return sha256(msgspec.json.encode(self.entry, order="sorted")).hexdigest()[:16]

    def takes(self, tool: str) -> bool:
        """Whether its tool of that name is wanted."""
        entry = self.entry
        if any(fnmatchcase(tool, pattern) for pattern in entry.exclude):
            return False
        return not entry.tools or any(fnmatchcase(tool, pattern) for pattern in entry.tools)

    def only_reads(self, tool: str) -> bool:
        """Whether the person said that this tool only reads."""
        return any(fnmatchcase(tool, pattern) for pattern in self.entry.read_only)


class Found(Base, frozen=True):
    """The entries of a `.mcp.json`; `problems` are one sentence for each that cannot be used, by its name."""

    entries: dict[str, McpServer] = {}
    problems: dict[str, str] = {}


def read_project(data: bytes, env: Mapping[str, str]) -> Found:
    """The servers of a `.mcp.json`: `{"mcpServers": {NAME: {command, args, env} or {type, url, headers}}}`.

    `${NAME}` and `${NAME:-default}` stand for variables of `env`. What is not known in an entry is left alone; which
    tools run without asking is for the person to say.
    """
    whole: Any
    try:
        whole = json.loads(data)
        servers = whole["mcpServers"]
        items = list(cast("dict[str, Any]", servers).items())
    except (ValueError, RecursionError, KeyError, TypeError, AttributeError):
        return Found(problems={FILE: f"{FILE} is not readable: it needs an object with `mcpServers`"})
    entries: dict[str, McpServer] = {}
    problems: dict[str, str] = {}
    for name, given in items:
        try:
            entries[name] = _entry(given, env)
        except (msgspec.ValidationError, MissingVariable, ValueError) as error:
            entries[name] = McpServer()
            problems[name] = _told(error)
    return Found(entries=entries, problems=problems)


def _told(error: Exception) -> str:
    if isinstance(error, MissingVariable):
        return f"the variable {error.name} is not set"
    return str(error)


def _entry(given: Any, env: Mapping[str, str]) -> McpServer:
    if not isinstance(given, dict):
        raise ValueError("its entry is no object")  # noqa: TRY004 - one kind of error for all that is wrong in the file
    fields = cast("dict[str, Any]", given)
    kind = str(fields.get("type") or fields.get("transport") or "")
    if kind not in _KINDS:
        raise ValueError(f"its type {kind[:40]!r} is not known; known are stdio, http and sse")
    known = {
        k: v for k, v in fields.items() if k in McpServer.__struct_fields__ and k not in ("read_only", "transport")
    }
    known = {k: _expanded(v, env) for k, v in known.items() if v is not None}
    if isinstance(known.get("timeout"), int | float) and known["timeout"] > 1000:
        known["timeout"] /= 1000  # other clients count milliseconds
    return msgspec.convert({**known, "transport": _KINDS[kind]}, McpServer)


def _expanded(value: Any, env: Mapping[str, str]) -> Any:
    if isinstance(value, dict):
        return {k: _expanded(v, env) for k, v in cast("dict[str, Any]", value).items()}
    if isinstance(value, list):
        return [_expanded(v, env) for v in cast("list[Any]", value)]
    if not isinstance(value, str):
        return value
    if ":-" in value:
        import re  # only for a reference with a default

        def either(match: re.Match[str]) -> str:
            return env.get(match[1]) or match[2]

        value = re.sub(r"\$\{([A-Za-z_][A-Za-z0-9_]*):-([^{}]*)\}", either, value)
    return expand(value, env)


def gathered(settings: Mapping[str, McpServer], own: Iterable[str], project: Found) -> tuple[Server, ...]:
    """All servers in the order in which they were written; one of the settings comes before a project's of its name.

    `own` are the names in `settings` that the project's settings brought.
    """
    from gongfu.plugins.mcp.names import labels  # only where there are servers

    entries = {**project.entries, **settings}
    names = (*settings, *(name for name in project.entries if name not in settings))
    theirs = set(own)
    tags = labels(names)
    return tuple(
        Server(
            name=name,
            label=tags[name],
            entry=entries[name],
            project=name in theirs or name not in settings,
            problem=(project.problems.get(name, "") if name not in settings else "") or _problem(entries[name]),
        )
        for name in names
    )


def _problem(entry: McpServer) -> str:
    if entry.command and entry.url:
        return "it has both a command and an address"
    if not entry.command and not entry.url:
        return "it has neither a command nor an address"
    if entry.transport == "stdio" and not entry.command:
        return "`stdio` needs a command"
    if entry.transport in ("http", "sse") and not entry.url:
        return f"`{entry.transport}` needs an address"
    if entry.url and not entry.url.startswith(("http://", "https://")):
        return "its address must begin with http:// or https://"
    return ""
