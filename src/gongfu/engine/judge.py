"""Turns what a tool says of a call into facts that the policy can judge: every path after resolving its links."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from pathlib import Path

from gongfu.permissions.policy import CallFacts, PathFact
from gongfu.permissions.rating import Line
from gongfu.tools.protocol import Facts
from gongfu.workspace.protect import mentions_protected, paths_named, why_protected
from gongfu.workspace.root import Workspace, rest_below
from gongfu.workspace.shells import shell_name


def judged(
    tool: str, facts: Facts, workspace: Workspace, *, env: Mapping[str, str], rate: bool = True, name: bool = False
) -> CallFacts:
    """The facts of one call for `permissions.policy.decide`.

    With `rate` a command line is looked through, with `name` the paths that it names are told, for rules about them.
    """
    writes = set(facts.writes)
    paths = [_path(p, p in writes, workspace) for p in dict.fromkeys((*facts.paths, *facts.writes))]
    cwd = Path(facts.cwd) if facts.cwd else workspace.directory
    line, named = None, ()
    if facts.command and rate:
        wild = "{" * 200 in facts.command  # its choices take minutes; such a line is never seen through anyway
        secrets = () if wild else mentions_protected(facts.command, cwd, workspace)
        paths += [_path(str(p), False, workspace) for p in secrets]
        line = _rated(facts.command, cwd, workspace, env, secrets)
    outside = line is not None and "outside" in line.ratings
    if facts.command and (name or outside):
        named = paths_named(facts.command, cwd)
    return CallFacts(
        tool=tool,
        access=facts.access,
        paths=tuple(paths),
        command=facts.command,
        cwd_inside=not facts.command or workspace.contains(cwd),
        cwd=str(cwd) if facts.command else "",
        home=str(workspace.directory) if facts.command else "",
        line=line,
        named=named if name else (),
        personal=outside and any(_is_personal(path, home, workspace) for home in _homes(env) for path in named),
        hosts=facts.hosts,
        asks=facts.asks,
    )


def _rated(command: str, cwd: Path, workspace: Workspace, env: Mapping[str, str], secrets: tuple[Path, ...]) -> Line:
    from gongfu.permissions.shell import rate_line  # a grammar comes with it: only when a command is to run

    windows = sys.platform == "win32" and shell_name(env) not in ("bash", "sh")
    known = None if sys.platform == "win32" else secrets  # words are cut in another way there
    return rate_line(command, cwd=cwd, workspace=workspace, env=env, windows=windows, secrets=known)


def _homes(env: Mapping[str, str]) -> set[str]:
    """The home that commands are told of, and that of this process: where programs and `~` look."""
    found = (env.get("HOME", ""), os.path.expanduser("~"))  # noqa: PTH111 - there may be no home
    return {os.path.realpath(home) for home in found if os.path.isabs(home)}  # noqa: PTH117


def _is_personal(path: str, home: str, workspace: Workspace) -> bool:
    """Whether something is there that lies in a person's home, but neither in the workspace nor below a hidden
    folder, where programs keep theirs (secrets among it are named apart)."""
    rest = rest_below(path, home)
    if rest is None or rest.startswith(".") or workspace.contains(Path(path)):
        return False
    return os.path.lexists(path)


def _path(path: str, write: bool, workspace: Workspace) -> PathFact:
    where = Path(path)
    why = why_protected(where, workspace)
    if not write and why not in ("", "secret"):
        why = ""  # git's own files and start-up files may be read, not written
    return PathFact(path=path, inside=workspace.contains(where), write=write, protected=why)
