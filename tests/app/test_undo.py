"""Undo, redo and rewind over an App: what is recorded, what the model is told, who else is left alone."""

from __future__ import annotations

import sqlite3
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import anyio
import anyio.lowlevel
import pytest

from gongfu.core.errors import UserError
from gongfu.core.events import AnswerReceived, MessageAdded, WarningRaised
from gongfu.core.guarded import CheckpointTaken, FilesRestored
from gongfu.models.scripted import Call, Match, Say
from gongfu.store.contents import CheckpointRow, Contents

from .undoing import Bench, events, picture

pytestmark = pytest.mark.anyio


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    return Bench(tmp_path)


def shell(command: str, answer: str = "Done.") -> list[Any]:
    return [Call("shell", {"command": command}), Say(answer)]


def rows(bench: Bench) -> list[CheckpointRow]:
    contents = Contents.open(bench.home / "checkpoints.sqlite")
    try:
        return contents.rows()
    finally:
        contents.close()


async def test_one_checkpoint_before_the_first_change_and_one_after_the_last(bench: Bench) -> None:
    bench.write("a", "one\n")
    steps = [Call("write_file", {"path": "b", "content": "b"}), *shell("echo two > a"), Say("Nothing to do.")]
    async with bench.app(*steps) as app:
        session = await bench.turn(app, "First.")
        first, second = events(app, session, CheckpointTaken)
        assert (first.when, second.when, first.turn) == ("before", "after", second.turn)
        assert (first.files, second.files, second.changed) == (1, 2, 2)
        await bench.turn(app, "Second.", session)
        assert len(events(app, session, CheckpointTaken)) == 2
        assert {row.id for row in rows(bench)} == {first.checkpoint, second.checkpoint}


async def test_a_turn_that_changed_nothing_leaves_no_checkpoint(bench: Bench) -> None:
    bench.write("a")
    async with bench.app(*shell("cp a b; rm b; touch a"), *shell("echo > b")) as app:
        session = await bench.turn(app, "Nothing.")
        assert rows(bench) == []
        assert [e.when for e in events(app, session, CheckpointTaken)] == ["before"]
        await bench.turn(app, "Something.", session)
        assert [row.when for row in rows(bench)] == ["after", "before"]
        assert (await app.undo()).marks == {"b": "-"}


async def test_the_model_is_told_in_its_next_request_behind_what_it_had(bench: Bench) -> None:
    bench.write("a", "one\n")
    bench.write("gone")
    async with bench.app(*shell("echo two > a; rm gone; echo > new"), Say("I see.")) as app:
        session = await bench.turn(app, "Change it.")
        given = await app.undo()
        assert given.marks == {"a": "~", "gone": "+", "new": "-"}
        (note,) = [e.message for e in events(app, session, MessageAdded) if "undid" in e.message.text]
        assert note.kind == "note"
        assert all(
            word in note.text for word in ("Change it.", "a, gone (back again), new (deleted)", "Read files again")
        )
        await bench.turn(app, "Go on.", session)
        before, after = [[m.text for m in seen.messages] for seen in bench.models[0].requests[-2:]]
        assert after[: len(before)] == before
        assert note.text in after[-2] + after[-1]
        assert after[-1].endswith("Go on.")


async def test_the_same_through_a_session_that_was_closed(bench: Bench) -> None:
    bench.write("a", "one\n")
    session = await bench.play("Change it.", *shell("echo two > a"))
    async with bench.app() as app:
        assert (await app.undo(session)).done
    async with bench.app(Say("I see.", expect=Match(contains="undid the file changes"))) as app:
        await bench.turn(app, "Go on.", session)
    assert (bench.root / "a").read_text() == "one\n"


async def test_what_the_model_read_before_an_undo_is_stale(bench: Bench) -> None:
    bench.write("a", "one\n")
    write = Call("write_file", {"path": "a", "content": "three\n"})
    steps = [Call("read_file", {"path": "a"}), Call("write_file", {"path": "a", "content": "two\n"}), Say("Done.")]
    refused = Match(tool_result_contains="chang")
    async with bench.app(*steps, write, Say("So I read it again.", expect=refused)) as app:
        session = await bench.turn(app, "Change it.")
        await app.undo()
        await bench.turn(app, "Write it.", session)
    assert (bench.root / "a").read_text() == "one\n"


