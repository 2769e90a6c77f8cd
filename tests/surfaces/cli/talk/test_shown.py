"""Commands of the conversation that show something."""

from __future__ import annotations

import re
from importlib import import_module
from pathlib import Path

import anyio
import pytest

from gongfu.core.words import talk_help, talk_tell
from gongfu.models.scripted import Call, Say
from gongfu.surfaces.cli.talk.commands.catalog import SLASHES, complete_of, run_of
from gongfu.surfaces.cli.talk.commands.help import GROUPS, KEYS
from gongfu.surfaces.cli.width import width
from tests.app.cast import Cast, workplace

from .faces import Conversation, Stub, conversation

pytestmark = pytest.mark.anyio
GOLDENS = Path(__file__).with_name("goldens")
SHOWN = (
    "context", "context 1", "context all", "cost", "status", "rules", "tools calendar", "tools the weather", "mcp",
    "todo", "todo ship", "agents", "jobs", "diff", "history 你好", "help", "help undo", "help review", "keys",
    "settings", "settings limits.max_steps", "view", "view full", "verbose", "verbose", "copy",
)  # fmt: skip


def worked() -> Cast:
    """A turn that leaves something for every command to show."""
    steps = [{"text": "build it"}, {"text": "try it", "check": "true"}]
    main = [
        Call("write_file", {"path": "new.py", "content": "print(1)\nprint('你好')\n"}),
        Call("todo", {"items": [{"text": "one", "status": "done"}, {"text": "二", "status": "in_progress"}]}),
        Call("plan", {"action": "create", "name": "ship", "goal": "Ship it", "steps": steps}),
        Call("task", {"task": "helper look around", "role": "scout"}),
        Call("shell", {"command": "sleep 50", "background": True}),
        Say("# Done\n\nIt is `fixed`. 你好"),
    ]
    return Cast(main, helper=[Say("seen")])


async def shown(talk: Conversation, line: str) -> str:
    """What a command shows; every line fits, and no word is missing in the catalogue."""
    text = await talk.do(line)
    columns = talk.stub.size[0]
    assert [row for row in text.split("\n") if width(row) > columns] == []
    assert "talk_tell." not in text
    return text


# --- the catalogue ---


@pytest.mark.parametrize("name", SLASHES)
def test_every_command_is_there_with_help_in_both_languages(name: str) -> None:
    import_module(f"gongfu.surfaces.cli.talk.commands.{SLASHES[name].module}")
    assert callable(run_of(name, SLASHES[name]))
    english, chinese = talk_help.TEXT[name]
    assert english != chinese
    assert 0 < width(chinese) <= 60
    assert 0 < len(english) <= 60


def test_every_command_stands_in_one_group_and_every_key_is_told() -> None:
    grouped = [name for _, names in GROUPS for name in names]
    assert sorted(grouped) == sorted(SLASHES)
    assert set(talk_help.TEXT) == set(SLASHES)
    assert all(f"key_{key.name}" in talk_tell.TEXT for key in KEYS)


def test_both_languages_say_the_same() -> None:
    for name, pair in {**talk_tell.TEXT, **talk_help.TEXT}.items():
        english, chinese = (set(re.findall(r"\{(\w+)", text)) for text in pair)
        assert english == chinese, name


@pytest.mark.parametrize("language", ["en", "zh"])
async def test_help_and_keys_look_as_they_should(tmp_path: Path, language: str) -> None:
    face = Stub()
    async with conversation(workplace(tmp_path), Cast([Say("x")]), face=face, language=language) as talk:
        for columns in (80, 40):
            face.size = (columns, 40)
            for command in ("help", "keys"):
                golden = GOLDENS / f"{command}-{language}-{columns}.txt"
                assert await shown(talk, f"/{command}") + "\n" == golden.read_text("utf-8")


# --- what they show ---


