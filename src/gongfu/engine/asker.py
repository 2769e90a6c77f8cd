"""Asks the model: lays the request out, streams the answer, survives faults, records what was sent and received."""

from __future__ import annotations

import hashlib
import time
from collections.abc import Awaitable, Callable, Sequence
from contextlib import aclosing

import anyio
from msgspec.structs import replace

from gongfu.context.budget import Budget
from gongfu.context.layout import Layout
from gongfu.context.ledger import message_tokens
from gongfu.core.errors import Overflow, ProviderFault, Refusal, StreamCut
from gongfu.core.events import (
    AnswerReceived,
    CallDelta,
    MessageAdded,
    ReasoningDelta,
    RequestFailed,
    RequestSent,
    TextDelta,
    WarningRaised,
    WindowObserved,
)
from gongfu.core.ids import new_id
from gongfu.core.messages import CallPart, Message, Part, ReasoningPart, TextPart, user
from gongfu.core.specs import ModelInfo, Usage
from gongfu.engine.agent import AgentSpec
from gongfu.engine.limits import Limits
from gongfu.engine.planner import Plan, Planner
from gongfu.engine.state import MAIN, SessionState
from gongfu.engine.stream import EventStream
from gongfu.engine.transcript import without_calls
from gongfu.models.protocol import Answer, CallProgress, ModelProvider, Prepared, Reasoning, Request, Text
from gongfu.models.retry import Failed, RetryPolicy, attempts
from gongfu.models.window import served_window

CONTINUE = "[The connection broke in the middle of your answer. Go on from where it stops; do not repeat it.]"
CUTS = 3
_TOKEN = 3  # bytes: fewer than a token of plain text has
FALL_BACK = 20.0  # seconds that faults of one model may cost when another stands ready
FIRST_CONTACT = 8.0  # seconds to try an address that has not answered yet in this session