async def test_the_changes_of_a_sub_agent_go_with_the_turn(bench: Bench) -> None:
    bench.write("a", "one\n")
    before = picture(bench.root)
    steps = [
        Call("task", {"task": "Write sub files."}),
        Call("shell", {"command": "echo sub > sub; rm a"}, when=Match(last_contains="Write sub files.")),
        Say("The report.", when=Match(tool_result_contains="no output", lacks="Do it all.")),
        Say("All done."),
    ]
    async with bench.app(*steps) as app:
        session = await bench.turn(app, "Do it all.")
        assert (bench.root / "sub").exists()
        assert len(events(app, session, CheckpointTaken)) == 2
        assert {row.session for row in rows(bench)} == {session}
        await app.undo()
        assert picture(bench.root) == before


async def test_two_sessions_side_by_side(bench: Bench) -> None:
    bench.write("shared", "0\n")
    async with bench.app(*shell("echo 1 > one; echo 1 > shared")) as app:
        one = await bench.turn(app, "One.")
        async with bench.app(*shell("echo 2 > two; echo 2 > shared")) as other:
            two = await bench.turn(other, "Two.")
        given = await app.undo(one)
        assert given.marks == {"one": "-"}
        assert given.kept == ("shared",)
        assert (bench.root / "shared").read_text() == "2\n"
        assert (bench.root / "two").exists()
    async with bench.app() as app:
        assert (await app.undo(two)).marks == {"shared": "~", "two": "-"}
        assert (bench.root / "shared").read_text() == "1\n"
        assert (await app.checkpoints())[0] == two


async def test_what_another_session_changed_while_a_turn_ran_is_kept(bench: Bench) -> None:
    for name in ("read", "one", "two", "both"):
        bench.write(name, "0\n")
    steps = [
        Call("read_file", {"path": "one"}),
        Call(
            "shell", {"command": "touch began; while [ ! -e done ]; do read -t 0.05 < /dev/zero; done; rm began done"}
        ),
        Call("write_file", {"path": "one", "content": "1\n"}),
        *shell("echo 1 > made; echo 1 > both"),
    ]
    other_steps = shell(
        "echo 2 > two; echo 2 > both; echo 2 > new; while [ ! -e began ]; do read -t 0.05 < /dev/zero; done"
    )
    async with bench.app(*steps) as app, anyio.create_task_group() as group:
        ids: list[str] = []

        async def one() -> None:
            ids.append(await bench.turn(app, "One."))

        group.start_soon(one)
        two = await bench.play("Two.", *other_steps)
        (bench.root / "done").touch()
        while not ids:
            await anyio.lowlevel.checkpoint()
        given = await app.undo(ids[0])
        assert given.marks == {"made": "-", "one": "~"}
        assert given.kept == ("both", "new", "two")
        assert (bench.root / "two").read_text() == (bench.root / "new").read_text() == "2\n"
        assert (bench.root / "both").read_text() == "1\n"
    async with bench.app() as app:
        given = await app.undo(two)  # the other one ran all the while: who made these nobody can tell
        assert (given.done, given.kept) == (False, ("both", "new", "two"))
        await app.undo(two, force=True)
        assert (bench.root / "two").read_text() == "0\n"


async def test_a_session_that_is_busy_is_left_alone(bench: Bench) -> None:
    bench.write("a", "one\n")
    async with bench.app(*shell("echo two > a"), Say("x")) as app:
        session = await bench.turn(app, "Change it.")
        async with bench.app() as other:
            with pytest.raises(UserError) as error:
                await other.undo(session)
            assert error.value.key == "engine.session_busy"
    assert (bench.root / "a").read_text() == "two\n"


async def test_a_fork_can_undo_what_its_origin_did(bench: Bench) -> None:
    bench.write("a", "one\n")
    async with bench.app(*shell("echo two > a"), *shell("echo three > a")) as app:
        origin = await bench.turn(app, "First.")
        fork = await (await app.session(origin)).fork()
        await bench.turn(app, "In the fork.", fork.id)
        assert [d.turn.title for d in (await app.checkpoints(fork.id))[1].deeds] == ["First.", "In the fork."]
        assert [d.turn.title for d in (await app.checkpoints(origin))[1].deeds] == ["First."]
        assert await app.delete(origin) == [origin]
        await app.undo(fork.id)
        assert (bench.root / "a").read_text() == "two\n"
        await app.undo(fork.id)
        assert (bench.root / "a").read_text() == "one\n"
        assert await app.delete(fork.id) == [fork.id]
    assert rows(bench) == []


