"""Tools made of functions: schema from types, words from a docstring or a Markdown file, arguments to values."""

from __future__ import annotations

import sys
import types
from pathlib import Path
from typing import Annotated, Any, Literal

import msgspec
import pytest

from gongfu.core.errors import ToolFailure, UserError
from gongfu.core.words import say
from gongfu.tools.decorator import tool
from gongfu.tools.protocol import CallContext, Claim, Facts, Outcome
from gongfu.tools.registry import Registry
from gongfu.tools.texts import from_markdown, read_texts

pytestmark = pytest.mark.anyio


class Point(msgspec.Struct):
    x: int
    y: int = 0


class Context:
    call_id = "c1"


@tool(access=("read", "network"), key=True)
async def sample(
    name: str,
    ctx: CallContext,
    count: int = 1,
    ratio: float | None = None,
    kind: Literal["a", "b"] = "a",
    tags: list[str] | None = None,
    where: Point | None = None,
    more: dict[str, int] | None = None,
    level: Annotated[int, msgspec.Meta(ge=1, le=3)] = 1,
    free: Any = None,
) -> str:
    """Do a thing.

    And say so.

    Args:
        name: whose
            name it is
        tags (list): labels
    """
    return f"{ctx.call_id} {name} {count} {kind} {tags} {where!r} {level}"


def test_the_schema_comes_from_the_signature() -> None:
    assert sample.spec.name == "sample"
    assert sample.spec.description == "Do a thing. And say so."
    assert sample.spec.access == ("read", "network")
    assert sample.spec.key
    assert sample.spec.parameters == {
        "type": "object",
        "properties": {
            "name": {"type": "string", "description": "whose name it is"},
            "count": {"type": "integer"},
            "ratio": {"type": "number"},
            "kind": {"type": "string", "enum": ["a", "b"]},
            "tags": {"type": "array", "items": {"type": "string"}, "description": "labels"},
            "where": {
                "type": "object",
                "properties": {"x": {"type": "integer"}, "y": {"type": "integer"}},
                "required": ["x"],
            },
            "more": {"type": "object", "additionalProperties": {"type": "integer"}},
            "level": {"type": "integer", "minimum": 1, "maximum": 3},
            "free": {},
        },
        "required": ["name"],
    }


async def test_arguments_become_values() -> None:
    outcome = await sample.run({"name": "n", "tags": ["x"], "where": {"x": 1}, "level": 2}, Context())
    assert outcome == Outcome(text="c1 n 1 a ['x'] Point(x=1, y=0) 2")


@pytest.mark.parametrize(
    ("args", "words"),
    [
        ({"name": "n", "nmae": 1}, "no argument nmae; its arguments are: name, count"),
        ({}, "needs name"),
        ({"name": "n", "where": {"y": 1}}, "where: Object missing required field `x`"),
    ],
)
async def test_bad_arguments_speak_to_the_model(args: dict[str, Any], words: str) -> None:
    with pytest.raises(ToolFailure, match=words):
        await sample.run(args, Context())


class Family:
    def __init__(self, word: str) -> None:
        self.word = word

    async def _facts(self, args: dict[str, Any]) -> Facts:
        return Facts(access=("write",), title=f"{self.word} {args['n']}")

    def _claims(self, args: dict[str, Any]) -> tuple[Claim, ...]:
        return (Claim(resource=self.word, write=True),)

    @tool(access="write", name="say_it", facts=_facts, claims=_claims)
    async def say(self, n: int) -> str:
        """Say."""
        return self.word * n


async def test_methods_are_tools_of_their_instance() -> None:
    one, other = Family("a"), Family("b")
    assert (await one.say.run({"n": 2}, Context())).text == "aa"
    assert (await other.say.run({"n": 1}, Context())).text == "b"
    assert one.say.claims({"n": 1}) == (Claim(resource="a", write=True),)
    assert (await other.say.facts({"n": 3})).title == "b 3"
    assert one.say.spec is other.say.spec
    assert one.say.spec.name == "say_it"


async def test_what_is_not_declared_is_taken_for_the_worst() -> None:
    @tool(access="execute")
    async def wild() -> str:
        """Do anything."""
        return ""

    assert wild.claims({}) == (Claim(resource="*", write=True),)
    assert sample.claims({}) == (Claim(resource="*", write=True),)  # the network may change things
    assert await wild.facts({}) == Facts(access=("execute",), title="wild")


def test_words_stand_in_a_file_beside_the_module(tmp_path: Path) -> None:
    module = types.ModuleType("beside")
    module.__file__ = str(tmp_path / "beside.py")
    (tmp_path / "beside.md").write_text(
        "Ignored.\n\n## first\n\nOne line,\nand another.\n\n- path: a file\n  that exists\n- `p.q`: inside\n\n"
        "## second\n\nTwo.\n"
    )
    sys.modules["beside"] = module
    try:
        source = "from gongfu.tools.decorator import tool\n@tool()\nasync def first(path: str) -> str: ...\n"
        exec(source, module.__dict__)
        spec = module.__dict__["first"].spec
    finally:
        del sys.modules["beside"]
    assert spec.description == "One line, and another."
    assert spec.parameters["properties"] == {"path": {"type": "string", "description": "a file that exists"}}
    assert read_texts(tmp_path / "beside.md")["second"].description == "Two."
    assert read_texts(tmp_path / "none.md") == {}
    assert from_markdown("Text.\n\n- a: b\n").parameters == {"a": "b"}


def test_a_tool_without_words_or_types_is_a_bug() -> None:
    @tool()
    async def silent() -> str:
        return ""

    @tool()
    async def untyped(x) -> str:
        """Words."""
        return ""

    @tool()
    async def open_ended(*args: str) -> str:
        """Words."""
        return ""

    for bad in (silent, untyped, open_ended):
        with pytest.raises(TypeError):
            _ = bad.spec


def _named(name: str, replaces: str = "", text: str = "x"):
    @tool(name=name, replaces=replaces)
    async def body() -> str:
        """Words."""
        return text

    return body


async def test_a_registry_is_sorted_and_refuses_a_clash() -> None:
    registry = Registry([(_named("b"), _named("a")), (_named("c"),)])
    assert registry.names == ("a", "b", "c")
    assert [s.name for s in registry.specs] == ["a", "b", "c"]
    assert "a" in registry
    assert len(registry) == 3
    assert registry.get("z") is None
    with pytest.raises(UserError) as clash:
        Registry([(_named("a"),), (_named("a"),)])
    assert "called a" in say(clash.value.key, "en", **clash.value.values)
    assert "a" in say(clash.value.key, "zh", **clash.value.values)
    newer = Registry([(_named("a"),), (_named("a", replaces="a", text="new"),)]).get("a")
    assert newer is not None
    assert (await newer.run({}, Context())).text == "new"


def test_an_unknown_tool_is_answered_with_the_nearest() -> None:
    words = Registry([(_named("read_file"), _named("shell"))]).unknown("readfile")
    assert words == "There is no tool 'readfile'. Did you mean read_file? The tools are: read_file, shell."
