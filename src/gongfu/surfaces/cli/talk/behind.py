"""What a conversation talks to: the app and a session, opened behind the face that is there already."""

from __future__ import annotations

from typing import TYPE_CHECKING

import anyio

from gongfu.app import App, Session
from gongfu.surfaces.cli.ask import somebody
from gongfu.surfaces.cli.cli import Cli
from gongfu.surfaces.cli.drive import Signals, end_now
from gongfu.surfaces.cli.images import read_image
from gongfu.surfaces.cli.model_ways import needs_model
from gongfu.surfaces.cli.opening import opened
from gongfu.surfaces.cli.talk.face import Typed

if TYPE_CHECKING:
    from gongfu.surfaces.cli.talk.opening import Wanted
    from gongfu.surfaces.cli.talk.talk import Talk


async def stay(cli: Cli, talk: Talk, wanted: Wanted) -> None:
    """Open them and stay until this is cancelled, because the face was left; then they are closed.

    Raises what opening them raises.
    """
    with Signals(lambda: end_now(cli.mark)) as signals, signals.calling(talk.face.leave):
        talk.on_turn_end = signals.again
        if wanted.opening.answers == "ask":
            cli.person = talk.face if talk.face.drawn else somebody(cli)
        guided = False
        missing = needs_model(cli, wanted.opening)
        if missing:
            from gongfu.surfaces.cli.talk.first_run import ask_language  # once on a machine

            await ask_language(talk.face, cli, wanted.opening.config)
        while True:
            async with opened(cli, wanted.opening) as app:
                if missing and not guided and await _guided(cli, talk, app):
                    guided = True  # there is a model now: open it all anew, with it
                    continue
                await _ask_before(cli, app, wanted)
                if wanted.session or wanted.latest:
                    talk.foreshow(app, app.row(wanted.session).id)
                session = await app.session(wanted.session, latest=wanted.latest)
                talk.begin(app, session)
                if wanted.text or wanted.images:
                    images = tuple(map(read_image, wanted.images))
                    talk.submit(Typed(text=wanted.text, images=images, shown=wanted.text))
                try:
                    await _warm_up()
                    await anyio.sleep_forever()
                finally:
                    with anyio.CancelScope(shield=True):
                        await _part(cli, talk)


async def _guided(cli: Cli, talk: Talk, app: App) -> bool:
    """Lead the person to a model where nothing says which works; whether there is one now."""
    if app.settings.models.main or app.settings.providers:  # those of the project say which
        return False
    from gongfu.surfaces.cli.talk.first_run import guide  # once on a machine

    return await guide(talk.face, cli, talk.opening.config)


async def _ask_before(cli: Cli, app: App, wanted: Wanted) -> None:
    """The question about project rules, once in a project."""
    if cli.person is None or wanted.session or wanted.latest or wanted.opening.rules:
        return
    from gongfu.app.rule_words import unasked

    if unasked(app) is not None:
        from gongfu.surfaces.cli.rules_question import ask_about_rules  # only where nothing was said yet

        await ask_about_rules(cli, app)


async def _warm_up() -> None:
    """Load what the first answer needs, while the person types."""
    from importlib import import_module

    for name in ("rich.markdown", "rich.console", "markdown_it", "pygments.lexers"):
        await anyio.to_thread.run_sync(import_module, name)


async def _part(cli: Cli, talk: Talk) -> None:
    """Say how to come back; a session in which nothing was said leaves nothing behind."""
    session: Session = talk.session
    if session.state.finished is None and session.state.turn is None:
        await talk.forget(session)
    else:
        if talk.face.drawn:
            cli.shows = None  # nothing is drawn any more
        cli.note(cli.say("talk.bye", session=session.id))
