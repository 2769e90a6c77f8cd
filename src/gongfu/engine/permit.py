"""Asks the policy, and the person where the policy says so, whether a call may run and how far it may go."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Literal, TypeAlias

from msgspec.structs import replace

from gongfu.core.base import Base
from gongfu.core.display import Display, refusal_display
from gongfu.core.events import AnyEvent, PermissionGranted, QuestionAsked
from gongfu.core.ids import new_id
from gongfu.core.messages import CallPart
from gongfu.core.modes import Floor
from gongfu.core.words import say
from gongfu.engine.consent import Consent
from gongfu.engine.guard import Said
from gongfu.engine.judge import judged
from gongfu.engine.pending import Pending
from gongfu.permissions.grants import Grants, Scope, apart_from_grave
from gongfu.permissions.policy import CallFacts, Decision, Mode, Need, decide, foremost
from gongfu.tools.protocol import Facts, Leave
from gongfu.workspace.root import Workspace

By: TypeAlias = Literal["policy", "nobody", "person", "before"]


class Denial(Base, frozen=True):
    """Why a call may not run: `text` for the model, `display` for the person."""

    text: str
    display: Display


class Permit:
    """The permission of one turn. What was refused once is refused again without asking.

    `denied` is what was refused in it so far; a sub-agent shares it with its parent. `floors` are what work modes let
    run, as things stand.
    """

    def __init__(
        self,
        *,
        workspace: Workspace,
        mode: Callable[[], Mode],
        grants: Grants,
        pending: Pending,
        consent: Consent,
        emit: Callable[[AnyEvent], object],
        denied: set[str] | None = None,
        floors: Callable[[], Sequence[Floor]] = tuple,
    ) -> None:
        self._workspace = workspace
        self._mode = mode
        self._grants = grants
        self._pending = pending
        self._consent = consent
        self._emit = emit
        self._denied = set[str]() if denied is None else denied
        self._floors = floors

    async def leave(self, call: CallPart, facts: Facts, said: Said) -> Leave | Denial:
        """How far `call` may go; a Denial when it may not run. `said` is what the hooks decided of it."""
        hook = said.decision if said.decision in ("allow", "ask") else ""
        rules, floors = self._consent.rules, self._floors()
        mode = self._mode()
        bare = mode == "full" and not (rules.ask or rules.deny or hook or floors)
        name = not bare and (rules.name_paths or any(floor.ask or floor.deny for floor in floors))
        seen = judged(call.name, facts, self._workspace, env=self._consent.env, rate=not bare, name=name)
        decision = decide(seen, mode, rules, covers=self._consent.covers, hook=hook, floors=floors)
        decision = self._left(seen, decision)
        if decision.verdict == "allow" or self._granted(seen, decision):
            return _leave(decision, seen)
        reason = say(f"permissions.{decision.rule}", "en", about=decision.about)
        if decision.verdict == "deny":
            text = f"Refused by the policy: {reason}. It will be refused again in this turn; find another way or stop."
            return _denial(text, decision, "policy")
        key = f"{call.name}\0{call.arguments}"
        if key in self._denied:
            return _denial("Refused before in this turn; it is not asked again.", decision, "before")
        question = _question(call, facts, decision, hook=said.reason if hook else "", lasting=self._consent.book)
        answer, by = await self._pending.ask(question, lambda: self._granted(seen, decision))
        return self._heed(answer, by, key, seen, decision)

    def _left(self, seen: CallFacts, decision: Decision) -> Decision:
        """The decision about what was not granted yet, where some of it was."""
        left = tuple(need for need in decision.needs if not self._grants.cover(seen.tool, [need]))
        if len(left) in (0, len(decision.needs)):
            return decision
        first = foremost(left)
        return replace(decision, needs=left, rule=first.rule, about=first.about)

    def _granted(self, seen: CallFacts, decision: Decision) -> bool:
        return decision.verdict == "ask" and self._grants.cover(seen.tool, decision.needs)

    def _heed(self, answer: str, by: str, key: str, seen: CallFacts, decision: Decision) -> Leave | Denial:
        word, _, rest = answer.partition(":")
        if word in ("session", "project"):
            self._grant(word, rest, seen, decision.needs)
        if word in ("allow", "session", "project"):
            return _leave(decision, seen)
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

    def _grant(self, scope: Scope, picked: str, seen: CallFacts, needs: tuple[Need, ...]) -> None:
        """Remember what was allowed: all of `needs`, or those whose numbers were `picked` ("1,3")."""
        numbers = {int(n) for n in picked.replace(",", " ").split() if n.isdecimal()}
        left = {need.key for at, need in enumerate(needs, 1) if numbers and at not in numbers}
        chosen = [need for need in needs if need.key not in left]
        taken = self._grants.add(seen.tool, chosen, scope)
        if taken:
            self._emit(PermissionGranted(scope=scope, tool=seen.tool, parts=tuple(need.text for need in taken)))


def _leave(decision: Decision, seen: CallFacts) -> Leave:
    reads = seen.line is not None and seen.line.ratings <= {"read"} and not any(path.write for path in seen.paths)
    return Leave(free=decision.free, network=decision.network, write=decision.write, changes=not reads)


def _denial(text: str, decision: Decision, by: By, said: str = "") -> Denial:
    about = decision.about
    return Denial(text=text, display=refusal_display(f"permissions.{decision.rule}", about=about, by=by, said=said))


def _question(call: CallPart, facts: Facts, decision: Decision, *, hook: str, lasting: object) -> QuestionAsked:
    """The question with everything that consent is needed for, one by one, in `preview["needs"]`.

    `preview["apart"]` says whether each can be granted by itself.
    """
    needs: list[dict[str, Any]] = [
        {
            "text": need.text,
            "reason": f"permissions.{need.rule}",
            "about": need.about,
            "ratings": list(need.ratings),
            "grave": need.grave,
        }
        for need in decision.needs
    ]
    apart = len({need.key for need in decision.needs}) == len(needs)
    project = lasting is not None and bool(apart_from_grave(decision.needs))
    return QuestionAsked(
        question=new_id("q"),
        about="permission",
        text=facts.title or call.name,
        options=("allow", "session", "project", "deny") if project else ("allow", "session", "deny"),
        default="deny",
        call=call.id,
        tool=call.name,
        reason=f"permissions.{decision.rule}",
        preview={**facts.preview, "about": hook or decision.about, "needs": needs, "apart": apart},
    )
