"""The script that is played in process."""

from __future__ import annotations

from contextlib import aclosing

import anyio
import pytest

from gongfu.core.errors import GongfuError, Overflow, Overloaded, ProviderFault, StreamCut, Throttled, Unauthorized
from gongfu.core.messages import Message, ReasoningPart, ResultPart, TextPart, user
from gongfu.core.specs import ToolSpec, Usage
from gongfu.models.protocol import Answer, Delta, Prepared, Request, Text
from gongfu.models.scripted import (
    Call,
    Calls,
    Fault,
    Match,
    Raw,
    Say,
    Scripted,
    ScriptError,
    UnexpectedCall,
    UnusedSteps,
)

pytestmark = pytest.mark.anyio


def ask(text: str = "hi", *more: Message, purpose: str = "main", tools: tuple[ToolSpec, ...] = ()) -> Request:
    return Request(model="m", system="be brief", messages=(user(text), *more), tools=tools, purpose=purpose)


async def play(provider: Scripted, request: Request | None = None) -> list[Delta]:
    async with aclosing(provider.complete(request or ask())) as deltas:
        return [d async for d in deltas]


async def answer(provider: Scripted, request: Request | None = None) -> Answer:
    last = (await play(provider, request))[-1]
    assert isinstance(last, Answer)
    return last


async def test_text_comes_in_pieces_and_the_answer_last() -> None:
    provider = Scripted([Say("Hello there, this is the whole answer.", reasoning="let me think", usage=Usage(input=7))])
    deltas = await play(provider)
    assert isinstance(deltas[0], Prepared)
    texts = [d.text for d in deltas if isinstance(d, Text)]
    assert len(texts) > 2
    last = deltas[-1]
    assert isinstance(last, Answer)
    assert "".join(texts) == last.message.text == "Hello there, this is the whole answer."
    assert last.usage == Usage(input=7)
    assert isinstance(last.message.parts[0], ReasoningPart)
    assert provider.bodies == [deltas[0].body]
    provider.finish()


async def test_calls_win_over_stop_and_a_cut_one_never_runs() -> None:
    provider = Scripted(
        [
            Call("shell", {"command": "ls"}, finish="stop"),
            Calls((Call("a", {"x": 1}), Call("b", '{"y": "brok')), finish="length"),
            Call("shell", "[1, 2]"),
        ]
    )
    first, second, third = [await answer(provider) for _ in range(3)]
    assert first.finish == "calls"
    assert first.message.calls[0].arguments == '{"command":"ls"}'
    assert second.finish == "length"
    assert all(c.problem for c in second.message.calls)
    assert second.message.calls[1].raw == '{"y": "brok'
    assert "object" in third.message.calls[0].problem


async def test_closing_before_the_request_leaves_sends_nothing() -> None:
    provider = Scripted([Say("one")])
    async with aclosing(provider.complete(ask())) as deltas:
        await anext(deltas)
    assert provider.requests == []
    assert (await answer(provider)).message.text == "one"


async def test_a_request_after_the_end_shows_what_came() -> None:
    provider = Scripted([])
    with pytest.raises(UnexpectedCall, match=r"the script is over.*last message: hi"):
        await play(provider)
    with pytest.raises(UnexpectedCall):
        provider.finish()
    assert issubclass(UnexpectedCall, GongfuError)


async def test_an_expectation_that_fails_says_which() -> None:
    provider = Scripted([Say("x", expect=Match(tool_result_contains="OK", tools_include="shell"))])
    result = Message(role="tool", parts=(ResultPart(call_id="c1", text="FAILED (errors=1)"),))
    call = Message(role="assistant", parts=(TextPart(text="running"),))
    with pytest.raises(UnexpectedCall, match=r"tool_result_contains 'OK'; tools_include 'shell'.*FAILED \(errors=1\)"):
        await play(provider, ask("go", call, result))


async def test_expectations_look_at_every_side_of_a_request() -> None:
    match = Match(
        contains=("hi", "brief"),
        lacks="secret",
        last_contains="FAILED",
        system_contains="brief",
        tool_result_contains="FAILED",
        tools_include=("shell",),
        tools_exclude="browser",
        purpose="main",
        model="m",
    )
    provider = Scripted([Say("x", expect=match)])
    spec = ToolSpec(name="shell", description="", parameters={})
    result = Message(role="tool", parts=(ResultPart(call_id="c1", text="FAILED"),))
    await play(provider, ask("hi", Message(role="assistant"), result, tools=(spec,)))
    provider.finish()


async def test_steps_that_are_left_are_told() -> None:
    provider = Scripted([Say("one"), Say("two"), Say("three")])
    await play(provider)
    with pytest.raises(UnusedSteps, match=r"2 steps.*'two'"):
        provider.finish()


async def test_a_step_with_when_stands_outside_the_order() -> None:
    provider = Scripted([Say("a title", when=Match(purpose="title")), Say("one"), Say("two")])
    got = [(await answer(provider, ask(purpose=p))).message.text for p in ("main", "title", "main", "title")]
    assert got == ["one", "a title", "two", "a title"]
    provider.finish()


async def test_a_step_may_be_repeated_or_made_from_the_request() -> None:
    def echo(request: Request) -> Say:
        return Say(request.messages[-1].text.upper())

    provider = Scripted([Say("same", times=2), echo, Say("ever", times=0)])
    got = [(await answer(provider)).message.text for _ in range(5)]
    assert got == ["same", "same", "HI", "ever", "ever"]
    provider.finish()


async def test_an_endless_script_needs_no_list() -> None:
    provider = Scripted(Say(str(n)) for n in range(10**9))
    assert [(await answer(provider)).message.text for _ in range(3)] == ["0", "1", "2"]
    provider.finish()


@pytest.mark.parametrize(
    ("fault", "kind"),
    [
        (Fault("status", status=429, retry_after=1.5), Throttled),
        (Fault("status", status=503), Overloaded),
        (Fault("status", status=401), Unauthorized),
        (Fault("overflow"), Overflow),
    ],
)
async def test_statuses_are_typed_faults(fault: Fault, kind: type[ProviderFault]) -> None:
    with pytest.raises(kind) as caught:
        await play(Scripted([fault]))
    assert caught.value.retry_after == fault.retry_after
    assert caught.value.model == "scripted/scripted"


async def test_a_drop_keeps_what_arrived_and_no_call() -> None:
    provider = Scripted(
        [Fault("drop", after=2, answer=Call("shell", {"command": "ls"}, text="I am looking at the files"))]
    )
    seen: list[Delta] = []

    async def collect() -> None:
        async with aclosing(provider.complete(ask())) as deltas:
            async for delta in deltas:
                seen.append(delta)

    with pytest.raises(StreamCut) as caught:
        await collect()
    partial = caught.value.partial
    assert isinstance(partial, Answer)
    assert partial.message.text == "".join(d.text for d in seen if isinstance(d, Text))
    assert not partial.message.calls


async def test_a_hang_ends_at_once_when_it_is_cancelled() -> None:
    with anyio.move_on_after(0.05) as scope:
        await play(Scripted([Fault("hang")]))
    assert scope.cancelled_caught


async def test_raw_bytes_need_the_server() -> None:
    with pytest.raises(ScriptError, match="over HTTP"):
        await play(Scripted([Raw(b"data: x\n\n")]))


async def test_what_stays_comes_first_in_the_body() -> None:
    provider = Scripted([Say("one"), Say("two")])
    await play(provider, ask("first"))
    await play(provider, ask("first", Message(role="assistant", parts=(TextPart(text="one"),)), user("more")))
    one, two = provider.bodies
    assert two.startswith(one[: one.rindex(b"]")])
