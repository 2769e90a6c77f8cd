"""Random sessions for the invariants P1 to P13: words, batches, models, rules, folds by hand, overflows, crashes.

`Fuzz` drives the real planner, state, view and fold with the events that the engine would record, and checks each
request and each fold as it goes. Everything follows from its seed.
"""

from __future__ import annotations

import hashlib
import json
import random
from collections import Counter
from collections.abc import Sequence
from typing import Any

import msgspec

from gongfu.context.budget import Budget, budget_for
from gongfu.context.ledger import Ledger
from gongfu.context.pairing import INTERRUPTED, closing
from gongfu.context.rules.envelope import joining_note
from gongfu.context.rules.sections import sha256_of
from gongfu.context.rules.snapshot import fingerprint_of
from gongfu.context.tiers import RULES
from gongfu.core import events as ev
from gongfu.core.errors import Refusal
from gongfu.core.messages import CallPart, ImagePart, Message, Part, ReasoningPart, ResultPart, TextPart, user
from gongfu.core.specs import ModelInfo, Usage
from gongfu.core.told import BatchLabelled, EpochOpened, RuleSection, RulesJoined, RuleSource, RulesPinned, SummaryMade
from gongfu.engine.planner import Plan, Planner
from gongfu.engine.state import SessionState
from gongfu.models.anthropic_body import MessagesWriter
from gongfu.models.chat_body import BodyWriter
from gongfu.models.protocol import Request
from gongfu.models.quirks import load_quirks
from gongfu.models.responses_body import ResponsesWriter

from .holding import EXCLUDED, MANDATORY, NESTED, OPTIONAL, SYSTEM, TOOLS, Holding

WORDS = [
    "the", "file", "reads", "a", "line", "and", "writes", "it", "back", "when", "nothing", "is", "wrong",
    "功夫", "文件", "读取", "之后", "def", "return", "{x:", "1}", "4711",
]  # fmt: skip


def source(path: str, text: str, duty: str, *, nested: bool = False) -> RuleSource:
    section = RuleSection(heading="", text=text, sha256=sha256_of(text), duty=duty, said=True)  # type: ignore[arg-type]
    scope = path.rpartition("/")[0] or "."
    return RuleSource(
        path=path, kind="agents", depth=path.count("/"), scope=scope, sha256=sha256_of(text), sections=(section,),
        nested=nested,
    )  # fmt: skip


