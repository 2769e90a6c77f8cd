"""What the three dialects have in common: their shape, events, and reading of contents."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, Literal, TypeAlias, cast

import msgspec

from gongfu.core.base import Base
from gongfu.core.specs import Usage
from gongfu.models.scripted.player import Seen
from gongfu.models.scripted.reply import Reply

Fields: TypeAlias = dict[str, Any]
DialectName: TypeAlias = Literal["chat", "responses", "messages"]


class Frame(Base, frozen=True):
    """One server-sent event; `data` as text travels as it is."""

    name: str
    data: Fields | str

    def encode(self) -> bytes:
        """The bytes of the event with the empty line that ends it."""
        data = self.data.encode() if isinstance(self.data, str) else msgspec.json.encode(self.data)
        name = f"event: {self.name}\n".encode() if self.name else b""
        return name + b"data: " + data + b"\n\n"


class Dialect(Base, frozen=True):
    """How one API writes answers and errors and how its requests are read."""

    name: DialectName
    whole: Callable[[Reply, Usage, Fields, str], Fields]
    stream: Callable[[Reply, Usage, Fields, str], list[Frame]]
    error: Callable[[int, str, str], Fields]
    error_event: Callable[[int, str], Frame]
    seen: Callable[[Fields], Seen]


def items_of(value: Any) -> list[Fields]:
    items = cast("list[Any]", value) if isinstance(value, list) else []
    return [cast("Fields", i) for i in items if isinstance(i, dict)]


def after(items: list[Fields], stop: Callable[[Fields], bool]) -> list[Fields]:
    """The items after the last one for which `stop` holds."""
    last = max((i for i, item in enumerate(items) if stop(item)), default=-1)
    return items[last + 1 :]


def text_of(value: Any) -> str:
    """The text inside a content of any dialect."""
    if isinstance(value, str):
        return value
    if isinstance(value, list):
        return "".join(text_of(v) for v in cast("Iterable[Any]", value))
    if isinstance(value, dict):
        fields = cast("Fields", value)
        return text_of(fields.get("text") or fields.get("content") or fields.get("output") or "")
    return ""


def openai_error(status: int, message: str, code: str) -> Fields:
    """An error as OpenAI writes it."""
    kinds = {429: "rate_limit_error", 401: "authentication_error", 403: "permission_error"}
    kind = kinds.get(status, "server_error" if status >= 500 else "invalid_request_error")
    return {"error": {"message": message, "type": kind, "param": None, "code": code or None}}
