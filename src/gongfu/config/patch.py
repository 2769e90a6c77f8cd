"""A change of one key in the text of a settings file that leaves every other byte as it was."""

from __future__ import annotations

import json
import math
import re
from typing import Any, Final, cast

from gongfu.config.document import Document, KeyPath

_PLAIN: Final = re.compile(r"[A-Za-z_/](?:[A-Za-z0-9_./@+:-]*[A-Za-z0-9_./@+-])?")
_NOT_TEXT: Final = frozenset(("true", "false", "null", "yes", "no", "on", "off", "y", "n"))
_COLON: Final = re.compile(r"[ \t]*:")


class Unpatchable(Exception):
    """The place of the change is written in a way that is not touched: an alias, a merge, an explicit key."""


def put(document: Document, path: KeyPath, value: Any) -> str:
    """The text of `document` with `value` (plain data) at `path`, whether or not something stands there already."""
    return _Patch(document).put(path, value)


def remove(document: Document, path: KeyPath) -> str:
    """The text of `document` without the key at `path`, which is there. A section that loses its last key goes, too."""
    return _Patch(document).remove(path)


class _Pair:
    """A key and its value in the tree, with where they begin and end in the text."""

    def __init__(self, text: str, key: Any, value: Any) -> None:
        self.key = key
        self.value = value
        self.start = int(key.start_mark.index)
        self.column = int(key.start_mark.column)
        found = _COLON.match(text, int(key.end_mark.index))
        if found is None:
            raise Unpatchable
        self.colon = found.end()
        alias = int(value.start_mark.index) < self.colon
        self.alias = alias
        self.empty = not alias and value.start_mark.index == value.end_mark.index
        if alias:
            self.end = _alias_end(text, self.colon)
        else:
            self.end = self.colon if self.empty else _end(text, value)


class _Patch:
    def __init__(self, document: Document) -> None:
        self.text = document.text
        self.text_of = document.text_of
        self.root = document.root
        self.line_end = "\r\n" if "\r\n" in self.text else "\n"

    def put(self, path: KeyPath, value: Any) -> str:
        node, within_flow = self.root, False
        if node is None or node.id != "mapping":
            return self._append(path, value)
        for depth, part in enumerate(path):
            within_flow = within_flow or bool(node.flow_style)
            pair = self._pair(node, part)
            rest = path[depth + 1 :]
            if pair is None:
                return self._insert(node, path[depth:], value)
            if not rest:
                return self._replace(pair, value)
            if pair.alias:
                raise Unpatchable
            if pair.value.id != "mapping":
                return self._fill(pair, rest, value, within_flow=within_flow)
            node = pair.value
        raise Unpatchable

    def remove(self, path: KeyPath) -> str:
        node, holder = self.root, None
        pair: _Pair | None = None
        for part in path:
            if pair is not None:
                holder, node = pair, pair.value
                if pair.alias:
                    raise Unpatchable
            if node.id != "mapping":
                raise Unpatchable
            pair = self._pair(node, part)
            if pair is None:
                raise Unpatchable
        if pair is None:
            raise Unpatchable
        if len(node.value) > 1 or holder is None:
            return self._cut_flow(node, pair) if node.flow_style else self._cut_lines(pair)
        if node.flow_style:
            return self.remove(path[:-1]) if len(path) == 2 else self._replace(holder, {})
        self.text = self._cut_lines(pair)  # what stands before it, such as comments, has not moved
        return self._cut_line(holder) if len(path) == 2 else self._spliced(holder.colon, holder.colon, " {}")

    def _pair(self, node: Any, part: str | int) -> _Pair | None:
        for key, value in node.value:
            if key.tag != "tag:yaml.org,2002:merge" and self.text_of(key) == part:
                return _Pair(self.text, key, value)
        return None

    def _replace(self, pair: _Pair, value: Any) -> str:
        block = pair.value.id != "scalar" and not pair.value.flow_style
        start = pair.colon if pair.alias or pair.empty or block else int(pair.value.start_mark.index)
        style = str(pair.value.style or "") if pair.value.id == "scalar" and not pair.alias else ""
        written = flow(value, style)
        return self._spliced(start, pair.end, f" {written}" if start == pair.colon else written)

    def _fill(self, pair: _Pair, rest: KeyPath, value: Any, *, within_flow: bool) -> str:
        """Put the first key into a section that is null."""
        if not pair.empty or within_flow:
            return self._replace(pair, _nested(rest, value))
        return self._after_line(pair.colon, self._block(rest, value, pair.column + 2))

    def _insert(self, node: Any, path: KeyPath, value: Any) -> str:
        if not node.flow_style:
            end = self._last_end(node)
            return self._after_line(end, self._block(path, value, int(node.value[0][0].start_mark.column)))
        written = f"{flow(path[0])}: {flow(_nested(path[1:], value))}"
        if node.value:
            end = self._last_end(node)
            return self._spliced(end, end, f", {written}")
        start = self.text.index("{", int(node.start_mark.index)) + 1
        return self._spliced(start, start, written)

    def _append(self, path: KeyPath, value: Any) -> str:
        gap = "" if not self.text or self.text.endswith("\n") else self.line_end
        return f"{self.text}{gap}{self._block(path, value, 0)}{self.line_end}"

    def _block(self, path: KeyPath, value: Any, indent: int) -> str:
        lines = [f"{' ' * (indent + 2 * depth)}{flow(part)}:" for depth, part in enumerate(path)]
        return f"{self.line_end.join(lines)} {flow(value)}"

    def _last_end(self, node: Any) -> int:
        return _Pair(self.text, *node.value[-1]).end

    def _after_line(self, at: int, written: str) -> str:
        end = self._line_end_after(at)
        return self._spliced(end, end, f"{self.line_end}{written}")

    def _line_end_after(self, at: int) -> int:
        """Where the line of `at` ends, before its line break."""
        end = self.text.find("\n", at)
        end = len(self.text) if end < 0 else end
        return end - 1 if self.text[end - 1 : end] == "\r" else end

    def _cut_lines(self, pair: _Pair) -> str:
        return self._cut(pair.start, pair.end)

    def _cut_line(self, pair: _Pair) -> str:
        return self._cut(pair.start, pair.colon)

    def _cut(self, start: int, end: int) -> str:
        """Cut the whole lines from `start`, the first thing on its line, to `end`."""
        begin = self.text.rfind("\n", 0, start) + 1
        if self.text[begin:start].strip():
            raise Unpatchable
        stop = self.text.find("\n", end)
        return self._spliced(begin, len(self.text) if stop < 0 else stop + 1, "")

    def _cut_flow(self, node: Any, pair: _Pair) -> str:
        pairs = [_Pair(self.text, key, value) for key, value in node.value]
        index = next(i for i, one in enumerate(pairs) if one.start == pair.start)
        if index + 1 < len(pairs):
            return self._spliced(pair.start, pairs[index + 1].start, "")
        return self._spliced(pairs[index - 1].end if index else pair.start, pair.end, "")

    def _spliced(self, start: int, end: int, written: str) -> str:
        return f"{self.text[:start]}{written}{self.text[end:]}"


