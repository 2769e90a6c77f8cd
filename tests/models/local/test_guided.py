"""The guidance of small models as pure mapping: what may be done when, what is told, how long it gets."""

from __future__ import annotations

import json
from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing
from itertools import pairwise
from typing import Any

import jsonschema_rs
import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gongfu.core.errors import StreamCut
from gongfu.core.messages import CallPart, Message, ReasoningPart, ResultPart, TextPart, user
from gongfu.core.specs import ModelInfo, ToolSpec, Usage
from gongfu.models.local.actions import KINDS, Action, Wrong, from_call, offered, parse, schema, to_call
from gongfu.models.local.guided import Guided, led, mapped
from gongfu.models.local.opening import chosen, tree_paths
from gongfu.models.local.prompt import BUDGET_TOKENS, REPLY_TOKENS, advice, allowed, build, estimate, system
from gongfu.models.local.story import OPENING, File, Step, Turn, plain, turns
from gongfu.models.protocol import Answer, CallProgress, Delta, Prepared, Reasoning, Request, Text

pytestmark = pytest.mark.anyio

NAMES = tuple(kind.name for kind in KINDS)


def tool(name: str, *arguments: str) -> ToolSpec:
    properties = {argument: {"type": "string"} for argument in arguments}
    return ToolSpec(name=name, description="", parameters={"type": "object", "properties": properties})


TOOLS = (
    tool("edit_file", "path", "old", "new"),
    tool("list_files", "path"),
    tool("read_file", "path"),
    tool("search_text", "pattern", "literal"),
    tool("shell", "command"),
    tool("todo", "items"),
    tool("write_file", "path", "content"),
)


def reply(name: str, thought: str = "so", **fields: str) -> str:
    return json.dumps({"thought": thought, "action": name, **fields})


def action(name: str, **fields: str) -> Action:
    found = parse(reply(name, **fields))
    assert isinstance(found, Action)
    return found


def step(name: str, text: str = "", status: str = "done", **fields: str) -> Step:
    return Step(action=action(name, **fields), result=ResultPart(call_id="c", text=text, status=status))  # type: ignore[arg-type]


class Conversation:
    """Plays the engine: gives calls ids, and results that the test chooses."""

    def __init__(self, task: str) -> None:
        self.messages: list[Message] = [
            user("<environment>\nDate: 2026-01-01\n</environment>", kind="note"),
            user(task),
        ]
        self._number = 0

    def said(self, message: Message, *results: str, status: str = "done") -> None:
        parts = []
        ids = []
        for part in message.parts:
            named = part
            if isinstance(part, CallPart):
                self._number += 1
                named = msgspec.structs.replace(part, id=f"c{self._number}")
                ids.append(named.id)
            parts.append(named)
        self.messages.append(msgspec.structs.replace(message, parts=tuple(parts)))
        given = [ResultPart(call_id=i, text=t, status=status) for i, t in zip(ids, results, strict=True)]  # type: ignore[arg-type]
        if given:
            self.messages.append(Message(role="tool", parts=tuple(given)))

    def request(self, tools: Sequence[ToolSpec] = TOOLS, **more: Any) -> Request:
        return Request(
            model="m", system="long text for large models", messages=tuple(self.messages), tools=tuple(tools), **more
        )


def opened(name: str) -> Message:
    """The look at the folder by one call."""
    call = CallPart(id="", name=name, arguments='{"path":"a"}', raw=OPENING)
    return Message(role="assistant", parts=(call,))


def said(text: str) -> Answer:
    """An endpoint's whole answer."""
    return Answer(message=Message(role="assistant", parts=(TextPart(text=text),)), finish="stop")


class Endpoint:
    """An endpoint that answers with the texts it is given and keeps what it was asked."""

    info = ModelInfo(ref="local/m", provider="local", name="m", small=True, window=8192)

    def __init__(self, *texts: str, finish: str = "stop", fault: Exception | None = None) -> None:
        self.texts = list(texts)
        self.asked: list[Request] = []
        self.closed = False
        self._finish = finish
        self._fault = fault

    async def complete(self, request: Request, /) -> AsyncGenerator[Delta, None]:
        self.asked.append(request)
        text = self.texts.pop(0)
        yield Prepared(body=b"{}")
        for at in range(0, len(text), 7):
            yield Text(text=text[at : at + 7])
        if self._fault is not None:
            raise self._fault
        message = Message(role="assistant", parts=(TextPart(text=text),), model="local/m")
        yield Answer(message=message, finish=self._finish, usage=Usage(input=9, output=3), raw_finish="stop")  # type: ignore[arg-type]

    async def aclose(self) -> None:
        self.closed = True


