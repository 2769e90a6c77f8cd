"""Reading the calls between two markers, in the spelling of every family of models."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, cast

from gongfu.core.jsonfix import dump, types_of
from gongfu.core.jsonread import read_loose
from gongfu.core.specs import ToolSpec
from gongfu.models.markers import Found, bare_name

_NAME_KEYS = ("name", "tool", "tool_name", "function", "function_name")
_ARGUMENT_KEYS = ("arguments", "parameters", "args", "input", "params", "tool_input", "kwargs")
_INSIDE = re.compile(r'[^"\\]*+(?:\\.[^"\\]*+)*+', re.DOTALL)
_OBJECTS = re.compile(r"(?:\[\s*+)?\{")
_BLANK = re.compile(r"\s*+")
# Every pattern takes time in proportion to the text: repeats that could meet each other do not give back, names end.
_KIMI = re.compile(
    r"(?<![\w.:-])([\w.:-]++)\s*+<\|tool_call_argument_begin\|>(.*?)"
    r"(?:<\|tool_call_end\|>|(?=<\|tool_call_begin\|>)|<\|tool_calls_section_end\|>|\Z)",
    re.DOTALL,
)
_DEEPSEEK = re.compile(r"(?:<｜tool▁call▁begin｜>|<｜tool▁call▁end｜>|<｜tool▁calls▁end｜>)\s*")
_FUNCTION = re.compile(r"<function=([^>\s]{1,200}+)\s*+>(.*?)(?:</function>(?=\s*(?:<|\Z))|\Z)", re.DOTALL)
_PARAMETER = re.compile(
    r"<parameter=([^>\s]{1,200}+)\s*+>(.*?)(?:</parameter>(?=\s*(?:</?function|<parameter=|\Z))|(?=<parameter=)|\Z)",
    re.DOTALL,
)
_INVOKE = re.compile(
    r"""<(\w+:|｜DSML｜)?(?:invoke|function_call)\s+name=["']?([^"'>]{1,200}+)["']?\s*+>(.*?)"""
    r"""(?:</(?:\w+:|｜DSML｜)?(?:invoke|function_call)>|\Z)""",
    re.DOTALL,
)
_INVOKED = re.compile(
    r"""<(?:\w+:|｜DSML｜)?parameter\s+name=["']?([^"'>]{1,200}+)["']?(?:\s++string="(true|false)")?\s*+>(.*?)"""
    r"""(?:</(?:\w+:|｜DSML｜)?parameter>(?=\s*(?:<|\Z))|\Z)""",
    re.DOTALL,
)
_GLM = re.compile(
    r"<arg_key>(.{0,200}?)</arg_key>\s*+<arg_value>(.*?)(?:</arg_value>(?=\s*(?:<arg_key>|\Z))|\Z)", re.DOTALL
)
_MISTRAL = re.compile(
    r"(?:\[TOOL_CALLS\]\s*+)?(?<![\w.-])([\w.-]++)\s*+(?:\[CALL_ID\]\s*+[\w-]*+\s*+)?(?:\[ARGS\]\s*+)?(?=\{)", re.DOTALL
)
_HARMONY = re.compile(
    r"to=(?:functions\.)?([\w-]++)\s*+(?:<\|channel\|>\w++\s*+)?(?:<\|constrain\|>\s*+)?(?:json)?\s*+"
    r"<\|message\|>(.*?)(?:<\|call\|>|<\|end\|>|\Z)",
    re.DOTALL,
)
_HALF = re.compile(
    r"""["'](?:name|tool|tool_name|function)["']\s*:\s*["']([\w.:-]+)["']"""
    r"""(?:\s*,\s*["'](?:arguments|parameters|args|input|params|tool_input|kwargs)["']\s*:\s*(.*))?""",
    re.DOTALL,
)
_PYTHONIC = re.compile(r"\[?\s*[\w.]+\(.*\)\s*\]?", re.DOTALL)