def _end(text: str, node: Any) -> int:
    """Where the last character of a value ends: blank lines and comments after it are not its own."""
    if node.id == "scalar" or node.flow_style:
        end = int(node.end_mark.index)
        return len(text[:end].rstrip()) if str(getattr(node, "style", "") or "") in ("|", ">") else end
    if node.id == "mapping":
        return _Pair(text, *node.value[-1]).end
    last = node.value[-1]
    if last.start_mark.index < node.start_mark.index:  # an alias: the tree does not tell where it stands
        raise Unpatchable
    return _end(text, last)


def _alias_end(text: str, at: int) -> int:
    found = re.compile(r"\s*\*[^\s,\[\]{}]+").match(text, at)
    if found is None:
        raise Unpatchable
    return found.end()


def _nested(path: KeyPath, value: Any) -> Any:
    for part in reversed(path):
        value = {part: value}
    return value


def flow(value: Any, style: str = "") -> str:
    """Plain data on one line of YAML. `style` is the quote that a text had before."""
    if isinstance(value, str):
        return _text(value, style)
    if isinstance(value, dict):
        items = cast("dict[str, Any]", value)
        return "{" + ", ".join(f"{flow(key)}: {flow(item)}" for key, item in items.items()) + "}"
    if isinstance(value, list | tuple):
        return "[" + ", ".join(flow(item) for item in cast("list[Any]", value)) + "]"
    if isinstance(value, float) and not math.isfinite(value):
        return {math.inf: ".inf", -math.inf: "-.inf"}.get(value, ".nan")
    return json.dumps(value)


def _text(value: str, style: str) -> str:
    if style == "'" and value.isprintable():
        return "'" + value.replace("'", "''") + "'"
    if not style and _PLAIN.fullmatch(value) and value.lower() not in _NOT_TEXT:
        return value
    return "".join(_escaped(char) for char in json.dumps(value, ensure_ascii=False))


def _escaped(char: str) -> str:
    if char.isprintable() and char != "\ufeff":
        return char
    return f"\\U{ord(char):08x}" if ord(char) > 0xFFFF else f"\\u{ord(char):04x}"
