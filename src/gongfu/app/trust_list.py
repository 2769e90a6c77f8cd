"""What in a folder would take effect, in words: for whoever is to decide whether to trust it."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final, Literal, TypeAlias, cast

import msgspec

from gongfu.app.trust import Trust
from gongfu.core.base import Base
from gongfu.core.errors import ConfigError
from gongfu.workspace.git import GitGuard, active_hooks, may_run_programs
from gongfu.workspace.names import show_name

Kind: TypeAlias = Literal[
    "settings", "hook", "server", "tool", "command", "skill", "agent", "mode", "flow", "file", "git", "git_hook",
    "unclear", "outside", "no_file", "too_large", "too_many", "unreadable",
]  # fmt: skip

_FOLDERS: Final[dict[str, Kind]] = {
    "tools": "tool", "commands": "command", "skills": "skill", "agents": "agent", "modes": "mode", "flows": "flow",
}  # fmt: skip
_CONFIG: Final = ".gongfu/config.yaml"
_SERVERS: Final = ".mcp.json"


class Effect(Base, frozen=True):
    """One thing that would take effect, or (the last kinds) cannot be checked.

    `name` says where or what it is and `runs` what would run, both on one line; `new`: not as it was when the folder
    was trusted.
    """

    kind: Kind
    name: str
    runs: str = ""
    new: bool = False


async def effects(trust: Trust, root: Path, env: Mapping[str, str]) -> list[Effect]:
    """Everything in the folder `root` that a person should see before they trust it."""
    return [*_of_files(trust, root), *await _of_git(root, env)]


def _of_files(trust: Trust, root: Path) -> Iterator[Effect]:
    new = set(trust.changed)
    skills: set[str] = set()
    for name in sorted(trust.findings.files):
        parts = name.split("/")
        changed = name in new
        if name == _CONFIG:
            yield from _of_settings(root / name, name, changed)
        elif name == _SERVERS:
            yield from _of_servers(root / name, changed)
        elif parts[:2] in ([".agents", "skills"], [".claude", "skills"]) or parts[:2] == [".gongfu", "skills"]:
            skill = "/".join(parts[:3])
            if skill not in skills:
                skills.add(skill)
                within = any(other == skill or other.startswith(f"{skill}/") for other in new)
                yield Effect(kind="skill", name=show_name(skill), new=within)
        else:
            kind = _FOLDERS.get(parts[1], "file") if len(parts) > 2 and parts[0] == ".gongfu" else "file"
            yield Effect(kind=kind, name=show_name(name), new=changed)
    for problem in trust.findings.problems:
        yield Effect(kind=problem.why, name=show_name(problem.name), new=problem.name in new)


def _of_settings(path: Path, name: str, new: bool) -> Iterator[Effect]:
    from gongfu.config.hooks import Unfit, hooks_of
    from gongfu.config.layer import parse_layer
    from gongfu.config.settings import Hook

    try:
        layer = parse_layer(path)
        data = layer.data if layer else {}
        given: Any = data.get("hooks") or ()
        listed = isinstance(given, list | tuple)
        hooks = hooks_of(msgspec.convert(given, tuple[Hook, ...]) if listed else cast("dict[str, Any]", given))
    except (ConfigError, Unfit, ValueError):
        yield Effect(kind="unclear", name=name, new=new)
        return
    servers = cast("dict[str, Any]", data.get("mcp", {}).get("servers", {}))
    others = sorted(str(key) for key in data if key not in ("hooks", *(["mcp"] if servers else [])))
    if others:
        yield Effect(kind="settings", name=name, runs=show_name(", ".join(others)), new=new)
    for hook in hooks:
        command = hook.command if isinstance(hook.command, str) else " ".join(hook.command)
        yield Effect(kind="hook", name=hook.event, runs=show_name(command), new=new)
    for server, entry in servers.items():
        yield Effect(kind="server", name=show_name(server), runs=show_name(_started(entry)), new=new)
    if not hooks and not others and not servers:
        yield Effect(kind="settings", name=name, new=new)


def _of_servers(path: Path, new: bool) -> Iterator[Effect]:
    try:
        whole = cast("object", json.loads(path.read_bytes()))
    except (OSError, ValueError, RecursionError):
        whole = None
    servers = cast("dict[str, Any]", whole).get("mcpServers") if isinstance(whole, dict) else None
    if not isinstance(servers, dict):
        yield Effect(kind="unclear", name=_SERVERS, new=new)
        return
    for name, server in cast("dict[str, Any]", servers).items():
        yield Effect(kind="server", name=show_name(name), runs=show_name(_started(server)), new=new)


def _started(server: Any) -> str:
    if not isinstance(server, dict):
        return ""
    held = cast("dict[str, Any]", server)
    words = cast("list[Any]", held["args"]) if isinstance(held.get("args"), list) else []
    started = " ".join(str(word) for word in (held.get("command") or held.get("url") or "", *words))
    variables = sorted(set(re.findall(r"\$\{(\w+)", json.dumps(held))))
    return f"{started} (${', $'.join(variables)})" if variables else started


async def _of_git(root: Path, env: Mapping[str, str]) -> list[Effect]:
    if not may_run_programs(root):
        return []
    found = [
        Effect(kind="git", name=show_name(key), runs=show_name(value))
        for key, value in await GitGuard(env).programs(root)
    ]
    return [*found, *(Effect(kind="git_hook", name=show_name(name)) for name in active_hooks(root))]