@pytest.mark.parametrize(("columns", "language"), [(80, "en"), (40, "zh")])
async def test_everything_is_shown_and_fits(tmp_path: Path, columns: int, language: str) -> None:
    work = workplace(tmp_path)
    (work / "AGENTS.md").write_text("# Rules\nBe kind.\n")
    face = Stub(columns=columns, rows=200)
    async with conversation(work, worked(), face=face, language=language, permission="full") as talk:
        early = {name: await shown(talk, f"/{name}") for name in ("context", "cost", "todo", "agents", "diff", "copy")}
        assert all(text and "✗" not in text for text in early.values())
        await talk.say("Do the work")
        seen = {name: await shown(talk, f"/{name}") for name in SHOWN}
        assert [name for name, text in seen.items() if not text or text.startswith("✗")] == []
        for name, slash in SLASHES.items():
            complete = complete_of(name, slash)
            assert complete is None or all(option.label for option in complete(talk, ""))
    assert re.search(r"AGENTS\.md\s.*6/6", seen["rules"], re.DOTALL)
    assert re.search(r"new\.py\s+\+2 -0", seen["diff"])
    assert "print('你好')" in seen["diff"]
    assert "agent-1 (scout)" in seen["agents"]
    assert re.search("j1 .*sleep 50", seen["jobs"])
    assert "☑ one" in seen["todo"]
    assert "s2: try it" in seen["todo ship"]
    assert talk.session.id in seen["history 你好"]
    assert "weather" in seen["tools the weather"]
    assert "scripted/scripted" in seen["status"]
    if language == "en":
        assert re.search(r"sub-agents +1 ", seen["cost"])
        assert "request 6 of 6" in seen["context"]
        assert "request 1 of 6" in seen["context 1"]
        assert "permission  full: does everything" in seen["status"]


async def test_what_cannot_be_is_said_in_a_sentence(tmp_path: Path) -> None:
    async with conversation(workplace(tmp_path), Cast([Say("ok")])) as talk:
        await talk.say("hello")
        for line in (
            "/context 9", "/rules forget", "/todo nothing", "/jobs start x", "/jobs stop", "/jobs stop j9",
            "/diff k_nothing", "/history", "/export a.docx", "/help nothing", "/view sideways", "/language fr",
            "/settings no.such", "/settings limits.max_steps many",
        ):  # fmt: skip
            assert re.match(r"✗ .{15,}[.…:]?", await talk.do(line)), line


async def test_they_work_while_a_turn_runs(tmp_path: Path) -> None:
    async with conversation(
        workplace(tmp_path), Cast([Call("shell", {"command": "sleep 60"})]), permission="full"
    ) as talk:
        await talk.do("wait for me")
        with anyio.fail_after(20):
            while not talk.session.state.started_calls:
                await anyio.sleep(0.005)
        assert "request 1 of 1" in await shown(talk, "/context")
        assert "This turn so far" in await shown(talk, "/cost")
        for name in ("status", "rules", "todo", "agents", "jobs", "diff", "help", "mcp"):
            assert not (await shown(talk, f"/{name}")).startswith("✗"), name
        assert "RULES_CHANGED" in await talk.do("/rules refresh")
        assert talk.session.running
        await talk.interrupt()
        await talk.idle()


async def test_a_job_is_stopped_by_hand(tmp_path: Path) -> None:
    cast = Cast([Call("shell", {"command": "echo begun; sleep 60", "background": True}), Say("ok")])
    async with conversation(workplace(tmp_path), cast, permission="full") as talk:
        await talk.say("go")
        assert "j1 running" in await talk.do("/jobs")
        assert "stopped" in await talk.do("/jobs stop j1")
        assert "j1 stopped" in await talk.do("/jobs")


# --- what leaves the conversation ---


async def test_an_export_replaces_nothing_unasked(tmp_path: Path) -> None:
    work = workplace(tmp_path)
    async with conversation(work, Cast([Say("It is **so**.")])) as talk:
        assert "nothing to export" in await talk.do("/export")
        await talk.say("Is it so?")
        assert "Wrote" in await talk.do("/export")
        assert "Wrote" in await talk.do("/export markdown")
        assert (work / "Is-it-so-2.md").is_file()
        assert "It is **so**." in (work / "Is-it-so.md").read_text()
        page = work / "my page.html"
        page.write_text("mine")
        talk.stub.picks = [None, "no", "yes"]
        for _ in range(2):
            assert "Nothing was changed" in await talk.do("/export html my page.html")
            assert page.read_text() == "mine"
        await talk.do("/export 'my page.html'")
        assert "<strong>so</strong>" in page.read_text()


