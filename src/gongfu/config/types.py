"""The types of the settings, walked: which type stands at a path, what fits it, how it is called."""

from __future__ import annotations

import math
from collections.abc import Iterator
from functools import cache
from typing import Any, Final, cast

import msgspec.inspect as inspected

from gongfu.config.document import KeyPath
from gongfu.config.settings import Settings

_WORDS: Final[dict[type, str]] = {
    inspected.StrType: "text",
    inspected.BoolType: "true | false",
    inspected.NoneType: "null",
    inspected.AnyType: "any",
}


class Misfit(Exception):
    """A value that does not fit: where, what was wanted; `unknown` for a key that is not known, with `known` ones."""

    def __init__(self, path: KeyPath, wanted: str, value: Any, *, known: tuple[str, ...] | None = None) -> None:
        super().__init__(path, wanted)
        self.path = path
        self.wanted = wanted
        self.value = value
        self.known = known


def bare(kind: inspected.Type) -> inspected.Type:
    """The type without its description."""
    while isinstance(kind, inspected.Metadata):
        kind = kind.type
    return kind


def description(kind: inspected.Type) -> str:
    """The description of a field's type, empty when it has none."""
    if not isinstance(kind, inspected.Metadata):
        return ""
    schema = cast("dict[str, Any]", cast("Any", kind).extra_json_schema or {})
    return str(schema.get("description", ""))


@cache
def settings_type() -> inspected.StructType:
    """The type of all settings."""
    return cast("inspected.StructType", inspected.type_info(Settings))


def fields(kind: inspected.StructType) -> dict[str, inspected.Field]:
    """The fields of a section by name."""
    return {field.encode_name: field for field in kind.fields}


def type_at(path: KeyPath) -> inspected.Type | None:
    """The type at `path` in the settings; None when nothing can stand there."""
    kind: inspected.Type | None = settings_type()
    for part in path:
        kind = _inside(bare(kind), part)
        if kind is None:
            return None
    return kind


def _inside(kind: inspected.Type, part: str | int) -> inspected.Type | None:
    if isinstance(kind, inspected.StructType) and isinstance(part, str):
        field = fields(kind).get(part)
        return field.type if field else None
    if isinstance(kind, inspected.DictType) and isinstance(part, str):
        return kind.value_type
    if isinstance(kind, inspected.VarTupleType) and isinstance(part, int):
        return kind.item_type
    if isinstance(kind, inspected.UnionType) and isinstance(part, int):
        inner = (_inside(bare(one), part) for one in kind.types)
        return next((found for found in inner if found is not None), None)
    return None


def all_names() -> tuple[str, ...]:
    """The dotted names of all settings; `NAME` stands for the name of an entry."""
    return tuple(_names(settings_type(), ""))


def _names(kind: inspected.Type, before: str) -> Iterator[str]:
    kind = bare(kind)
    if isinstance(kind, inspected.StructType):
        for name, field in fields(kind).items():
            yield f"{before}{name}"
            yield from _names(field.type, f"{before}{name}.")
    elif entry := entries(kind):
        yield from _names(entry[1], f"{before}{entry[0]}.")


def entries(kind: inspected.Type) -> tuple[str, inspected.StructType] | None:
    """How the sections in a table (`NAME`) or in a list (`N`) are called, and their type; None when it holds none."""
    kind = bare(kind)
    if isinstance(kind, inspected.UnionType):
        return next((found for one in kind.types if (found := entries(one))), None)
    if isinstance(kind, inspected.DictType) and isinstance(inner := bare(kind.value_type), inspected.StructType):
        return "NAME", inner
    if isinstance(kind, inspected.VarTupleType) and isinstance(inner := bare(kind.item_type), inspected.StructType):
        return "N", inner
    return None


def accepts_text(kind: inspected.Type) -> bool:
    """Whether any text fits."""
    kind = bare(kind)
    if isinstance(kind, inspected.UnionType):
        return any(accepts_text(one) for one in kind.types)
    return isinstance(kind, inspected.StrType)


def wanted(kind: inspected.Type) -> str:
    """A type in signs that need no translation: `integer >= 1 | null`, `ask | edits`, `[text, …]`."""
    kind = bare(kind)
    match kind:
        case inspected.IntType() | inspected.FloatType():
            name = "integer" if isinstance(kind, inspected.IntType) else "number"
            bounds = [("> ", kind.gt), (">= ", kind.ge), ("< ", kind.lt), ("<= ", kind.le)]
            return " ".join([name, *(f"{sign}{bound}" for sign, bound in bounds if bound is not None)])
        case inspected.LiteralType():
            return " | ".join(str(value) for value in kind.values)
        case inspected.UnionType():
            return " | ".join(wanted(one) for one in kind.types)
        case inspected.VarTupleType():
            return f"[{wanted(kind.item_type)}, …]"
        case inspected.DictType():
            return f"{{name: {wanted(kind.value_type)}, …}}"
        case inspected.StructType():
            return "{…}"
        case _:
            return _WORDS.get(type(kind), "value")


