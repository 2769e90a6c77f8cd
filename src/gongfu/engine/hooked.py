"""Where the course of a session meets its hooks: before a turn, before a fold, at the end of a turn, at a question."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from gongfu.core.base import Base
from gongfu.core.errors import UserError
from gongfu.core.events import AnyEvent, MessageAdded, QuestionAsked, SessionTitled, TurnFinished, WarningRaised
from gongfu.core.ids import new_id
from gongfu.core.messages import Message, user
from gongfu.core.words import say
from gongfu.engine.guard import HookEvent, Hooks

if TYPE_CHECKING:
    from gongfu.engine.session import Session

STAYS = 3
"""How often hooks may keep one turn from ending."""
LONG = 30.0
"""Seconds of a turn whose end is told."""


class Greeting(Base, frozen=True):
    """What hooks said before a turn: notes that go before and after its prompt; `blocked` is why there is none."""

    before: tuple[AnyEvent, ...] = ()
    after: tuple[AnyEvent, ...] = ()
    blocked: str = ""


async def greet(session: Session, hooks: Hooks, prompt: str) -> Greeting:
    """Ask the hooks about the queued prompt that a turn of the main agent is about to serve ("" for none)."""
    before: tuple[AnyEvent, ...] = ()
    after: tuple[AnyEvent, ...] = ()
    hooks.stop = blocked = ""
    if session.brief is None:
        if not hooks.greeted and hooks.wants("session_start"):
            source = "resume" if session.state.transcript.messages else "startup"
            said = await hooks.fire("session_start", {"source": source})
            before = _notes("session_start", said.notes)
            blocked = hooks.stop
        hooks.greeted = True
        queued = session.state.queue.get(prompt)
        if queued is not None and not blocked and hooks.wants("prompt"):
            told, blocked = await _vet(hooks, queued.message.text)
            after = _notes("prompt", told)
            if blocked and not any(m.role == "user" and not m.kind for m in session.state.transcript.messages):
                session.stream.emit(SessionTitled(title=""))  # it was made from this prompt, and models are told titles
                session.kit.sessions.set_title(session.id, "")
    return Greeting(before=before, after=after, blocked=blocked)


async def _vet(hooks: Hooks, text: str) -> tuple[tuple[str, ...], str]:
    """The notes of hooks on words of the person, and why they do not let them through."""
    said = await hooks.fire("prompt", {"prompt": text})
    hooks.stop = ""
    if said.decision in ("deny", "block"):
        return (), said.reason or say("hooks.no_reason", "en")
    return said.notes, ""


async def vet_steering(hooks: Hooks, text: str) -> list[Message]:
    """Notes that go with words for the turn that runs. UserError when a hook does not let them through."""
    told, blocked = await _vet(hooks, text) if hooks.wants("prompt") else ((), "")
    if blocked:
        raise UserError("hooks.prompt_blocked", reason=blocked.rstrip(".。"))
    return [note_of("prompt", one) for one in told]


def _notes(event: HookEvent, texts: Sequence[str]) -> tuple[AnyEvent, ...]:
    return tuple(MessageAdded(message=note_of(event, text)) for text in texts)


def note_of(about: str, text: str) -> Message:
    """A note of a hook as the model reads it: never as words of the person."""
    return user(f"[Note of a hook of the user ({about}):\n{text}]", kind="note", id=new_id("m"))


class Stays:
    """The hooks at the end of one turn. They may keep it going, `STAYS` times."""

    def __init__(self, hooks: Hooks) -> None:
        self._hooks = hooks
        self._count = 0

    async def ask(self, words: str) -> Message | None:
        """A note with what is still to be done; None when the turn may end. `words` are its last."""
        if self._count >= STAYS or not self._hooks.wants("turn_end"):
            return None
        data = {"stop_hook_active": self._count > 0, "last_assistant_message": words}
        said = await self._hooks.fire("turn_end", data)
        if self._hooks.stop or said.decision not in ("deny", "block"):
            return None
        self._count += 1
        return note_of("turn_end, the turn goes on", said.reason or "Go on.")


async def before_fold(session: Session, hooks: Hooks, reason: str) -> None:
    """Tell the hooks of a fold that is due; it cannot be put off."""
    said = await hooks.fire("before_compact", {"trigger": "auto", "reason": reason, "custom_instructions": ""})
    if said.decision in ("deny", "block"):
        values = {"reason": said.reason or say("hooks.no_reason", "en")}
        session.stream.emit(WarningRaised(key="hooks.compact_goes_on", values=values))


async def before_compact(hooks: Hooks, focus: str) -> None:
    """Ask the hooks about a fold by hand. UserError when one does not want it."""
    said = await hooks.fire("before_compact", {"trigger": "manual", "reason": "", "custom_instructions": focus})
    hooks.stop = ""
    if said.decision in ("deny", "block"):
        raise UserError("hooks.compact_blocked", reason=said.reason.rstrip(".。") or say("hooks.no_reason", "en"))


def tell_question(hooks: Hooks, question: QuestionAsked) -> None:
    """Tell the hooks that a question waits for a person."""
    kind = "permission" if question.about == "permission" else "question"
    what = f"{question.tool}: {question.text}" if kind == "permission" and question.tool else question.text
    message = say(f"hooks.{kind}_waits", "en", what=what)
    hooks.beside("notification", {"kind": kind, "message": message, "title": "Gongfu", "question": question.question})


def tell_end(hooks: Hooks, finished: TurnFinished) -> None:
    """Tell the hooks of the end of a turn that took long."""
    if finished.seconds > LONG and finished.status != "cancelled":
        message = say("hooks.turn_over", "en", seconds=round(finished.seconds), status=finished.status)
        hooks.beside("notification", {"kind": "turn", "message": message, "title": "Gongfu"}, last=True)
