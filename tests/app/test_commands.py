"""Commands: a slash and a name become a prompt with bounds, the same on every surface."""

from __future__ import annotations

import subprocess
from pathlib import Path
from typing import Any

import pytest

from gongfu.core.errors import ConfigError, UsageError
from gongfu.core.events import PromptQueued, QuestionAsked, SessionTitled, ToolFinished
from gongfu.models.scripted import Call, Say, Scripted
from tests.app.cast import REF, Cast, opened, results, workplace

pytestmark = pytest.mark.anyio
BUILT_IN = ("commit", "explain", "init", "plan", "review", "test")


@pytest.fixture
def work(tmp_path: Path) -> Path:
    return workplace(tmp_path)


def command(work: Path, name: str, text: str, *, project: bool = False) -> Path:
    file = (work / ".gongfu" if project else work.parent / "home") / "commands" / f"{name}.md"
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text)
    return file


async def expanded(work: Path, text: str, **options: Any) -> Any:
    async with opened(work, Cast([Say("Done.")]), **({"answers": "no"} | options)) as app:
        return await app.expand(text, await app.session())


async def test_those_that_ship_are_these_six(work: Path) -> None:
    async with opened(work, Cast([Say("x")])) as app:
        assert tuple(c.name for c in app.commands()) == BUILT_IN
        assert all(c.description and c.zh for c in app.commands())


async def test_files_output_and_arguments_come_into_the_prompt(work: Path) -> None:
    command(
        work, "look", "---\narguments: [what, {name: how, default: well}]\n---\n{{what}} {{how}} @a.txt !`cat b.txt`"
    )
    found = await expanded(work, "/look it")
    assert found.prompt.startswith("it well a.txt beta")
    assert "alpha" in found.prompt
    assert found.bounds.command == "/look it"


async def test_a_missing_argument_is_told_with_the_usage(work: Path) -> None:
    command(work, "look", "---\narguments: [what, {name: how, default: well}]\n---\n{{what}}")
    with pytest.raises(UsageError, match=r"/look <what> \[how\]"):
        await expanded(work, "/look")


async def test_arguments_without_a_place_stand_behind_the_text(work: Path) -> None:
    command(work, "plain", "Do as ever.")
    assert (await expanded(work, "/plain but quickly")).prompt == "Do as ever.\n\nArguments: but quickly"


async def test_an_unknown_command_is_told_with_the_nearest_and_not_sent(work: Path) -> None:
    cast = Cast([Say("x")])
    async with opened(work, cast) as app:
        session = await app.session()
        with pytest.raises(UsageError, match="/review"):
            await app.prompt(session, "/reveiw src")
        assert session.state.created is None
    assert cast.asked[""] == []


@pytest.mark.parametrize("text", ["/etc/hosts is odd", "a /review", "/", "/ x", "/tmp is full", "// why"])
async def test_what_is_no_command_stays_as_it_is(work: Path, text: str) -> None:
    found = await expanded(work, text)
    assert (found.prompt, found.bounds) == (text, None)


async def test_folders_give_names_and_later_places_replace_earlier_ones(work: Path) -> None:
    command(work, "db/migrate", "Migrate $1")
    command(work, "review", "Mine.")
    command(work, "review", "Theirs.", project=True)
    command(work, "ship", "Ship.", project=True)
    assert (await expanded(work, "/db:migrate up")).prompt == "Migrate up"
    assert (await expanded(work, "/review")).prompt == "Mine."
    with pytest.raises(UsageError):
        await expanded(work, "/ship")
    assert (await expanded(work, "/review", trust=True)).prompt == "Theirs."
    assert (await expanded(work, "/ship", trust=True)).prompt == "Ship."


async def test_a_projects_command_that_changed_since_it_was_trusted_is_not_used(work: Path) -> None:
    file = command(work, "ship", "Ship.", project=True)
    async with opened(work, Cast([Say("x")]), trust=True) as app:
        file.write_text("Sink.")
        with pytest.raises(ConfigError):
            await app.expand("/ship", await app.session())


