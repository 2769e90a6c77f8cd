"""Hand-made turns."""

from __future__ import annotations

from typing import Any

from gongfu.core import events as ev
from gongfu.core.messages import CallPart, Message, Part, ResultPart, TextPart
from gongfu.core.specs import Usage

DIFF = "--- a/x.py\n+++ b/x.py\n@@ -9,3 +9,3 @@\n def f():\n-    return 1\n+    return 2\n # end\n"


def entry(event: ev.AnyEvent, seq: int = 0, time: float = 1000.0) -> ev.Entry:
    return ev.Entry(seq=seq, time=time, event=event)


def answer(text: str = "", *calls: str, purpose: str = "main") -> ev.AnswerReceived:
    parts: list[Part] = [TextPart(text=text)] if text else []
    parts += [CallPart(id=f"c{at}", name=name) for at, name in enumerate(calls)]
    return ev.AnswerReceived(
        request="r", message=Message(role="assistant", parts=tuple(parts)), finish="stop", purpose=purpose
    )


def started(name: str = "shell", title: str = "pytest -q", call: str = "c0", **arguments: Any) -> ev.ToolStarted:
    return ev.ToolStarted(call=call, name=name, title=title, arguments=arguments)


def finished(
    text: str = "ok",
    name: str = "shell",
    call: str = "c0",
    status: Any = "done",
    display: dict[str, Any] | None = None,
    seconds: float = 0.8,
) -> ev.ToolFinished:
    result = ResultPart(call_id=call, text=text, status=status)
    return ev.ToolFinished(call=call, name=name, result=result, display=display or {}, seconds=seconds)


def turn_end(text: str = "", status: Any = "done", **more: Any) -> ev.TurnFinished:
    usage = Usage(input=12_345, cached=10_000, output=678)
    fields: dict[str, Any] = {"usage": usage, "cost": 0.0123, "steps": 2, "seconds": 12.34, **more}
    return ev.TurnFinished(turn="t", status=status, text=text, **fields)
