"""Settings of tea_agent turned into ours: `config.yaml` with `main_model`, `cheap_model`, or its `provider.yaml`."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final, cast
from urllib.parse import urlsplit

from gongfu.config.document import Document, KeyPath, dotted
from gongfu.config.edit import masked
from gongfu.config.files import read_text
from gongfu.config.layer import check_text
from gongfu.config.patch import flow
from gongfu.core.base import Base
from gongfu.core.errors import ConfigError, UsageError, UserError

_KEY: Final = ("api_key", "key", "api_token", "token")
_URL: Final = ("api_url", "base_url", "url", "api_base", "endpoint")
_NAME: Final = ("model_name", "model", "name")
_SECTIONS: Final = {
    "main_model": "main",
    "cheap_model": "fast",
    "fast_model": "fast",
    "embedding": "embedding",
    "embedding_model": "embedding",
}
_PORTS: Final = {11434: "ollama", 1234: "lmstudio", 8080: "llamacpp", 8000: "vllm"}
_EFFORTS: Final = {
    "none": "off",
    "minimal": "low",
    "low": "low",
    "medium": "medium",
    "high": "high",
    "xhigh": "high",
    "max": "high",
}
_MODEL: Final = {
    "temperature": "temperature",
    "top_p": "top_p",
    "max_tokens": "max_output_tokens",
    "max_output_tokens": "max_output_tokens",
    "max_context_tokens": "window",
    "context_window": "window",
    "supports_vision": "supports_images",
    "supports_images": "supports_images",
    "supports_tools": "supports_tools",
}
_REFERENCE: Final = re.compile(r"\$\{(?![A-Za-z_][A-Za-z0-9_]*\})")


class Imported(Base, frozen=True):
    """`text` is a whole settings file of ours, valid and with comments; `taken` and `not_taken` are the dotted keys
    of the old file that found a place in it, and those that did not.
    """

    text: str
    taken: tuple[str, ...]
    not_taken: tuple[str, ...]

    def settings(self) -> list[tuple[KeyPath, str]]:
        """Path and text of every setting in `text`, as `edit.set_value` takes them by their dotted names."""
        leaves = _leaves(Document(self.text, "").data, ())
        return [(path, value if isinstance(value, str) else flow(value)) for path, value in leaves]


def import_file(path: Path) -> Imported:
    """Read a tea_agent configuration. The file is only read.

    Raises UserError when there is none, ConfigError with line and column when it is no YAML, UsageError when nothing
    in it is a model or an endpoint.
    """
    text = read_text(path)
    if text is None:
        raise UserError("config.no_file", file=path)
    reader = _Reader(Document(text, str(path)).data)
    reader.read()
    if not reader.data.get("providers"):
        raise UsageError("config.nothing_to_import", file=path)
    written = reader.written(path.name)
    try:
        check_text(written, str(path))
    except ConfigError as error:  # an odd value that fits nowhere: say so, do not write a file that does not load
        raise UsageError("config.not_imported", file=path, reason=error) from error
    return Imported(text=written, taken=tuple(sorted(reader.taken)), not_taken=tuple(sorted(reader.left())))


class _Reader:
    def __init__(self, old: dict[str, Any]) -> None:
        self.old = old
        self.data: dict[str, Any] = {}
        self.taken: set[str] = set()

    def read(self) -> None:
        for name, entry in _mapping(self.old.get("providers")).items():
            self._provider_entry(name, _mapping(entry))
        for section, role in _SECTIONS.items():
            self._model_section((section,), role)
        for role in ("main", "cheap"):
            self._role(role)
        for before in ((), ("settings",)):
            self._runtime(before)

    def left(self) -> set[str]:
        """The keys of the old file that were not taken."""
        return {dotted(path) for path, _ in _leaves(self.old, ())} - self.taken

    # --- where models are ---

    def _model_section(self, path: KeyPath, role: str) -> None:
        section = self._at(path)
        found = {what: self._first(path, names) for what, names in (("url", _URL), ("key", _KEY), ("name", _NAME))}
        if not found["name"] or not (found["url"] or found["key"]):
            return
        provider = self._provider(found["url"], found["key"])
        ref = f"{provider}/{found['name']}"
        self._take_all(path, (*_URL, *_KEY, *_NAME))
        self._assign(role, ref)
        self._model_settings(path, section, ref)
        self._model_settings((*path, "options"), _mapping(section.get("options")), ref)

    def _provider_entry(self, name: str, entry: Mapping[str, Any]) -> None:
        path: KeyPath = ("providers", name)
        url, key = self._first(path, _URL), self._first(path, _KEY)
        keys: object = entry.get("api_keys")
        if not key and isinstance(keys, list) and keys:
            key = str(cast("list[Any]", keys)[0])
        if not url and not key:
            return
        chosen = self._provider(url, key, _slug(name))
        self._take_all(path, (*_URL, *_KEY))
        if isinstance(keys, list) and len(cast("list[Any]", keys)) == 1:
            self.taken.add(dotted((*path, "api_keys")))
        for model, about in _mapping(entry.get("models")).items():
            self._model_settings((*path, "models", model), _mapping(about), f"{chosen}/{model}")

    def _role(self, role: str) -> None:
        bound = self._at(("roles", role))
        name, model = bound.get("provider"), bound.get("model")
        if isinstance(name, str) and isinstance(model, str) and _slug(name) in self.data.get("providers", {}):
            self._assign("main" if role == "main" else "fast", f"{_slug(name)}/{model}")
            self._take_all(("roles", role), ("provider", "model", "api_url"))
            self._model_settings(("roles", role), bound, f"{_slug(name)}/{model}")

    def _assign(self, role: str, ref: str) -> None:
        models = self.data.setdefault("models", {})
        if role == "embedding":
            models["embedding"] = ref
        elif ref not in models.setdefault(role, []):
            models[role].append(ref)

    def _provider(self, url: str, key: str, wanted: str = "") -> str:
        """The name of the provider with this address and key; added when it is new."""
        providers: dict[str, dict[str, str]] = self.data.setdefault("providers", {})
        entry = {"api": "openai_chat", "base_url": _plain(url), "api_key": _plain(key)}
        entry = {name: value for name, value in entry.items() if value}
        base = wanted or _provider_name(url)
        name, number = base, 1
        while name in providers and {k: v for k, v in providers[name].items() if k != "headers"} != entry:
            number += 1
            name = f"{base}-{number}"
        providers.setdefault(name, entry)
        return name

    # --- what else ---

    def _model_settings(self, path: KeyPath, section: Mapping[str, Any], ref: str) -> None:
        settings: dict[str, Any] = {}
        for old, new in _MODEL.items():
            value = section.get(old)
            whole = new in ("window", "max_output_tokens")
            kinds = bool if new.startswith("supports") else int if whole else (int, float)
            if not isinstance(value, kinds) or (kinds is not bool and (isinstance(value, bool) or value < 0)):
                continue
            self.taken.add(dotted((*path, old)))
            if value or not whole:  # 0 is unknown there as here
                settings[new] = value
        effort = section.get("reasoning_effort")
        if isinstance(effort, str) and effort in _EFFORTS:
            settings["reasoning"] = _EFFORTS[effort]
            self.taken.add(dotted((*path, "reasoning_effort")))
        if settings:
            self.data.setdefault("model_settings", {}).setdefault(ref, {}).update(settings)

    def _runtime(self, before: KeyPath) -> None:
        section = self._at(before)
        steps, output, effort = (section.get(key) for key in ("max_iterations", "max_tool_output", "reasoning_effort"))
        if isinstance(steps, int) and steps is not True and steps >= 1:
            self.data.setdefault("limits", {})["max_steps"] = steps
            self.taken.add(dotted((*before, "max_iterations")))
        if isinstance(output, int) and 1024 <= output <= 131072:
            self.data.setdefault("context", {})["max_tool_output"] = output
            self.taken.add(dotted((*before, "max_tool_output")))
        main = self.data.get("models", {}).get("main", [])
        if isinstance(effort, str) and effort in (*_EFFORTS, "auto"):
            self.taken.add(dotted((*before, "reasoning_effort")))
            for ref in main if effort != "auto" else ():
                settings = self.data.setdefault("model_settings", {}).setdefault(ref, {})
                settings.setdefault("reasoning", _EFFORTS[effort])
        self._headers((*before, "api_headers"))

    def _headers(self, path: KeyPath) -> None:
        """Headers go to the providers whose host they were meant for, and to no other."""
        for host, headers in self._at(path).items():
            providers: dict[str, dict[str, Any]] = self.data.get("providers", {})
            for provider in providers.values():
                if _host_matches(host, _host(str(provider.get("base_url", "")))):
                    held = provider.setdefault("headers", {})
                    for name, value in _mapping(headers).items():
                        held[name] = _plain(str(value))
                        self.taken.add(dotted((*path, host, name)))

    # --- reading ---

    def _at(self, path: KeyPath) -> dict[str, Any]:
        value: Any = self.old
        for part in path:
            value = _mapping(value).get(str(part))
        return _mapping(value)

    def _first(self, path: KeyPath, names: tuple[str, ...]) -> str:
        """The first of `names` that holds a text in the section at `path`."""
        section = self._at(path)
        found = (str(section[name]).strip() for name in names if _is_text(section.get(name)))
        return next((text for text in found if text), "")

    def _take_all(self, path: KeyPath, names: tuple[str, ...]) -> None:
        section = self._at(path)
        self.taken |= {dotted((*path, name)) for name in names if _is_text(section.get(name))}

    # --- writing ---

    def written(self, name: str) -> str:
        """The settings as a file of ours, with what was not taken as a comment at its end."""
        lines = [f"# Taken over from {name} of tea_agent. Keys are best kept in the environment: api_key: ${{NAME}}"]
        for section in ("models", "providers", "model_settings", "limits", "context"):
            entries = self.data.get(section)
            if entries:
                lines += ["", f"{section}:", *(f"  {flow(key)}: {flow(value)}" for key, value in entries.items())]
        left = [(path, value) for path, value in _leaves(self.old, ()) if dotted(path) not in self.taken]
        if left:
            lines += ["", "# Not taken over, because Gongfu has no such setting:"]
            lines += [f"#   {dotted(path)}: {flow(masked(value, _marked(path)))}" for path, value in left]
        return "\n".join(lines) + "\n"


def _mapping(value: Any) -> dict[str, Any]:
    return cast("dict[str, Any]", value) if isinstance(value, dict) else {}


def _is_text(value: Any) -> bool:
    """A text, or a number that was meant as one."""
    return isinstance(value, str | int) and not isinstance(value, bool)


def _leaves(value: Any, path: KeyPath) -> list[tuple[KeyPath, Any]]:
    if isinstance(value, dict) and value:
        items = cast("dict[str, Any]", value)
        return [leaf for key, item in items.items() for leaf in _leaves(item, (*path, key))]
    return [(path, value)] if path else []


def _marked(path: KeyPath) -> KeyPath:
    """`path` such that `masked` hides what may be a secret by the name it has in the old file."""
    words = " ".join(str(part).lower() for part in path)
    return ("headers",) if re.search(r"key|token|secret|password|header", words) else path


def _plain(text: str) -> str:
    """A text that our loader reads as it is, apart from references to variables, which mean the same in both."""
    return _REFERENCE.sub("$${", text)


def _slug(name: str) -> str:
    return re.sub(r"[^a-z0-9_-]+", "-", name.lower()).strip("-") or "provider"


def _provider_name(url: str) -> str:
    """A name for an address: a local server by its port, else the registered part of its host."""
    host = _host(url)
    port = re.search(r":(\d+)(?:/|$)", url)
    if host in ("localhost", "127.0.0.1", "::1"):
        return _PORTS.get(int(port[1]) if port else 0, "local-server")
    labels = [label for label in host.split(".") if label not in ("api", "www", "com", "cn", "net", "org", "ai", "co")]
    if not labels or host.replace(".", "").isdigit():
        return "provider"
    return _slug("dashscope" if "dashscope" in labels else labels[-1])


def _host(url: str) -> str:
    try:
        return urlsplit(url).hostname or ""
    except ValueError:  # an address with broken brackets
        return ""


def _host_matches(pattern: str, host: str) -> bool:
    if pattern.startswith("*."):
        return host.endswith(pattern[1:])
    return pattern in ("*", host)
