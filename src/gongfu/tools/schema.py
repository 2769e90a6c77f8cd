"""The JSON Schema of a typed function, short enough to travel in every request."""

from __future__ import annotations

import types
from collections.abc import Callable, Mapping, Sequence
from typing import Annotated, Any, Literal, Union, cast, get_args, get_origin, get_type_hints

import msgspec

from gongfu.tools.texts import ToolText

CONTEXT = "ctx"

_PLAIN: dict[Any, str] = {str: "string", int: "integer", float: "number", bool: "boolean", type(None): "null"}
_ARRAYS = (list, tuple, Sequence, set, frozenset)
_OBJECTS = (dict, Mapping)


class Parameter(msgspec.Struct, frozen=True):
    """One parameter of a tool function. `convert` tells that its JSON value must be turned into `type` first."""

    name: str
    type: Any
    required: bool
    convert: bool = False


def parameters_of(function: Callable[..., Any]) -> tuple[Parameter, ...]:
    """The parameters a model may fill, in order; `self` and `ctx` are left out.

    TypeError for a function that takes `*args` or has a parameter without a type.
    """
    code = function.__code__
    count = code.co_argcount + code.co_kwonlyargcount
    if code.co_flags & 0x0C:
        raise TypeError(f"{function.__qualname__} takes *args or **kwargs; a tool must name its parameters")
    names = [n for i, n in enumerate(code.co_varnames[:count]) if n != CONTEXT and not (i == 0 and n == "self")]
    optional = set(function.__kwdefaults__ or ())
    positional = code.co_varnames[: code.co_argcount]
    optional.update(positional[len(positional) - len(function.__defaults__ or ()) :])
    hints = _hints(function, names)
    return tuple(
        Parameter(name=n, type=hints[n], required=n not in optional, convert=_needs_convert(hints[n])) for n in names
    )


def _hints(function: Callable[..., Any], names: list[str]) -> dict[str, Any]:
    given = function.__annotations__
    missing = [n for n in names if n not in given]
    if missing:
        raise TypeError(f"{function.__qualname__}: no type for {', '.join(missing)}")
    holder = types.SimpleNamespace(__annotations__={n: given[n] for n in names})
    return get_type_hints(holder, globalns=function.__globals__, include_extras=True)


def build_schema(parameters: Sequence[Parameter], text: ToolText) -> dict[str, Any]:
    """The schema (type object) of the parameters with the words of `text`."""
    return _object({p.name: p.type for p in parameters}, {p.name for p in parameters if p.required}, text.parameters)


def _object(fields: Mapping[str, Any], required: set[str], words: Mapping[str, str]) -> dict[str, Any]:
    properties: dict[str, Any] = {}
    for name, hint in fields.items():
        below = {k[len(name) + 1 :]: v for k, v in words.items() if k.startswith(f"{name}.")}
        schema = schema_of(hint, below)
        if name in words:
            schema = {**schema, "description": words[name]}
        properties[name] = schema
    schema: dict[str, Any] = {"type": "object", "properties": properties}
    if required:
        schema["required"] = [n for n in fields if n in required]
    return schema


def schema_of(hint: Any, words: Mapping[str, str] | None = None) -> dict[str, Any]:
    """The schema of one type. `None` in a union is left out: an optional parameter is one that may be missing."""
    words = words or {}
    origin, arguments = get_origin(hint), get_args(hint)
    if hint is Any:
        return {}
    if hint in _PLAIN:
        return {"type": _PLAIN[hint]}
    if origin is Literal:
        kinds = {_PLAIN[type(a)] for a in arguments}
        return {"type": kinds.pop(), "enum": list(arguments)} if len(kinds) == 1 else {"enum": list(arguments)}
    if origin in (Union, types.UnionType):
        return _union([a for a in arguments if a is not type(None)], words)
    if hint in _ARRAYS or origin in _ARRAYS:
        return {"type": "array", "items": schema_of(arguments[0], words)} if arguments else {"type": "array"}
    if hint in _OBJECTS or origin in _OBJECTS:
        values = schema_of(arguments[1], words) if len(arguments) == 2 else {}
        return {"type": "object", "additionalProperties": values} if values else {"type": "object"}
    if isinstance(hint, type) and issubclass(hint, msgspec.Struct):
        return _struct(hint, words)
    return _other(hint)


def _union(kinds: list[Any], words: Mapping[str, str]) -> dict[str, Any]:
    schemas = [schema_of(k, words) for k in kinds]
    if len(schemas) == 1:
        return schemas[0]
    if all(set(s) == {"type"} for s in schemas):
        return {"type": [s["type"] for s in schemas]}
    return {"anyOf": schemas}


def _struct(kind: type[msgspec.Struct], words: Mapping[str, str]) -> dict[str, Any]:
    fields = msgspec.structs.fields(kind)
    return _object({f.encode_name: f.type for f in fields}, {f.encode_name for f in fields if f.required}, words)


def _other(hint: Any) -> dict[str, Any]:
    """Constraints (`Annotated[int, Meta(ge=1)]`), dates, enums and the like: msgspec knows them all."""
    schema = msgspec.json.schema(hint)
    definitions = schema.pop("$defs", {})
    return cast("dict[str, Any]", _inline(schema, definitions))


def _inline(node: Any, definitions: dict[str, Any]) -> Any:
    if isinstance(node, list):
        return [_inline(n, definitions) for n in cast("list[Any]", node)]
    if not isinstance(node, dict):
        return node
    fields = cast("dict[str, Any]", node)
    reference = fields.get("$ref")
    if isinstance(reference, str):
        return _inline(definitions[reference.rpartition("/")[2]], definitions)
    return {k: _inline(v, definitions) for k, v in fields.items() if not (k == "title" and isinstance(v, str))}


def _needs_convert(hint: Any) -> bool:
    """Whether a value of JSON is not yet a value of this type."""
    origin, arguments = get_origin(hint), get_args(hint)
    if hint is Any or hint in _PLAIN or origin is Literal or hint in (list, dict):
        return False
    if origin is Annotated:
        return _needs_convert(arguments[0])
    if origin in (Union, types.UnionType, list, dict, Sequence, Mapping):
        return any(_needs_convert(a) for a in arguments)
    return True
