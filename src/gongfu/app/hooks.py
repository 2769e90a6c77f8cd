"""Gives a session its hooks."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import TYPE_CHECKING, Final

import anyio.abc
from anyio import to_thread

from gongfu.app.trust import as_trusted
from gongfu.config.hooks import hooks_of
from gongfu.core.errors import UserError
from gongfu.core.events import AnyEvent
from gongfu.engine.hook_words import Common
from gongfu.engine.hooking import Hooking

if TYPE_CHECKING:
    from gongfu.app.app import App
    from gongfu.engine.session import Session


DEPTH: Final = "GONGFU_HOOK_DEPTH"
"""The variable that tells a program how many hooks deep it runs."""
DEEPEST: Final = 3


def hooks_for(app: App, session: Session, tasks: anyio.abc.TaskGroup) -> Hooking:
    """The hooks of the settings, for one session; those that nobody waits for run in `tasks`.

    UserError inside a hook of a hook of a hook: one that starts Gongfu would start itself again, without end.
    """
    workspace = app.workspace
    depth = _depth(app.options.env)
    if depth >= DEEPEST:
        raise UserError("hooks.too_deep", depth=depth)

    def common() -> Common:
        brief = session.brief
        return Common(
            session=session.id,
            directory=workspace.directory,
            mode=session.permission,
            agent="" if brief is None else brief.agent,
        )

    def emit(event: AnyEvent) -> None:
        session.stream.emit(event)

    return Hooking(
        hooks_of(app.settings.hooks),
        root=workspace.root,
        env={**app.options.env, DEPTH: str(depth + 1)},
        common=common,
        emit=emit,
        tasks=tasks,
        as_trusted=partial(to_thread.run_sync, partial(as_trusted, app.places, workspace.root, app.options.trust)),
    )


def _depth(env: Mapping[str, str]) -> int:
    text = env.get(DEPTH, "")
    return int(text) if text.isdecimal() else 0
