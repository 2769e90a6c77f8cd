"""What the settings file of a trusted project may do to the settings of the person: tighten, and add hooks."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from typing import Any, Final, cast

import msgspec

from gongfu.config.document import KeyPath
from gongfu.config.layer import Layer
from gongfu.config.settings import (
    Limits,
    Permission,
    PermissionMode,
    ProjectHook,
    ProjectProvider,
    Sandbox,
    Settings,
)

STRICTNESS: Final[dict[PermissionMode, int]] = {"plan": 0, "ask": 1, "edits": 2, "auto": 3, "full": 4}
"""Permission modes from the strictest to the freest."""

_NETWORKS: Final = {"off": 0, "list": 1, "on": 2}
_ADDED: Final[tuple[KeyPath, ...]] = (("permission", "ask"), ("permission", "deny"), ("sandbox", "hidden"))
_THE_PERSONS: Final = ("retention", "web", "desktop", "local", "email")
_NO_MORE: Final[tuple[KeyPath, ...]] = (("permission", "allow"), ("shell", "keep_env"), ("sandbox", "writable"))

Table = dict[str, Any]


def tightened(data: Table, before: Table, refused: Callable[[KeyPath], None]) -> Table:
    """The settings `data` of a project as they may be laid over `before`; what would loosen is taken out and told to
    `refused` by its path.

    Modes, limits and the sandbox may only become stricter. Rules that ask or deny and hidden files come behind the
    person's. How long things are kept, where the person is and whose services and mail are used is the person's affair,
    and so are servers of the names that they use, and which tools of a server run without asking.
    """
    for path in tuple(_servers_of_the_person(data, before)):
        holder: Table = data
        for part in path[:-1]:
            holder = holder[str(part)]
        holder.pop(str(path[-1]))
        refused(path)
    for path in (*_looser(data, before), *_kept_by_the_person(data)):
        section, key = path
        data[str(section)].pop(key)
        refused(path)
    for path in _ADDED:
        _append(data, before, path)
    return data


def without_references(layer: Layer, refused: Callable[[KeyPath], None]) -> Layer:
    """A project's settings without the providers that would send a variable of the person's environment somewhere."""
    told = dict.fromkeys(r.path[:2] for r in layer.references if r.path[0] == "providers")
    for path in told:
        layer.data["providers"].pop(path[1])
        refused(path)
    left = tuple(r for r in layer.references if r.path[:2] not in told)
    return msgspec.structs.replace(layer, references=left) if told else layer


def marked(settings: Settings, *, hooks: int, providers: Collection[str]) -> Settings:
    """The settings with those `providers` and the last so many `hooks` known as the project's."""
    if hooks:
        from gongfu.config.hooks import hooks_of  # only where a project has hooks

        every = hooks_of(settings.hooks)
        mine, theirs = every[:-hooks], every[-hooks:]
        settings = msgspec.structs.replace(settings, hooks=(*mine, *(ProjectHook(**_fields(hook)) for hook in theirs)))
    if providers:
        known = {
            name: ProjectProvider(**_fields(one)) if name in providers else one
            for name, one in settings.providers.items()
        }
        settings = msgspec.structs.replace(settings, providers=known)
    return settings


def _fields(value: msgspec.Struct) -> Table:
    return {name: getattr(value, name) for name in value.__struct_fields__}


def _looser(data: Table, before: Table) -> Iterator[KeyPath]:
    mode: PermissionMode = _get(before, "permission", "mode", Permission().mode)
    if STRICTNESS[_get(data, "permission", "mode", mode)] > STRICTNESS[mode]:
        yield "permission", "mode"
    for limit, value in data.get("limits", {}).items():
        now = _get(before, "limits", limit, getattr(Limits(), limit))
        if now is not None and (value is None or value > now):
            yield "limits", limit
    for section, key in _NO_MORE:
        if not set(_get(data, section, key, ())) <= set(_get(before, section, key, ())):
            yield section, key
    yield from _looser_sandbox(data.get("sandbox", {}), before.get("sandbox", {}))


def _looser_sandbox(wanted: Table, now: Table) -> Iterator[KeyPath]:
    default = Sandbox()
    kind = now.get("kind", default.kind)
    if wanted.get("kind", kind) != kind and (wanted["kind"] == "off" or kind in ("bwrap", "landlock")):
        yield "sandbox", "kind"
    if now.get("required", default.required) and not wanted.get("required", True):
        yield "sandbox", "required"
    network = now.get("network", default.network)
    if _NETWORKS[wanted.get("network", network)] > _NETWORKS[network]:
        yield "sandbox", "network"
    narrows = network == "on" and wanted.get("network") == "list"  # any list of hosts is less than all
    if not narrows and not set(wanted.get("hosts", ())) <= set(now.get("hosts", ())):
        yield "sandbox", "hosts"


def _kept_by_the_person(data: Table) -> Iterator[KeyPath]:
    for section in _THE_PERSONS:
        for key in tuple(data.get(section, {})):
            yield section, key


def _servers_of_the_person(data: Table, before: Table) -> Iterator[KeyPath]:
    """Servers that would take the place of the person's (with their keys), and what would spare a question."""
    known = _get(before, "mcp", "servers", {})
    servers = cast("dict[str, Table]", _get(data, "mcp", "servers", {}))
    for name, server in servers.items():
        if name in known:
            yield "mcp", "servers", name
        elif server.get("read_only"):
            yield "mcp", "servers", name, "read_only"


def _get(table: Table, section: Any, key: Any, default: Any) -> Any:
    return table.get(section, {}).get(key, default)


def _append(data: Table, before: Table, path: KeyPath) -> None:
    """Put what a project adds behind what is there already."""
    for part in path[:-1]:
        data, before = data.get(str(part), {}), before.get(str(part), {})
    key = str(path[-1])
    if key not in data or not before.get(key):
        return
    old, new = before[key], data[key]
    if isinstance(old, list) and isinstance(new, list):
        data[key] = [*cast("list[Any]", old), *(one for one in cast("list[Any]", new) if one not in old)]
