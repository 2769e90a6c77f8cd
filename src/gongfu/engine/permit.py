"""Asks the policy, and the person where the policy says so, whether a call may run."""

from __future__ import annotations

from typing import Literal, TypeAlias

from gongfu.core.base import Base
from gongfu.core.display import Display, refusal_display
from gongfu.core.events import QuestionAsked
from gongfu.core.ids import new_id
from gongfu.core.messages import CallPart
from gongfu.core.words import say
from gongfu.engine.guard import Said
from gongfu.engine.judge import judged
from gongfu.engine.pending import Pending
from gongfu.permissions.policy import CallFacts, Decision, Grants, Mode, decide
from gongfu.tools.protocol import Facts, Leave
from gongfu.workspace.root import Workspace

By: TypeAlias = Literal["policy", "nobody", "person", "before"]


class Denial(Base, frozen=True):
    """Why a call may not run: `text` for the model, `display` for the person."""

    text: str
    display: Display


class Permit:
    """The permission of one turn. What was refused once is refused again without asking.

    `denied` is what was refused in it so far; a sub-agent shares it with its parent.
    """

    def __init__(
        self, *, workspace: Workspace, mode: Mode, grants: Grants, pending: Pending, denied: set[str] | None = None
    ) -> None:
        self._workspace = workspace
        self._mode: Mode = mode
        self._grants = grants
        self._pending = pending
        self._denied = set[str]() if denied is None else denied

    async def leave(self, call: CallPart, facts: Facts, said: Said) -> Leave | Denial:
        """How far `call` may go; a Denial when it may not run. `said` is what the hooks decided."""
        del said
        return await self.why_not(call, facts) or Leave()

    async def why_not(self, call: CallPart, facts: Facts) -> Denial | None:
        """Why `call` may not run; None when it may."""
        seen = judged(call.name, facts, self._workspace)
        decision = decide(seen, self._mode)
        if decision.verdict == "allow" or (decision.verdict == "ask" and self._grants.cover(seen)):
            return None
        reason = say(f"permissions.{decision.rule}", "en", about=decision.about)
        if decision.verdict == "deny":
            text = f"Refused by the policy: {reason}. It will be refused again in this turn; find another way or stop."
            return _denial(text, decision, "policy")
        key = f"{call.name}\0{call.arguments}"
        if key in self._denied:
            return _denial("Refused before in this turn; it is not asked again.", decision, "before")
        answer, by = await self._pending.ask(_question(call, facts, decision), lambda: self._grants.cover(seen))
        return self._heed(answer, by, key, seen, decision)

    def _heed(self, answer: str, by: str, key: str, seen: CallFacts, decision: Decision) -> Denial | None:
        if answer == "session":
            self._grants.add(seen)
        if answer in ("allow", "session"):
            return None
        self._denied.add(key)
        if by == "policy":
            reason = say(f"permissions.{decision.rule}", "en", about=decision.about)
            text = (
                f"Refused: it needs consent ({reason}) and nobody is there to give it. "
                "It will be refused again; find another way or finish without it."
            )
            return _denial(text, decision, "nobody")
        words = answer.removeprefix("deny").strip(": ")
        said = f": {words}" if words else ""
        text = f"Refused by the user{said}. Do not try it again; ask or do something else."
        return _denial(text, decision, "person", words)


def _denial(text: str, decision: Decision, by: By, said: str = "") -> Denial:
    about = decision.about
    return Denial(text=text, display=refusal_display(f"permissions.{decision.rule}", about=about, by=by, said=said))


def _question(call: CallPart, facts: Facts, decision: Decision) -> QuestionAsked:
    return QuestionAsked(
        question=new_id("q"),
        about="permission",
        text=facts.title or call.name,
        options=("allow", "session", "deny"),
        default="deny",
        call=call.id,
        tool=call.name,
        reason=f"permissions.{decision.rule}",
        preview={**facts.preview, "about": decision.about},
    )
