"""Opens a conversation: the app, the questions before it, the session, the face."""

from __future__ import annotations

from pathlib import Path

from gongfu.app import App, Session
from gongfu.core.errors import UserError
from gongfu.core.version import __version__
from gongfu.surfaces.cli.cli import Cli
from gongfu.surfaces.cli.drive import Signals, end_now
from gongfu.surfaces.cli.opening import opened, run_async
from gongfu.surfaces.cli.options import Opening


def converse(cli: Cli, opening: Opening, *, session: str = "", latest: bool = False) -> int:
    """Talk until the person leaves; the exit code."""

    async def work() -> int:
        with Signals(lambda: end_now(cli.mark)) as signals:
            async with opened(cli, opening) as app:
                if cli.person is not None and not (session or latest or opening.rules):
                    from gongfu.surfaces.cli.rules_question import ask_about_rules  # only where nothing was said yet

                    await ask_about_rules(cli, app)
                talked = await app.session(session, latest=latest)
                cli.session = talked.id
                return await _talk(cli, app, talked, opening, signals)

    return run_async(work)


async def _talk(cli: Cli, app: App, session: Session, opening: Opening, signals: Signals) -> int:
    from gongfu.surfaces.cli.talk.editor import Editor
    from gongfu.surfaces.cli.talk.keys import Keys
    from gongfu.surfaces.cli.talk.screen import Screen, Shown
    from gongfu.surfaces.cli.talk.talk import Talk

    talk = Talk(cli, app, session, opening)
    keys = Keys()
    editor = Editor(cli, talk.submit)
    shown = Shown(
        living=talk.living,
        status=talk.status,
        moving=lambda: talk.view.moving,
    )
    screen = Screen(cli, shown, editor, keys.bindings)
    keys.talk, keys.screen = talk, screen
    _greet(cli, app)
    with signals.calling(screen.leave):
        await talk.run(screen, screen.run)
    last = talk.session
    if last.state.finished is None and last.state.turn is None:
        if last.state.created is not None:
            await _forget(app, last)
    else:
        cli.note(cli.say("talk.bye", session=last.id))
    return 0


async def _forget(app: App, session: Session) -> None:
    """Nothing was said: no empty session stays behind."""
    try:
        await app.delete(session.id)
    except UserError:
        return


def _greet(cli: Cli, app: App) -> None:
    style = cli.out_style
    root = str(app.workspace.root)
    home = str(Path.home())
    shown = f"~{root[len(home) :]}" if root == home or root.startswith(home + "/") else root
    cli.out.line(f"{style.bold('Gongfu')} {style.dim(__version__)}  {style.dim(shown)}")
    cli.out.line(style.dim(cli.say("talk.hints")))
