"""The tools os_info and run_as_admin."""

from __future__ import annotations

import os
import re
import shlex
import sys
from pathlib import Path
from typing import Any

import anyio
import anyio.to_thread

from gongfu.core.display import text_display
from gongfu.core.errors import ToolFailure
from gongfu.toolkit.ending import ending
from gongfu.toolkit.programs import Programs, Ran
from gongfu.tools.decorator import tool
from gongfu.tools.output import bound
from gongfu.tools.protocol import CallContext, Claim, Facts, Outcome
from gongfu.workspace import machine
from gongfu.workspace.shells import find_shell

# those that say their version at once, and whose `--version` the policy knows to do nothing else
_ASKED = ("git", "python3", "node", "bun", "deno", "uv", "cargo", "docker", "rg", "perl", "ruby", "php", "dotnet")
_OTHERS = (
    "python", "gcc", "g++", "clang", "make", "cmake", "ninja", "go", "rustc", "java", "javac", "mvn", "gradle", "npm",
    "pnpm", "yarn", "tsc", "swift", "podman", "kubectl", "terraform", "gh", "jq", "curl", "ssh", "tmux", "sqlite3",
    "psql", "code", "vim",
)  # fmt: skip
_SHELLS = ("bash", "zsh", "fish", "dash", "ksh", "pwsh", "nu")
_MANAGERS = (
    "apt-get", "dnf", "yum", "pacman", "zypper", "apk", "emerge", "nix", "brew", "port", "snap", "flatpak", "winget",
    "choco", "scoop", "pip", "pip3", "pipx", "uv", "poetry", "conda", "npm", "pnpm", "yarn", "cargo", "gem", "composer",
)  # fmt: skip
_SECONDS = 3.0
_NEUTRAL = Path(__file__).parent
_IDLE = 30.0
_MARGIN = 500
_SHOWN = 8 * 1024
_REFUSED = (
    r"a password is required|a terminal is required|not in the sudoers|may not run sudo|askpass"
    r"|no new privileges|must be owned by uid 0|effective uid is not 0"
)


