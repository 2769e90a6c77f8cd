"""The loop: ask, run the calls, repeat until the model has said its last word."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

from gongfu.core.base import Base
from gongfu.core.errors import UserError
from gongfu.core.events import AnswerReceived, AnyEvent, MessageAdded
from gongfu.core.messages import Message, user
from gongfu.engine.asker import Asker
from gongfu.engine.dispatch import Dispatcher
from gongfu.engine.limits import Limits
from gongfu.engine.state import SessionState

EMPTY = "[Your last answer was empty. Go on with the task, or give your final answer.]"
THOUGHT = "[You used up the output limit with thinking; no answer came. Think less, and answer or call a tool.]"
RESUMED = "[The turn was interrupted here. Go on where it stops; do not repeat it.]"
GO_ON = "[Your answer was cut off by the output limit. Go on exactly where it stops; do not repeat it.]"
TRIES = 3


class Ending(Base, frozen=True):
    """How a turn ended by itself: its last words."""

    text: str


class Words:
    """The last words of a turn, put together again where an answer came in pieces."""

    def __init__(self) -> None:
        self._pieces: list[str] = []
        self._open = False

    def add(self, text: str, *, more: bool) -> None:
        """Take in one answer; `more` when the next one goes on where it stops."""
        if not self._open:
            self._pieces.clear()
        self._pieces.append(text)
        self._open = more

    @property
    def text(self) -> str:
        """The words so far."""
        return "".join(self._pieces)


async def run_turn(
    *,
    asker: Asker,
    dispatcher: Dispatcher,
    limits: Limits,
    state: SessionState,
    steering: Callable[[], list[Message]],
    more: Callable[[], Awaitable[bool]],
    emit: Callable[[AnyEvent], None],
    check: Callable[[str], str],
    words: Words,
) -> Ending:
    """Run one turn to its end. It keeps no history of its own: the transcript is a projection of what is emitted.

    `steering` gives the words that came meanwhile; `more` waits for the reports of agents in the background and tells
    whether there are words then. `check` says what is wrong with a final answer ("" when nothing is).
    Raises `LimitReached`, `Refusal`, `ProviderFault` or `UserError` where it cannot go on.
    """
    empty = cut = wrong = 0
    last = state.last_words()
    if last and not check(last):  # it was killed between the last answer and the end of its turn
        words.add(last, more=False)
        return Ending(text=last)
    if state.transcript.open_calls:  # an interrupted turn goes on: these were asked for and never began
        await dispatcher.run(state.transcript.open_calls)
    elif state.transcript.messages[-1].role == "assistant":  # few servers take that as the end of a request
        words.add(state.transcript.messages[-1].text, more=not last)
        emit(MessageAdded(message=user(RESUMED, kind="note")))
    while True:
        for message in steering():
            emit(MessageAdded(message=message))
        await limits.before_step()
        answer = await asker.ask()
        said, calls = answer.message.text, answer.message.calls
        words.add(said, more=answer.finish == "length" and not calls)
        cut = cut + 1 if answer.finish == "length" else 0
        if calls:
            await dispatcher.run(calls, cut=answer.finish == "length")
            _not_thrice(cut, "engine.cut_calls")
        elif answer.finish == "length":
            _not_thrice(cut, "engine.cut_text" if words.text.strip() else "engine.cut_thinking")
            emit(MessageAdded(message=user(GO_ON if said.strip() else THOUGHT, kind="note")))
        elif not said.strip() and not await more():
            empty += 1
            _not_empty(answer, empty)
            emit(MessageAdded(message=user(EMPTY, kind="note")))
        elif said.strip() and (problem := check(words.text)):
            wrong += 1
            _not_thrice(wrong, "engine.schema_not_met", problem=problem)
            emit(MessageAdded(message=user(f"[{problem} Answer again with nothing but valid JSON.]", kind="note")))
        elif said.strip() and not await more():
            return Ending(text=words.text)


def _not_thrice(count: int, key: str, **values: Any) -> None:
    if count >= TRIES:
        raise UserError(key, **values)


def _not_empty(answer: AnswerReceived, count: int) -> None:
    if answer.finish == "filter":
        raise UserError("engine.filtered")
    if count > 1:
        raise UserError("engine.empty_answer")
