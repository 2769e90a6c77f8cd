"""Tools on demand: families that load late, the search for them, and calls that are unwrapped."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.toolkit.kit import Ctx

from gongfu.core.errors import ToolFailure, UserError
from gongfu.core.messages import CallPart
from gongfu.core.specs import Requirement, ToolSpec
from gongfu.tools.decorator import tool
from gongfu.tools.disclosure import FIND, USE
from gongfu.tools.families import Family, LiveFamily, Shelf
from gongfu.tools.needs import either, library, missing, platform, program
from gongfu.tools.registry import Registry

pytestmark = pytest.mark.anyio


@tool(access="read")
async def near(path: str) -> str:
    """Read what is near."""
    return path


@tool(access="read")
async def paint_wall(colour: str, coats: int = 1) -> str:
    """Paint a wall in a colour.

    Args:
        colour: name of the colour
    """
    return f"{colour} x {coats}"


@tool(access="read", needs=(Requirement(kind="program", names=("no-such-oven",), install="buy an oven"),))
async def bake_bread(flour: int) -> str:
    """Bake bread of flour."""
    return str(flour)


class Loads:
    def __init__(self) -> None:
        self.made = 0

    def family(self) -> Family:
        return Family("house", ("bake_bread", "paint_wall"), self)

    def __call__(self) -> tuple[Any, ...]:
        self.made += 1
        return (paint_wall, bake_bread)


def registry(loads: Loads | None = None, **more: Any) -> Registry:
    return Registry([[near]], [(loads or Loads()).family()], **more)


def call(arguments: Any, name: str = USE) -> CallPart:
    text = arguments if isinstance(arguments, str) else json.dumps(arguments)
    return CallPart(id="c1", name=name, arguments=text)


def test_a_family_loads_once_and_only_when_one_of_its_tools_is_asked_for() -> None:
    loads = Loads()
    tools = registry(loads)
    assert tools.names == (FIND, "near", USE)
    assert "paint_wall" in tools.shelf
    assert tools.get("near") is near
    assert tools.get("nothing") is None
    tools.unwrap(call({"name": "paint_wall", "arguments": {}}))
    assert loads.made == 0
    assert tools.get("paint_wall") is paint_wall
    assert tools.get("bake_bread") is bake_bread
    assert loads.made == 1


def test_without_families_nothing_is_disclosed() -> None:
    tools = Registry([[near]])
    assert tools.names == ("near",)
    kept = call({"name": "near", "arguments": {"path": "x"}})
    assert tools.unwrap(kept) is kept


def test_a_pinned_tool_is_carried_and_leaves_the_shelf() -> None:
    tools = registry(pin=("paint_wall", "near", "unheard_of"))
    assert tools.names == (FIND, "near", "paint_wall", USE)
    assert tools.shelf.names == ("bake_bread",)
    assert tools.get("paint_wall") is paint_wall


def test_names_must_be_unique_over_the_list_and_the_shelf() -> None:
    with pytest.raises(UserError):
        Registry([[paint_wall]], [Loads().family()])
    with pytest.raises(UserError):
        Registry([[near]], [Loads().family(), Loads().family()])


@pytest.mark.parametrize(
    ("names", "carried", "shelf"),
    [
        (("near",), ("near",), ()),
        (("near", "paint_wall"), ("near", "paint_wall"), ()),
        (("near", USE), (FIND, "near", USE), ("bake_bread", "paint_wall")),
        (("paint_wall", FIND, USE), (FIND, "paint_wall", USE), ("bake_bread",)),
        (("unheard_of",), (), ()),
    ],
)
def test_a_part_carries_what_it_names_and_keeps_the_shelf_with_use_tool(
    names: tuple[str, ...], carried: tuple[str, ...], shelf: tuple[str, ...]
) -> None:
    part = registry().subset(names, "Do without.")
    assert part.names == carried
    assert part.shelf.names == shelf
    assert "Do without." in part.unknown("x")
    again = part.subset(part.names)
    assert (again.names, again.shelf.names) == (carried, shelf)


def test_a_live_family_is_asked_each_time() -> None:
    there: list[Any] = []
    tools = Registry([[near]], [LiveFamily("server", lambda: tuple(there))])
    assert tools.names == (FIND, "near", USE)
    assert tools.get("paint_wall") is None
    there.append(paint_wall)
    assert tools.get("paint_wall") is paint_wall
    assert tools.unwrap(call({"name": "paint_wall"})).name == "paint_wall"
    there.clear()
    assert "paint_wall" not in tools.shelf


WRAPPED: tuple[tuple[Any, str, Any], ...] = (
    ({"name": "paint_wall", "arguments": {"colour": "red"}}, "paint_wall", {"colour": "red"}),
    ({"name": " paint_wall ", "arguments": {"colour": "红"}}, "paint_wall", {"colour": "红"}),
    ({"name": "paint_wall", "arguments": '{"colour": "red"}'}, "paint_wall", {"colour": "red"}),
    ({"name": "paint_wall"}, "paint_wall", {}),
    ({"name": "paint_wall", "arguments": None}, "paint_wall", {}),
    ({"name": "paint_wall", "arguments": ""}, "paint_wall", {}),
    ({"name": "paint_wall", "colour": "red", "coats": 2}, "paint_wall", {"colour": "red", "coats": 2}),
    ({"name": "near", "arguments": {"path": "x"}}, "near", {"path": "x"}),
    (
        {"name": USE, "arguments": {"name": "paint_wall", "arguments": {"colour": "red"}}},
        "paint_wall",
        {"colour": "red"},
    ),
    ({"name": FIND, "arguments": {"query": "x"}}, FIND, {"query": "x"}),
)


@pytest.mark.parametrize(("arguments", "name", "inner"), WRAPPED)
def test_a_wrapped_call_is_the_call_that_it_stands_for(arguments: Any, name: str, inner: Any) -> None:
    found = registry().unwrap(call(arguments))
    assert (found.name, json.loads(found.arguments), found.via, found.id) == (name, inner, USE, "c1")


@pytest.mark.parametrize(
    "arguments",
    [
        {},
        {"arguments": {"colour": "red"}},
        {"name": 3},
        {"name": "unheard_of", "arguments": {}},
        {"name": "paint_wall", "arguments": [1]},
        {"name": "paint_wall", "arguments": "red"},
        {"name": USE, "arguments": {"name": USE, "arguments": {"name": USE, "arguments": {"name": USE}}}},
        "[" * 5000,
    ],
)
async def test_what_cannot_be_unwrapped_stays_and_says_what_is_wrong(arguments: Any) -> None:
    tools = registry()
    wrong = call(arguments)
    assert tools.unwrap(wrong) is wrong
    use = tools.get(USE)
    assert use is not None
    name = arguments.get("name") if isinstance(arguments, dict) else None
    if isinstance(name, str):
        with pytest.raises(ToolFailure, match="There is no tool" if name == "unheard_of" else "could not be read"):
            await use.run({"name": name}, Ctx())


def test_a_call_by_its_own_name_goes_back_through_use_tool() -> None:
    found = registry().unwrap(call({"colour": "red"}, "paint_wall"))
    assert (found.name, found.via) == ("paint_wall", USE)
    plain = call({"path": "x"}, "near")
    assert registry().unwrap(plain) is plain
    broken = CallPart(id="c1", name="paint_wall", problem="cut off")
    assert registry().unwrap(broken) is broken


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-9, 9) | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=6,
)


@given(st.dictionaries(st.text(max_size=8), VALUES, max_size=5))
def test_arguments_come_through_unchanged(arguments: dict[str, Any]) -> None:
    found = registry().unwrap(call({"name": "paint_wall", "arguments": arguments}))
    assert found.name == "paint_wall"
    assert json.loads(found.arguments) == arguments


async def _find(tools: Registry, query: str, **more: Any) -> str:
    find = tools.get(FIND)
    assert find is not None
    return (await find.run({"query": query, **more}, Ctx())).text


async def test_find_tools_gives_the_arguments_and_says_what_is_missing() -> None:
    tools = registry(missing=lambda spec: missing(spec, {"PATH": ""}))
    text = await _find(tools, "what colour should the wall get")
    assert text.startswith("## paint_wall\nPaint a wall in a colour.")
    assert '"colour":{"type":"string","description":"name of the colour"}' in text
    assert "required: colour" in text
    assert "not available" not in text
    text = await _find(tools, "bread")
    assert "not available now: bake_bread needs no-such-oven, which is not installed" in text
    assert "buy an oven" in text


async def test_find_tools_lists_all_when_nothing_is_asked_or_fits() -> None:
    tools = registry()
    assert await _find(tools, "  ") == "house: bake_bread, paint_wall"
    assert "house: bake_bread, paint_wall" in await _find(tools, "zebra")
    assert (await _find(tools, "bake_bread")).startswith("## bake_bread")
    assert (await _find(tools, "bake bread or paint a wall", limit=1)).count("## ") == 1


def test_a_shelf_without_some_tools_keeps_the_families_it_need_not_touch() -> None:
    other = Family("other", ("near",), lambda: (near,))
    shelf = Shelf([Loads().family(), other])
    less = shelf.without(["paint_wall"])
    assert less.names == ("bake_bread", "near")
    assert less.families[1] is other
    assert less.get("paint_wall") is None
    assert shelf.without([]) is shelf


def test_one_of_several_requirements_is_enough() -> None:
    oven, pan = program("no-such-oven", install="buy an oven"), program("sh")
    assert missing_of(either(oven, pan)) == ""
    assert missing_of(either(oven, library("no_such_kitchen", extra="food"))) == (
        "bake needs no-such-oven / no_such_kitchen, none of which is here; nothing was done. "
        "It is installed with: buy an oven"
    )
    assert missing_of(library("no_such_kitchen.stove", extra="food")) == (
        "bake needs no_such_kitchen.stove, which is not installed; nothing was done. "
        "It is installed with: pip install 'gongfu[food]'"
    )
    assert missing_of(platform("plan9")) == "bake works only on plan9; nothing was done."


def missing_of(need: Requirement) -> str:
    return missing(ToolSpec(name="bake", description="", parameters={}, needs=(need,)), {"PATH": "/bin:/usr/bin"})
