"""Tiers of units, best first: what a fold keeps longest."""

from __future__ import annotations

from gongfu.core.messages import CallPart, Message, ResultPart

SYSTEM, USER, KEY, ASSISTANT, REGULAR = range(5)
NAMES = ("system", "user", "key", "assistant", "regular")

KEY_TOOLS = frozenset({
    "ask_user", "plan", "todo", "mode", "skill", "task", "parallel_tasks", "pipeline", "run_flow", "agent_message",
    "agent_inbox", "git_worktree",
})  # fmt: skip
"""Tools whose results outlive ordinary ones: questions, plans, modes, skills, agents, worktrees."""

STATE_TOOLS = frozenset({"todo", "plan"})
"""Of these only the newest state is KEY: it replaces the earlier ones."""

RULES = "rules"
"""The id of a note that carries rule envelopes; it moves up into the standing text at the next epoch."""


def message_tier(message: Message) -> int:
    """The tier of a message that is no tool group: words of a person, text of the model, a note.

    A message of another agent is KEY by its sender; the note that opens a session belongs to the system.
    """
    if message.agent:
        return KEY
    if message.role == "assistant":
        return ASSISTANT
    if message.kind == "note":
        return SYSTEM if message.id == RULES or message.text.startswith("<environment>") else ASSISTANT
    return USER


def call_tier(call: CallPart, result: ResultPart | None) -> int:
    """The tier of one call with its result.

    Everything that a sub-agent reports is KEY by its sender, whichever tool brought it. A fold takes the calls of a
    state tool but the newest for ordinary ones.
    """
    if result is not None and result.agent:
        return KEY
    return KEY if call.name in KEY_TOOLS else REGULAR
