"""The steps of a script as typed values."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal, TypeAlias

from gongfu.core.base import Base
from gongfu.core.specs import Usage

FaultKind: TypeAlias = Literal[
    "status", "overflow", "refuse", "hang", "drop", "stop_short", "slow", "bytewise", "garbage", "error_event",
    "content_type",
]  # fmt: skip
Words: TypeAlias = str | tuple[str, ...]


class Match(Base, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What a request must be like; everything that is given must hold. Comparisons are by substring, case counts.

    `contains` and `lacks` look at all text of the request, `last_contains` at its last message,
    `tool_result_contains` at the results since the model's last message. `purpose` is known in process only and is
    not compared over HTTP.
    """

    contains: Words = ()
    lacks: Words = ()
    last_contains: Words = ()
    system_contains: Words = ()
    tool_result_contains: Words = ()
    tools_include: Words = ()
    tools_exclude: Words = ()
    purpose: str = ""
    model: str = ""


class Common(Base, frozen=True, kw_only=True, forbid_unknown_fields=True, tag_field="step", tag=str.lower):
    """What all steps have.

    `expect` must hold for the request that meets this step. A step with `when` stands outside the order: it answers
    every request that matches. `times` is how often the step is played in a row; 0 is for ever.
    """

    expect: Match | None = None
    when: Match | None = None
    times: int = 1


class Say(Common, frozen=True, kw_only=False, rename={"text": "say"}):
    """Text. `finish`: stop, length, filter, or a provider's own word. `usage` None reports an estimate.

    `signature` marks the thinking as signed where the dialect has that.
    """

    text: str
    reasoning: str = ""
    finish: str = "stop"
    usage: Usage | None = None
    signature: str = "signed-by-script"


class Call(Common, frozen=True, kw_only=False, rename={"name": "call"}):
    """One tool call, after some text if wanted. `arguments` as a text is sent as it is, broken or not.

    Without an `id` the server makes one up; in process it stays empty.
    """

    name: str
    arguments: dict[str, Any] | str = {}
    id: str = ""
    text: str = ""
    reasoning: str = ""
    finish: str = "calls"
    usage: Usage | None = None


class Calls(Common, frozen=True, kw_only=False):
    """Several tool calls in one message; the texts of the single calls are left out."""

    calls: tuple[Call, ...]
    text: str = ""
    reasoning: str = ""
    finish: str = "calls"
    usage: Usage | None = None


class Fault(Common, frozen=True, kw_only=False, rename={"kind": "fault"}):
    """What goes wrong with an answer.

    status        HTTP `status` with `body` (an error in the dialect's shape when left out), `headers`, `retry_after`
    overflow      the dialect's own "prompt is too long"
    refuse        the connection is closed without a byte
    hang          nothing more comes after `after` events (below 0: not even headers), for `seconds` (0: for ever)
    drop          the connection breaks after `after` events, or after `after_bytes` of the body
    stop_short    the stream ends politely after `after` events
    slow          `seconds` between events
    bytewise      every byte in a piece of its own
    garbage       comments, pings and empty events between the real ones, as proxies add them
    error_event   after `after` events the stream carries an error of `status`
    content_type  the answer is labelled as `content_type`

    `answer` is what is being answered meanwhile.
    """

    kind: FaultKind
    status: int = 500
    retry_after: float | None = None
    body: dict[str, Any] | str | None = None
    message: str = "the script asks for this fault"
    headers: dict[str, str] = {}
    after: int = 4
    after_bytes: int = -1
    seconds: float = 0.0
    content_type: str = "text/html"
    answer: Say | Call | Calls = Say("This answer is long enough to be broken off somewhere in its middle, as asked.")


class Raw(Common, frozen=True, kw_only=False, rename={"data": "raw"}):
    """A body given byte for byte (over HTTP only). `split` are offsets at which it is cut into pieces.

    With `verbatim` the bytes are the whole response, status line and headers included, and the connection closes.
    """

    data: bytes
    status: int = 200
    content_type: str = "text/event-stream"
    headers: dict[str, str] = {}
    split: tuple[int, ...] = ()
    verbatim: bool = False


Step: TypeAlias = Say | Call | Calls | Fault | Raw
Planned: TypeAlias = Step | Callable[[Any], Step]
"""A step, or a function that makes one from the request (in process the `Request`, over HTTP the `Received`)."""