async def deltas(guided: Guided, request: Request) -> list[Delta]:
    async with aclosing(guided.complete(request)) as stream:
        return [delta async for delta in stream]


async def answer(guided: Guided, request: Request) -> Answer:
    last = (await deltas(guided, request))[-1]
    assert isinstance(last, Answer)
    return last


def arguments(call: CallPart) -> dict[str, Any]:
    return json.loads(call.arguments)


# --- actions and schemas ----------------------------------------------------------------------------------------------


def test_actions_are_offered_for_the_tools_that_are_there() -> None:
    assert offered(TOOLS) == ("run", "write", "replace", "read", "search")
    assert offered([tool("read_file"), tool("ask_user")]) == ("read",)
    assert offered([tool("todo")]) == ()


@pytest.mark.parametrize("name", [*NAMES, "finish"])
def test_the_schema_lets_through_one_whole_action(name: str) -> None:
    fields = {"finish": ("answer",)} | {kind.name: tuple(f for f, _ in kind.fields) for kind in KINDS}
    good = json.loads(reply(name, **dict.fromkeys(fields[name], "x")))
    valid = jsonschema_rs.validator_for(schema([*NAMES, "finish"])).is_valid
    assert valid(good)
    assert not valid({**good, "more": 1})
    assert not valid({**good, "thought": "x" * 400})
    for field in fields[name]:
        assert not valid({k: v for k, v in good.items() if k != field})
    others = [other for other in (*NAMES, "finish") if other != name]
    assert not jsonschema_rs.validator_for(schema(others)).is_valid(good)


@pytest.mark.parametrize(
    ("name", "fields", "called", "wanted"),
    [
        ("run", {"command": "ls"}, "shell", {"command": "ls"}),
        ("write", {"path": "a", "content": "b\n"}, "write_file", {"path": "a", "content": "b\n"}),
        ("replace", {"path": "a", "old": "x", "new": "y"}, "edit_file", {"path": "a", "old": "x", "new": "y"}),
        ("read", {"path": "a"}, "read_file", {"path": "a"}),
        ("search", {"pattern": "f(x"}, "search_text", {"pattern": "f(x", "literal": True}),
        ("search", {"pattern": "a|b"}, "search_text", {"pattern": "a|b"}),
    ],
)
def test_an_action_is_one_call_and_comes_back_as_it_was(
    name: str, fields: dict[str, str], called: str, wanted: dict[str, Any]
) -> None:
    done = action(name, **fields)
    call = to_call(done, {t.name: t for t in TOOLS})
    assert (call.name, arguments(call)) == (called, wanted)
    assert from_call(call) == done


def test_calls_of_another_model_are_told_in_the_same_words() -> None:
    call = CallPart(id="1", name="shell", arguments='{"command": "ls", "timeout": 3}')
    done = from_call(call)
    assert done is not None
    assert json.loads(done.raw) == {"action": "run", "command": "ls"}
    assert from_call(CallPart(id="1", name="todo", arguments="{}")) is None
    assert from_call(CallPart(id="1", name="shell", arguments="broken")) is None


@pytest.mark.parametrize(
    "text", ["", "{", "[]", "3", '{"action": "fly"}', '{"action": "run"}', '{"action": "run", "command": 1}']
)
def test_what_is_no_action_is_told_so(text: str) -> None:
    assert isinstance(parse(text), Wrong)


@given(st.text())
def test_any_reply_can_be_read(text: str) -> None:
    found = parse(text)
    assert isinstance(found, Action | Wrong)
    assert found.raw == text


# --- when to finish ---------------------------------------------------------------------------------------------------


def test_finish_only_after_a_step() -> None:
    assert "finish" not in allowed(Turn(task="t"), NAMES)
    assert "finish" in allowed(Turn(task="t", steps=(step("run", "x", command="ls"),)), NAMES)


