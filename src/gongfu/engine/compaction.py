"""What lays out the requests of a session, and folding by hand."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from gongfu.core.events import EpochOpened
from gongfu.engine.asker import budget_of
from gongfu.engine.planner import Planner
from gongfu.models.protocol import ModelProvider

if TYPE_CHECKING:
    from gongfu.engine.session import Session


def planner_of(session: Session) -> Planner:
    """What plans the requests of a session."""
    kit, overlay = session.kit, session.overlay
    return Planner(
        system=overlay.agent.system,
        tools=overlay.registry.specs,
        state=session.state,
        ledger=session.ledger,
        emit=session.stream.emit,
        keep_recent=kit.agent.keep_recent,
        rules_share=kit.agent.rules_share,
        folded=kit.folded,
    )


async def compact(session: Session, chain: Sequence[ModelProvider], focus: str) -> EpochOpened | None:
    """Fold by hand: None when nothing would be gained. Summaries are made first, by the models that may.

    UserError when a hook does not want it.
    """
    if session.kit.hooks is not None and session.kit.hooks.wants("before_compact"):
        from gongfu.engine.hooked import before_compact  # only where there are hooks

        await before_compact(session.kit.hooks, focus)
    await session.summaries.compact(focus)
    info = chain[0].info
    return session.planner.fold_now(info, budget_of(session.kit.agent, session.state, info), focus)