async def test_deleting_a_session_deletes_its_checkpoints(bench: Bench) -> None:
    bench.write("a", "one\n")
    async with bench.app(*shell("echo secret-words > a"), *shell("echo other > b")) as app:
        first = await bench.turn(app, "First.")
        second = await bench.turn(app, "Second.")
        await app.delete(first)
        assert {row.session for row in rows(bench)} == {second}
        await app.delete(second)
    assert rows(bench) == []
    contents = Contents.open(bench.home / "checkpoints.sqlite")
    assert contents.sweep() == 0
    contents.close()


async def test_redo_only_until_a_turn_changes_files(bench: Bench) -> None:
    bench.write("a", "one\n")
    async with bench.app(*shell("echo two > a"), Say("Only words."), *shell("echo three > b")) as app:
        session = await bench.turn(app, "First.")
        with pytest.raises(UserError) as error:
            await app.redo()
        assert error.value.key == "undo.nothing_undone"
        await app.undo()
        await bench.turn(app, "Only words.", session)
        await app.redo()
        assert (bench.root / "a").read_text() == "two\n"
        await app.undo()
        await bench.turn(app, "Another change.", session)
        with pytest.raises(UserError) as error:
            await app.redo()
        assert error.value.key == "undo.changed_since"
        assert (await app.undo()).marks == {"b": "-"}
        with pytest.raises(UserError) as error:
            await app.undo()
        assert error.value.key == "undo.nothing_left"


async def test_a_plan_that_is_refused_changes_nothing(bench: Bench) -> None:
    bench.write("a", "one\n")
    shown: list[Any] = []
    async with bench.app(*shell("echo two > a; echo > b")) as app:
        session = await bench.turn(app, "Change it.")
        before = picture(bench.root)
        given = await app.undo(agree=lambda plan: shown.append(plan) or False)
        assert shown == [given]
        assert (given.done, given.marks) == (False, {"a": "~", "b": "-"})
        assert picture(bench.root) == before
        assert events(app, session, FilesRestored) == []
        assert len(rows(bench)) == 2


async def test_nothing_is_recorded_when_all_was_changed_by_somebody_else(bench: Bench) -> None:
    bench.write("a", "one\n")
    async with bench.app(*shell("echo two > a")) as app:
        session = await bench.turn(app, "Change it.")
        bench.write("a", "mine\n")
        given = await app.undo()
        assert (given.done, given.kept) == (False, ("a",))
        assert events(app, session, FilesRestored) == []
        assert (await app.undo(force=True)).done
        assert (bench.root / "a").read_text() == "one\n"
        await app.redo()
        assert (bench.root / "a").read_text() == "mine\n"


async def test_ignored_files_that_a_command_changed_are_named(bench: Bench) -> None:
    bench.write(".gitignore", "*.log\n")
    bench.write("x.log", "old")
    bench.write("y.log", "old")
    steps = [Call("read_file", {"path": "x.log"}), Call("write_file", {"path": "x.log", "content": "new"})]
    async with bench.app(*steps, *shell("echo new > y.log; echo > z")) as app:
        session = await bench.turn(app, "Log.")
        assert events(app, session, CheckpointTaken)[-1].uncovered == ("y.log",)
        assert events(app, session, WarningRaised) == []
        given = await app.undo()
        assert given.marks == {"x.log": "~", "z": "-"}
        assert given.uncovered == ("y.log",)
        assert (bench.root / "x.log").read_text() == "old"
        assert (bench.root / "y.log").read_text() == "new\n"


async def test_rules_of_git_that_a_turn_changes_lose_nothing(bench: Bench) -> None:
    bench.write(".gitignore", "hidden\n")
    bench.write("hidden", "of the person")
    bench.write("plain", "plain")
    before = picture(bench.root)
    async with bench.app(*shell("echo plain > .gitignore; echo x >> plain")) as app:
        await bench.turn(app, "Turn the rules round.")
        assert (bench.root / "plain").read_text() == "plainx\n"
        await app.undo()
        assert picture(bench.root) == before


async def test_a_store_that_cannot_be_written_ends_no_turn(bench: Bench) -> None:
    bench.write("a", "one\n")
    bench.home.mkdir()
    (bench.home / "checkpoints.sqlite").mkdir()
    steps = [Call("shell", {"command": "echo two > a"}), *shell("echo three > a"), *shell("echo four > a")]
    async with bench.app(*steps) as app:
        session = await bench.turn(app, "Change it.")
        (warning,) = events(app, session, WarningRaised)
        assert warning.key == "undo.not_kept"
        assert events(app, session, CheckpointTaken) == []
        (bench.home / "checkpoints.sqlite").rmdir()
        await bench.turn(app, "Again.", session)
        assert [e.when for e in events(app, session, CheckpointTaken)] == ["before", "after"]
        await app.undo()
    assert (bench.root / "a").read_text() == "three\n"


