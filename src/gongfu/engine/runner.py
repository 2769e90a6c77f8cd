"""Runs one turn of a session from `turn_started` to `turn_finished`, whatever happens in between."""

from __future__ import annotations

import time
import traceback
from collections.abc import Awaitable, Callable, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

import anyio
from msgspec.structs import replace

from gongfu.context.budget import tool_output_limit
from gongfu.context.pairing import CANCELLED, NOT_BEGUN, RULES_CHANGED
from gongfu.core.base import Base
from gongfu.core.display import Display
from gongfu.core.errors import LimitReached, Overflow, ProviderFault, Refusal, UserError, root_of
from gongfu.core.events import AnyEvent, MessageAdded, TurnFinished, TurnStarted, TurnStatus
from gongfu.core.ids import new_id
from gongfu.core.messages import Message
from gongfu.engine.answer import bare, problem_of
from gongfu.engine.asker import Asker
from gongfu.engine.attempt import Attempt
from gongfu.engine.circles import Circles
from gongfu.engine.dispatch import Dispatcher
from gongfu.engine.guard import Hooks
from gongfu.engine.limits import Limits, LimitSpec
from gongfu.engine.permit import Permit
from gongfu.engine.reading import reading_note
from gongfu.engine.ruling import Ruling
from gongfu.engine.tail import another_day, stale_todo
from gongfu.engine.turn import Words, run_turn
from gongfu.models.protocol import ModelProvider

if TYPE_CHECKING:
    from gongfu.engine.session import Session


class _End(Base, frozen=True):
    status: TurnStatus
    reason: str = ""
    values: dict[str, Any] = {}


