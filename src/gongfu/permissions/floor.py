"""What a work mode lets run: a floor under every permission mode, which only tightens."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Literal, TypeAlias

from gongfu.core.base import Base
from gongfu.core.modes import Floor
from gongfu.permissions.rules import Rules, Subject, fits_command, parse_rule

if TYPE_CHECKING:
    from gongfu.permissions.policy import CallFacts

Verdict: TypeAlias = Literal["allow", "ask", "deny"]


class Said(Base, frozen=True):
    """What floors say of a call: the verdict, the rule that gave it (a stable name) and what it is about."""

    verdict: Verdict = "allow"
    rule: str = ""
    about: str = ""


def judge_floor(floor: Floor, facts: CallFacts, subject: Subject, root: str) -> Said:
    """The verdict of one floor. Patterns of paths start at `root`."""
    if floor.tools and not _among(floor, facts, root):
        return Said(verdict="deny", rule="command_tools", about=f"{floor.name} ({', '.join(floor.tools)})")
    own = _rules(floor, root)
    if own.first("deny", subject):
        return Said(verdict="deny", rule="mode_denies", about=floor.name)
    found = [_changes(floor, facts, own), _commands(floor, facts), _effects(floor, facts)]
    if own.first("ask", subject):
        found.append(Said(verdict="ask", rule="mode_asks", about=floor.name))
    denied = next((said for said in found if said.verdict == "deny"), None)
    return denied or next((said for said in found if said.verdict == "ask"), Said())


@lru_cache(maxsize=64)
def _rules(floor: Floor, root: str) -> Rules:
    return Rules(ask=tuple(map(parse_rule, floor.ask)), deny=tuple(map(parse_rule, floor.deny)), root=root)


def _changes(floor: Floor, facts: CallFacts, own: Rules) -> Said:
    """Of changes of files beyond those that the mode may change. What a call changes and does not say counts too."""
    if not floor.elsewhere:
        return Said()
    writes = [path.path for path in facts.paths if path.write]
    silent = "write" in facts.access and not writes and not facts.command
    if not silent and all(own.among(floor.write, path) for path in writes):
        return Said()
    if not floor.write:
        return Said(verdict=floor.elsewhere, rule="mode_no_changes", about=floor.name)
    return Said(verdict=floor.elsewhere, rule="mode_elsewhere", about=f"{floor.name} ({', '.join(floor.write)})")


def _commands(floor: Floor, facts: CallFacts) -> Said:
    if "execute" not in facts.access:
        return Said()
    ratings: frozenset[str] = frozenset(["unknown"]) if facts.line is None else facts.line.ratings
    if ratings & set(floor.commands_deny):
        return Said(verdict="deny", rule="mode_commands", about=floor.name)
    return Said(verdict="ask", rule="mode_asks", about=floor.name) if ratings & set(floor.commands_ask) else Said()


def _effects(floor: Floor, facts: CallFacts) -> Said:
    if not floor.effects or not {"network", "desktop"} & set(facts.access):
        return Said()
    return Said(verdict=floor.effects, rule="mode_asks" if floor.effects == "ask" else "mode_denies", about=floor.name)


def _among(floor: Floor, facts: CallFacts, root: str) -> bool:
    """Whether the tools that a command of the person may use cover a call: a pattern must fit all that it touches."""
    rules = Rules(root=root)
    for text in floor.tools:
        rule = parse_rule(text)
        if not rules.names(rule, facts.tool):
            continue
        if not rule.pattern:
            return True
        parts = () if facts.line is None else facts.line.parts
        if facts.command and parts and all(fits_command(rule.pattern, part.text) for part in parts):
            return True
        paths = [path.path for path in facts.paths]
        if not facts.command and paths and all(rules.among((rule.pattern,), path) for path in paths):
            return True
    return False
