"""The note that opens a session: where the agent is."""

from __future__ import annotations

import sys
import time
from collections.abc import Mapping, Sequence

from gongfu.store.sessions import Unfinished
from gongfu.workspace.git import find_head
from gongfu.workspace.names import show_name
from gongfu.workspace.root import Workspace
from gongfu.workspace.shells import find_shell

UNFINISHED_DAYS = 30
_ITEM = 200


def today() -> str:
    """The local date as the model is told it."""
    return time.strftime("%Y-%m-%d")


def environment_note(workspace: Workspace, env: Mapping[str, str], servers: str = "") -> str:
    """Working directory, workspace, system, shell, date, git branch and MCP `servers`, once, at the start of a
    session."""
    system = {"linux": "Linux", "darwin": "macOS", "win32": "Windows"}.get(sys.platform, sys.platform)
    lines = ["<environment>", f"Working directory: {show_name(str(workspace.directory))}"]
    if workspace.root != workspace.directory:
        lines.append(f"Workspace root: {show_name(str(workspace.root))}")
    lines += [f"Further folders: {show_name(str(folder))}" for folder in workspace.extra]
    lines.append(f"System: {system}; commands run in {find_shell(env).name}")
    lines.append(f"Date: {today()}")
    head = find_head(workspace.root)
    lines.append(f"Git: {head}" if head else "Git: not a repository")
    if servers:
        lines.append(f"MCP servers: {servers}. find_tools finds their tools.")
    lines.append("</environment>")
    return "\n".join(lines)


def unfinished_note(left: Sequence[Unfinished]) -> str:
    """What earlier sessions of the project left open; "" for nothing."""
    if not left:
        return ""
    lines = ["<unfinished>", "Open on the todo lists of earlier sessions here, newest first; may be out of date."]
    lines.append("Take an item up only when the user's words ask for it; otherwise leave it alone.")
    for entry in left:
        text = " ".join(entry.item.text.split())
        text = f"{text[: _ITEM - 1]}…" if len(text) > _ITEM else text
        begun = " (begun)" if entry.item.status == "in_progress" else ""
        day = time.strftime("%Y-%m-%d", time.localtime(entry.updated))
        lines.append(f"- {text}{begun} [session {entry.session}, {day}]")
    lines.append("</unfinished>")
    return "\n".join(lines)
