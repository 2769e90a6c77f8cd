"""What a session is given by the composition root."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import anyio.abc

from gongfu.core.base import Base
from gongfu.core.brief import Brief
from gongfu.core.messages import CallPart
from gongfu.core.modes import WorkMode
from gongfu.engine.agent import AgentSpec
from gongfu.engine.consent import Consent
from gongfu.engine.guard import Guard, Hooks
from gongfu.engine.pending import Answers
from gongfu.models.protocol import ModelProvider
from gongfu.store.artifacts import Artifacts
from gongfu.store.journal import Journal
from gongfu.store.sessions import Sessions
from gongfu.tools.registry import Registry
from gongfu.workspace.root import Workspace

if TYPE_CHECKING:
    from gongfu.engine.session import Session


class Kit(Base, frozen=True):
    """The parts that a session works with. They are handed over ready; the session owns none of them but its tools.

    `chain` resolves the models of the main role, `fast` those of the fast one (none: ()), `environment` is the note
    that opens a session, `today` the date as the model is told it, `report` writes the details of a fault to the log
    and says where, `after_turn` runs between turns, `begin` records a session when its first prompt comes, `close` ends
    what its tools keep running, `fork` makes the session of a fork, `spawn` that of a
    sub-agent (UserError when its model cannot be had). `labels` and `titles`: whether the fast model may write them.
    `summaries_may_use_main`: whether the main one writes summaries where there is no fast one.
    `unfinished` is the note of what other sessions left open ("" for nothing) for the session of this id.
    `folded` is told which calls a fold no longer shows in full, and which it still does. `guard` keeps files before
    they change, `hooks` are the person's, `consent` is what calls are judged by. `modes` gives the work mode of
    a name (UserError for none), `chain_of` resolves the models of a reference as `chain` does.
    """

    agent: AgentSpec
    workspace: Workspace
    journal: Journal
    sessions: Sessions
    artifacts: Artifacts
    registry: Registry
    answers: Answers
    tasks: anyio.abc.TaskGroup
    chain: Callable[[], Awaitable[Sequence[ModelProvider]]]
    fast: Callable[[], Awaitable[Sequence[ModelProvider]]]
    environment: Callable[[], str]
    today: Callable[[], str]
    report: Callable[[str], Path]
    after_turn: Callable[[], Awaitable[object]]
    begin: Callable[[Session], None]
    close: Callable[[], Awaitable[None]]
    fork: Callable[[Session, int], Awaitable[Session]]
    spawn: Callable[[Session, Brief], Awaitable[Session]] | None = None
    labels: bool = False
    titles: bool = False
    summaries_may_use_main: bool = False
    unfinished: Callable[[str], str] | None = None
    folded: Callable[[Sequence[CallPart], Sequence[CallPart]], None] | None = None
    guard: Guard | None = None
    hooks: Hooks | None = None
    consent: Consent = Consent()
    modes: Callable[[str], WorkMode] | None = None
    chain_of: Callable[[str], Awaitable[Sequence[ModelProvider]]] | None = None
