"""Tells the model when it may only read, and when that is over: notes of the session, behind what was said before."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from gongfu.core.messages import Message, user
from gongfu.engine.state import ONLY_READS, READS_NO_MORE
from gongfu.tools.disclosure import USE

if TYPE_CHECKING:
    from gongfu.engine.session import Session

PROPOSE = (
    "[Only reading is allowed now. Where the request calls for changes, explore, work out a plan and put it before the "
    'person: use_tool {"name": "plan", "arguments": {"action": "propose", "goal": "TITLE", "markdown": "THE PLAN"}}. '
    "What they approve you carry out then.]"
)
ANSWER = "[Only reading is allowed now. Where the request calls for changes, give the plan for them as your answer.]"
REPORT = "[Only reading is allowed now. Say in your report what should be changed.]"
OVER = "[Changes are allowed again; where the person must be asked, that happens by itself.]"


def reading_note(session: Session) -> Sequence[Message]:
    """The note that the next request must hold, when the permission is another than the model knows; else nothing."""
    told, reads = session.state.told_reading, session.permission == "plan"
    if reads and told != "now":
        return (user(_words(session), kind="note", id=ONLY_READS),)
    if not reads and told:
        return (user(OVER, kind="note", id=READS_NO_MORE),)
    return ()


def _words(session: Session) -> str:
    if session.brief is not None:
        return REPORT
    registry = session.overlay.registry
    offers = USE in registry and ("plan" in registry or "plan" in registry.shelf.names)
    return PROPOSE if offers and session.kit.answers == "ask" else ANSWER
