"""Command lines: in the foreground under the smart time-out, and as jobs in the background."""

from __future__ import annotations

import asyncio
import re
import shlex
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Literal, cast

from gongfu.core.display import Display
from gongfu.core.errors import ToolFailure
from gongfu.core.specs import Access
from gongfu.toolkit.confined import ports_note, sandbox_note, settled_note
from gongfu.toolkit.ending import ending
from gongfu.toolkit.programs import Programs
from gongfu.toolkit.transcript import LiveText, Shown, Transcript, decode_output
from gongfu.tools.decorator import tool
from gongfu.tools.output import bound, clean_terminal
from gongfu.tools.protocol import CallContext, Claim, Facts, Outcome, Tool
from gongfu.workspace.git import has_hooks, places_in, strangers
from gongfu.workspace.jobs import Job, Jobs, Sink
from gongfu.workspace.process import Child, Finished, run
from gongfu.workspace.sandbox.confinement import Launch
from gongfu.workspace.shells import find_shell

_NOTES = 700  # bytes kept free for what is said about the command
_SHOWN = 8 * 1024  # bytes of output in a display
_FIRST_LOOK = 1.0  # seconds in which a job that fails at once is told right away
_LONGEST_WAIT = 300.0
# a text: `re` compiles and keeps it when it is first needed, not at import
_WITH_HOOKS = r"\bgit\b[^;&|\n]*\b(?:commit|push|merge|rebase|pull|checkout|switch|cherry-pick|revert|am)\b"

Action = Literal["list", "output", "input", "stop"]


