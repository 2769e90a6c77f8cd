"""The composition root through the Python API: what a program sees and what is left on disk."""

from __future__ import annotations

import os
from pathlib import Path

import anyio
import pytest

import gongfu
from gongfu.core.errors import UsageError, UserError
from gongfu.core.events import QuestionAnswered, ToolFinished
from gongfu.core.tokens import text_tokens
from gongfu.models.scripted import Call, Say, Scripted
from gongfu.resources import text
from gongfu.store.database import Database
from gongfu.store.journal import Journal

pytestmark = pytest.mark.anyio
REF = "scripted/scripted"


@pytest.fixture
def work(tmp_path: Path) -> Path:
    folder = tmp_path / "work"
    (folder / ".git").mkdir(parents=True)
    (folder / "sub").mkdir()
    (folder / "a.txt").write_text("alpha\n")
    return folder


def opened(work: Path, *steps: object, **options: object) -> tuple[gongfu.App, Scripted]:
    model = Scripted(steps)  # type: ignore[arg-type]
    given = {"home": work.parent / "home", "env": {"PATH": os.environ["PATH"], "HOME": str(work.parent)}} | options
    return gongfu.open(given.pop("directory", work), providers={REF: model}, **given), model  # type: ignore[arg-type]


async def run(app: gongfu.App, prompt: str, **kw: object) -> gongfu.app.TurnFinished:
    session = await app.session(**kw)  # type: ignore[arg-type]
    with anyio.fail_after(20):
        return await (await session.prompt(prompt))


async def test_opening_writes_and_sends_nothing(work: Path) -> None:
    app, model = opened(work)
    async with app:
        pass
    assert not (work.parent / "home").exists()
    assert model.requests == []


async def test_the_workspace_is_the_repository_and_the_tools_start_where_one_is(work: Path) -> None:
    app, model = opened(work, Call("shell", {"command": "pwd"}), Say("ok"), directory=work / "sub", yes=True)
    async with app:
        assert app.workspace.root == work.resolve()
        await run(app, "Where?")
    assert str(work / "sub") in model.requests[1].messages[-1].results[0].text
    note = model.requests[0].messages[0].text
    assert f"Working directory: {work / 'sub'}" in note
    assert f"Workspace root: {work}" in note


async def test_the_home_directory_is_refused_as_a_workspace(work: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(work.parent))
    with pytest.raises(UserError):
        opened(work, directory=work.parent)
    app, _ = opened(work, directory=work.parent, root=work.parent)
    assert app.workspace.root == work.parent.resolve()


@pytest.mark.parametrize(
    "options",
    [{"directory": "/nowhere/at/all"}, {"permission": "everything"}, {"config": "../x"}, {"config": "absent"}],
)
async def test_what_a_person_can_put_right_is_a_sentence(work: Path, options: dict) -> None:
    with pytest.raises(UsageError) as error:
        opened(work, **options)
    assert len(str(error.value)) > 20
    assert error.value.code == 2


async def test_yes_lets_the_workspace_be_changed_and_answers_no_to_the_rest(work: Path) -> None:
    (work / ".env").write_text("KEY=1")
    outside = work.parent / "outside.txt"
    steps = [
        Call("write_file", {"path": "new.txt", "content": "hello\n"}),
        Call("write_file", {"path": str(outside), "content": "no"}),
        Call("read_file", {"path": ".env"}),
        Call("shell", {"command": "cat .env"}),
        Call("write_file", {"path": ".git/config", "content": "[core]"}),
        Call("shell", {"command": "cat a.txt"}),
        Say("ok"),
    ]
    app, model = opened(work, *steps, yes=True)
    async with app:
        assert (await run(app, "Go")).status == "done"
        session = next(iter(app._open.values()))
        answers = [e.event for e in app.journal.read(session.id) if isinstance(e.event, QuestionAnswered)]
    results = [r for m in model.requests[-1].messages for r in m.results]
    assert [r.status for r in results] == ["done", "refused", "refused", "refused", "refused", "done"]
    assert (work / "new.txt").read_text() == "hello\n"
    assert not outside.exists()
    assert not (work / ".git/config").exists()
    assert "KEY=1" not in str(model.requests[-1].messages)
    assert {a.by for a in answers} == {"policy"}


async def test_plan_only_reads(work: Path) -> None:
    steps = [
        Call("read_file", {"path": "a.txt"}),
        Call("write_file", {"path": "b.txt", "content": "x"}),
        Call("shell", {"command": "touch c.txt"}),
        Say("ok"),
    ]
    app, model = opened(work, *steps, permission="plan")
    async with app:
        await run(app, "Go")
    results = [r.status for m in model.requests[-1].messages for r in m.results]
    assert results == ["done", "refused", "refused"]
    assert sorted(p.name for p in work.iterdir()) == [".git", "a.txt", "sub"]


