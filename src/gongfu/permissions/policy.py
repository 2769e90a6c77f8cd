"""The policy: a pure decision from a call, its facts and the mode. Asking is the engine's job."""

from __future__ import annotations

from typing import Literal, TypeAlias

from gongfu.core.base import Base
from gongfu.core.specs import Access

Mode: TypeAlias = Literal["ask", "edits", "plan", "auto", "full"]
Verdict: TypeAlias = Literal["allow", "ask", "deny"]


class PathFact(Base, frozen=True):
    """A path that a call touches, after resolving links. `protected` says why it needs consent, if it does."""

    path: str
    inside: bool
    write: bool = False
    protected: str = ""


class CallFacts(Base, frozen=True):
    """What is judged. `command` is a whole command line, `cwd_inside` whether it starts inside the workspace."""

    tool: str
    access: tuple[Access, ...]
    paths: tuple[PathFact, ...] = ()
    command: str = ""
    cwd_inside: bool = True


class Decision(Base, frozen=True):
    """A verdict, the rule that gave it (a stable name) and what it is about, for words on screen."""

    verdict: Verdict
    rule: str
    about: str = ""


ALLOW = Decision(verdict="allow", rule="allowed")


def decide(facts: CallFacts, mode: Mode) -> Decision:
    """Judge one call.

    "full" allows all. "plan" denies whatever is more than a read. Protected paths and paths outside the workspace ask
    in every other mode. What is left: "ask" asks for writes and commands, "edits" for commands, "auto" for neither.
    """
    if mode == "full":
        return ALLOW
    changes = [a for a in facts.access if a != "read"]
    if mode == "plan" and changes:
        return Decision(verdict="deny", rule="plan_only_reads", about=facts.command or _first(facts))
    beyond = _beyond(facts)
    if beyond is not None:
        return beyond
    if "execute" in changes and mode != "auto":
        return Decision(verdict="ask", rule="command", about=facts.command)
    if "write" in changes and mode == "ask":
        return Decision(verdict="ask", rule="write", about=_first(facts))
    if {"network", "desktop"} & set(changes):
        return Decision(verdict="ask", rule="beyond_workspace", about=facts.tool)
    return ALLOW


def _beyond(facts: CallFacts) -> Decision | None:
    """What leaves the workspace or touches what is protected there."""
    for path in facts.paths:
        if path.protected:
            return Decision(verdict="ask", rule=f"protected_{path.protected}", about=path.path)
        if not path.inside:
            return Decision(verdict="ask", rule="outside_write" if path.write else "outside_read", about=path.path)
    if not facts.cwd_inside:
        return Decision(verdict="ask", rule="outside_command", about=facts.command)
    return None


def _first(facts: CallFacts) -> str:
    return next((p.path for p in facts.paths if p.write), facts.tool)


class Grants:
    """What a person allowed for the rest of a session: exactly the command, or exactly the paths, that were seen."""

    def __init__(self) -> None:
        self._seen: set[tuple[str, str]] = set()

    @staticmethod
    def _parts(facts: CallFacts) -> set[tuple[str, str]]:
        parts = {(facts.tool, f"{'w' if p.write else 'r'}:{p.path}") for p in facts.paths}
        return parts | {(facts.tool, f"$:{facts.command}")} if facts.command else parts

    def add(self, facts: CallFacts) -> None:
        """Allow what `facts` show from now on."""
        self._seen |= self._parts(facts)

    def cover(self, facts: CallFacts) -> bool:
        """Whether every part of the call was granted before."""
        parts = self._parts(facts)
        return bool(parts) and parts <= self._seen
