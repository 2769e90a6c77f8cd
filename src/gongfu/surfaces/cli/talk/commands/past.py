"""Back in time: files given back, and the talk taken up at an earlier prompt."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

import anyio

from gongfu.core.errors import UsageError, UserError
from gongfu.surfaces.cli.style import one_line
from gongfu.surfaces.cli.talk.commands.sessions import ago, carry_over, may_leave
from gongfu.surfaces.cli.talk.face import Option, Pick
from gongfu.surfaces.cli.width import wrap

if TYPE_CHECKING:
    from gongfu.app import App
    from gongfu.app.deeds import Turn
    from gongfu.app.give_back import Agree, Given
    from gongfu.app.kept_list import Line
    from gongfu.surfaces.cli.talk.talk import Talk

_OWN_WORDS = frozenset(["nothing", "nothing_left", "nothing_undone", "changed_since", "no_prompts"])
_SEEN = 0.05  # seconds in which the event of it is shown
_PREVIEW = 10  # lines of what would be given back
Work = Callable[..., "Awaitable[Given]"]


# --- /undo and /redo ---


async def undo(talk: Talk, args: str) -> None:
    """Give files back to how they were before the last turn that changed any, or the last N of them."""
    turns = args.strip() or "1"
    if not turns.isdecimal() or not 0 < int(turns) < 10_000:
        raise UsageError("talk_do.undo_number", given=one_line(args, 20))
    await _give(talk, partial(talk.app.undo, talk.session.id, turns=int(turns)), "talk_do.nothing")


async def redo(talk: Talk, args: str) -> None:
    """Take back the last undo."""
    if args:
        raise UsageError("talk_do.no_arguments", name="redo")
    await _give(talk, partial(talk.app.redo, talk.session.id), "talk_do.nothing_undone")


async def _give(talk: Talk, work: Work, empty: str) -> None:
    if talk.session.state.created is None:
        talk.note(talk.cli.say(empty))
        return
    shown = await _preview(work)
    force = await _agreed(talk, shown)
    if force is None:
        talk.note(talk.cli.say("talk_do.unchanged"))
        return
    given = await _in_own_words(work(force=force))
    await anyio.sleep(_SEEN)
    if _plain(given):
        names = ", ".join(one_line(turn.title, 60) or talk.cli.say("undo.went_on") for turn in given.turns)
        talk.note(talk.cli.say(f"talk_do.{given.action}_done", turns=names))
    else:
        _tell(talk, given)


def _plain(given: Given) -> bool:
    """Whether the line of its event tells all there is to say."""
    lasting = any(turn.lasting for turn in given.turns)
    return given.done and not (given.kept or given.failed or given.uncovered or lasting)


async def _in_own_words(waited: Awaitable[Given]) -> Given:
    """What it gives; errors that speak of the command line are told for a conversation."""
    try:
        return await waited
    except UserError as error:
        name = error.key.removeprefix("undo.")
        if error.key.startswith("undo.") and name in _OWN_WORDS:
            raise UserError(f"talk_do.{name}", exit_code=error.exit_code, **error.values) from error
        raise


async def _preview(work: Work) -> Given:
    """What it would do; nothing is touched."""
    seen: list[Given] = []

    def look(given: Given) -> bool:
        seen.append(given)
        return False

    agree: Agree = look
    await _in_own_words(work(agree=agree))
    return seen[0]


async def _agreed(talk: Talk, shown: Given) -> bool | None:
    """Whether what others changed since goes, too; None for no. Asks where much would change or something is kept."""
    from gongfu.surfaces.cli.undo import MANY

    if not (len(shown.marks) > MANY or shown.kept or shown.cut):
        return False
    say = talk.cli.say
    options: list[Option] = []
    if shown.marks or not shown.kept:
        options.append(Option(value="yes", label=say("talk_do.give_yes"), key="y"))
    if shown.kept:
        label = say("talk_do.give_force_one" if len(shown.kept) == 1 else "talk_do.give_force", count=len(shown.kept))
        options.append(Option(value="force", label=label, key="f"))
    options.append(Option(value="no", label=say("talk_do.give_no"), key="n"))
    pick = Pick(title=say("undo.sure"), options=tuple(options), lines=tuple(_lines(talk, shown, dry=True)))
    picked = await talk.face.pick(pick)
    if picked is None or picked.value not in ("yes", "force"):
        return None
    return picked.value == "force"


def _lines(talk: Talk, given: Given, *, dry: bool = False, head: bool = True) -> list[str]:
    """What is or would be given back; without its `head` only the files."""
    from gongfu.surfaces.cli.undo import lines

    columns = max(20, talk.face.size[0] - 4)
    told = lines(talk.cli, given, dry=dry, area="talk_do")[0 if head else 1 + len(given.turns) :]
    rows = [row for line in told for row in wrap(line, columns)]
    if not dry or len(rows) <= _PREVIEW + 1:
        return rows
    return [*rows[:_PREVIEW], f"  {talk.cli.say('undo.more', count=len(rows) - _PREVIEW)}"]


def _tell(talk: Talk, given: Given) -> None:
    if rows := _lines(talk, given):
        mark = talk.cli.out_style.green("✓") if given.done else talk.cli.out_style.yellow("!")
        talk.face.show("\n".join([f"{mark} {rows[0]}", *rows[1:]]))


# --- /rewind ---


async def rewind(talk: Talk, args: str) -> None:
    """Go back to before an earlier prompt: with talk and files, or one of them. Its text comes back into the input."""
    session, say = talk.session, talk.cli.say
    if session.state.created is None:
        talk.note(say("talk_do.no_prompts"))
        return
    from gongfu.surfaces.cli.talk.commands.paper import apart

    prompts, changed = await apart(talk, partial(_read, session.id))
    if not prompts:
        talk.note(say("talk_do.no_prompts"))
        return
    number = await _number(talk, args, prompts, changed)
    if number is None:
        return
    again = partial(talk.app.rewind, session.id, to=number)
    talk_and_files = await _preview(partial(again, talk=True, files=True))
    how = await _how(talk, talk_and_files)
    if how is None:
        return
    with_talk, with_files, force = how
    if with_talk and not await may_leave(talk):
        return
    given = await _in_own_words(again(talk=with_talk, files=with_files, force=force))
    await _arrive(talk, given)


def _read(session: str, app: App) -> tuple[list[Turn], list[Line]]:
    """The prompts, the newest first, and the turns that changed files and are not undone."""

    async def look() -> tuple[list[Turn], list[Line]]:
        from gongfu.app.kept_list import lines_of

        _, past = await app.checkpoints(session, changed=False)
        _, rows = await lines_of(app, session)
        return [turn for turn in reversed(past.turns) if turn.text], [r for r in rows if not r.deed.undone]

    return anyio.run(look)


async def _number(talk: Talk, args: str, prompts: Sequence[Turn], changed: Sequence[Line]) -> int | None:
    if args:
        if not args.isdecimal() or int(args) not in [turn.number for turn in prompts]:
            raise UsageError("talk_do.no_prompt", given=one_line(args, 20), last=prompts[0].number)
        return int(args)
    options = tuple(
        Option(value=str(turn.number), label=one_line(turn.title, 100), detail=_since(talk, turn, changed))
        for turn in prompts
    )
    picked = await talk.face.pick(Pick(title=talk.cli.say("talk_do.rewind_which"), options=options, search=True))
    return int(picked.value) if picked is not None and picked.value else None


def _since(talk: Talk, turn: Turn, changed: Sequence[Line]) -> str:
    rows = [row for row in changed if row.deed.turn.seq >= turn.seq]
    count = len(frozenset[str]().union(*(row.paths for row in rows)))  # many change in several turns
    key = "talk_do.since_none" if not count else "talk_do.since_one" if count == 1 else "talk_do.since"
    return f"{ago(talk, turn.time)} · {talk.cli.say(key, count=count)}"


async def _how(talk: Talk, shown: Given) -> tuple[bool, bool, bool] | None:
    """With the talk, with the files, and whether also what others changed since; None for not at all."""
    say = talk.cli.say
    options: list[Option] = []
    if shown.marks:
        options.append(Option(value="both", label=say("talk_do.rewind_both"), key="b"))
    options.append(
        Option(
            value="talk",
            label=say("talk_do.rewind_talk"),
            detail=say("talk_do.rewind_talk_detail") if shown.turns else "",
            key="t",
        )
    )
    if shown.marks:
        options.append(Option(value="files", label=say("talk_do.rewind_files"), key="f"))
    if shown.kept:
        label = say(
            "talk_do.rewind_force_one" if len(shown.kept) == 1 else "talk_do.rewind_force", count=len(shown.kept)
        )
        options.append(Option(value="force", label=label, key="a"))
    options.append(Option(value="no", label=say("talk_do.give_no"), key="n"))
    title = say("talk_do.rewind_how", prompt=one_line(shown.prompt, 60))
    lines = tuple(f"  {row}" for row in _lines(talk, shown, dry=True, head=False)) if shown.turns else ()
    picked = await talk.face.pick(Pick(title=title, options=tuple(options), lines=lines))
    choices = {"both": (True, True, False), "talk": (True, False, False), "files": (False, True, False)}
    if picked is None or picked.value not in (*choices, "force"):
        return None
    return choices.get(picked.value, (True, True, True))


async def _arrive(talk: Talk, given: Given) -> None:
    """Show what was done; the conversation goes on in the session that it led to."""
    old, say = talk.session, talk.cli.say
    told: dict[str, Any] = {"number": given.number, "origin": old.id}
    if given.origin:
        waiting = len(old.queue)
        new = await talk.app.session(given.session)
        carry_over(old, new)
        await talk.switch(new)
        if waiting:
            talk.note(say("talk_do.queue_stays", count=waiting, session=old.id))
    if given.turns and not _plain(given):
        _tell(talk, given)
    elif not given.origin:
        await anyio.sleep(_SEEN)
        talk.note(say("talk_do.files_rewound", number=given.number))
    if given.origin:
        talk.note(say("talk_do.rewound", **told))
        talk.face.put(given.prompt)
