"""The loop against the scripted model: what is sent, what is recorded, how it ends."""

from __future__ import annotations

import anyio
import msgspec
import pytest

from gongfu.core.errors import UsageError, UserError
from gongfu.core.events import (
    AnswerReceived,
    QuestionAnswered,
    RequestFailed,
    RequestSent,
    ToolFinished,
    ToolStarted,
    TurnFinished,
    WarningRaised,
)
from gongfu.core.specs import ModelInfo, Price, Usage
from gongfu.engine.limits import LimitSpec
from gongfu.models.scripted.provider import SCRIPTED, Scripted
from gongfu.models.scripted.script import Call, Calls, Fault, Say
from gongfu.tools.protocol import Claim, Facts, Outcome

from .conftest import Desk, Plain, done

pytestmark = pytest.mark.anyio


async def test_a_turn_without_tools(desk: Desk) -> None:
    model = Scripted([Say("Hello.")])
    async with desk.session(model) as session:
        end = await done(session, "Say hello")
    assert (end.status, end.text, end.requests, end.steps) == ("done", "Hello.", 1, 1)
    assert desk.kinds() == [
        "SessionCreated", "PromptQueued", "SessionTitled", "MessageAdded", "TurnStarted", "RequestSent",
        "AnswerReceived", "TurnFinished",
    ]  # fmt: skip
    model.finish()


async def test_calls_run_and_their_results_are_sent(desk: Desk) -> None:
    model = Scripted([Calls((Call("echo", {"text": "a"}), Call("echo", {"text": "b"}))), Say("Both done.")])
    async with desk.session(model) as session:
        end = await done(session, "Echo")
    assert end.status == "done"
    sent = model.requests[1].messages
    assert [m.role for m in sent] == ["user", "user", "assistant", "tool"]
    assert [r.text for r in sent[-1].results] == ["echo a", "echo b"]
    assert [r.call_id for r in sent[-1].results] == [c.id for c in sent[-2].calls] == ["c1", "c2"]


async def test_every_request_is_a_prefix_of_the_next(desk: Desk) -> None:
    steps = [Call("echo", {"text": str(i)}, text=f"Step {i}.") for i in range(20)]
    model = Scripted([*steps, Say("Done."), Say("Again.")])
    async with desk.session(model) as session:
        await done(session, "Many steps")
        await done(session, "One more")
    for one, two in zip(model.requests, model.requests[1:], strict=False):
        assert two.messages[: len(one.messages)] == one.messages
        assert (two.system, two.tools) == (one.system, one.tools)


@pytest.mark.parametrize(
    ("call", "status", "words"),
    [
        (Call("fail", {"text": "x"}), "failed", "do it otherwise"),
        (Call("nothing", {}), "failed", "There is no tool 'nothing'"),
        (Call("eco", {"text": "x"}), "failed", "Did you mean echo"),
        (Call("echo", {}), "failed", "text"),
        (Call("echo", '{"text": "half'), "failed", ""),
        (Call("broken", {"text": "x"}), "failed", "internal error"),
    ],
)
async def test_a_call_that_cannot_run_is_told(desk: Desk, call: Call, status: str, words: str) -> None:
    model = Scripted([call, Say("I see.")])
    async with desk.session(model) as session:
        end = await done(session, "Try")
    assert end.status == "done"
    (result,) = model.requests[1].messages[-1].results
    assert result.status == status
    assert words in result.text
    assert bool(desk.reports) == (call.name == "broken")
    assert [w.key for w in desk.of(WarningRaised)] == (["engine.tool_bug"] if call.name == "broken" else [])


async def test_a_long_result_is_bounded_and_kept_whole(desk: Desk) -> None:
    text = "\n".join(f"line {i}" for i in range(5000))

    async def long(args: dict, ctx: object) -> Outcome:
        return Outcome(text=text)

    desk.tools.append(Plain("long", long))
    model = Scripted([Call("long", {"text": "x"}), Say("ok")])
    async with desk.session(model, output=4096) as session:
        await done(session, "Go")
    (result,) = model.requests[1].messages[-1].results
    assert len(result.text.encode()) <= 4096 + 100
    assert result.text.startswith("line 0\n")
    assert result.text.endswith("line 4999")
    assert f"recall id={result.artifact}" in result.text
    assert (desk.folder / "artifacts" / "s_test" / result.artifact).read_text() == text


