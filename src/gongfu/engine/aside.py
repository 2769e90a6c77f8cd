"""Runs a tool for the person, outside of any answer: judged, asked for and sandboxed as a call of the model."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import msgspec

from gongfu.core.errors import ToolFailure
from gongfu.core.events import AnyEvent
from gongfu.core.ids import new_id
from gongfu.core.messages import CallPart
from gongfu.core.modes import Floor
from gongfu.engine.attempt import Attempt, Refused
from gongfu.engine.permit import Permit
from gongfu.tools.protocol import Outcome
from gongfu.tools.validate import validate

if TYPE_CHECKING:
    from gongfu.engine.session import Session

ROOM = 32_768


class Unheard:
    """Takes what a call shows while it runs; such a call stands in no transcript."""

    def emit(self, *events: AnyEvent) -> None:
        """Nothing is kept."""
        del events


async def run_aside(
    session: Session, name: str, args: dict[str, Any], *, floors: Sequence[Floor] = ()
) -> Outcome | Refused:
    """Run one tool of the session, whatever the mode offers; `floors` hold besides those of the session.

    A failure is an outcome with status "failed". The person is asked where the policy says so.
    """
    tool = session.kit.registry.get(name)
    if tool is None:
        return Outcome(text=session.kit.registry.unknown(name), status="failed")
    checked = validate(tool.spec.parameters, args)
    if checked.problem:
        return Outcome(text=checked.problem, status="failed")
    permit = Permit(
        workspace=session.kit.workspace,
        mode=lambda: session.permission,
        grants=session.grants,
        pending=session.pending,
        consent=session.kit.consent,
        emit=session.stream.emit,
        floors=lambda: (*session.overlay.floors(), *floors),
    )
    attempt = Attempt(permit=permit, pending=session.pending, stream=Unheard(), hooks=session.kit.hooks)
    call = CallPart(id=new_id("c"), name=name, arguments=msgspec.json.encode(checked.args).decode())
    try:
        return await attempt.run(call, tool, checked.args, room=ROOM, started=lambda: None)
    except ToolFailure as failure:
        return Outcome(text=str(failure), status="failed")