def test_a_changed_program_is_tried_first() -> None:
    wrote = step("write", path="a.py", content="1")
    assert "finish" not in allowed(Turn(task="t", steps=(wrote,)), NAMES)
    assert "finish" in allowed(Turn(task="t", steps=(wrote, step("run", "ok", command="python3 a.py"))), NAMES)
    assert "finish" in allowed(Turn(task="t. Do not run it.", steps=(wrote,)), NAMES)
    assert "finish" in allowed(Turn(task="写好，不要运行", steps=(wrote,)), NAMES)
    assert "finish" in allowed(Turn(task="t", steps=(wrote,)), ("write", "read"))  # nothing to run it with
    assert "finish" in allowed(Turn(task="t", steps=(step("write", path="notes.txt", content="1"),)), NAMES)


def test_a_failing_command_is_worked_on_twice_and_then_may_be_told() -> None:
    def failing(n: int) -> Step:
        return step("run", f"Error {n}\n[exit code 1]", "failed", command=f"python3 a{n}.py")

    assert "finish" not in allowed(Turn(task="t", steps=(failing(1),)), NAMES)
    assert "finish" not in allowed(Turn(task="t", steps=(failing(1), failing(2))), NAMES)
    assert "finish" in allowed(Turn(task="t", steps=(failing(1), failing(2), failing(3))), NAMES)


def test_a_search_that_finds_nothing_is_no_failure() -> None:
    nothing = step("run", "[exit code 1]", "failed", command="grep -n zebra *.txt")
    assert "finish" in allowed(Turn(task="t", steps=(nothing,)), NAMES)


def test_a_refusal_may_be_told() -> None:
    refused = step("run", "not allowed", "refused", command="rm -r /")
    assert "finish" in allowed(Turn(task="t", steps=(refused,)), NAMES)


def test_parts_are_replaced_in_long_files_only() -> None:
    short = Conversation("t")
    short.said(
        opened("read_file"),
        "1|x",
    )
    assert "replace" not in allowed(turns(short.messages)[-1], NAMES)
    long = Conversation("t")
    text = "\n".join(f"{n}|some line of text" for n in range(1, 90))
    long.said(
        opened("read_file"),
        text,
    )
    assert "replace" in allowed(turns(long.messages)[-1], NAMES)


def test_other_files_that_the_task_names_are_thought_of_but_not_those_in_commands() -> None:
    files = tuple(File(path=name, text="x") for name in ("a.py", "b.py", "run.py", "c.py"))
    turn = Turn(task="Change a.py and b.py so that `python3 run.py` works.", files=files)
    wrote = step("write", "Wrote a.py", path="a.py", content="1")
    assert advice(msgspec.structs.replace(turn, steps=(wrote,))) == (
        "The task also names b.py: if it must be changed too, write it now. Then run `python3 run.py` and look at the "
        "output."
    )
    both = (wrote, step("write", "Wrote b.py", path="b.py", content="1"))
    assert advice(msgspec.structs.replace(turn, steps=both)) == "Now run `python3 run.py` and look at the output."


# --- a whole task -----------------------------------------------------------------------------------------------------


async def test_a_task_from_the_look_at_the_folder_to_the_last_words() -> None:
    endpoint = Endpoint(
        reply("write", path="calc.py", content="def add(a, b):\n    return a + b\n"),
        reply("run", command="python3 test_calc.py"),
        reply("finish", answer="It passes now."),
    )
    guided = Guided(endpoint, lambda: [("calc.py", "def add(a, b):\n    return a - b\n"), ("big.csv", "x" * 90_000)])
    talk = Conversation("Fix calc.py so that `python3 test_calc.py` passes.")

    look = await answer(guided, talk.request())
    assert [(c.name, arguments(c)) for c in look.message.calls] == [
        ("list_files", {"path": "."}),
        ("read_file", {"path": "calc.py"}),
    ]
    assert endpoint.asked == []
    talk.said(look.message, "calc.py", "1|def add(a, b):\n2|    return a - b")

    wrote = await answer(guided, talk.request())
    first = endpoint.asked[0]
    assert first.tools == ()
    assert first.max_output == REPLY_TOKENS
    assert first.temperature == 0.0
    assert "=== calc.py ===\ndef add(a, b):\n    return a - b" in first.messages[-1].text
    assert "Date:" not in first.messages[-1].text
    assert [p for p in wrote.message.parts if isinstance(p, ReasoningPart)] == [ReasoningPart(text="so")]
    assert wrote.message.calls[0].name == "write_file"
    assert wrote.finish == "calls"
    assert wrote.usage == Usage(input=9, output=3)
    talk.said(wrote.message, "Wrote calc.py (+1 -1).")

    ran = await answer(guided, talk.request())
    assert "run `python3 test_calc.py`" in endpoint.asked[1].messages[-1].text
    assert arguments(ran.message.calls[0]) == {"command": "python3 test_calc.py"}
    talk.said(ran.message, "ok\n2 passed")

    last = await answer(guided, talk.request())
    assert last.finish == "stop"
    assert last.message.calls == ()
    assert last.message.text == "It passes now.\n\nWritten: calc.py\n`python3 test_calc.py` showed:\nok\n2 passed"


