"""The App at its edges: closed sessions, locks, folders whose names are no text, a log that cannot be written."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from pathlib import Path

import anyio
import pytest

import gongfu
from gongfu.core.errors import UsageError, UserError
from gongfu.models.scripted import Say, Scripted
from gongfu.workspace.locks import FileLock

pytestmark = pytest.mark.anyio


def opened(work: Path, *steps: object, **options: object) -> gongfu.App:
    env = {"PATH": os.environ["PATH"], "HOME": str(work.parent)}
    home = work.parent / "home"
    return gongfu.open(work, home=home, env=env, providers={"scripted/scripted": Scripted(steps)}, **options)  # type: ignore[arg-type]


@pytest.fixture
def work(tmp_path: Path) -> Path:
    (tmp_path / "work" / ".git").mkdir(parents=True)
    return tmp_path / "work"


async def run(session: gongfu.app.Session, text: str) -> str:
    with anyio.fail_after(10):
        return (await (await session.prompt(text))).text


async def test_a_closed_session_can_be_opened_again_by_its_id(work: Path) -> None:
    async with opened(work, Say("One."), Say("Two.")) as app:
        first = await app.session()
        assert await run(first, "Go") == "One."
        await first.close()
        again = await app.session(first.id)
        assert again is not first
        assert await run(again, "On") == "Two."
        assert [m.text for m in again.messages if m.role == "assistant"] == ["One.", "Two."]
        assert await app.session(first.id) is again


async def test_a_session_that_another_process_has_open_is_left_alone(work: Path) -> None:
    async with opened(work, Say("One.")) as app:
        session = await app.session()
        await run(session, "Go")
    lock = FileLock(work.parent / "home" / "locks" / f"{session.id}.lock")
    assert lock.try_acquire()
    async with opened(work) as app:
        for attempt in (app.session(session.id), app.session(latest=True), app.delete(session.id)):
            with pytest.raises(UserError, match="another process"):
                await attempt
        lock.release()
        assert await app.delete(session.id) == [session.id]
        assert app.sessions() == []


async def test_a_session_that_cannot_be_read_stays_free(work: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async with opened(work, Say("One."), Say("Two.")) as app:
        session = await app.session()
        await run(session, "Go")
        id = session.id
    async with opened(work, Say("Two.")) as app:
        read = app.journal.read

        def damaged(*args: object, **kw: object) -> Iterator[object]:
            raise UserError("store.damaged", path="x", reason="y")

        monkeypatch.setattr(app.journal, "read", damaged)
        with pytest.raises(UserError, match="damaged"):
            await app.session(id)
        monkeypatch.setattr(app.journal, "read", read)
        assert await run(await app.session(id), "On") == "Two."


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere names are text")
async def test_a_folder_whose_name_is_no_text_can_be_worked_in(work: Path) -> None:
    odd = Path(os.fsdecode(os.fsencode(work.parent) + b"/caf\xe9"))
    (odd / ".git").mkdir(parents=True)
    async with opened(odd, Say("One.")) as app:
        assert await run(await app.session(), "Go") == "One."
    async with opened(odd, Say("Two.")) as app:
        assert await run(await app.session(latest=True), "On") == "Two."
    async with opened(work) as app:
        assert app.sessions() == []


async def test_a_current_folder_that_was_deleted_is_told(work: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    gone = work.parent / "gone"
    gone.mkdir()
    monkeypatch.chdir(gone)
    gone.rmdir()
    with pytest.raises(UsageError, match="current folder is not there"):
        gongfu.open(home=work.parent / "home", env={"PATH": os.environ["PATH"]})


async def test_an_error_of_the_caller_comes_out_as_it_is(work: Path) -> None:
    async def use() -> None:
        async with opened(work, Say("One.")) as app:
            await run(await app.session(), "Go")
            await app.session("s_nope")

    with pytest.raises(UserError, match="no session"):
        await use()


async def test_a_log_that_cannot_be_written_makes_nothing_worse(work: Path) -> None:
    app = opened(work)
    (work.parent / "home").mkdir()
    (work.parent / "home" / "logs").write_text("in the way")
    assert app.report("details").name == "faults.log"
