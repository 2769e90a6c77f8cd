"""Opens the app for a command."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable, Coroutine
from contextlib import asynccontextmanager
from typing import Any, TypeVar

from gongfu.app import App
from gongfu.app import open as open_app
from gongfu.core.errors import root_of
from gongfu.surfaces.cli.cli import Cli
from gongfu.surfaces.cli.options import Opening
from gongfu.workspace.git import may_run_programs

T = TypeVar("T")


@asynccontextmanager
async def opened(cli: Cli, opening: Opening) -> AsyncGenerator[App]:
    """The app, open; from then on its language is spoken. Raises UserError and ConfigError."""
    app = _made(cli, opening)
    if cli.person is not None and _may_ask(app):
        from gongfu.surfaces.cli.trust_question import ask_about_trust  # only with somebody at the terminal

        cli.speak(app.language)
        if await ask_about_trust(cli, app):
            app = _made(cli, opening)  # as it is after the answer
    async with opened_with(cli, app):
        yield app


def _may_ask(app: App) -> bool:
    """Whether something in the folder waits for a word on it; never False when something does."""
    state = app.options.trust.state
    return state in ("untrusted", "changed") or (state == "nothing" and may_run_programs(app.workspace.root))


def _made(cli: Cli, opening: Opening) -> App:
    return open_app(
        env=cli.marked(cli.env),
        config=opening.config,
        model=opening.model,
        permission=opening.permission,
        mode=opening.mode,
        answers=opening.answers,
        yes=opening.yes,
        root=opening.root,
        add_dirs=opening.add_dir,
        max_steps=opening.max_steps,
        max_cost=opening.max_cost,
        max_minutes=opening.max_minutes,
        language=cli.wanted_language,
        rules=opening.rules,
        trust=opening.trust,
    )


@asynccontextmanager
async def opened_with(cli: Cli, app: App) -> AsyncGenerator[App]:
    """An app that was made already, open; its language is spoken, and what is odd about its settings is told."""
    cli.speak(app.language)
    cli.settings = app.settings
    for notice in app.options.notices:
        cli.note(cli.say.told(notice.key, notice.values))
    async with app:
        yield app


def run_async(work: Callable[[], Coroutine[Any, Any, T]]) -> T:
    """Run a coroutine to its end; of a group of errors the one that matters is raised."""
    import anyio

    from gongfu.surfaces.cli.loop import new_loop

    try:
        return anyio.run(work, backend_options={"loop_factory": new_loop})
    except BaseExceptionGroup as errors:
        raise root_of(errors) from errors


def with_app(cli: Cli, opening: Opening, work: Callable[[App], T]) -> T:
    """What `work` makes of the open app; for commands that run no turn."""

    async def run() -> T:
        async with opened(cli, opening) as app:
            return work(app)

    return run_async(run)
