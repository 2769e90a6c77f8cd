"""Rewind: back to before an earlier prompt, with talk and files."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec.structs import replace

from gongfu.app.deeds import Story, Turn
from gongfu.app.give_back import Agree, Given, give_back, preview, told
from gongfu.app.halfway import cut_off
from gongfu.app.undo import open_talk, read_story, stepping
from gongfu.core.errors import UsageError, UserError
from gongfu.core.events import AnyEvent, PromptDropped

if TYPE_CHECKING:
    from gongfu.app.app import App
    from gongfu.engine.session import Session


async def rewind(
    app: App,
    session: str = "",
    *,
    to: int = 0,
    talk: bool = True,
    files: bool = True,
    force: bool = False,
    agree: Agree | None = None,
) -> Given:
    """Go back to before the prompt number `to` (0: the last), with talk and files, or only one of them.

    `session` as for `undo`, but "" is the one that was last active here. The talk goes on in a new session that ends
    there; the old one stays as it is. UserError when there is nothing to go back to, or the session is busy.
    """
    here = await open_talk(app, session, changed=False)
    place, past = await read_story(app, here.id)
    target = _target(past, to, here.id)
    deeds = [d for d in reversed(past.deeds) if files and d.turn.seq >= target.seq and not d.undone]
    steps = stepping(app, place, here.id, deeds)
    given = Given(
        action="rewind", session=here.id, turns=tuple(d.turn for d in deeds), prompt=target.text, number=target.number
    )
    half = await cut_off(app, place, here.id) if deeds else ""
    if agree is not None:
        shown = await preview(place, steps, given, force=force, cut_off=half) if deeds else given
        if not agree(shown):
            return shown
    if talk:
        again = await here.fork(target.seq - 1)
        again.stream.emit(*(PromptDropped(prompt=prompt.prompt) for prompt in again.queue))
        given = replace(given, session=again.id, origin=here.id)
        here = again
    if not deeds:
        return replace(given, done=True)
    return await _with_files(app, here, await give_back(place, steps, given, force=force, cut_off=half), talk)


async def _with_files(app: App, here: Session, outcome: tuple[Given, list[AnyEvent]], talk: bool) -> Given:
    """Record what became of the files; a talk that goes back with them needs no note of what it never saw."""
    del app
    done, events = outcome
    quiet = talk and not done.kept and not done.failed
    if events:
        here.stream.emit(*events, *(() if quiet else (told(done),)))
    elif talk:
        here.stream.emit(told(done))
    return replace(done, done=bool(events) or talk)


def _target(past: Story, to: int, session: str) -> Turn:
    prompts = {turn.number: turn for turn in past.turns if turn.text}
    if not prompts:
        raise UserError("undo.no_prompts", session=session)
    turn = prompts.get(to or max(prompts))
    if turn is None:
        raise UsageError("undo.no_prompt", number=to, last=max(prompts), session=session)
    return turn
