"""The course of a session: folding its context, going on after an interruption, and the prompts that wait."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from gongfu.core.errors import UsageError, UserError
from gongfu.core.messages import ImagePart
from gongfu.surfaces.cli.style import clean, one_line
from gongfu.surfaces.cli.talk.face import Option
from gongfu.surfaces.cli.width import clip

if TYPE_CHECKING:
    from gongfu.core.events import PromptQueued
    from gongfu.surfaces.cli.talk.talk import Talk

_VERBS = ("drop", "clear")


# --- /compact ---


async def compact(talk: Talk, args: str) -> None:
    """Fold the context now; what the person names is kept above all."""
    session, say = talk.session, talk.cli.say
    if session.state.created is None:
        talk.note(say("talk_do.compact_nothing"))
        return
    try:
        with talk.underway(say("talk_do.compacting"), lambda: talk.start(session.cancel)):
            event = await session.compact(" ".join(args.split()))
    except UserError as error:
        if error.key != "engine.cancelled":
            raise
        talk.note(say("talk_do.compact_stopped"))
        return
    if event is None:
        talk.note(say("talk_do.compact_nothing"))
        return
    from gongfu.surfaces.cli.compact import Folded, lines

    head, *more = lines(talk.cli, Folded(session=session.id, opened=event), area="talk_do")
    style = talk.cli.out_style
    talk.face.show("\n".join([f"{style.green('✓')} {head}", *(style.dim(row) for row in more)]))


# --- /continue ---


async def go_on(talk: Talk, args: str) -> None:
    """Go on with the turn that was interrupted, or with what waits; words behind it are a prompt of their own."""
    if args:
        raise UsageError("talk_do.no_arguments", name="continue")
    await talk.session.prompt("")


# --- /queue ---


async def queue(talk: Talk, args: str) -> None:
    """List the prompts that wait, drop one, or all."""
    say, session = talk.cli.say, talk.session
    verb, _, rest = args.partition(" ")
    waiting = session.queue
    match verb:
        case "":
            _list(talk, waiting)
        case "clear":
            for one in waiting:
                await session.cancel(one.prompt)
            talk.note(say("talk_do.queue_cleared", count=len(waiting)) if waiting else say("talk_do.queue_empty"))
        case "drop":
            number = rest.strip()
            if not waiting:
                talk.note(say("talk_do.queue_empty"))
                return
            if not number.isdecimal() or not 0 < int(number) <= len(waiting):
                raise UsageError("talk_do.queue_no_number", given=one_line(number, 20) or "-", last=len(waiting))
            one = waiting[int(number) - 1]
            await session.cancel(one.prompt)
            talk.note(say("talk_do.queue_dropped", text=one_line(one.typed, 60)))
        case _:
            raise UsageError("talk_do.unknown_word", given=one_line(args, 40), known="drop N, clear")
    talk.face.wake()


def complete_queue(talk: Talk, args: str) -> Sequence[Option]:
    """What can be done with it."""
    verb, blank, _ = args.partition(" ")
    if verb == "drop" and blank:
        return tuple(
            Option(value=f"drop {at}", label=f"drop {at}", detail=one_line(one.typed, 60))
            for at, one in enumerate(talk.session.queue, 1)
        )
    return tuple(Option(value=one, label=one, detail=talk.cli.say(f"talk_do.queue_{one}")) for one in _VERBS)


def _list(talk: Talk, waiting: Sequence[PromptQueued]) -> None:
    if not waiting:
        talk.note(talk.cli.say("talk_do.queue_empty"))
        return
    columns, style = talk.face.size[0] - 1, talk.cli.out_style
    rows = [clip(f"{at}. {one_line(one.typed)}", columns) for at, one in enumerate(waiting, 1)]
    talk.face.show("\n".join(["", *rows, style.dim(talk.cli.say("talk_do.queue_how"))]))


async def take_back(talk: Talk) -> str | None:
    """Take the newest prompt that waits out of the queue and give its text; None when there is none, or it has
    pictures, which cannot be typed again.
    """
    waiting = talk.session.queue
    if not waiting or any(isinstance(part, ImagePart) for part in waiting[-1].message.parts):
        return None
    text = clean(waiting[-1].typed)
    await talk.session.cancel(waiting[-1].prompt)
    talk.face.wake()
    return text
