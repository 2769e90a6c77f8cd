"""A task that starts with a slash: the command is looked up and filled in before anything is sent."""

from __future__ import annotations

from contextlib import suppress

import anyio

from gongfu.app import App, Session
from gongfu.app.commands import Expanded
from gongfu.core.errors import UserError
from gongfu.core.events import QuestionAsked
from gongfu.surfaces.cli.cli import Cli


async def expanded(cli: Cli, app: App, session: Session, text: str) -> Expanded:
    """What the text is for the model; the person, when there is one, answers what its lines need consent for."""
    found = Expanded(prompt=text)
    async with session.stream.subscribe() as entries, anyio.create_task_group() as tasks:

        async def attend() -> None:
            async for entry in entries:
                if isinstance(entry.event, QuestionAsked) and cli.person is not None:
                    answer = await cli.person.answer(entry.event)
                    with suppress(UserError):  # it was answered otherwise in the meantime
                        await session.answer(entry.event.question, answer)

        tasks.start_soon(attend)
        found = await app.expand(text, session)
        tasks.cancel_scope.cancel()
    if found.mode:
        cli.note(cli.say("modes.for_turn", name=found.mode, command=text.split(maxsplit=1)[0]))
    return found
