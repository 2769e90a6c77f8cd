"""Work modes: an overlay on one session, enforced by the policy, that opens an epoch once when it changes."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from gongfu.core.errors import ConfigError, UsageError, UserError
from gongfu.core.events import EpochOpened, ModeChanged, QuestionAsked, ToolFinished
from gongfu.models.scripted import Call, Say
from tests.app.cast import Cast, opened, results, run, workplace

pytestmark = pytest.mark.anyio
EVERY = ("design", "develop", "devops", "docs", "review", "test")


@pytest.fixture
def work(tmp_path: Path) -> Path:
    folder = workplace(tmp_path)
    (folder / "src").mkdir()
    (folder / "src" / "m.py").write_text("def f():\n    return 1\n")
    return folder


async def tried(work: Path, mode: str, *calls: Any, **options: Any) -> list[ToolFinished]:
    """What becomes of calls in a mode; in "full" nothing but the mode stands in their way."""
    cast = Cast([*calls, Say("Done.")])
    async with opened(work, cast, **({"permission": "full", "mode": mode, "answers": "no"} | options)) as app:
        turn = await run(app)
        return turn.of(ToolFinished)


def write(path: str) -> Call:
    return Call("write_file", {"path": path, "content": "x\n"})


def sh(command: str) -> Call:
    return Call("shell", {"command": command})


FLOORS = [
    ("design", write("docs/decision.md"), "done", ""),
    ("design", write("plans/next.md"), "done", ""),
    ("design", write("src/new.py"), "refused", "design"),
    ("design", write("docs.py"), "refused", "design"),
    ("design", sh("ls"), "done", ""),
    ("design", sh("echo x > docs/a.md"), "refused", "design"),
    ("design", sh("python3 -c 'print(1)'"), "refused", "design"),
    ("develop", write("src/new.py"), "done", ""),
    ("develop", sh("echo x > y"), "done", ""),
    ("test", write("tests/test_m.py"), "done", ""),
    ("test", write("src/test_m.py"), "done", ""),
    ("test", write("pkg/m_test.go"), "done", ""),
    ("test", write("src/new.py"), "refused", "test"),
    ("test", write("testing.py"), "refused", "test"),
    ("test", sh("sed -i s/1/2/ src/m.py"), "refused", "test"),
    ("test", sh("python3 src/m.py"), "done", ""),
    ("review", Call("edit_file", {"path": "src/m.py", "old": "1", "new": "2"}), "failed", "review"),
    ("review", sh("grep -n f src/m.py"), "done", ""),
    ("review", sh("python3 src/m.py"), "done", ""),
    ("review", sh("echo x > y"), "refused", "review"),
    ("review", sh("rm src/m.py"), "refused", "review"),
    ("review", sh("git commit --allow-empty -m x"), "refused", "review"),
    ("docs", write("docs/a.md"), "done", ""),
    ("docs", write("README.md"), "done", ""),
    ("docs", write("src/m2.py"), "refused", "docs"),
    ("docs", sh("mv a.txt b.py"), "refused", "docs"),
    ("devops", sh("ls"), "done", ""),
    ("devops", write("deploy.yaml"), "done", ""),
    ("devops", sh("curl http://127.0.0.1:9/"), "refused", "devops"),
    ("devops", sh("sudo ls"), "refused", "devops"),
    ("devops", sh("touch ../outside"), "refused", "devops"),
]


@pytest.mark.parametrize(("mode", "call", "status", "named"), FLOORS, ids=lambda v: str(v)[:60])
async def test_the_floor_of_each_mode_holds_even_when_everything_is_permitted(
    work: Path, mode: str, call: Call, status: str, named: str
) -> None:
    (finished,) = await tried(work, mode, call)
    assert finished.result.status == status, finished.result.text
    if named:
        assert f"work mode {named}" in finished.result.text or f"{named} (" in finished.result.text
        assert (work / "src" / "m.py").read_text() == "def f():\n    return 1\n"


async def test_a_mode_takes_nothing_away_from_what_the_permission_mode_refuses(work: Path) -> None:
    for permission in ("ask", "plan"):
        for mode in EVERY:
            (finished,) = await tried(work, mode, write("src/new.py"), permission=permission)
            assert finished.result.status in ("refused", "failed")


async def test_a_rule_that_allows_does_not_lift_a_floor(work: Path) -> None:
    home = work.parent / "home"
    home.mkdir()
    (home / "config.yaml").write_text("permission: {allow: ['command(curl *)', shell, write_file]}\n")
    (finished,) = await tried(work, "devops", sh("curl http://127.0.0.1:9/"), permission="auto")
    assert finished.result.status == "refused"
    (finished,) = await tried(work, "docs", write("src/new.py"), permission="auto")
    assert finished.result.status == "refused"


async def test_what_a_mode_asks_for_runs_after_a_yes_and_the_question_names_the_mode(work: Path) -> None:
    cast = Cast([write("src/new.py"), Say("Done.")])
    asked: list[QuestionAsked] = []
    async with opened(work, cast, permission="full", mode="test") as app:
        session = await app.session()

        async def answer(event: Any) -> None:
            if isinstance(event, QuestionAsked):
                asked.append(event)
                await session.answer(event.question, "allow")

        async with session.stream.subscribe() as entries:
            prompted = await session.prompt("Go")
            async for entry in entries:
                await answer(entry.event)
                if entry.event.__class__.__name__ == "TurnFinished":
                    break
            await prompted.result()
    assert (work / "src" / "new.py").exists()
    assert asked[0].reason == "permissions.mode_elsewhere"
    assert "test" in asked[0].preview["about"]


async def test_instructions_and_tools_are_those_of_the_mode(work: Path) -> None:
    cast = Cast([Say("Done.")])
    async with opened(work, cast, mode="review") as app:
        await run(app)
    request = cast.asked[""][0]
    assert "# Work mode: review" in request.system
    names = [tool.name for tool in request.tools]
    assert "edit_file" not in names
    assert "write_file" not in names
    assert {"read_file", "shell", "find_tools", "use_tool", "ask_user"} <= set(names)


async def test_a_change_opens_one_epoch_and_the_prefix_is_reused_from_then_on(work: Path) -> None:
    cast = Cast([Say("One."), Say("Two."), sh("ls"), Say("Three."), Say("Four."), Say("Five.")])
    async with opened(work, cast, permission="full") as app:
        session = await app.session()
        for _ in range(2):
            await (await session.prompt("Go on"))
        assert session.set_mode("review")
        assert not session.set_mode("review")
        for _ in range(2):
            await (await session.prompt("Go on"))
        session.set_mode("")
        await (await session.prompt("Go on"))
        events = [e.event for e in app.journal.read(session.id)]
        receipts = app.receipts(session.id)
        title = [r for r in receipts if r.purpose == "main"]
    assert [e.reason for e in events if isinstance(e, EpochOpened)] == ["mode", "mode"]
    assert [e.mode for e in events if isinstance(e, ModeChanged)] == ["review", ""]
    assert [r.epoch for r in title] == [0, 0, 1, 1, 1, 2]
    assert [r.fold for r in title] == ["", "", "mode", "", "", "mode"]
    assert [bool(r.broke) for r in title] == [True, False, True, False, False, True]
    systems = [r.system for r in cast.asked[""]]
    assert systems[0] == systems[1] == systems[5]
    assert systems[2] == systems[3] == systems[4] != systems[0]


async def test_a_mode_chosen_before_the_first_prompt_opens_no_epoch(work: Path) -> None:
    cast = Cast([Say("One."), Say("Two.")])
    async with opened(work, cast, mode="design") as app:
        session = await app.session()
        assert session.mode == "design"
        for _ in range(2):
            await (await session.prompt("Go on"))
        kinds = [e.event.__class__.__name__ for e in app.journal.read(session.id)]
    assert kinds[0] == "SessionCreated"
    assert kinds.count("ModeChanged") == 1
    assert "EpochOpened" not in kinds


async def test_a_mode_survives_resume_and_fork_and_keeps_its_words_when_its_file_changes(work: Path) -> None:
    home = work.parent / "home"
    (home / "modes").mkdir(parents=True)
    file = home / "modes" / "careful.md"
    file.write_text("---\npermission: {elsewhere: deny}\n---\nBe careful.\n")
    cast = Cast([Say("One."), write("src/a.py"), Say("Two.")])
    async with opened(work, cast, permission="full", mode="careful") as app:
        session = await app.session()
        await (await session.prompt("Go on"))
        id = session.id
    file.write_text("---\n---\nBe wild.\n")
    async with opened(work, cast, permission="full") as app:
        session = await app.session(id)
        assert session.mode == "careful"
        await (await session.prompt("Go on"))
        fork = await session.fork()
        assert fork.mode == "careful"
        assert [e.mode for e in (e.event for e in app.journal.read(fork.id)) if isinstance(e, ModeChanged)] == [
            "careful"
        ]
    assert results(cast.asked[""][-1])[-1].status == "refused"
    assert {r.system for r in cast.asked[""]} == {cast.asked[""][0].system}
    assert "Be careful." in cast.asked[""][0].system


async def test_two_sessions_of_one_app_work_in_modes_of_their_own(work: Path) -> None:
    cast = Cast([write("src/a.py"), write("src/b.py"), Say("Done."), Say("Done.")])
    async with opened(work, cast, permission="full") as app:
        one, two = await app.session(), await app.session()
        one.set_mode("design")
        await (await one.prompt("Go"))
        await (await two.prompt("Go"))
        assert (one.mode, two.mode) == ("design", "")
    assert not (work / "src" / "a.py").exists()


async def test_a_sub_agent_works_under_the_floor_of_its_parent(work: Path) -> None:
    cast = Cast(
        [Call("task", {"task": "Deep work"}), Say("Done.")],
        Deep=[sh("echo x > y"), write("src/a.py"), Say("Tried.")],
    )
    async with opened(work, cast, permission="full", mode="review") as app:
        turn = await run(app)
        (child,) = turn.children
        ended = turn.of(ToolFinished, child)
        with pytest.raises(UserError):
            (await app.session(child)).set_mode("develop")
    assert [e.result.status for e in ended] == ["refused", "failed"]
    assert "# Work mode: review" in cast.asked["Deep"][0].system
    assert "write_file" not in [t.name for t in cast.asked["Deep"][0].tools]
    assert not (work / "y").exists()


async def test_the_person_tightens_in_the_middle_of_a_turn(work: Path) -> None:
    cast = Cast([write("src/a.py"), write("src/b.py"), Say("Done.")])
    async with opened(work, cast, permission="full") as app:
        session = await app.session()
        async with session.stream.subscribe() as entries:
            prompted = await session.prompt("Go")
            async for entry in entries:
                if isinstance(entry.event, ToolFinished):
                    break
            session.set_mode("design")
            await prompted.result()
        done = [e.event.result.status for e in app.journal.read(session.id) if isinstance(e.event, ToolFinished)]
    assert done == ["done", "refused"]


async def test_modes_of_a_project_count_only_when_it_is_trusted_and_cannot_loosen(work: Path) -> None:
    folder = work / ".gongfu" / "modes"
    folder.mkdir(parents=True)
    (folder / "ours.md").write_text("---\ndescription: Ours\n---\nDo as we do.\n")
    (folder / "review.md").write_text("---\ndescription: Wild\nreasoning: high\n---\nEdit all.\n")
    cast = Cast([sh("echo x > y"), Say("Done.")])
    with pytest.raises(UsageError, match="ours"):
        opened(work, cast, mode="ours")
    async with opened(work, cast, mode="ours", trust=True, permission="full") as app:
        assert app.modes.get("review").text == "Edit all."
        assert app.modes.get("review").reasoning == ""
    (finished,) = await tried(work, "review", sh("echo x > y"), trust=True)
    assert finished.result.status == "refused"
    async with opened(work, cast, trust=True) as app:
        (folder / "ours.md").write_text("---\ndescription: Ours\n---\nSomething else.\n")
        with pytest.raises(ConfigError):
            app.modes.get("ours")


@pytest.mark.parametrize(
    "text", ["---\nwrong: 1\n---\n", "---\nreasoning: much\n---\n", "---\n: : :\n---\n", "---\ntools: 5\n---\n",
             "---\npermission: {write: [a]}\n---\n", "---\npermission: {deny: ['((']}\n---\n"],
)  # fmt: skip
def test_a_mode_file_that_is_wrong_says_so(work: Path, text: str) -> None:
    folder = work.parent / "home" / "modes"
    folder.mkdir(parents=True)
    (folder / "odd.md").write_text(text)
    with pytest.raises(ConfigError, match=r"odd\.md"):
        opened(work, Cast([Say("x")]), mode="odd")


def test_an_unknown_mode_is_told_with_the_nearest(work: Path) -> None:
    with pytest.raises(UsageError, match="review"):
        opened(work, Cast([Say("x")]), mode="reveiw")


def test_the_modes_that_ship_are_these_six(work: Path) -> None:
    app = opened(work, Cast([Say("x")]))
    assert app.modes.names() == EVERY
    for name in EVERY:
        mode = app.modes.get(name)
        assert mode.description
        assert mode.zh
        assert len(mode.text) < 1200


async def test_a_mode_says_which_tools_are_offered_and_how_the_model_is_asked(work: Path) -> None:
    folder = work.parent / "home" / "modes"
    folder.mkdir(parents=True)
    (folder / "narrow.md").write_text(
        "---\ntools: [git, search, read_file]\nwithout: [git_push]\npin: [git_diff]\n"
        "reasoning: high\ntemperature: 0.25\ntop_p: 0.5\n---\nNarrow.\n"
    )
    cast = Cast(
        [
            Call("use_tool", {"name": "git_push", "arguments": {}}),
            Call("use_tool", {"name": "os_info"}),
            sh("ls"),
            Say("x"),
        ]
    )
    async with opened(work, cast, permission="full", mode="narrow", answers="no") as app:
        turn = await run(app)
        ended = turn.of(ToolFinished)
        shelf = turn.session.overlay.registry.shelf.names
    request = cast.asked[""][0]
    assert [t.name for t in request.tools] == [
        "ask_user", "find_files", "find_tools", "git_diff", "read_file", "recall", "search_text", "todo", "use_tool",
    ]  # fmt: skip
    assert "git_log" in shelf
    assert "mode" in shelf
    assert not {"git_push", "os_info", "settings"} & set(shelf)
    assert [e.result.status for e in ended] == ["failed"] * 3
    assert "work mode narrow" in ended[2].result.text
    assert (request.reasoning, request.temperature, request.top_p) == ("high", 0.25, 0.5)


async def test_a_mode_that_was_chosen_after_a_kill_is_the_same_in_the_next_request(work: Path) -> None:
    """The log alone says what stands in the request: also when the change came last before the end."""
    cast = Cast([Say("One."), Say("Two.")])
    async with opened(work, cast) as app:
        session = await app.session()
        await (await session.prompt("Go"))
        session.set_mode("design")
        id = session.id
    async with opened(work, cast) as app:
        session = await app.session(id)
        await (await session.prompt("On"))
        await (await session.prompt("On"))
        opened_ = [e.event.reason for e in app.journal.read(id) if isinstance(e.event, EpochOpened)]
    assert opened_ == ["mode"]
    assert "# Work mode: design" in cast.asked[""][1].system