def fit(value: Any, kind: inspected.Type, path: KeyPath = (), *, open_texts: bool = True) -> None:
    """Raise Misfit unless `value` (plain data) fits `kind`.

    With `open_texts`, a text that holds a `${reference}` fits everything: what it will be is not known yet.
    A section or table that is null counts as empty.
    """
    kind = bare(kind)
    if open_texts and isinstance(value, str) and "${" in value and not _holds(kind):
        return
    match kind:
        case inspected.StructType():
            _fit_struct(value, kind, path, open_texts=open_texts)
        case inspected.DictType():
            for key, item in _mapping(value, kind, path).items():
                fit(item, kind.value_type, (*path, key), open_texts=open_texts)
        case inspected.VarTupleType():
            if not isinstance(value, list):
                raise Misfit(path, wanted(kind), value)
            for index, item in enumerate(cast("list[Any]", value)):
                fit(item, kind.item_type, (*path, index), open_texts=open_texts)
        case inspected.UnionType():
            holder = next((one for one in map(bare, kind.types) if _holds(one) and _same_form(value, one)), None)
            if holder is not None:
                fit(value, holder, path, open_texts=open_texts)
            elif not any(_leaf_fits(value, one) for one in kind.types):
                raise Misfit(path, wanted(kind), value)
        case _:
            if not _leaf_fits(value, kind):
                raise Misfit(path, wanted(kind), value)


def without_nulls(value: Any, kind: inspected.Type) -> Any:
    """`value`, which fits `kind`, with every null section or table made an empty one."""
    kind = bare(kind)
    if not isinstance(kind, inspected.StructType | inspected.DictType):
        return value
    items = cast("dict[str, Any]", value or {})
    result: dict[str, Any] = {}
    for key, item in items.items():
        inner = _inside(kind, key)
        result[key] = item if inner is None else without_nulls(item, inner)
    return result


def from_text(text: str, kind: inspected.Type) -> Any:
    """What a text means where `kind` is wanted: a number, true or false, null, a list at commas, else the text."""
    kind = bare(kind)
    if isinstance(kind, inspected.VarTupleType):
        return [from_text(part.strip(), kind.item_type) for part in text.split(",") if part.strip()]
    candidates: list[Any] = [{"true": True, "false": False, "null": None, "none": None}.get(text.lower(), text)]
    for number in (int, float):
        try:
            candidates.append(number(text.replace("_", "")))
        except ValueError:
            continue
    for candidate in candidates:
        if _leaf_fits(candidate, kind) or (
            isinstance(kind, inspected.UnionType) and any(_leaf_fits(candidate, one) for one in kind.types)
        ):
            return candidate
    return text


def _fit_struct(value: Any, kind: inspected.StructType, path: KeyPath, *, open_texts: bool) -> None:
    known = fields(kind)
    for key, item in _mapping(value, kind, path).items():
        if key not in known:
            raise Misfit((*path, key), "", item, known=tuple(known))
        fit(item, known[key].type, (*path, key), open_texts=open_texts)
    for name, field in known.items():
        if field.required and name not in (value or {}):
            raise Misfit(path, f"{name}: {wanted(field.type)}", value)


def _mapping(value: Any, kind: inspected.Type, path: KeyPath) -> dict[str, Any]:
    if value is None:
        return {}
    if not isinstance(value, dict):
        raise Misfit(path, wanted(kind), value)
    return cast("dict[str, Any]", value)


def _holds(kind: inspected.Type) -> bool:
    return isinstance(kind, inspected.StructType | inspected.DictType | inspected.VarTupleType)


def _same_form(value: Any, kind: inspected.Type) -> bool:
    return isinstance(value, list if isinstance(kind, inspected.VarTupleType) else dict)


def _leaf_fits(value: Any, kind: inspected.Type) -> bool:
    match bare(kind):
        case inspected.StrType():
            return isinstance(value, str)
        case inspected.BoolType():
            return isinstance(value, bool)
        case inspected.NoneType():
            return value is None
        case inspected.LiteralType(values=values):
            return isinstance(value, str) and value in values
        case inspected.IntType() as whole:
            return (
                isinstance(value, int)
                and not isinstance(value, bool)
                and abs(value) < 1 << 63
                and _bounded(value, whole)
            )
        case inspected.FloatType() as number:
            fits = isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)
            return fits and _bounded(value, number)
        case inspected.AnyType():
            return True
        case _:
            return False


def _bounded(value: float, kind: inspected.IntType | inspected.FloatType) -> bool:
    return (
        (kind.gt is None or value > kind.gt)
        and (kind.ge is None or value >= kind.ge)
        and (kind.lt is None or value < kind.lt)
        and (kind.le is None or value <= kind.le)
    )
