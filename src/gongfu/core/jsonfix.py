"""The arguments of a tool call as they really arrive, and what may be made of them.

Valid JSON is never changed. What is repaired keeps its number of elements; what is cut off is never closed.
"""

from __future__ import annotations

from typing import Any, cast

import msgspec

from gongfu.core.base import Base

_NOTHING = ("", "None", "undefined", "nil", "NULL", "Null", "''", "()")
_DEEPEST = 100
_TOO_DEEP = "The arguments are nested too deeply and were not used. They arrived as: "
_SHOWN = 240  # characters of broken arguments that the model is shown, at each end


class Arguments(Base, frozen=True):
    """The arguments of one call.

    `value` is what the tool gets, or None; `text` is a strict JSON object for the history; `raw` is what arrived when
    that was something else; `problem` says for the model why the call cannot run. `dropped` counts bytes of garbage
    around the value that were thrown away.
    """

    value: dict[str, Any] | None = None
    text: str = "{}"
    raw: str = ""
    problem: str = ""
    repaired: bool = False
    dropped: int = 0


def parse_arguments(raw: str | dict[str, Any] | None, schema: dict[str, Any]) -> Arguments:
    """Read the arguments that a model sent for a tool whose parameters are `schema` (an object schema, or {}).

    Never raises. `value` is None exactly when `problem` is not empty.
    """
    if isinstance(raw, dict):
        if _too_deep(raw):
            return Arguments(problem=_TOO_DEEP + "an object")
        value = scrub(unwrap_fields(raw, schema))
        return Arguments(value=value, text=dump(value), repaired=value != raw)
    text = raw or ""
    try:
        value = msgspec.json.decode(text)
    except (msgspec.DecodeError, RecursionError, ValueError):
        return _parse_loose(text, schema)
    return _settle(value, text, schema, strict=True)


def dump(value: Any) -> str:
    """The value as strict JSON text."""
    return msgspec.json.encode(value).decode()


def scrub(value: Any) -> Any:
    """The value without lone surrogates (they become U+FFFD) and without numbers that JSON cannot write (null).

    The same object comes back when nothing had to be changed.
    """
    if isinstance(value, str):
        return scrub_text(value)
    if isinstance(value, float):
        return value if value - value == 0 else None
    if isinstance(value, list):
        items = cast("list[Any]", value)
        fresh = [scrub(v) for v in items]
        return items if all(a is b for a, b in zip(fresh, items, strict=True)) else fresh
    if isinstance(value, dict):
        fields = cast("dict[str, Any]", value)
        clean = {scrub_text(k): scrub(v) for k, v in fields.items()}
        same = all(clean.get(k) is v for k, v in fields.items()) and len(clean) == len(fields)
        return fields if same else clean
    return value


def scrub_text(text: str) -> str:
    """The text with halves of surrogate pairs joined, and each lone one replaced by U+FFFD."""
    if text.isascii():
        return text
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    return text


# --- what the decoded value is -----------------------------------------------------------------------------------


def _settle(value: Any, text: str, schema: dict[str, Any], *, strict: bool = False, dropped: int = 0) -> Arguments:
    """Turn a decoded value into arguments. `strict` says that `text` itself decodes strictly to `value`."""
    for _ in range(2):  # encoded twice, and a model that put them in a list besides
        if isinstance(value, str) and value.strip():
            inner = parse_arguments(value, schema)
            if inner.problem or inner.value is None:
                return Arguments(raw=text, problem=inner.problem or _not_object(text))
            return Arguments(value=inner.value, text=inner.text, raw=text, repaired=True, dropped=inner.dropped)
        if isinstance(value, list) and len(cast("list[Any]", value)) == 1:
            value, strict = cast("list[Any]", value)[0], False
    if value is None or value in ("", []) or (isinstance(value, str) and not value.strip()):
        return _empty(text, schema)
    if not isinstance(value, dict):
        return Arguments(raw=text, problem=_not_object(text))
    fields = cast("dict[str, Any]", value)
    if _too_deep(fields):
        return Arguments(raw=text, problem=_TOO_DEEP + excerpt(text))
    clean = scrub(unwrap_fields(fields, schema))
    if strict and clean is fields:
        return Arguments(value=fields, text=text)
    return Arguments(value=clean, text=dump(clean), raw=text, repaired=True, dropped=dropped)


