"""The tools about Gongfu itself, each through the agent loop: mode, settings, models, reasoning, commands."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from gongfu.core.errors import ToolFailure
from gongfu.core.events import ModeChanged, QuestionAsked, ReasoningSet, ToolStarted
from gongfu.models.scripted import Call, Say
from tests.app.cast import REF, Cast, opened, results, run, workplace
from tests.toolkit.kit import Ctx
from tests.toolkit.loop import play

pytestmark = pytest.mark.anyio


@pytest.fixture
def work(tmp_path: Path) -> Path:
    return workplace(tmp_path)


def config(work: Path, text: str = "") -> Path:
    file = work.parent / "home" / "config.yaml"
    file.parent.mkdir(exist_ok=True)
    file.write_text(text)
    return file


async def one(work: Path, name: str, **args: Any) -> Any:
    return await play(work, (name, args))


async def answering(work: Path, answer: str, *calls: tuple[str, dict[str, Any]], **options: Any) -> Any:
    """The calls, every question of the turn answered in one way."""
    cast = Cast([*(Call("use_tool", {"name": n, "arguments": a}) for n, a in calls), Say("Done.")])
    async with opened(work, cast, **options) as app:
        session = await app.session()
        asked: list[QuestionAsked] = []

        def tap(event: Any) -> None:
            if isinstance(event, QuestionAsked):
                asked.append(event)
                session.kit.tasks.start_soon(session.answer, event.question, answer)

        session.stream.tap = tap
        await (await session.prompt("Go"))
        await (await session.prompt("On"))
        events = [e.event for e in app.journal.read(session.id)]
    return results(cast.asked[""][-1]), asked, events, cast.asked[""]


# --- mode ---


async def test_mode_lists_and_is_proposed_to_the_person(work: Path) -> None:
    found, asked, events, requests = await answering(
        work, "switch", ("mode", {}), ("mode", {"name": "review", "reason": "A change is there."}), ("mode", {})
    )
    assert found[0].text.startswith("The work mode is none.")
    assert "review: Read a change" in found[0].text
    assert len(asked) == 1
    assert "from none to review" in asked[0].text
    assert "A change is there." in asked[0].text
    assert [(e.mode, e.by) for e in events if isinstance(e, ModeChanged)] == [("review", "model")]
    assert found[2].text.startswith("The work mode is review.")
    assert "# Work mode: review" not in requests[1].system
    assert "# Work mode: review" in requests[2].system  # from the very next request on


@pytest.mark.parametrize("answer", ["stay", "no", "", "not now", "perhaps switch"])
async def test_mode_is_not_switched_without_a_yes(work: Path, answer: str) -> None:
    found, _, events, _ = await answering(work, answer, ("mode", {"name": "review"}))
    assert "stays none" in found[0].text
    assert not any(isinstance(e, ModeChanged) for e in events)


async def test_mode_is_not_switched_where_nobody_is(work: Path) -> None:
    played = await play(work, ("mode", {"name": "review"}), ("mode", {"name": "develp"}), answers="no")
    assert "nobody is there" in played.results[0].text
    assert played.results[1].status == "failed"
    assert "develop" in played.results[1].text
    assert not any(isinstance(e, ModeChanged) for e in played.events)


async def test_a_sub_agent_proposes_no_mode(work: Path) -> None:
    cast = Cast(
        [Call("task", {"task": "Deep work", "tools": ["mode"]}), Say("Done.")],
        Deep=[Call("mode", {"name": "docs"}), Say("x")],
    )
    async with opened(work, cast, permission="full") as app:
        await run(app)
    assert "sub-agent" in results(cast.asked["Deep"][-1])[0].text


# --- settings ---


async def test_settings_are_listed_read_and_changed_with_comments_kept(work: Path) -> None:
    file = config(work, "# mine\nlimits:\n  max_steps: 7  # enough\n")
    played = await play(
        work,
        ("settings", {"name": "limits"}),
        ("settings", {"action": "get", "name": "limits.max_steps"}),
        ("settings", {"action": "set", "name": "limits.max_steps", "value": "9"}),
        ("settings", {"action": "history"}),
        ("settings", {"action": "unset", "name": "limits.max_steps"}),
    )
    texts = [r.text for r in played.results]
    assert "limits.max_steps = 7" in texts[0]
    assert "retention" not in texts[0]
    assert texts[1] == "limits.max_steps = 7"
    assert "is set in" in texts[2]
    assert "config" in texts[3]
    assert [r.status for r in played.results] == ["done"] * 5
    assert file.read_text().startswith("# mine\n")
    assert "max_steps" not in file.read_text()


async def test_a_setting_is_changed_only_with_consent_in_every_mode_but_full(work: Path) -> None:
    file = config(work, "limits: {max_steps: 7}\n")
    call = ("settings", {"action": "set", "name": "permission.mode", "value": "full"})
    for permission in ("plan", "ask", "edits", "auto"):
        played = await play(work, call, permission=permission, answers="no")
        assert played.status == "refused"
        assert file.read_text() == "limits: {max_steps: 7}\n"
    found, asked, _, _ = await answering(work, "allow", call, permission="auto")
    assert found[0].status == "done"
    assert "permission.mode: auto → full" in asked[0].preview["text"]
    assert "mode: full" in file.read_text()


async def test_secrets_are_neither_shown_nor_set(work: Path) -> None:
    file = config(work, "providers: {p: {base_url: 'http://127.0.0.1:9', api_key: sk-abcdefghijklmnopqrstuv123456}}\n")
    before = file.read_text()
    played = await play(
        work,
        ("settings", {}),
        ("settings", {"action": "get", "name": "providers.p.api_key"}),
        ("settings", {"action": "get", "name": "providers"}),
        ("settings", {"action": "set", "name": "providers.p.api_key", "value": "sk-zzzzzzzzzzzzzzzzzzzzzz123456"}),
        ("models", {}),
        ("config_path", {}),
        model=REF,
    )
    assert not any("abcdefghijklmnop" in r.text for r in played.results)
    assert [r.status for r in played.results] == ["done", "done", "done", "failed", "done", "done"]
    assert file.read_text() == before


@pytest.mark.parametrize(
    "args",
    [{"action": "get"}, {"action": "get", "name": "limits.max_stepz"}, {"action": "set", "name": "limits.max_steps"},
     {"action": "set", "name": "limits.max_steps", "value": "many"}, {"action": "set", "name": "\0", "value": "x"},
     {"action": "set", "name": "limits.max_steps", "value": "5", "config": "../x"}, {"action": "wreck"},
     {"name": "zzz"}, {"action": "get", "name": "a" * 100_000}],
)  # fmt: skip
async def test_bad_input_for_settings_changes_nothing(work: Path, args: dict[str, Any]) -> None:
    file = config(work, "limits: {max_steps: 7}\n")
    assert (await play(work, ("settings", args))).status == "failed"
    assert file.read_text() == "limits: {max_steps: 7}\n"


async def test_config_path_says_where_things_lie(work: Path) -> None:
    config(work)
    played = await one(work, "config_path")
    assert f"settings: {work.parent / 'home' / 'config.yaml'}\n" in played.text
    assert "project settings:" in played.text
    assert "(not there)" in played.text


# --- models, reasoning ---


async def test_models_tells_tests_and_lists(work: Path) -> None:
    played = await one(work, "models")
    assert "this session: scripted/scripted" in played.text
    played = await one(work, "models", action="list", provider="local")
    assert "lists nothing" in played.text
    played = await one(work, "models", action="list", provider="nobody")
    assert played.status == "failed"
    played = await one(work, "models", action="test", model="nobody/nothing")
    assert played.status == "failed"
    played = await one(work, "models", action="list")
    assert "provider is empty" in played.text


async def test_models_of_a_server_are_listed_over_the_network_by_permission(work: Path) -> None:
    from gongfu.models.scripted import serve
    from gongfu.models.scripted.script import Match

    async with serve([Say("Hello.", when=Match())]) as server:
        config(work, f"providers: {{p: {{base_url: '{server.base_url}', api_key: k}}}}\n")
        played = await play(work, ("models", {"action": "list", "provider": "p"}), model=REF)
        assert played.status == "done"
        assert "p/" in played.text
        played = await play(work, ("models", {"action": "test", "model": "p/scripted"}), model=REF)
        assert played.text.startswith("p/scripted\n")
        played = await play(
            work, ("models", {"action": "list", "provider": "p"}), model=REF, permission="ask", answers="no"
        )
        assert played.status == "refused"


async def test_reasoning_holds_for_the_session_and_survives_it(work: Path) -> None:
    cast = Cast([Call("use_tool", {"name": "reasoning", "arguments": {"effort": "on"}}), Say("One."), Say("Two.")])
    async with opened(work, cast, permission="ask", answers="no") as app:
        turn = await run(app)
        assert [e.effort for e in turn.of(ReasoningSet)] == ["medium"]
    async with opened(work, cast) as app:
        await (await (await app.session(turn.session.id)).prompt("On"))
    assert [r.reasoning for r in cast.asked[""]] == ["auto", "medium", "medium"]


async def test_reasoning_lasts_with_consent(work: Path) -> None:
    file = config(work, "# mine\n")
    call = ("reasoning", {"effort": "high", "lasting": True})
    assert (await play(work, call, permission="auto", answers="no")).status == "refused"
    played = await play(work, call, ("reasoning", {}))
    assert "reasoning: high" in played.text
    assert "reasoning: high" in file.read_text()
    assert file.read_text().startswith("# mine")
    assert (await one(work, "reasoning", effort="wild")).status == "failed"


# --- commands ---


async def test_commands_are_listed_shown_added_and_followed(work: Path) -> None:
    text = "---\ndescription: Greets\narguments: [who]\nmode: docs\n---\nGreet {{who}}. @a.txt !`echo $1 && cat b.txt`"
    played = await play(
        work,
        ("commands", {}),
        ("commands", {"action": "add", "name": "/say:hello", "text": text}),
        ("commands", {"action": "show", "name": "say:hello"}),
        ("commands", {"action": "run", "name": "say:hello", "arguments": "'$(touch made)'"}),
        ("commands", {"action": "add", "name": "say:hello", "text": "x"}),
    )
    texts = [r.text for r in played.results]
    assert "/review" in texts[0]
    assert (work.parent / "home" / "commands" / "say" / "hello.md").read_text() == f"{text}\n"
    assert "Greet {{who}}." in texts[2]
    assert "Greet $(touch made). a.txt $(touch made)\nbeta" in texts[3]
    assert "alpha" in texts[3]
    assert "work mode docs" in texts[3]
    assert not (work / "made").exists()
    assert played.results[4].status == "failed"


async def test_a_command_that_the_model_runs_or_adds_needs_what_its_lines_need(work: Path) -> None:
    folder = work.parent / "home" / "commands"
    folder.mkdir(parents=True)
    (folder / "wild.md").write_text("!`ls`\n!`touch made`")
    (folder / "secret.md").write_text("@.env")
    (work / ".env").write_text("KEY=sk-very-secret-value-123456\n")
    for name in ("wild", "secret"):
        played = await play(work, ("commands", {"action": "run", "name": name}), permission="ask", answers="no")
        assert played.status == "refused"
    played = await play(
        work, ("commands", {"action": "add", "name": "x", "text": "y"}), permission="auto", answers="no"
    )
    assert played.status == "refused"
    assert not (work / "made").exists()
    assert not (folder / "x.md").exists()
    found, asked, _, _ = await answering(work, "allow", ("commands", {"action": "run", "name": "wild"}))
    assert found[0].status == "done"
    assert any("touch made" in need["text"] for need in asked[0].preview["needs"])
    assert (work / "made").exists()


async def test_a_command_that_changes_after_it_was_judged_does_not_run(work: Path) -> None:
    file = work.parent / "home" / "commands" / "wild.md"
    file.parent.mkdir(parents=True)
    file.write_text("!`ls`")

    args = {"action": "run", "name": "wild"}
    async with opened(work, Cast([Say("Done.")])) as app:
        tool = (await app.session()).kit.registry.get("commands")
        assert tool is not None
        assert (await tool.facts(args)).command == "ls"
        file.write_text("!`touch made`")
        with pytest.raises(ToolFailure, match="not what it was"):
            await tool.run(args, Ctx())
    assert not (work / "made").exists()


@pytest.mark.parametrize(
    "args",
    [{"action": "show"}, {"action": "run", "name": "reveiw"}, {"action": "add", "name": "../x", "text": "y"},
     {"action": "add", "name": "x", "text": ""}, {"action": "add", "name": "x", "text": "a\0"},
     {"action": "add", "name": "x", "text": "---\nwrong: 1\n---\n"}, {"action": "run", "name": "explain\0"},
     {"action": "add", "name": "x", "text": "!`eval $1`"}, {"action": "add", "name": "x", "text": "a" * 300_000},
     {"action": "add", "name": "A" * 5000, "text": "y"}],
)  # fmt: skip
async def test_bad_input_for_commands_writes_nothing(work: Path, args: dict[str, Any]) -> None:
    played = await play(work, ("commands", args))
    assert played.status == "failed"
    assert not (work.parent / "home" / "commands").exists()
    assert not [e for e in played.events if isinstance(e, ToolStarted) and e.title == ""]