async def test_a_nested_repository_and_git_settings_are_nothing_to_it(bench: Bench) -> None:
    git = ["git", "-c", "user.name=t", "-c", "user.email=t@localhost"]
    bench.write("inner/f", "one\r\n")
    bench.write("f", "one\r\n")
    for folder in (bench.root / "inner", bench.root):
        subprocess.run([*git, "init", "-q"], cwd=folder, check=True)
        subprocess.run([*git, "config", "core.autocrlf", "input"], cwd=folder, check=True)
        subprocess.run([*git, "config", "core.fsmonitor", "touch ran"], cwd=folder, check=True)
        subprocess.run([*git, "add", "f"], cwd=folder, check=True)
    for folder in (bench.root / "inner", bench.root):
        (folder / "ran").unlink(missing_ok=True)
    before = picture(bench.root)
    async with bench.app(*shell("rm -r inner/f f; echo > inner/g")) as app:
        await bench.turn(app, "Change it.")
        await app.undo()
        assert picture(bench.root) == before


async def test_rewind_goes_back_with_talk_and_files(bench: Bench) -> None:
    bench.write("a", "one\n")
    steps = [*shell("echo two > a"), *shell("echo three > a; echo > b"), Say("Words."), Say("Otherwise.")]
    async with bench.app(*steps) as app:
        session = await bench.turn(app, "First.")
        for prompt in ("Second: change\nmore.", "Third."):
            await bench.turn(app, prompt, session)
        old = list(app.journal.read(session))
        given = await app.rewind(to=2)
        assert (given.number, given.prompt, given.origin) == (2, "Second: change\nmore.", session)
        assert given.marks == {"a": "~", "b": "-"}
        assert (bench.root / "a").read_text() == "two\n"
        assert list(app.journal.read(session)) == old
        assert app.sessions()[0].id == given.session != session
        talk = await app.session(given.session)
        assert talk.queue == ()
        said = [m.text for m in talk.messages if m.kind == "" and m.role == "user"]
        assert said == ["First."]
        await bench.turn(app, "Second, put otherwise.", given.session)
        sent = [m.text for m in bench.models[0].requests[-1].messages]
        assert not any("Second: change" in text or "Third" in text for text in sent)
        await app.redo(given.session)
        assert (bench.root / "a").read_text() == "three\n"
        assert (bench.root / "b").exists()


async def test_rewind_of_the_talk_or_of_the_files_alone(bench: Bench) -> None:
    bench.write("a", "one\n")
    async with bench.app(*shell("echo two > a"), *shell("echo three > a")) as app:
        session = await bench.turn(app, "First.")
        await bench.turn(app, "Second.", session)
        given = await app.rewind(session, to=1, files=False)
        assert (bench.root / "a").read_text() == "three\n"
        assert (given.done, given.marks) == (True, {})
        assert [m for m in (await app.session(given.session)).messages if m.kind == ""] == []
        given = await app.rewind(session, to=1, talk=False)
        assert (given.session, given.origin) == (session, "")
        assert (bench.root / "a").read_text() == "one\n"
        assert [d.undone for d in (await app.checkpoints(session))[1].deeds] == [True, True]
        await app.redo(session)
        assert (bench.root / "a").read_text() == "three\n"
        with pytest.raises(UserError) as error:
            await app.rewind(session, to=7)
        assert error.value.key == "undo.no_prompt"


async def test_rewind_keeps_what_a_person_changed_in_between(bench: Bench) -> None:
    bench.write("a", "one\n")
    bench.write("b", "one\n")
    async with bench.app(*shell("echo two > a; echo two > b"), *shell("echo four > b")) as app:
        session = await bench.turn(app, "First.")
        bench.write("b", "three, by hand\n")
        await bench.turn(app, "Second.", session)
        given = await app.rewind(to=1)
        assert given.kept == ("b",)
        assert (bench.root / "a").read_text() == "one\n"
        assert (bench.root / "b").read_text() == "three, by hand\n"
        talk = await app.session(given.session)
        assert any("Left as they are" in m.text and "b" in m.text for m in talk.messages)