class Fuzz(Holding):
    """One random session. `run` plays it until that many requests were planned.

    `digest` is over the bytes of all requests, `seen` counts rungs and reasons of folds and what else came up.
    """

    def __init__(self, seed: int) -> None:
        self.seed = seed
        self.digest = hashlib.sha256()
        self.seen: Counter[str] = Counter()
        self.dice = random.Random(seed)
        self.log: list[tuple[float, Any]] = []
        self.requests = self.folds = self.refusals = self.prompts = self.in_a_row = 0
        self.time = 1000.0
        self.keep_recent = self.dice.choice((1, 3, 10, 10, 30))
        self.big = self.dice.choice((500, 3000, 12_000, 60_000))
        self.even = self.dice.random() < 0.3
        self.dialect = self.dice.choice(("chat", "messages", "responses"))
        self.infos = [self._info(n) for n in range(self.dice.choice((1, 1, 2)))]
        self.info = self.infos[0]
        self.last: tuple[int, str, list[Message], Plan] | None = None
        self.masked: set[str] = set()
        self.lost_keys: set[int] = set()
        self._open(SessionState())
        self.emit(ev.SessionCreated(session="s", directory="/w", root="/w"))
        self.emit(ev.MessageAdded(message=user("<environment>\nDate: 2026-11-30\n</environment>", kind="note")))
        if self.dice.random() < 0.5:
            self.emit(self._rules())

    def _info(self, number: int) -> ModelInfo:
        dice = self.dice
        window = dice.choice((40_960, 49_152) if self.even else (4096, 8192, 16_384, 32_768, 65_536))
        back = dice.choice(("never", "never", "tool_rounds", "always"))
        limit = dice.choice((256, 1024, 8192))
        return ModelInfo(
            ref=f"p/m{number}",
            provider="p",
            name=f"m{number}",
            window=window,
            max_output=limit,
            reasoning_back=back,  # type: ignore[arg-type]
            reasoning_sent=back if self.dialect == "chat" else "always",  # type: ignore[arg-type]
        )

    def _rules(self) -> RulesPinned:
        found = [source("AGENTS.md", f"{MANDATORY} {self.words(self.dice.randrange(20, 300))}", "mandatory")]
        found += [
            source(f".gongfu/rules/{mark}.md", f"{mark} {self.words(60)}", duty)
            for mark, duty in ((OPTIONAL, "optional"), (EXCLUDED, "excluded"))
            if self.dice.random() < 0.6
        ]
        if self.dice.random() < 0.6:
            found.append(source("src/AGENTS.md", f"{NESTED} {self.words(40)}", "mandatory", nested=True))
        print_ = fingerprint_of(found)
        return RulesPinned(fingerprint=print_, revision=1, nonce=print_[:8], sources=tuple(found))

    def words(self, size: int) -> str:
        """Words of about `size` characters."""
        return " ".join(self.dice.choices(WORDS, k=max(1, size // 5)))

    def images(self, count: int) -> tuple[ImagePart, ...]:
        """Images of some size."""
        side = self.dice.choice((64, 300, 700))
        return tuple(ImagePart(media_type="image/png", data="iVBO", width=side, height=side) for _ in range(count))

    def size(self) -> int:
        """Small ones more often; in some sessions all of about the same size."""
        if self.even:
            return self.dice.randrange(900, 1600)
        return int(20 * (self.big / 20) ** self.dice.random())

    def _open(self, state: SessionState) -> None:
        self.state = state
        self.ledger = Ledger()
        self.planner = self._planner(state, self.ledger, self.emit)
        writer = {"chat": BodyWriter, "messages": MessagesWriter, "responses": ResponsesWriter}[self.dialect]
        quirks = load_quirks("anthropic" if self.dialect == "messages" else "openai")
        self.writers = {info.ref: writer(info, quirks) for info in self.infos}

    def _planner(self, state: SessionState, ledger: Ledger, emit: Any) -> Planner:
        return Planner(
            system=SYSTEM, tools=TOOLS, state=state, ledger=ledger, emit=emit, keep_recent=self.keep_recent,
            clock=lambda: self.time,
        )  # fmt: skip

    def emit(self, *events: Any) -> None:
        for event in events:
            self.time += 1
            if isinstance(event, EpochOpened):
                self._before_fold(event)
            self.log.append((self.time, event))
            self.state.at = self.time
            self.state.apply(event)
            if isinstance(event, EpochOpened):
                self._after_fold(event)

    # --- a session ---

    def run(self, requests: int) -> None:
        """Play."""
        while self.requests < requests and self.in_a_row < 4:
            self._turn()
        self._again()

    def _turn(self) -> None:
        dice = self.dice
        self.prompts += 1
        name = f"p{self.prompts}"
        text = f"Task {self.prompts}: {self.words(self.size())}"
        images = self.images(dice.choice((1, 1, 3))) if dice.random() < 0.1 else ()
        self.emit(
            ev.PromptQueued(prompt=name, message=user(text, images=images, id=name)),
            ev.TurnStarted(turn=f"t{self.prompts}", model=self.info.ref, permission="full", prompt=name),
        )
        for _ in range(dice.choice((1, 2, 3, 5, 9))):
            calls = self._step()
            if calls is None:
                self.emit(ev.TurnFinished(turn=f"t{self.prompts}", status="failed"))
                return
            if not calls:
                break
        self.emit(ev.TurnFinished(turn=f"t{self.prompts}", status="done"))
        self._between()

    def _between(self) -> None:
        dice = self.dice
        if dice.random() < 0.1:
            self.info = dice.choice(self.infos)
        if dice.random() < 0.1:
            self.time += 1000  # the cache has gone cold
        if dice.random() < 0.05:
            self.planner.fold_now(self.info, self._budget(), dice.choice(("", "keep the port")))
        if dice.random() < 0.1 and self.state.context.turns:
            text = f"## Background\n- {self.words(200)}"
            self.emit(SummaryMade(kind="history", text=text, upto=dice.randrange(1, len(self.state.context.turns) + 1)))
        if dice.random() < 0.05:
            self._restart()

    def _step(self) -> tuple[CallPart, ...] | None:
        """One request and its answer: the calls; None when it was refused."""
        dice = self.dice
        plan = self._ask(overflow=False)
        if plan is not None and dice.random() < 0.03:
            self.emit(ev.RequestFailed(request=f"r{self.requests}", fault="overflow"))
            plan = self._ask(overflow=True)
        if plan is None:
            return None
        calls = self._answer(plan)
        if calls and dice.random() < 0.04:
            self._crash(calls)
        else:
            self._results(calls)
        return calls

    def _answer(self, plan: Plan) -> tuple[CallPart, ...]:
        dice = self.dice
        calls = tuple(
            CallPart(id=f"c{self.state.calls + n + 1}", name=self._tool(), arguments=self._arguments())
            for n in range(dice.choice((0, 1, 1, 1, 2, 4)))
        )
        parts: list[Part] = []
        if dice.random() < 0.4:
            parts.append(ReasoningPart(text=self.words(self.size()), signature="s", model=self.info.ref))
        if not calls or dice.random() < 0.5:
            parts.append(TextPart(text=self.words(self.size())))
        real = int(plan.layout.raw * dice.choice((0.8, 1.0, 1.0, 1.1, 1.3)))
        message = Message(role="assistant", parts=(*parts, *calls), model=self.info.ref)
        self.emit(ev.AnswerReceived(request=f"r{self.requests}", message=message, usage=Usage(input=real, output=9)))
        return calls

    def _tool(self) -> str:
        return self.dice.choice(("read_file", "read_file", "shell", "shell", "todo", "task"))

    def _arguments(self) -> str:
        path = f"src/f{self.dice.randrange(6)}.py"
        return json.dumps(
            {"path": path} if self.dice.random() < 0.8 else {"path": path, "content": self.words(self.size())}
        )

    def _results(self, calls: Sequence[CallPart]) -> None:
        dice = self.dice
        for call in dice.sample(calls, len(calls)):
            agent = "scout" if call.name == "task" else ""
            status = dice.choice(("done", "done", "failed", "cancelled"))
            images = self.images(dice.choice((1, 1, 2))) if dice.random() < 0.05 else ()
            result = ResultPart(
                call_id=call.id, text=self.words(self.size()), status=status, agent=agent, images=images  # type: ignore[arg-type]
            )  # fmt: skip
            self.emit(
                ev.ToolStarted(call=call.id, name=call.name),
                ev.ToolFinished(call=call.id, name=call.name, result=result),
            )
        if calls and dice.random() < 0.6:
            self.emit(BatchLabelled(calls=tuple(c.id for c in calls), text=f"Look at {len(calls)} places"))
        pinned = self.state.context.pinned
        if calls and pinned and dice.random() < 0.2 and not self.state.context.joined:
            paths = [s.path for s in pinned.sources if s.nested]
            text, held = joining_note(pinned, paths)
            if held:
                self.emit(RulesJoined(paths=tuple(paths)), ev.MessageAdded(message=user(text, kind="note", id=RULES)))
        if dice.random() < 0.05:
            self.emit(ev.MessageAdded(message=user(self.words(80), kind="steer")))
        if dice.random() < 0.05:  # the report of an agent that worked in the background
            report = TextPart(text=f"[Report of scout] {self.words(self.size())}")
            self.emit(ev.MessageAdded(message=Message(role="user", parts=(report,), agent="scout", kind="note")))

    def _crash(self, calls: Sequence[CallPart]) -> None:
        """Some results are there, the program dies, and what was left open is closed when it comes back."""
        self.seen["crash"] += 1
        self._results(calls[: self.dice.randrange(len(calls))])
        self._restart()
        left = self.state.transcript.open_calls
        for call, result in zip(left, closing(left, "interrupted", INTERRUPTED), strict=True):
            self.emit(ev.ToolFinished(call=call.id, name=call.name, result=result))

    def _replica(self) -> SessionState:
        state = SessionState()
        for at, event in self.log:
            state.at = at
            state.apply(msgspec.json.decode(msgspec.json.encode(event), type=type(event)))
        return state

    def _restart(self) -> None:
        self._again()
        self._open(self._replica())

    def _budget(self) -> Budget:
        return budget_for(self.info)

    def _ask(self, *, overflow: bool) -> Plan | None:
        self.requests += 1
        budget = self._budget()
        tail = ("[Budget is low.]",) if self.dice.random() < 0.1 else ()
        folds = self.folds
        try:
            plan = self.planner.plan(self.info, budget, tail, overflow=overflow)
        except Refusal:
            self.refusals += 1
            self.in_a_row += 1
            return None
        self.in_a_row = 0
        self.hold("one fold a request", self.folds - folds <= 1)
        self._check(plan, budget, tail)
        told = plan.described
        self.emit(
            ev.RequestSent(
                request=f"r{self.requests}", purpose="main", model=self.info.ref, estimate=plan.layout.estimate,
                budget=budget.total, raw=plan.layout.raw, epoch=plan.epoch, rules=plan.rules, after=told.after,
                included=told.included, omitted=plan.omitted, reused=told.reused, broke=told.broke, fold=plan.fold,
                stable=plan.stable,
            )
        )  # fmt: skip
        return plan

    def _request(self, plan: Plan, messages: Sequence[Message]) -> Request:
        return Request(
            model=self.info.name, system=plan.layout.system, standing=plan.layout.standing, messages=tuple(messages),
            tools=TOOLS, max_output=256, marks=plan.layout.marks,
        )  # fmt: skip
