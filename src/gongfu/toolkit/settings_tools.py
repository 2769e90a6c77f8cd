"""The settings, for the model: seen without secrets, changed with consent."""

from __future__ import annotations

import time
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any, Literal, cast

from anyio import to_thread

from gongfu.config import edit
from gongfu.config.layer import is_secret
from gongfu.config.load import PROJECT_FILE, is_name
from gongfu.config.paths import Places
from gongfu.config.settings import Settings
from gongfu.core.errors import ToolFailure, UserError
from gongfu.core.secrets import redact
from gongfu.tools.decorator import tool
from gongfu.tools.protocol import Claim, Facts, Outcome, Tool

_MOST = 200
_LONG = 200
Action = Literal["list", "get", "set", "unset", "history"]


class SettingsTools:
    """The tools `settings` and `config_path`. `project` is the root of the workspace."""

    def __init__(self, places: Places, settings: Settings, project: Path) -> None:
        self._places = places
        self._settings = settings
        self._project = project

    def __iter__(self) -> Iterator[Tool]:
        yield self.settings
        yield self.config_path

    def _file(self, config: str) -> Path:
        if not config:
            return self._places.config
        if not is_name(config):
            raise ToolFailure(f"config: {config[:80]!r} is no name of a configuration")
        return self._places.configs / f"{config}.yaml"

    async def _facts(self, args: dict[str, Any]) -> Facts:
        action, name = str(args.get("action", "list")), str(args.get("name", "")).strip()
        title = f"{action} {name}".strip()[:120]
        if action not in ("set", "unset"):
            return Facts(access=("read",), title=title)
        self._check(name, str(args.get("value", "")) if action == "set" else "")
        file = str(self._file(str(args.get("config", ""))).resolve())
        value = str(args.get("value", "")) if action == "set" else "(default)"
        return Facts(
            access=("write",), paths=(file,), writes=(file,), title=title,
            preview={"kind": "text", "text": f"{name}: {self._now(name)} → {value[:_LONG]}", "summary": name},
        )  # fmt: skip

    def _claims(self, args: dict[str, Any]) -> tuple[Claim, ...]:
        return (Claim(resource="settings", write=args.get("action") in ("set", "unset")),)

    def _check(self, name: str, value: str) -> None:
        """ToolFailure for a name that is no setting, and for a key in plain text."""
        if not name:
            raise ToolFailure("name is empty; settings list tells the names")
        try:
            path = edit.resolve(name)
        except UserError as error:
            raise ToolFailure(str(error)) from None
        if value and is_secret(path) and "${" not in value:
            raise ToolFailure(
                f"{name} holds a secret, which never goes through a model: name a variable, such as ${{KEY}}, or let "
                f"the person run `gongfu config set {name}`"
            )

    def _now(self, name: str) -> str:
        try:
            return _shown(edit.masked(edit.get_value(self._settings, name), edit.resolve(name)))
        except UserError:
            return "(not set)"

    @tool(access=("read", "write"), facts=_facts, claims=_claims)
    async def settings(self, action: Action = "list", name: str = "", value: str = "", config: str = "") -> Outcome:
        name = name.strip()
        match action:
            case "list":
                return self._list(name)
            case "get":
                return self._get(name)
            case "history":
                return self._history()
            case _:
                return await self._change(action, name, value, config)

    def _list(self, start: str) -> Outcome:
        every = [f"{n} = {_shown(v)}" for n, v in _leaves(edit.masked(edit.plain(self._settings)), "")]
        lines = [line for line in every if line.startswith(start)]
        if not lines:
            raise ToolFailure(f"no setting begins with {start[:80]!r}; list without a name tells all")
        cut = [f"… {len(lines) - _MOST} more; give the beginning of a name"] if len(lines) > _MOST else []
        shown = [redact(line) for line in lines[:_MOST]]
        return Outcome(
            text="\n".join([*shown, *cut]),
            display={"kind": "list", "items": shown, "total": len(lines), "summary": f"{len(lines)} settings"},
        )

    def _get(self, name: str) -> Outcome:
        self._check(name, "")
        text = redact(f"{name} = {self._now(name)}")
        return Outcome(text=text, display={"kind": "text", "text": text, "summary": text[:80]})

    def _history(self) -> Outcome:
        found = edit.history(self._places)[:50]
        lines = [
            f"{time.strftime('%Y-%m-%d %H:%M:%S', time.localtime(v.time))} {v.file} ({v.path.name})" for v in found
        ]
        text = "\n".join(lines) or "The settings were never changed through Gongfu."
        return Outcome(text=text, display={"kind": "list", "items": lines, "total": len(lines)})

    async def _change(self, action: Action, name: str, value: str, config: str) -> Outcome:
        self._check(name, value if action == "set" else "")
        self._file(config)
        try:
            if action == "set":
                change = partial(edit.set_value, self._places, name, value, config=config)
                done = f"{name} is set in {await to_thread.run_sync(change)}"
            else:
                unset = partial(edit.unset_value, self._places, name, config=config)
                done = f"{name} is taken out" if await to_thread.run_sync(unset) else f"{name} was not set there"
        except UserError as error:
            raise ToolFailure(str(error)) from None
        text = f"{done}. It holds for sessions that begin from now on; what it was is in the history."
        return Outcome(text=text, display={"kind": "text", "text": text, "summary": name})

    @tool(access="read")
    async def config_path(self) -> Outcome:
        places = self._places
        project = self._project / PROJECT_FILE
        rows = {
            "home": places.home, "settings": places.config, "named configurations": places.configs,
            "history of settings": places.history, "commands": places.home / "commands",
            "work modes": places.home / "modes", "own rules": places.home / "AGENTS.md", "logs": places.logs,
            "sessions": places.store, "project settings": project, "project commands": project.parent / "commands",
            "project work modes": project.parent / "modes",
        }  # fmt: skip
        lines = [f"{what}: {path}{'' if path.exists() else ' (not there)'}" for what, path in rows.items()]
        return Outcome(
            text="\n".join(lines),
            display={"kind": "list", "items": lines, "total": len(lines), "summary": str(places.home)},
        )


def _leaves(value: Any, name: str) -> Iterator[tuple[str, Any]]:
    if isinstance(value, dict) and value:
        for key, item in cast("dict[str, Any]", value).items():
            part = f'"{key}"' if "." in key else key
            yield from _leaves(item, f"{name}.{part}" if name else part)
    else:
        yield name, value


def _shown(value: Any) -> str:
    import json

    text = value if isinstance(value, str) and value else json.dumps(value, ensure_ascii=False)
    return text if len(text) <= _LONG else f"{text[: _LONG - 1]}…"
