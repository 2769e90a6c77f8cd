"""A session: five methods in (`prompt`, `steer`, `cancel`, `answer`, `fork`), one stream of events out."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import anyio
import msgspec
from anyio.lowlevel import checkpoint

from gongfu.context.ledger import Ledger
from gongfu.context.pairing import closing
from gongfu.core.brief import Brief
from gongfu.core.errors import UsageError, UserError
from gongfu.core.events import (
    AnswerReceived,
    AnyEvent,
    EpochOpened,
    MessageAdded,
    PromptDropped,
    PromptQueued,
    SessionTitled,
    ToolFinished,
)
from gongfu.core.ids import new_id
from gongfu.core.jsonfix import scrub_text
from gongfu.core.messages import CallPart, ImagePart, Message, Status, user
from gongfu.core.modes import Bounds
from gongfu.core.specs import Usage
from gongfu.engine.answer import check_schema
from gongfu.engine.chains import Chains
from gongfu.engine.children import Children
from gongfu.engine.chosen import Chosen
from gongfu.engine.compaction import compact, planner_of
from gongfu.engine.inbox import Inbox
from gongfu.engine.kit import Kit
from gongfu.engine.labelling import Namer, first_title
from gongfu.engine.limits import Limits
from gongfu.engine.loading import loading
from gongfu.engine.modes import Overlay
from gongfu.engine.pending import Pending, Relay
from gongfu.engine.prompted import Prompted
from gongfu.engine.runner import Runner
from gongfu.engine.sidecar import Sidecar
from gongfu.engine.state import SessionState, UsageLine
from gongfu.engine.stream import EventStream
from gongfu.engine.summaries import Summaries
from gongfu.engine.transcript import transcript_of
from gongfu.models.protocol import ModelProvider
from gongfu.permissions.grants import Grants

RESUME = ""
SCHEMA = "Your final answer must be nothing but JSON that follows this JSON Schema:"


class Session(Chosen):
    """One conversation. One turn runs at a time; further prompts wait in a durable queue."""

    def __init__(self, id: str, equip: Callable[[Session], Kit]) -> None:
        self.id = id
        kit = self.kit = equip(self)
        self.state = SessionState()
        self.state.transcript.messages.reread = self._reread
        self.stream = EventStream(id, kit.journal, self.state)
        self.pending = Pending(self.stream.emit, kit.answers, kit.hooks)
        self.grants = Grants(kit.consent.book, str(kit.workspace.root))
        self.denied: set[str] = set()  # what was refused in this turn
        self.ledger = Ledger()
        self.overlay = Overlay(self)
        self.planner = planner_of(self)
        self.sidecar = Sidecar(
            agent=kit.agent,
            emit=self._emit_beside,
            spawn=kit.tasks.start_soon,
            fast=kit.fast,
            main=self.models,
            report=kit.report,
            ratios=lambda ref: self.state.ratios.get(ref, ()),
            lineage=self.state.lineage,
        )
        self.namer = Namer(
            sidecar=self.sidecar,
            state=self.state,
            emit=self.stream.emit,
            set_title=lambda title: kit.sessions.set_title(id, title),
            models=kit.labels,
            titles=kit.titles,
        )
        self.summaries = Summaries(
            agent=kit.agent,
            sidecar=self.sidecar,
            state=self.state,
            emit=self.stream.emit,
            fast=kit.fast,
            chain=self.models,
            main=kit.summaries_may_use_main,
        )
        self.inbox = Inbox()
        self.children = Children(self)
        self.guard = kit.guard
        self.main_turn = ""  # the turn of the main agent that this sub-agent works for
        self.above: Limits | None = None  # the account of the turn that this session works for
        self._handles: dict[str, Prompted] = {}
        self._runner: Runner | None = None
        self._working = False
        self._resume = False
        self._stopped = False  # the turn that is about to begin is cancelled already
        self._closed = False
        self._compacting: anyio.CancelScope | None = None
        self._idle = anyio.Event()
        self._idle.set()
        self._chain: Sequence[ModelProvider] = ()
        self._chains = Chains(kit, self.state)

    # --- what a surface reads ---

    @property
    def title(self) -> str:
        """A short name, made from the first prompt, and then by the fast model when there is one."""
        return self.state.title

    @property
    def messages(self) -> tuple[Message, ...]:
        """The transcript as it stands."""
        return tuple(self.state.transcript.messages)

    @property
    def usage(self) -> dict[str, UsageLine]:
        """Requests, tokens and money by purpose."""
        return dict(self.state.usage)

    @property
    def running(self) -> bool:
        """Whether a turn is under way."""
        return self._runner is not None

    @property
    def brief(self) -> Brief | None:
        """How this sub-agent was set up; None in the session of a main agent."""
        return self.state.created.brief if self.state.created else None

    @property
    def turn(self) -> str:
        """The id of the main agent's turn that runs, or that this sub-agent works for; "" for none."""
        return self.main_turn or (self._runner.turn if self._runner else "")

    @property
    def account(self) -> Limits | None:
        """The account of the turn that runs."""
        return None if self._runner is None else self._runner.limits

    @property
    def queue(self) -> tuple[PromptQueued, ...]:
        """Prompts that wait for their turn."""
        return tuple(self.state.queue.values())

    # --- the five methods ---

    async def prompt(
        self,
        text: str,
        *,
        images: Sequence[ImagePart] = (),
        schema: dict[str, Any] | None = None,
        bounds: Bounds | None = None,
    ) -> Prompted:
        """Queue a prompt and return at once; an empty one goes on with an interrupted turn.

        `schema` is a JSON Schema that the final answer must follow, `bounds` what holds for its turn alone. Raises
        UserError (nothing is recorded then) when no model can be had, the schema is none, or there is nothing to go on
        with.
        """
        if schema is not None and (reason := check_schema(schema)):
            raise UsageError("engine.schema_bad", reason=reason)
        going_on = not text.strip() and not images
        chain = await self._chains.prepare(bounds, going_on=going_on)
        self._check_open()
        self._check_price(chain)
        self._check_rules()
        self._chain = chain
        if going_on:
            return self._go_on()
        self.begin()
        text = scrub_text(text)
        if schema is not None:
            text = f"{text}\n\n{SCHEMA}\n{msgspec.json.encode(schema).decode()}"
        handle = Prompted(new_id("p"))
        message = user(text, images=tuple(images), id=handle.id)
        self._handles[handle.id] = handle
        self._chains.keep(handle.id, chain)
        events: list[AnyEvent] = [PromptQueued(prompt=handle.id, message=message, schema=schema, bounds=bounds)]
        if not self.state.title:
            title = first_title(bounds.command if bounds is not None and bounds.command else text)
            events.append(SessionTitled(title=title))
            self.kit.sessions.set_title(self.id, title)
        self.stream.emit(*events)
        self._kick()
        return handle

    async def steer(self, text: str) -> None:
        """Words for the turn that runs: it reads them before its next request. With no turn running, a prompt."""
        notes: list[Message] = []
        if self._runner is not None and self.kit.hooks is not None:
            from gongfu.engine.hooked import vet_steering  # only where there are hooks

            notes = await vet_steering(self.kit.hooks, text)
        if self._runner is None:
            await self.prompt(text)
        else:
            self.inbox.put(user(scrub_text(text), kind="steer", id=new_id("m")), *notes)

    async def cancel(self, prompt: str = "") -> None:
        """Stop the turn that runs or is about to, at once; with `prompt`, take a queued prompt back instead."""
        if prompt and prompt in self.state.queue:
            self.stream.emit(PromptDropped(prompt=prompt))
            self._handles.pop(prompt, Prompted(prompt)).drop()
            self._chains.drop(prompt)
        elif self._runner is not None and prompt in ("", self._runner.prompt):
            self._runner.cancel()
        elif self._compacting is not None and not prompt:
            self._compacting.cancel()
        elif self._working and not prompt:
            self._stopped = True

    async def answer(self, question: str, answer: str) -> None:
        """Answer a question that waits: for a permission see `QuestionAsked`."""
        self.pending.answer(question, scrub_text(answer))

    async def fork(self, seq: int | None = None) -> Session:
        """A new session with everything up to sequence `seq` (default: all of it)."""
        return await self.kit.fork(self, self.stream.last if seq is None else seq)

    # --- inside ---

    def _reread(self) -> Sequence[Message]:
        return transcript_of(entry.event for entry in self.kit.journal.read(self.id)).messages

    def _check_open(self) -> None:
        if self._closed:
            raise UserError("engine.closed", session=self.id)

    def begin(self) -> None:
        """Record the session, if it is not yet."""
        if self.state.created is None:
            self.kit.begin(self)
            self.overlay.begun()

    def _check_price(self, chain: Sequence[ModelProvider]) -> None:
        if self.kit.agent.limits.cost is None:
            return
        for provider in chain:
            if provider.info.price.cost(_ONE) is None:
                raise UsageError("engine.price_unknown", model=provider.info.ref)

    def _emit_beside(self, event: AnyEvent) -> None:
        """Record work beside the turn; it counts against the limits of the turn that runs."""
        self.stream.emit(event)
        if isinstance(event, AnswerReceived) and self._runner is not None:
            self._runner.limits.pay_beside(event.usage, event.cost)

    def _check_rules(self) -> None:
        """The pinned rules are what was recorded, or nothing is sent."""
        context = self.state.context
        if context.pinned is not None or context.told_rules:
            from gongfu.context.rules.snapshot import check_session  # only where there are rules

            check_session(context.pinned, context.told_rules)

    async def compact(self, focus: str = "") -> EpochOpened | None:
        """Fold the context by hand, between turns; None when there is nothing to gain. `focus`: what matters most.

        UserError while a turn runs, when no model can be had (its window decides how much is kept), or when cancelled.
        """
        self._check_open()
        while self._working:
            if self._compacting or self._runner or self._resume or self.state.queue:
                raise UserError("engine.compact_busy")
            await self._idle.wait()  # the last turn is being put away
            self._check_open()
        if self.state.transcript.open_calls:  # they may still run when the turn goes on
            raise UserError("engine.compact_open")
        self._working, self._idle = True, anyio.Event()  # prompts that come meanwhile wait
        try:
            with anyio.CancelScope() as self._compacting:
                self._chain = await self.models()
                self._check_rules()
                return await compact(self, self._chain, focus)
        finally:
            self._compacting = None
            self._working = self._stopped = False
            self._idle.set()
            if self._resume or self.state.queue:
                self._kick()
        raise UserError("engine.cancelled")

    def _go_on(self) -> Prompted:
        if self.state.queue:
            first = next(iter(self.state.queue))
            handle = self._handles.setdefault(first, Prompted(first))
        elif self.state.interrupted():
            self._resume = True
            handle = self._handles[RESUME] = Prompted(RESUME)
        else:
            raise UserError("engine.nothing_to_continue")
        self._kick()
        return handle

    def _kick(self) -> None:
        if not self._working:
            self._working = True
            self._idle = anyio.Event()
            self.kit.tasks.start_soon(self._work)

    async def _work(self) -> None:
        """Run what is queued, one turn after the other."""
        try:
            while not self._closed and (self._resume or self.state.queue):
                prompt = RESUME if self._resume else next(iter(self.state.queue))
                self._resume = False
                self._runner = Runner(self, self._chains.take(prompt), prompt)
                if self._stopped:
                    self._stopped = False
                    self._runner.cancel()
                finished = await self._runner.run()
                self._runner = None
                handle = self._handles.pop(prompt, None)
                if handle is not None:
                    handle.settle(finished)
                await self.kit.after_turn()
        except UserError as error:  # the store gave way: what waits would wait for ever
            self._give_up(error)
        finally:
            self._runner = None
            self._working = self._stopped = False
            self._idle.set()

    def _give_up(self, error: UserError | None = None) -> None:
        """Nothing more comes of the prompts that wait; readers end once they have read what is there."""
        handles, self._handles = self._handles, {}
        for handle in handles.values():
            handle.drop(error)
        self.stream.close()

    def serve(self, parent: Session, brief: Brief) -> None:
        """Work for the turn of `parent`: on its account, under its grants, asking the person through it."""
        self.above = parent.account
        self.grants, self.denied = parent.grants, parent.denied
        self.guard, self.main_turn = parent.guard, parent.turn
        self.overlay.above = parent.overlay
        self.pending = Relay(self.stream.emit, parent.pending, agent=brief.agent, call=brief.call)

    def close_calls(self, calls: Sequence[CallPart], status: Status, text: str) -> None:
        """Give each of `calls` its one result."""
        for call, result in zip(calls, closing(calls, status, text), strict=True):
            self.stream.emit(ToolFinished(call=call.id, name=call.name, result=result))

    async def load(self) -> None:
        """Read the session from the journal while others get their turn, and close what a kill left open.

        It must not be used before.
        """
        for _ in loading(self):
            await checkpoint()

    def open_with(self, note: str) -> list[AnyEvent]:
        """What must stand before the first prompt of a session."""
        if self.state.transcript.messages:
            return []
        notes = (note, "" if self.brief or not self.kit.unfinished else self.kit.unfinished(self.id))
        return [MessageAdded(message=user(text, kind="note")) for text in notes if text]

    async def close(self) -> None:
        """End the turn that runs and what the tools keep running; prompts that wait stay in the queue of the log.

        The app can open the session again, by its id.
        """
        self._closed = True
        await self.cancel()
        await self._idle.wait()
        await self.sidecar.close()
        await self.kit.close()
        self._give_up()


_ONE = Usage(input=1, output=1)
