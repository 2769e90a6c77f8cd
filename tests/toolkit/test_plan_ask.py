"""The todo list, and questions to the person."""

from __future__ import annotations

import pytest

from gongfu.core.errors import ToolFailure
from gongfu.core.events import TodoItem
from gongfu.toolkit.ask import ask_user
from gongfu.toolkit.plan import todo
from gongfu.tools.validate import validate
from tests.toolkit.kit import Ctx

pytestmark = pytest.mark.anyio


async def test_the_whole_list_is_replaced() -> None:
    args = {"items": [{"text": "read", "status": "done"}, {"text": "写测试", "status": "in_progress"}, {"text": "run"}]}
    assert validate(todo.spec.parameters, args).problem == ""
    outcome = await todo.run(args, Ctx())
    assert outcome.todo == (
        TodoItem(text="read", status="done"),
        TodoItem(text="写测试", status="in_progress"),
        TodoItem(text="run"),
    )
    assert outcome.text == "Todo list: 1 of 3 done\n[x] read\n[>] 写测试\n[ ] run"
    assert outcome.display["kind"] == "todo"
    assert outcome.display["items"][2] == {"text": "run", "status": "pending"}
    assert (await todo.run({"items": []}, Ctx())).todo == ()
    assert (await todo.facts(args)).title == "3 items"


@pytest.mark.parametrize(
    ("items", "says"),
    [
        ([{"text": "a"}, {"text": "  "}], "item 2 has no text"),
        ([{"text": "a", "status": "maybe"}], "items"),
        ([{"text": "x"}] * 201, "200 items"),
        ([{"status": "done"}], "text"),
    ],
)
async def test_a_bad_list_changes_nothing(items: list[dict], says: str) -> None:
    with pytest.raises(ToolFailure, match=says):
        await todo.run({"items": items}, Ctx())


async def test_an_answer_of_the_person_goes_back_as_it_is() -> None:
    ctx = Ctx(("the blue one", "person"))
    args = {"question": " Which? ", "options": ["red", " blue ", "red", ""], "default": "red", "timeout": 5}
    assert validate(ask_user.spec.parameters, args).problem == ""
    outcome = await ask_user.run(args, ctx)
    assert outcome.text == "the blue one"
    assert ctx.asked == [("Which?", ("red", "blue"), "red", 5)]


@pytest.mark.parametrize(
    ("answer", "text"),
    [
        (("red", "policy"), "Nobody is there to answer. The default counts: red"),
        (("", "policy"), "Nobody is there to answer. Decide yourself and say what you assumed."),
        (("red", "timeout"), "Nobody answered in time. The default counts: red"),
        (("", "cancel"), "The question was withdrawn. Decide yourself and say what you assumed."),
        (("", "person"), "The person sent an empty answer."),
    ],
)
async def test_the_model_is_told_who_answered(answer: tuple, text: str) -> None:
    assert (await ask_user.run({"question": "Which?"}, Ctx(answer))).text == text


@pytest.mark.parametrize("args", [{"question": " "}, {"question": "x", "timeout": 0}])
async def test_a_bad_question_is_not_asked(args: dict) -> None:
    ctx = Ctx()
    with pytest.raises(ToolFailure):
        await ask_user.run(args, ctx)
    assert ctx.asked == []
