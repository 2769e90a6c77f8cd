"""The hooks of one session: which run at an event, what they are told, what they say together."""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable, Mapping, Sequence
from fnmatch import translate
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import anyio
from msgspec.structs import replace

from gongfu.config.settings import Hook, ProjectHook
from gongfu.core.base import Base
from gongfu.core.errors import UserError, root_of
from gongfu.core.events import AnyEvent, HookRan, WarningRaised
from gongfu.core.ids import new_id
from gongfu.core.words import say
from gongfu.engine.guard import HookEvent, Said
from gongfu.engine.hook_names import names_of
from gongfu.engine.hook_words import KINDS, Common, Heard, event_json, heard
from gongfu.workspace.apart import Ended, run_apart, sweep, words_of

if TYPE_CHECKING:
    import anyio.abc

GRACE: Final = 5.0
"""Seconds that hooks which tell of the end of a turn get once the session closes."""
_RANK: Final = ("", "allow", "ask", "deny", "block")
_COMMAND: Final = 200  # characters of a command in events


class _Chosen(Base, frozen=True):
    """A hook with its matcher, compiled."""

    hook: Hook
    command: str
    match: re.Pattern[str] | None

    def suits(self, names: Sequence[str]) -> bool:
        return self.match is None or any(self.match.fullmatch(name) for name in names)


class Hooking:
    """Runs `hooks` for one session (`engine.guard.Hooks`). They get the person's whole environment `env`.

    `common` gives what all are told, `emit` records that one ran, `tasks` is where those run that nobody waits for.
    `as_trusted` tells whether what the hooks of a project run still is what the person trusted.
    """

    def __init__(
        self,
        hooks: Sequence[Hook],
        *,
        root: Path,
        env: Mapping[str, str],
        common: Callable[[], Common],
        emit: Callable[[AnyEvent], None],
        tasks: anyio.abc.TaskGroup,
        as_trusted: Callable[[], Awaitable[bool]] | None = None,
    ) -> None:
        self._hooks: dict[str, list[_Chosen]] = {}
        for hook in hooks:
            self._hooks.setdefault(hook.event, []).append(_chosen(hook))
        self._root = root
        self._env = {**env, "GONGFU_PROJECT_DIR": str(root), "CLAUDE_PROJECT_DIR": str(root)}
        self._common = common
        self._emit = emit
        self._tasks = tasks
        self._as_trusted = as_trusted
        self._warned: set[str] = set()
        self._mark = new_id("h")
        self._ran = False
        self._beside: set[anyio.CancelScope] = set()
        self._patient = False
        self._none_beside = anyio.Event()
        self.stop = ""  # why a hook wants the turn to end
        self.greeted = False  # they know that the session has begun

    def wants(self, event: HookEvent, tool: str = "") -> bool:
        """Whether any hook is there for it; nothing else is done when not."""
        chosen = self._hooks.get(event)
        return chosen is not None and (not tool or any(one.suits(_names(event, one.hook, tool)) for one in chosen))

    async def fire(self, event: HookEvent, data: dict[str, Any], *, tool: str = "", call: str = "") -> Said:
        """Run all hooks of an event: those of `before_tool` one after the other, each with the arguments as the one
        before left them, until one denies; others side by side. The strictest decision counts."""
        chosen = self._for(event, data, tool)
        if not chosen:
            return Said()
        if event == "before_tool":
            return await self._in_turn(chosen, data, tool, call)
        found: list[Heard] = [Heard()] * len(chosen)

        async def one(at: int) -> None:
            found[at] = await self._run(chosen[at], event, data, tool, call)

        if len(chosen) == 1:
            await one(0)
        else:
            try:
                async with anyio.create_task_group() as group:
                    for at in range(len(chosen)):
                        group.start_soon(one, at)
            except ExceptionGroup as several:
                raise root_of(several) from several
        return _together(found)

    async def _in_turn(self, chosen: Sequence[_Chosen], data: dict[str, Any], tool: str, call: str) -> Said:
        found: list[Heard] = []
        for one in chosen:
            found.append(await self._run(one, "before_tool", data, tool, call))
            if found[-1].arguments is not None and isinstance(one.hook, ProjectHook):
                # who allowed the call before allowed other arguments than those that a project wants
                found = [replace(f, decision="") if f.decision == "allow" else f for f in found]
            if found[-1].decision in ("deny", "block"):
                break
            if found[-1].arguments is not None:
                data = {**data, "tool_input": found[-1].arguments}
        return _together(found)

    def beside(self, event: HookEvent, data: dict[str, Any], *, last: bool = False) -> None:
        """Run the hooks of an event and wait for none. `last`: they may go on a little when the session closes."""
        if self._for(event, data, ""):
            self._patient = self._patient or last
            scope = anyio.CancelScope()
            self._beside.add(scope)  # from now on: the session may close before the task has begun
            self._tasks.start_soon(self._quietly, scope, event, data)

    async def _quietly(self, scope: anyio.CancelScope, event: HookEvent, data: dict[str, Any]) -> None:
        try:
            with scope:
                if not scope.cancel_called:
                    await self.fire(event, data)
        except UserError:  # the log cannot be written: the turn itself will say so
            return
        finally:
            self._beside.discard(scope)
            if not self._beside:
                self._none_beside.set()
                self._none_beside = anyio.Event()

    async def close(self) -> None:
        """End the hooks that still run, and what they left running."""
        if self._beside and self._patient:
            with anyio.move_on_after(GRACE):
                await self._none_beside.wait()
        while self._beside:
            for scope in self._beside:
                scope.cancel()
            await self._none_beside.wait()
        if self._ran:
            await sweep(self._mark)

    def _for(self, event: HookEvent, data: Mapping[str, Any], tool: str) -> list[_Chosen]:
        subject = tool or self._subject(event, data)
        return [one for one in self._hooks.get(event, ()) if one.suits(_names(event, one.hook, subject))]

    def _subject(self, event: HookEvent, data: Mapping[str, Any]) -> str:
        """What `match` is about where no tool is."""
        match event:
            case "session_start":
                return str(data.get("source", ""))
            case "before_compact":
                return str(data.get("trigger", ""))
            case "notification":
                return str(data.get("kind", ""))
            case "turn_end":
                return "agent" if self._common().agent else "main"
            case _:
                return ""

    async def _run(self, one: _Chosen, event: HookEvent, data: Mapping[str, Any], tool: str, call: str) -> Heard:
        """Run one hook and record it."""
        hook, claude = one.hook, one.hook.shape == "claude"
        theirs = isinstance(hook, ProjectHook)
        if theirs and self._as_trusted is not None and not await self._as_trusted():
            return self._left_out(one, event)
        ended: Ended | None = None
        failed, known = "", dict[str, str]()
        self._ran = True
        try:
            ended = await run_apart(
                words_of(hook.command, self._env, shell=hook.shell),
                cwd=self._root,
                env=self._env,
                stdin=event_json(event, data, self._common(), claude=claude, tool=tool),
                seconds=hook.seconds,
                mark=self._mark,
            )
        except (OSError, ValueError) as error:
            known = {"detail_key": "hooks.not_started", "reason": str(getattr(error, "strerror", None) or error)}
        if ended is not None and ended.code is None:
            known = {"detail_key": "hooks.timed_out", "seconds": f"{hook.seconds:g}"}
        if known:
            failed = say(known["detail_key"], "en", **known)
        if ended is None or ended.code is None:
            answer = Heard(problem=failed)
            if event == "before_tool":  # what was to watch over the call cannot: a person must
                answer = Heard(decision="ask", reason=f"the hook `{one.command}` {failed}", problem=failed)
        else:
            out, err = ended.out.decode("utf-8", "replace"), ended.err.decode("utf-8", "replace")
            if ended.out_bytes > len(ended.out):
                out += f"\n[{ended.out_bytes - len(ended.out):,} more bytes of the hook were dropped]"
            answer = heard(event, ended.code, out, err, claude=claude, tool=tool)
            if theirs and answer.decision == "allow":
                self._warn_once("hooks.no_allow", one)
                answer = replace(answer, decision="")
        self._record(one, event, call, ended, answer, known)
        if answer.stop and event != "notification":
            self.stop = answer.reason or say("hooks.no_reason", "en")
        return answer

    def _left_out(self, one: _Chosen, event: HookEvent) -> Heard:
        """What holds instead of a hook that no longer is as trusted: a guard that is missing lets nothing pass."""
        self._warn_once("hooks.changed", one)
        if event != "before_tool":
            return Heard()
        return Heard(decision="ask", reason=f"the hook `{one.command}` of this project changed and did not run")

    def _warn_once(self, key: str, one: _Chosen) -> None:
        if f"{key} {one.command}" not in self._warned:
            self._warned.add(f"{key} {one.command}")
            self._emit(WarningRaised(key=key, values={"command": one.command}))

    def _record(
        self, one: _Chosen, event: HookEvent, call: str, ended: Ended | None, answer: Heard, known: dict[str, str]
    ) -> None:
        self._emit(
            HookRan(
                event=event,
                command=one.command,
                code=None if ended is None else ended.code,
                decision=answer.decision,
                reason=answer.reason[:2000] or answer.problem,
                call=call,
                seconds=0.0 if ended is None else ended.seconds,
                changed=event == "before_tool" and answer.arguments is not None,
            )
        )
        values = {"event": event, "command": one.command}
        if answer.problem:
            broken = bool(known) or bool(ended and ended.code)
            key = ("hooks.failed_ask" if answer.decision == "ask" else "hooks.failed") if broken else "hooks.unreadable"
            self._emit(WarningRaised(key=key, values={**values, "detail": answer.problem, **known}))
        if answer.told:
            self._emit(WarningRaised(key="hooks.told", values={"command": one.command, "text": answer.told[:2000]}))


