"""The note that opens a session: where the agent is."""

from __future__ import annotations

import sys
import time
from collections.abc import Mapping

from gongfu.workspace.git import find_head
from gongfu.workspace.names import show_name
from gongfu.workspace.root import Workspace
from gongfu.workspace.shells import find_shell


def today() -> str:
    """The local date as the model is told it."""
    return time.strftime("%Y-%m-%d")


def environment_note(workspace: Workspace, env: Mapping[str, str]) -> str:
    """Working directory, workspace, system, shell, date and git branch, once, at the start of a session."""
    system = {"linux": "Linux", "darwin": "macOS", "win32": "Windows"}.get(sys.platform, sys.platform)
    lines = ["<environment>", f"Working directory: {show_name(str(workspace.directory))}"]
    if workspace.root != workspace.directory:
        lines.append(f"Workspace root: {show_name(str(workspace.root))}")
    lines += [f"Further folders: {show_name(str(folder))}" for folder in workspace.extra]
    lines.append(f"System: {system}; commands run in {find_shell(env).name}")
    lines.append(f"Date: {today()}")
    head = find_head(workspace.root)
    lines.append(f"Git: {head}" if head else "Git: not a repository")
    lines.append("</environment>")
    return "\n".join(lines)
