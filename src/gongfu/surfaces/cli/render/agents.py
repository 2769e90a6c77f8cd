"""Sub-agents at work: a group each, with its newest step as one living line."""

from __future__ import annotations

from typing import Any

import msgspec

from gongfu.core import events as ev
from gongfu.core.base import Base
from gongfu.surfaces.cli.render.lines import Lines
from gongfu.surfaces.cli.render.numbers import duration, tokens
from gongfu.surfaces.cli.render.summary import singular
from gongfu.surfaces.cli.style import clean, one_line


class Working(Base, frozen=True):
    """A sub-agent that works: since when, how many calls so far, and the newest of them."""

    started: ev.AgentStarted
    since: float
    calls: int = 0
    step: str = ""


class Agents:
    """Follows the sub-agents of one turn. What those of a sub-agent do counts as its step."""

    def __init__(self, lines: Lines) -> None:
        self.lines = lines
        self.working: dict[str, Working] = {}

    def follow(self, entry: ev.Entry) -> list[str]:
        """Take in an entry; the lines that stand by themselves: the end of one in the background, and warnings."""
        event = entry.event
        match event:
            case ev.AgentStarted():
                self.working[event.agent] = Working(started=event, since=entry.time)
                return []
            case ev.AgentFinished():
                work = self.working.pop(event.agent, None)
                return [self.ended(event)] if work is None or work.started.background else []
            case ev.AgentEvent():
                return self._inner(event)
            case ev.TurnFinished():
                self.working.clear()
            case _:
                pass
        return []

    def _inner(self, event: ev.AgentEvent) -> list[str]:
        """Something happened in a sub-agent, or below it: "agent-1.2" works for "agent-1"."""
        name = event.agent.partition(".")[0]
        work, inner = self.working.get(name), event.event
        match inner.get("type"):
            case "tool_started" if work is not None:
                step = _step(inner)
                below = event.agent != name
                step = f"{event.agent}: {step}" if below else step
                self.working[name] = Working(
                    started=work.started, since=work.since, calls=work.calls + (not below), step=step
                )
                return [self.lines.style.dim(f"  {event.agent} · {_step(inner)}")] if self.lines.verbose else []
            case "warning_raised":
                warning = ev.WarningRaised(key=str(inner.get("key")), values=inner.get("values") or {})
                return [f"{event.agent}: {self.lines.warning(warning)}"]
            case "request_failed" if inner.get("purpose", "main") == "main":
                return [f"{event.agent}: {self.lines.retry(msgspec.convert(inner, ev.RequestFailed))}"]
            case _:
                return []

    def of_call(self, call: str) -> list[str]:
        """What the sub-agent of a running call does now, in one line; nothing for any other call."""
        return [self._now(w) for w in self.working.values() if w.started.call == call and not w.started.background]

    def in_background(self, frame: str, now: float) -> list[str]:
        """A line for each agent that works beside the turn, and one for what it does."""
        lines: list[str] = []
        for work in self.working.values():
            if work.started.background:
                task = one_line(clean(work.started.task), 100)
                lines += [f"{frame} {work.started.agent}  {task}  {duration(max(0.0, now - work.since))}"]
                lines += [self._now(work)]
        return lines

    def _now(self, work: Working) -> str:
        speech = self.lines.speech
        if not work.step:
            return f"  │ {work.started.agent} · {speech('agents.thinks')}"
        return f"  │ {work.started.agent} · {singular(speech('agents.so_far', calls=work.calls))} · {work.step}"

    def ended(self, event: ev.AgentFinished) -> str:
        """How an agent ended, with its figures."""
        speech, style = self.lines.speech, self.lines.style
        used = event.usage.input + event.usage.output
        figures = singular(speech("agents.figures", calls=event.calls, requests=event.requests, tokens=tokens(used)))
        said = speech(f"agents.ended_{event.status}", agent=event.agent)
        why = one_line(speech.told(event.reason, event.values), 200) if event.reason else ""
        mark = style.green("●") if event.status == "done" else style.red("✗")
        return f"{mark} {speech('because', what=said, why=why) if why else said}  → {figures}" + style.dim(
            f"  {duration(event.seconds)}"
        )


def _step(started: dict[str, Any]) -> str:
    name, title = str(started.get("name", "")), one_line(clean(str(started.get("title", ""))), 120)
    return f"{name}  {title}" if title and title != name else name
