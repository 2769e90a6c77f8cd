"""Programs that tools run: with the person's environment less its secrets, in the sandbox as far as a call may go."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from gongfu.core.base import Base
from gongfu.core.errors import ToolFailure
from gongfu.toolkit.confined import sandbox_note, settled_note
from gongfu.tools.output import clean_terminal
from gongfu.tools.protocol import CallContext
from gongfu.workspace.environment import child_env
from gongfu.workspace.git import GitGuard, places_in, strangers
from gongfu.workspace.process import Finished, run
from gongfu.workspace.sandbox.confinement import Launch

if TYPE_CHECKING:
    from gongfu.workspace.sandbox.sandbox import Sandbox

KEEP = 4 * 1024 * 1024  # bytes of output that a tool can read


class Ran(Base, frozen=True):
    """A program's end. `text` is its output (standard error among it) without terminal codes, `note` what the model
    should know of the sandbox, `how` how it ended."""

    code: int
    text: str
    note: str
    how: Finished

    @property
    def ok(self) -> bool:
        """Whether it ended by itself with code 0."""
        return self.code == 0 and self.how.why_ended == "exit"


class Programs:
    """Starts programs for the tools of one session.

    `directory` is where they start, `env` the person's environment (secrets are taken out here, save `keep`). Git runs
    what a repository's configuration names only in that of the `trusted` folder. Programs run in the `sandbox` as far
    as a call's leave goes.
    """

    def __init__(
        self,
        *,
        directory: Path,
        env: Mapping[str, str],
        keep: tuple[str, ...] = (),
        trusted: Path | None = None,
        sandbox: Sandbox | None = None,
    ) -> None:
        self.directory = directory.resolve()
        self.given = env
        self.sandbox = sandbox
        self.trusted = trusted
        self._keep = keep

    def without(self, *names: str) -> Programs:
        """The same, for programs that must not see the variables `names`."""
        left = {name: value for name, value in self.given.items() if name not in names}
        return Programs(directory=self.directory, env=left, keep=self._keep, trusted=self.trusted, sandbox=self.sandbox)

    @cached_property
    def env(self) -> dict[str, str]:
        """The person's environment without its secrets."""
        return child_env(self.given, keep=self._keep)

    @cached_property
    def _trusted_env(self) -> dict[str, str]:
        return child_env(self.given, keep=self._keep, trusted=True)

    @cached_property
    def _guard(self) -> GitGuard:
        return GitGuard(self.given)

    async def child_env(self, command: str, cwd: Path, env: Mapping[str, str]) -> dict[str, str]:
        """The environment of a command line in `cwd`, with the variables `env` on top. ToolFailure for bad ones."""
        bad = next((name for name, value in env.items() if not name or "=" in name or "\0" in name + value), None)
        if bad is not None:
            raise ToolFailure(f"env: {bad!r} cannot be the name or value of a variable; nothing was run")
        places = places_in(command, cwd)
        if self.trusted is not None and not strangers(places, self.trusted):
            return {**self._trusted_env, **env}
        child = dict(self.env)
        child.update(await self._guard.variables(child, places))
        return {**child, **env}

    async def launch(
        self, argv: Sequence[str], cwd: Path, env: dict[str, str], ctx: CallContext, *, open_secrets: bool = False
    ) -> Launch:
        """What is to be started for `argv`; with `open_secrets` it can read those of the workspace. ToolFailure when
        the sandbox cannot be set up."""
        if self.sandbox is None:
            return Launch(argv=list(argv), cwd=cwd, env=env)
        leave = ctx.leave
        try:
            return await self.sandbox.launch(
                argv,
                cwd=cwd,
                env=env,
                free=leave.free,
                network=leave.network,
                write=leave.write,
                open_secrets=open_secrets,
            )
        except OSError as error:
            raise ToolFailure(f"the sandbox could not be set up, nothing was run: {error}") from error

    async def run(  # noqa: PLR0913  (each is one plain fact of a program)
        self,
        argv: Sequence[str],
        ctx: CallContext,
        *,
        cwd: Path | None = None,
        env: Mapping[str, str] | None = None,
        timeout: float | None = None,  # noqa: ASYNC109  (a command is stopped with its children, which no scope can do)
        stdin: bytes = b"",
        show: bool = False,
        keep: int = KEEP,
        sink: Callable[[bytes], None] | None = None,
        open_secrets: bool = False,
    ) -> Ran:
        """Run a program to its end and give back what it said.

        Without `timeout` (seconds) it is stopped when it does nothing for long, as a command of the shell is. `show`
        lets the person see its output while it runs, `keep` bounds the bytes that are given back (the first and the
        last), `sink` gets them all. `open_secrets` is only for a program that runs nothing of the project and whose
        output the tool clears of secrets. ToolFailure when it cannot be started.
        """
        folder = cwd or self.directory
        child = await self.child_env(shlex.join(argv), folder, env or {})
        launch = await self.launch(argv, folder, child, ctx, open_secrets=open_secrets)

        def feed(data: bytes) -> None:
            if show:
                ctx.output(clean_terminal(data.decode("utf-8", "replace")))
            if sink is not None:
                sink(data)

        try:
            done = await run(
                launch.argv, cwd=launch.cwd, env=launch.env, box=launch.box, timeout=timeout, stdin=stdin, keep=keep,
                sink=feed if show or sink is not None else None,
            )  # fmt: skip
        except (OSError, ValueError) as error:
            raise ToolFailure(f"{argv[0]} could not be started: {error}; nothing was run") from error
        note = settled_note(self.sandbox, launch, over=True) or sandbox_note(
            self.sandbox, launch, done.output, failed=bool(done.code)
        )
        text = done.head.decode("utf-8", "replace")
        if done.tail:
            cut = done.total_bytes - len(done.head) - len(done.tail)
            text += f"\n[… {cut:,} bytes left out …]\n" * bool(cut) + done.tail.decode("utf-8", "replace")
        return Ran(code=done.code, text=clean_terminal(text), note=note, how=done)
