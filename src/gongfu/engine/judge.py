"""Turns what a tool says of a call into facts that the policy can judge: every path after resolving its links."""

from __future__ import annotations

from pathlib import Path

from gongfu.permissions.policy import CallFacts, PathFact
from gongfu.tools.protocol import Facts
from gongfu.workspace.protect import mentions_protected, why_protected
from gongfu.workspace.root import Workspace


def judged(tool: str, facts: Facts, workspace: Workspace) -> CallFacts:
    """The facts of one call for `permissions.policy.decide`."""
    writes = set(facts.writes)
    paths = [_path(p, p in writes, workspace) for p in dict.fromkeys((*facts.paths, *facts.writes))]
    cwd = Path(facts.cwd) if facts.cwd else workspace.directory
    if facts.command:
        named = mentions_protected(facts.command, cwd, workspace)
        paths += [_path(str(p), False, workspace) for p in named]
    return CallFacts(
        tool=tool,
        access=facts.access,
        paths=tuple(paths),
        command=facts.command,
        cwd_inside=not facts.command or workspace.contains(cwd),
    )


def _path(path: str, write: bool, workspace: Workspace) -> PathFact:
    where = Path(path)
    why = why_protected(where, workspace)
    if not write and why not in ("", "secret"):
        why = ""  # git's own files and start-up files may be read, not written
    return PathFact(path=path, inside=workspace.contains(where), write=write, protected=why)