def _chosen(hook: Hook) -> _Chosen:
    command = hook.command if isinstance(hook.command, str) else " ".join(hook.command)
    command = " ".join(command.split())
    short = command if len(command) <= _COMMAND else f"{command[: _COMMAND - 1]}…"
    return _Chosen(hook=hook, command=short, match=_pattern(hook))


def _pattern(hook: Hook) -> re.Pattern[str] | None:
    match = hook.match.strip()
    if match in ("", "*"):
        # the end of a turn is that of the main agent unless sub-agents are asked for
        return re.compile("main") if hook.event == "turn_end" and not match else None
    if hook.shape == "claude":
        return re.compile(match)
    return re.compile("|".join(translate(glob.strip()) for glob in match.split("|") if glob.strip()))


def _names(event: HookEvent, hook: Hook, subject: str) -> tuple[str, ...]:
    """The names by which a hook may mean `subject`."""
    if hook.shape != "claude":
        return (subject,)
    if event == "notification":
        return (KINDS.get(subject, subject), subject)
    return tuple(dict.fromkeys((*names_of(subject), subject)))


def _together(found: Sequence[Heard]) -> Said:
    strictest = max(found, key=lambda one: _RANK.index(one.decision), default=Heard())
    changed = [one.arguments for one in found if one.arguments is not None]
    return Said(
        decision=strictest.decision,
        reason=strictest.reason,
        arguments=changed[-1] if changed else None,
        notes=tuple(one.note for one in found if one.note),
    )