async def test_conflicting_calls_run_in_order_and_others_side_by_side(desk: Desk) -> None:
    order: list[str] = []
    both = anyio.Event()

    async def write(args: dict, ctx: object) -> Outcome:
        order.append(f"begin {args['text']}")
        await anyio.lowlevel.checkpoint()
        order.append(f"end {args['text']}")
        return Outcome(text="ok")

    async def meet(args: dict, ctx: object) -> Outcome:
        if args["text"] == "2":
            both.set()
        with anyio.fail_after(5):
            await both.wait()
        return Outcome(text="met")

    desk.tools += [
        Plain("write", write, claims=lambda a: (Claim(resource="/w/a", write=True),)),
        Plain("meet", meet),
    ]
    model = Scripted(
        [
            Calls(tuple(Call("write", {"text": str(i)}) for i in range(5))),
            Calls((Call("meet", {"text": "1"}), Call("meet", {"text": "2"}))),
            Say("ok"),
        ]
    )
    async with desk.session(model) as session:
        assert (await done(session, "Go")).status == "done"
    assert order == [f"{what} {i}" for i in range(5) for what in ("begin", "end")]


async def test_a_fault_is_retried_and_seen(desk: Desk) -> None:
    model = Scripted([Fault("status", status=429, retry_after=0.01), Fault("status", status=500), Say("There.")])
    async with desk.session(model) as session:
        end = await done(session, "Go")
    assert (end.status, end.text, end.requests) == ("done", "There.", 3)
    assert [f.fault for f in desk.of(RequestFailed)] == ["throttled", "overloaded"]
    assert [s.attempt for s in desk.of(RequestSent)] == [1, 2, 3]


async def test_a_fault_for_good_ends_the_turn_and_the_next_model_takes_over(desk: Desk) -> None:
    bad = Scripted([Fault("status", status=401, message="wrong key")] * 2)
    async with desk.session(bad) as session:
        end = await done(session, "Go")
    assert (end.status, end.reason) == ("failed", "engine.fault")
    assert end.values["kind"] == "unauthorized"
    good = Scripted([Say("I am the second.")])
    async with desk.session(bad, good, id="s_two") as session:
        end = await done(session, "Go")
    assert (end.status, end.text) == ("done", "I am the second.")


async def test_a_stream_cut_in_the_middle_goes_on_from_what_came(desk: Desk) -> None:
    model = Scripted([Fault("drop", after=3, answer=Say("This is the first half and more to come.")), Say("The rest.")])
    async with desk.session(model) as session:
        end = await done(session, "Go")
    assert end.status == "done"
    kept = [a for a in desk.of(AnswerReceived) if a.cut]
    assert len(kept) == 1
    assert "broke" in model.requests[1].messages[-1].text
    assert model.requests[1].messages[-2].text == kept[0].message.text
    assert end.text == kept[0].message.text + "The rest."


async def test_nothing_of_a_half_call_runs(desk: Desk) -> None:
    answer = Call("echo", {"text": "x" * 200}, text="I call the tool now with much text.")
    model = Scripted([Fault("drop", after=2, answer=answer), Say("Done.")])
    async with desk.session(model) as session:
        await done(session, "Go")
    assert desk.tool("echo").runs == []
    assert desk.of(ToolStarted) == []


async def test_limits_end_a_turn_cleanly(desk: Desk) -> None:
    model = Scripted([Call("echo", {"text": str(i)}, text=f"I am at {i}.") for i in range(5)])
    async with desk.session(model, limits=LimitSpec(steps=3)) as session:
        end = await done(session, "Go")
    assert (end.status, end.reason, end.steps) == ("budget", "engine.limit_steps", 3)
    assert end.text == "I am at 2."
    priced = msgspec.structs.replace(SCRIPTED, price=Price(input=1_000_000.0, output=0.0))
    model = Scripted([Call("echo", {"text": "1"}, usage=Usage(input=3)), Say("no")], info=priced)
    async with desk.session(model, limits=LimitSpec(cost=2.0), id="s_2") as session:
        end = await done(session, "Go")
    assert (end.status, end.reason, end.cost) == ("budget", "engine.limit_cost", 3.0)
    async with desk.session(
        Scripted([Call("hang", {"text": "1"})]), limits=LimitSpec(minutes=0.005), id="s_3"
    ) as session:
        end = await done(session, "Go")
    assert (end.status, end.reason) == ("budget", "engine.limit_minutes")
    assert desk.of(ToolFinished, "s_3")[0].result.status == "cancelled"


async def test_an_unknown_price_is_refused_before_anything_is_recorded(desk: Desk) -> None:
    unknown = ModelInfo(ref="a/b", provider="a", name="b", window=1000)
    model = Scripted([Say("no")], info=unknown)
    async with desk.session(model, limits=LimitSpec(cost=2.0)) as session:
        with pytest.raises(UsageError, match="price"):
            await session.prompt("Go")
    assert model.requests == []
    assert desk.kinds() == []


