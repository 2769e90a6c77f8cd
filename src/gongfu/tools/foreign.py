"""Values held against JSON Schemas of others: whole drafts, nothing fetched, no expression that takes for ever."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from importlib import import_module
from typing import Any, cast

from gongfu.core.backtracking import longest_line, loops
from gongfu.core.base import Base

_DEEPEST = 200
_FREE = 2  # loops from which on an expression on names of properties is not tried


class Mismatch(Base, frozen=True):
    """What is wrong with a value: where (names and numbers from the outside in), and a sentence."""

    path: tuple[str | int, ...]
    message: str


class Foreign:
    """A schema, ready to hold values against. ValueError when it is none, or refers to what it does not hold.

    `strict` takes no expression that Python does not read; without it such a one holds nothing back.
    """

    def __init__(self, schema: Mapping[str, Any], *, strict: bool = False) -> None:
        # the library comes with the client of MCP servers; only schemas of others load it
        validators, library, referencing = (
            import_module(name) for name in ("jsonschema.validators", "jsonschema", "referencing")
        )
        kind: Any = validators.validator_for(schema, default=validators.Draft202012Validator)
        try:
            tamed = _tamed(schema)
            kind.check_schema(schema if strict else tamed)
            _check_references(schema, cast("dict[str, Any]", schema))
        except library.SchemaError as error:
            raise ValueError(str(error.message)) from error
        bounded: Any = validators.extend(kind, {"pattern": _pattern(library.ValidationError)})
        registry: Any = referencing.Registry(retrieve=_refuse)
        self._validator: Any = bounded(tamed, registry=registry)
        self._unresolved: Any = referencing.exceptions.Unresolvable

    def mismatch(self, value: Any) -> Mismatch | None:
        """What is wrong with `value`; None when nothing is. ValueError where the schema refers to nowhere after all."""
        try:
            error: Any = next(self._validator.iter_errors(value), None)
        except self._unresolved as error:
            raise ValueError(str(error)) from error
        return None if error is None else Mismatch(path=tuple(error.absolute_path), message=str(error.message))


def _pattern(problem: Any) -> Any:
    """The keyword `pattern`, on texts that the expression cannot take long for."""

    def check(_validator: Any, pattern: str, instance: Any, _schema: Any) -> Iterator[Any]:
        if not isinstance(instance, str) or len(instance) > longest_line(pattern):
            return
        if not re.search(pattern, instance):
            yield problem(f"{instance[:100]!r} does not match {pattern!r}")

    return check


def _refuse(uri: str) -> Any:
    raise ValueError(f"{uri} is not fetched; write what it refers to into the schema itself")


def _check_references(node: Any, root: dict[str, Any], depth: int = 0) -> None:
    """ValueError for a reference to another document, or to nowhere."""
    if depth > _DEEPEST:
        raise RecursionError
    if isinstance(node, list):
        for inner in cast("list[Any]", node):
            _check_references(inner, root, depth + 1)
    elif isinstance(node, dict):
        fields = cast("dict[str, Any]", node)
        reference = fields.get("$ref")
        if isinstance(reference, str):
            if re.match(r"[A-Za-z][\w+.-]*:|//", reference):
                _refuse(reference)
            if reference.startswith("#/") and not _leads(root, reference[2:]):
                raise ValueError(f"{reference} leads nowhere in the schema")
        for name, inner in fields.items():
            if name not in ("enum", "const", "default", "examples"):
                _check_references(inner, root, depth + 1)


def _leads(root: Any, pointer: str) -> bool:
    """Whether a JSON pointer leads to something."""
    from urllib.parse import unquote  # only for references

    for piece in unquote(pointer).split("/"):
        name = piece.replace("~1", "/").replace("~0", "~")
        if isinstance(root, list):
            items = cast("list[Any]", root)
            if not name.isdecimal() or int(name) >= len(items):
                return False
            root = items[int(name)]
        elif isinstance(root, dict) and name in root:
            root = cast("dict[str, Any]", root)[name]
        else:
            return False
    return True


def _tamed(node: Any) -> Any:
    """The schema without expressions that Python does not read or that may take for ever."""
    if isinstance(node, list):
        return [_tamed(inner) for inner in cast("list[Any]", node)]
    if not isinstance(node, dict):
        return node
    fields = cast("dict[str, Any]", node)
    kept = {k: v if k in ("enum", "const", "default") else _tamed(v) for k, v in fields.items()}
    if isinstance(kept.get("pattern"), str) and not (_reads(kept["pattern"]) and longest_line(kept["pattern"])):
        del kept["pattern"]
    properties = kept.get("properties")
    if isinstance(properties, dict):  # of a bare False the library does not say where it stands
        named_ones = cast("dict[str, Any]", properties)
        kept["properties"] = {k: {"not": {}} if v is False else v for k, v in named_ones.items()}
    named = kept.get("patternProperties")
    if isinstance(named, dict):
        left = {p: v for p, v in cast("dict[str, Any]", named).items() if _reads(p) and loops(p) < _FREE}
        kept["patternProperties"] = left
        if len(left) < len(cast("dict[str, Any]", named)):
            kept.pop("additionalProperties", None)  # what the others would have let in is let in
    return kept


def _reads(pattern: str) -> bool:
    try:
        re.compile(pattern)
    except (re.error, RecursionError, OverflowError):
        return False
    return True
