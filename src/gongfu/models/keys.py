"""Where a provider's key comes from. Keys are never logged; `masked` is how one is shown."""

from __future__ import annotations

import os
import stat
import sys
from collections.abc import Mapping
from importlib import import_module
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, cast

from gongfu.config.settings import ProjectProvider
from gongfu.core.base import Base
from gongfu.core.errors import ConfigError, UserError
from gongfu.models.known import Known, known

if TYPE_CHECKING:
    from gongfu.config.paths import Places
    from gongfu.config.settings import Provider

Source: TypeAlias = Literal["settings", "environment", "keyring", "file"]
SERVICE = "gongfu"
"""The service under which keys are kept in the system keyring; the user name is the provider's."""


class Key(Base, frozen=True):
    """A key and where it was found: `place` names the variable, file or keyring entry. Its repr hides the key."""

    value: str
    source: Source
    place: str

    def __repr__(self) -> str:
        return f"Key({masked(self.value)!r}, {self.source}, {self.place!r})"


def masked(key: str) -> str:
    """A key for display: its first three and last four characters; of a short one nothing."""
    return f"{key[:3]}…{key[-4:]}" if len(key) >= 12 else "…"


def key_for(provider_name: str, provider: Provider | None, env: Mapping[str, str], places: Places) -> str | None:
    """The key of a provider, or None. See `find_key`."""
    found = find_key(provider_name, provider, env, places)
    return found.value if found else None


def find_key(
    provider_name: str,
    provider: Provider | None,
    env: Mapping[str, str],
    places: Places,
    *,
    keyring: bool = True,
    filed: Mapping[str, str] | None = None,
) -> Key | None:
    """Look in the settings, the usual variables, `<home>/keys.yaml` and the system keyring, in this order.

    A provider that nobody knows is looked up as NAME_API_KEY. One of a project's settings has only the key that stands
    there: where it leads is not the person's choice. Raises UserError for a key file that others can read or
    that is no table of names and keys. `keyring` False leaves the keyring out: it is slow and may ask the person.
    `filed` is what `filed_keys` gave, for whoever looks for many.
    """
    if provider is not None and provider.api_key.strip():
        return Key(value=provider.api_key.strip(), source="settings", place=f"providers.{provider_name}.api_key")
    if isinstance(provider, ProjectProvider):
        return None
    for name in variables_of(provider_name):
        if value := env.get(name, "").strip():
            return Key(value=value, source="environment", place=name)
    found = _filed(provider_name, filed_keys(places) if filed is None else filed)
    if found:
        return Key(value=found, source="file", place=str(places.keys))
    return _from_keyring(provider_name) if keyring else None


def variables_of(provider_name: str) -> tuple[str, ...]:
    """The environment variables that may hold the key of a provider."""
    builtin: Known | None = known(provider_name)
    if builtin:
        return builtin.keys
    word = "".join(c if c.isalnum() else "_" for c in provider_name).upper()
    return (f"{word}_API_KEY",)


def all_variables() -> frozenset[str]:
    """Every variable that is read as a key; none of them may reach a child process."""
    from gongfu.models.known import CLOUD, SERVERS

    return frozenset(name for provider in (*CLOUD, *SERVERS) for name in provider.keys)


def _from_keyring(provider_name: str) -> Key | None:
    """Ask the system keyring when the `keyring` package is there; one that is locked or broken counts as empty."""
    from importlib.util import find_spec  # the file and the variables come first, and most keys are found there

    if "keyring" not in sys.modules and find_spec("keyring") is None:
        return None
    keyring: Any = import_module("keyring")  # optional, and slow to load
    errors: Any = import_module("keyring.errors")
    try:
        value = cast("str | None", keyring.get_password(SERVICE, provider_name))
    except errors.KeyringError:
        return None
    return Key(value=value, source="keyring", place=f"{SERVICE}/{provider_name}") if value else None


def filed_keys(places: Places) -> dict[str, str]:
    """The keys in the key file by the names written there. Raises UserError when others can read it or it is wrong."""
    path = places.keys
    try:
        status = path.stat()
    except OSError:
        return {}
    if os.name == "posix" and stat.S_IMODE(status.st_mode) & 0o077:
        raise UserError("keys.too_open", file=path, mode=f"{stat.S_IMODE(status.st_mode):04o}")
    return _read(path.read_bytes(), str(path))


def _filed(provider_name: str, keys: Mapping[str, str]) -> str:
    builtin = known(provider_name)
    names = (provider_name, *((builtin.name, *builtin.aliases) if builtin else ()), *variables_of(provider_name))
    return next((keys[n] for n in names if keys.get(n)), "")


def _read(data: bytes, file: str) -> dict[str, str]:
    from ruamel.yaml import YAML, YAMLError  # only when there is such a file

    try:
        value: Any = cast("Any", YAML(typ="safe", pure=True)).load(data.decode("utf-8-sig"))
    except (YAMLError, UnicodeDecodeError) as error:
        line = getattr(getattr(error, "problem_mark", None), "line", -1) + 1
        raise ConfigError("keys.unreadable", file=file, line=line) from None  # the error quotes the file: keys
    if value is None:
        return {}
    if not isinstance(value, dict):
        raise ConfigError("keys.unreadable", file=file, line=1)
    return {str(k): str(v).strip() for k, v in cast("dict[Any, Any]", value).items() if v is not None}
