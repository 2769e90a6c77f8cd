"""MCP servers that other agents on this machine have set up: Claude Code, Codex and Qwen Code."""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Literal, TypeAlias, cast

from gongfu.core.base import Base

Agent: TypeAlias = Literal["claude", "codex", "qwen"]
NAMES: Mapping[Agent, str] = {"claude": "Claude Code", "codex": "Codex", "qwen": "Qwen Code"}
_FILES: Mapping[Agent, str] = {"claude": ".claude.json", "codex": ".codex/config.toml", "qwen": ".qwen/settings.json"}
_LARGE = 50_000_000


class Foreign(Base, frozen=True):
    """A server of another agent: `entry` is what the settings would hold, `left` names what has no counterpart.

    `secrets` are variables and headers whose values stand in the other agent's file in clear.
    """

    agent: Agent
    name: str
    entry: dict[str, Any]
    left: tuple[str, ...] = ()
    secrets: tuple[str, ...] = ()


def find_servers(home: Path, project: Path | None = None) -> list[Foreign]:
    """The servers that the agents of the person with this home folder know, for all projects and for `project`.

    Files that are not there or cannot be read give nothing; of two servers of one name the first agent's counts.
    """
    found: dict[str, Foreign] = {}
    for agent, name in _FILES.items():
        whole = _read(home / name)
        for server, given in _servers(agent, whole, project).items():
            taken = _READERS[agent](cast("dict[str, Any]", given)) if isinstance(given, dict) else None
            if taken is not None and re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9_-]{0,63}", server):
                entry, left = taken
                found.setdefault(
                    server, Foreign(agent=agent, name=server, entry=entry, left=left, secrets=_secrets(entry))
                )
    return list(found.values())


def _read(file: Path) -> dict[str, Any]:
    try:
        if file.stat().st_size > _LARGE:
            return {}
        text = file.read_text("utf-8-sig")
        whole: Any = tomllib.loads(text) if file.suffix == ".toml" else json.loads(text)
    except (OSError, ValueError, RecursionError):
        return {}
    return cast("dict[str, Any]", whole) if isinstance(whole, dict) else {}


def _servers(agent: Agent, whole: dict[str, Any], project: Path | None) -> dict[str, Any]:
    if agent == "codex":
        return _mapping(whole.get("mcp_servers"))
    here = _mapping(_mapping(whole.get("projects")).get(str(project))) if agent == "claude" and project else {}
    return {**_mapping(whole.get("mcpServers")), **_mapping(here.get("mcpServers"))}


def _mapping(value: Any) -> dict[str, Any]:
    return cast("dict[str, Any]", value) if isinstance(value, dict) else {}


Taken: TypeAlias = tuple[dict[str, Any], tuple[str, ...]]


def _taken(given: dict[str, Any], known: dict[str, str], more: dict[str, Any]) -> Taken | None:
    """The entry with what `known` renames and `more` adds; None where it names neither a program nor an address."""
    entry = {ours: given[theirs] for theirs, ours in known.items() if given.get(theirs) not in (None, "", [], {})}
    entry |= {key: value for key, value in more.items() if value}
    if not isinstance(entry.get("command") or entry.get("url"), str):
        return None
    timeout = entry.get("timeout")
    if isinstance(timeout, int | float) and timeout > 1000:
        entry["timeout"] = timeout / 1000  # they count milliseconds
    return entry, tuple(sorted(set(given) - set(known) - _IGNORED))


_IGNORED = {
    "type",
    "httpUrl",
    "bearer_token_env_var",
    "http_headers",
    "env_http_headers",
    "tool_timeout_sec",
    "enabled",
}
_COMMON = {"command": "command", "args": "args", "env": "env", "cwd": "cwd", "url": "url", "headers": "headers",
           "timeout": "timeout"}  # fmt: skip


def _claude(given: dict[str, Any]) -> Taken | None:
    kind = given.get("type")
    return _taken(given, _COMMON, {"transport": kind if kind in ("http", "sse") else ""})


def _codex(given: dict[str, Any]) -> Taken | None:
    headers = dict(_mapping(given.get("http_headers")))
    headers |= {key: f"${{{value}}}" for key, value in _mapping(given.get("env_http_headers")).items()}
    if isinstance(token := given.get("bearer_token_env_var"), str):
        headers["Authorization"] = f"Bearer ${{{token}}}"
    known = {k: v for k, v in _COMMON.items() if k not in ("headers", "timeout")}
    off = given.get("enabled") is False
    return _taken(given, known, {"headers": headers, "timeout": given.get("tool_timeout_sec"), "disabled": off})


def _qwen(given: dict[str, Any]) -> Taken | None:
    known = {**_COMMON, "includeTools": "tools", "excludeTools": "exclude"}
    streamed, plain = given.get("httpUrl"), given.get("url")
    more = {"url": streamed, "transport": "http"} if streamed else {"transport": "sse" if plain else ""}
    return _taken(given, known, more)


_READERS: Mapping[Agent, Callable[[dict[str, Any]], Taken | None]] = {"claude": _claude, "codex": _codex, "qwen": _qwen}


def _secrets(entry: dict[str, Any]) -> tuple[str, ...]:
    pairs = {**_mapping(entry.get("env")), **_mapping(entry.get("headers"))}
    return tuple(name for name, value in pairs.items() if isinstance(value, str) and value and "${" not in value)
