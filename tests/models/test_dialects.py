"""One conversation in every dialect: adapters make of it what the script says, in process and on the wire."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import aclosing, asynccontextmanager
from itertools import pairwise
from pathlib import Path

import anyio
import msgspec
import pytest

from gongfu.config.paths import Places
from gongfu.config.settings import Models, Provider, Settings
from gongfu.core.errors import (
    Overflow,
    Overloaded,
    ProviderFault,
    Refused,
    StreamCut,
    Throttled,
    Unauthorized,
    Unreachable,
)
from gongfu.core.messages import Message, ReasoningPart, ResultPart, user
from gongfu.core.specs import ToolSpec, Usage
from gongfu.models.protocol import Answer, ModelProvider, Prepared, Request, Text
from gongfu.models.router import Router
from gongfu.models.scripted import Call, Calls, Fault, Match, Say, Scripted, Server, serve
from gongfu.models.scripted.script import Step

pytestmark = pytest.mark.anyio

DIALECTS = ["scripted", "openai_chat", "openai_responses", "anthropic"]
TOOLS = tuple(
    ToolSpec(
        name=name,
        description=f"Does {name}.",
        parameters={"type": "object", "properties": {key: {"type": "string"}}, "required": [key]},
    )
    for name, key in (("read_file", "path"), ("shell", "command"))
)
SYSTEM = "You work in a repository."
USED = Usage(input=1000, cached=400, output=30)
CONVERSATION: list[Step] = [
    Call(
        "shell",
        {"command": "python3 -m unittest -q"},
        text="I run the tests first. 我先运行测试。",
        reasoning="The tests will show what is wrong.",
        usage=USED,
        expect=Match(contains="fix the bug", system_contains=SYSTEM, tools_include=("read_file", "shell")),
    ),
    Calls(
        (Call("read_file", {"path": "a.py"}), Call("read_file", {"path": "文件 \"b\".py"})),
        expect=Match(tool_result_contains="FAILED (errors=1)", contains="python3 -m unittest -q"),
        usage=USED,
    ),
    Say(
        "Done: the sum was wrong.\n完成。",
        expect=Match(tool_result_contains=("def a", "def b")),
        usage=USED,
    ),
]  # fmt: skip
RESULTS = [["FAILED (errors=1)"], ["def a(): ...", "def b(): ..."]]


class Place:
    """A provider of one dialect, and its server if it has one."""

    def __init__(self, provider: ModelProvider, server: Server | None) -> None:
        self.provider = provider
        self.server = server


@asynccontextmanager
async def place(dialect: str, steps: list[Step], home: Path, *, strict: bool = True) -> AsyncGenerator[Place, None]:
    if dialect == "scripted":
        scripted = Scripted(steps)
        yield Place(scripted, None)
        if strict:
            scripted.finish()
        return
    async with serve(steps, key="sk-test-0123456789", strict=strict) as server:
        given = Provider(api=dialect, base_url=server.base_url, api_key="sk-test-0123456789")  # type: ignore[arg-type]
        settings = Settings(models=Models(main=("mine/model-1",)), providers={"mine": given})
        router = Router(settings, {}, Places(home=home))
        (provider,) = await router.chain("main")
        yield Place(provider, server)
        await router.aclose()


def request(messages: list[Message]) -> Request:
    return Request(model="model-1", system=SYSTEM, messages=tuple(messages), tools=TOOLS, max_output=500)


async def ask(provider: ModelProvider, messages: list[Message]) -> tuple[Answer, str]:
    """The answer, and the text as it was streamed."""
    shown: list[str] = []
    answers: list[Answer] = []
    async with aclosing(provider.complete(request(messages))) as deltas:
        first = await anext(deltas)
        assert isinstance(first, Prepared)
        async for delta in deltas:
            assert not answers, "nothing comes after the answer"
            if isinstance(delta, Text):
                shown.append(delta.text)
            elif isinstance(delta, Answer):
                answers.append(delta)
    return answers[0], "".join(shown)


async def converse(provider: ModelProvider) -> list[Answer]:
    messages = [user("Please fix the bug.")]
    answers: list[Answer] = []
    for n in range(len(CONVERSATION)):
        answer, shown = await ask(provider, messages)
        assert shown == answer.message.text
        answers.append(answer)
        calls = [msgspec.structs.replace(c, id=f"c_{n}_{i}") for i, c in enumerate(answer.message.calls)]
        named = iter(calls)
        parts = tuple(next(named) if p in answer.message.calls else p for p in answer.message.parts)
        messages.append(msgspec.structs.replace(answer.message, parts=parts))
        if calls:
            results = tuple(ResultPart(call_id=c.id, text=t) for c, t in zip(calls, RESULTS[n], strict=True))
            messages.append(Message(role="tool", parts=results))
    return answers


def told(answer: Answer) -> tuple[object, ...]:
    """What must be the same in every dialect."""
    thoughts = [p.text for p in answer.message.parts if isinstance(p, ReasoningPart)]
    calls = [(c.name, msgspec.json.decode(c.arguments), c.problem, c.recovered) for c in answer.message.calls]
    usage = answer.usage
    return answer.message.text, thoughts, calls, answer.finish, (usage.input, usage.cached, usage.output)


@pytest.mark.parametrize("dialect", DIALECTS)
async def test_one_conversation_gives_the_same_answers_everywhere(dialect: str, tmp_path: Path) -> None:
    async with place(dialect, CONVERSATION, tmp_path) as here:
        answers = await converse(here.provider)
    expected = await converse(Scripted(CONVERSATION))
    assert [told(a) for a in answers] == [told(a) for a in expected]
    assert [a.finish for a in answers] == ["calls", "calls", "stop"]


@pytest.mark.parametrize("dialect", DIALECTS[1:])
async def test_each_request_begins_with_the_bytes_of_the_one_before(dialect: str, tmp_path: Path) -> None:
    """Cache marks of Anthropic move and are left out of the comparison."""
    async with place(dialect, CONVERSATION, tmp_path) as here:
        await converse(here.provider)
        assert here.server
        bodies = [r.raw.replace(b',"cache_control":{"type":"ephemeral"}', b"") for r in here.server.requests]
    for before, after in pairwise(bodies):
        history = before[: before.rindex(b"]")]
        assert after.startswith(history), _differ(history, after)


def _differ(one: bytes, two: bytes) -> str:
    at = next((i for i, (a, b) in enumerate(zip(one, two, strict=False)) if a != b), len(two))
    return f"at {at}: {one[at - 60 : at + 60]!r} / {two[at - 60 : at + 60]!r}"


@pytest.mark.parametrize("dialect", DIALECTS)
@pytest.mark.parametrize(
    ("step", "kind"),
    [
        (Fault("status", status=401), Unauthorized),
        (Fault("status", status=429, retry_after=3), Throttled),
        (Fault("status", status=500), Overloaded),
        (Fault("status", status=503, retry_after=2), Overloaded),
        (Fault("status", status=529), Overloaded),
        (Fault("status", status=402), Refused),
        (Fault("status", status=404), Refused),
        (Fault("overflow"), Overflow),
        (Fault("refuse"), Unreachable),
    ],
    ids=lambda v: f"{v.kind}-{v.status}" if isinstance(v, Fault) else "",
)
async def test_faults_are_the_same_everywhere(
    dialect: str, step: Fault, kind: type[ProviderFault], tmp_path: Path
) -> None:
    async with place(dialect, [step], tmp_path) as here:
        with pytest.raises(kind) as caught:
            await ask(here.provider, [user("hi")])
        assert caught.value.retry_after == step.retry_after
        assert caught.value.model == here.provider.info.ref
        assert "sk-test" not in str(caught.value)


CLEAN_UP = Call("shell", {"command": "rm -rf build"}, text="I clean up the folder first, as asked.")
CUT = [
    Fault("drop", after=7),
    Fault("stop_short", after=7),
    Fault("error_event", after=7, status=529),
    Fault("drop", after=7, answer=CLEAN_UP),
]


@pytest.mark.parametrize("dialect", DIALECTS)
@pytest.mark.parametrize("step", CUT, ids=["drop", "stop_short", "error_event", "drop in a call"])
async def test_a_cut_answer_keeps_its_text_and_runs_no_call(dialect: str, step: Fault, tmp_path: Path) -> None:
    shown: list[str] = []

    async def listen(provider: ModelProvider) -> None:
        async with aclosing(provider.complete(request([user("hi")]))) as deltas:
            async for delta in deltas:
                assert not isinstance(delta, Answer)
                if isinstance(delta, Text):
                    shown.append(delta.text)

    async with place(dialect, [step], tmp_path) as here:
        with pytest.raises(StreamCut) as caught:
            await listen(here.provider)
    partial = caught.value.partial
    assert isinstance(partial, Answer)
    assert shown
    assert partial.message.text == "".join(shown)
    assert all(c.problem for c in partial.message.calls)


@pytest.mark.parametrize("dialect", DIALECTS)
@pytest.mark.parametrize(
    "step",
    [Fault("bytewise", answer=CONVERSATION[0]), Fault("garbage", answer=CONVERSATION[0])],  # type: ignore[arg-type]
    ids=["bytewise", "garbage"],
)
async def test_delivery_changes_nothing(dialect: str, step: Fault, tmp_path: Path) -> None:
    async with place(dialect, [step, CONVERSATION[0]], tmp_path) as here:
        messages = [user("Please fix the bug.")]
        odd, plain = (await ask(here.provider, messages))[0], (await ask(here.provider, messages))[0]
    assert told(odd) == told(plain)


@pytest.mark.parametrize("dialect", DIALECTS)
@pytest.mark.parametrize("finish", ["length", "stop"])
async def test_what_the_limit_cut_never_runs_and_calls_win_over_stop(dialect: str, finish: str, tmp_path: Path) -> None:
    step = Calls((Call("shell", {"command": "ls"}), Call("shell", {"command": "rm x"})), finish=finish)
    async with place(dialect, [step], tmp_path) as here:
        answer, _ = await ask(here.provider, [user("hi")])
    assert answer.finish == ("length" if finish == "length" else "calls")
    assert len(answer.message.calls) == 2
    assert all(bool(c.problem) == (finish == "length") for c in answer.message.calls)


@pytest.mark.parametrize("dialect", DIALECTS[1:])
async def test_leaving_closes_the_connection_at_once(dialect: str, tmp_path: Path) -> None:
    async with place(dialect, [Fault("hang", after=4), Say("again")], tmp_path) as here:
        assert here.server
        async with anyio.create_task_group() as group:
            group.start_soon(ask, here.provider, [user("hi")])
            received = await here.server.received(1)
            group.cancel_scope.cancel()
        with anyio.fail_after(10):
            await received.gone.wait()
        assert (await ask(here.provider, [user("hi")]))[0].message.text == "again"
