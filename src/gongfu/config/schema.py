"""The JSON Schema of a settings file, from the types."""

from __future__ import annotations

from typing import Any, cast

import msgspec

from gongfu.config.settings import Settings

_REFERENCE = {"type": "string", "pattern": r"\$\{", "description": "A reference to an environment variable."}


def json_schema() -> dict[str, Any]:
    """The JSON Schema (2020-12) that editors use; every single value may also be a `${VARIABLE}`."""
    schema = msgspec.json.schema(Settings)
    definitions = {name: _open(part) for name, part in cast("dict[str, Any]", schema.pop("$defs")).items()}
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "Settings of Gongfu",
        **schema,
        "$defs": definitions,
    }


def _open(schema: Any) -> Any:
    """Let a reference stand for any number, switch or choice; a text may hold one anyway."""
    if isinstance(schema, list):
        return [_open(item) for item in cast("list[Any]", schema)]
    if not isinstance(schema, dict):
        return schema
    fields = cast("dict[str, Any]", schema)
    if "anyOf" in fields:
        return fields | {"anyOf": [*fields["anyOf"], _REFERENCE]}
    if fields.get("type") in ("integer", "number", "boolean") or "enum" in fields:
        about = {key: fields[key] for key in ("description", "default") if key in fields}
        rest = {key: value for key, value in fields.items() if key not in about}
        return {**about, "anyOf": [rest, _REFERENCE]}
    if "properties" in fields:
        properties = cast("dict[str, Any]", fields["properties"])
        return fields | {"properties": {name: _open(part) for name, part in properties.items()}}
    return fields
