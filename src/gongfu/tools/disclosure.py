"""Tools on demand: a few are in every request, the others are found with one tool and called through another.

So the list of tools, and with it the cached prefix of the prompt, stays the same however many there are.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Iterator
from typing import Any, TypeAlias

import msgspec
from msgspec.structs import replace

from gongfu.core.errors import ToolFailure
from gongfu.core.messages import CallPart
from gongfu.core.specs import ToolSpec
from gongfu.tools.decorator import tool
from gongfu.tools.families import Shelf
from gongfu.tools.protocol import Facts, Outcome, Tool

FIND = "find_tools"
USE = "use_tool"
_DEEP = 3  # a use_tool in a use_tool is a slip, not a riddle
_MOST = 5

Missing: TypeAlias = Callable[[ToolSpec], str]


def disclosing(shelf: Shelf, missing: Missing, unknown: Callable[[str], str]) -> Iterator[Tool]:
    """`find_tools` and `use_tool` for a shelf.

    `missing` says why a tool cannot work here ("" when it can), `unknown` what to say of a name that no tool has.
    """
    tools = _Disclosure(shelf, missing, unknown)
    yield tools.find_tools
    yield tools.use_tool


async def _find_facts(_owner: _Disclosure, args: dict[str, Any]) -> Facts:
    return Facts(access=("read",), title=str(args.get("query") or "").strip().partition("\n")[0])


class _Disclosure:
    def __init__(self, shelf: Shelf, missing: Missing, unknown: Callable[[str], str]) -> None:
        self._shelf = shelf
        self._missing = missing
        self._unknown = unknown

    @tool(access="read", facts=_find_facts)
    async def find_tools(self, query: str = "", limit: int = _MOST) -> Outcome:
        from gongfu.tools.finding import find, listing  # loads every family

        await self._shelf.ready()
        if not query.strip():
            return Outcome(text=listing(self._shelf))
        return find(self._shelf, query, limit=min(max(limit, 1), 20), missing=self._missing)

    @tool(access="read")
    async def use_tool(self, name: str, arguments: dict[str, Any] | None = None) -> Outcome:
        # a call of a tool that exists was unwrapped before it came here
        if name not in self._shelf:
            await self._shelf.ready()
            if name in self._shelf:
                raise ToolFailure(f"{name} was not there yet. It is now: call it again.")
        del arguments
        if name in self._shelf or name in (FIND, USE):
            raise ToolFailure(f"The arguments for {name} could not be read: give one JSON object in `arguments`.")
        raise ToolFailure(self._unknown(name))


def unwrap(call: CallPart, tools: Container[str], shelf: Container[str]) -> CallPart:
    """The call that a call of `use_tool` stands for, with `via` set; any other call as it is.

    A call of a tool on the shelf by its own name is taken for one through `use_tool`. What cannot be read stays a call
    of `use_tool`, which tells the model what is wrong.
    """
    found = call
    for _ in range(_DEEP):
        if found.name != USE:
            break
        inner = _inner(found)
        if inner is None:
            return call
        found = inner
    if call.problem or found.name == USE or USE not in tools:
        return call
    if found.name not in tools and found.name not in shelf:
        return call
    if found is call:
        return call if call.name in tools else replace(call, via=USE)
    return found


def _inner(call: CallPart) -> CallPart | None:
    try:
        given = msgspec.json.decode(call.arguments, type=dict[str, Any])
    except (msgspec.DecodeError, RecursionError):
        return None
    name = given.pop("name", None)
    if not isinstance(name, str):
        return None
    arguments: Any = given.pop("arguments", None)
    if isinstance(arguments, str) and arguments.strip():  # encoded twice
        try:
            arguments = msgspec.json.decode(arguments)
        except (msgspec.DecodeError, RecursionError):
            return None
    if arguments in (None, ""):
        arguments = given  # a model that put them beside the name
    elif not isinstance(arguments, dict):
        return None
    return replace(call, name=name.strip(), arguments=msgspec.json.encode(arguments).decode(), via=USE)


def described(spec: ToolSpec, missing: str = "") -> str:
    """A tool as text for the model: name, what it does, its arguments as JSON Schema, why it cannot work here."""
    schema = msgspec.json.encode(spec.parameters.get("properties", {})).decode()
    shared = {key: spec.parameters[key] for key in ("$defs", "definitions") if key in spec.parameters}
    required = ", ".join(spec.parameters.get("required", ()))
    lines = [f"## {spec.name}", spec.description, f"arguments: {schema}"]
    if shared and "$ref" in schema:
        lines.append(f"where: {msgspec.json.encode(shared).decode()}")
    if required:
        lines.append(f"required: {required}")
    if missing:
        lines.append(f"(not available now: {missing})")
    return "\n".join(lines)