async def test_without_being_told_of_files_it_reads_those_that_the_task_names() -> None:
    guided = Guided(Endpoint(reply("run", command="ls")))
    talk = Conversation("Fix src/calc.py.")
    look = await answer(guided, talk.request())
    assert [c.name for c in look.message.calls] == ["list_files"]
    talk.said(look.message, "src/\n  calc.py\n" + "\n".join(f"f{n}.txt" for n in range(20)))
    second = await answer(guided, talk.request())
    assert [arguments(c)["path"] for c in second.message.calls] == ["src/calc.py"]
    talk.said(second.message, "1|x = 1")
    third = await answer(guided, talk.request())
    assert third.message.calls[0].name == "shell"


async def test_a_named_file_that_is_not_small_is_read_in_part() -> None:
    guided = Guided(Endpoint(), lambda: [("a.py", "x"), ("big.py", "x" * 4000)])
    talk = Conversation("Fix big.py.")
    look = await answer(guided, talk.request())
    assert [arguments(c)["path"] for c in look.message.calls] == [".", "a.py"]
    talk.said(look.message, "a.py\nbig.py", "1|x")
    more = await answer(guided, talk.request())
    assert [arguments(c) for c in more.message.calls] == [{"path": "big.py", "limit": 150}]


async def test_of_many_files_only_the_named_are_read() -> None:
    guided = Guided(Endpoint(), lambda: [(f"m{n}.py", "x") for n in range(12)])
    look = await answer(guided, Conversation("Fix m7.py.").request())
    assert [arguments(c)["path"] for c in look.message.calls] == [".", "m7.py"]


async def test_the_report_is_what_tools_showed_not_what_the_model_says() -> None:
    guided = Guided(Endpoint(reply("finish", answer="All tests pass.")))
    talk = Conversation("Repair it")
    talk.said(opened("list_files"), "[the folder is empty]")
    for n in range(3):
        call = to_call(action("run", command=f"pytest -k {n}"), {})
        talk.said(Message(role="assistant", parts=(call,)), f"{n} failed\n[exit code 1]", status="failed")
    last = await answer(guided, talk.request())
    assert "`pytest -k 2` failed and showed:\n2 failed\n[exit code 1]" in last.message.text


async def test_the_report_speaks_the_language_of_the_task() -> None:
    steps = (step("write", path="a.py", content="1"), step("run", "好", command="python3 a.py"))
    request = Request(model="m", system="", messages=(), tools=TOOLS)
    found = mapped(said(reply("finish", answer="好了")), request, Turn(task="修好 a.py", steps=steps))
    assert found.message.text == "好了\n\n已写入：a.py\n`python3 a.py` 的输出：\n好"


async def test_progress_names_the_tool_while_the_action_is_written() -> None:
    guided = Guided(Endpoint(reply("run", command="python3 a_long_name.py")), list)
    talk = Conversation("t")
    talk.said((await answer(guided, talk.request())).message, "[the folder is empty]")
    seen = await deltas(guided, talk.request())
    assert {d.name for d in seen if isinstance(d, CallProgress)} == {"shell"}
    assert [d.text for d in seen if isinstance(d, Reasoning)] == ["so"]
    assert not [d for d in seen if isinstance(d, Text)]  # the JSON is not for people
    assert sum(isinstance(d, Answer) for d in seen) == 1


