"""Summaries made beside the turn, so that they are there when a fold needs them; a request never waits for one."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Literal, TypeAlias

import anyio
import anyio.to_thread

from gongfu.core.errors import UserError
from gongfu.core.events import SummaryFailed, SummaryMade, WarningRaised
from gongfu.core.specs import ModelInfo
from gongfu.core.tokens import text_tokens
from gongfu.engine.agent import AgentSpec
from gongfu.engine.sidecar import Chain, Reply, Sidecar
from gongfu.engine.state import SessionState

if TYPE_CHECKING:
    from gongfu.context.pairs import Pair

Kind: TypeAlias = Literal["history", "chain"]

HISTORY_USE = 0.65  # share of the budget in use from which a history summary is kept ready
URGENT_USE = 0.75  # here it is renewed once more, however little it lags behind
CHAIN_USE = 0.50
STAYING = 3  # the newest turns, which a fold leaves where they are
LAG = 3  # turns that a summary may lag behind before it is renewed
BATCHES = 3  # a turn of fewer batches of calls needs no chain summary
FAILURES = 3  # in a row: then no summary is asked for any more in this session
OUTPUT = 4096
TEMPERATURE = 0.3
PAUSE = 0.5  # seconds; a program that ends with its turn asks for no summary of it
_SECONDS = 120.0
_ROOM = 6000  # tokens of a recorded summary
_CHAIN_ROOM = 1000


class Summaries:
    """One for a session. `main` tells whether the main model may write summaries when there is no fast one.

    What comes of it is in the log: `summary_made`, or `summary_failed` when a model was asked in vain. After three
    failures in a row no more is asked for; folds then use the deterministic extract alone. `use` is the share of the
    budget that the next request will take, as far as is known.
    """

    def __init__(
        self,
        *,
        agent: AgentSpec,
        sidecar: Sidecar,
        state: SessionState,
        emit: Callable[..., None],
        fast: Chain,
        chain: Chain,
        main: bool,
    ) -> None:
        self._agent = agent
        self._sidecar = sidecar
        self._state = state
        self._emit = emit
        self._fast = fast
        self._chain = chain
        self._main = main
        self.use = 0.0
        self._tried = -1  # how far the newest summary asked for was to reach
        self._asked_at = 0.0
        self._busy = False

    # --- when ---

    def after_request(self, use: float) -> None:
        """A request was answered and its calls have run: keeps a history summary ready when a fold is near."""
        self.use = use
        self._keep_ready(0.0)

    def _keep_ready(self, pause: float) -> None:
        use = self.use
        upto = self._reach()
        made = self._state.context.made.get("history")
        lag = upto - (made.upto if made else 0)
        due = lag >= LAG or made is None or self._asked_at < URGENT_USE <= use
        if use < HISTORY_USE or lag <= 0 or not due or upto <= self._tried or self._busy or self._open:
            return
        self._tried, self._asked_at, self._busy = upto, use, True
        self._sidecar.start(lambda: self._beside(upto, pause))

    def after_turn(self) -> None:
        """A turn has ended: as above, and when it was long and a fold is not far, a summary of its tool calls."""
        self._keep_ready(PAUSE)
        turn = len(self._state.context.turns) - 1
        inner = self._state.created is not None and bool(self._state.created.parent)
        if turn < 0 or inner or self.use < CHAIN_USE or self._open:
            return
        messages = self._state.context.turn(turn, self._state.transcript.messages)
        if sum(1 for m in messages if m.calls) >= BATCHES:
            self._sidecar.start(lambda: self._chain_summary(turn))

    async def compact(self, focus: str = "") -> None:
        """Make a history summary now and wait for it, for a fold asked for by hand; `focus` is what to keep most.

        Nothing is asked for when there is nothing to summarise, no model for it, or three have failed. One that is
        being made is waited for first.
        """
        if self._busy:
            await self._sidecar.drain(_SECONDS)
        upto = self._reach()
        made = self._state.context.made.get("history")
        if upto > 0 and not self._open and (focus.strip() or made is None or made.upto < upto):
            await self._history(upto, focus.strip(), by_hand=True)

    def _reach(self) -> int:
        """How many turns, from the first, a fold may move away."""
        return len(self._state.context.turns) - STAYING

    @property
    def _open(self) -> bool:
        """Whether the breaker is open."""
        return self._state.context.failures >= FAILURES

    # --- what ---

    async def _beside(self, upto: int, pause: float) -> None:
        try:
            await anyio.sleep(pause)
            await self._history(upto, "")
        finally:
            self._busy = False

    async def _history(self, upto: int, focus: str, *, by_hand: bool = False) -> None:
        from gongfu.context import summary  # only in long sessions
        from gongfu.context.pairs import pair_of

        info = await self._model(by_hand=by_hand)
        if info is None:
            return
        made = self._state.context.made.get("history")
        old, start = (made.text, made.upto) if made is not None and not focus else ("", 0)
        room = self._room(info)

        context, messages = self._state.context, self._state.transcript.messages
        turns = range(start, min(upto, len(context.turns)))
        raw = [context.turn(turn, messages) for turn in turns]  # not in the thread: the store may be read

        def prepare() -> tuple[list[Pair], str, str]:
            pairs = [pair_of(turn, told, context.labels) for turn, told in zip(turns, raw, strict=True)]
            return pairs, *summary.history_request(old, pairs, focus, most=room)

        pairs, system, text = await anyio.to_thread.run_sync(prepare)
        if text_tokens(text) < summary.LEAST:  # the extract holds all of it
            return
        reply = await self._ask("summary", system, text)
        if not self._refused("history", reply, text) and reply is not None:
            whole = summary.completed(reply.text, old, pairs, room=_ROOM)
            newest = self._state.context.made.get("history")
            if newest is None or newest.upto <= upto:
                self._emit(SummaryMade(kind="history", text=whole, upto=upto, focus=focus))

    async def _chain_summary(self, turn: int) -> None:
        from gongfu.context import summary  # only in long sessions
        from gongfu.context.quote import fitted
        from gongfu.core.secrets import redact

        await anyio.sleep(PAUSE)
        if await self._model() is None:
            return
        context = self._state.context
        messages = tuple(context.turn(turn, self._state.transcript.messages))
        system, text = await anyio.to_thread.run_sync(summary.chain_request, messages, context.labels)
        reply = await self._ask("tool_chain", system, text)
        if not self._refused("chain", reply, text) and reply is not None:
            text = fitted(redact(reply.text.strip()), await self._chain_room())
            if text:
                self._emit(SummaryMade(kind="chain", text=text, upto=turn + 1))

    async def _ask(self, purpose: str, system: str, text: str) -> Reply | None:
        return await self._sidecar.complete(
            purpose=purpose,
            system=system,
            text=text,
            max_output=OUTPUT,
            temperature=TEMPERATURE,
            may_use_main=self._main,
            seconds=_SECONDS,
        )

    async def _model(self, *, by_hand: bool = False) -> ModelInfo | None:
        """The model that will be asked; None when there is none that could.

        A server of one slot that the main model uses is asked only by hand: beside the turn the next request would
        wait for the summary, and find the server's cache filled with another prompt.
        """
        try:
            main = await self._chain()
            providers = await self._fast() or (main if self._main else ())
        except UserError:  # the person is told of it where models are shown
            return None
        info = next((p.info for p in providers if not p.info.small), None)
        alone = info is not None and info.slots == 1 and any(p.info.provider == info.provider for p in main)
        return None if alone and not by_hand else info

    async def _chain_room(self) -> int:
        """Tokens of a chain summary: a third of what a fold gives the recollection in the smallest main window."""
        totals: list[int] = [_CHAIN_ROOM * 100]
        for provider in await self._chain():
            info = provider.info
            totals.append(self._agent.budget(info, served=self._state.served.get(info.ref, 0)).total)
        return min(_CHAIN_ROOM, min(totals) * 8 // 300)

    def _room(self, info: ModelInfo) -> int:
        """Tokens that the text of a request may take, with some to spare for a model that counts more."""
        output = min(OUTPUT, info.max_output or OUTPUT)
        return self._agent.budget(info, output=output).total * 6 // 10

    def _refused(self, kind: Kind, reply: Reply | None, source: str) -> bool:
        """Whether nothing can be made of an answer; then that is recorded, and told once when it is the third time."""
        from gongfu.context.summary import problem  # only in long sessions

        reason = problem(reply.text, text_tokens(source), reply.truncated) if reply else "no answer"
        if not reason:
            return False
        self._emit(SummaryFailed(kind=kind, reason=reason))
        if self._state.context.failures == FAILURES:
            self._emit(WarningRaised(key="context.summaries_stopped", values={"reason": reason}))
        return True
