"""What `gongfu config` does."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any, cast

import msgspec

from gongfu.config import edit
from gongfu.config.load import Flags, Loaded, load, settings_file
from gongfu.config.paths import places
from gongfu.surfaces.cli.cli import Cli
from gongfu.surfaces.cli.render.table import table
from gongfu.surfaces.cli.result import to_json
from gongfu.surfaces.cli.standing import project_trusted
from gongfu.surfaces.cli.style import one_line
from gongfu.workspace.root import find_root


def _load(cli: Cli, config: str | None, root: str | None) -> Loaded:
    project = Path(root).absolute() if root else find_root(Path(), allow=True)
    found = places(cli.env)
    trusted = project_trusted(found, project)
    flags = Flags(language=cli.wanted_language)
    loaded = load(found, project=project, project_trusted=trusted, env=cli.env, flags=flags, name=config or "")
    for notice in loaded.notices:
        cli.note(cli.say.told(notice.key, notice.values))
    return loaded


def list_settings(cli: Cli, *, whole: bool, as_json: bool, config: str | None, root: str | None) -> int:
    """Print the settings that are set and where; with `whole` also those at their default. Secrets stay hidden."""
    loaded = _load(cli, config, root)
    data = cast("dict[str, Any]", edit.masked(msgspec.to_builtins(loaded.settings)))
    if whole:
        data = _with_defaults(loaded, data)
    if as_json:
        cli.out.line(to_json({"type": "settings", "settings": data, "origins": loaded.origins}))
        return 0
    rows = _rows(cli, loaded, data)
    for line in table(rows, columns=cli.size()[0] if cli.out.tty else 0):
        cli.out.line(line)
    if not rows:
        cli.note(cli.say("setup.nothing_set", path=settings_file(places(cli.env), config or "")))
    return 0


def rows_of(cli: Cli, loaded: Loaded) -> list[tuple[str, str, str]]:
    """Name, value and origin of each setting that is set; secrets stay hidden."""
    return _rows(cli, loaded, cast("dict[str, Any]", edit.masked(msgspec.to_builtins(loaded.settings))))


def _rows(cli: Cli, loaded: Loaded, data: dict[str, Any]) -> list[tuple[str, str, str]]:
    default = cli.say("setup.default")
    return [(name, shown(value), loaded.origins.get(name, default)) for name, value in _flat(data)]


def _with_defaults(loaded: Loaded, data: dict[str, Any]) -> dict[str, Any]:
    """The same with every section's fields, those at their default included."""

    def fields(value: Any, shown: Any) -> Any:
        if isinstance(value, msgspec.Struct):
            held = cast("dict[str, Any]", shown) if isinstance(shown, dict) else {}
            return {name: fields(getattr(value, name), held.get(name)) for name in value.__struct_fields__}
        return msgspec.to_builtins(value) if shown is None else shown

    return cast("dict[str, Any]", fields(loaded.settings, data))


def _flat(data: dict[str, Any], before: str = "") -> list[tuple[str, Any]]:
    rows: list[tuple[str, Any]] = []
    for key, value in data.items():
        inner = cast("dict[str, Any]", value) if isinstance(value, dict) else {}
        name = f'{before}"{key}"' if "." in key or "/" in key else f"{before}{key}"
        if inner:
            rows += _flat(inner, f"{name}.")
        else:
            rows.append((name, cast("Any", value)))
    return rows


def shown(value: Any) -> str:
    """A value on one line."""
    if isinstance(value, str):
        return one_line(value)
    return to_json(value)


def get_settings(cli: Cli, *, name: str, as_json: bool, config: str | None, root: str | None) -> int:
    """Print the value of one setting as it holds here."""
    value = edit.get_value(_load(cli, config, root).settings, name)
    told = edit.masked(value, edit.resolve(name))
    cli.out.line(to_json(told) if as_json else shown(told))
    return 0


def set_settings(cli: Cli, *, name: str, value: str, config: str | None) -> int:
    """Change one setting in the user's file or a named configuration."""
    path = edit.set_value(places(cli.env), name, value, config=config or "")
    cli.note(cli.say("setup.set", name=name, path=path))
    return 0


def unset_settings(cli: Cli, *, name: str, config: str | None) -> int:
    """Take one setting out, so that its default counts again."""
    done = edit.unset_value(places(cli.env), name, config=config or "")
    cli.note(cli.say("setup.unset" if done else "setup.was_not_set", name=name))
    return 0


def path_settings(cli: Cli, *, config: str | None) -> int:
    """Print the path of the settings file."""
    cli.out.line(str(settings_file(places(cli.env), config or "")))
    return 0


def schema_settings(cli: Cli) -> int:
    """Print the JSON Schema of the settings."""
    from gongfu.config.schema import json_schema

    cli.out.line(to_json(json_schema(), indent=True))
    return 0


def history_settings(cli: Cli, *, as_json: bool) -> int:
    """Print the earlier versions of the settings files, the newest first."""
    versions = edit.history(places(cli.env))
    if as_json:
        rows = [{"path": str(v.path), "file": v.file, "time": v.time} for v in versions]
        cli.out.line(to_json({"type": "settings_history", "versions": rows}))
        return 0
    for version in versions:
        when = time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(version.time))
        cli.out.line(f"{when}  {version.file}  {version.path}")
    if not versions:
        cli.note(cli.say("setup.no_history"))
    return 0
