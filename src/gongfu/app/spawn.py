"""Composes the sessions of sub-agents: a part of the parent's tools, a prompt of their own, the same permissions."""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING

from msgspec.structs import replace

from gongfu.core.brief import Brief
from gongfu.core.events import AnyEvent, RulesPinned, SessionCreated
from gongfu.core.ids import new_id
from gongfu.engine.kit import Kit
from gongfu.engine.modes import under
from gongfu.models.protocol import ModelProvider
from gongfu.resources import text

if TYPE_CHECKING:
    from gongfu.app.app import App
    from gongfu.engine.session import Session

Make = Callable[[str, Callable[["Session"], Kit]], "Session"]
ABSENT = "You were given a part of the tools; do without, and say in your report what could not be done."
RECALL = "recall"  # every agent's own text is folded at times
TOO_DEEP = "Sub-agents go no deeper than you are; do it yourself."


class Spawner:
    """Makes the sessions of sub-agents. `make` opens a session with a kit, `kit` is what a main agent's works with."""

    def __init__(self, app: App, *, make: Make, kit: Callable[[Session], Kit]) -> None:
        self._app = app
        self._make = make
        self._kit = kit

    async def spawn(self, parent: Session, brief: Brief) -> Session:
        """The session of a new sub-agent of `parent`, with the rules that are pinned there.

        UserError when its model cannot be had.
        """
        chain = partial(self._app.router.chain, "main", brief.model) if brief.model else parent.models
        await chain()
        inherit = parent.state.context.pinned

        def begin(session: Session) -> None:
            self._begin(session, parent.id, brief, inherit)

        return self._make(new_id("s"), lambda session: self.compose(session, brief, chain=chain, begin=begin))

    def reopen(self, id: str, brief: Brief) -> Session:
        """A sub-agent's session again, by itself: a person talks to it now. What was pinned there still is."""
        chain = partial(self._app.router.chain, "main", brief.model)
        return self._make(id, lambda session: self.compose(session, brief, chain=chain))

    def compose(
        self,
        session: Session,
        brief: Brief,
        *,
        chain: Callable[[], Awaitable[Sequence[ModelProvider]]],
        begin: Callable[[Session], None] | None = None,
    ) -> Kit:
        """What a sub-agent works with: the kit of a main agent, narrowed."""
        kit = self._kit(session)
        limits = replace(kit.agent.limits, steps=brief.steps or kit.agent.limits.steps)
        agent = replace(kit.agent, system=prompt_of(brief), name=brief.agent, limits=limits)
        if brief.mode is not None:
            agent = under(agent, brief.mode)
        absent = ABSENT if "task" in brief.tools else f"{ABSENT} {TOO_DEEP}"
        return replace(
            kit,
            agent=agent,
            registry=kit.registry.subset((*brief.tools, RECALL), absent),
            chain=chain,
            begin=kit.begin if begin is None else begin,
        )

    def _begin(self, session: Session, parent: str, brief: Brief, inherit: RulesPinned | None) -> None:
        workspace = self._app.workspace
        created = SessionCreated(
            session=session.id,
            directory=str(workspace.directory),
            root=str(workspace.root),
            parent=parent,
            brief=brief,
        )
        self._app.rows.create(session.id, directory=created.directory, root=created.root, parent=parent, at=time.time())
        events: list[AnyEvent] = [created]
        if inherit is not None:
            events.append(inherit)
        session.stream.emit(*events)


def prompt_of(brief: Brief) -> str:
    """The system prompt of a sub-agent: short words for all of them, then its role."""
    system = text("prompts/subagent.md").replace("{agent}", brief.agent)
    return f"{system}\n# Your role\n\n{brief.role}\n" if brief.role else system


def known_models(app: App) -> list[str]:
    """References that settings and callers name, for a model that chooses one."""
    settings = app.settings
    named = (*app.options.providers, *settings.models.main, *settings.models.fast, *settings.model_settings)
    return [ref for ref in dict.fromkeys(named) if ref != "*"]
