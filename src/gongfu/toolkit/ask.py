"""Questions to the person."""

from __future__ import annotations

from typing import Any

from gongfu.core.errors import ToolFailure
from gongfu.tools.decorator import tool
from gongfu.tools.protocol import CallContext, Claim, Facts, Outcome


async def _facts(args: dict[str, Any]) -> Facts:
    return Facts(access=("read",), title=str(args["question"]).strip().partition("\n")[0])


def _claims(_args: dict[str, Any]) -> tuple[Claim, ...]:
    return (Claim(resource="person", write=True),)


@tool(facts=_facts, claims=_claims, key=True)
async def ask_user(
    question: str,
    ctx: CallContext,
    options: list[str] | None = None,
    default: str = "",
    timeout: float | None = None,  # noqa: ASYNC109  (the model's argument)
) -> Outcome:
    """Ask the person."""
    if not question.strip():
        raise ToolFailure("question is empty; nobody was asked")
    if timeout is not None and timeout <= 0:
        raise ToolFailure("timeout must be more than 0 seconds; leave it out to wait as long as it takes")
    choices = tuple(dict.fromkeys(option.strip() for option in options or () if option.strip()))
    answer, by = await ctx.ask(question.strip(), options=choices, default=default, seconds=timeout)
    return Outcome(
        text=_said(answer, by),
        display={"kind": "text", "text": answer, "summary": answer.partition("\n")[0][:80] or "no answer"},
    )


def _said(answer: str, by: str) -> str:
    instead = f"The default counts: {answer}" if answer else "Decide yourself and say what you assumed."
    match by:
        case "person":
            return answer if answer.strip() else "The person sent an empty answer."
        case "timeout":
            return f"Nobody answered in time. {instead}"
        case "cancel":
            return f"The question was withdrawn. {instead}"
        case _:
            return f"Nobody is there to answer. {instead}"
