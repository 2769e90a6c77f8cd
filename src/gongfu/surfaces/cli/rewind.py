"""`gongfu rewind`: back to before an earlier prompt, with talk and files."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from gongfu.core.errors import UsageError
from gongfu.surfaces.cli.cli import Cli
from gongfu.surfaces.cli.command import Command, Number, flag, option
from gongfu.surfaces.cli.options import Opening
from gongfu.surfaces.cli.undo import give, giving_options, session_argument

if TYPE_CHECKING:
    from gongfu.app.deeds import Story
    from gongfu.app.give_back import Given


def build(cli: Cli) -> click.Command:
    """The command."""

    def callback(**values: Any) -> int:
        return rewind(cli, **values)

    params: list[click.Parameter] = [
        session_argument(),
        option(cli, "--to", type=Number(whole=True), metavar="N", key="rewind_to"),
        flag(cli, "--list", "listing", key="rewind_list"),
        flag(cli, "--talk-only", key="rewind_talk"),
        flag(cli, "--files-only", key="rewind_files"),
        *giving_options(cli),
    ]
    return Command(cli, "rewind", callback, params)


def rewind(cli: Cli, *, to: float | None, listing: bool, talk_only: bool, files_only: bool, **values: Any) -> int:
    """Go back, or list the prompts to go back to."""
    if talk_only and files_only:
        raise UsageError("cli.exclusive", one="--talk-only", other="--files-only")
    if listing:
        return _prompts(cli, values)
    after: list[Given] = []

    async def work(app: Any, agree: Any, args: dict[str, Any]) -> Given:
        given = await app.rewind(**args, to=int(to or 0), talk=not files_only, files=not talk_only, agree=agree)
        after.append(given)
        return given

    code = give(cli, work, **values)
    given = after[0]
    if given.done and not values["as_json"] and given.origin:
        from gongfu.surfaces.cli.style import clean

        target = given.number
        cli.out.line(cli.say("undo.talk", session=given.session, origin=given.origin, number=target))
        cli.out.line(f"{cli.say('undo.prompt')}\n{clean(given.prompt)}")
    return code


def _prompts(cli: Cli, values: dict[str, Any]) -> int:
    """List the prompts of a session by their numbers."""
    import time

    from gongfu.surfaces.cli.opening import opened, run_async
    from gongfu.surfaces.cli.result import to_json
    from gongfu.surfaces.cli.style import clean

    async def run() -> tuple[str, Story]:
        async with opened(cli, Opening(config=values["config"] or "", root=values["root"])) as app:
            return await app.checkpoints(values["session"] or "", changed=False)

    session, past = run_async(run)
    prompts = [turn for turn in past.turns if turn.text]
    if values["as_json"]:
        rows = [{"number": turn.number, "turn": turn.turn, "time": turn.time, "prompt": turn.text} for turn in prompts]
        cli.out.line(to_json({"type": "prompts", "session": session, "prompts": rows}))
        return 0
    for turn in prompts:
        when = time.strftime("%Y-%m-%d %H:%M", time.localtime(turn.time))
        cli.out.line(f"{turn.number:>4}  {cli.out_style.dim(when)}  {clean(turn.title)}")
    return 0
