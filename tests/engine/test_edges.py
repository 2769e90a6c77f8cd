"""The edges of a session: errors in groups, words that no encoding holds, closing, a store that gives way."""

from __future__ import annotations

from typing import Any

import anyio
import msgspec
import pytest

from gongfu.core.errors import ToolFailure, UsageError, UserError
from gongfu.core.events import AnyEvent, QuestionAnswered, QuestionAsked, ToolFinished, ToolStarted, TurnFinished
from gongfu.core.messages import user
from gongfu.engine.answer import bare, check_schema, problem_of
from gongfu.engine.pending import Pending
from gongfu.models.scripted.provider import Scripted
from gongfu.models.scripted.script import Call, Calls, Fault, Say
from gongfu.tools.protocol import Outcome

from .conftest import Desk, Plain, done

pytestmark = pytest.mark.anyio


# --- errors in groups -------------------------------------------------------------------------------------------------


async def test_a_failure_inside_task_groups_of_a_tool_speaks_to_the_model(desk: Desk) -> None:
    async def deep(args: dict[str, Any], ctx: object) -> Outcome:
        async def fail() -> None:
            raise ToolFailure("the part is missing; name another")

        async with anyio.create_task_group() as outer, anyio.create_task_group() as inner:
            outer.start_soon(anyio.sleep, 0)
            inner.start_soon(fail)
        raise AssertionError

    desk.tools.append(Plain("deep", deep))
    async with desk.session(Scripted([Call("deep", {"text": "x"}), Say("ok")])) as session:
        assert (await done(session, "Go")).status == "done"
    (finished,) = desk.of(ToolFinished)
    assert (finished.result.status, finished.result.text) == ("failed", "the part is missing; name another")
    assert desk.reports == []


@pytest.mark.parametrize("size", [10, 30_000])
async def test_a_full_disk_is_named_also_when_calls_run_side_by_side(desk: Desk, size: int) -> None:
    """The disk fills up while two calls run: every prompt ends with the store's words, and the program goes on."""

    async def spoil(args: dict[str, Any], ctx: object) -> Outcome:
        with desk.database.write() as connection:
            connection.execute("PRAGMA max_page_count = 1")  # from now on it cannot grow
        return Outcome(text="x" * size)

    desk.tools.append(Plain("spoil", spoil))
    calls = Calls(tuple(Call("spoil", {"text": str(n)}) for n in range(2)))
    steps = [step for _ in range(9) for step in (calls, Say("y" * 40_000))]
    reasons: list[str] = []
    async with desk.session(Scripted(steps)) as session:
        for handle in [await session.prompt("Go"), await session.prompt("And then")]:
            try:
                with anyio.fail_after(5):
                    reasons.append((await handle).reason)
            except UserError as error:
                reasons.append(error.key)
        async with session.stream.subscribe() as entries:
            await session.close()
            async for _ in entries:
                pass  # it ends
    assert set(reasons) == {"store.full"}
    assert desk.reports == []


@pytest.mark.parametrize("levels", [100, 400, 700, 900])
async def test_arguments_nested_without_end_speak_to_the_model(desk: Desk, levels: int) -> None:
    nest = "[" * levels + "]" * levels
    lists = {"type": "object", "properties": {"a": {"type": "array", "items": {"type": "object"}}}}
    tool = Plain("lists", desk.tool("echo")._body)
    tool.spec = msgspec.structs.replace(tool.spec, parameters=lists)
    desk.tools.append(tool)
    model = Scripted([Call("lists", f'{{"a": {nest}}}'), Call("lists", {"a": nest}), Say("ok")])
    async with desk.session(model) as session:
        assert (await done(session, "Go")).status == "done"
    assert [f.result.status for f in desk.of(ToolFinished)] == ["failed", "failed"]


# --- words ------------------------------------------------------------------------------------------------------------

HALF = "half \ud83d of a letter"


async def test_words_that_no_encoding_holds_are_taken_by_every_way_in(desk: Desk) -> None:
    gate = anyio.Event()

    async def wait(args: dict[str, Any], ctx: Any) -> Outcome:
        await gate.wait()
        answer, _ = await ctx.ask("What?")
        return Outcome(text=answer)

    desk.tools.append(Plain("wait", wait))
    model = Scripted([Call("wait", {"text": "x"}), Say("ok")])
    async with desk.session(model, answers="ask") as session:
        prompted = await session.prompt(HALF)
        with anyio.fail_after(5):
            async with session.stream.subscribe(after=0) as entries:
                async for entry in entries:
                    if isinstance(entry.event, ToolStarted):
                        await session.steer(HALF)
                        gate.set()
                    elif isinstance(entry.event, QuestionAsked):
                        await session.answer(entry.event.question, HALF)
                    elif isinstance(entry.event, TurnFinished):
                        break
            await prompted
    whole = HALF.replace("\ud83d", "\ufffd")
    sent = model.requests[1].messages
    assert sent[1].text == whole
    assert [m.results[0].text for m in sent if m.results] == [whole]
    assert sent[-1].text == whole


# --- closing ----------------------------------------------------------------------------------------------------------


async def test_closing_ends_the_turn_and_keeps_what_waits_for_the_next_time(desk: Desk) -> None:
    async with desk.session(Scripted([Call("hang", {"text": "x"}), Say("never")])) as session:
        running, waiting = await session.prompt("one"), await session.prompt("two")
        async with session.stream.subscribe() as entries:
            async for entry in entries:
                if isinstance(entry.event, ToolStarted):
                    break
        with anyio.fail_after(1):
            await session.close()
            assert (await running).status == "cancelled"
            with pytest.raises(UserError):
                await waiting
        with pytest.raises(UserError, match="closed"):
            await session.prompt("three")
    model = Scripted([Say("Two it is.")])
    async with desk.session(model) as session:
        assert [q.message.text for q in session.queue] == ["two"]
        assert (await done(session, "")).text == "Two it is."