class MachineTools:
    """os_info and run_as_admin of one session. `programs` starts them, `limit` is how much output the model sees."""

    def __init__(self, programs: Programs, *, limit: int = 32_768) -> None:
        self._programs = programs
        self._limit = limit

    # --- os_info --------------------------------------------------------------------------------------------------

    def _asked(self) -> list[str]:
        return machine.on_path(_ASKED, self._programs.env)

    async def _info_facts(self, _args: dict[str, Any]) -> Facts:
        command = "; ".join(f"{name} --version" for name in self._asked())
        return Facts(access=("execute",) if command else ("read",), command=command, title="os_info")

    def _no_claims(self, _args: dict[str, Any]) -> tuple[Claim, ...]:
        return ()

    @tool(access="execute", facts=_info_facts, claims=_no_claims)
    async def os_info(self, ctx: CallContext) -> Outcome:
        versions: dict[str, str] = {}

        async def ask(name: str) -> None:
            try:
                # not in the project: rustup, dotnet and others start what a file of the folder names
                ran = await self._programs.run([name, "--version"], ctx, cwd=_NEUTRAL, timeout=_SECONDS, keep=4096)
            except ToolFailure:
                return
            versions[name] = _version(ran)

        names = self._asked()
        async with anyio.create_task_group() as tasks:
            for name in names:
                tasks.start_soon(ask, name)
        lines = await anyio.to_thread.run_sync(self._lines, names, versions)
        text = "\n".join(lines)
        return Outcome(text=text, display=text_display(text, lines[0].partition(": ")[2]))

    def _lines(self, names: list[str], versions: dict[str, str]) -> list[str]:
        env, folder = self._programs.env, self._programs.directory
        around = machine.surroundings()
        tools = [f"{name} {versions[name]}".strip() for name in names if name in versions]
        others = machine.on_path(_OTHERS, env)
        display = "yes" if sys.platform != "linux" or env.get("DISPLAY") or env.get("WAYLAND_DISPLAY") else "no"
        return [
            f"system: {machine.system_name()}" + (f"; {around}" if around else ""),
            f"hardware: {machine.processors()}; {machine.memory()}",
            f"disk of the working directory: {machine.disk(folder)}",
            f"shell: {find_shell(env).name}; also there: {', '.join(machine.on_path(_SHELLS, env)) or 'none'}",
            f"package managers: {', '.join(machine.on_path(_MANAGERS, env)) or 'none'}",
            f"tools: {', '.join([*tools, *others]) or 'none'}",
            f"Python of Gongfu: {sys.version.split()[0]}",
            machine.place_and_time(self._programs.given),
            f"display: {display}; user: {_user(env)}",
        ]

    # --- run_as_admin ---------------------------------------------------------------------------------------------

    def _argv(self, command: str) -> list[str]:
        """What runs a command line with the rights of the administrator. ToolFailure when nothing does."""
        if not command.strip():
            raise ToolFailure("the command is empty; nothing was run")
        if "\0" in command or any("\ud800" <= c <= "\udfff" for c in command):
            raise ToolFailure("the command has a NUL character or a lone surrogate in it; nothing was run")
        shell = find_shell(self._programs.env).argv(command)
        return ["sudo", "-n", "--", *shell]

    async def _admin_facts(self, args: dict[str, Any]) -> Facts:
        command = shlex.join(self._argv(args["command"]))
        folder = str(self._programs.directory)
        first, _, more = args["command"].strip().partition("\n")
        preview = {"kind": "command", "command": command, "cwd": folder, "code": None, "output": ""}
        return Facts(
            access=("execute",), command=command, cwd=folder, title=f"as administrator: {first}{' …' * bool(more)}",
            preview=preview,
        )  # fmt: skip

    def _all_claims(self, _args: dict[str, Any]) -> tuple[Claim, ...]:
        return (Claim(resource="*", write=True),)

    @tool(access="execute", facts=_admin_facts, claims=_all_claims)
    async def run_as_admin(
        self,
        command: str,
        ctx: CallContext,
        timeout: float | None = None,  # noqa: ASYNC109  (the model's argument)
    ) -> Outcome:
        argv = self._argv(command)
        if timeout is not None and timeout <= 0:
            raise ToolFailure("timeout must be more than 0 seconds; leave it out for the usual limits")
        if not ctx.leave.free and self._programs.sandbox is not None:
            raise ToolFailure("the command may not leave the sandbox, and inside it nobody is administrator")
        ran = await self._run(argv, command, ctx, timeout)
        return self._outcome(shlex.join(argv), ran)

    async def _run(self, argv: list[str], command: str, ctx: CallContext, seconds: float | None) -> Ran:
        if _is_root():
            return await self._programs.run(argv[3:], ctx, timeout=seconds, show=True)
        env = self._programs.env
        if sys.platform == "win32":
            return await self._programs.run(_elevated(command), ctx, timeout=seconds, show=True)
        why = "sudo is not installed"
        if machine.on_path(("sudo",), env):
            ran = await self._programs.run(argv, ctx, timeout=seconds, show=True)
            if ran.ok or re.search(_REFUSED, ran.text[:2000]) is None:
                return ran
            why = f"sudo refused it ({' '.join(ran.text.split())[:200]})"
        if sys.platform == "darwin":
            script = f"do shell script {_apple(command)} with administrator privileges"
            return await self._programs.run(["osascript", "-e", script], ctx, timeout=seconds or 300.0, show=True)
        if machine.on_path(("pkexec",), env) and (env.get("DISPLAY") or env.get("WAYLAND_DISPLAY")):
            asked = ["pkexec", *argv[3:]]  # asks the person in a window of the system's own
            return await self._programs.run(asked, ctx, timeout=seconds or 300.0, show=True)
        raise ToolFailure(
            f"{why}, and no one can be asked for a password here; nothing was run. Ask the user to run it: "
            f"sudo {shlex.join(argv[3:]) if re.search(r'[|&;<>$]', command) else command}"
        )

    def _outcome(self, command: str, ran: Ran) -> Outcome:
        notes = [note for note in (ending(ran.how, _IDLE), ran.note) if note]
        text = bound(ran.text.rstrip("\n"), self._limit - _MARGIN).text("") if ran.text.strip() else ""
        whole = "\n".join([text or "[no output]", *(f"[{note}]" for note in notes)])
        display = {
            "kind": "command", "command": command, "cwd": str(self._programs.directory), "code": ran.code,
            "output": ran.text[-_SHOWN:], "note": " ".join(notes), "summary": f"exit {ran.code}",
        }  # fmt: skip
        return Outcome(text=whole, display=display, status="done" if ran.ok else "failed")


def _version(ran: Ran) -> str:
    """The number in what a program says of its version."""
    found = re.search(r"\d+(?:\.\d+)+[\w.+-]*", ran.text) if ran.ok else None
    return found[0] if found else ""


def _is_root() -> bool:
    if sys.platform == "win32":
        import ctypes  # exists everywhere, the function on Windows only

        return bool(ctypes.windll.shell32.IsUserAnAdmin())
    return os.geteuid() == 0


def _user(env: Any) -> str:
    if _is_root():
        return "administrator"
    return "not administrator" + (", sudo is there" if machine.on_path(("sudo",), env) else "")


def _elevated(command: str) -> list[str]:
    """PowerShell that asks through Windows' own window (UAC) and gives the output back."""
    quoted = command.replace("'", "''")
    script = (
        f"$o = [IO.Path]::GetTempFileName(); $c = '{quoted}'; "
        "$w = \"& { $c } *> '$o'; exit `$LASTEXITCODE\"; "
        "$e = [Convert]::ToBase64String([Text.Encoding]::Unicode.GetBytes($w)); "
        "$p = Start-Process powershell -Verb RunAs -Wait -PassThru -WindowStyle Hidden "
        "-ArgumentList '-NoProfile','-EncodedCommand',$e; "
        "Get-Content -Raw $o; Remove-Item $o; exit $p.ExitCode"
    )
    return ["powershell", "-NoProfile", "-NonInteractive", "-Command", script]


def _apple(command: str) -> str:
    escaped = command.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'
