"""One turn from the command line, from opening the app to the exit code."""

from __future__ import annotations

from gongfu.app import App, Session
from gongfu.core.errors import EXIT_INTERRUPTED, UsageError, UserError
from gongfu.core.messages import ImagePart
from gongfu.surfaces.cli.cli import Cli
from gongfu.surfaces.cli.drive import Drive, Signals, Task, end_now
from gongfu.surfaces.cli.opening import opened, run_async
from gongfu.surfaces.cli.options import Opening
from gongfu.surfaces.cli.result import exit_code
from gongfu.surfaces.cli.run import Asked
from gongfu.surfaces.cli.screens import choose


def run_turn(cli: Cli, asked: Asked, opening: Opening) -> int:
    """Open the app and the session, drive the turn, give back the exit code."""
    images = _images(asked.images)

    async def work() -> int:
        with Signals(lambda: end_now(cli.mark)) as signals:
            return await turn(signals)

    async def turn(signals: Signals) -> int:
        async with opened(cli, opening) as app:
            if images:
                await _check_images(app)
            if cli.person is not None and not (asked.session or asked.latest or opening.rules):
                from gongfu.surfaces.cli.rules_question import ask_about_rules  # only with somebody at the terminal

                await ask_about_rules(cli, app)
            if cli.err.tty and not asked.form and not asked.quiet:
                from gongfu.surfaces.cli.sandboxed import status  # only where somebody may read it

                cli.note(status(cli, app))
            session = await app.session(asked.session, latest=asked.latest)
            if session.mode and not asked.form and not asked.quiet:
                cli.note(cli.say("modes.now", name=session.mode))
            try:
                task = await _task(cli, app, session, asked, images)
                code = await _drive(cli, session, asked, task, signals)
            except UserError:
                if session.state.turn is None and session.state.finished is None:
                    await app.delete(session.id)  # nothing was begun: no empty session stays behind
                raise
            if app.settings.retention.days is not None and code != EXIT_INTERRUPTED:
                from gongfu.surfaces.cli.prune import keep_to_retention  # only where somebody asked for it

                await keep_to_retention(cli, app, session.id)
            return code

    return run_async(work)


def _images(names: tuple[str, ...]) -> tuple[ImagePart, ...]:
    if not names:
        return ()
    from gongfu.surfaces.cli.images import read_image  # few prompts have any

    return tuple(read_image(name) for name in names)


async def _check_images(app: App) -> None:
    """Raises UsageError when the model that is asked first takes no images."""
    info = (await app.router.chain("main"))[0].info
    if not info.images:
        raise UsageError("cli.images_unsupported", model=info.ref)


async def _task(cli: Cli, app: App, session: Session, asked: Asked, images: tuple[ImagePart, ...]) -> Task:
    """What is asked of the session: that of a command when the text starts with one."""
    if not asked.text.lstrip().startswith("/"):
        return Task(text=asked.text, images=images, schema=asked.schema)
    from gongfu.surfaces.cli.slash import expanded  # only for a command

    found = await expanded(cli, app, session, asked.text)
    return Task(text=found.prompt, images=(*images, *found.images), schema=asked.schema, bounds=found.bounds)


async def _drive(cli: Cli, session: Session, asked: Asked, task: Task, signals: Signals) -> int:
    cli.session = session.id
    screen = choose(
        cli,
        session.id,
        form=asked.form,
        view="quiet" if asked.quiet else "compact" if asked.compact else "full",
        structured=asked.schema is not None,
    )
    drive = Drive(session, screen, cli.person)
    finished = await drive.run(task, stopping=cli.say("stopping"), signals=signals)
    return exit_code(finished)
