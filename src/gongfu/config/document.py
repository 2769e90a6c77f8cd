"""A settings file as plain data, with the line and column of every key and value."""

from __future__ import annotations

import re
from typing import Any, Final, TypeAlias, cast

from gongfu.core.errors import ConfigError

KeyPath: TypeAlias = tuple[str | int, ...]
Mark: TypeAlias = tuple[int, int]
"""Line and column, both from 1."""

_REFERENCE: Final = re.compile(r"\$\{([A-Za-z_][A-Za-z0-9_]*)\}")
_HIDDEN: Final = re.compile("\\$\ue000([A-Za-z_][A-Za-z0-9_]*)\ue001")
_HALF: Final = re.compile("[\ud800-\udfff]")
_MOST_NODES: Final = 50_000


class Document:
    """What a file says: `data` with texts as keys, and where. `nodes` is the tree of ruamel, None for an empty file."""

    def __init__(self, text: str, file: str) -> None:
        """Read `text`. Raises ConfigError with `file`, line and column for what is no YAML, or a key given twice."""
        self.file = file
        self.text = text
        self.keys: dict[KeyPath, Mark] = {}
        self.values: dict[KeyPath, Mark] = {}
        self._count = 0
        self.root: Any = _compose(hide_references(text), file)
        try:
            data: Any = None if self.root is None else self._plain(self.root, ())
        except RecursionError as error:
            raise ConfigError("config.too_deep", file=file) from error
        data = {} if data is None else data
        if not isinstance(data, dict):
            line, column = self.where(())
            raise ConfigError("config.no_mapping", file=file, line=line, column=column)
        self.data = cast("dict[str, Any]", data)

    def where(self, path: KeyPath, *, key: bool = False) -> Mark:
        """Line and column of the value (or the key) at `path`, or of the nearest thing around it."""
        marks = self.keys if key else self.values
        while path and path not in marks:
            path = path[:-1]
        return marks.get(path, (1, 1))

    def _plain(self, node: Any, path: KeyPath) -> Any:
        self._count += 1
        if self._count > _MOST_NODES:
            raise ConfigError("config.too_deep", file=self.file)
        self.values[path] = _mark(node.start_mark)
        if node.id == "mapping":
            return self._mapping(node, path)
        if node.id == "sequence":
            return [self._plain(item, (*path, index)) for index, item in enumerate(node.value)]
        return self._scalar(node)

    def _mapping(self, node: Any, path: KeyPath) -> dict[str, Any]:
        result: dict[str, Any] = {}
        merged: dict[str, Any] = {}
        for key_node, value_node in node.value:
            line, column = _mark(key_node.start_mark)
            if key_node.id != "scalar":
                raise ConfigError("config.bad_key", file=self.file, line=line, column=column)
            if key_node.tag == "tag:yaml.org,2002:merge":
                merged |= self._merged(value_node, path)
                continue
            key = self.text_of(key_node)
            if key in result:
                first = self.keys[*path, key][0]
                raise ConfigError(
                    "config.duplicate", file=self.file, line=line, column=column, name=dotted((*path, key)), first=first
                )
            self.keys[*path, key] = (line, column)
            result[key] = self._plain(value_node, (*path, key))
        return merged | result

    def _merged(self, node: Any, path: KeyPath) -> dict[str, Any]:
        """What `<<` brings in: one mapping, or several of which the first wins."""
        nodes = node.value if node.id == "sequence" else [node]
        merged: dict[str, Any] = {}
        for item in reversed(nodes):
            value = self._plain(item, (*path, "<<"))
            if not isinstance(value, dict):
                line, column = _mark(item.start_mark)
                raise ConfigError("config.bad_key", file=self.file, line=line, column=column)
            merged |= cast("dict[str, Any]", value)
        return merged

    def _scalar(self, node: Any) -> Any:
        kind = str(node.tag).rpartition(":")[2]
        text = self.text_of(node)
        if kind == "null":
            return None
        if kind == "bool":
            return text.lower() == "true"
        try:
            if kind == "int":
                return _integer(text)
            if kind == "float":
                return _float(text)
        except ValueError:
            return text
        return text

    def text_of(self, node: Any) -> str:
        """The text of a scalar. JSON writes characters beyond U+FFFF as two halves, which belong together."""
        text = show_references(str(node.value))
        if text.isascii() or not _HALF.search(text):
            return text
        try:
            return text.encode("utf-16", "surrogatepass").decode("utf-16")
        except UnicodeDecodeError as error:
            line, column = _mark(node.start_mark)
            reason = "half a character (a lone surrogate)"
            raise ConfigError("config.bad_yaml", file=self.file, line=line, column=column, reason=reason) from error


def dotted(path: KeyPath) -> str:
    """A path as a person writes it: `models.main`, `model_settings."deepseek/deepseek-chat".window`, `hooks[0]`."""
    text = ""
    for part in path:
        if isinstance(part, int):
            text += f"[{part}]"
        elif re.fullmatch(r"[A-Za-z0-9_-]+", part):
            text += f".{part}"
        else:
            escaped = part.replace("\\", "\\\\").replace('"', '\\"')
            text += f'."{escaped}"'
    return text.removeprefix(".")


def hide_references(text: str) -> str:
    """Make `${NAME}` a plain word for YAML, also inside `{…}`, without moving anything."""
    return _REFERENCE.sub("$\ue000\\1\ue001", text)


def show_references(text: str) -> str:
    """The inverse of `hide_references`."""
    return _HIDDEN.sub(r"${\1}", text)


def _compose(text: str, file: str) -> Any:
    from ruamel.yaml import YAML  # 14 ms: only when a file must be read, which a cache mostly spares
    from ruamel.yaml.error import MarkedYAMLError, YAMLError

    try:
        return cast("Any", YAML(typ="safe", pure=True)).compose(text)
    except MarkedYAMLError as error:
        told = cast("Any", error)
        mark = told.problem_mark or told.context_mark
        line, column = _mark(mark) if mark else (1, 1)
        reason = show_references(str(told.problem or told.context))
        raise ConfigError("config.bad_yaml", file=file, line=line, column=column, reason=reason) from error
    except RecursionError as error:
        raise ConfigError("config.too_deep", file=file) from error
    except YAMLError as error:
        line, column = _unprintable(text, getattr(error, "position", None))
        reason = str(getattr(error, "reason", error))
        raise ConfigError("config.bad_yaml", file=file, line=line, column=column, reason=reason) from error


def _unprintable(text: str, position: Any) -> Mark:
    if not isinstance(position, int):
        return (1, 1)
    before = text[:position]
    return before.count("\n") + 1, position - (before.rfind("\n") + 1) + 1


def _mark(mark: Any) -> Mark:
    return int(mark.line) + 1, int(mark.column) + 1


def _integer(text: str) -> int:
    digits = text.replace("_", "")
    sign, body = (digits[0], digits[1:]) if digits[:1] in ("+", "-") else ("", digits)
    for prefix, base in (("0x", 16), ("0o", 8), ("0b", 2)):
        if body.lower().startswith(prefix):
            return int(sign + body[2:], base)
    return int(digits)


def _float(text: str) -> float:
    digits = text.replace("_", "").lower()
    return float(digits.replace(".inf", "inf").replace(".nan", "nan"))