async def test_a_request_that_cannot_fit_is_refused_with_numbers(desk: Desk) -> None:
    small = msgspec.structs.replace(SCRIPTED, window=8192)
    model = Scripted([Say("no")], info=small)
    async with desk.session(model) as session:
        end = await done(session, "x" * 200_000)
    assert (end.status, end.reason) == ("refused", "context.current_turn_does_not_fit")
    assert (end.steps, end.requests) == (0, 0), "nothing was sent"
    assert end.values["tokens"] > end.values["budget"]
    assert model.requests == []
    assert desk.of(RequestSent) == []


async def test_empty_answers(desk: Desk) -> None:
    """Row 19: only reasoning and nothing said: one retry, then a visible end."""
    model = Scripted([Say("", reasoning="Hm."), Say("", reasoning="Hm.")])
    async with desk.session(model) as session:
        end = await done(session, "Go")
    assert (end.status, end.reason, end.requests) == ("failed", "engine.empty_answer", 2)
    model = Scripted([Say("", reasoning="Hm."), Say("Yes.")])
    async with desk.session(model, id="s_2") as session:
        end = await done(session, "Go")
    assert (end.status, end.text) == ("done", "Yes.")


async def test_an_answer_cut_by_the_limit_goes_on(desk: Desk) -> None:
    model = Scripted([Say("One, ", finish="length"), Say("two, ", finish="length"), Say("three.")])
    async with desk.session(model) as session:
        end = await done(session, "Count")
    assert (end.status, end.text) == ("done", "One, two, three.")


async def test_cut_calls_never_run_and_three_stop_the_turn(desk: Desk) -> None:
    """Row 8: no call of a message that was cut runs, complete looking ones included."""
    cut = Calls((Call("echo", {"text": "a"}), Call("echo", {"text": "b"})), finish="length")
    model = Scripted([cut, cut, cut])
    async with desk.session(model) as session:
        end = await done(session, "Go")
    assert (end.status, end.reason) == ("failed", "engine.cut_calls")
    assert desk.tool("echo").runs == []
    assert {r.result.status for r in desk.of(ToolFinished)} == {"failed"}
    assert len(desk.of(ToolFinished)) == 6


async def test_circles_are_told_once_then_stop(desk: Desk) -> None:
    model = Scripted([Call("echo", {"text": "same"}) for _ in range(6)])
    async with desk.session(model) as session:
        end = await done(session, "Go")
    assert (end.status, end.reason) == ("failed", "engine.circles")
    assert len(desk.tool("echo").runs) == 2
    assert [r.result.status for r in desk.of(ToolFinished)] == ["done", "done", "refused", "refused"]


async def test_a_replayed_call_runs_at_most_twice(desk: Desk) -> None:
    """Row 17: the same id and arguments three rounds in a row."""
    model = Scripted([Call("echo", {"text": "same"}, id="call_1") for _ in range(6)])
    async with desk.session(model) as session:
        end = await done(session, "Go")
    assert (end.status, end.reason, end.requests) == ("failed", "engine.circles", 3)
    assert len(desk.tool("echo").runs) == 2


async def test_alternating_calls_are_circles_too(desk: Desk) -> None:
    model = Scripted([Call(n, {"text": "x"}) for _ in range(6) for n in ("echo", "fail")])
    async with desk.session(model) as session:
        end = await done(session, "Go")
    assert (end.status, end.reason) == ("failed", "engine.circles")
    assert len(desk.tool("echo").runs) == 2


async def test_work_in_between_is_no_circle(desk: Desk) -> None:
    """Running the same failing test again after each of three different edits is work, not a circle."""
    steps = [s for i in range(4) for s in (Call("fail", {"text": "test"}), Call("echo", {"text": f"edit {i}"}))]
    model = Scripted([*steps, Say("ok")])
    async with desk.session(model) as session:
        end = await done(session, "Go")
    assert end.status == "done"
    assert len(desk.tool("fail").runs) == 4


async def test_the_same_id_every_round_is_no_replay(desk: Desk) -> None:
    """Row 16: a server that calls every call `bash:0`."""
    model = Scripted([*(Call("echo", {"text": str(i)}, id="echo:0") for i in range(4)), Say("ok")])
    async with desk.session(model) as session:
        assert (await done(session, "Go")).status == "done"
    calls = [c for m in model.requests[-1].messages for c in m.calls]
    assert [c.wire_id for c in calls] == ["echo:0"] * 4
    assert len({c.id for c in calls}) == 4


async def test_cancel_stops_a_tool_and_a_model_at_once(desk: Desk) -> None:
    for id, model in (("s_1", Scripted([Call("hang", {"text": "x"})])), ("s_2", Scripted([Fault("hang", after=3)]))):
        async with desk.session(model, id=id) as session:
            prompted = await session.prompt("Go")
            async with session.stream.subscribe() as entries:
                async for entry in entries:
                    if type(entry.event).__name__ in ("ToolStarted", "TextDelta"):
                        break
            with anyio.fail_after(0.5):
                await session.cancel()
                end = await prompted
        assert (end.status, end.reason) == ("cancelled", "engine.cancelled")
        assert session.state.transcript.open_calls == ()
    assert desk.of(ToolFinished, "s_1")[0].result.status == "cancelled"
    assert desk.of(AnswerReceived, "s_2")[0].cut