class ShellTools:
    """The tools `shell` and `shell_job` of one session.

    `programs` starts commands, `jobs` keeps those in the background, `artifact` opens a new artifact, `idle` is the
    idle limit in seconds, `limit` the bytes of output the model is shown.
    """

    def __init__(
        self,
        programs: Programs,
        *,
        jobs: Jobs,
        artifact: Callable[[], Sink],
        idle: float = 30.0,
        limit: int = 32_768,
    ) -> None:
        self._programs = programs
        self._sandbox = programs.sandbox
        self._directory = programs.directory
        self._jobs = jobs
        self._artifact = artifact
        self._idle = idle
        self._limit = limit
        self._trusted = programs.trusted
        self._sent: dict[str, str] = {}

    def __iter__(self) -> Iterator[Tool]:
        yield self.shell
        yield self.shell_job

    # --- shell ----------------------------------------------------------------------------------------------------

    async def _shell_facts(self, args: dict[str, Any]) -> Facts:
        command = _checked(args["command"])
        cwd = self._cwd(args.get("cwd") or "")
        env = cast("dict[str, str]", args.get("env") or {})
        settings = "".join(f"{name}={shlex.quote(value)}; " for name, value in env.items())
        first, _, more = command.strip().partition("\n")
        return Facts(
            access=("execute",),
            paths=(str(cwd),),
            command=settings + command,
            cwd=str(cwd),
            title=first + (" …" if more else ""),
            preview={"kind": "command", "command": settings + command, "cwd": str(cwd), "code": None, "output": ""},
        )

    def _shell_claims(self, _args: dict[str, Any]) -> tuple[Claim, ...]:
        return (Claim(resource="*", write=True),)  # nobody knows what a command touches

    @tool(access="execute", facts=_shell_facts, claims=_shell_claims)
    async def shell(
        self,
        command: str,
        ctx: CallContext,
        cwd: str = "",
        env: dict[str, str] | None = None,
        timeout: float | None = None,  # noqa: ASYNC109  (the model's argument)
        background: bool = False,
    ) -> Outcome:
        folder = self._cwd(cwd)
        if timeout is not None and timeout <= 0:
            raise ToolFailure("timeout must be more than 0 seconds; leave it out for the usual limits")
        child = await self._programs.child_env(_checked(command), folder, env or {})
        launch = await self._programs.launch(find_shell(child).argv(command), folder, child, ctx)
        if background:
            return await self._in_background(command, folder, launch, timeout)
        return await self._in_foreground(command, folder, launch, timeout, ctx)

    def _cwd(self, given: str) -> Path:
        try:
            folder = (self._directory / Path(given).expanduser()).resolve() if given else self._directory
            if folder.is_dir():
                return folder
        except (OSError, ValueError, RuntimeError):  # a loop of links, a NUL character, `~` of nobody
            pass
        raise ToolFailure(f"cwd {given or self._directory} is no directory; nothing was run")

    async def _in_foreground(
        self,
        command: str,
        cwd: Path,
        launch: Launch,
        seconds: float | None,
        ctx: CallContext,
    ) -> Outcome:
        transcript, live = Transcript(self._artifact), _Live(ctx)
        adopted: list[Job] = []

        def sink(data: bytes) -> None:
            transcript.add(data)
            live.add(data)

        def adopt(child: Child) -> None:
            adopted.append(self._jobs.adopt(child, command))

        try:
            done = await run(
                launch.argv,
                cwd=launch.cwd,
                env=launch.env,
                box=launch.box,
                timeout=seconds,
                idle=self._idle,
                sink=sink,
                keep=4096,
                mark=self._jobs.mark(),
                adopt=adopt,
            )
        except (OSError, ValueError) as error:
            raise _not_started(error, command) from error
        else:
            shown = transcript.show(self._limit - _NOTES)
        finally:
            live.end()
            transcript.close()
        boxed = settled_note(self._sandbox, launch, over=not adopted) or sandbox_note(
            self._sandbox, launch, done.output, failed=bool(done.code)
        )
        return self._outcome(command, cwd, done, shown, adopted, boxed)

    def _outcome(
        self, command: str, cwd: Path, done: Finished, shown: Shown, adopted: list[Job], boxed: str
    ) -> Outcome:
        said = (ending(done, self._idle), _left(done, adopted), _unkept(shown), self._unrun_hooks(command, cwd), boxed)
        notes = [note for note in said if note]
        summary = f"exit {done.code}" if done.why_ended == "exit" else "stopped"
        if shown.lines:
            summary += f", {shown.lines:,} line{'s' if shown.lines > 1 else ''}"
        return Outcome(
            text=_joined(shown.text, notes),
            display=_display(command, cwd, done.code, shown.text, " ".join(notes), summary),
            status="done" if done.code == 0 and done.why_ended == "exit" else "failed",
            spill=shown.path,
        )

    def _unrun_hooks(self, command: str, cwd: Path) -> str:
        if not re.search(_WITH_HOOKS, command) or not has_hooks(cwd):
            return ""
        if self._trusted is None:
            return "the git hooks of this repository did not run: its folder is not trusted"
        if strangers(places_in(command, cwd), self._trusted):
            return "git hooks did not run: the command may meet another repository, whose folder is not trusted"
        return ""

    async def _in_background(self, command: str, cwd: Path, launch: Launch, seconds: float | None) -> Outcome:
        try:
            job = self._jobs.start(launch.argv, cwd=launch.cwd, env=launch.env, command=command, box=launch.box)
        except (OSError, ValueError) as error:
            raise _not_started(error, command) from error
        if seconds is not None:
            job.limit(seconds)
        await job.news(_FIRST_LOOK)
        settled_note(self._sandbox, launch, over=job.state != "running")
        text = self._news(job) + ports_note(launch, running=job.state == "running")
        display = _display(command, cwd, job.code, text, "", f"job {job.id} {job.state}")
        return Outcome(text=text, display=display, status="failed" if job.code else "done")

    # --- shell_job ------------------------------------------------------------------------------------------------

    async def _job_facts(self, args: dict[str, Any]) -> Facts:
        action, job = args["action"], args.get("job", "")
        access: Access = "execute" if action == "input" else "read"
        known = self._jobs.get(job)
        whole = self._sent.get(job, "") + args.get("text", "")  # an earlier `cd` changes what a later line means
        command = f"{known.command} <<< {shlex.quote(whole)}" if access == "execute" and known else ""
        return Facts(access=(access,), command=command, cwd=str(self._directory), title=f"{action} {job}".strip())

    def _job_claims(self, args: dict[str, Any]) -> tuple[Claim, ...]:
        return (Claim(resource=f"job/{args.get('job', '')}", write=args["action"] != "list"),)

    @tool(access="execute", facts=_job_facts, claims=_job_claims)
    async def shell_job(self, action: Action, job: str = "", text: str = "", wait: float = 0) -> Outcome:
        if action == "list":
            return self._list()
        found = self._jobs.get(job)
        if found is None:
            raise ToolFailure(f"there is no job {job!r}; {self._known()}")
        if action == "stop":
            await found.stop()
        elif action == "input":
            _write(found, text)
            self._sent[job] = f"{self._sent.get(job, '')}{text}\n"
        await found.news(min(max(wait, 0.0), _LONGEST_WAIT))
        news = self._news(found)
        return Outcome(text=news, display={"kind": "text", "text": news, "summary": f"job {found.id} {found.state}"})

    def _known(self) -> str:
        names = ", ".join(job.id for job in self._jobs)
        return f"jobs are: {names}" if names else "none was started"

    def _list(self) -> Outcome:
        lines = [f"{job.id} {_state(job)}: {job.command}" for job in self._jobs]
        return Outcome(
            text="\n".join(lines) or "No background command was started.",
            display={"kind": "list", "items": lines, "total": len(lines), "summary": f"{len(lines)} jobs"},
        )

    def _news(self, job: Job) -> str:
        job.look()
        data, skipped = job.read()
        shown = bound(clean_terminal(decode_output(data)), self._limit - _NOTES)
        notes = [f"job {job.id} {_state(job)}"]
        if skipped or shown.cut:
            notes.append(f"the whole output: recall id={job.sink.id}")
        if job.problem:
            notes.append(f"its output is not kept whole: {job.problem}")
        return _joined(shown.text(), notes, empty="(no new output)")  # its lines are not those of the whole


