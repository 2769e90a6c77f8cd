"""The App: opens and reopens sessions, and owns what they share."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from contextlib import AsyncExitStack
from functools import cached_property
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Self

import anyio
import anyio.abc

from gongfu.app.consent import consent_of
from gongfu.app.equip import equip
from gongfu.app.extended import Extended
from gongfu.app.listed import Listed
from gongfu.app.note import UNFINISHED_DAYS, environment_note, today, unfinished_note
from gongfu.app.options import Options
from gongfu.app.rules import pin_for, repin_for, warnings_for
from gongfu.app.servers import hub_of, opening
from gongfu.app.spawn import Spawner
from gongfu.app.undoable import Undoable, keeper_of
from gongfu.config.paths import Places
from gongfu.config.settings import Settings
from gongfu.context.plain_labels import gate
from gongfu.core.errors import UserError
from gongfu.core.events import SessionCreated, TurnFinished
from gongfu.core.ids import new_id
from gongfu.core.words import Language
from gongfu.engine.agent import AgentSpec, Tuning
from gongfu.engine.kit import Kit
from gongfu.engine.session import Session
from gongfu.models.protocol import ModelProvider
from gongfu.models.router import Router
from gongfu.resources import text
from gongfu.store.artifacts import Artifacts
from gongfu.store.database import Database
from gongfu.store.journal import Journal
from gongfu.store.sessions import Sessions
from gongfu.workspace.locks import FileLock
from gongfu.workspace.root import Workspace

if TYPE_CHECKING:
    from gongfu.plugins.mcp.hub import Hub
    from gongfu.workspace.sandbox.sandbox import Sandbox

__all__ = ["App", "Session", "TurnFinished"]


class App(Undoable, Extended, Listed):
    """An agent, ready to talk. Use it as an async context manager: leaving it ends all turns cleanly.

    Made by `gongfu.open`. Sessions of one app run side by side; each has its own event stream.
    """

    def __init__(self, options: Options) -> None:
        self.options = options
        self.router = Router(
            options.settings, options.env, options.places, extra=options.providers, files=self._small_files
        )
        self._spawner = Spawner(self, make=self._make, kit=self._kit)
        self._open: dict[str, Session] = {}
        self._opening = anyio.Lock()
        self._locks: dict[str, FileLock] = {}
        self._tasks: anyio.abc.TaskGroup | None = None
        self._stack = AsyncExitStack()

    # --- what a surface reads ---

    @property
    def settings(self) -> Settings:
        """The merged settings."""
        return self.options.settings

    @property
    def places(self) -> Places:
        """Where things of the user lie."""
        return self.options.places

    @property
    def workspace(self) -> Workspace:
        """The folders that the agent works in."""
        return self.options.workspace

    @property
    def language(self) -> Language:
        """The language of the screen."""
        return self.options.language

    @cached_property
    def database(self) -> Database:
        """The store; opened when it is first needed."""
        self.places.ensure()
        return Database.open(self.places.store)

    @cached_property
    def journal(self) -> Journal:
        """The events of all sessions."""
        return Journal(self.database)

    @cached_property
    def rows(self) -> Sessions:
        """The list of sessions."""
        return Sessions(self.database)

    @cached_property
    def sandbox(self) -> Sandbox:
        """What confines commands; found when it is first asked."""
        from gongfu.workspace.sandbox.sandbox import Sandbox  # few know before the first turn that it is needed

        memory = self.places.cache / "sandbox.json"
        return Sandbox(self.settings.sandbox, self.workspace, self.options.env, memory)

    @cached_property
    def hub(self) -> Hub | None:
        """The MCP servers, shared by all sessions; None when there are none."""
        return hub_of(self)

    @cached_property
    def artifacts(self) -> Artifacts:
        """Outputs too long for the context."""
        return Artifacts(self.places.artifacts)

    # --- life ---

    @property
    def group(self) -> anyio.abc.TaskGroup:
        """The tasks that live as long as the app."""
        if self._tasks is None:
            raise RuntimeError("use the app as an async context manager: `async with gongfu.open() as app:`")
        return self._tasks

    async def __aenter__(self) -> Self:
        self._tasks = await self._stack.enter_async_context(anyio.create_task_group())
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> bool | None:
        try:
            with anyio.CancelScope(shield=True):
                for session in list(self._open.values()):
                    await session.close()
                if self.__dict__.get("hub") is not None and self.hub is not None:
                    await self.hub.close()
                await self.router.aclose()
                if "sandbox" in self.__dict__:
                    await self.sandbox.close()
            return await self._stack.__aexit__(kind, error, trace)
        except BaseExceptionGroup as group:
            if error is None or group.exceptions != (error,):
                raise
            return None  # an error of the caller comes out as it is, not in a group
        finally:
            for lock in self._locks.values():
                lock.release()
            if "database" in self.__dict__:
                self.database.close()

    # --- sessions ---

    async def session(self, id: str = "", *, latest: bool = False) -> Session:
        """A new session; or an old one, by its id (or a unique part of it) or the latest of this workspace.

        A new one is recorded when its first prompt comes. UserError when there is no such session, or another process
        has it open.
        """
        if id or latest:
            return await self._reopen(self.row(id).id)
        return self.in_mode(self._make(new_id("s")))

    def _begin(self, session: Session) -> None:
        created = SessionCreated(
            session=session.id, directory=str(self.workspace.directory), root=str(self.workspace.root)
        )
        pinned = pin_for(self, session)  # a refusal leaves nothing behind
        self._add_row(created)
        session.stream.emit(created, *(() if pinned is None else (pinned, *warnings_for(self, pinned))))

    def _add_row(self, created: SessionCreated) -> None:
        self.rows.create(
            created.session, directory=created.directory, root=created.root, parent=created.parent, at=time.time()
        )

    async def _reopen(self, id: str) -> Session:
        async with self._opening:  # nobody gets one that is read half
            known = self._open.get(id)
            if known is not None:
                return known  # in the mode that was chosen since
            session = await self._loaded(self._make_again(id))
            if (other := repin_for(self, session)) is not None:
                session.stream.emit(other)
            return self.in_mode(session)

    def _make_again(self, id: str) -> Session:
        first = next(self.journal.read(id, before=2), None)
        created = first.event if first is not None else None
        if isinstance(created, SessionCreated) and created.brief is not None:
            return self._spawner.reopen(id, created.brief)
        return self._make(id)

    async def _loaded(self, session: Session) -> Session:
        try:
            await session.load()
        except BaseException:
            self._forget(session.id)
            raise
        return session

    def _forget(self, id: str) -> None:
        """A session is closed, or could not be opened: another may open it."""
        self._open.pop(id, None)
        lock = self._locks.pop(id, None)
        if lock is not None:
            lock.release()

    def _lock(self, id: str) -> None:
        self.places.ensure(self.places.locks)
        lock = FileLock(self.places.locks / f"{id}.lock")
        try:
            taken = lock.try_acquire()
        except OSError as error:
            raise UserError("store.not_writable", path=lock.path, reason=error.strerror or error) from error
        if not taken:
            raise UserError("engine.session_busy", session=id)
        self._locks[id] = lock

    def _make(self, id: str, kit: Callable[[Session], Kit] | None = None) -> Session:
        self._lock(id)
        session = self._open[id] = Session(id, kit or self._kit)
        return session

    def _kit(self, session: Session) -> Kit:
        registry, end_jobs, folded = equip(self, session)
        hooks = None
        if self.settings.hooks:
            from gongfu.app.hooks import hooks_for  # only where there are hooks

            hooks = hooks_for(self, session, self.group)

        guard = keeper_of(self, session)

        async def close() -> None:
            await end_jobs()
            guard.close()
            if hooks is not None:
                await hooks.close()
            self._forget(session.id)

        return Kit(
            agent=self._agent(),
            workspace=self.workspace,
            journal=self.journal,
            sessions=self.rows,
            artifacts=self.artifacts,
            registry=registry,
            answers=self.options.answers,
            tasks=self.group,
            chain=self._chain,
            fast=self._fast,
            environment=lambda: environment_note(self.workspace, self.options.env, opening(self)),
            today=today,
            report=self.report,
            after_turn=self.database.checkpoint,
            begin=self._begin,
            close=close,
            fork=self._fork,
            labels=gate(self.options.env, self.settings.context.tool_use_summaries),
            titles=True,
            summaries_may_use_main=self.settings.context.summaries_may_use_main,
            spawn=self._spawner.spawn,
            unfinished=self._unfinished,
            folded=folded,
            hooks=hooks,
            guard=guard,
            consent=consent_of(self),
            modes=self.get_mode,
            chain_of=lambda ref: self.router.chain("main", ref),
        )

    def _unfinished(self, session: str) -> str:
        since = time.time() - UNFINISHED_DAYS * 86_400
        return unfinished_note(self.rows.unfinished(str(self.workspace.root), but=session, since=since))

    def _small_files(self) -> list[tuple[str, str]]:
        from gongfu.app.small_files import small_files  # walks a folder: only for models that are led

        return small_files(self.workspace)

    async def _chain(self) -> Sequence[ModelProvider]:
        return await self.router.chain("main")

    async def _fast(self) -> Sequence[ModelProvider]:
        return await self.router.chain("fast")

    def _agent(self) -> AgentSpec:
        settings = self.settings
        return AgentSpec(
            system=text("prompts/system.md"),
            mode=self.options.mode,
            limits=self.options.limits,
            extra_steps_on_continue=settings.limits.extra_steps_on_continue,
            max_tool_output=settings.context.max_tool_output,
            keep_recent=settings.context.keep_recent,
            rules_share=settings.context.rules_share,
            tunings={
                ref: Tuning(
                    cap=m.max_context_tokens,
                    max_output=m.max_output_tokens,
                    temperature=m.temperature,
                    top_p=m.top_p,
                    reasoning=m.reasoning,
                )
                for ref, m in settings.model_settings.items()
            },
        )

    async def _fork(self, origin: Session, seq: int) -> Session:
        source, name = origin.state.created, new_id("s")
        brief = source.brief if source else None
        session = self._make(name) if brief is None else self._spawner.reopen(name, brief)
        created = SessionCreated(
            session=session.id,
            directory=str(self.workspace.directory),
            root=source.root if source else str(self.workspace.root),
            forked_from=origin.id,
            forked_seq=seq,
            brief=brief,
        )
        self._add_row(created)
        self.journal.append(session.id, [created], at=time.time())
        self.journal.copy(origin.id, session.id, seq)
        self.artifacts.copy(origin.id, session.id)  # the history that was copied names them
        self.rows.set_title(session.id, origin.title)
        return await self._loaded(session)

    async def delete(self, id: str) -> list[str]:
        """Really delete a session with its artifacts; the ids that went (its children go with it).

        UserError when another process has one of them open.
        """
        row = self.rows.get(id)
        locked: list[str] = []
        try:
            for name in self.rows.family(row.id):
                known = self._open.get(name)
                if known is not None:
                    await known.close()
                self._lock(name)
                locked.append(name)
            gone = self.rows.delete(row.id)
            for name in gone:
                self.artifacts.delete(name)
            self.forget_files()
        finally:
            for name in locked:
                self._forget(name)
        return gone

    def report(self, details: str) -> Path:
        """Append the details of a fault to the log, without secrets; where it is. See `app.faults`."""
        from gongfu.app.faults import write_fault  # only when something went wrong

        return write_fault(self.options, details)