# --- what goes wrong --------------------------------------------------------------------------------------------------


def started(*steps: tuple[Action, str]) -> Conversation:
    talk = Conversation("t")
    talk.said(opened("list_files"), "[the folder is empty]")
    for done, text in steps:
        talk.said(Message(role="assistant", parts=(to_call(done, {}),)), text)
    return talk


async def test_a_reply_that_was_cut_off_never_runs() -> None:
    cut = reply("write", path="a.py", content="x" * 50)[:-9]
    found = await answer(Guided(Endpoint(cut, finish="length"), list), started().request())
    assert found.finish == "length"
    assert "cut off" in found.message.calls[0].problem
    assert found.message.calls[0].raw == cut


async def test_an_endpoint_that_does_not_bind_to_the_schema_cannot_finish_early() -> None:
    found = await answer(Guided(Endpoint(reply("finish", answer="done")), list), started().request())
    assert found.finish == "calls"
    assert found.message.calls[0].problem
    talk = started()
    talk.said(found.message, found.message.calls[0].problem, status="failed")
    endpoint = Endpoint(reply("run", command="ls"))
    await answer(Guided(endpoint, list), talk.request())
    assert "not possible now" in endpoint.asked[0].messages[-1].text


async def test_a_repeat_is_warned_of_and_the_third_ends_the_task() -> None:
    again = action("run", command="ls")
    endpoint = Endpoint(again.raw)
    talk = started((again, "a"), (again, "a"))
    found = await answer(Guided(endpoint, list), talk.request())
    assert "exactly this before" in endpoint.asked[0].messages[-1].text
    assert endpoint.asked[0].temperature == 0.7
    assert found.finish == "stop"
    assert "again and again" in found.message.text
    assert "`ls` showed:\na" in found.message.text


async def test_running_again_after_a_change_is_no_repeat() -> None:
    run, write = action("run", command="python3 a.py"), action("write", path="a.py", content="1")
    endpoint = Endpoint(run.raw)
    found = await answer(Guided(endpoint, list), started((run, "no"), (write, "Wrote a.py"), (run, "ok")).request())
    assert "exactly this before" not in endpoint.asked[0].messages[-1].text
    assert found.finish in ("calls", "stop")


async def test_a_stream_that_breaks_leaves_no_half_action() -> None:
    partial = Answer(message=Message(role="assistant", parts=(TextPart(text='{"th'),)), finish="unknown")
    guided = Guided(Endpoint('{"th', fault=StreamCut("gone", partial=partial)), list)
    with pytest.raises(StreamCut) as caught:
        await deltas(guided, started().request())
    assert caught.value.partial is None


@pytest.mark.parametrize("why", ["schema", "no tools", "no words"])
async def test_other_requests_go_through_as_they_are(why: str) -> None:
    talk = Conversation("title?")
    request = talk.request(schema={"type": "object"}) if why == "schema" else talk.request(tools=())
    if why == "no words":
        request = msgspec.structs.replace(talk.request(), messages=())
    endpoint = Endpoint("A title")
    guided = Guided(endpoint)
    assert (await answer(guided, request)).message.text == "A title"
    assert endpoint.asked == [request]
    await guided.aclose()
    assert endpoint.closed


# --- the prompt -------------------------------------------------------------------------------------------------------

WORDS = st.builds(lambda text, times: text * times, st.text(max_size=6), st.integers(1, 2000))
STATUS = st.sampled_from(["done", "failed", "refused"])
STEPS = st.lists(st.tuples(st.sampled_from(NAMES), WORDS, WORDS, STATUS), max_size=14)
SHORT = st.lists(
    st.tuples(st.sampled_from(NAMES), st.text(max_size=40), st.text(max_size=80), st.just("done")),
    min_size=1,
    max_size=8,
)


def story_of(task: str, files: list[tuple[str, str]], steps: list[tuple[str, str, str, str]]) -> Turn:
    fields = {kind.name: [f for f, _ in kind.fields] for kind in KINDS}
    done = tuple(step(name, text, status, **dict.fromkeys(fields[name], given)) for name, given, text, status in steps)
    return Turn(task=task, listing="x", openings=1, files=tuple(File(path=p, text=t) for p, t in files), steps=done)