async def test_all_files_as_a_checkpoint_has_them(bench: Bench) -> None:
    bench.write("a", "one\n")
    before = picture(bench.root)
    async with bench.app(*shell("echo two > a"), *shell("echo > c")) as app:
        session = await bench.turn(app, "First.")
        await bench.turn(app, "Second.", session)
        bench.write("mine", "mine")
        after = picture(bench.root)
        first = (await app.checkpoints())[1].deeds[0]
        given = await app.restore(first.before)
        assert picture(bench.root) == before
        assert given.marks == {"a": "~", "c": "-", "mine": "-"}
        assert all(deed.undone for deed in (await app.checkpoints())[1].deeds)
        await app.redo()
        assert picture(bench.root) == after
        assert not any(deed.undone for deed in (await app.checkpoints())[1].deeds)


async def test_parallel_calls_wait_for_one_checkpoint(bench: Bench) -> None:
    from gongfu.models.scripted import Calls

    for n in range(8):
        bench.write(f"f{n}", "old")
    before = picture(bench.root)
    calls = Calls(tuple(Call("write_file", {"path": f"n/{n}", "content": "new"}) for n in range(8)))
    async with bench.app(calls, *shell("rm f?")) as app:
        session = await bench.turn(app, "Write.")
        assert len(events(app, session, CheckpointTaken)) == 2
        await app.undo()
        assert picture(bench.root) == before


async def test_a_file_outside_of_the_workspace_is_named(bench: Bench, tmp_path: Path) -> None:
    outside = tmp_path / "outside.txt"
    async with bench.app(Call("write_file", {"path": str(outside), "content": "x"}), Say("Done.")) as app:
        session = await bench.turn(app, "Write outside.")
        before = events(app, session, CheckpointTaken)[0]
        assert before.uncovered == (str(outside),)
        (warning,) = events(app, session, WarningRaised)
        assert (warning.key, warning.values) == ("undo.partly_kept", {"paths": str(outside)})
        assert outside.read_text() == "x"


async def test_the_files_of_gongfu_itself_are_never_kept(bench: Bench) -> None:
    bench.write("a", "one\n")
    bench.home = bench.root / ".gongfu"
    async with bench.app(*shell("echo two > a"), *shell("cp a b; rm b")) as app:
        session = await bench.turn(app, "Change it.")
        await bench.turn(app, "Change nothing.", session)
        assert [row.when for row in rows(bench)] == ["after", "before"]
        assert (await app.undo()).marks == {"a": "~"}
        assert (await app.redo()).marks == {"a": "~"}
    async with bench.app(*shell("echo x > x"), root=bench.home) as app:
        session = await bench.turn(app, "In the home.")
        assert [e.key for e in events(app, session, WarningRaised)][-1:] == ["undo.not_kept"]


async def test_a_turn_that_is_cancelled_does_not_wait_for_its_checkpoint(bench: Bench) -> None:
    bench.write("a", "one\n")
    await bench.play("Make the store.", *shell("echo two > a"))
    contents = sqlite3.connect(bench.home / "checkpoints.sqlite", isolation_level=None)
    async with bench.app(Call("shell", {"command": "echo three > a"}), *shell("echo four > a")) as app:
        talk = await app.session()
        contents.execute("BEGIN IMMEDIATE")
        prompted = await talk.prompt("Change it.")
        async with talk.stream.subscribe(0) as entries:
            async for entry in entries:
                if isinstance(entry.event, AnswerReceived):
                    break
        began = time.monotonic()
        await talk.cancel()
        assert (await prompted.result()).status == "cancelled"
        assert time.monotonic() - began < 5  # the store waits for ten seconds
        assert (bench.root / "a").read_text() == "two\n"
        contents.execute("ROLLBACK")
        await bench.turn(app, "Change it again.", talk.id)
        assert [d.turn.title for d in (await app.checkpoints(talk.id))[1].deeds] == ["Change it again."]
    contents.close()


async def test_a_folder_that_is_too_large_is_kept_in_part(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    from gongfu.workspace.checkpoint import Limits, take

    monkeypatch.setattr(sys.modules[take.__module__], "Limits", lambda: Limits(files=3))
    for n in range(5):
        bench.write(f"f{n}", "old")
    steps = [Call("read_file", {"path": "f0"}), Call("write_file", {"path": "f0", "content": "new"})]
    async with bench.app(*steps, *shell("echo new > f1")) as app:
        session = await bench.turn(app, "Change it.")
        assert [w.key for w in events(app, session, WarningRaised)] == ["undo.narrow"]
        assert (await app.undo()).marks == {"f0": "~"}
        assert (bench.root / "f1").read_text() == "new\n"
