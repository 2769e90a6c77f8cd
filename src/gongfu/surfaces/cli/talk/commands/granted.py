"""What was allowed for this project for good: shown, and taken back."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gongfu.core.errors import UsageError
from gongfu.store.grants import GrantBook
from gongfu.surfaces.cli.style import one_line
from gongfu.surfaces.cli.talk.commands.paper import give, wrapped

if TYPE_CHECKING:
    from gongfu.surfaces.cli.talk.talk import Talk


async def grants(talk: Talk) -> None:
    """A line each, with the number by which it is taken back."""
    say, root = talk.cli.say, str(talk.app.workspace.root)
    rows = GrantBook(talk.app.database).rows(root)
    if not rows:
        talk.note(say("talk_do.grants_none"))
        return
    lines = [row for g in rows for row in wrapped(talk, f"{g.number}. {g.tool}  {one_line(g.text)}", more=4)]
    await give(talk, [*lines, *wrapped(talk, say("talk_do.grants_how"), talk.cli.out_style.dim)])


async def revoke(talk: Talk, which: str) -> None:
    """Take back the one of that number, or `all`. What was allowed for this session only goes with it."""
    say, root = talk.cli.say, str(talk.app.workspace.root)
    book = GrantBook(talk.app.database)
    known = [row.number for row in book.rows(root)]
    if not known:
        talk.note(say("talk_do.grants_none"))
        return
    numbers = known if which == "all" else [int(one) for one in which.split() if one.isdecimal()]
    if not numbers or (which != "all" and len(numbers) != len(which.split())) or not set(numbers) <= set(known):
        raise UsageError("talk_do.grant_number", given=one_line(which, 40) or "-", known=", ".join(map(str, known)))
    count = book.forget(root, numbers)
    talk.session.grants.renew()
    talk.note(say("talk_do.revoked_one" if count == 1 else "talk_do.revoked", count=count))