def _too_deep(value: dict[str, Any]) -> bool:
    level: list[Any] = [value]
    for _ in range(_DEEPEST):
        inner: list[Any] = []
        for item in level:
            if isinstance(item, dict):
                inner.extend(cast("dict[str, Any]", item).values())
            elif isinstance(item, list):
                inner.extend(cast("list[Any]", item))
        if not inner:
            return False
        level = inner
    return True


def _empty(text: str, schema: dict[str, Any]) -> Arguments:
    needed = _required(schema)
    raw = "" if text == "{}" else text
    if not needed:
        return Arguments(value={}, text="{}", raw=raw, repaired=bool(raw))
    names = ", ".join(needed)
    return Arguments(raw=raw, problem=f"The arguments arrived empty. This tool needs: {names}. Send the call again.")


def _required(schema: dict[str, Any]) -> list[str]:
    names = schema.get("required")
    return [n for n in cast("list[Any]", names) if isinstance(n, str)] if isinstance(names, list) else []


def _not_object(text: str) -> str:
    return f"The arguments must be one JSON object, but what arrived is: {excerpt(text)}"


def excerpt(text: str) -> str:
    """`text` for the model: whole when short, else its head and its tail with the number of characters between."""
    if len(text) <= 2 * _SHOWN:
        return f"`{text}`"
    left = len(text) - 2 * _SHOWN
    return f"`{text[:_SHOWN]}` … ({left} characters) … `{text[-_SHOWN:]}`"


# --- fields that hold JSON as a string ---------------------------------------------------------------------------


def unwrap_fields(value: dict[str, Any], schema: dict[str, Any]) -> dict[str, Any]:
    """Decode, once, strings that stand where the schema allows only a list or an object.

    A field that may be a string stays as it is. The same object comes back when nothing had to be changed.
    """
    return cast("dict[str, Any]", _unwrap(value, schema, schema, 0))


def _unwrap(value: Any, schema: Any, root: dict[str, Any], depth: int) -> Any:
    schema = _resolve(schema, root)
    if depth > 16 or not isinstance(schema, dict):
        return value
    node = cast("dict[str, Any]", schema)
    if isinstance(value, str):
        return _unwrap_string(value, node, root, depth)
    if isinstance(value, dict):
        return _unwrap_object(cast("dict[str, Any]", value), node, root, depth)
    if isinstance(value, list) and "items" in node:
        items = cast("list[Any]", value)
        fresh = [_unwrap(v, node["items"], root, depth + 1) for v in items]
        return items if all(a is b for a, b in zip(fresh, items, strict=True)) else fresh
    return cast("Any", value)


def _unwrap_object(value: dict[str, Any], node: dict[str, Any], root: dict[str, Any], depth: int) -> Any:
    properties = node.get("properties")
    if not isinstance(properties, dict):
        return value
    known = cast("dict[str, Any]", properties)
    fresh = {k: _unwrap(v, known[k], root, depth + 1) if k in known else v for k, v in value.items()}
    return value if all(fresh[k] is v for k, v in value.items()) else fresh


def _unwrap_string(value: str, node: dict[str, Any], root: dict[str, Any], depth: int) -> Any:
    wanted = types_of(node, root)
    if not wanted or not wanted <= {"array", "object", "null"} or wanted == {"null"}:
        return value
    head = value.lstrip()[:1]
    if not ((head == "[" and "array" in wanted) or (head == "{" and "object" in wanted)):
        return value
    from gongfu.core.jsonread import read_loose  # as below

    loose = read_loose(value, lambda _: False)
    decoded: Any = None if loose.dropped else loose.value
    if isinstance(decoded, dict | list):
        return _unwrap(cast("Any", decoded), node, root, depth + 1)
    return value