@settings(deadline=None, max_examples=60)
@given(WORDS, st.lists(st.tuples(st.text(max_size=60), WORDS), max_size=9), STEPS)
def test_the_prompt_stays_inside_the_window(
    task: str, files: list[tuple[str, str]], steps: list[tuple[str, str, str, str]]
) -> None:
    fixed, messages = build((story_of(task, files, steps),), NAMES)
    whole = estimate(fixed) + sum(estimate(m.text) for m in messages)
    assert whole <= BUDGET_TOKENS + 100
    assert messages[-1].role == "user"
    assert all(a.role != b.role for a, b in pairwise(messages))


SHORT = st.lists(
    st.tuples(st.sampled_from(NAMES), st.text(max_size=40), st.text(max_size=80), st.just("done")),
    min_size=1,
    max_size=8,
)


@settings(deadline=None, max_examples=60)
@given(st.text(max_size=200), SHORT)
def test_each_prompt_begins_with_the_one_before(task: str, steps: list[tuple[str, str, str, str]]) -> None:
    before: tuple[Message, ...] = ()
    for count in range(len(steps) + 1):
        fixed, messages = build((story_of(task, [("a", "b")], steps[:count]),), NAMES)
        assert fixed == system(NAMES)
        assert messages[: len(before)] == before
        before = messages


def test_the_beginning_is_the_same_for_every_task() -> None:
    one = build((Turn(task="a"),), NAMES)
    two = build((Turn(task="b", listing="x.py", openings=1),), NAMES)
    assert one[0] == two[0]
    assert one[1][:-1] == two[1][:-1]


def test_examples_are_shown_for_actions_that_are_there() -> None:
    text = " ".join(m.text for m in build((Turn(task="a"),), ("read", "search"))[1])
    assert '"action":"run"' not in text
    assert '"action":"write"' not in text


def test_every_reply_of_the_examples_follows_the_schema() -> None:
    messages = build((Turn(task="a"),), NAMES)[1][:-1]
    assert len(messages) == 10
    valid = jsonschema_rs.validator_for(schema([*NAMES, "finish"])).is_valid
    assert all(valid(json.loads(m.text)) for m in messages if m.role == "assistant")


def test_a_new_task_gets_the_last_one_in_a_line_and_a_new_look() -> None:
    talk = started((action("run", command="ls"), "a"))
    talk.said(Message(role="assistant", parts=(TextPart(text="There is a."),)))
    talk.messages.append(user("Now remove it"))
    found = turns(talk.messages)
    assert [t.task for t in found] == ["t", "Now remove it"]
    assert (found[1].openings, found[1].steps) == (0, ())
    asked = led(talk.request(), found, NAMES)
    assert "Earlier: t -> There is a." in asked.messages[-1].text
    assert "`ls`" not in asked.messages[-1].text


def test_words_that_come_in_between_belong_to_the_task() -> None:
    talk = started((action("run", command="ls"), "a"))
    talk.messages += [user("use python3", kind="steer"), user("[note]", kind="note")]
    assert turns(talk.messages)[-1].task == "t\n\nuse python3"
    assert len(turns(talk.messages)) == 1


# --- the look at the folder -------------------------------------------------------------------------------------------


def test_trees_become_paths() -> None:
    text = "docs/ (3 entries)\nlib/ (ignored)\nsrc/\n  app/\n    main.py\n  util.py\nlink -> /etc\nREADME.md\n[2 more]"
    assert tree_paths(text) == ["src/app/main.py", "src/util.py", "README.md"]


def test_few_files_are_all_read_and_of_many_those_that_are_named() -> None:
    assert chosen("a.py\nb.txt\npic.png\nMakefile", "do") == ["a.py", "b.txt", "Makefile"]
    many = "\n".join(f"m{n}.py" for n in range(30))
    assert chosen(many, "fix m7.py, please, and m29.py.") == ["m7.py", "m29.py"]
    assert chosen("[the folder is empty]", "do") == []


@pytest.mark.parametrize(
    ("shown", "text"),
    [
        ("1|a\n2|  b|c\n[no line end at the end]", "a\n  b|c"),
        ("[the file is empty]", ""),
        ("plain words", "plain words"),
    ],
)
def test_file_texts_without_line_numbers(shown: str, text: str) -> None:
    assert plain(shown) == text
