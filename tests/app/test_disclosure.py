"""Tools on demand through the App: the list that is sent never changes, whatever is found, called or missing."""

from __future__ import annotations

from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from typing import Any

import pytest

from gongfu.app.inventory import inventory
from gongfu.app.tool_run import registry_of
from gongfu.context.ledger import tool_tokens
from gongfu.core.events import AnswerReceived, QuestionAsked, RequestSent, ToolFinished, ToolStarted
from gongfu.models.scripted import Call, Calls, Say
from gongfu.toolkit.catalog import CORE, SHELF
from gongfu.tools.disclosure import USE
from gongfu.tools.finding import best
from tests.toolkit.loop import play

from .cast import Cast, opened, results, run, workplace

pytestmark = pytest.mark.anyio
CARRIED = sorted(name for names in CORE.values() for name in names)


@pytest.fixture
def work(tmp_path: Path) -> Path:
    return workplace(tmp_path)


def use(name: str, **arguments: Any) -> Call:
    return Call(USE, {"name": name, "arguments": arguments})


async def test_the_schemas_of_a_request_stay_within_their_budget_and_the_same(work: Path) -> None:
    cast = Cast([
        Call("find_tools", {"query": "what is the date"}),
        use("now"),
        Calls((use("set_title", title="x"), Call("read_file", {"path": "a.txt"}))),
        Call("now", {}),
        Say("Done."),
    ])  # fmt: skip
    async with opened(work, cast, permission="full") as app:
        turn = await run(app)
        asked = cast.asked[""]
        assert [t.name for t in asked[0].tools] == CARRIED
        assert tool_tokens(asked[0].tools) <= 2_100
        assert all(request.tools == asked[0].tools for request in asked)
        sent = turn.of(RequestSent)
        assert {e.stable for e in sent} == {sent[0].stable}
        assert [e.broke for e in sent[1:]] == [""] * (len(sent) - 1)
        assert [e.name for e in turn.of(ToolFinished)] == ["find_tools", "now", "set_title", "read_file", "now"]
        calls = [part for e in turn.of(AnswerReceived) for part in e.message.calls]
        assert [(c.name, c.via) for c in calls] == [
            ("find_tools", ""), ("now", USE), ("set_title", USE), ("read_file", ""), ("now", USE),
        ]  # fmt: skip
        assert "## now\n" in results(asked[1])[0].text


async def test_all_there_is_has_a_family_a_text_and_words_in_two_languages(work: Path) -> None:
    async with opened(work, Cast([Say("x")])) as app:
        session = await app.session()
        registry = session.kit.registry
        assert list(registry.names) == CARRIED
        found = {family.name: family.names for family in registry.shelf.families if not family.name.startswith("mcp:")}
        assert {name: tuple(sorted(names)) for name, names in found.items()} == {
            name: tuple(sorted(names)) for name, names in SHELF.items()
        }
        specs = [*registry.specs, *(tool.spec for tool in registry.shelf)]
        assert len(specs) >= 80
        assert len({spec.name for spec in specs}) == len(specs)
        for spec in specs:
            assert spec.description, spec.name
            assert any("\u4e00" <= c <= "\u9fff" for c in spec.zh), spec.name
            assert spec.words, spec.name
            assert len(spec.description) <= 700, (spec.name, len(spec.description))
        await session.close()


async def test_a_tool_that_lacks_something_says_what_installs_it_before_anything_is_asked(work: Path) -> None:
    cast = Cast([use("screenshot"), Say("x")])
    async with opened(work, cast, permission="ask", env={"PATH": "", "HOME": str(work)}, answers="no") as app:
        turn = await run(app)
        (finished,) = turn.of(ToolFinished)
        assert (finished.name, finished.result.status) == ("screenshot", "failed")
        assert "screenshot needs a display" in finished.result.text
        assert "nothing was done" in finished.result.text
        assert turn.of(QuestionAsked) == turn.of(ToolStarted) == []


async def test_an_unknown_tool_is_told_with_the_nearest_name(work: Path) -> None:
    cast = Cast([use("git_statos"), Call("git_statos", {}), Call(USE, {"arguments": {}}), Say("x")])
    async with opened(work, cast) as app:
        turn = await run(app)
        texts = [e.result.text for e in turn.of(ToolFinished)]
        assert "git_status" in texts[0]
        assert "Did you mean git_status?" in texts[1]
        assert "name" in texts[2]


async def test_wrong_arguments_are_told_with_the_name_of_the_tool_itself(work: Path) -> None:
    played = await play(work, ("set_title", {"tittle": 3}))
    assert played.status == "failed"
    assert "set_title" in played.text
    assert "title" in played.text


async def test_a_sub_agent_is_given_tools_of_the_shelf_by_name(work: Path) -> None:
    cast = Cast(
        [
            Call("task", {"task": "look at the clock", "tools": ["now", "read_file"]}),
            Call("task", {"task": "free to find"}),
            Call("task", {"task": "look", "tools": ["no_such_tool"]}),
            Say("x"),
        ],
        look=[Call("now", {}), use("set_title", title="y"), Say("It is late.")],
        free=[use("now"), Say("Found it.")],
    )
    async with opened(work, cast, permission="full") as app:
        turn = await run(app)
        asked = cast.asked["look"]
        assert [t.name for t in asked[0].tools] == ["now", "read_file", "recall"]
        assert results(asked[1])[0].status == "done"
        assert "There is no tool 'use_tool'" in results(asked[2])[1].text
        assert [t.name for t in cast.asked["free"][0].tools] == CARRIED
        assert results(cast.asked["free"][1])[0].status == "done"
        assert "you have no tool no_such_tool" in turn.of(ToolFinished)[-1].result.text


async def test_settings_put_more_tools_into_every_request(work: Path) -> None:
    home = work.parent / "home"
    home.mkdir()
    (home / "config.yaml").write_text("tools: {pin: [now, git_status]}\n")
    cast = Cast([Call("now", {}), Say("x")])
    async with opened(work, cast) as app:
        turn = await run(app)
        names = [t.name for t in cast.asked[""][0].tools]
        assert names == sorted([*CARRIED, "git_status", "now"])
        assert turn.of(AnswerReceived)[0].message.calls[0].via == ""


async def test_each_tool_is_told_in_few_words_and_in_chinese(work: Path) -> None:
    async with opened(work, Cast([Say("x")])) as app:
        entries = await inventory(app)
    for spec in (entry.spec for entry in entries):
        assert spec.zh.endswith("。"), spec.name
        for name, schema in spec.parameters.get("properties", {}).items():
            assert "the same" not in schema.get("description", ""), (spec.name, name)
        most = 300 if spec.name == "plan" else 250  # the steps of a plan are objects
        assert tool_tokens([spec]) <= most, (spec.name, tool_tokens([spec]))


def _needs() -> Any:
    file = Path(__file__).parents[2] / "benchmarks" / "disclosure" / "needs.py"
    spec = spec_from_file_location("needs", file)
    assert spec is not None
    assert spec.loader is not None
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize(("name", "first"), [("NEEDS", 0), ("NEEDS", 30), ("FRESH", 0), ("FRESH", 30)])
async def test_nine_needs_of_ten_find_their_tool_among_three(work: Path, name: str, first: int) -> None:
    async with opened(work, Cast([Say("x")])) as app:
        registry = await registry_of(app)
    needs = getattr(_needs(), name)[first : first + 30]
    missed = [need for need, wanted in needs if not {s.name for s in best(registry.shelf, need, 3)} & set(wanted)]
    assert len(missed) <= 3, missed
