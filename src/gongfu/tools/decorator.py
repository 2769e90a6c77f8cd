"""`@tool`: a typed async function becomes a Tool.

    @tool(access="read")
    async def word_count(path: str) -> str:
        '''Count the words of a file.

        Args:
            path: the file
        '''

The name of the function is the tool's name; its parameters are the model's arguments; a parameter `ctx` gets the
`CallContext`. On a method the decorator makes a tool of each instance.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from functools import cached_property
from typing import Any, TypeAlias

import msgspec

from gongfu.core.errors import ToolFailure
from gongfu.core.specs import Access, Requirement, ToolSpec
from gongfu.tools.protocol import CallContext, Claim, Facts, Outcome
from gongfu.tools.schema import CONTEXT, build_schema, parameters_of
from gongfu.tools.texts import text_of

ToolBody: TypeAlias = Callable[..., Awaitable[Outcome | str]]
FactsOf: TypeAlias = Callable[..., Awaitable[Facts]]
ClaimsOf: TypeAlias = Callable[..., tuple[Claim, ...]]


class _Definition:
    """What is the same for all instances; schema and words are worked out when they are first asked for."""

    def __init__(
        self, body: ToolBody, *, name: str, access: tuple[Access, ...], key: bool, facts: FactsOf | None,
        claims: ClaimsOf | None, needs: tuple[Requirement, ...] = (),
    ) -> None:  # fmt: skip
        self.body = body
        self.name = name
        self.access = access
        self.key = key
        self.facts = facts
        self.claims = claims
        self.needs = needs

    @cached_property
    def parameters(self) -> dict[str, Any]:
        return {p.name: p for p in parameters_of(self.body)}

    @cached_property
    def takes_context(self) -> bool:
        code = self.body.__code__
        return CONTEXT in code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]

    @cached_property
    def spec(self) -> ToolSpec:
        text = text_of(self.body, self.name)
        schema = build_schema(tuple(self.parameters.values()), text)
        return ToolSpec(
            name=self.name, description=text.description, parameters=schema, access=self.access, key=self.key,
            needs=self.needs, zh=text.zh, words=text.words,
        )  # fmt: skip


class FunctionTool:
    """A Tool made of a function. `replaces` names a tool that it may take the place of in a registry."""

    __slots__ = ("_definition", "_owner", "replaces")

    def __init__(self, definition: _Definition, owner: tuple[Any, ...] = (), replaces: str = "") -> None:
        self._definition = definition
        self._owner = owner
        self.replaces = replaces

    def __get__(self, instance: Any, owner: type | None = None) -> FunctionTool:
        return self if instance is None else FunctionTool(self._definition, (instance,), self.replaces)

    @property
    def spec(self) -> ToolSpec:
        """Name, words, schema and access."""
        return self._definition.spec

    def claims(self, args: dict[str, Any], /) -> tuple[Claim, ...]:
        """What the tool declared; by itself a tool that only reads claims nothing, any other one everything."""
        if self._definition.claims is not None:
            return self._definition.claims(*self._owner, args)
        return () if set(self._definition.access) <= {"read"} else (Claim(resource="*", write=True),)

    async def facts(self, args: dict[str, Any], /) -> Facts:
        """What the tool declared; by itself its access and its name."""
        if self._definition.facts is not None:
            return await self._definition.facts(*self._owner, args)
        return Facts(access=self._definition.access, title=self._definition.name)

    async def run(self, args: dict[str, Any], ctx: CallContext, /) -> Outcome:
        """Call the function with the validated arguments."""
        definition = self._definition
        values = self._values(args)
        if definition.takes_context:
            values[CONTEXT] = ctx
        result = await definition.body(*self._owner, **values)
        return Outcome(text=result) if isinstance(result, str) else result

    def _values(self, args: dict[str, Any]) -> dict[str, Any]:
        known = self._definition.parameters
        unknown = [a for a in args if a not in known]
        if unknown:
            names = ", ".join(known) or "none"
            raise ToolFailure(f"{self.spec.name} has no argument {', '.join(unknown)}; its arguments are: {names}")
        missing = [p.name for p in known.values() if p.required and p.name not in args]
        if missing:
            raise ToolFailure(f"{self.spec.name} needs {', '.join(missing)}")
        values = dict(args)
        for name, value in args.items():
            if known[name].convert:
                try:
                    values[name] = msgspec.convert(value, known[name].type)
                except msgspec.ValidationError as error:
                    raise ToolFailure(f"{name}: {error}") from None
        return values


def tool(
    *,
    access: Access | tuple[Access, ...] = "read",
    key: bool = False,
    name: str = "",
    facts: FactsOf | None = None,
    claims: ClaimsOf | None = None,
    replaces: str = "",
    needs: tuple[Requirement, ...] = (),
) -> Callable[[ToolBody], FunctionTool]:
    """Make a Tool of a typed async function or method that returns an Outcome or a text.

    `needs` is what it cannot work without (see `tools.needs`); where something of it is missing a call fails with
    what is missing and the command that installs it, before anything is asked or run.
    `facts(args)` and `claims(args)` (for a method with the instance first) tell what a call touches, see `Tool`.
    """

    def decorate(body: ToolBody) -> FunctionTool:
        kinds: tuple[Access, ...] = (access,) if isinstance(access, str) else access
        definition = _Definition(
            body, name=name or body.__name__, access=kinds, key=key, facts=facts, claims=claims, needs=needs
        )
        return FunctionTool(definition, replaces=replaces)

    return decorate
