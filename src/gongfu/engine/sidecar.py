"""Work beside the turn: short requests to the fast model that nobody waits for."""

from __future__ import annotations

import hashlib
import time
import traceback
from collections import deque
from collections.abc import Awaitable, Callable, Coroutine, Sequence
from contextlib import aclosing
from typing import Any

import anyio
from msgspec.structs import replace

from gongfu.context.receipt import INPUT, Lineage, stable_hash
from gongfu.context.tiers import SYSTEM, USER
from gongfu.core.base import Base
from gongfu.core.errors import ProviderFault, UserError
from gongfu.core.events import AnswerReceived, AnyEvent, RequestFailed, RequestSent
from gongfu.core.ids import new_id
from gongfu.core.messages import user
from gongfu.core.specs import ModelInfo
from gongfu.core.tokens import PER_MESSAGE, calibrated, text_tokens
from gongfu.core.told import Included
from gongfu.engine.agent import AgentSpec
from gongfu.models.protocol import Answer, ModelProvider, Prepared, Request
from gongfu.models.retry import Failed, RetryPolicy, attempts

AT_ONCE = 2
WAITING = 6
GRACE = 0.25  # seconds in which a request that has its receipt gets onto the wire when the session closes
PATIENCE = RetryPolicy(budget_seconds=20, unreachable_seconds=5, max_attempts=2)

Chain = Callable[[], Awaitable[Sequence[ModelProvider]]]
Job = Callable[[], Coroutine[Any, Any, None]]


class Reply(Base, frozen=True):
    """What a model answered. `truncated` when it ended at the output limit; `model` is its reference."""

    text: str
    truncated: bool
    model: str


class _Sent(Base, frozen=True):
    """One request as it is asked for."""

    purpose: str
    system: str
    text: str
    max_output: int
    temperature: float | None


class _Lane:
    """Jobs that wait for each other: `at_once` run at a time, of those that wait the newest `most` are kept."""

    def __init__(self, at_once: int, *, most: int | None = None) -> None:
        self.at_once = at_once
        self.waiting: deque[Job] = deque(maxlen=most)
        self.running = 0


