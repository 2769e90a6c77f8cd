"""Settings of other agents, read so that they can be taken over."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, cast
from urllib.parse import urlsplit

from gongfu.config.document import Document
from gongfu.core.base import Base
from gongfu.core.errors import UsageError, UserError
from gongfu.models.known import CLOUD, SERVERS, Known

_ROLES = {"main_model": "main", "cheap_model": "fast", "embedding": "embedding"}
_NO_KEYS = ("", "YOUR_API_KEY", "EMPTY", "none", "null")


class Foreign(Base, frozen=True):
    """What was found: dotted settings with their values, keys by provider, and names of what has no counterpart."""

    settings: tuple[tuple[str, str], ...]
    keys: dict[str, str] = {}
    left: tuple[str, ...] = ()


def read_foreign(path: Path, env: Mapping[str, str]) -> Foreign:
    """The settings in a tea_agent file (`main_model`, `cheap_model`, `embedding`).

    Raises UserError for a file that cannot be read, ConfigError for bad YAML, UsageError for anything else.
    """
    try:
        text = path.expanduser().read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise UserError("cli.file_unreadable", path=path, reason=getattr(error, "strerror", "") or error) from error
    data = Document(text, str(path)).data
    if not any(isinstance(data.get(name), dict) for name in _ROLES):
        raise UsageError("setup.foreign_unknown", path=path)
    settings: list[tuple[str, str]] = []
    keys: dict[str, str] = {}
    for section, role in _ROLES.items():
        fields = data.get(section)
        if isinstance(fields, dict):
            _section(cast("dict[str, Any]", fields), role, settings, keys, env)
    left = [name for name in data if name not in _ROLES and name != "max_iterations"]
    if isinstance(data.get("max_iterations"), int) and data["max_iterations"] > 0:
        settings.append(("limits.max_steps", str(data["max_iterations"])))
    return Foreign(settings=tuple(dict(settings).items()), keys=keys, left=tuple(left))


def _section(
    fields: dict[str, Any], role: str, settings: list[tuple[str, str]], keys: dict[str, str], env: Mapping[str, str]
) -> None:
    address, model = str(fields.get("api_url") or "").strip(), str(fields.get("model_name") or "").strip()
    if not address or not model:
        return
    provider = _known_at(address)
    name = provider.name if provider else _name_of(address)
    ref = f"{name}/{model}"
    if provider is None or address.rstrip("/") != provider.base_url.rstrip("/"):
        settings.append((f"providers.{name}.base_url", address))
    key = str(fields.get("api_key") or "").strip()
    if key not in _NO_KEYS and not key.startswith("${") and (provider is None or not provider.port):
        keys[name] = key
    elif key.startswith("${") and key[2:-1] in env:
        settings.append((f"providers.{name}.api_key", key))
    settings.append((f"models.{role}", ref))
    options = fields.get("options")
    options = cast("dict[str, Any]", options) if isinstance(options, dict) else {}
    named = {"max_tokens": "max_output_tokens", "temperature": "temperature", "top_p": "top_p"}
    for theirs, ours in named.items():
        value = options.get(theirs, fields.get(theirs))
        if isinstance(value, int | float) and not isinstance(value, bool):
            settings.append((f'model_settings."{ref}".{ours}', str(value)))


def _known_at(address: str) -> Known | None:
    """The provider whose own address this is."""
    parts = urlsplit(address)
    local = parts.hostname in ("localhost", "127.0.0.1", "::1")
    for provider in (*SERVERS, *CLOUD):
        own = urlsplit(provider.base_url)
        if (local and provider.port and parts.port == provider.port) or (not local and parts.hostname == own.hostname):
            return provider
    return None


def _name_of(address: str) -> str:
    host = urlsplit(address).hostname or "custom"
    words = [word for word in host.split(".") if word not in ("api", "www") and not word.isdigit()]
    return words[0] if words and words[0].replace("-", "").isalnum() else "custom"