def _resolve(schema: Any, root: dict[str, Any]) -> Any:
    for _ in range(8):
        reference: Any = cast("dict[str, Any]", schema).get("$ref") if isinstance(schema, dict) else None
        if not isinstance(reference, str):
            break
        schema = _point(root, reference[1:]) if reference.startswith("#") else None
    return cast("Any", schema)


def _point(root: Any, pointer: str) -> Any:
    node = root
    for step in pointer.split("/")[1:]:
        if not isinstance(node, dict):
            return None
        node = cast("dict[str, Any]", node).get(step.replace("~1", "/").replace("~0", "~"))
    return node


def types_of(schema: Any, root: dict[str, Any], depth: int = 0) -> set[str]:
    """The JSON types that a schema names, through `$ref`, `anyOf` and `oneOf`; empty when it allows anything."""
    schema = _resolve(schema, root)
    if not isinstance(schema, dict) or depth > 8:
        return set()
    node = cast("dict[str, Any]", schema)
    named = node.get("type")
    if isinstance(named, str):
        return {named}
    if isinstance(named, list):
        return {t for t in cast("list[Any]", named) if isinstance(t, str)}
    for key in ("anyOf", "oneOf"):
        branches = node.get(key)
        if isinstance(branches, list):
            parts = [types_of(b, root, depth + 1) for b in cast("list[Any]", branches)]
            return set[str]().union(*parts) if all(parts) else set()
    return set()


# --- text that is not JSON as it stands --------------------------------------------------------------------------

_ARRIVED = {
    "cut": "The arguments are cut off and were not used. Send the whole call again, smaller if it is long. "
    "They arrived as: ",
    "several": "Several JSON objects arrived as the arguments of one call and none was used. "
    "Send one call for each. They arrived as: ",
    "broken": "The arguments are not a JSON object and cannot be repaired safely, so they were not used. "
    "Send the call again as valid JSON. They arrived as: ",
}


def _parse_loose(text: str, schema: dict[str, Any]) -> Arguments:
    from gongfu.core.jsonread import BLANK, read_loose  # 10 ms of patterns, only for what is not strict JSON

    if text.strip(BLANK) in _NOTHING:
        return _empty(text, schema)
    loose = read_loose(text, lambda value: _fits(value, schema))
    if loose.fault:
        return Arguments(raw=text, problem=_ARRIVED[loose.fault] + excerpt(text))
    found = _settle(loose.value, text, schema, dropped=loose.dropped)
    if found.value is not None and (missing := [n for n in _required(schema) if n not in found.value]):
        names = ", ".join(missing)
        problem = f"The arguments are not valid JSON; repaired, they lack {names}. They arrived as: {excerpt(text)}"
        return Arguments(raw=text, problem=problem)
    return found


def _fits(value: Any, schema: dict[str, Any]) -> bool:
    """Whether a value looks like arguments for `schema`: every required field is there, and no unknown one, at any
    depth. Validation proper comes later; this tells one reading of a text from another."""
    return isinstance(value, dict) and _matches(value, schema, schema, 0)


def _matches(value: Any, schema: Any, root: dict[str, Any], depth: int) -> bool:
    schema = _resolve(schema, root)
    if not isinstance(schema, dict) or depth > 16:
        return True
    node = cast("dict[str, Any]", schema)
    items: Any = node.get("items")
    if isinstance(value, list):
        return all(_matches(v, items, root, depth + 1) for v in cast("list[Any]", value))
    properties: Any = node.get("properties")
    if not isinstance(value, dict) or not isinstance(properties, dict):
        return True
    fields, known = cast("dict[str, Any]", value), cast("dict[str, Any]", properties)
    if not fields.keys() >= set(_required(node)) or (known and not fields.keys() <= known.keys()):
        return False
    return all(_matches(v, known[k], root, depth + 1) for k, v in fields.items() if k in known)
