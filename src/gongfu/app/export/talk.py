"""A session as a document: turns, what was said in each, and what was done."""

from __future__ import annotations

from typing import Any, Literal, TypeAlias

from gongfu.core.base import Base
from gongfu.core.messages import ImagePart


class Words(Base, frozen=True, tag="words"):
    """What a person said: the prompt of a turn, or words while it ran (`steer`)."""

    text: str
    images: tuple[ImagePart, ...] = ()
    steer: bool = False


class Thought(Base, frozen=True, tag="thought"):
    """A model's thinking."""

    text: str


class Answer(Base, frozen=True, tag="answer"):
    """What a model said; `final` for the last words of a turn."""

    text: str
    final: bool = False


class Done(Base, frozen=True, tag="call"):
    """A call and what came of it. `title` is a short line, `arguments` JSON, `text` what the model was told."""

    name: str
    title: str
    arguments: str
    status: str
    text: str
    display: dict[str, Any] = {}
    images: tuple[ImagePart, ...] = ()
    seconds: float = 0.0
    label: str = ""


Item: TypeAlias = Words | Thought | Answer | Done


class Turn(Base, frozen=True):
    """One turn. `ended` tells how, "" while it runs; `reason` is a sentence where it did not end by itself."""

    items: tuple[Item, ...] = ()
    ended: str = ""
    reason: str = ""
    model: str = ""
    at: float = 0.0


class Talk(Base, frozen=True):
    """A whole session or part of one. Times are seconds since 1970, `cost` US dollars (None: not known)."""

    session: str
    title: str
    folder: str
    turns: tuple[Turn, ...]
    at: float = 0.0
    tokens: int = 0
    cost: float | None = None
    version: Literal[1] = 1
