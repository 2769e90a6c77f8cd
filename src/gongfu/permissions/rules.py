"""Rules of the user over tools, paths, hosts and commands: what runs, what is asked for, what never runs."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable
from fnmatch import translate
from functools import lru_cache
from typing import Literal, TypeAlias

from gongfu.config.rule_texts import split_rule
from gongfu.core.base import Base
from gongfu.permissions.rating import Part
from gongfu.workspace.globs import path_regex

Kind: TypeAlias = Literal["tool", "path", "read", "write", "host", "command"]
Which: TypeAlias = Literal["allow", "ask", "deny"]

_KINDS: dict[str, Kind] = {"path": "path", "read": "read", "write": "write", "host": "host", "command": "command"}
_EXACT_ONLY = frozenset(["destructive", "privilege", "credential", "unknown"])


class Rule(Base, frozen=True):
    """One rule. `name` is a glob of tools for the kind "tool", where an empty `pattern` means every call."""

    text: str
    kind: Kind
    name: str = ""
    pattern: str = ""


class Subject(Base, frozen=True):
    """What a call is about, as rules see it. Paths are absolute, `commands` the line and its parts."""

    tool: str
    commands: tuple[str, ...] = ()
    reads: tuple[str, ...] = ()
    writes: tuple[str, ...] = ()
    hosts: tuple[str, ...] = ()


def parse_rule(text: str) -> Rule:
    """Read `TOOL`, `TOOL(PATTERN)`, `path(GLOB)`, `read(GLOB)`, `write(GLOB)`, `host(NAME)` or `command(PATTERN)`.

    Raises ValueError for anything else.
    """
    found = split_rule(text)
    if found is None:
        raise ValueError(text)
    name, pattern = found
    kind = _KINDS.get(name, "tool")
    if kind == "tool":
        return Rule(text=text.strip(), kind="tool", name=name, pattern=pattern)
    return Rule(text=text.strip(), kind=kind, pattern=pattern)


class Rules(Base, frozen=True):
    """All rules. Globs of paths start at `root` unless they are absolute or begin with `~`."""

    allow: tuple[Rule, ...] = ()
    ask: tuple[Rule, ...] = ()
    deny: tuple[Rule, ...] = ()
    root: str = ""

    @property
    def name_paths(self) -> bool:
        """Whether a rule that asks or denies is about paths: then those that a command names are looked for."""
        return any(r.kind in ("path", "read", "write") or (r.pattern and r.kind == "tool") for r in self._strict)

    @property
    def _strict(self) -> tuple[Rule, ...]:
        return (*self.ask, *self.deny)

    def first(self, which: Which, subject: Subject) -> str:
        """The text of the first rule of that kind which is about `subject`; "" when none is."""
        rules = {"allow": self.allow, "ask": self.ask, "deny": self.deny}[which]
        return next((rule.text for rule in rules if self._about(rule, subject)), "")

    def _about(self, rule: Rule, subject: Subject) -> bool:
        paths = {"read": subject.reads, "write": subject.writes}.get(rule.kind, (*subject.reads, *subject.writes))
        match rule.kind:
            case "command":
                return any(fits_command(rule.pattern, c) for c in subject.commands)
            case "host":
                return any(fits_host(rule.pattern, h) for h in subject.hosts)
            case "path" | "read" | "write":
                return self._holds_for(rule.pattern, paths)
            case "tool":
                return _fits_name(rule.name, subject.tool) and (
                    not rule.pattern
                    or any(fits_command(rule.pattern, c) for c in subject.commands)
                    or self._holds_for(rule.pattern, paths)
                    or any(fits_host(rule.pattern, h) for h in subject.hosts)
                )

    def _holds_for(self, pattern: str, paths: Iterable[str]) -> bool:
        """Whether a strict rule is about one of the paths. All that is in a folder is reached through the folder."""
        folder = pattern.removesuffix("/**")
        return any(self._fits_path(pattern, p) or (folder != pattern and self._fits_path(folder, p)) for p in paths)

    def allows_part(self, tool: str, part: Part) -> bool:
        """Whether a rule allows this part of a command line.

        A pattern with `*` allows nothing grave, and nothing that is written by a redirection outside the workspace; a
        rule for hosts allows a part whose only need is the network, when it names nothing but such hosts.
        """
        careful = bool(_EXACT_ONLY & set(part.ratings)) or ("outside" in part.ratings and ">" in part.text)
        for rule in self.allow:
            if rule.kind == "command" or (rule.kind == "tool" and _fits_name(rule.name, tool)):
                pattern = rule.pattern or "*"
                if fits_command(pattern, part.text) and not (careful and "*" in pattern):
                    return True
        quiet = set(part.ratings) <= {"network", "read", "run", "write"}
        return quiet and "network" in part.ratings and bool(part.hosts) and self._allows_all(part.hosts)

    def allows_path(self, tool: str, path: str, *, write: bool, exact: bool = False) -> bool:
        """Whether a rule allows a tool to read or `write` a path; with `exact` only one that names just this path."""
        for rule in self.allow:
            wanted = rule.kind in ("path", "write" if write else "read")
            if not wanted and not (rule.kind == "tool" and _fits_name(rule.name, tool)):
                continue
            if exact and (not rule.pattern or re.search(r"[*?\[{]", rule.pattern)):
                continue
            if not rule.pattern or self._fits_path(rule.pattern, path):
                return True
        return False

    def allows_hosts(self, tool: str, hosts: Iterable[str]) -> bool:
        """Whether rules allow a tool to reach all of `hosts`."""
        named = tuple(hosts)
        if any(r.kind == "tool" and not r.pattern and _fits_name(r.name, tool) for r in self.allow):
            return True
        return bool(named) and self._allows_all(named, tool)

    def _allows_all(self, hosts: Iterable[str], tool: str = "") -> bool:
        patterns = [
            r.pattern for r in self.allow if r.kind == "host" or (tool and r.pattern and _fits_name(r.name, tool))
        ]
        return all(any(fits_host(p, host) for p in patterns) for host in hosts)

    def among(self, patterns: Iterable[str], path: str) -> bool:
        """Whether one of `patterns` is about the absolute path itself, not only about a folder above it."""
        return any(self._fits_path(pattern, path, parents=False) for pattern in patterns)

    @property
    def bars_paths(self) -> bool:
        """Whether a rule forbids reading paths, whatever the tool."""
        return any(r.kind in ("path", "read") for r in self.deny)

    def bars(self, path: str) -> bool:
        """Whether a rule forbids reading an absolute path, whatever the tool."""
        return any(r.kind in ("path", "read") and self._fits_path(r.pattern, path) for r in self.deny)

    def bars_host(self, place: str) -> bool:
        """Whether a rule forbids a host with its port, whatever the tool."""
        return any(r.kind == "host" and fits_host(r.pattern, place) for r in self.deny)

    @staticmethod
    def names(rule: Rule, tool: str) -> bool:
        """Whether a rule for tools is about this one, whatever its pattern."""
        return rule.kind == "tool" and _fits_name(rule.name, tool)

    def _fits_path(self, pattern: str, path: str, *, parents: bool = True) -> bool:
        text = os.path.expanduser(pattern) if pattern.startswith("~") else pattern  # noqa: PTH111 - may have no home
        whole, slashed = text.replace(os.sep, "/"), path.replace(os.sep, "/")
        if not (whole.startswith("/") or whole[1:2] == ":"):
            root = self.root.replace(os.sep, "/").rstrip("/")
            if not slashed.startswith(f"{root}/"):
                return False
            slashed = slashed[len(root) + 1 :]
        else:
            whole, slashed = whole.lstrip("/"), slashed.lstrip("/")
        whole = whole.rstrip("/")
        anchored = text.startswith(("/", "~")) and "/" not in whole
        regex = path_regex(f"./{whole}" if anchored else whole)
        places = _with_parents(slashed) if parents else (slashed,)
        return any(regex.fullmatch(place) is not None for place in places)


def _with_parents(path: str) -> Iterable[str]:
    """The path and the folders above it: a rule for a folder holds for what is in it."""
    while path:
        yield path
        path = path.rpartition("/")[0]


@lru_cache(maxsize=256)
def _command_regex(pattern: str) -> re.Pattern[str]:
    words = " ".join(pattern.split())
    optional = words.endswith(" *")
    source = ".*".join(re.escape(piece) for piece in (words[:-2] if optional else words).split("*"))
    return re.compile(f"{source}(?: .*)?" if optional else source, re.DOTALL)


def fits_command(pattern: str, command: str) -> bool:
    """Whether a command is of a pattern, in which `*` stands for anything: `npm run *` is also `npm run`.

    White space counts as one space; a program is known with its folder and without.
    """
    text = " ".join(command.split())
    program, space, rest = text.partition(" ")
    bare = f"{program.rpartition('/')[2]}{space}{rest}"
    regex = _command_regex(pattern)
    return regex.fullmatch(text) is not None or regex.fullmatch(bare) is not None


def fits_host(pattern: str, host: str) -> bool:
    """Whether a host, with a port or without, is meant by `NAME`, `*.NAME` or `NAME:PORT`; case does not count."""
    wanted, given = pattern.lower().rstrip("."), host.lower()
    if ":" not in wanted.rpartition("]")[2]:
        name, colon, port = given.rpartition(":")
        given = name if colon and port.isdigit() and not (":" in name and not name.endswith("]")) else given
    given = given.rstrip(".")
    return given == wanted or (wanted.startswith("*.") and given.endswith(wanted[1:])) or wanted == "*"


@lru_cache(maxsize=256)
def _name_regex(name: str) -> re.Pattern[str]:
    return re.compile(translate(name))


def _fits_name(name: str, tool: str) -> bool:
    return name == tool or _name_regex(name).match(tool) is not None