class Strings:
    """Follows the strings of JSON that begins at `start` of a text, forwards only: each character is seen once.

    `is_json`: there is an object, or a list of them.
    """

    def __init__(self, text: str, start: int, end: int) -> None:
        first = _match_end(_BLANK, text, start, end)
        self.is_json = text.startswith(("{", "[{"), first, end)
        self._at = first
        self._open = False

    def move(self, by: int) -> None:
        """The text lost `by` characters at its beginning."""
        self._at -= by

    def left(self, end: int) -> int:
        """How many characters there are up to `end` that were not seen yet."""
        return max(0, end - self._at) if self.is_json else 0

    def open_at(self, text: str, end: int) -> bool:
        """Whether a string is open at `end`, which is not before that of the last time."""
        while self.is_json and self._at < end:
            if not self._open:
                quote = text.find('"', self._at, end)
                self._at = quote + 1 if quote >= 0 else end
                self._open = quote >= 0
                continue
            self._at = _match_end(_INSIDE, text, self._at, end)
            if text[self._at : self._at + 1] != '"' or self._at >= end:
                break  # the string goes on, or its last sign is the first half of an escape
            self._open = False
            self._at += 1
        return self._open


def _match_end(pattern: re.Pattern[str], text: str, start: int, end: int) -> int:
    found = pattern.match(text, start, end)
    return found.end() if found else start


def is_whole(body: str) -> bool:
    """Whether what was opened in `body` is closed there, so that a closer behind it is not part of a value."""
    text = body.strip().removeprefix("<|plugin|>").strip()
    for opening, closing in (("<arg_value>", "</arg_value>"), ("<function=", "</function>"), ("<invoke", "</invoke>")):
        if opening in text and text.count(opening) > text.count(closing):
            return False
    if text.startswith(("{", "[{")):
        return read_loose(text, lambda _: True).fault != "cut"
    return True


def has_tail(body: str) -> bool:
    """Whether prose follows the JSON in `body`: without a closer it is then no call but talk about one."""
    text = body.strip()
    return text.startswith(("{", "[{")) and bool(read_loose(text, lambda _: True).dropped)


def read_calls(body: str, *, cut: bool = False) -> list[Found]:
    """The calls in `body`, the text between two markers. Empty when there is none. `cut`: the end may be missing."""
    text = body.strip().removeprefix("<|plugin|>").strip()
    for reader in (_kimi, _deepseek, _function, _invoke, _glm, _harmony, _json, _mistral, _pythonic):
        found = list(reader(text))
        if found:
            return found
    return list(_half(text)) if cut else []


def _kimi(text: str) -> Iterator[Found]:
    for name, arguments in _KIMI.findall(text):
        yield Found(name=bare_name(name), arguments=arguments.strip())


def _deepseek(text: str) -> Iterator[Found]:
    if "<｜tool▁sep｜>" not in text:
        return
    for piece in _DEEPSEEK.split(text):
        left, separator, right = piece.partition("<｜tool▁sep｜>")
        if not separator:
            continue
        if left.strip() in ("function", ""):  # the name stands behind, the arguments in a fence
            left, _, right = right.strip().partition("\n")
        yield Found(name=bare_name(left), arguments=right.strip())


def _function(text: str) -> Iterator[Found]:
    for name, inner in _FUNCTION.findall(text):
        values = {k: _value(v) for k, v in _PARAMETER.findall(inner)}
        if values or not inner.strip():
            yield Found(name=bare_name(name), arguments=values, raw_values=True)
        else:
            yield Found(name=bare_name(name), arguments=inner.strip())


def _invoke(text: str) -> Iterator[Found]:
    for family, name, inner in _INVOKE.findall(text):
        values: dict[str, Any] = {}
        for key, is_string, value in _INVOKED.findall(inner):
            if value.startswith("\n") and value.endswith("\n"):
                value = _value(value)  # noqa: PLW2901 - the style puts a line break on both sides, or on neither
            values[key] = value if is_string != "false" else read_loose(value, lambda _: True).value
        yield Found(name=bare_name(name), arguments=values, raw_values=family != "｜DSML｜")


