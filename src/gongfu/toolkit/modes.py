"""The work mode, for the model: it may propose one, and the person decides."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from gongfu.core.errors import ToolFailure, UserError
from gongfu.core.modes import NO_MODE
from gongfu.tools.decorator import tool
from gongfu.tools.protocol import CallContext, Claim, Facts, Outcome, Tool

if TYPE_CHECKING:
    from gongfu.engine.session import Session
    from gongfu.plugins.modes import ModeFiles

YES, NO = "switch", "stay"
NONE = NO_MODE


async def _facts(_owner: ModeTools, args: dict[str, Any]) -> Facts:
    return Facts(access=("read",), title=str(args.get("name") or "").strip()[:80])


def _claims(_owner: ModeTools, _args: dict[str, Any]) -> tuple[Claim, ...]:
    return (Claim(resource="person", write=True),)


class ModeTools:
    """The tool `mode` of one session."""

    def __init__(self, session: Session, modes: ModeFiles) -> None:
        self._session = session
        self._modes = modes

    def __iter__(self) -> Iterator[Tool]:
        yield self.mode

    @tool(key=True, facts=_facts, claims=_claims)
    async def mode(self, ctx: CallContext, name: str = "", reason: str = "") -> Outcome:
        wanted = name.strip().lower()
        now = self._session.mode or NONE
        if not wanted:
            return self._listed(now)
        if self._session.brief is not None:
            raise ToolFailure("a sub-agent works in the mode of the agent that started it; say in your report what for")
        try:
            text = self._modes.get(wanted).description if wanted != NONE else ""
        except UserError as error:
            raise ToolFailure(f"{error} The modes are: {', '.join(self._modes.names())}, {NONE}.") from None
        if wanted == now:
            return Outcome(text=f"The work mode is {now} already.")
        why = f" {reason.strip()[:500]}" if reason.strip() else ""
        about = f" ({text})" if text else ""
        question = f"Switch the work mode from {now} to {wanted}{about}?{why}"
        answer, by = await ctx.ask(question, options=(YES, NO), default=NO)
        word, _, said = answer.strip().partition(" ")
        if by != "person":
            return _kept(now, "nobody is there to decide it")
        if word.lower().rstrip(":,.") not in (YES, "yes", "y"):
            return _kept(now, f"the person did not want it{f': {answer.strip()}' if answer.strip() != NO else ''}")
        self._session.overlay.set("" if wanted == NONE else wanted, "model")
        more = f" The person adds: {said}" if said else ""
        return Outcome(
            text=f"The work mode is {wanted} from your next request on; its instructions come with it.{more}",
            display={"kind": "text", "text": wanted, "summary": wanted},
        )

    def _listed(self, now: str) -> Outcome:
        lines: list[str] = []
        for name in self._modes.names():
            try:
                lines.append(f"{name}: {self._modes.get(name).description}")
            except UserError as error:
                lines.append(f"{name}: cannot be used ({error})")
        return Outcome(
            text="\n".join([f"The work mode is {now}.", *lines]),
            display={"kind": "list", "items": lines, "total": len(lines), "summary": now},
        )


def _kept(now: str, why: str) -> Outcome:
    return Outcome(
        text=f"The work mode stays {now}: {why}. Go on within it.",
        display={"kind": "text", "text": now, "summary": now},
    )
