"""Hooks of a project that is trusted: they may only tighten, and they run only as they were trusted."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import anyio
import pytest

from gongfu.core.events import HookRan, QuestionAsked, ToolFinished, ToolStarted, WarningRaised
from gongfu.engine.session import Session
from gongfu.models.scripted import Call, Calls, Say

from .hooks import HEAD, Place, prompt, shown, stored

pytestmark = pytest.mark.anyio
WRITE = Call("write_file", {"path": "new.txt", "content": "x"})
OTHER = Call("write_file", {"path": "other.txt", "content": "x"})
ALLOW = "print(json.dumps({'decision': 'allow'}))"


@pytest.fixture
def place(tmp_path: Path) -> Place:
    return Place(tmp_path)


class Project:
    """The hooks of the folder of `place`, each a script in it."""

    def __init__(self, place: Place) -> None:
        self._place = place
        self.folder = place.work / ".gongfu"
        self.folder.mkdir()
        self._hooks: list[Any] = []

    def hook(self, event: str, body: str = "", *, at: str = ".gongfu/guard.py", **more: Any) -> Path:
        path = self._place.work / at
        path.parent.mkdir(exist_ok=True)
        log = str(self._place.home.parent / "hooks.jsonl")
        path.write_text(HEAD.format(log=log, name=path.stem) + body)
        self._hooks.append({"event": event, "command": [sys.executable, "-S", at], **more})
        (self.folder / "config.yaml").write_text(json.dumps({"hooks": self._hooks}))
        return path


def warned(app: Any, session: Session) -> list[str]:
    return [w.key for w in stored(app, session, WarningRaised) if w.key.startswith("hooks.")]


async def test_its_allow_does_not_count_and_that_is_said_once(place: Place) -> None:
    Project(place).hook("before_tool", ALLOW)
    app, _ = place.open(WRITE, OTHER, Say("ok"), permission="ask", trust=True)
    async with app:
        session = await app.session()
        await prompt(session)
        assert len(place.log) == 2
        assert len(stored(app, session, QuestionAsked)) == 2  # answered by nobody, so no
        assert warned(app, session) == ["hooks.no_allow"]
        assert [ran.decision for ran in stored(app, session, HookRan)] == ["", ""]
    assert not (place.work / "new.txt").exists()


@pytest.mark.parametrize("decision", ["deny", "ask"])
async def test_it_may_deny_and_ask_whatever_the_person_allows(place: Place, decision: str) -> None:
    place.hook("before_tool", ALLOW)
    Project(place).hook("before_tool", f"print(json.dumps({{'decision': {decision!r}}}))")
    app, _ = place.open(WRITE, Say("ok"), trust=True)
    async with app:
        await prompt(await app.session())
    assert not (place.work / "new.txt").exists()


@pytest.mark.parametrize("theirs", [True, False])
async def test_an_allow_of_the_person_is_not_for_arguments_that_a_project_puts_in(place: Place, theirs: bool) -> None:
    place.hook("before_tool", ALLOW, match="write_file")
    change = "print(json.dumps({'arguments': {'path': 'other.txt', 'content': 'y'}}))"
    if theirs:
        Project(place).hook("before_tool", change)
    else:
        place.hook("before_tool", change)
    app, _ = place.open(WRITE, Say("ok"), permission="ask", trust=True)
    async with app:
        session = await app.session()
        await prompt(session)
        assert len(stored(app, session, QuestionAsked)) == theirs
    assert not (place.work / "new.txt").exists()
    assert (place.work / "other.txt").exists() is not theirs


@pytest.mark.parametrize("at", [".gongfu/guard.py", "scripts/guard.py"])
@pytest.mark.parametrize("trust", [True, False], ids=["--trust", "remembered"])
async def test_a_script_that_changed_in_the_session_does_not_run(place: Place, at: str, trust: bool) -> None:
    project = Project(place)
    project.hook("after_tool", at=at)
    if not trust:
        from gongfu.app.trust import remember
        from gongfu.config.paths import Places
        from gongfu.permissions.trust import look

        remember(Places(home=place.home), place.work.resolve(), look(place.work.resolve(), own=place.home))
    changes = Call("shell", {"command": f"echo \"open('ran', 'w')\" > {at}"})
    look_at = Call("read_file", {"path": "a.txt"})
    app, _ = place.open(look_at, changes, look_at, look_at, Say("ok"), trust=trust)
    async with app:
        session = await app.session()
        await prompt(session)
        assert (place.work / at).read_text() == "open('ran', 'w')\n"
        assert len(stored(app, session, HookRan)) == len(place.log) == 1
        assert warned(app, session) == ["hooks.changed"]
    assert not (place.work / "ran").exists()


async def test_a_module_that_is_laid_beside_a_guard_is_not_loaded_and_the_call_is_asked_for(place: Place) -> None:
    Project(place).hook("before_tool", match="write_file")
    module = Call("shell", {"command": 'echo \'open("ran", "w")\' > .gongfu/json.py'})
    app, model = place.open(module, WRITE, Say("ok"), trust=True)
    async with app:
        session = await app.session()
        await prompt(session)
        assert warned(app, session) == ["hooks.changed"]
    assert (place.work / ".gongfu/json.py").exists()
    assert place.log == []
    assert not (place.work / "ran").exists()
    assert not (place.work / "new.txt").exists()
    assert "a hook asks for consent" in shown(model.requests[2].messages[-1])


async def test_hooks_of_the_person_run_on_whatever_changes_in_the_project(place: Place) -> None:
    place.hook("after_tool", name="mine")
    app, _ = place.open(Call("shell", {"command": "mkdir .gongfu; echo x > .gongfu/config.yaml"}), WRITE, Say("ok"))
    async with app:
        await prompt(await app.session())
    assert [told["hook"] for told in place.log] == ["mine", "mine"]


async def test_calls_whose_arguments_a_hook_may_change_go_one_after_the_other(place: Place) -> None:
    """Side by side go only calls that touch different things; a hook may make them touch the same."""
    place.hook(
        "before_tool",
        "open(event['tool_input']['path'] + '.seen', 'w').close()\n"
        "until = time.time() + 0.5\n"
        "while not (os.path.exists('b.seen') and os.path.exists('c.seen')) and time.time() < until: time.sleep(0.01)\n"
        "print(json.dumps({'arguments': {'path': 'same', 'content': 'by ' + event['tool_input']['path']}}))",
    )
    calls = Calls(tuple(Call("write_file", {"path": name, "content": name}) for name in "abc"))
    app, _ = place.open(calls, Say("ok"))
    async with app:
        session = await app.session()
        await prompt(session)
        courses = [
            (type(e.event).__name__, e.event.call)
            for e in app.journal.read(session.id)
            if isinstance(e.event, HookRan | ToolStarted | ToolFinished)
        ]
    order = [call for _, call in courses]
    assert order == sorted(order)
    assert len(set(order)) == 3
    assert (place.work / "same").read_text() == "by c"


async def test_calls_that_only_read_still_go_side_by_side(place: Place) -> None:
    """Each hook waits for the other one: in a row they never end."""
    place.hook(
        "before_tool",
        "open(event['tool_input']['path'] + '.seen', 'w').close()\n"
        "while not (os.path.exists('a.txt.seen') and os.path.exists('b.txt.seen')): time.sleep(0.01)",
    )
    (place.work / "b.txt").write_text("b")
    calls = Calls((Call("read_file", {"path": "a.txt"}), Call("read_file", {"path": "b.txt"})))
    app, _ = place.open(calls, Say("ok"))
    async with app:
        with anyio.fail_after(30):
            assert (await prompt(await app.session())).text == "ok"
