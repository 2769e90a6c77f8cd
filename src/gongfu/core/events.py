"""Everything that happens, as past-tense facts. The journal holds the durable ones; the rest is only shown live.

Names of events and their fields are for ever. An event carries data and never renders it.
"""

from __future__ import annotations

from functools import cache
from typing import Any, Literal, TypeAlias, cast

import msgspec

from gongfu.core.base import Base
from gongfu.core.brief import Brief
from gongfu.core.event_base import Event
from gongfu.core.guarded import CheckpointTaken, FilesRestored, HookRan, PermissionGranted
from gongfu.core.live import AgentEvent, CallDelta, MessagePartial, ReasoningDelta, TextDelta, ToolOutput
from gongfu.core.messages import Message, ResultPart, soften
from gongfu.core.modes import Bounds, ModeChanged, ModelChosen, PermissionSet, ReasoningSet
from gongfu.core.specs import Usage
from gongfu.core.told import (
    AgentFinished,
    AgentStarted,
    BatchLabelled,
    EpochOpened,
    Included,
    Omitted,
    RulesJoined,
    RulesPinned,
    SummaryFailed,
    SummaryMade,
)  # fmt: skip

TurnStatus: TypeAlias = Literal["done", "failed", "refused", "budget", "cancelled", "interrupted"]
Finish: TypeAlias = Literal["stop", "calls", "length", "filter", "unknown"]
TodoStatus: TypeAlias = Literal["pending", "in_progress", "done", "cancelled"]


# --- a session ---------------------------------------------------------------------------------------------------


class SessionCreated(Event, frozen=True, tag="session_created"):
    """Always the first. A fork names its origin: everything up to `forked_seq` was copied from `forked_from`.

    The session of a sub-agent names its `parent`, and how it was set up in its `brief`.
    """

    session: str
    directory: str
    root: str
    version: int = 1
    parent: str = ""
    forked_from: str = ""
    forked_seq: int = 0
    brief: Brief | None = None


class SessionTitled(Event, frozen=True, tag="session_titled"):
    title: str


class PromptQueued(Event, frozen=True, tag="prompt_queued"):
    """A prompt waits for its turn; `message` enters the transcript when its turn starts.

    `schema` is the JSON Schema that the final answer must follow, when one was asked for; `bounds` is what holds for
    its turn alone, when it came of a command.
    """

    prompt: str
    message: Message
    schema: dict[str, Any] | None = None
    bounds: Bounds | None = None

    @property
    def typed(self) -> str:
        """What the person typed: the words of a command, else the text itself."""
        return self.bounds.command if self.bounds is not None and self.bounds.command else self.message.text


class PromptDropped(Event, frozen=True, tag="prompt_dropped"):
    """A queued prompt was taken back before its turn."""

    prompt: str


class TurnStarted(Event, frozen=True, tag="turn_started"):
    """`prompt` is the queued prompt that it serves ("": an interrupted turn goes on); `blocked`: a hook refused it."""

    turn: str
    model: str
    permission: str
    prompt: str = ""
    resumed: bool = False
    blocked: bool = False


class TurnFinished(Event, frozen=True, tag="turn_finished"):
    """`reason` is a catalogue key with `values` when the turn ended other than by the model's last word."""

    turn: str
    status: TurnStatus
    reason: str = ""
    values: dict[str, Any] = {}
    text: str = ""
    usage: Usage = Usage()
    cost: float | None = None
    requests: int = 0
    steps: int = 0
    seconds: float = 0.0


# --- what the model is told and says -----------------------------------------------------------------------------


class MessageAdded(Event, frozen=True, tag="message_added"):
    """Words of the person, a steering message or a note of Gongfu entered the transcript."""

    message: Message


class RequestSent(Event, frozen=True, tag="request_sent"):
    """A request is about to leave: its receipt. Figures are tokens unless said otherwise.

    `estimate` (calibrated) keeps within `budget`; `raw` is the estimate before calibration. `bytes` is the size of the
    body, `prefix` a hash of it. `scope` is "auxiliary" for work beside the turn that carries no project rules; `rules`
    is the fingerprint of those that it carries. `included` lists what the request holds beyond the earlier request
    `after` of the same epoch ("": all of it); `omitted` what was left out and why. `reused` is the part that an earlier
    request to the same model began with, `broke` why it is not all of that request ("" when it is), `fold` why the
    epoch was opened, for its first request. `attempt` counts tries of the same request from 1. `window` is what the
    model can see, `reserve` the part of it kept for the answer (0: not known), `stable` the hashes of the system prompt
    and of the tools, with a dot between them.
    """

    request: str
    purpose: str
    model: str
    attempt: int = 1
    estimate: int = 0
    budget: int = 0
    messages: int = 0
    bytes: int = 0
    prefix: str = ""
    raw: int = 0
    epoch: int = 0
    scope: Literal["main", "auxiliary"] = "main"
    rules: str = ""
    after: str = ""
    included: tuple[Included, ...] = ()
    omitted: tuple[Omitted, ...] = ()
    reused: int = 0
    broke: str = ""
    fold: str = ""
    window: int = 0
    reserve: int = 0
    stable: str = ""


class RequestFailed(Event, frozen=True, tag="request_failed"):
    """`retry_in` seconds until the next attempt; None when there is none with this model. `purpose` as it was sent."""

    request: str
    fault: str
    detail: str = ""
    status: int | None = None
    retry_in: float | None = None
    next_model: str = ""
    purpose: str = "main"