async def test_prompts_queue_and_can_be_taken_back(desk: Desk) -> None:
    model = Scripted([Call("echo", {"text": "x"}), Say("One."), Say("Three.")])
    async with desk.session(model) as session:
        one = await session.prompt("one")
        two = await session.prompt("two")
        three = await session.prompt("three")
        await session.cancel(two.id)
        with anyio.fail_after(5):
            assert (await one).text == "One."
            assert (await three).text == "Three."
            with pytest.raises(UserError):
                await two
    assert "two" not in str(model.requests[-1].messages)


async def test_steering_reaches_the_next_request(desk: Desk) -> None:
    gate = anyio.Event()

    async def wait(args: dict, ctx: object) -> Outcome:
        await gate.wait()
        return Outcome(text="done")

    desk.tools.append(Plain("wait", wait))
    model = Scripted([Call("wait", {"text": "x"}), Say("As you say.")])
    async with desk.session(model) as session:
        prompted = await session.prompt("Go")
        async with session.stream.subscribe() as entries:
            async for entry in entries:
                if isinstance(entry.event, ToolStarted):
                    break
        await session.steer("Use tabs, please")
        gate.set()
        with anyio.fail_after(5):
            assert (await prompted).status == "done"
    assert model.requests[1].messages[-1].text == "Use tabs, please"


async def test_permission_questions(desk: Desk) -> None:
    facts = Facts(access=("execute",), command="make")

    async def run(args: dict, ctx: object) -> Outcome:
        return Outcome(text="ran")

    desk.tools.append(Plain("run", run, access=("execute",), facts=facts))
    for answer, runs, status in (("allow", 1, "done"), ("deny: not now", 1, "refused"), ("session", 3, "done")):
        model = Scripted([Call("run", {"text": "1"}), Call("run", {"text": "2"}), Say("ok")])
        async with desk.session(model, mode="ask", answers="ask", id=f"s_{answer[:4]}") as session:
            prompted = await session.prompt("Go")
            asked = 0
            async with session.stream.subscribe(after=0) as entries:
                async for entry in entries:
                    if type(entry.event).__name__ == "QuestionAsked":
                        asked += 1
                        await session.answer(entry.event.question, answer if asked == 1 else "deny")
                    if isinstance(entry.event, TurnFinished):
                        break
            await prompted
        results = [r for m in model.requests[-1].messages for r in m.results]
        assert results[0].status == status, answer
        assert len(desk.tool("run").runs) == runs, answer
        assert asked == (1 if answer == "session" else 2)
        if status == "refused":
            assert "not now" in results[0].text


async def test_with_nobody_there_a_question_is_answered_no_and_told_once(desk: Desk) -> None:
    facts = Facts(access=("execute",), command="make")
    tool = Plain("run", desk.tool("echo")._body, access=("execute",), facts=facts)
    desk.tools.append(tool)
    model = Scripted([Call("run", {"text": "1"}), Call("run", {"text": "1"}), Say("ok")])
    async with desk.session(model, mode="edits", answers="no") as session:
        assert (await done(session, "Go")).status == "done"
    results = [r for m in model.requests[-1].messages for r in m.results]
    assert [r.status for r in results] == ["refused", "refused"]
    assert "nobody is there" in results[0].text
    assert [a.by for a in desk.of(QuestionAnswered)] == ["policy"]
    assert tool.runs == []


async def test_a_schema_is_checked_and_told(desk: Desk) -> None:
    schema = {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]}
    model = Scripted([Say("It is 3."), Say('{"n": "3"}'), Say('```json\n{"n": 3}\n```')])
    async with desk.session(model) as session:
        end = await done(session, "How many?", schema=schema)
    assert (end.status, end.text) == ("done", '{"n": 3}')
    assert "JSON Schema" in model.requests[0].messages[1].text
    model = Scripted([Say("a"), Say("b"), Say("c")])
    async with desk.session(model, id="s_2") as session:
        end = await done(session, "How many?", schema=schema)
    assert (end.status, end.reason) == ("failed", "engine.schema_not_met")


async def test_a_new_day_is_told_at_the_tail_and_never_stored(desk: Desk) -> None:
    model = Scripted([Say("One."), Say("Two."), Say("Three.")])
    async with desk.session(model) as session:
        await done(session, "one")
        desk.today = "2026-12-01"
        await done(session, "two")
        desk.today = "2026-11-30"
        await done(session, "three")
    assert model.requests[1].messages[-1].text.endswith("two\n\n[Today is 2026-12-01.]")
    assert "2026-12-01" not in str(model.requests[2].messages)
