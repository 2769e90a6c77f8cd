"""Events about what the model is told: epochs, labels, summaries, rules, receipts, sub-agents."""

from __future__ import annotations

from typing import Any, Literal, TypeAlias

from gongfu.core.base import Base
from gongfu.core.event_base import Event
from gongfu.core.specs import Usage

Level: TypeAlias = Literal["full", "masked"]
Duty: TypeAlias = Literal["mandatory", "optional", "excluded"]
FoldReason: TypeAlias = Literal["high", "manual", "overflow", "cold", "model", "mode", "tools", "rules"]


class Included(Base, frozen=True, gc=False):
    """A block or unit that a request holds: "system", "tools", "rule:PATH", "summary", "pair:N", "u12", "tail" ...

    `tier` is 0 (SYSTEM) to 4 (REGULAR), `tokens` its estimate before calibration.
    """

    id: str
    tier: int
    level: Level = "full"
    tokens: int = 0


class Omitted(Base, frozen=True, gc=False):
    """What a request does not hold. `reason` is one word: budget, excluded, folded, moved, scope, path, irrelevant."""

    id: str
    reason: str
    tokens: int = 0


class EpochOpened(Event, frozen=True, tag="epoch_opened"):
    """The one lossy act: from here on requests hold what these decisions leave. Nothing is deleted from the log.

    Numbers of messages are indexes in the transcript; `at` is how long that was. `rung` is the step of the ladder (1
    masked, 2 regular groups dropped, 3 turns moved, 4 only what must stay). `masked` are the calls whose results give
    way to a label, `shrunk` calls whose results are cut to head and tail of so many bytes, `trimmed` calls of which
    only long arguments are cut, `shortened` messages whose long texts are cut to head and tail, `dropped` [from, to)
    ranges that are left out (`sizes`: their tokens, `calls`: how many calls of each tool are in them), `kept` the calls
    inside of those ranges that stay. Thinking before message `thinking` is left out. `moved` are the turns (numbers
    from 0) that became pairs, `key_absent` tells that a KEY unit had to be left out. `note`, `summary`, `chain` and
    `pairs` are texts that the requests hold from now on; `shown` are the turns
    in `pairs`, `rules` the joined rule sources that moved up. `before` and `after` are estimates, `least` what the fold
    had to free, `visits` how often a unit was looked at.
    """

    epoch: int
    reason: FoldReason
    model: str = ""
    forced: bool = False
    at: int = 0
    rung: int = 1
    budget: int = 0
    before: int = 0
    after: int = 0
    least: int = 0
    visits: int = 0
    masked: tuple[str, ...] = ()
    shrunk: tuple[tuple[str, int], ...] = ()
    trimmed: tuple[str, ...] = ()
    shortened: tuple[int, ...] = ()
    dropped: tuple[tuple[int, int], ...] = ()
    sizes: tuple[int, ...] = ()
    calls: dict[str, int] = {}
    kept: tuple[str, ...] = ()
    thinking: int = 0
    moved: tuple[int, ...] = ()
    key_absent: bool = False
    note: str = ""
    summary: str = ""
    chain: str = ""
    pairs: str = ""
    shown: tuple[int, ...] = ()
    rules: tuple[str, ...] = ()
    focus: str = ""


class BatchLabelled(Event, frozen=True, tag="batch_labelled"):
    """A short name for a batch of calls, in the style of a commit subject. `by` tells whether a model wrote it."""

    calls: tuple[str, ...]
    text: str
    by: Literal["plain", "model"] = "plain"


class SummaryMade(Event, frozen=True, tag="summary_made"):
    """A model's summary, made beside the turn; used when the next epoch opens.

    `kind` "history" covers all turns before number `upto` (the earlier summary merged in), "chain" the tool calls of
    turn `upto - 1`. `focus` is what the person wanted kept, when asked by hand.
    """

    kind: Literal["history", "chain"]
    text: str
    upto: int
    focus: str = ""


class SummaryFailed(Event, frozen=True, tag="summary_failed"):
    """A summary could not be had or was refused; a deterministic extract is used. Three in a row and none is tried."""

    kind: Literal["history", "chain"]
    reason: str


class RuleSection(Base, frozen=True, gc=False):
    """One Markdown section of a rule source, or all of it (`heading` ""). `sha256` is of `text`.

    `duty` is the operator's word where there is one (`said`), else "optional"; `why` belongs to "excluded":
    superseded, not_applicable or withdrawn.
    """

    heading: str
    text: str
    sha256: str
    duty: Duty = "optional"
    said: bool = False
    why: str = ""


class RuleSource(Base, frozen=True, gc=False):
    """One rule file as it was pinned. `path` is relative to the root ("~/..." for the user's own).

    `depth` is -1 for the user's own, 0 at the root; `kind` is "agents", "claude" or "rules"; `paths` are the globs of
    its front matter; `nested` tells that it lies below the target directory and joins when its directory is touched.
    `sha256` is of the whole text.
    """

    path: str
    kind: Literal["agents", "claude", "rules"]
    depth: int
    scope: str
    sha256: str
    sections: tuple[RuleSection, ...]
    paths: tuple[str, ...] = ()
    nested: bool = False


class RulesPinned(Event, frozen=True, tag="rules_pinned"):
    """The snapshot of project rules that holds from here on. `fingerprint` is SHA-256 over sources, order and duties.

    `revision` counts from 1 in a session; `by` says whose word it was: "start", "refresh" or a flag such as
    "--rules mandatory-all". `nonce` marks the delimiters of the envelopes. `ignored` are (path, reason) of files that
    hold nothing, `conflicts` (stronger, weaker) pairs of paths that speak of the same headings.
    """

    fingerprint: str
    revision: int
    nonce: str
    sources: tuple[RuleSource, ...] = ()
    by: str = "start"
    ignored: tuple[tuple[str, str], ...] = ()
    conflicts: tuple[tuple[str, str], ...] = ()


class RulesJoined(Event, frozen=True, tag="rules_joined"):
    """Nested rules, or those narrowed by `paths:`, whose place was touched for the first time: `paths` of sources."""

    paths: tuple[str, ...]
    touched: str = ""


class AgentStarted(Event, frozen=True, tag="agent_started"):
    """A sub-agent began: its name, the child session with its own log, and the call that started it."""

    agent: str
    session: str
    call: str
    task: str
    role: str = ""
    model: str = ""
    background: bool = False


class AgentFinished(Event, frozen=True, tag="agent_finished"):
    """A sub-agent's turn ended. `status` as in `turn_finished`; usage and cost are its own and its children's."""

    agent: str
    session: str
    call: str
    status: str
    text: str = ""
    usage: Usage = Usage()
    cost: float | None = None
    requests: int = 0
    calls: int = 0
    seconds: float = 0.0
    reason: str = ""
    values: dict[str, Any] = {}