class AnswerReceived(Event, frozen=True, tag="answer_received"):
    """The model's message. `cut` marks a partial one kept after a broken stream or a cancel; its calls never run."""

    request: str
    message: Message
    finish: Finish = "stop"
    usage: Usage = Usage()
    cost: float | None = None
    purpose: str = "main"
    model: str = ""
    cut: bool = False
    seconds: float = 0.0


class HistoryRepaired(Event, frozen=True, tag="history_repaired"):
    """Pairs in the history that were broken from outside were mended once: results added or dropped, by call id."""

    added: tuple[ResultPart, ...] = ()
    dropped: tuple[str, ...] = ()


class WindowObserved(Event, frozen=True, tag="window_observed"):
    """A server counted far fewer prompt tokens than were sent: it serves `served` tokens and cuts the rest silently."""

    model: str
    sent: int
    served: int


# --- tools -------------------------------------------------------------------------------------------------------


class ToolStarted(Event, frozen=True, tag="tool_started"):
    """The call runs now. `arguments` are as validated, `title` a short line for the person."""

    call: str
    name: str
    arguments: dict[str, Any] = {}
    title: str = ""


class ToolFinished(Event, frozen=True, tag="tool_finished"):
    """The one result of a call. `display` is for the person: see `core.display`."""

    call: str
    name: str
    result: ResultPart
    display: dict[str, Any] = {}
    seconds: float = 0.0


class TodoItem(Base, frozen=True, gc=False):
    text: str
    status: TodoStatus = "pending"


class TodoChanged(Event, frozen=True, tag="todo_changed"):
    """The whole list: items of `text` and `status`."""

    items: tuple[TodoItem, ...] = ()


class JobChanged(Event, frozen=True, tag="job_changed"):
    """A background command started or ended. `code` is its exit code once it has one."""

    job: str
    command: str
    state: Literal["running", "ended", "stopped"]
    code: int | None = None


# --- people ------------------------------------------------------------------------------------------------------


class QuestionAsked(Event, frozen=True, tag="question_asked"):
    """Waits for `Session.answer(question, …)`. `about` tells a permission from a question.

    A permission is answered by "allow", "session", "project" (both may name parts: "session:1,3"), "deny" or
    "deny: why".

    `preview` shows what would happen (see `core.display`); `seconds` is how long is waited before `default` counts.
    `agent` names the sub-agent that asks; then `call` is the call that started it.
    """

    question: str
    about: Literal["permission", "question"]
    text: str
    options: tuple[str, ...] = ()
    default: str = ""
    call: str = ""
    tool: str = ""
    reason: str = ""
    preview: dict[str, Any] = {}
    seconds: float | None = None
    agent: str = ""


class QuestionAnswered(Event, frozen=True, tag="question_answered"):
    """`by`: a person, the policy when nobody is there, a time-out, or a cancel."""

    question: str
    answer: str
    by: Literal["person", "policy", "timeout", "cancel"] = "person"


class WarningRaised(Event, frozen=True, tag="warning_raised"):
    """Something the person should know: a catalogue key with its values."""

    key: str
    values: dict[str, Any] = {}


class UnknownEvent(Event, frozen=True, tag="unknown_event"):
    """An event written by a newer version, kept as it was."""

    kind: str
    value: dict[str, Any] = {}


AnyEvent: TypeAlias = (
    SessionCreated
    | SessionTitled
    | PromptQueued
    | PromptDropped
    | TurnStarted
    | TurnFinished
    | MessageAdded
    | RequestSent
    | RequestFailed
    | AnswerReceived
    | HistoryRepaired
    | WindowObserved
    | ToolStarted
    | ToolFinished
    | TodoChanged
    | JobChanged
    | QuestionAsked
    | QuestionAnswered
    | WarningRaised
    | EpochOpened
    | BatchLabelled
    | SummaryMade
    | SummaryFailed
    | RulesPinned
    | RulesJoined
    | AgentStarted
    | AgentFinished
    | CheckpointTaken
    | FilesRestored
    | HookRan
    | PermissionGranted
    | ModeChanged
    | ReasoningSet
    | PermissionSet
    | ModelChosen
    | AgentEvent
    | TextDelta
    | ReasoningDelta
    | CallDelta
    | ToolOutput
    | MessagePartial
    | UnknownEvent
)


class Entry(Base, frozen=True, gc=False):
    """An event as a subscriber sees it. `seq` is 0 for live ones; `time` is seconds since 1970."""

    seq: int
    time: float
    event: AnyEvent


_encoder = msgspec.json.Encoder()


@cache
def _decoder() -> msgspec.json.Decoder[AnyEvent]:
    return msgspec.json.Decoder(AnyEvent)  # built when the first event is read: 25 types cost 3 ms


def encode_event(event: Event) -> bytes:
    """The JSON of one event, its `type` first."""
    return _encoder.encode(event)


def decode_event(data: bytes | str) -> AnyEvent:
    """Read one stored event. What this version does not know becomes `UnknownEvent` or a `raw` part.

    Raises msgspec.DecodeError for what is no JSON at all.
    """
    try:
        return _decoder().decode(data)
    except msgspec.ValidationError:
        return _decode_softly(data)


def _decode_softly(data: bytes | str) -> AnyEvent:
    value = msgspec.json.decode(data)
    try:
        return msgspec.convert(soften(value), type=AnyEvent)
    except msgspec.ValidationError:
        fields = cast("dict[str, Any]", value) if isinstance(value, dict) else {"value": value}
        return UnknownEvent(kind=str(fields.get("type", "")), value=fields)
