"""Other sessions: opened again, begun anew, copied, named; and leaving."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import TYPE_CHECKING

import anyio

from gongfu.core.errors import UserError
from gongfu.surfaces.cli.render.numbers import money
from gongfu.surfaces.cli.style import clean, one_line
from gongfu.surfaces.cli.talk.face import Option, Pick

if TYPE_CHECKING:
    from gongfu.app import App, Session
    from gongfu.retrieval.history import Found
    from gongfu.store.sessions import SessionRow
    from gongfu.surfaces.cli.talk.talk import Talk

_LISTED = 200
_TITLE = 200
_PATIENCE = 10.0  # seconds that a turn gets to end when the person leaves


def ago(talk: Talk, moment: float) -> str:
    """How long ago that was, in a few words; a date where it is long."""
    passed = max(0.0, time.time() - moment)
    for limit, unit, key in ((3600, 60, "minutes"), (86_400, 3600, "hours"), (7 * 86_400, 86_400, "days")):
        if passed < 60:
            return talk.cli.say("talk_do.ago_now")
        if passed < limit:
            return talk.cli.say(f"talk_do.ago_{key}", count=int(passed // unit))
    return time.strftime("%Y-%m-%d", time.localtime(moment))


# --- /resume ---


async def resume(talk: Talk, args: str) -> None:
    """Open another session of this folder: named by its id or by words, or picked."""
    name = await (_named(talk, args) if args else _picked(talk))
    if not name:
        return
    if name == talk.session.id:
        talk.note(talk.cli.say("talk_do.same_session"))
        return
    if not await may_leave(talk):
        return
    session = await talk.app.session(name)  # another process may have it: then nothing is changed
    await talk.switch(session)
    title = one_line(session.title, 80) or talk.cli.say("talk_do.untitled")
    talk.note(talk.cli.say("talk_do.resumed", session=session.id, title=title))


def complete_resume(talk: Talk, args: str) -> Sequence[Option]:
    """The sessions of this folder."""
    del args
    rows = [row for row in talk.app.sessions(limit=_LISTED) if row.id != talk.session.id]
    return tuple(_option(talk, row) for row in rows)


async def _picked(talk: Talk) -> str:
    rows = talk.app.sessions(limit=_LISTED)
    say = talk.cli.say
    if not any(row.id != talk.session.id for row in rows):
        talk.note(say("talk_do.no_others"))
        return ""
    start = 1 if rows[0].id == talk.session.id and len(rows) > 1 else 0
    options = tuple(_option(talk, row) for row in rows)
    pick = Pick(
        title=say("talk_do.which_session"), options=options, start=start, search=True, free=say("talk_do.find_words")
    )
    picked = await talk.face.pick(pick)
    if picked is None:
        return ""
    return picked.value or await _found(talk, picked.text)


async def _named(talk: Talk, words: str) -> str:
    """By its id or a part of it, by its title, or by what was said in it."""
    rows = talk.app.sessions(limit=-1)
    if " " not in words:
        with_id = [row for row in rows if row.id.startswith(words) or words in row.id]
        if len(with_id) == 1:
            return with_id[0].id
        try:
            return talk.app.rows.get(words).id  # perhaps one of another folder
        except UserError:
            pass
    titled = [row for row in rows if row.title.lower() == words.lower()]
    return titled[0].id if len(titled) == 1 else await _found(talk, words)


async def _found(talk: Talk, words: str) -> str:
    from gongfu.surfaces.cli.talk.commands.paper import apart

    def look(app: App) -> Sequence[Found]:
        return app.search(words, limit=50)

    say = talk.cli.say
    found = await apart(talk, look) if words.strip() else ()
    if not found:
        talk.note(say("talk_do.not_found", words=one_line(words, 60)))
        return ""
    options = tuple(
        Option(value=one.row.id, label=_title(talk, one.row), detail=f"{ago(talk, one.at)} · {one_line(one.snippet)}")
        for one in found
    )
    picked = await talk.face.pick(
        Pick(title=say("talk_do.found_sessions", words=one_line(words, 40)), options=options, search=True)
    )
    return picked.value if picked is not None else ""


def _option(talk: Talk, row: SessionRow) -> Option:
    say = talk.cli.say
    parts = [
        say("talk_do.current") if row.id == talk.session.id else "",
        ago(talk, row.updated),
        say("talk_do.turns_one" if row.turns == 1 else "talk_do.turns", count=row.turns) if row.turns else "",
        money(row.cost) if row.cost else "",
    ]
    return Option(value=row.id, label=_title(talk, row), detail=" · ".join(filter(None, parts)))


def _title(talk: Talk, row: SessionRow) -> str:
    return one_line(row.title, 80) or talk.cli.say("talk_do.untitled")


# --- leaving one for another ---


async def may_leave(talk: Talk) -> bool:
    """Whether this session may be closed: the person is asked when commands of it still run in the background."""
    running = await running_jobs(talk)
    if not running:
        return True
    say = talk.cli.say
    options = (
        Option(value="yes", label=say("talk_do.leave_yes"), key="y"),
        Option(value="no", label=say("talk_do.leave_no"), key="n"),
    )
    lines = tuple(f"  {one_line(job, 70)}" for job in running[:8])
    title = say("talk_do.leave_sure_one" if len(running) == 1 else "talk_do.leave_sure", count=len(running))
    picked = await talk.face.pick(Pick(title=title, options=options, lines=lines, start=1))
    if picked is None or picked.value != "yes":
        talk.note(say("talk_do.unchanged"))
        return False
    return True


async def running_jobs(talk: Talk) -> list[str]:
    """The commands that run in the background of this session, as its tools know them."""
    from gongfu.engine.aside import run_aside
    from gongfu.engine.attempt import Refused

    if talk.session.state.created is None:
        return []
    done = await run_aside(talk.session, "shell_job", {"action": "list"})
    items: list[str] = [] if isinstance(done, Refused) else [str(i) for i in (done.display or {}).get("items", [])]
    return [item.partition(": ")[2] for item in items if item.partition(" ")[2].startswith("running")]


def carry_over(old: Session, new: Session) -> None:
    """What was chosen for a session and is not in its log holds for the one that takes its place."""
    if new.permission != old.permission:
        new.set_permission(old.permission)
    for message in old.inbox.take():
        new.inbox.note(message)


# --- /clear ---


async def clear(talk: Talk, args: str) -> None:
    """A new session; model, mode, permission and effort stay as chosen. Words behind it are its title."""
    old = talk.session
    if old.state.turn is None and not old.state.transcript.messages:
        old.inbox.take()
        talk.face.clear()
    elif await may_leave(talk):
        await _anew(talk, old)
    else:
        return
    if args:
        await title(talk, args)
    talk.note(talk.cli.say("talk_do.cleared"))


async def _anew(talk: Talk, old: Session) -> None:
    new = await talk.app.session()
    try:
        if new.mode != old.mode:
            new.set_mode(old.mode)
        new.set_permission(old.permission)
        if old.state.model:
            await new.set_model(old.state.model)
        if old.state.reasoning:
            new.begin()
            new.overlay.think(old.state.reasoning)
    except UserError:
        await new.close()
        raise
    waiting = len(old.queue)
    talk.face.clear()
    await talk.switch(new)
    if waiting:
        talk.note(talk.cli.say("talk_do.queue_stays", count=waiting, session=old.id))
    talk.note(talk.cli.say("talk_do.old_session", session=old.id))


# --- /fork ---


async def fork(talk: Talk, args: str) -> None:
    """Go on in a copy; the one before stays as it is. Words behind it are the title of the copy."""
    old, say = talk.session, talk.cli.say
    if old.state.created is None:
        talk.note(say("talk_do.fork_empty"))
        return
    if not await may_leave(talk):
        return
    new = await old.fork()
    for one in new.queue:
        await new.cancel(one.prompt)
    carry_over(old, new)
    waiting = len(old.queue)
    await talk.switch(new)
    talk.note(say("talk_do.forked", session=new.id, origin=old.id))
    if waiting:
        talk.note(say("talk_do.queue_stays", count=waiting, session=old.id))
    if args:
        await title(talk, args)


# --- /title ---


async def title(talk: Talk, args: str) -> None:
    """Show the title, or give another."""
    session, say = talk.session, talk.cli.say
    wanted = " ".join(clean(args).split())[:_TITLE]
    if not wanted:
        known = one_line(session.title, _TITLE) or say("talk_do.untitled")
        talk.note(say("talk_do.title", title=known, session=session.id))
        return
    from gongfu.core.events import SessionTitled

    session.begin()
    session.stream.emit(SessionTitled(title=wanted))
    session.kit.sessions.set_title(session.id, wanted)
    talk.note(say("talk_do.titled", title=wanted))
    talk.face.wake()


# --- /quit ---


async def quit(talk: Talk, args: str) -> None:  # noqa: A001 - the name of the command
    """Leave; a turn that runs is stopped first."""
    del args
    with anyio.move_on_after(_PATIENCE):
        while talk.running:
            await talk.interrupt()
            await anyio.sleep(0.02)
    talk.face.leave()
