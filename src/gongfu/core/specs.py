"""What tools and models are, as data."""

from __future__ import annotations

from typing import Any, Literal, TypeAlias

from gongfu.core.base import Base

Access: TypeAlias = Literal["read", "write", "execute", "network", "desktop"]


class Requirement(Base, frozen=True):
    """Something that a tool cannot work without: one of `names`, or instead of it one of `others`.

    `kind`: a `library` (import names), a `program` (on PATH), a `display` (no names), a `platform` (values of
    sys.platform). `what` names it for people where no single name does; `install` is the one command that brings it.
    """

    kind: Literal["library", "program", "display", "platform"]
    names: tuple[str, ...] = ()
    what: str = ""
    install: str = ""
    others: tuple[Requirement, ...] = ()


class ToolSpec(Base, frozen=True):
    """What the model is told of a tool, and what the policy knows of it.

    `parameters` is a JSON Schema of type object. `key` tools keep their results longest when context is folded.
    `needs` is what it cannot work without. `zh` is its one line for people in Chinese, `words` are further words that
    it is found by; the model is told neither.
    """

    name: str
    description: str
    parameters: dict[str, Any]
    access: tuple[Access, ...] = ("read",)
    key: bool = False
    needs: tuple[Requirement, ...] = ()
    zh: str = ""
    words: str = ""


class Usage(Base, frozen=True, gc=False):
    """Tokens of one request, the same for every provider.

    `input` is all prompt tokens, those read from and written to a cache included; `output` is all generated tokens,
    `reasoning` (a share of `output`) included.
    """

    input: int = 0
    cached: int = 0
    cache_write: int = 0
    output: int = 0
    reasoning: int = 0

    def __add__(self, other: Usage) -> Usage:
        return Usage(
            input=self.input + other.input,
            cached=self.cached + other.cached,
            cache_write=self.cache_write + other.cache_write,
            output=self.output + other.output,
            reasoning=self.reasoning + other.reasoning,
        )


class Price(Base, frozen=True):
    """US dollars for a million tokens. None means unknown, which is not the same as free."""

    input: float | None = None
    cached: float | None = None
    cache_write: float | None = None
    output: float | None = None

    def cost(self, usage: Usage) -> float | None:
        """Money for `usage` in US dollars, or None when the price is unknown."""
        if self.input is None or self.output is None:
            return None
        cached = self.input if self.cached is None else self.cached
        write = self.input if self.cache_write is None else self.cache_write
        plain = usage.input - usage.cached - usage.cache_write
        return (
            plain * self.input + usage.cached * cached + usage.cache_write * write + usage.output * self.output
        ) / 1_000_000


class ModelInfo(Base, frozen=True):
    """What is known of a model. `window` and `max_output` are tokens; 0 is unknown.

    `reasoning_back`: "never", "tool_rounds" (inside a running tool loop) or "always"; thinking that must be returned.
    `reasoning_sent`: which thinking its requests really carry, which may be more; "" is not known.
    `small`: cannot call tools by itself and is led step by step (the guided quirk).
    """

    ref: str
    provider: str
    name: str
    window: int = 0
    max_output: int = 0
    price: Price = Price()
    images: bool = False
    tools: bool = True
    reasoning: bool = False
    reasoning_back: Literal["never", "tool_rounds", "always"] = "never"
    reasoning_sent: Literal["", "never", "tool_rounds", "always"] = ""
    small: bool = False
    slots: int = 0
    source: str = ""
