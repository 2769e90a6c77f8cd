"""Gives a session its tools."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from contextlib import AsyncExitStack
from typing import TYPE_CHECKING, TypeAlias

from gongfu.app.families import Parts, families
from gongfu.app.online import client_of
from gongfu.app.servers import connect_later, live_families, standing
from gongfu.app.spawn import known_models
from gongfu.core.events import JobChanged
from gongfu.core.messages import CallPart
from gongfu.toolkit.agents import AgentTools
from gongfu.toolkit.ask import ask_user
from gongfu.toolkit.edit import edit_tools
from gongfu.toolkit.files import file_tools
from gongfu.toolkit.plan import todo
from gongfu.toolkit.programs import Programs
from gongfu.toolkit.readlog import ReadLog, forget_folded
from gongfu.toolkit.recall import Recall, recall_tools
from gongfu.toolkit.search import search_tools
from gongfu.toolkit.shell import ShellTools
from gongfu.toolkit.web import WebTools
from gongfu.tools.needs import missing
from gongfu.tools.registry import Registry
from gongfu.workspace.jobs import Jobs

if TYPE_CHECKING:
    from gongfu.app.app import App
    from gongfu.engine.session import Session


Folded: TypeAlias = Callable[[Sequence[CallPart], Sequence[CallPart]], None]


def equip(app: App, session: Session) -> tuple[Registry, Callable[[], Awaitable[None]], Folded]:
    """The tools of one session, what ends the processes that they keep running, and what is told of a fold."""
    settings, workspace = app.settings, app.workspace

    def changed(event: JobChanged) -> None:
        session.stream.emit(event)

    jobs = Jobs(changed=changed, artifact=lambda: app.artifacts.writer(session.id))
    programs = Programs(
        directory=workspace.directory,
        env=app.options.env,
        keep=settings.shell.keep_env,
        trusted=workspace.root if app.options.trusted else None,
        sandbox=app.sandbox,
    )
    shell = ShellTools(
        programs,
        jobs=jobs,
        artifact=lambda: app.artifacts.writer(session.id),
        idle=settings.shell.idle_seconds,
        limit=settings.context.max_tool_output,
    )

    recall = Recall(
        messages=lambda: session.state.transcript.messages,
        files=lambda: app.artifacts.all(session.id),
        turns=lambda: session.state.context.turns,
        labels=lambda: session.state.context.labels,
        shown=lambda: session.state.context.view.messages,
    )
    reads = ReadLog()
    limit = settings.context.max_tool_output
    toolsets = (
        file_tools(workspace, reads, recall.read, limit=limit),
        edit_tools(workspace, reads),
        search_tools(workspace, env=app.options.env, limit=limit),
        shell,
        (ask_user, todo),
        AgentTools(session, check=lambda ref: app.router.chain("main", ref), models=lambda: known_models(app)),
        recall_tools(recall),
        (WebTools(lambda: client_of(app), lambda: app.artifacts.writer(session.id)).web_fetch,),
    )

    def folded(gone: Sequence[CallPart], visible: Sequence[CallPart]) -> None:
        state = session.state
        told = state.transcript.messages.recent()
        done = {r.call_id: r.text for m in told for r in m.results if r.status == "done"}
        full = {r.call_id for m in state.context.view.messages for r in m.results if r.text == done.get(r.call_id)}
        forget_folded(
            reads,
            lambda path: workspace.locate(path).path,
            [call for call in (*gone, *visible) if call.id in done and call.id not in full],
            [call for call in visible if call.id in full],
        )

    parts = Parts(app=app, session=session, programs=programs, reads=reads)

    async def close() -> None:
        async with AsyncExitStack() as stack:  # each ends, whatever becomes of the others
            stack.push_async_callback(jobs.close)
            for end in parts.closing:
                stack.push_async_callback(end)

    registry = Registry(
        toolsets, (*families(parts), *live_families(app)), pin=settings.tools.pin,
        missing=lambda spec: missing(spec, app.options.env), standing=standing(app),
    )  # fmt: skip
    connect_later(app, session, parts.closing)
    return registry, close, folded