class Sidecar:
    """Runs jobs beside the turn and asks models for them. Nothing that happens here reaches the turn.

    `fast` resolves the models that are asked, `main` those of the main role for purposes that may use them. `lineage`
    is what the session has sent so far. Jobs run in `spawn`'s task group: those that may be dropped `AT_ONCE` at a
    time, where the oldest beyond `WAITING` are dropped, and the others one after the other beside them.
    """

    def __init__(
        self,
        *,
        agent: AgentSpec,
        emit: Callable[..., None],
        spawn: Callable[..., Any],
        fast: Chain,
        main: Chain,
        report: Callable[[str], object],
        ratios: Callable[[str], Sequence[float]] = lambda _ref: (),
        lineage: Lineage | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._agent = agent
        self._emit = emit
        self._spawn = spawn
        self._fast = fast
        self._main = main
        self._report = report
        self._ratios = ratios
        self._lineage = Lineage() if lineage is None else lineage
        self._clock = clock
        self._light, self._heavy = _Lane(AT_ONCE, most=WAITING), _Lane(1)
        self._scopes: set[anyio.CancelScope] = set()
        self._running = 0
        self._sent_at = -GRACE
        self._closed = False
        self._idle = anyio.Event()
        self._idle.set()

    # --- jobs ---

    def start(self, job: Job, *, droppable: bool = False) -> None:
        """Run `job` beside the turn, now or when its turn comes. After `close` nothing starts any more."""
        if self._closed:
            return
        lane = self._light if droppable else self._heavy
        lane.waiting.append(job)
        if lane.running < lane.at_once:
            if not self._running:
                self._idle = anyio.Event()
            lane.running += 1
            self._running += 1
            self._spawn(self._work, lane)

    async def _work(self, lane: _Lane) -> None:
        try:
            while lane.waiting and not self._closed:
                await self._guarded(lane.waiting.popleft())
        finally:
            lane.running -= 1
            self._running -= 1
            if not self._running:
                self._idle.set()

    async def _guarded(self, job: Job) -> None:
        with anyio.CancelScope() as scope:
            self._scopes.add(scope)
            try:
                await job()
            except Exception:  # noqa: BLE001 - the edge of a job: its fault must not reach the session
                self._report(f"beside the turn\n{traceback.format_exc()}")
            finally:
                self._scopes.discard(scope)

    @property
    def busy(self) -> bool:
        """Whether a job runs or waits."""
        return bool(self._running)

    async def drain(self, seconds: float) -> bool:
        """Wait at most `seconds` until no job runs or waits; whether that is so."""
        with anyio.move_on_after(seconds):
            await self._idle.wait()
        return not self._running

    async def close(self) -> None:
        """Cancel the jobs that run, forget those that wait, and return when the last has gone.

        A request whose receipt was written this very moment is sent first: receipts and requests are as many.
        """
        self._closed = True
        self._light.waiting.clear()
        self._heavy.waiting.clear()
        with anyio.move_on_after(max(0.0, self._sent_at + GRACE - self._clock())):
            await self._idle.wait()
        for scope in self._scopes:
            scope.cancel()
        await self._idle.wait()

    # --- requests ---

    async def available(self, *, may_use_main: bool = False) -> bool:
        """Whether `complete` has a model to ask."""
        return bool(await self._providers(may_use_main=may_use_main))

    async def _providers(self, *, may_use_main: bool) -> Sequence[ModelProvider]:
        """The models to ask. One that would keep the main model waiting at their endpoint is left out.

        Where `may_use_main` allows for that wait, it is the caller who chooses a moment when nobody waits.
        """
        try:
            fast = await self._fast()
            if may_use_main:
                return fast or await self._main()
            busy = {p.info.provider for p in await self._main()} if any(p.info.slots for p in fast) else ()
            return [p for p in fast if p.info.slots != 1 or p.info.provider not in busy]
        except UserError:  # it has no key, or means nothing: the person is told where models are shown
            return ()

    async def complete(
        self,
        *,
        purpose: str,
        system: str,
        text: str,
        max_output: int,
        temperature: float | None = None,
        may_use_main: bool = False,
        seconds: float = 60.0,
    ) -> Reply | None:
        """Ask the first model that answers; None when none does within `seconds`, or there is none.

        Each request that leaves has its receipt (scope "auxiliary"), each answer an event that carries `purpose`.
        """
        sent = _Sent(purpose=purpose, system=system, text=text, max_output=max_output, temperature=temperature)
        with anyio.move_on_after(seconds):
            for provider in await self._providers(may_use_main=may_use_main):
                try:
                    reply = await self._ask(provider, sent)
                except (ProviderFault, UserError):
                    continue
                if reply is not None:
                    return reply
        return None

    def _request(self, info: ModelInfo, sent: _Sent) -> Request:
        return Request(
            model=info.name,
            system=sent.system,
            messages=(user(sent.text),),
            max_output=min(sent.max_output, info.max_output or sent.max_output),
            temperature=sent.temperature,
            reasoning="off",
            purpose=sent.purpose,
        )

    async def _ask(self, provider: ModelProvider, sent: _Sent) -> Reply | None:
        info = provider.info
        request = self._request(info, sent)
        budget = self._agent.budget(info, output=request.max_output)
        included = (
            Included(id="system", tier=SYSTEM, tokens=PER_MESSAGE + text_tokens(sent.system)),
            Included(id=INPUT, tier=USER, tokens=PER_MESSAGE + text_tokens(sent.text)),
        )
        raw = sum(item.tokens for item in included)
        receipt = RequestSent(
            request="",
            purpose=sent.purpose,
            model=info.ref,
            attempt=0,
            estimate=calibrated(raw, self._ratios(info.ref)),
            raw=raw,
            budget=budget.total,
            messages=1,
            scope="auxiliary",
            included=included,
            window=budget.window,
            reserve=budget.output,
            stable=stable_hash(sent.system, ()),
        )
        if receipt.estimate > budget.total:
            return None
        return await self._receive(provider, request, receipt)

    async def _receive(self, provider: ModelProvider, request: Request, receipt: RequestSent) -> Reply | None:
        started = self._clock()
        emit = self._emit
        included = receipt.included
        open_ = False
        try:
            async with aclosing(attempts(provider, request, PATIENCE)) as deltas:
                async for delta in deltas:
                    match delta:
                        case Prepared() if self._closed:
                            return None
                        case Prepared(body=body) if body:
                            told = self._lineage.describe(
                                model=receipt.model,
                                included=included,
                                purpose=receipt.purpose,
                                stable=receipt.stable,
                            )
                            receipt = replace(
                                receipt,
                                request=new_id("r"),
                                after=told.after,
                                included=told.included,
                                reused=told.reused,
                                broke=told.broke,
                                attempt=receipt.attempt + 1,
                                bytes=len(body),
                                prefix=hashlib.sha256(body).hexdigest()[:16],
                            )
                            open_ = True
                            self._sent_at = self._clock()
                            emit(receipt)
                        case Failed():
                            open_ = False
                            emit(_failure(receipt, delta))
                        case Answer():
                            open_ = False
                            emit(_answered(receipt, delta, provider.info, self._clock() - started))
                            return Reply(
                                text=delta.message.text, truncated=delta.finish == "length", model=provider.info.ref
                            )
                        case _:
                            pass
        except anyio.get_cancelled_exc_class():
            if open_ and not self._closed:
                detail = "no answer came in time"
                emit(
                    RequestFailed(request=receipt.request, fault="unreachable", detail=detail, purpose=receipt.purpose)
                )
            raise
        return None


def _failure(receipt: RequestSent, failed: Failed) -> AnyEvent:
    fault = failed.fault
    return RequestFailed(
        request=receipt.request,
        fault=fault.kind,
        detail=fault.detail[:2000],
        status=fault.status,
        retry_in=failed.retry_in,
        purpose=receipt.purpose,
    )


def _answered(receipt: RequestSent, answer: Answer, info: ModelInfo, seconds: float) -> AnyEvent:
    return AnswerReceived(
        request=receipt.request,
        message=replace(answer.message, model=info.ref),
        finish=answer.finish,
        usage=answer.usage,
        cost=info.price.cost(answer.usage),
        purpose=receipt.purpose,
        model=info.ref,
        seconds=round(seconds, 3),
    )
