"""One settings file read and checked, through a cache that spares parsing it again."""

from __future__ import annotations

import os
import time
import zlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final, cast

import msgspec

from gongfu.config.document import Document, KeyPath, Mark, dotted
from gongfu.config.expand import MissingVariable, expand, has_reference
from gongfu.config.files import read_text, write_private
from gongfu.core.errors import ConfigError, UserError
from gongfu.core.version import __version__

_SETTLED: Final = 50_000_000
"""Nanoseconds: a file changed within them may change again without a new time stamp, so it is not cached."""


class Reference(msgspec.Struct, frozen=True, array_like=True):
    """A `${NAME}` in a file: where in the data, where in the file, and whether any text fits there."""

    path: tuple[str | int, ...]
    mark: Mark
    any_text: bool


class Layer(msgspec.Struct, frozen=True):
    """What one file sets, checked against the types; references are not replaced yet."""

    file: str
    data: dict[str, Any] = {}
    references: tuple[Reference, ...] = ()
    plain_keys: bool = False
    """Whether an `api_key` stands in it as it is."""


class _Cached(msgspec.Struct, frozen=True):
    version: str
    stamp: tuple[int, ...]
    layer: Layer


def read_layer(path: Path, cache: Path | None) -> Layer | None:
    """The settings in the file at `path`; None when there is no such file.

    `cache` is the folder of the cache, None to read the file itself. Raises ConfigError with file, line and column.
    """
    try:
        found = os.stat(path)  # noqa: PTH116 - one call is all that the usual run makes
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as error:
        raise ConfigError("config.unreadable", file=path, reason=error.strerror or error) from error
    stamp = (found.st_mtime_ns, found.st_ctime_ns, found.st_size, found.st_ino)
    if cache is None:
        return parse_layer(path)
    entry = cache / f"settings-{zlib.crc32(os.fsencode(path)):08x}.json"
    layer = _from_cache(entry, stamp, str(path))
    if layer is None:
        layer = parse_layer(path)
        if layer is not None and time.time_ns() - found.st_mtime_ns > _SETTLED:
            _to_cache(entry, _Cached(version=__version__, stamp=stamp, layer=layer))
    return layer


def parse_layer(path: Path) -> Layer | None:
    """Read and check the file at `path` itself; None when there is none."""
    text = read_text(path)
    return None if text is None else check_text(text, str(path))[1]


def check_text(text: str, file: str) -> tuple[Document, Layer]:
    """Check the text of a settings file called `file` against the types. Raises ConfigError with line and column."""
    from gongfu.config import types  # walks all types: only when a file is really read

    document = Document(text, file)
    kind = types.settings_type()
    try:
        types.fit(document.data, kind)
        if document.data.get("hooks"):
            _check_hooks(document.data["hooks"])
        if document.data.get("permission"):
            check_rules(document.data["permission"])
    except types.Misfit as misfit:
        raise explain(misfit, document) from misfit
    data = cast("dict[str, Any]", types.without_nulls(document.data, kind))
    references = tuple(_references(data, document, ()))
    providers = cast("dict[str, dict[str, Any]]", data.get("providers", {}))
    plain = any(one.get("api_key") and not has_reference(one["api_key"]) for one in providers.values())
    return document, Layer(file=file, data=data, references=references, plain_keys=plain)


def _check_hooks(given: Any) -> None:
    from gongfu.config import hooks, types  # only where there are hooks

    try:
        hooks.check(given, ("hooks",))
    except hooks.Unfit as unfit:
        raise types.Misfit(unfit.path, unfit.wanted, unfit.value, known=unfit.known) from unfit


def check_rules(permission: Any) -> None:
    """Raises `types.Misfit` for the first rule of the section `permission` that is none."""
    from gongfu.config import rule_texts, types  # only where there are rules

    if unfit := rule_texts.first_unfit(permission):
        path, text = unfit
        raise types.Misfit(path, rule_texts.WANTED, text)