async def test_a_command_line_runs_by_permission_only(work: Path) -> None:
    command(work, "wild", "A !`touch made` B !`cat a.txt` C @.env")
    (work / ".env").write_text("KEY=sk-very-secret-value-123456\n")
    found = await expanded(work, "/wild")
    assert not (work / "made").exists()
    assert "was not run" in found.prompt
    assert "alpha" in found.prompt
    assert "very-secret" not in found.prompt
    await expanded(work, "/wild", permission="full")
    assert (work / "made").exists()


async def test_the_floor_of_its_mode_holds_for_its_own_lines(work: Path) -> None:
    command(work, "wild", "---\nmode: review\n---\n!`touch made`")
    found = await expanded(work, "/wild", permission="full")
    assert "work mode review" in found.prompt
    assert not (work / "made").exists()


async def test_the_person_is_asked_and_a_yes_runs_the_line(work: Path) -> None:
    command(work, "wild", "!`touch made && echo ran`")
    async with opened(work, Cast([Say("x")])) as app:
        session = await app.session()
        asked: list[QuestionAsked] = []

        def tap(event: Any) -> None:
            if isinstance(event, QuestionAsked):
                asked.append(event)
                session.kit.tasks.start_soon(session.answer, event.question, "allow")

        session.stream.tap = tap
        found = await app.expand("/wild", session)
    assert asked[0].tool == "shell"
    assert found.prompt == "ran"


async def test_no_argument_runs_anything(work: Path) -> None:
    command(work, "echo", '!`printf %s "$1" $ARGUMENTS` $ARGUMENTS @$1')
    found = await expanded(work, "/echo '$(touch made)' !`touch made` ; touch made", permission="full")
    assert not (work / "made").exists()
    assert "$(touch made)" in found.prompt


async def test_bounds_hold_for_one_turn(work: Path) -> None:
    command(work, "careful", "---\nmode: design\nallowed-tools: Read, Write, Bash(cat *)\n---\nBe careful.")
    ran = [
        Call("write_file", {"path": "x.py", "content": "x"}), Call("list_files", {}), Call("shell", {"command": "ls"}),
        Call("shell", {"command": "cat a.txt"}), Call("shell", {"command": "cat a.txt; ls"}),
        Call("write_file", {"path": "docs/x.md", "content": "x"}), Say("One."),
        Call("list_files", {}), Call("write_file", {"path": "x.py", "content": "x"}), Say("Two."),
    ]  # fmt: skip
    cast = Cast([*ran])
    async with opened(work, cast, permission="full") as app:
        session = await app.session()
        await (await app.prompt(session, "/careful now"))
        first = [e.event.result for e in app.journal.read(session.id) if isinstance(e.event, ToolFinished)]
        await (await app.prompt(session, "Go on"))
        every = [e.event.result for e in app.journal.read(session.id) if isinstance(e.event, ToolFinished)]
        titles = [e.event.title for e in app.journal.read(session.id) if isinstance(e.event, SessionTitled)]
    assert [r.status for r in first] == ["refused", "refused", "refused", "done", "refused", "done"]
    assert "/careful" in first[1].text
    assert [r.status for r in every[6:]] == ["done", "done"]
    assert titles[0] == "/careful now"
    assert len({r.system for r in cast.asked[""]}) == 1  # the prefix stays
    assert "work mode design holds" in next(m for m in cast.asked[""][0].messages if m.kind == "").text


async def test_bounds_of_an_earlier_turn_do_not_reach_the_lines_of_the_next(work: Path) -> None:
    command(work, "careful", "---\nallowed-tools: [read_file]\n---\nBe careful.")
    command(work, "look", "!`cat a.txt`")
    async with opened(work, Cast([Say("Done.")]), answers="no") as app:
        session = await app.session()
        await (await app.prompt(session, "/careful"))
        assert (await app.expand("/look", session)).prompt == "alpha"


