"""All settings of a run: defaults < user file < trusted project file < environment < flags."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final, cast

import msgspec

from gongfu.config.document import KeyPath, dotted
from gongfu.config.layer import Layer, expanded, read_layer, shown
from gongfu.config.paths import Places
from gongfu.config.project import marked, tightened, without_references
from gongfu.config.settings import Settings
from gongfu.core.base import Base
from gongfu.core.errors import ConfigError, UsageError

PROJECT_FILE: Final = Path(".gongfu", "config.yaml")
"""The settings file of a project, from its root."""

VARIABLES: Final[dict[str, KeyPath]] = {
    "GONGFU_LANGUAGE": ("language",),
    "GONGFU_MODEL": ("models", "main"),
    "GONGFU_FAST_MODEL": ("models", "fast"),
    "GONGFU_EMBEDDING_MODEL": ("models", "embedding"),
    "GONGFU_PERMISSION": ("permission", "mode"),
    "GONGFU_MAX_STEPS": ("limits", "max_steps"),
    "GONGFU_MAX_COST": ("limits", "max_cost"),
    "GONGFU_MAX_MINUTES": ("limits", "max_minutes"),
    "GONGFU_MAX_TOKENS": ("limits", "max_tokens"),
}
"""Variables that set one setting each. `GONGFU_CONTEXT_WINDOW` sets the window of the main models."""

ANY_MODEL: Final = "*"
"""The entry of `model_settings` for whichever model is found when none is named."""


class Flags(Base, frozen=True):
    """What the command line or a caller asks for; empty and None leave a setting as it is.

    `model` and `fast` are chains at commas. Money is US dollars.
    """

    model: str = ""
    fast: str = ""
    permission: str = ""
    language: str = ""
    window: int | None = None
    max_steps: int | None = None
    max_cost: float | None = None
    max_minutes: float | None = None
    max_tokens: int | None = None


_FLAGS: Final[dict[str, KeyPath]] = {
    "language": ("language",),
    "model": ("models", "main"),
    "fast": ("models", "fast"),
    "permission": ("permission", "mode"),
    "max_steps": ("limits", "max_steps"),
    "max_cost": ("limits", "max_cost"),
    "max_minutes": ("limits", "max_minutes"),
    "max_tokens": ("limits", "max_tokens"),
}


class Notice(Base, frozen=True):
    """Something about the settings that the person should know: a key of the catalogue with its values."""

    key: str
    values: dict[str, str]


class Loaded(Base, frozen=True):
    """The settings, and for every dotted key that is not at its default where it was set: a file, variable or flag."""

    settings: Settings
    origins: dict[str, str] = {}
    notices: tuple[Notice, ...] = ()


def load(
    places: Places,
    *,
    project: Path | None,
    project_trusted: bool,
    env: Mapping[str, str],
    flags: Flags,
    name: str = "",
    digest: str | None = None,
) -> Loaded:
    """The settings for a run in `project` (the workspace root, None for none).

    `name` is a named configuration that takes the place of the user file. `digest` is the SHA-256 of the project's file
    as it was trusted: another one is left out (None: whatever is there). Raises ConfigError with file, line and
    column for a file that is wrong, UsageError for a variable, a flag or a name that is.
    """
    stack = _Stack()
    file = settings_file(places, name)
    if user := read_layer(file, places.cache):
        stack.add(expanded(user, env), user.file)
        stack.notice_readable(user)
    if project is not None and (own := _project_file(project, places)):
        if not project_trusted:
            stack.notices.append(Notice(key="config.project_untrusted", values={"file": str(own)}))
        elif layer := read_layer(own, places.cache):
            if digest is None or _digest(own) == digest:
                stack.add_project(layer, env)
            else:
                stack.notices.append(Notice(key="config.project_changed", values={"file": str(own)}))
    stack.add_variables(env)
    stack.add_flags(flags)
    stack.add_window(env, flags)
    return stack.loaded()


def settings_file(places: Places, name: str = "") -> Path:
    """The user's settings file, or that of the configuration called `name`.

    Raises UsageError when `name` is a path or there is no such configuration.
    """
    if not name:
        return places.config
    if not is_name(name):
        raise UsageError("config.no_name", name=name, folder=places.configs)
    file = places.configs / f"{name}.yaml"
    if not file.is_file():
        known = ", ".join(names(places))
        if not known:
            raise UsageError("config.unknown_name_none", name=name, folder=places.configs)
        raise UsageError("config.unknown_name", name=name, folder=places.configs, known=known)
    return file


def names(places: Places) -> list[str]:
    """The named configurations."""
    return sorted(file.stem for file in places.configs.glob("*.yaml") if is_name(file.stem))


def is_name(name: str) -> bool:
    """Whether `name` can name a configuration: letters, digits, `-`, `_` and inner dots; never a path."""
    return name[:1].isalnum() and all(part.replace("-", "").replace("_", "").isalnum() for part in name.split("."))


def _project_file(project: Path, places: Places) -> Path | None:
    file = project / PROJECT_FILE
    try:
        if not file.is_file() or (places.config.exists() and file.samefile(places.config)):
            return None
    except OSError:
        return file  # reading it will say why it cannot be read
    return file


def _digest(file: Path) -> str:
    from hashlib import sha256  # only where a project has settings

    try:
        return sha256(file.read_bytes()).hexdigest()
    except OSError:
        return ""


class _Stack:
    """Settings as plain data while layer comes upon layer."""

    def __init__(self) -> None:
        self.data: dict[str, Any] = {}
        self.origins: dict[str, str] = {}
        self.notices: list[Notice] = []
        self._given: list[tuple[str, KeyPath, str]] = []
        self._hooks = 0  # those of the project, which are the last
        self._providers: tuple[str, ...] = ()  # those of the project

    def add(self, data: dict[str, Any], origin: str, *, whole: tuple[str, ...] = ()) -> None:
        """Lay `data` over what is there. Entries of the tables in `whole` replace, never mix with, those of before:
        a key given for one address must not go to another.
        """
        for table in whole:
            for entry in data.get(table, {}):
                self.data.get(table, {}).pop(entry, None)
                start = dotted((table, entry))
                self.origins = {key: at for key, at in self.origins.items() if not key.startswith(f"{start}.")}
        self._merge(self.data, data, (), origin)

    def _merge(self, base: dict[str, Any], over: dict[str, Any], path: KeyPath, origin: str) -> None:
        for key, value in over.items():
            if key == "hooks" and not path and base.get(key):
                from gongfu.config.hooks import joined  # only where two layers have hooks

                base[key] = joined(base[key], value)
                self.origins[key] = origin
            elif isinstance(value, dict) and (key != "hooks" or path):
                self._merge(base.setdefault(key, {}), cast("dict[str, Any]", value), (*path, key), origin)
            else:
                base[key] = value
                self.origins[dotted((*path, key))] = origin
                if isinstance(value, dict):  # hooks in the shape of Claude Code: one value, shown by its events
                    self.origins.update((dotted((key, event)), origin) for event in cast("dict[str, Any]", value))

    def add_project(self, layer: Layer, env: Mapping[str, str]) -> None:
        """Lay what a project may set over what is there; the person is told what is not taken."""

        def refused(path: KeyPath, key: str = "config.project_loosens") -> None:
            self.notices.append(Notice(key=key, values={"file": layer.file, "name": dotted(path)}))

        layer = without_references(layer, lambda path: refused(path, "config.project_key"))
        data = tightened(expanded(layer, env), self.data, refused)
        self._providers = tuple(data.get("providers", ()))
        if given := data.get("hooks"):
            from gongfu.config.hooks import count_of  # only where a project has hooks

            self._hooks = count_of(given)
        self.add(data, layer.file, whole=("providers",))

    def notice_readable(self, layer: Layer) -> None:
        """Tell when others on this machine can read a file that holds keys."""
        if layer.plain_keys and os.name == "posix" and os.stat(layer.file).st_mode & 0o077:  # noqa: PTH116
            self.notices.append(Notice(key="config.readable", values={"file": layer.file}))

    def add_variables(self, env: Mapping[str, str]) -> None:
        """Take what the environment sets; an empty variable sets nothing."""
        for variable, path in VARIABLES.items():
            if text := env.get(variable, ""):
                self._give(variable, path, text)

    def add_flags(self, flags: Flags) -> None:
        """Take what the flags set."""
        for flag, path in _FLAGS.items():
            value = getattr(flags, flag)
            if value not in ("", None):
                self._give(f"--{flag.replace('_', '-')}", path, str(value))

    def add_window(self, env: Mapping[str, str], flags: Flags) -> None:
        """Set the window of the main models, or of any model when none is named."""
        origin, text = ("--window", str(flags.window)) if flags.window else ("GONGFU_CONTEXT_WINDOW", "")
        text = text or env.get("GONGFU_CONTEXT_WINDOW", "")
        if text:
            for ref in self.data.get("models", {}).get("main", ()) or [ANY_MODEL]:
                self._give(origin, ("model_settings", ref, "window"), text)

    def _give(self, origin: str, path: KeyPath, text: str) -> None:
        self._given.append((origin, path, text))
        data: dict[str, Any] = {str(path[-1]): _value(path, text)}
        for part in reversed(path[:-1]):
            data = {str(part): data}
        self.add(data, origin)

    def loaded(self) -> Loaded:
        """The settings of all layers. Raises UsageError that names the variable or flag that does not fit."""
        try:
            settings = msgspec.convert(self.data, Settings) if self.data else Settings()
        except msgspec.ValidationError as error:
            raise self._culprit() or ConfigError("config.unfit", reason=error) from error
        if self._hooks or self._providers:
            settings = marked(settings, hooks=self._hooks, providers=self._providers)
        return Loaded(settings=settings, origins=self.origins, notices=tuple(self.notices))

    def _culprit(self) -> UsageError | None:
        from gongfu.config import types  # walks all types: only for a mistake

        for origin, path, text in self._given:
            kind = types.type_at(path)
            try:
                if kind is not None:
                    types.fit(_value(path, text), kind, path, open_texts=False)
            except types.Misfit as misfit:
                return UsageError("config.wrong_given", origin=origin, wanted=misfit.wanted, found=shown(text))
        return None


def _value(path: KeyPath, text: str) -> Any:
    """A variable's text as plain data. What is no number stays text, and does not fit later."""
    if path in (("models", "main"), ("models", "fast")):
        return [part.strip() for part in text.split(",") if part.strip()]
    if path[0] in ("limits", "model_settings"):
        for number in (int, float):
            try:
                return number(text.replace("_", ""))
            except ValueError:
                continue
    return text