async def test_keys_stay_out_of_commands(work: Path) -> None:
    env = {"PATH": os.environ["PATH"], "HOME": str(work.parent), "OPENAI_API_KEY": "sk-secret-123456", "PLAIN": "yes"}
    app, model = opened(work, Call("shell", {"command": "env"}), Say("ok"), yes=True, env=env)
    async with app:
        await run(app, "Go")
    shown = model.requests[1].messages[-1].results[0].text
    assert "PLAIN=yes" in shown
    assert "sk-secret" not in shown


async def test_a_long_output_is_read_again_from_its_artifact(work: Path) -> None:
    steps = [
        Call("shell", {"command": "seq 1 100000"}),
        lambda request: Call("recall", {"id": request.messages[-1].results[0].artifact, "offset": 50_000, "limit": 2}),
        Say("ok"),
    ]
    app, model = opened(work, *steps, yes=True)
    async with app:
        await run(app, "Go")
    first, second = (r for m in model.requests[-1].messages for r in m.results)
    assert len(first.text) < 40_000
    assert "50000" in second.text
    assert "50001" in second.text


async def test_sessions_are_listed_reopened_forked_and_deleted(work: Path) -> None:
    app, model = opened(work, Say("One."), Say("Two."), Say("Three."), permission="plan")
    async with app:
        session = await app.session()
        await (await session.prompt("The first task\nwith more"))
        (row,) = app.sessions()
        assert (row.id, row.title, row.turns) == (session.id, "The first task", 1)
        fork = await session.fork()
        assert fork.messages == session.messages
        await (await fork.prompt("In the fork"))
        assert len(fork.messages) == len(session.messages) + 2
        created = next(iter(app.journal.read(fork.id))).event
        assert (created.forked_from, created.forked_seq) == (session.id, session.stream.last)
    app, model = opened(work, Say("Three."), permission="plan")
    async with app:
        again = await app.session(session.id[-6:])
        assert [m.text for m in again.messages if m.kind != "note"] == ["The first task\nwith more", "One."]
        assert (await (await again.prompt("More"))).text == "Three."
        assert "One." in str(model.requests[0].messages)
        assert (await app.session(latest=True)).id == again.id
        await app.delete(fork.id)
        assert [r.id for r in app.sessions()] == [session.id]
        with pytest.raises(UserError):
            await app.session(fork.id)


async def test_a_session_without_a_prompt_leaves_nothing(work: Path) -> None:
    app, _ = opened(work, model="nobody/knows-this")
    async with app:
        session = await app.session()
        with pytest.raises(UserError):
            await session.prompt("Go")
        assert app.sessions() == []


async def test_one_session_is_open_once(work: Path) -> None:
    one, _ = opened(work, Say("x"))
    two, _ = opened(work, Say("x"))
    async with one, two:
        session = await one.session()
        await (await session.prompt("Go"))
        with pytest.raises(UserError, match="another process"):
            await two.session(session.id)


async def test_without_an_earlier_session_there_is_nothing_to_continue(work: Path) -> None:
    app, _ = opened(work)
    async with app:
        with pytest.raises(UserError, match="no earlier session"):
            await app.session(latest=True)


async def test_side_by_side_sessions_do_not_wait_for_each_other(work: Path) -> None:
    app, _ = opened(
        work, *(Call("shell", {"command": f"sleep 0.4; echo {i}"}) for i in range(4)), Say("ok", times=4), yes=True
    )
    async with app:
        with anyio.fail_after(3):
            async with anyio.create_task_group() as tasks:
                for i in range(4):
                    tasks.start_soon(run, app, f"task {i}")


async def test_leaving_the_app_ends_commands_and_turns(work: Path) -> None:
    app, _ = opened(work, Call("shell", {"command": "touch begun; sleep 30; touch survived"}), yes=True)
    with anyio.fail_after(10):
        async with app:
            session = await app.session()
            await session.prompt("Go")
            while not (work / "begun").exists():
                await anyio.lowlevel.checkpoint()
    with Database.open(work.parent / "home" / "gongfu.db") as database:
        (event,) = [e.event for e in Journal(database).read(session.id) if isinstance(e.event, ToolFinished)]
    assert event.result.status == "cancelled"
    assert not (work / "survived").exists()


def test_the_system_prompt_is_short_and_holds_nothing_that_changes() -> None:
    prompt = text("prompts/system.md")
    assert text_tokens(prompt) <= 600
    assert "{" not in prompt


async def test_a_session_has_the_core_tools(work: Path) -> None:
    app, _ = opened(work)
    async with app:
        specs = (await app.session()).kit.registry.specs
    assert [s.name for s in specs] == [
        "ask_user", "edit_file", "find_files", "find_tools", "list_files", "read_file", "recall", "search_text",
        "shell", "shell_job", "task", "todo", "use_tool", "web_fetch", "write_file",
    ]  # fmt: skip