def expanded(layer: Layer, env: Mapping[str, str]) -> dict[str, Any]:
    """The data of a layer with its references replaced by `env` and fitted to their types.

    Raises ConfigError that names file, line and variable.
    """
    data = layer.data
    for reference in layer.references:
        line, column = reference.mark
        place: dict[str, Any] = {"file": layer.file, "line": line, "column": column}
        holder: Any = data
        for part in reference.path[:-1]:
            holder = holder[part]
        last = reference.path[-1]
        try:
            value = expand(holder[last], env)
        except MissingVariable as missing:
            key = "config.bad_reference" if missing.malformed else "config.no_variable"
            raise ConfigError(key, name=dotted(reference.path), variable=missing.name, **place) from missing
        holder[last] = value if reference.any_text else _fitted(value, reference.path, place)
    return data


def explain(misfit: Any, document: Document) -> ConfigError:
    """The error for a value or key of `document` that does not fit (a `types.Misfit`)."""
    unknown = misfit.known is not None
    line, column = document.where(misfit.path, key=unknown)
    place: dict[str, Any] = {"file": document.file, "line": line, "column": column, "name": dotted(misfit.path)}
    if not unknown:
        found = "…" if is_secret(misfit.path) else shown(misfit.value)
        return ConfigError("config.wrong_type", wanted=misfit.wanted, found=found, **place)
    near = nearest(str(misfit.path[-1]), misfit.known)
    if near:
        return ConfigError("config.unknown_key", near=dotted((*misfit.path[:-1], near)), **place)
    return ConfigError("config.unknown_key_none", known=", ".join(misfit.known), **place)


def is_secret(path: KeyPath) -> bool:
    """Whether the value at `path` is not to be shown: a key, headers, or the variables of an MCP server."""
    return path[-1:] == ("api_key",) or "headers" in path or (path[:1] == ("mcp",) and "env" in path[3:])


def nearest(name: str, known: tuple[str, ...]) -> str:
    """The known name that is most like `name`; empty when none is."""
    import difflib  # only for a mistake

    return next(iter(difflib.get_close_matches(name.lower(), known, n=1, cutoff=0.6)), "")


def shown(value: Any) -> str:
    """A value as an error shows it: short, as YAML would."""
    text = msgspec.json.encode(value).decode() if not isinstance(value, float) else repr(value)
    return text if len(text) <= 60 else f"{text[:57]}…"


def _fitted(text: str, path: KeyPath, place: dict[str, Any]) -> Any:
    from gongfu.config import types  # see `check_text`

    kind = types.type_at(path)
    value = text if kind is None else types.from_text(text, kind)
    try:
        if kind is not None:
            types.fit(value, kind, path, open_texts=False)
    except types.Misfit as misfit:
        found = "…" if is_secret(path) else shown(text)
        raise ConfigError(
            "config.wrong_type", wanted=misfit.wanted, found=found, name=dotted(path), **place
        ) from misfit
    return value


def _references(value: Any, document: Document, path: KeyPath) -> list[Reference]:
    from gongfu.config import types  # see `check_text`

    if isinstance(value, dict):
        if path == ("hooks",):  # Claude Code's shape: a shell runs its lines, and `${NAME}` is the shell's
            return []
        items = cast("dict[str, Any]", value)
        return [found for key, item in items.items() for found in _references(item, document, (*path, key))]
    if isinstance(value, list):
        items_of = cast("list[Any]", value)
        return [found for i, item in enumerate(items_of) for found in _references(item, document, (*path, i))]
    if not has_reference(value):
        return []
    kind = types.type_at(path)
    return [Reference(path=path, mark=document.where(path), any_text=kind is None or types.accepts_text(kind))]


def _from_cache(entry: Path, stamp: tuple[int, ...], path: str) -> Layer | None:
    try:
        cached = msgspec.json.decode(entry.read_bytes(), type=_Cached)
    except (OSError, msgspec.DecodeError):
        return None
    same = cached.version == __version__ and cached.stamp == stamp and cached.layer.file == path
    return cached.layer if same else None


def _to_cache(entry: Path, cached: _Cached) -> None:
    """Keep what was read; a home that cannot be written only costs the time to parse again."""
    try:
        entry.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        write_private(entry, msgspec.json.encode(cached), durable=False)
    except (OSError, UserError):
        return