class Runner:
    """One turn. `prompt` is the id of the queued prompt that it serves, "" when an interrupted turn goes on."""

    def __init__(self, session: Session, chain: Sequence[ModelProvider], prompt: str) -> None:
        self.prompt = prompt
        self._session = session
        self._chain = chain
        self._scope = anyio.CancelScope()
        self._cancelled = False
        self._words = Words()
        self._limits = Limits(self._limit_spec(), parent=session.above)
        self._started = time.monotonic()
        self._requests = session.state.requests
        self._turn = new_id("t")
        self._opened = False

    @property
    def turn(self) -> str:
        """The id of this turn."""
        return self._turn

    @property
    def limits(self) -> Limits:
        """The account of this turn, which sub-agents charge too."""
        return self._limits

    def _limit_spec(self) -> LimitSpec:
        agent, last = self._session.kit.agent, self._session.state.finished
        if self.prompt or last is None or last.reason != "engine.limit_steps":
            return agent.limits
        return replace(agent.limits, steps=min(agent.limits.steps, agent.extra_steps_on_continue))

    def cancel(self) -> None:
        """Stop at once: the request, the commands, the questions."""
        self._cancelled = True
        self._scope.cancel()

    async def run(self) -> TurnFinished:
        """Run the turn; the event that ended it. Only an end of the whole program gets past here."""
        hooks = self._session.kit.hooks
        if hooks is None:
            self._open()
        end: _End | None = None
        try:
            with self._scope:
                left = self._limits.seconds_left()
                if left is not None:
                    self._scope.deadline = anyio.current_time() + left
                end = None if self._cancelled else await self._guarded()
            if end is None:
                end = self._after_cancel()
        finally:
            if not self._opened:  # it was stopped before the hooks had let the prompt through
                self._open(blocked=hooks is not None and bool(self.prompt) and hooks.wants("prompt"))
            with anyio.CancelScope(shield=True):
                await self._session.children.stop()
                if self._session.guard is not None and not self._session.main_turn:
                    await self._session.guard.turn_ended(self._turn)
            finished = self._close(end or _End(status="cancelled", reason="engine.cancelled"))
            if hooks is not None:
                from gongfu.engine.hooked import tell_end

                tell_end(hooks, finished)
        return finished

    def _open(self, before: Sequence[AnyEvent] = (), after: Sequence[AnyEvent] = (), *, blocked: bool = False) -> None:
        session = self._session
        self._opened = True
        session.namer.turn_began()
        if self.prompt:
            session.close_calls(session.state.transcript.open_calls, "interrupted", NOT_BEGUN)
        session.stream.emit(
            *session.open_with(session.kit.environment()),
            *before,
            TurnStarted(
                turn=self._turn,
                model=self._chain[0].info.ref,
                permission=session.permission,
                prompt=self.prompt,
                resumed=not self.prompt,
                blocked=blocked,
            ),
            *after,
        )

    async def _guarded(self) -> _End:
        try:
            hooks = self._session.kit.hooks
            if hooks is not None:
                await self._greet(hooks)
            await self._course()
            return _End(status="done")
        except Exception as error:  # noqa: BLE001 - the edge of a session: its fault must not end the others
            return self._told(root_of(error))

    async def _greet(self, hooks: Hooks) -> None:
        """Let the hooks see the prompt before the turn opens. Refusal when one does not let it through."""
        from gongfu.engine.hooked import greet  # only where there are hooks

        greeting = await greet(self._session, hooks, self.prompt)
        self._open(greeting.before, greeting.after, blocked=bool(greeting.blocked))
        if greeting.blocked:
            raise Refusal("hooks.prompt_blocked", reason=greeting.blocked.rstrip(".。"))

    def _told(self, error: BaseException) -> _End:
        match error:
            case LimitReached():
                return _End(status="budget", reason=error.key, values=_plain(error.values))
            case Refusal():
                return _End(status="refused", reason=error.key, values=_plain(error.values))
            case UserError():
                return _End(status="failed", reason=error.key, values=_plain(error.values))
            case ProviderFault():
                model = error.model or self._chain[-1].info.ref
                values = {"model": model, "kind": error.kind, "detail": _sentence(error.detail)}
                if isinstance(error, Overflow) and error.numbers:
                    return _End(status="failed", reason="context.provider_overflow", values=values | error.numbers)
                return _End(status="failed", reason="engine.fault", values=values)
            case _:
                log = self._session.kit.report("".join(traceback.format_exception(error)))
                detail = f"{type(error).__name__}: {error}"[:300]
                return _End(status="failed", reason="engine.internal", values={"detail": detail, "log": str(log)})

    async def _course(self) -> None:
        session = self._session
        state, stream, kit = session.state, session.stream, session.kit
        asker = Asker(
            agent=lambda: session.overlay.agent,
            chain=self._chain,
            planner=session.planner,
            stream=stream,
            state=state,
            limits=self._limits,
            tail=lambda: (*another_day(state, kit.today()), *stale_todo(state), *self._limits.tail()),
            partial=lambda text: self._words.add(text, more=True),
            unwrap=session.overlay.unwrap,
        )
        if kit.hooks is not None and kit.hooks.wants("before_compact"):
            from gongfu.engine.hooked import before_fold  # only where there are hooks

            asker.before_fold = partial(before_fold, session, kit.hooks)
        if session.above is None:
            session.denied = set()
        permit = Permit(
            workspace=kit.workspace,
            mode=lambda: session.permission,
            grants=session.grants,
            pending=session.pending,
            consent=kit.consent,
            emit=stream.emit,
            denied=session.denied,
            floors=session.overlay.floors,
        )
        attempt = Attempt(
            permit=permit,
            pending=session.pending,
            stream=stream,
            turn=session.main_turn or self._turn,
            guard=session.guard,
            hooks=kit.hooks,
        )
        attempt.note = session.inbox.note
        attempt.ruling = Ruling(state, stream.emit, kit.workspace.root)
        dispatcher = Dispatcher(
            tools=lambda: session.overlay.registry,
            attempt=attempt,
            stream=stream,
            circles=Circles(),
            room=asker.room,
            output_limit=tool_output_limit(asker.budget(self._chain[0].info), kit.agent.max_tool_output),
            spill=lambda text: kit.artifacts.put(session.id, text.encode("utf-8", "surrogatepass")),
            report=kit.report,
        )
        dispatcher.batch_done = lambda displays: self._batch_done(displays, asker)
        dispatcher.todo_changed = lambda items: kit.sessions.set_todo(session.id, items)
        await run_turn(
            asker=asker,
            dispatcher=dispatcher,
            limits=self._limits,
            state=state,
            steering=self._steering,
            more=session.inbox.more if kit.hooks is None else self._more(kit.hooks),
            emit=stream.emit,
            check=self._check,
            words=self._words,
        )
        session.summaries.use = asker.use()

    def _steering(self) -> list[Message]:
        hooks = self._session.kit.hooks
        if hooks is not None and hooks.stop:
            reason, hooks.stop = hooks.stop, ""
            raise Refusal("hooks.stopped", reason=reason.rstrip(".。"))
        return [*reading_note(self._session), *self._session.inbox.take()]

    def _more(self, hooks: Hooks) -> Callable[[], Awaitable[bool]]:
        from gongfu.engine.hooked import Stays  # only where there are hooks

        inbox, stays = self._session.inbox, Stays(hooks)

        async def more() -> bool:
            if await inbox.more():
                return True
            if self._words.text.strip() and (note := await stays.ask(self._words.text)) is not None:
                inbox.note(note)
                return True
            return False

        return more

    def _batch_done(self, displays: Mapping[str, Display], asker: Asker) -> None:
        self._session.namer.batch_done(displays)
        self._session.summaries.after_request(asker.use())

    def _check(self, text: str) -> str:
        schema = self._session.state.schema
        return "" if schema is None else problem_of(schema, text)

    def _after_cancel(self) -> _End:
        if self._cancelled or self._limits.spec.minutes is None:
            return _End(status="cancelled", reason="engine.cancelled")
        return _End(status="budget", reason="engine.limit_minutes", values={"minutes": self._limits.spec.minutes})

    def _close(self, end: _End) -> TurnFinished:
        session = self._session
        if end.reason == "rules.origin_mismatch":
            session.close_calls(session.state.transcript.open_calls, "refused", RULES_CHANGED)
        session.close_calls(session.state.transcript.open_calls, "cancelled", CANCELLED)
        for message in session.inbox.take():  # words that came too late for this turn are read in the next
            session.stream.emit(MessageAdded(message=message))
        own = session.state.requests - self._requests
        requests = own + self._limits.below
        self._limits.hand_up(requests)
        finished = TurnFinished(
            turn=self._turn,
            status=end.status,
            reason=end.reason,
            values=end.values,
            text=self._words.text if session.state.schema is None else bare(self._words.text),
            usage=self._limits.usage,
            cost=self._limits.cost,
            requests=requests,
            steps=min(self._limits.steps, own),  # one that was refused before it was sent is none
            seconds=round(time.monotonic() - self._started, 3),
        )
        session.stream.emit(finished)
        session.namer.turn_ended(aborted=end.status == "cancelled")
        session.summaries.after_turn()
        session.kit.sessions.note_turn(session.id, usage=finished.usage, cost=finished.cost, at=time.time())
        return finished


def _plain(values: dict[str, object]) -> dict[str, Any]:
    """Values as JSON can hold them."""
    return {k: v if isinstance(v, (int, float, str)) or v is None else str(v) for k, v in values.items()}


def _sentence(text: str) -> str:
    short = " ".join(text.split())[:500].rstrip()
    return short if short.endswith((".", "!", "?", "。")) or not short else f"{short}."