async def test_the_last_answer_goes_to_the_terminal(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async with conversation(workplace(tmp_path), Cast([Say("*最后*")])) as talk:
        await talk.say("say it")
        written: list[str] = []
        monkeypatch.setattr(talk.cli.out, "write", written.append)
        assert "OSC 52" in await talk.do("/copy")
        talk.stub.drawn = False
        assert "no clipboard" in await talk.do("/copy")
    assert written == ["\x1b]52;c;KuacgOWQjio=\x07"]


async def test_a_prompt_takes_the_files_along_that_it_names(tmp_path: Path) -> None:
    cast = Cast([Say("ok")])
    async with conversation(workplace(tmp_path), cast) as talk:
        await talk.say("look at @a.txt")
        assert cast.asked[""][0].messages[-1].text == 'look at @a.txt\n\n<file path="a.txt">\n1|alpha\n</file>'
        assert "› look at @a.txt\n" in talk.stub.text
        assert "alpha" not in talk.stub.text
        assert talk.session.title == "look at @a.txt"


# --- rules ---


async def test_rules_are_classified_and_refreshed_after_a_review(tmp_path: Path) -> None:
    work = workplace(tmp_path)
    (work / "AGENTS.md").write_text("Be kind.\n")
    async with conversation(work, Cast([Say("ok")])) as talk:
        assert "first prompt pins" in await talk.do("/rules refresh")
        await talk.say("hello")
        assert "Nothing to refresh" in await talk.do("/rules refresh")
        talk.stub.picks = ["AGENTS.md", "mandatory"]
        assert "AGENTS.md is mandatory" in await talk.do("/rules classify")
        (work / "AGENTS.md").write_text("Be very kind.\n")
        before = talk.session.state.context.pinned
        talk.stub.picks = [None]
        told = await talk.do("/rules refresh")
        assert "+Be very kind." in told
        assert "Nothing was changed" in told
        assert talk.session.state.context.pinned == before
        talk.stub.picks = ["keep"]
        assert "revision 2" in await talk.do("/rules refresh")
        old, new = before.fingerprint[:12], talk.stub.asked[-1].title
        assert old in new
        assert "mandatory" in await talk.do("/rules")


async def test_rules_that_change_during_the_question_are_not_pinned(tmp_path: Path) -> None:
    work = workplace(tmp_path)
    rules = work / "AGENTS.md"
    rules.write_text("one\n")
    async with conversation(work, Cast([Say("ok")])) as talk:
        await talk.say("hello")
        rules.write_text("two\n")
        before = talk.session.state.context.pinned
        talk.stub.picks = [lambda _: (rules.write_text("three\n"), "yes")[1]]
        assert "REFRESH_STALE" in await talk.do("/rules refresh")
        assert talk.session.state.context.pinned == before


# --- looks and settings ---


async def test_language_and_view_change_at_once(tmp_path: Path) -> None:
    async with conversation(workplace(tmp_path), Cast([Say("ok")])) as talk:
        assert "现在起" in await talk.do("/language zh")
        assert "工作模式" in await talk.do("/status")
        assert "English" in await talk.do("/lang")
        assert not talk.view.compact
        await talk.do("/view")
        assert talk.view.compact
        await talk.do("/view full")
        assert not talk.view.compact
        was = talk.view.verbose
        await talk.do("/verbose")
        assert talk.view.verbose is not was


async def test_a_setting_is_shown_and_changed(tmp_path: Path) -> None:
    async with conversation(workplace(tmp_path), Cast([Say("ok")])) as talk:
        assert re.search("value +200", await talk.do("/settings limits.max_steps"))
        assert "next start" in await talk.do("/settings limits.max_steps 7")
        assert "max_steps: 7" in (tmp_path / "home" / "config.yaml").read_text()
        assert re.search("value +7", await talk.do("/settings limits.max_steps"))
        assert "/permission" in await talk.do("/config permission.mode plan")
        assert "limits.max_steps" in await talk.do("/settings")