# --- questions --------------------------------------------------------------------------------------------------------


async def test_the_first_answer_counts() -> None:
    events: list[AnyEvent] = []
    pending = Pending(events.append, "ask")
    answers: list[Any] = []

    async def ask() -> None:
        answers.append(await pending.ask(QuestionAsked(question="q1", about="question", text="?")))

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(ask)
        await anyio.wait_all_tasks_blocked()
        pending.answer("q1", "yes")
        with pytest.raises(UserError):
            pending.answer("q1", "no")
    assert answers == [("yes", "person")]
    assert [e.answer for e in events if isinstance(e, QuestionAnswered)] == ["yes"]


# --- thinking without an end ------------------------------------------------------------------------------------------


async def test_answers_that_are_all_thinking_end_with_what_to_change(desk: Desk) -> None:
    model = Scripted([Say("", reasoning="Hm " * 50, finish="length")] * 3)
    async with desk.session(model) as session:
        end = await done(session, "Go")
    assert (end.status, end.reason, end.requests) == ("failed", "engine.cut_thinking", 3)
    assert "Think less" in model.requests[1].messages[-1].text
    model = Scripted([Say("One, ", finish="length"), Say("", reasoning="Hm", finish="length"), Say("two.")])
    async with desk.session(model, id="s_2") as session:
        assert (await done(session, "Go")).text == "One, two."


async def test_a_request_never_ends_with_words_of_the_model(desk: Desk) -> None:
    """Few servers take that: after a broken end the model is told to go on."""
    cut = Fault("drop", after=3, answer=Say("This is the first half and more to come."))
    async with desk.session(Scripted([cut] * 4)) as session:
        assert (await done(session, "Go")).status == "failed"
    model = Scripted([Say("the end.")])
    async with desk.session(model) as session:
        end = await done(session, "")
    assert end.text.endswith("the end.")
    assert end.text.startswith("This is")
    assert [m.role for m in model.requests[0].messages[-2:]] == ["assistant", "user"]


# --- answers of a schema ----------------------------------------------------------------------------------------------

NUMBER = {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]}


@pytest.mark.parametrize(
    "text",
    [
        '{"n": 1}',
        ' \n{"n": 1}\n',
        '```json\n{"n": 1}\n```',
        '```\n{"n": 1}\n```\n',
        'Here it is:\n\n```json\n{"n": 1}\n```\n\nAnything else?',
    ],
)
def test_json_is_found_where_models_put_it(text: str) -> None:
    assert bare(text) == '{"n": 1}'
    assert problem_of(NUMBER, text) == ""


@pytest.mark.parametrize(
    "text",
    [
        "",
        "none",
        *("[" * n + "]" * n for n in range(100, 1000, 100)),
        '{"n": "1"}',
        '{"n": NaN}',
        "[" * 5000 + "]" * 5000,
        "```\n1\n```\n```\n2\n```",
        '{"n": 1}{}',
    ],
)
def test_what_is_no_answer_is_told_and_breaks_nothing(text: str) -> None:
    assert problem_of(NUMBER, text)


def test_fences_inside_a_value_are_no_fences() -> None:
    text = '{"n": 1, "text": "```json\\n{}\\n```"}'
    assert bare(text) == text


def deep(levels: int) -> dict[str, Any]:
    schema: dict[str, Any] = {}
    for _ in range(levels):
        schema = {"properties": {"a": schema}}
    return schema


@pytest.mark.parametrize(
    "schema",
    [
        [],
        True,
        {"type": "objekt"},
        {"pattern": "("},
        {"$ref": "#/$defs/none"},
        {"$ref": "http://127.0.0.1:9/schema.json"},
        {"$ref": "file:///etc/hostname"},
        {"enum": [object()]},
        deep(5000),
    ],
)
async def test_a_schema_that_is_none_is_refused_before_anything_is_sent(desk: Desk, schema: Any) -> None:
    assert check_schema(schema)
    model = Scripted([Say("no")])
    async with desk.session(model) as session:
        with pytest.raises(UsageError):
            await session.prompt("Go", schema=schema)
    assert model.requests == []
    assert desk.kinds() == []


def test_recursive_schemas_are_schemas() -> None:
    tree = {"type": "object", "properties": {"n": {"$ref": "#"}}, "additionalProperties": False}
    assert check_schema(tree) == ""
    assert problem_of(tree, '{"n": {"n": {}}}') == ""
    assert problem_of(tree, '{"n": {"m": {}}}')


async def test_the_last_words_of_a_killed_turn_are_checked_too(desk: Desk) -> None:
    async with desk.session(Scripted([Say('{"n": "x"}')] * 3)) as session:
        await done(session, "Go", schema=NUMBER)
    keep = desk.kinds().index("AnswerReceived") + 1
    desk.journal.append("s_killed", [e.event for e in desk.stored()[:keep]], at=0.0)
    model = Scripted([Say('{"n": 2}')])
    async with desk.session(model, id="s_killed") as session:
        end = await done(session, "")
    assert (end.status, end.text) == ("done", '{"n": 2}')
    assert model.requests[0].messages[-1] != user("Go")
