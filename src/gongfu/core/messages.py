"""Messages and their parts, neutral of any provider. Written strictly, read tolerantly.

They are plain data without cycles, so the garbage collector need not look at them (`gc=False`): it halves the time
to open a long session.
"""

from __future__ import annotations

from typing import Any, Literal, TypeAlias, cast

from gongfu.core.base import Base

Role: TypeAlias = Literal["system", "user", "assistant", "tool"]
Status: TypeAlias = Literal["done", "failed", "refused", "cancelled", "interrupted"]


class TextPart(Base, frozen=True, gc=False, tag="text"):
    """Plain text."""

    text: str


class ImagePart(Base, frozen=True, gc=False, tag="image"):
    """An image: base64 `data` of `media_type`, or a `url` that is passed on and never fetched here."""

    media_type: str = ""
    data: str = ""
    url: str = ""
    width: int = 0
    height: int = 0


class ReasoningPart(Base, frozen=True, gc=False, tag="reasoning"):
    """A model's thinking. `signature` or `data` (encrypted) make it valid only for the `model` that wrote it."""

    text: str = ""
    signature: str = ""
    data: str = ""
    id: str = ""
    model: str = ""


class CallPart(Base, frozen=True, gc=False, tag="tool_call"):
    """A tool call.

    `id` is ours and unique in the session; `wire_id` is what the provider called it (may repeat, may be empty).
    `arguments` is the text of a strict JSON object; `raw` is what arrived when that was something else.
    `problem` says for the model why the call cannot run (cut off, beyond repair, empty); then it is never executed.
    `via` is the tool that the model called to have this one run: the call goes back to it in that shape.
    """

    id: str
    name: str
    arguments: str = "{}"
    wire_id: str = ""
    raw: str = ""
    recovered: bool = False
    problem: str = ""
    via: str = ""


class ResultPart(Base, frozen=True, gc=False, tag="tool_result"):
    """The one result of a call. `artifact` holds the whole text when `text` is a bounded view of it.

    `agent` names the sub-agent whose report it is.
    """

    call_id: str
    text: str
    status: Status = "done"
    artifact: str = ""
    images: tuple[ImagePart, ...] = ()
    agent: str = ""


class RawPart(Base, frozen=True, gc=False, tag="raw"):
    """A part written by a newer version, kept as it was."""

    value: dict[str, Any]


Part: TypeAlias = TextPart | ImagePart | ReasoningPart | CallPart | ResultPart | RawPart


class Message(Base, frozen=True, gc=False):
    """One message. `agent` names a sender other than the main agent; `kind` tells Gongfu's notes from a person's words.

    `model` is the reference ("provider/model") that wrote an assistant message.
    """

    role: Role
    parts: tuple[Part, ...] = ()
    id: str = ""
    agent: str = ""
    kind: Literal["", "note", "steer"] = ""
    model: str = ""

    @property
    def text(self) -> str:
        """The text parts joined; nothing else."""
        return "".join(p.text for p in self.parts if isinstance(p, TextPart))

    @property
    def calls(self) -> tuple[CallPart, ...]:
        """The tool calls in order."""
        return tuple(p for p in self.parts if isinstance(p, CallPart))

    @property
    def results(self) -> tuple[ResultPart, ...]:
        """The tool results in order."""
        return tuple(p for p in self.parts if isinstance(p, ResultPart))


def user(
    text: str, *, images: tuple[ImagePart, ...] = (), kind: Literal["", "note", "steer"] = "", id: str = ""
) -> Message:
    """A message of the user (or a note to the model, which travels in the user's role)."""
    return Message(role="user", parts=(TextPart(text=text), *images), kind=kind, id=id)


_KNOWN = {"text", "image", "reasoning", "tool_call", "tool_result", "raw"}


def soften(value: Any) -> Any:
    """Replace every part of an unknown type inside a decoded message by a `raw` part that keeps it."""
    if not isinstance(value, dict):
        return value
    fields = cast("dict[str, Any]", value)
    return {k: _soft_parts(v) if k == "parts" else soften(v) for k, v in fields.items()}


def _soft_parts(parts: Any) -> Any:
    if not isinstance(parts, list):
        return parts
    return [_soft_part(part) for part in cast("list[Any]", parts)]


def _soft_part(part: Any) -> dict[str, Any]:
    value = cast("dict[str, Any]", part) if isinstance(part, dict) else {"value": part}
    return value if value.get("type") in _KNOWN else {"type": "raw", "value": value}