def budget_of(agent: AgentSpec, state: SessionState, info: ModelInfo) -> Budget:
    """The budget of a model as things stand in a session: below what it has refused as too long."""
    budget = agent.budget(info, served=state.served.get(info.ref, 0))
    refused = state.too_big.get(info.ref, 0)  # its window is smaller than was known
    return replace(budget, total=min(budget.total, refused * 9 // 10)) if refused else budget


class Asker:
    """Asks a chain of models in the name of one session. `ask` returns the recorded answer or raises the last fault.

    `tail` gives what rides at the end of a request, `partial` is told the text that was kept of a broken answer,
    `unwrap` gives the call that a call stands for.
    """

    def __init__(
        self,
        *,
        agent: Callable[[], AgentSpec],
        chain: Sequence[ModelProvider],
        planner: Planner,
        stream: EventStream,
        state: SessionState,
        limits: Limits,
        tail: Callable[[], tuple[str, ...]],
        partial: Callable[[str], None],
        unwrap: Callable[[CallPart], CallPart],
    ) -> None:
        self._unwrap = unwrap
        self._agent_now = agent
        self._chain = chain
        self._planner = planner
        self._stream = stream
        self._state = state
        self._limits = limits
        self._tail = tail
        self._partial = partial
        self._failed: dict[int, ProviderFault | Refusal] = {}
        self.before_fold: Callable[[str], Awaitable[None]] | None = None  # told why a fold is due

    @property
    def _agent(self) -> AgentSpec:
        return self._agent_now()  # another one once the work mode has changed

    def budget(self, info: ModelInfo) -> Budget:
        """The budget of a model as things stand in this session."""
        return budget_of(self._agent, self._state, info)

    def _whole_budget(self, info: ModelInfo) -> Budget:
        """The budget of a model by what is known of its window."""
        return self._agent.budget(info, served=self._state.served.get(info.ref, 0))

    def room(self) -> int:
        """Bytes of text that the next request may hold beyond what there is now, as the estimate has it; at least 0."""
        info = self._chain[self._order()[0]].info
        return max(0, self.budget(info).total - self._planner.used(info)) * _TOKEN

    def use(self) -> float:
        """The share of the budget that the next request takes as things stand, 0 to 1 or more."""
        info = self._chain[self._order()[0]].info
        return self._planner.used(info) / max(1, self.budget(info).total)

    async def ask(self) -> AnswerReceived:
        """The next answer of the main model, or of the next one in its chain when it fails for good.

        A model that has failed is not asked again in this turn while another one answers.
        """
        order = self._order()
        for at, following in zip(order, [*order[1:], None], strict=True):
            try:
                answer = await self._through_cuts(
                    self._chain[at], "" if following is None else self._chain[following].info.ref
                )
            except (ProviderFault, Refusal) as fault:  # a prompt too long for one window may fit into the next
                self._failed[at] = fault
                if following is None:
                    raise
                if self._state.transcript.messages[-1].role == "assistant":  # the next one goes on with what was said
                    self._stream.emit(MessageAdded(message=user(CONTINUE, kind="note")))
            else:
                self._failed.pop(at, None)
                return answer
        raise ProviderFault("no model is configured")

    def _order(self) -> list[int]:
        """Which models are asked, in order: those that have not failed, then those whose trouble may have passed."""
        fresh = [n for n in range(len(self._chain)) if n not in self._failed]
        again = [n for n, fault in self._failed.items() if isinstance(fault, ProviderFault) and fault.retryable]
        return fresh + again if fresh else list(range(len(self._chain)))

    async def _through_cuts(self, provider: ModelProvider, following: str) -> AnswerReceived:
        """Ask one model; when its stream breaks after some text, keep that text and let it go on."""
        for left in range(CUTS, -1, -1):
            try:
                return await self._once(provider, following, last=not left)
            except StreamCut as cut:
                partial = cut.partial
                if not isinstance(partial, Answer) or not partial.message.text:
                    raise
                self._keep(partial.message, provider.info, partial.usage)
                if not left:
                    raise
                self._stream.emit(MessageAdded(message=user(CONTINUE, kind="note")))
                await self._limits.before_step()
        raise AssertionError

    def _keep(self, message: Message, info: ModelInfo, usage: Usage) -> None:
        self._stream.emit(
            AnswerReceived(
                request=self._request,
                message=replace(without_calls(message), model=info.ref, agent=self._agent.name),
                finish="unknown",
                usage=usage,
                cost=info.price.cost(usage),
                model=info.ref,
                cut=True,
            )
        )
        self._partial(message.text)

    def _charge(self, usage: Usage, message: Message, info: ModelInfo, layout: Layout) -> None:
        """Account for an answer; what a server does not count is taken from the estimate, so that limits hold."""
        charged = replace(usage, input=usage.input or layout.estimate, output=usage.output or message_tokens(message))
        self._limits.charge(charged, info.price.cost(charged))

    async def _once(self, provider: ModelProvider, following: str, *, last: bool) -> AnswerReceived:
        try:
            return await self._planned(provider, following, last=last)
        except Overflow as fault:  # one hard fold and one try more, then a stop with numbers
            try:
                return await self._planned(provider, following, last=last, overflow=True)
            except (Overflow, Refusal) as again:
                budget = self._whole_budget(provider.info)
                fault.numbers = {"tokens": self._tried, "budget": budget.total, "window": budget.window}
                raise fault from again

    def _fitting(self, info: ModelInfo, *, overflow: bool) -> tuple[Plan, Budget]:
        """The next request and the budget that it keeps.

        What was refused as too long may have been so for other reasons than the window: where nothing else fits, the
        request is tried all the same, save right after a refusal.
        """
        budget, whole = self.budget(info), self._whole_budget(info)
        try:
            return self._planner.plan(info, budget, self._tail(), overflow=overflow), budget
        except Refusal:
            if overflow or budget == whole:
                raise
        return self._planner.plan(info, whole, self._tail()), whole

    async def _planned(
        self, provider: ModelProvider, following: str, *, last: bool, overflow: bool = False
    ) -> AnswerReceived:
        info = provider.info
        if self.before_fold is not None:
            due = self._planner.fold_due(info, self.budget(info), self._tail(), overflow=overflow)
            if due:
                await self.before_fold(due)
        plan, budget = self._fitting(info, overflow=overflow)
        layout = plan.layout
        self._tried = layout.estimate
        tuning = self._agent.tuning(info)
        request = Request(
            model=info.name,
            system=layout.system,
            standing=layout.standing,
            messages=layout.messages,
            tools=layout.tools,
            max_output=budget.output,
            temperature=tuning.temperature,
            top_p=tuning.top_p,
            reasoning=tuning.reasoning,
            marks=layout.marks,
        )
        started = time.monotonic()
        most = Usage(input=layout.estimate, output=budget.output)
        try:
            with self._limits.holding(most.input + most.output, info.price.cost(most)):
                answer = await self._receive(provider, request, plan, budget, following, last=last)
        except anyio.get_cancelled_exc_class():
            text, thinking = self._stream.partial
            if text or thinking:
                said = (ReasoningPart(text=thinking), TextPart(text=text))
                self._charge(Usage(), Message(role="assistant", parts=said), info, layout)
            if text:
                self._keep(Message(role="assistant", parts=(TextPart(text=text),)), info, Usage())
            raise
        return self._record(answer, info, layout, time.monotonic() - started)

    async def _receive(
        self, provider: ModelProvider, request: Request, plan: Plan, budget: Budget, following: str, *, last: bool
    ) -> Answer:
        patience = min(self._agent.retry_seconds, FALL_BACK) if following else self._agent.retry_seconds
        # an address that has never answered is more likely wrong than away for a moment
        contact = patience if self._state.usage else FIRST_CONTACT
        policy = RetryPolicy(budget_seconds=patience, unreachable_seconds=contact)
        emit = self._stream.emit
        attempt = 0
        async with aclosing(attempts(provider, request, policy)) as deltas:
            async for delta in deltas:
                match delta:
                    case Text(text=text):
                        emit(TextDelta(text=text))
                    case Reasoning(text=text):
                        emit(ReasoningDelta(text=text))
                    case CallProgress(name=name, size=size):
                        emit(CallDelta(name=name, size=size))
                    case Prepared(body=body):
                        self._request = new_id("r")
                        if not body:
                            continue  # a provider that needs no model for this step
                        attempt += 1
                        plan.check(body)
                        emit(self._receipt(provider.info, plan, budget, body, attempt))
                    case Failed(fault=fault, retry_in=retry_in):
                        begun = fault.partial if isinstance(fault, StreamCut) else None
                        if isinstance(begun, Answer):  # it was paid for
                            self._charge(begun.usage, begun.message, provider.info, plan.layout)
                            retry_in = 0.0 if begun.message.text and not last else retry_in
                        elif retry_in is None and (said := self._stream.partial[0]):
                            self._keep(Message(role="assistant", parts=(TextPart(text=said),)), provider.info, Usage())
                        emit(
                            RequestFailed(
                                request=self._request,
                                fault=fault.kind,
                                detail=fault.detail[:2000],
                                status=fault.status,
                                retry_in=retry_in,
                                next_model=following if retry_in is None else "",
                            )
                        )
                    case Answer():
                        return delta
        raise StreamCut("the answer never came to its end", model=provider.info.ref)

    _request = ""
    _tried = 0  # the estimate of the newest request

    def _receipt(self, info: ModelInfo, plan: Plan, budget: Budget, body: bytes, attempt: int) -> RequestSent:
        told = plan.described if attempt == 1 else self._planner.described(info, plan.included)
        return RequestSent(
            request=self._request,
            purpose=MAIN,
            model=info.ref,
            attempt=attempt,
            estimate=plan.layout.estimate,
            budget=budget.total,
            messages=len(plan.layout.messages),
            bytes=len(body),
            prefix=hashlib.sha256(body).hexdigest()[:16],
            raw=plan.layout.raw,
            epoch=plan.epoch,
            rules=plan.rules,
            after=told.after,
            included=told.included,
            omitted=plan.omitted,
            reused=told.reused,
            broke=told.broke,
            fold=plan.fold if attempt == 1 else "",
            window=budget.window,
            reserve=budget.output,
            stable=plan.stable,
        )

    def _record(self, answer: Answer, info: ModelInfo, layout: Layout, seconds: float) -> AnswerReceived:
        number = self._state.calls
        parts: list[Part] = []
        for part in answer.message.parts:
            if isinstance(part, CallPart):
                number += 1
                parts.append(replace(self._unwrap(part), id=f"c{number}"))
            else:
                parts.append(part)
        usage = answer.usage
        event = AnswerReceived(
            request=self._request,
            message=replace(answer.message, parts=tuple(parts), model=info.ref, agent=self._agent.name),
            finish=answer.finish,
            usage=usage,
            cost=info.price.cost(usage),
            model=info.ref,
            seconds=round(seconds, 3),
        )
        self._stream.emit(event)
        self._charge(usage, answer.message, info, layout)
        if answer.finish == "filter" and answer.message.text.strip():
            self._stream.emit(WarningRaised(key="engine.filtered_part", values={"model": info.ref}))
        self._watch_window(info, layout, usage)
        return event

    def _watch_window(self, info: ModelInfo, layout: Layout, usage: Usage) -> None:
        served = None if info.small else served_window(layout.estimate, usage)
        if served is None or self._state.served.get(info.ref, 0) in range(1, served + 1):
            return
        values = {"model": info.ref, "served": served, "sent": layout.estimate}
        self._stream.emit(
            WindowObserved(model=info.ref, sent=layout.estimate, served=served),
            WarningRaised(key="engine.window_served", values=values),
        )
