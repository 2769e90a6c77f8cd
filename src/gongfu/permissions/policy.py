"""The policy: a pure decision from a call, its facts, the rules and the mode. Asking is the engine's job."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from typing import Literal, TypeAlias

from msgspec.structs import replace

from gongfu.core.base import Base
from gongfu.core.modes import Floor
from gongfu.core.specs import Access
from gongfu.permissions.floor import judge_floor
from gongfu.permissions.rating import Line, Part, Rating
from gongfu.permissions.rules import Rules, Subject

Mode: TypeAlias = Literal["ask", "edits", "plan", "auto", "full"]
Verdict: TypeAlias = Literal["allow", "ask", "deny"]
Hook: TypeAlias = Literal["", "allow", "ask"]

_FREELY: dict[Mode, frozenset[Rating]] = {
    "plan": frozenset(["read"]),
    "ask": frozenset(["read"]),
    "edits": frozenset(["read", "write"]),
    "auto": frozenset(["read", "write", "run"]),
}
_FENCED: frozenset[Rating] = frozenset(["outside", "network", "credential"])  # what a sandbox can make harmless
_GRAVE: frozenset[Rating] = frozenset(["destructive", "privilege", "credential", "unknown"])
_BEYOND: frozenset[Rating] = frozenset(["outside", "privilege", "credential", "unknown"])
_GRAVEST: tuple[Rating, ...] = (
    "privilege", "destructive", "credential", "unknown", "outside", "network", "run", "write", "read",
)  # fmt: skip
# Patterns are texts: `re` compiles and keeps them when they are first needed, not at import.
_GIT_SETTINGS = (
    r"(?:\S*/)?git (?:-[Cc] \S+ |-\S+ )*"
    r"(?:config|remote|branch|checkout|switch|push|submodule|worktree|init|lfs)\b"
)
_FLOWING = r"[$`*?\[{]|^(?:cd|pushd|popd|export|unset|set|declare|typeset|local|source|\.|shopt|\w+=)\b"
_HOST = r"(?:[\w-]+\.)+[a-z][\w-]*|\d+(?:\.\d+){3}|\blocalhost\b"
_DEFINING = r"\(\s*\)|\b(?:function|alias)\b"


class PathFact(Base, frozen=True):
    """A path that a call touches, after resolving links. `protected` says why it needs consent, if it does."""

    path: str
    inside: bool
    write: bool = False
    protected: str = ""


class CallFacts(Base, frozen=True):
    """What is judged. `command` is a whole command line, `cwd` where it starts, `cwd_inside` whether that is inside
    the workspace, `line` the command in its rated parts (None: nobody looked). `named` are further paths that a
    command may be about, for rules that forbid or ask, `personal` whether it names files of the person beyond the
    workspace, which a sandbox does not keep from being read. `home` is where the session's commands start.
    `asks` says that the tool asks the person itself before anything leaves.
    """

    tool: str
    access: tuple[Access, ...]
    paths: tuple[PathFact, ...] = ()
    command: str = ""
    cwd_inside: bool = True
    cwd: str = ""
    home: str = ""
    line: Line | None = None
    named: tuple[str, ...] = ()
    hosts: tuple[str, ...] = ()
    personal: bool = False
    asks: bool = False


class Need(Base, frozen=True):
    """One thing that a person is asked for: `key` is what a grant remembers, `text` what is shown, `rule` the name of
    the sentence that says why (with `about`). One that is `grave` is never granted for a whole project.
    """

    key: str
    text: str
    rule: str
    about: str = ""
    ratings: tuple[Rating, ...] = ()
    grave: bool = False


class Decision(Base, frozen=True):
    """A verdict, the rule that gave it (a stable name) and what it is about, for words on screen.

    `needs` are what consent is needed for, one by one. `free`, `network` and `write` say how far the call may go once
    it may run: outside the sandbox, over the network, writing in the workspace.
    """

    verdict: Verdict
    rule: str
    about: str = ""
    needs: tuple[Need, ...] = ()
    free: bool = False
    network: bool = False
    write: bool = True


NO_RULES = Rules()


def no_cover() -> frozenset[str]:
    """No sandbox makes anything harmless."""
    return frozenset()


def decide(
    facts: CallFacts,
    mode: Mode,
    rules: Rules = NO_RULES,
    *,
    covers: Callable[[], frozenset[str]] = no_cover,
    hook: Hook = "",
    floors: Sequence[Floor] = (),
) -> Decision:
    """Judge one call.

    Rules that deny hold in every mode, "plan" denies whatever is more than a read; the `floors` of work modes hold
    in every mode, whatever rules and hooks allow. Rules that ask come next; a hook may ask too, or skip every further
    question. "full" allows the rest. Protected paths and paths outside the
    workspace ask. What is left: "ask" lets through reads, "edits" also changes of files in the workspace, "auto" also
    code that runs there, and what the sandbox makes harmless: `covers` gives the ratings.
    """
    subject = _subject(facts)
    decision = _strict(facts, mode, rules, floors, subject) or _further(facts, mode, rules, subject, covers, hook)
    sealed = "execute" in facts.access and any(floor.sealed for floor in floors)
    return replace(decision, free=False, write=False) if sealed else decision


def _strict(facts: CallFacts, mode: Mode, rules: Rules, floors: Sequence[Floor], subject: Subject) -> Decision | None:
    """What denies in every mode, and what the floors ask for; None when nothing does."""
    if rule := rules.first("deny", subject):
        return Decision(verdict="deny", rule="denied_by_rule", about=rule)
    if mode == "plan" and not _only_reads(facts):
        return _refused_by_plan(facts)
    if not floors:
        return None
    below = [judge_floor(floor, facts, subject, rules.root) for floor in floors]
    if denied := next((said for said in below if said.verdict == "deny"), None):
        return Decision(verdict="deny", rule=denied.rule, about=denied.about)
    needs = [_whole(facts, said.rule, said.about, key="m") for said in below if said.verdict == "ask"]
    if needs and (rule := rules.first("ask", subject)):
        needs.append(_whole(facts, "asked_by_rule", rule))
    return _ask(needs, facts, mode) if needs else None


def _further(
    facts: CallFacts, mode: Mode, rules: Rules, subject: Subject, covers: Callable[[], frozenset[str]], hook: Hook
) -> Decision:
    if hook == "allow":
        return _left(facts, mode, _parts(facts), fenced=False)
    if rule := rules.first("ask", subject):
        return _ask([_whole(facts, "asked_by_rule", rule)], facts, mode)
    if hook == "ask":
        return _ask([_whole(facts, "asked_by_hook", facts.tool)], facts, mode)
    if mode == "full":
        return Decision(verdict="allow", rule="allowed", free=True, network=True)
    needs = [*_paths(facts, mode, rules), *_others(facts, rules)]
    freely, fenced = _FREELY[mode], False
    approved: list[Part] = []
    for part in _parts(facts):
        more = set(part.ratings) - freely
        if not more:
            continue
        if rules.allows_part(facts.tool, part):
            approved.append(part)
        elif mode == "auto" and _is_fenced(more, facts, covers):
            fenced = True
        else:
            needs.append(_need(facts, part))
    if needs:
        return _ask(needs, facts, mode)
    return _left(facts, mode, approved, fenced=fenced)


def _is_fenced(more: set[Rating], facts: CallFacts, covers: Callable[[], frozenset[str]]) -> bool:
    """Whether the sandbox makes all harmless that a part does beyond the workspace."""
    return more <= _FENCED and not ("outside" in more and facts.personal) and more <= covers()


def _ask(needs: Iterable[Need], facts: CallFacts, mode: Mode) -> Decision:
    unique = tuple({(need.key, need.text): need for need in needs}.values())
    first = foremost(unique)
    left = _left(facts, mode, _parts(facts), fenced=False)
    return Decision(
        verdict="ask", rule=first.rule, about=first.about, needs=unique, free=left.free, network=left.network,
        write=left.write,
    )  # fmt: skip


def foremost(needs: Sequence[Need]) -> Need:
    """The one of `needs` (there is at least one) whose sentence stands for all: the first that is grave."""
    return next((need for need in needs if need.grave), needs[0])


def _left(facts: CallFacts, mode: Mode, approved: Iterable[Part], *, fenced: bool) -> Decision:
    """How far the call may go when `approved` parts were allowed; not beyond the sandbox when a part counts on it."""
    parts = list(approved)
    ratings = {r for part in parts for r in part.ratings}
    settings = any(re.match(_GIT_SETTINGS, part.text) for part in parts)
    protected = any(path.protected for path in facts.paths)  # each of them was consented to, or it would not run
    lifted = bool(ratings & _BEYOND) or settings or protected
    return Decision(
        verdict="allow",
        rule="allowed",
        free=mode == "full" or (lifted and not fenced),
        network=mode == "full" or ("network" in ratings and not fenced),
        write=mode != "plan",
    )


def _only_reads(facts: CallFacts) -> bool:
    if any(path.write for path in facts.paths):
        return False  # whatever access the tool declares
    changes = {a for a in facts.access if a != "read"}
    if changes == {"execute"} and facts.line is not None:
        return facts.line.ratings <= {"read"}
    return not changes


def _refused_by_plan(facts: CallFacts) -> Decision:
    """Why "plan" refuses: a command that would read no more than a secret is told so."""
    secret = next((path.path for path in facts.paths if path.protected == "secret"), "")
    if secret and facts.line is not None and facts.line.ratings <= {"read", "credential"}:
        return Decision(verdict="deny", rule="protected_secret", about=secret)
    return Decision(verdict="deny", rule="plan_only_reads", about=facts.command or _first(facts))


def _paths(facts: CallFacts, mode: Mode, rules: Rules) -> Iterable[Need]:
    """Consent for paths: protected ones, those outside the workspace, and writes where every change is asked for."""
    for path in facts.paths:
        key = f"{'w' if path.write else 'r'}:{path.path}"
        exact = rules.allows_path(facts.tool, path.path, write=path.write, exact=True)
        if path.protected:
            if not exact:
                yield Need(key=key, text=path.path, rule=f"protected_{path.protected}", about=path.path, grave=True)
        elif exact or rules.allows_path(facts.tool, path.path, write=path.write):
            continue
        elif not path.inside:
            rule = "outside_write" if path.write else "outside_read"
            yield Need(key=key, text=path.path, rule=rule, about=path.path)
        elif path.write and mode == "ask":
            yield Need(key=key, text=_shown(path.path, rules.root), rule="write", about=path.path)


def _shown(path: str, root: str) -> str:
    """A path below the root of the workspace as a person reads it."""
    top = root.rstrip("/\\")
    return path[len(top) + 1 :] if top and path.startswith((f"{top}/", f"{top}\\")) else path


def _others(facts: CallFacts, rules: Rules) -> Iterable[Need]:
    """Consent for a command that starts outside, and for what reaches beyond the workspace by its nature."""
    if facts.command and not facts.cwd_inside and not rules.allows_path(facts.tool, facts.cwd, write=True):
        yield Need(key=f"c:{facts.cwd}", text=facts.cwd, rule="outside_command", about=facts.command)
    if facts.asks:
        return
    if {"network", "desktop"} & set(facts.access) and not rules.allows_hosts(facts.tool, facts.hosts):
        about = ", ".join(facts.hosts) or facts.tool
        yield Need(key=f"n:{about}", text=about, rule="beyond_workspace", about=about)


def _parts(facts: CallFacts) -> tuple[Part, ...]:
    if "execute" not in facts.access:
        return ()
    if facts.line is None:
        if not facts.command and "network" in facts.access:
            return ()  # what runs does so elsewhere: `_others` asks for all of it
        return (Part(text=facts.command or facts.tool, ratings=("unknown",)),)
    return facts.line.parts


def _need(facts: CallFacts, part: Part) -> Need:
    """Consent for a part. What cannot be seen through is granted only in the very line that was seen, and so are parts
    that depend on each other. What reaches far and is fed by a pipe is granted with what feeds it.
    """
    parts = _parts(facts)
    apart = (
        "unknown" not in part.ratings
        and not re.search(_DEFINING, facts.command)
        and not any(re.search(_FLOWING, p.text) for p in parts)
    )
    text = part.text if apart else facts.command
    if apart and part.fed and not set(part.ratings) <= _FREELY["auto"]:
        text = f"{part.fed} | {text}"
    where = f"\0{facts.cwd}" if facts.cwd != facts.home else ""
    grave = bool(set(part.ratings) & _GRAVE)
    return Need(
        key=f"$:{text}{where}", text=part.text, rule=_reason(part), about=part.about or part.text,
        ratings=part.ratings, grave=grave,
    )  # fmt: skip


def _reason(part: Part) -> str:
    return part.why or f"rated_{next((r for r in _GRAVEST if r in part.ratings), 'unknown')}"


def _whole(facts: CallFacts, rule: str, about: str, *, key: str = "a") -> Need:
    named = facts.command or ", ".join(p.path for p in facts.paths) or facts.tool
    found = {r for part in _parts(facts) for r in part.ratings}
    ratings: tuple[Rating, ...] = tuple(r for r in _GRAVEST if r in found)
    where = f"{about}\0{facts.cwd}\0" if key == "m" else ""
    return Need(key=f"{key}:{where}{named}", text=named, rule=rule, about=about, ratings=ratings, grave=True)


def _subject(facts: CallFacts) -> Subject:
    parts = () if facts.line is None else facts.line.parts
    return Subject(
        tool=facts.tool,
        commands=(*([facts.command] if facts.command else ()), *(t for p in parts for t in (p.text, *p.also))),
        reads=tuple(p.path for p in facts.paths if not p.write) + facts.named,
        writes=tuple(p.path for p in facts.paths if p.write) + facts.named,
        hosts=(*facts.hosts, *(h for p in parts for h in (*p.hosts, *_like_hosts(p)))),
    )


def _like_hosts(part: Part) -> Iterable[str]:
    """Whatever looks like the name of a host in a part that uses the network; The name of a file does no harm here."""
    return re.findall(_HOST, part.text.lower()) if "network" in part.ratings else ()


def _first(facts: CallFacts) -> str:
    return next((p.path for p in facts.paths if p.write), facts.tool)