def _glm(text: str) -> Iterator[Found]:
    for piece in re.split("<tool_call>|</tool_call>", text):
        head, key, _ = piece.partition("<arg_key>")
        if key:
            values = {k.strip(): v for k, v in _GLM.findall(piece)}
            yield Found(name=bare_name(re.sub("<[^>]*>", "", head)), arguments=values, raw_values=True)


def _value(text: str) -> str:
    """A raw value without the one line break that the style puts on either side of it."""
    return text.removeprefix("\n").removesuffix("\n")


def _harmony(text: str) -> Iterator[Found]:
    for name, arguments in _HARMONY.findall(text):
        yield Found(name=bare_name(name), arguments=arguments.strip())


def _json(text: str) -> Iterator[Found]:
    if not _OBJECTS.match(text):
        return
    loose = read_loose(text, lambda _: True)
    if loose.fault == "several":  # one object a line
        for line in text.splitlines():
            yield from _json(line.strip())
        return
    read: Any = loose.value
    for value in cast("list[Any]", read) if isinstance(read, list) else [read]:
        found = _from_object(value)
        if found:
            yield found


def _from_object(value: Any) -> Found | None:
    if not isinstance(value, dict):
        return None
    fields = cast("dict[str, Any]", value)
    inner = fields.get("function")
    if isinstance(inner, dict):
        return _from_object(cast("Any", inner))
    name = next((fields[k] for k in _NAME_KEYS if isinstance(fields.get(k), str)), "")
    key = next((k for k in _ARGUMENT_KEYS if k in fields), "")
    arguments = fields.get(key)
    if not name or (not key and len(fields) > 1):
        return None
    whole = cast("dict[str, Any] | str", arguments) if isinstance(arguments, dict | str) else dump(arguments)
    return Found(name=bare_name(name), arguments="" if arguments is None else whole)


def _mistral(text: str) -> Iterator[Found]:
    starts = list(_MISTRAL.finditer(text)) if text[:1] not in "{[" or text.startswith("[TOOL") else []
    position = 0
    for number, start in enumerate(starts):
        if start.start() < position:
            continue  # inside the arguments of the call before
        later = (starts[n].start() for n in range(number + 1, len(starts)))
        end = next((at for at in later if text.startswith("[TOOL_CALLS]", at)), len(text))
        position = end
        yield Found(name=bare_name(start.group(1)), arguments=text[start.end() : end].strip())


def _pythonic(text: str) -> Iterator[Found]:
    if not _PYTHONIC.fullmatch(text):
        return
    import ast  # for the few models that write calls as Python

    try:
        body = ast.parse(text, mode="eval").body
        for node in body.elts if isinstance(body, ast.List) else [body]:
            if isinstance(node, ast.Call) and len(node.args) == 1 and ast.unparse(node.func) == "print":
                node = node.args[0]  # noqa: PLW2901 - Gemma prints what it calls
            if isinstance(node, ast.Call) and not node.args:
                arguments = {k.arg: ast.literal_eval(k.value) for k in node.keywords if k.arg}
                yield Found(name=bare_name(ast.unparse(node.func)), arguments=arguments)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return


def _half(text: str) -> Iterator[Found]:
    found = _HALF.search(text)
    if found:
        yield Found(name=bare_name(found.group(1)), arguments=found.group(2) or "{", cut=True)


def typed(found: Found, tool: ToolSpec) -> str | dict[str, Any]:
    """The arguments of a written call for `parse_arguments`: raw values become what the schema asks for."""
    if not found.raw_values or not isinstance(found.arguments, dict):
        return found.arguments
    properties = tool.parameters.get("properties")
    known = cast("dict[str, Any]", properties) if isinstance(properties, dict) else {}
    return {k: _typed(v, known.get(k), tool.parameters) for k, v in found.arguments.items()}


def _typed(value: Any, schema: Any, root: dict[str, Any]) -> Any:
    wanted = types_of(schema, root)
    if not isinstance(value, str) or "string" in wanted or not wanted:
        return value
    loose = read_loose(value, lambda _: True)
    return value if loose.fault or loose.dropped else loose.value