class _Live:
    """Feeds the person's view while a command runs."""

    def __init__(self, ctx: CallContext) -> None:
        self._text = LiveText(ctx.output)
        self._loop = asyncio.get_running_loop()
        self._timer: asyncio.TimerHandle | None = None

    def add(self, data: bytes) -> None:
        self._plan(self._text.add(data))

    def _plan(self, due: float) -> None:
        if due and self._timer is None:
            self._timer = self._loop.call_later(due, self._tick)

    def _tick(self) -> None:
        self._timer = None
        self._plan(self._text.flush())

    def end(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
        self._text.flush(last=True)


def _checked(command: str) -> str:
    if not command.strip():
        raise ToolFailure("command is empty; nothing was run")
    if "\0" in command:
        raise ToolFailure("command holds a NUL character, which no shell takes; nothing was run")
    return command


def _not_started(error: Exception, command: str) -> ToolFailure:
    if len(command.encode(errors="replace")) > 100_000:
        return ToolFailure(
            f"the command is too long to start ({len(command):,} characters): write it to a file and run that"
        )
    return ToolFailure(f"the command could not be started: {error}")


def _left(done: Finished, adopted: list[Job]) -> str:
    if adopted:
        return f"it left something running, now job {adopted[0].id} (see shell_job; next time use background=true)"
    return "what it had left running was stopped" if done.left_running else ""


def _unkept(shown: Shown) -> str:
    return f"the whole output could not be kept: {shown.problem}" if shown.problem else ""


def _joined(text: str, notes: list[str], *, empty: str = "(no output)") -> str:
    said = "".join(f"[{note}]\n" for note in notes).removesuffix("\n")
    if not text.strip():
        return said or empty
    return f"{text.removesuffix(chr(10))}\n{said}" if said else text


def _display(command: str, cwd: Path, code: int | None, output: str, note: str, summary: str) -> Display:
    return {
        "kind": "command",
        "command": command,
        "cwd": str(cwd),
        "code": code,
        "output": bound(output, _SHOWN).text(),
        "note": note,
        "summary": summary,
    }


def _state(job: Job) -> str:
    state = job.look()
    if state == "running":
        return f"running (pid {job.pid})"
    return state if job.code is None else f"{state}, exit code {job.code}"


def _write(job: Job, text: str) -> None:
    data = (text if text.endswith("\n") else f"{text}\n").encode(errors="surrogateescape")
    try:
        if not text:
            job.close_input()
        elif (taken := job.send(data)) < len(data):
            raise ToolFailure(f"job {job.id} does not read its input: only {taken} of {len(data)} bytes were taken")
    except OSError as error:
        raise ToolFailure(f"job {job.id} takes no input: {error}") from error
