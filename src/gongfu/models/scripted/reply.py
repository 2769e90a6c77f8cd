"""One answer, the same for the provider in process and for every dialect."""

from __future__ import annotations

import msgspec

from gongfu.core.base import Base
from gongfu.core.specs import Usage
from gongfu.models.scripted.script import Call, Calls, Say


class ReplyCall(Base, frozen=True):
    """A call of the answer; `arguments` is the text as it travels."""

    name: str
    arguments: str
    id: str


class Reply(Base, frozen=True):
    """What is answered. `usage` None: nothing was planned. `finish` is ours (stop, calls, length, filter) or raw."""

    text: str = ""
    reasoning: str = ""
    signature: str = ""
    calls: tuple[ReplyCall, ...] = ()
    finish: str = "stop"
    usage: Usage | None = None


def reply_of(step: Say | Call | Calls) -> Reply:
    """The answer that a step asks for."""
    match step:
        case Say():
            return Reply(
                text=step.text,
                reasoning=step.reasoning,
                signature=step.signature,
                finish=step.finish,
                usage=step.usage,
            )
        case Call():
            calls = (step,)
        case Calls():
            calls = step.calls
    return Reply(
        text=step.text,
        reasoning=step.reasoning,
        signature="signed-by-script",
        calls=tuple(ReplyCall(name=c.name, arguments=arguments_of(c), id=c.id) for c in calls),
        finish=step.finish,
        usage=step.usage,
    )


def arguments_of(call: Call) -> str:
    """The arguments as text."""
    if isinstance(call.arguments, str):
        return call.arguments
    try:
        return msgspec.json.encode(call.arguments).decode()
    except UnicodeEncodeError:  # lone surrogates come as escapes, as a server would send them
        import json

        return json.dumps(call.arguments)


def pieces(text: str, size: int = 12) -> list[str]:
    """The text in pieces of `size` characters, as tokens would bring it; none for an empty text."""
    return [text[i : i + size] for i in range(0, len(text), size)]
