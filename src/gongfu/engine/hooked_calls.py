"""The hooks before and after one call."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import msgspec

from gongfu.core.errors import ToolFailure, UserError
from gongfu.core.messages import CallPart, Message
from gongfu.engine.guard import Hooks, Said
from gongfu.engine.hooked import note_of
from gongfu.tools.protocol import CallContext, Outcome, Tool
from gongfu.tools.validate import validate

_SHOWN = 2000  # characters of changed arguments that the model is told


async def ask_before(
    hooks: Hooks, call: CallPart, tool: Tool, args: dict[str, Any], note: Callable[[Message], None]
) -> tuple[dict[str, Any], Said]:
    """What the hooks say of a call, and its arguments as they want them; the model is told when they differ.

    ToolFailure when changed arguments do not fit the tool.
    """
    data = {"tool_name": call.name, "tool_input": args, "tool_use_id": call.id}
    said = await hooks.fire("before_tool", data, tool=call.name, call=call.id)
    for text in said.notes:
        note(note_of(f"before {call.name} {call.id}", text))
    if said.arguments is None or said.decision in ("deny", "block"):
        return args, said
    checked = validate(tool.spec.parameters, said.arguments)
    if checked.problem:
        raise ToolFailure(f"A hook of the user changed the arguments, and they do not fit: {checked.problem}")
    if checked.args != args:
        told = msgspec.json.encode(checked.args).decode()
        told = told if len(told) <= _SHOWN else f"{told[: _SHOWN - 1]}…"
        note(note_of(f"before {call.name} {call.id}", f"It ran with changed arguments: {told}"))
    return checked.args, said


async def run_and_tell(
    hooks: Hooks,
    call: CallPart,
    tool: Tool,
    args: dict[str, Any],
    context: CallContext,
    note: Callable[[Message], None],
) -> Outcome:
    """Run a call and tell the hooks how it ended; what they say goes to the model with the next request."""
    try:
        outcome = await tool.run(args, context)
    except (ToolFailure, UserError) as failure:
        await _tell(hooks, call, args, Outcome(text=str(failure), status="failed"), note)
        raise
    await _tell(hooks, call, args, outcome, note)
    return outcome


async def _tell(
    hooks: Hooks, call: CallPart, args: dict[str, Any], outcome: Outcome, note: Callable[[Message], None]
) -> None:
    data = {
        "tool_name": call.name,
        "tool_input": args,
        "tool_use_id": call.id,
        "tool_response": {"status": outcome.status, "text": outcome.text},
    }
    said = await hooks.fire("after_tool", data, tool=call.name, call=call.id)
    objection = (said.reason or "no reason given",) if said.decision in ("deny", "block") else ()
    for text in objection:
        note(note_of(f"after {call.name} {call.id}, it objects", text))
    for text in said.notes:
        note(note_of(f"after {call.name} {call.id}", text))