async def test_prompts_that_wait_over_a_restart_ask_their_own_models(work: Path) -> None:
    command(work, "deep", "---\nmodel: scripted/other\n---\nThink.")
    (work.parent / "home" / "config.yaml").write_text(f"models: {{main: [{REF}]}}\n")
    asked: list[str] = []
    for restarted in (False, True):
        cast, other = Cast([Say("Main.")]), Scripted([Say("Other.")])
        import gongfu

        providers = {REF: cast.model, "scripted/other": other}
        env = {"PATH": "/usr/bin:/bin", "HOME": str(work.parent)}
        async with gongfu.open(work, home=work.parent / "home", env=env, providers=providers) as app:
            session = await app.session(latest=restarted)
            if not restarted:
                await app.prompt(session, "/deep")
                await app.prompt(session, "Plain.")
                continue  # the app ends before any turn begins
            assert len(session.queue) == 2
            await (await session.prompt(""))
            while session.running or session.queue:
                import anyio

                await anyio.sleep(0)
            asked = [m.text for m in session.messages if m.role == "assistant"]
    assert asked == ["Other.", "Main."]


async def test_a_turn_that_was_killed_goes_on_within_its_bounds(work: Path) -> None:
    command(work, "careful", "---\nallowed-tools: [read_file]\n---\nBe careful.")
    cast = Cast([Call("list_files", {}), Say("Never."), Say("x")])
    async with opened(work, cast, permission="full", max_steps=1) as app:
        session = await app.session()
        await (await app.prompt(session, "/careful"))
        id = session.id
    cast = Cast([Call("list_files", {}), Say("Done.")])
    async with opened(work, cast, permission="full") as app:
        session = await app.session(id)
        await (await session.prompt(""))
    assert results(cast.asked[""][-1])[-1].status == "refused"


async def test_a_model_of_its_own_is_asked_for_that_turn_alone(work: Path) -> None:
    command(work, "deep", "---\nmodel: scripted/other\n---\nThink.")
    cast, other = Cast([Say("Main.")]), Scripted([Say("Other.")])
    home = {"home": work.parent / "home", "env": {"PATH": "/usr/bin:/bin", "HOME": str(work.parent)}}
    import gongfu

    providers = {REF: cast.model, "scripted/other": other}
    settings = work.parent / "home" / "config.yaml"
    settings.write_text(f"models: {{main: [{REF}]}}\n")
    async with gongfu.open(work, providers=providers, **home) as app:
        session = await app.session()
        first = await app.prompt(session, "/deep")
        second = await app.prompt(session, "Plain.")
        assert (await first).text == "Other."
        assert (await second).text == "Main."


@pytest.mark.parametrize("text", ["---\nwrong: 1\n---\n", "!`eval $1`", "---\nallowed-tools: ['((']\n---\nx"])
async def test_a_file_that_is_wrong_says_so(work: Path, text: str) -> None:
    command(work, "odd", text)
    with pytest.raises(ConfigError, match=r"odd\.md"):
        await expanded(work, "/odd x")


async def test_init_writes_an_agents_md(work: Path) -> None:
    for args in (["init", "-q"], ["add", "-A"]):
        subprocess.run(["git", *args], cwd=work, check=True)
    cast = Cast([Call("write_file", {"path": "AGENTS.md", "content": "# Rules\n"}), Say("Written.")])
    async with opened(work, cast, permission="edits", answers="no") as app:
        session = await app.session()
        done = await (await app.prompt(session, "/init mind the tests"))
        queued = [e.event for e in app.journal.read(session.id) if isinstance(e.event, PromptQueued)]
    assert done.status == "done"
    assert (work / "AGENTS.md").read_text() == "# Rules\n"
    sent = queued[0].message.text
    assert "a.txt\nb.txt" in sent
    assert "Never delete a rule" in sent
    assert sent.rstrip().endswith("mind the tests")


@pytest.mark.parametrize("name", BUILT_IN)
async def test_each_that_ships_can_be_used_where_nothing_is_asked(work: Path, name: str) -> None:
    for args in (
        ["init", "-q"],
        ["add", "-A"],
        ["-c", "user.name=t", "-c", "user.email=t@t", "commit", "-qm", "Begin"],
    ):
        subprocess.run(["git", *args], cwd=work, check=True)
    (work / "a.txt").write_text("changed\n")
    found = await expanded(work, f"/{name} a.txt")
    assert "was not run" not in found.prompt
    assert "exit code" not in found.prompt
    assert "a.txt" in found.prompt
