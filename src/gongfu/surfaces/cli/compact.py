"""`gongfu compact`: fold the context of a session by hand."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import click

from gongfu.core.base import Base
from gongfu.core.errors import UsageError
from gongfu.surfaces.cli.cli import Cli
from gongfu.surfaces.cli.command import Command, flag, option
from gongfu.surfaces.cli.options import Opening, places_options

if TYPE_CHECKING:
    from collections.abc import Sequence

    from gongfu.core.events import EpochOpened
    from gongfu.core.messages import Message


_ID = re.compile(r"[\w-]+", re.ASCII)


class Folded(Base, frozen=True):
    """What a fold by hand came to; `opened` is None when there was nothing to gain. `dropped` are calls by id."""

    session: str
    opened: EpochOpened | None
    dropped: tuple[str, ...] = ()


def build(cli: Cli) -> click.Command:
    """The command."""

    def callback(**values: Any) -> int:
        return compact(cli, **values)

    params: list[click.Parameter] = [
        click.Argument(["session"], required=False, metavar="[SESSION|FOCUS]"),
        option(cli, "--focus", metavar="TEXT"),
        option(cli, "-m", "--model", metavar="REF"),
        flag(cli, "--json", "as_json", key="json"),
        *places_options(cli),
    ]
    return Command(cli, "compact", callback, params)


def compact(
    cli: Cli,
    *,
    session: str | None,
    focus: str | None,
    model: str | None,
    as_json: bool,
    config: str | None,
    root: str | None,
) -> int:
    """Fold a session (the latest of this folder when none is named) and tell what became of what.

    UserError while another process has it open.
    """
    from gongfu.surfaces.cli.opening import opened, run_async

    if session and focus is None and not _ID.fullmatch(session):  # words are no id: they say what matters most
        session, focus = None, session
    if focus is not None and not focus.strip():
        raise UsageError("cli.missing_parameter", name="--focus")

    async def work() -> Folded:
        async with opened(cli, Opening(config=config or "", root=root, model=model or "")) as app:
            talk = await app.session(session or "", latest=True)
            before = {call.id for m in talk.state.context.view.messages for call in m.calls}
            event = await talk.compact(" ".join((focus or "").split()))
            after = {call.id for m in talk.state.context.view.messages for call in m.calls}
            return Folded(session=talk.id, opened=event, dropped=_in_order(talk.messages, before - after))

    folded = run_async(work)
    if as_json:
        from gongfu.surfaces.cli.result import to_json

        cli.out.line(to_json(fields(folded)))
    else:
        cli.out.line("\n".join(lines(cli, folded)))
    return 0


def _in_order(messages: Sequence[Message], calls: set[str]) -> tuple[str, ...]:
    return tuple(call.id for message in messages for call in message.calls if call.id in calls)


def fields(folded: Folded) -> dict[str, Any]:
    """What `--json` prints; tokens are estimates."""
    event = folded.opened
    if event is None:
        return {"type": "compact", "session": folded.session, "folded": False}
    return {
        "type": "compact",
        "session": folded.session,
        "folded": True,
        "epoch": event.epoch,
        "rung": event.rung,
        "before": event.before,
        "after": event.after,
        "budget": event.budget,
        "masked": list(event.masked),
        "cut": [*(call for call, _ in event.shrunk), *(f"u{at}" for at in event.shortened)],
        "dropped": list(folded.dropped),
        "moved": [f"turn:{turn}" for turn in event.moved],
        "summary": bool(event.summary),
        "focus": event.focus,
    }


def lines(cli: Cli, folded: Folded, *, area: str = "compact") -> list[str]:
    """The same for a person. `area` has the words for what is folded and how it comes back."""
    from gongfu.surfaces.cli.render.numbers import tokens

    event, say = folded.opened, cli.say
    if event is None:
        return [say("compact.nothing", session=folded.session)]
    sizes = {"before": tokens(event.before), "after": tokens(event.after), "budget": tokens(event.budget)}
    told = [say(f"{area}.folded", session=folded.session, **sizes)]
    counts = {
        "masked": len(event.masked),
        "cut": len(event.shrunk) + len(event.shortened),
        "dropped": len(folded.dropped),
        "moved": len(event.moved),
    }
    for name, count in counts.items():
        if count:
            told.append(f"  - {say(f'compact.{name}_one' if count == 1 else f'compact.{name}', count=count)}")
    if event.focus:
        told.append(f"  - {say('compact.focus', focus=event.focus)}")
    gone = next(iter((*folded.dropped, *event.masked)), "") or next((f"turn:{t}" for t in event.moved), "")
    example = say("compact.example", id=gone) if gone else ""
    told.append(say(f"{area}.back", session=folded.session, example=example))
    return told
