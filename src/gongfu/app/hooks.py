"""Gives a session its hooks."""

from __future__ import annotations

from typing import TYPE_CHECKING

import anyio.abc

from gongfu.config.hooks import hooks_of
from gongfu.core.events import AnyEvent
from gongfu.engine.hook_words import Common
from gongfu.engine.hooking import Hooking

if TYPE_CHECKING:
    from gongfu.app.app import App
    from gongfu.engine.session import Session


def hooks_for(app: App, session: Session, tasks: anyio.abc.TaskGroup) -> Hooking:
    """The hooks of the settings, for one session; those that nobody waits for run in `tasks`."""
    workspace = app.workspace

    def common() -> Common:
        brief = session.brief
        return Common(
            session=session.id,
            directory=workspace.directory,
            mode=app.options.mode,
            agent="" if brief is None else brief.agent,
        )

    def emit(event: AnyEvent) -> None:
        session.stream.emit(event)

    return Hooking(
        hooks_of(app.settings.hooks),
        root=workspace.root,
        env=app.options.env,
        common=common,
        emit=emit,
        tasks=tasks,
    )
