"""A plan put before the person: they approve it and say what may run without asking, or say what is wrong with it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from gongfu.core.base import Base
from gongfu.core.display import plan_display, text_display
from gongfu.core.errors import ToolFailure
from gongfu.tools.protocol import CallContext, Outcome

if TYPE_CHECKING:
    from gongfu.core.brief import Brief
    from gongfu.permissions.policy import Mode

LONGEST = 40_000
NO = "no"
_SAID = 120
_BEGIN = ("edits", "ask")  # what may run without asking once the plan is approved, where only reading was allowed
_APPROVE = "approve"
_YES = ("yes", "y", "ok", _APPROVE)


class Desk(Protocol):
    """The session that proposes."""

    @property
    def brief(self) -> Brief | None: ...

    @property
    def permission(self) -> Mode: ...

    def set_permission(self, mode: str, /) -> bool: ...


class Proposal(Base, frozen=True):
    """A plan as the person reads it."""

    title: str
    markdown: str


def check(desk: Desk | None, proposal: Proposal) -> None:
    """ToolFailure when it cannot be put before the person."""
    if desk is None or desk.brief is not None:
        raise ToolFailure("a sub-agent cannot propose a plan; put it in your report")
    if not proposal.markdown.strip():
        raise ToolFailure("markdown is empty; give the whole plan in it, or the name of a plan; nobody was asked")
    if len(proposal.markdown) > LONGEST:
        raise ToolFailure(f"markdown may have {LONGEST} characters, not {len(proposal.markdown)}; nobody was asked")


async def propose(desk: Desk | None, proposal: Proposal, ctx: CallContext) -> Outcome:
    """Ask for approval. Where only reading is allowed the answer also says what may run from then on; otherwise the
    permission stays as it is, and so it does unless the person chose another one in so many words.
    """
    check(desk, proposal)
    assert desk is not None
    preview = plan_display(proposal.title, proposal.markdown)
    reading = desk.permission == "plan"
    options = (*(_BEGIN if reading else (_APPROVE,)), NO)
    answer, by = await ctx.ask(proposal.title, options=options, default=NO, preview=preview)
    if by != "person":
        return _outcome(
            "Nobody is there to approve it. Present the plan as your answer"
            + (", for only reading is allowed." if reading else ", or go on within what is allowed."),
            proposal,
            NO,
        )
    chosen, words = _read(answer, options)
    if chosen == NO:
        said = f": {words}" if words else ", and gave no reason"
        todo = "Go on planning; only reading is allowed" if reading else "Do not carry it out; revise it"
        return _outcome(
            f"The person did not approve the plan{said}\n{todo}, and propose it anew or ask.", proposal, NO, words
        )
    if reading:
        desk.set_permission(chosen)
    more = f" They add: {words}" if words else ""
    return _outcome(f"The person approved the plan. Carry it out now.{more}", proposal, chosen, words)


def _read(answer: str, options: tuple[str, ...]) -> tuple[str, str]:
    """The option that was chosen, and the words with it. Only a bare word, or one before a colon, chooses; anything
    else is a no with a reason: a sentence that happens to begin with an option must not let anything run.
    """
    word, colon, words = answer.strip().partition(":")
    word = word.strip().lower()
    if word in _YES:
        word = options[0] if options[0] == _APPROVE else "ask"  # a mere yes lets nothing run without asking
    elif options[0] == _APPROVE and word in _BEGIN:
        word = _APPROVE
    if word in options:
        return word, words.strip() if colon else ""
    return NO, answer.strip()


def _outcome(text: str, proposal: Proposal, chosen: str, words: str = "") -> Outcome:
    """The result; its display keeps the plan with what became of it, for the dialogue is gone by then."""
    said = " ".join(words.split())
    summary = f"{chosen}: {said[:_SAID]}" if said else chosen
    return Outcome(text=text, display=text_display(proposal.markdown, summary))
