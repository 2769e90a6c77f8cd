"""Lead a model that cannot call tools by itself: one small, schema-bound action a reply, mapped to real tool calls."""

from __future__ import annotations

import re
from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing

import msgspec

from gongfu.core.errors import StreamCut
from gongfu.core.messages import CallPart, Message, Part, ReasoningPart, TextPart
from gongfu.core.specs import ModelInfo
from gongfu.core.words import say
from gongfu.models.local.actions import FINISH, Action, Wrong, offered, parse, schema, to_call, tool_of
from gongfu.models.local.evidence import final_text, language_of_task
from gongfu.models.local.opening import Files, opening
from gongfu.models.local.prompt import REPLY_TOKENS, allowed, build
from gongfu.models.local.story import Turn, turns
from gongfu.models.protocol import Answer, CallProgress, Delta, ModelProvider, Prepared, Reasoning, Request, Text

_ACTION = re.compile(r'"action"\s*:\s*"(\w+)"')
_NOT_NOW = "This action is not possible now. Do something first, then finish."
_CUT = "Your reply was too long and was cut off; nothing was done. Make it much smaller."


class Guided:
    """A provider that leads `inner`, an endpoint that can bind an answer to a JSON schema.

    A task begins with a look at the folder: see `opening.opening`, also for `files`.
    A request with a schema of its own, or without tools, goes through as it is.
    """

    def __init__(self, inner: ModelProvider, files: Files | None = None) -> None:
        self._inner = inner
        self._files = files
        self.info: ModelInfo = inner.info

    async def complete(self, request: Request, /) -> AsyncGenerator[Delta, None]:
        """One action as one tool call, or the final text."""
        names = offered(request.tools)
        story = turns(request.messages)
        if request.schema is not None or not names or not story:
            async with aclosing(self._inner.complete(request)) as deltas:
                async for delta in deltas:
                    yield delta
            return
        turn = story[-1]
        if calls := opening(turn, request.tools, self._files):
            yield Prepared(body=b"")  # nothing is sent: looking at the folder needs no model
            yield Answer(message=Message(role="assistant", parts=calls), finish="calls", model=self.info.ref)
            return
        asked = led(request, story, names)
        async with aclosing(self._inner.complete(asked)) as deltas:
            async for delta in _led(deltas, request, turn):
                yield delta

    async def aclose(self) -> None:
        """Close the endpoint."""
        await self._inner.aclose()


def led(request: Request, story: Sequence[Turn], names: Sequence[str]) -> Request:
    """The request for the endpoint: compact prompt, the schema of what may be done now, a short reply."""
    turn = story[-1]
    system, messages = build(story, names, request.standing)
    repeated = bool(turn.steps) and turn.repeats(len(turn.steps)) > 0
    return msgspec.structs.replace(
        request,
        system=system,
        messages=messages,
        tools=(),
        marks=(),
        max_output=REPLY_TOKENS,
        temperature=0.7 if repeated else 0.0,
        top_p=None,
        reasoning="off",
        schema=schema(allowed(turn, names)),
        schema_name="action",
    )


async def _led(deltas: AsyncGenerator[Delta, None], request: Request, turn: Turn) -> AsyncGenerator[Delta, None]:
    text = ""
    async for delta in _whole(deltas):
        match delta:
            case Text(text=more):
                text += more
                if (found := _ACTION.search(text)) and found[1] != FINISH:
                    yield CallProgress(name=tool_of(found[1]), size=len(text))
            case Answer():
                answer = mapped(delta, request, turn)
                for part in answer.message.parts:
                    if isinstance(part, ReasoningPart):
                        yield Reasoning(text=part.text)
                    elif isinstance(part, TextPart):
                        yield Text(text=part.text)
                yield answer
            case Prepared():
                yield delta
            case _:
                continue


async def _whole(deltas: AsyncGenerator[Delta, None]) -> AsyncGenerator[Delta, None]:
    """The same, but what broke off is of no use: half an action cannot be gone on with."""
    try:
        async for delta in deltas:
            yield delta
    except StreamCut as cut:
        cut.partial = None
        raise


def mapped(answer: Answer, request: Request, turn: Turn) -> Answer:
    """The endpoint's answer turned into a neutral one: thought and call, or the final text.

    What is not allowed now becomes a call that never runs and tells why, for endpoints that do not bind to schemas.
    """
    action = parse(answer.message.text)
    if isinstance(action, Action) and action.name not in allowed(turn, offered(request.tools)):
        action = Wrong(why=_NOT_NOW, name=action.name, raw=action.raw)
    if isinstance(action, Wrong):
        return _wrong(answer, action)
    thought = (ReasoningPart(text=action.thought),) if action.thought else ()
    if action.name == FINISH:
        return _with(answer, (*thought, TextPart(text=final_text(turn, action.fields["answer"]))), "stop")
    if _stuck(turn, action):
        stopped = say("local.stuck", language_of_task(turn.task))
        return _with(answer, (*thought, TextPart(text=final_text(turn, stopped))), "stop")
    call = to_call(action, {tool.name: tool for tool in request.tools})
    return _with(answer, (*thought, call), "calls")


def _stuck(turn: Turn, action: Action) -> bool:
    """Whether this would be the third time in a row that the same is done."""
    return bool(turn.steps) and turn.steps[-1].action.deed == action.deed and turn.repeats(len(turn.steps)) > 0


def _wrong(answer: Answer, wrong: Wrong) -> Answer:
    cut = answer.finish == "length"
    call = CallPart(id="", name=tool_of(wrong.name), raw=wrong.raw, problem=_CUT if cut else wrong.why)
    return _with(answer, (call,), "length" if cut else "calls")


def _with(answer: Answer, parts: tuple[Part, ...], finish: str) -> Answer:
    message = msgspec.structs.replace(answer.message, parts=parts)
    return msgspec.structs.replace(answer, message=message, finish=finish)
