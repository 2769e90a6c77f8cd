"""Names what a session does: a label for each batch of calls, and a title for the session."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import anyio

from gongfu.context.plain_labels import plain
from gongfu.context.shown import without_secrets
from gongfu.core.events import BatchLabelled, SessionTitled
from gongfu.core.graphemes import cut
from gongfu.core.messages import CallPart, Message, ResultPart
from gongfu.engine.sidecar import Job, Sidecar
from gongfu.engine.state import SessionState

TITLE = "title"
TITLE_LENGTH = 60
PAUSE = 0.5  # seconds; a program that ends with its turn asks for no title
_TITLE_TOKENS = 40
_LABEL_SECONDS = 30.0
_FAILURES = 3  # in a row: then no model is asked for labels any more in this session


def first_title(text: str) -> str:
    """The first title of a session: the beginning of the first line of its prompt, without secrets."""
    line = next((" ".join(line.split()) for line in text.splitlines() if line.strip()), "")
    line = without_secrets(line, TITLE_LENGTH)
    return line if len(line) <= TITLE_LENGTH else f"{line[: TITLE_LENGTH - 1].rstrip()}…"


class Namer:
    """One for a session, for all its turns. `models` says whether a model may write labels, `titles` whether titles.

    Nothing here is waited for, and nothing that fails here is told: then there is no label.
    """

    def __init__(
        self,
        *,
        sidecar: Sidecar,
        state: SessionState,
        emit: Callable[..., None],
        set_title: Callable[[str], None],
        models: bool,
        titles: bool,
    ) -> None:
        self._sidecar = sidecar
        self._state = state
        self._emit = emit
        self._set_title = set_title
        self._models = models
        self._titles = titles
        self._failures = 0
        self._scopes: set[anyio.CancelScope] = set()
        self._turn = 0
        self._aborted = 0
        self._title_wanted = False

    def turn_began(self) -> None:
        """A turn begins: of the first one a title may be made."""
        self._turn += 1
        self._title_wanted = self._titles and self._state.finished is None and not self._inner

    @property
    def _inner(self) -> bool:
        """Whether this is the session of a sub-agent: its batches are its parent's matter as one call."""
        return self._state.created is not None and bool(self._state.created.parent)

    def batch_done(self, displays: Mapping[str, Mapping[str, Any]]) -> None:
        """All calls of the newest answer have their results; `displays` is what they showed, by call id."""
        if self._inner:
            return
        messages = self._state.transcript.messages
        at = next((n for n in range(len(messages) - 1, -1, -1) if messages[n].calls), -1)
        if at < 0 or at + 1 >= len(messages):
            return
        self._title(pause=0.0)
        self._label(messages[at], {r.call_id: r for r in messages[at + 1].results}, displays)

    def _label(
        self, answer: Message, results: Mapping[str, ResultPart], displays: Mapping[str, Mapping[str, Any]]
    ) -> None:
        calls = answer.calls
        if text := plain(calls, results, displays):
            self._emit(BatchLabelled(calls=tuple(c.id for c in calls), text=text))
        elif self._models and self._failures < _FAILURES:
            self._beside(lambda: self._ask_label(calls, results, answer.text))

    async def _ask_label(self, calls: Sequence[CallPart], results: Mapping[str, ResultPart], intent: str) -> None:
        from gongfu.context.labels import OUTPUT, PURPOSE, clean, prompt  # only where a model writes labels

        if not await self._sidecar.available():
            return
        # a few milliseconds of looking for secrets that the turn need not wait for
        system, text = await anyio.to_thread.run_sync(prompt, calls, results, intent)
        reply = await self._sidecar.complete(
            purpose=PURPOSE, system=system, text=text, max_output=OUTPUT, temperature=0.0, seconds=_LABEL_SECONDS
        )
        label = clean(reply.text) if reply else ""
        self._failures = 0 if reply else self._failures + 1
        if label:
            self._emit(BatchLabelled(calls=tuple(c.id for c in calls), text=label, by="model"))

    def turn_ended(self, *, aborted: bool) -> None:
        """The turn is over. When it was aborted, what has not been named by now stays without a name."""
        if aborted:
            self._title_wanted = False
            self._aborted = self._turn
            for scope in self._scopes:
                scope.cancel()
        self._title(pause=PAUSE)

    def _beside(self, job: Job) -> None:
        turn = self._turn

        async def work() -> None:
            if turn <= self._aborted:
                return
            with anyio.CancelScope() as scope:
                self._scopes.add(scope)
                try:
                    await job()
                finally:
                    self._scopes.discard(scope)

        self._sidecar.start(work, droppable=True)

    # --- titles ---

    def _title(self, *, pause: float) -> None:
        if not self._title_wanted:
            return
        self._title_wanted = False
        before = self._state.title
        messages = self._state.transcript.messages
        words = next((m.text for m in messages if m.role == "user" and not m.kind), "")
        answer = next((m.text for m in messages if m.role == "assistant" and m.text.strip()), "")
        if words.strip():
            self._beside(lambda: self._ask_title(before, words, answer, pause))

    async def _ask_title(self, before: str, words: str, answer: str, pause: float) -> None:
        from gongfu.context.labels import clean, title_prompt  # only where a model writes titles

        await anyio.sleep(pause)
        if not await self._sidecar.available():
            return
        system, text = title_prompt(words, answer)
        reply = await self._sidecar.complete(
            purpose=TITLE, system=system, text=text, max_output=_TITLE_TOKENS, temperature=0.0
        )
        title = cut(clean(reply.text), TITLE_LENGTH).rstrip() if reply else ""
        if title and self._state.title == before:
            self._emit(SessionTitled(title=title))
            self._set_title(title)
