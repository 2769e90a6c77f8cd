"""Sub-agents for the model."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

from gongfu.core.brief import Brief
from gongfu.core.errors import ToolFailure, UserError
from gongfu.tools.decorator import tool
from gongfu.tools.protocol import CallContext, Claim, Facts, Outcome, Tool

if TYPE_CHECKING:
    from gongfu.engine.children import Children, Report
    from gongfu.engine.session import Session

_TITLE = 120


async def _facts(_owner: AgentTools, args: dict[str, Any]) -> Facts:
    text = str(args["task"]).strip()
    line = next((line.strip() for line in text.splitlines() if line.strip()), "")
    return Facts(access=("read",), title=line if len(line) <= _TITLE else f"{line[: _TITLE - 1]}…")


def _claims(_owner: AgentTools, _args: dict[str, Any]) -> tuple[Claim, ...]:
    return ()  # several work side by side; the guard against stale writes keeps their edits apart


class AgentTools:
    """The tool `task` of one session.

    `check` resolves a model reference (UserError when it cannot be used), `models` names those that can.
    """

    def __init__(
        self, session: Session, *, check: Callable[[str], Awaitable[object]], models: Callable[[], Sequence[str]]
    ) -> None:
        self._session = session
        self._check = check
        self._models = models

    def __iter__(self) -> Iterator[Tool]:
        yield self.task

    @tool(key=True, facts=_facts, claims=_claims)
    async def task(  # noqa: PLR0917  (the model's arguments)
        self,
        task: str,
        ctx: CallContext,
        role: str = "",
        tools: list[str] | None = None,
        model: str = "",
        max_steps: int | None = None,
        background: bool = False,
    ) -> Outcome:
        """Hand a task to a sub-agent."""
        if not task.strip():
            raise ToolFailure("task is empty; say what to do and all that the sub-agent needs to know")
        if max_steps is not None and max_steps < 1:
            raise ToolFailure("max_steps must be at least 1; leave it out for the usual limit")
        children = self._session.children
        given = self._tools(children, tools)
        await self._check_model(model.strip())
        if background:
            _room(children)
        limit = self._session.kit.agent.limits.steps
        brief = Brief(
            agent=children.name(),
            call=ctx.call_id,
            role=role.strip(),
            tools=given,
            model=model.strip(),
            steps=limit if max_steps is None else min(max_steps, limit),
            depth=children.depth + 1,
            background=background,
            mode=self._session.overlay.mode,
        )
        if background:
            return await _begun(children, brief, task.strip())
        return _outcome(await children.run(brief, task.strip()))

    def _tools(self, children: Children, wanted: list[str] | None) -> tuple[str, ...]:
        """The names that a sub-agent may use: those wanted, by itself all of its parent's as deep as that goes."""
        from gongfu.engine.children import DEEPEST

        registry = self._session.overlay.registry
        own = registry.names
        deep = children.depth + 1 >= DEEPEST
        if children.depth >= DEEPEST:
            raise ToolFailure(f"sub-agents go {DEEPEST} levels deep, and you are one at that depth; do it yourself")
        if wanted is None:
            return tuple(name for name in own if not (deep and name == "task"))
        if not wanted:
            raise ToolFailure("tools is empty; name some, or leave it out for all that you have")
        unknown = [name for name in wanted if name not in own and name not in registry.shelf]
        if unknown:
            raise ToolFailure(f"you have no tool {', '.join(unknown)} to give; yours are: {', '.join(own)}")
        if deep and "task" in wanted:
            raise ToolFailure(f"task cannot be given any further: sub-agents go {DEEPEST} levels deep")
        return tuple(dict.fromkeys(wanted))

    async def _check_model(self, model: str) -> None:
        if not model:
            return
        try:
            await self._check(model)
        except UserError as error:
            known = ", ".join(self._models()) or "none besides your own"
            raise ToolFailure(f"{error} Nothing was started. Models to choose from: {known}.") from None


def _room(children: Children) -> None:
    from gongfu.engine.children import AT_ONCE

    if len(children.running) >= AT_ONCE:
        names = ", ".join(children.running)
        raise ToolFailure(f"{AT_ONCE} sub-agents work in the background already ({names}); wait for a report")


async def _begun(children: Children, brief: Brief, task: str) -> Outcome:
    started = await children.start(brief, task)
    return Outcome(
        text=f"{started.agent} works in the background; its report comes to you as a message. Go on with other work.",
        agent=started.agent,
        display={"kind": "text", "text": started.session, "summary": started.agent},
    )


def _outcome(report: Report) -> Outcome:
    finished = report.finished
    return Outcome(
        text=report.text,
        status="done" if report.done else "failed",
        agent=finished.agent,
        display={
            "kind": "agent",
            "agent": finished.agent,
            "session": finished.session,
            "status": finished.status,
            "text": finished.text,
            "calls": finished.calls,
            "requests": finished.requests,
            "tokens": finished.usage.input + finished.usage.output,
            "reason": finished.reason,
            "values": finished.values,
            "summary": f"{finished.agent}: {finished.calls} calls, {finished.requests} requests",
        },
    )
