"""Sub-agents at work, as a tree: who works for whom, and what each does now."""

from __future__ import annotations

from typing import Any

from gongfu.core import events as ev
from gongfu.surfaces.cli.render.numbers import elapsed
from gongfu.surfaces.cli.render.painted import clipped
from gongfu.surfaces.cli.render.summary import singular
from gongfu.surfaces.cli.speech import Speech
from gongfu.surfaces.cli.style import Style, clean, one_line
from gongfu.surfaces.cli.width import width

_TASK = 60  # characters of a task that are kept


class _Node:
    """One agent: since when it works, its calls so far, and the newest of them."""

    def __init__(self, agent: str, call: str, task: str, since: float, *, background: bool) -> None:
        self.agent = agent
        self.call = call
        self.task = task
        self.since = since
        self.background = background
        self.calls = 0
        self.step = ""
        self.below: dict[str, _Node] = {}


class Tree:
    """Follows the sub-agents of a turn. What has ended is taken away; its figures stand in a line of their own."""

    def __init__(self) -> None:
        self._roots: dict[str, _Node] = {}
        self._all: dict[str, _Node] = {}

    @property
    def alive(self) -> bool:
        """Whether any agent works."""
        return bool(self._roots)

    def follow(self, entry: ev.Entry) -> None:
        """Take in an entry."""
        event = entry.event
        match event:
            case ev.AgentStarted():
                node = _node(event.agent, event.call, event.task, entry.time, background=event.background)
                self._roots[event.agent] = self._all[event.agent] = node
            case ev.AgentFinished():
                self._drop(event.agent, self._roots)
            case ev.AgentEvent():
                self._inner(event.agent, event.event, entry.time)
            case ev.TurnStarted() | ev.TurnFinished():
                self._roots.clear()
                self._all.clear()
            case _:
                pass

    def _inner(self, agent: str, inner: dict[str, Any], time: float) -> None:
        node = self._all.get(agent)
        if node is None:
            return
        match inner.get("type"):
            case "tool_started":
                node.calls += 1
                node.step = _step(inner)
            case "agent_started":
                name = str(inner.get("agent", ""))
                call, background = str(inner.get("call", "")), bool(inner.get("background"))
                child = _node(name, call, str(inner.get("task", "")), time, background=background)
                node.below[name] = self._all[name] = child
            case "agent_finished":
                self._drop(str(inner.get("agent", "")), node.below)
            case _:
                pass

    def _drop(self, agent: str, among: dict[str, _Node]) -> None:
        node = among.pop(agent, None)
        if node is None:
            return
        self._all.pop(agent, None)
        for child in tuple(node.below):
            self._drop(child, node.below)

    def of_call(self, call: str, now: float, columns: int, style: Style, speech: Speech) -> list[str]:
        """The agent that a running call waits for, and those below it; nothing for any other call."""
        nodes = [node for node in tuple(self._roots.values()) if node.call == call and not node.background]
        return _branches(nodes, "  ", now, columns, style, speech)

    def beside(self, now: float, columns: int, style: Style, speech: Speech) -> list[str]:
        """Those that work in the background, each with what is below it."""
        rows: list[str] = []
        for node in tuple(self._roots.values()):
            if node.background:
                rows.append(_row(node, f"{style.cyan('●')} ", now, columns, style, speech))
                rows += _branches(tuple(node.below.values()), "  ", now, columns, style, speech)
        return rows


def _node(agent: str, call: str, task: str, since: float, *, background: bool) -> _Node:
    return _Node(one_line(agent, 40), call, one_line(clean(task), _TASK), since, background=background)


def _branches(
    nodes: tuple[_Node, ...] | list[_Node], margin: str, now: float, columns: int, style: Style, speech: Speech
) -> list[str]:
    rows: list[str] = []
    for at, node in enumerate(nodes):
        last = at == len(nodes) - 1
        rows.append(_row(node, style.dim(f"{margin}{'└' if last else '├'} "), now, columns, style, speech))
        further = f"{margin}{' ' if last else '│'} "
        rows += _branches(tuple(node.below.values()), further, now, columns, style, speech)
    return rows


def _row(node: _Node, head: str, now: float, columns: int, style: Style, speech: Speech) -> str:
    """`├ agent-1  3 calls  12s  grep  foo`: what may be cut stands last."""
    count = singular(speech("talk_view.calls", count=node.calls)) if node.calls else ""
    time = elapsed(now - node.since)
    where = speech("talk_view.background") if node.background else ""
    facts = style.dim(" · ".join(filter(None, (where, count, time))))
    doing = node.step or node.task or speech("agents.thinks")
    line = f"{head}{node.agent}  {facts}  {style.dim(doing)}"
    return clipped(line, columns)


def _step(started: dict[str, Any]) -> str:
    name, title = one_line(str(started.get("name", "")), 40), one_line(clean(str(started.get("title", ""))), 120)
    return f"{name}  {title}" if title and width(title) and title != name else name
