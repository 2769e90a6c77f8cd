"""Questions that wait for a person."""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal, TypeAlias

import anyio
from msgspec.structs import replace

from gongfu.core.errors import UserError
from gongfu.core.events import AnyEvent, QuestionAnswered, QuestionAsked
from gongfu.engine.guard import Hooks

Answers: TypeAlias = Literal["ask", "no"]
By: TypeAlias = Literal["person", "policy", "timeout", "cancel"]


class _Waiting:
    def __init__(self) -> None:
        self.done = anyio.Event()
        self.answer = ""


class Pending:
    """Asks through events and waits for `answer`. With `answers="no"` nobody is there: the policy answers at once.

    `hooks` are told of a question that waits.
    """

    def __init__(self, emit: Callable[[AnyEvent], None], answers: Answers, hooks: Hooks | None = None) -> None:
        self._emit = emit
        self._hooks = hooks
        self._answers: Answers = answers
        self._waiting: dict[str, _Waiting] = {}
        self._one = anyio.Lock()

    async def ask(self, question: QuestionAsked, granted: Callable[[], bool] = lambda: False) -> tuple[str, By]:
        """The answer to `question` and who gave it. Questions are put one at a time.

        One that waited for an earlier one is not put any more when that answer `granted` it.
        """
        if self._answers == "no":
            default = "deny" if question.about == "permission" else question.default
            self._emit(question)
            self._emit(QuestionAnswered(question=question.question, answer=default, by="policy"))
            return default, "policy"
        async with self._one:
            return ("allow", "person") if granted() else await self._wait(question)

    async def _wait(self, question: QuestionAsked) -> tuple[str, By]:
        waiting = self._waiting[question.question] = _Waiting()
        by: By = "cancel"
        answer = question.default
        self._emit(question)
        self._tell(question)
        try:
            with anyio.move_on_after(question.seconds):
                await waiting.done.wait()
            by = "person" if waiting.done.is_set() else "timeout"
            answer = waiting.answer if by == "person" else question.default
        finally:
            del self._waiting[question.question]
            self._emit(QuestionAnswered(question=question.question, answer=answer, by=by))
        return answer, by

    def _tell(self, question: QuestionAsked) -> None:
        if self._hooks is not None and self._hooks.wants("notification"):
            from gongfu.engine.hooked import tell_question  # only where there are hooks

            tell_question(self._hooks, question)

    def answer(self, question: str, answer: str) -> None:
        """Answer a waiting question; UserError when none of that id waits."""
        waiting = self._waiting.get(question)
        if waiting is None or waiting.done.is_set():
            raise UserError("engine.no_such_question", question=question)
        waiting.answer = answer
        waiting.done.set()

    @property
    def open(self) -> tuple[str, ...]:
        """Ids of the questions that wait."""
        return tuple(self._waiting)


class Relay(Pending):
    """The questions of a sub-agent: put through its parent, under its name, so that a person answers in one place.

    They and their answers stand in its own log too. `call` is the call of the parent that started it.
    """

    def __init__(self, emit: Callable[[AnyEvent], None], above: Pending, *, agent: str, call: str) -> None:
        super().__init__(emit, "ask")
        self._above = above
        self._agent = agent
        self._call = call

    async def ask(self, question: QuestionAsked, granted: Callable[[], bool] = lambda: False) -> tuple[str, By]:
        """The answer that the parent's person, or its policy, gives."""
        self._emit(question)
        answer: str = question.default
        by: By = "cancel"
        try:
            named = replace(question, agent=question.agent or self._agent, call=self._call)
            answer, by = await self._above.ask(named, granted)
        finally:
            self._emit(QuestionAnswered(question=question.question, answer=answer, by=by))
        return answer, by

    def answer(self, question: str, answer: str) -> None:
        """Answer through the parent."""
        self._above.answer(question, answer)

    @property
    def open(self) -> tuple[str, ...]:
        """Ids of the questions that wait, all of the tree."""
        return self._above.open
