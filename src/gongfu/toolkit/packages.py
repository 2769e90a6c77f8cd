"""The family packages: what the project's environment has, and what comes into it."""

from __future__ import annotations

import re
import shlex
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Literal

import anyio
import anyio.to_thread

from gongfu.core.display import Display, text_display
from gongfu.core.errors import ToolFailure
from gongfu.core.secrets import redact
from gongfu.toolkit.counts import counted
from gongfu.toolkit.git_run import strings
from gongfu.toolkit.package_words import (
    distributions,
    first_line,
    newest,
    npm_installed,
    npm_outdated,
    pip_installed,
    pip_outdated,
    plain_name,
    unknown,
    why,
)
from gongfu.toolkit.programs import Programs, Ran
from gongfu.toolkit.python_project import (
    Project,
    Projects,
    command_preview,
    everything,
    is_own,
    python_of,
)
from gongfu.tools.decorator import tool
from gongfu.tools.protocol import CallContext, Claim, Facts, Outcome, Toolset
from gongfu.workspace.root import Workspace

_NPM = ("registry.npmjs.org:443",)
_NAME = r"[A-Za-z0-9](?:[A-Za-z0-9._-]{0,120}[A-Za-z0-9])?"
_PYTHON_SPEC = (
    rf"{_NAME}(?:\[[\w,. -]+\])?(?:\s*(?:===|[=!~<>]=?|~=)\s*[\w.*+!-]+(?:\s*,\s*[=!~<>]=?=?\s*[\w.*+!-]+)*)?"
)
_NPM_NAME = r"(?:@\w[\w.-]*/)?\w[\w.-]*"
_NPM_SPEC = rf"{_NPM_NAME}(?:@[\w^~<>=*|+-][\w.^~<>=*|+-]*)?"  # what begins with a dot is a folder to npm
_SHORT = r"-[UqvDEOPS]+"
_INDEX = r"--(?:extra-)?index-url|--index|--default-index|--find-links|--registry"  # whose hosts are told
_ELSEWHERE = (
    "--target", "--prefix", "--root", "--user", "--python", "--break-system-packages", "--editable", "--global",
    "--location", "--log", "--report", "--src", "--cache", "--requirement", "--constraint", "--script-shell",
    "--node-options", "--dir", "--project", "--config-file", "--cwd", "--proxy", "--pypi-url", "--cert",
    "--client-cert",
)  # fmt: skip
_QUICK = 60.0
_INSTALLING = 900.0
_MOST = 400
Action = Literal["install", "upgrade", "uninstall"]


class PackageTools:
    """See the module."""

    def __init__(self, workspace: Workspace, programs: Programs) -> None:
        self._projects = Projects(workspace, programs)
        self._programs = programs

    # --- package_check --------------------------------------------------------------------------------------------

    def _look_claims(self, _args: dict[str, Any]) -> tuple[Claim, ...]:
        return (Claim(resource=str(self._projects.workspace.root)),)

    async def _check_facts(self, args: dict[str, Any]) -> Facts:
        project = self._projects.find(args.get("cwd") or "")
        names = _names(strings(args.get("names")))
        index = args.get("index") is not False
        commands = self._check_commands(project, names, index)
        return self._facts(project, commands, title=" ".join(names), network=index)

    def _facts(
        self,
        project: Project,
        commands: Sequence[Sequence[str]],
        *,
        title: str,
        network: bool,
        options: Sequence[str] = (),
    ) -> Facts:
        line = " ; ".join(map(shlex.join, commands))
        hosts = (
            (_npm_hosts(options) if self._is_npm(project) else self._projects.index_hosts(options)) if network else ()
        )
        return Facts(
            access=("execute", "network") if network else ("execute",), paths=(str(project.root),), command=line,
            cwd=str(project.root), hosts=hosts, title=title, preview=command_preview(line, project.root),
        )  # fmt: skip

    def _check_commands(self, project: Project, names: Sequence[str], index: bool) -> list[list[str]]:
        if self._is_npm(project):
            npm = self._projects.needed(project, "npm")
            listing = [*npm, "ls", "--json", "--depth=0", *names]
            return [listing, *([*npm, "view", name, "version"] for name in names if index)]
        pip = self._pip(project)
        # `index versions` tells of the index alone; a dry run would also fetch what it needs
        return [[*pip, "check"], *([*pip, "index", "versions", name] for name in names if index)]

    @tool(access=("execute", "network"), facts=_check_facts, claims=_look_claims)
    async def package_check(self, names: list[str], ctx: CallContext, *, index: bool = True, cwd: str = "") -> Outcome:
        project = self._projects.find(cwd, again=True)
        wanted = _names(names)
        commands = self._check_commands(project, wanted, index)
        runs = await self._all(commands, project, ctx)
        if self._is_npm(project):
            installed = npm_installed(runs[0].text)
            versions = [first_line(run) for run in runs[1:]]
            conflicts = ""
        else:
            installed = await self._installed(project, ctx)
            versions = [newest(run) for run in runs[1:]]
            conflicts = "" if runs[0].ok else "\n".join(runs[0].text.strip().splitlines()[-20:])
        lines: list[str] = []
        for at, name in enumerate(wanted):
            version = installed.get(plain_name(name), "")
            line = f"{name}: {version or 'not installed'}"
            if index:
                line += f", newest {versions[at]}" if versions[at] else f", {unknown(runs[1 + at])}"
            lines.append(line)
        lines.append(f"in {self._where(project)}")
        if conflicts:
            lines += ["conflicts:", conflicts]
        text = redact("\n".join(lines))
        return Outcome(text=text, display=text_display(text, lines[0]))

    # --- package_list ---------------------------------------------------------------------------------------------

    async def _list_facts(self, args: dict[str, Any]) -> Facts:
        project = self._projects.find(args.get("cwd") or "")
        outdated = bool(args.get("outdated"))
        title = "outdated" if outdated else "installed"
        if not outdated and not self._is_npm(project) and project.env is not None:
            return Facts(access=("read",), paths=(str(project.root),), title=title)
        return self._facts(project, [self._list_command(project, outdated)], title=title, network=outdated)

    def _list_command(self, project: Project, outdated: bool) -> list[str]:
        if self._is_npm(project):
            npm = self._projects.needed(project, "npm")
            return [*npm, "outdated", "--json"] if outdated else [*npm, "ls", "--json", "--depth=0"]
        if outdated:
            return [*self._pip(project), "list", "--outdated", "--format=json"]
        return [*self._pip(project), "list", "--format=json"]

    @tool(access=("execute", "network"), facts=_list_facts, claims=_look_claims)
    async def package_list(
        self, ctx: CallContext, *, outdated: bool = False, contains: str = "", cwd: str = ""
    ) -> Outcome:
        project = self._projects.find(cwd, again=True)
        npm = self._is_npm(project)
        if outdated:
            ran = await self._run(self._list_command(project, True), project, ctx, 180.0)
            rows = npm_outdated(ran.text) if npm else pip_outdated(ran)
        else:
            found = await self._installed(project, ctx)
            rows = [f"{name} {version}" for name, version in sorted(found.items())]
        rows = [row for row in rows if contains.lower() in row.lower()]
        what = "outdated" if outdated else "package" if len(rows) == 1 else "packages"
        said = f" with {contains!r}" if contains else ""
        head = f"{len(rows)} {what}{said} in {self._where(project)}"
        shown = rows[:_MOST] + [f"… {len(rows) - _MOST} more; narrow with contains"] * (len(rows) > _MOST)
        display: Display = {"kind": "list", "items": shown, "total": len(rows), "summary": head}
        return Outcome(text="\n".join([head, *shown]), display=display)

    # --- package_install ------------------------------------------------------------------------------------------

    async def _install_facts(self, args: dict[str, Any]) -> Facts:
        project = self._projects.find(args.get("cwd") or "")
        action, argv = args.get("action") or "install", self._install_command(project, args)
        title = f"{action} {' '.join(strings(args.get('packages'))) or args.get('requirements') or ''}".strip()
        options = strings(args.get("options"))
        facts = self._facts(project, [argv], title=title, network=action != "uninstall", options=options)
        if not args.get("requirements"):
            return facts
        located = self._projects.located([args["requirements"]])
        more = self._projects.places.paths(located[0])
        return Facts(access=facts.access, paths=(*facts.paths, *more), command=facts.command, cwd=facts.cwd,
                     hosts=facts.hosts, title=facts.title, preview=facts.preview)  # fmt: skip

    @tool(access=("execute", "network"), facts=_install_facts, claims=everything)
    async def package_install(
        self,
        ctx: CallContext,
        *,
        packages: list[str] | None = None,
        action: Action = "install",
        requirements: str = "",
        dev: bool = False,
        options: list[str] | None = None,
        cwd: str = "",
    ) -> Outcome:
        project = self._projects.find(cwd, again=True)
        args: dict[str, Any] = {
            "packages": packages, "action": action, "requirements": requirements, "dev": dev, "options": options,
        }  # fmt: skip
        argv = self._install_command(project, args)
        before = await self._installed(project, ctx)
        ran = await self._run(argv, project, ctx, _INSTALLING, show=True)
        said = redact(ran.text).strip()
        if not ran.ok:
            raise ToolFailure("\n".join(filter(None, (why(ran), *said.splitlines()[-30:], ran.note))))
        after = await self._installed(project, ctx)
        lines = [f"+ {n} {v}" for n, v in sorted(after.items()) if n not in before]
        lines += [f"~ {n} {before[n]} -> {v}" for n, v in sorted(after.items()) if before.get(n, v) != v]
        lines += [f"- {n} {v}" for n, v in sorted(before.items()) if n not in after]
        if not lines:
            lines = ["Nothing changed: it was so already."]
        text = "\n".join([f"{action} in {self._where(project)}:", *lines, *([ran.note] if ran.note else [])])
        display: Display = {
            "kind": "command", "command": shlex.join(argv), "cwd": str(project.root), "code": 0, "output": text,
            "note": "", "summary": f"{action}: {counted(len(lines), 'change')}",
        }  # fmt: skip
        return Outcome(text=text, display=display)

    def _install_command(self, project: Project, args: dict[str, Any]) -> list[str]:
        """What changes the environment. ToolFailure where the project has none of its own, or for a bad call."""
        action: Action = args.get("action") or "install"
        packages, options = strings(args.get("packages")), strings(args.get("options"))
        requirements: str = args.get("requirements") or ""
        npm = self._is_npm(project)
        if not packages and not requirements:
            raise ToolFailure("name packages, or a requirements file")
        if requirements and (packages or npm or action == "uninstall"):
            raise ToolFailure("requirements goes alone, with install or upgrade, and for Python only")
        shape = _NPM_SPEC if npm else _PYTHON_SPEC
        if (bad := next((p for p in packages if not re.fullmatch(shape, p)), None)) is not None:
            raise ToolFailure(f"packages: {bad[:100]!r} is no package, such as requests or requests>=2.31")
        if (bad := next((o for o in options if not _passed_on(o)), None)) is not None:
            raise ToolFailure(f"options: {bad[:100]!r} is not passed on: only options that leave the place as it is")
        if npm:
            verb = {"install": "install", "upgrade": "update", "uninstall": "uninstall"}[action]
            how = ["--save-dev"] if args.get("dev") and action == "install" else []
            return [*self._projects.needed(project, "npm"), verb, "--no-audit", "--no-fund", *how, *options, *packages]
        self._refuse_own(project)
        if project.manager in ("uv", "poetry", "pdm") or (project.env and self._manages(project)):
            return self._managed(project, action, packages, requirements, bool(args.get("dev")), options)
        pip = self._pip(project)
        if action == "uninstall":
            return [*pip, "uninstall", "-y", *options, *(re.split(r"[\[=!~<>\s]", p)[0] for p in packages)]
        what = ["-r", str(self._projects.located([requirements])[0].path)] if requirements else packages
        upgrade = ["--upgrade"] if action == "upgrade" else []
        return [*pip, "install", *upgrade, *options, *what]

    def _manages(self, project: Project) -> str:
        """The manager whose lock file the project has, where it is installed."""
        locks = {"uv.lock": "uv", "poetry.lock": "poetry", "pdm.lock": "pdm"}
        return next((name for lock, name in locks.items() if project.has(lock) and self._projects.which(name)), "")

    def _managed(
        self, project: Project, action: Action, packages: Sequence[str], requirements: str, dev: bool,
        options: Sequence[str],
    ) -> list[str]:  # fmt: skip
        """Through the manager, so that the project's own list of dependencies changes with its environment."""
        name = project.manager or self._manages(project)
        group = {"uv": ["--dev"], "poetry": ["--group", "dev"], "pdm": ["--dev"]}[name] if dev else []
        if action == "uninstall":
            return [name, "remove", *group, *options, *packages]
        if action == "upgrade" and name in ("poetry", "pdm"):
            return [name, "update", *options, *packages]
        if requirements:
            if name != "uv":
                raise ToolFailure(f"{name} keeps its own list of dependencies; name the packages")
            return [name, "add", *group, *options, "-r", str(self._projects.located([requirements])[0].path)]
        return [name, "add", *(["--upgrade"] if action == "upgrade" else []), *group, *options, *packages]

    def _refuse_own(self, project: Project) -> None:
        """Nothing comes into the environment that Gongfu runs in, or into that of the system."""
        makes = f"`cd {shlex.quote(str(project.root))} && python3 -m venv .venv` makes one"
        if project.env is None and project.manager in ("", "hatch"):
            raise ToolFailure(f"the project has no environment of its own, so nothing was changed; {makes}.")
        if project.env is not None and is_own(project.env):
            raise ToolFailure(
                f"{self._where(project)} is the environment that Gongfu itself runs in; nothing is changed there. "
                "A further one in the project with another name (venv) or the user's own terminal can do it."
            )

    # --- all ------------------------------------------------------------------------------------------------------

    def _is_npm(self, project: Project) -> bool:
        python = project.env or project.has("pyproject.toml", "setup.py", "setup.cfg", "requirements.txt", "Pipfile")
        return project.has("package.json") and not python

    def _pip(self, project: Project) -> list[str]:
        """Pip for the project's environment: its own, else the one of the person with `--python`."""
        python = self._projects.python(project)
        if project.env is None or any(project.env.glob("[lL]ib*/**/site-packages/pip/__main__.py")):
            return [*python, "-m", "pip"]
        if uv := self._projects.which("uv"):
            return [uv, "pip"]
        found = self._projects.which("python3") or self._projects.which("python")
        if not found or Path(found) == Path(python[0]):
            raise ToolFailure(f"the environment {project.env} has no pip; `{python[0]} -m ensurepip` brings it")
        return [found, "-m", "pip", "--python", str(python_of(project.env))]

    async def _run(
        self, argv: Sequence[str], project: Project, ctx: CallContext, seconds: float, *, show: bool = False
    ) -> Ran:
        env = {"VIRTUAL_ENV": str(project.env)} if project.env is not None else {}
        ran = await self._programs.run(argv, ctx, cwd=project.root, env=env, timeout=seconds, show=show)
        if ran.how.why_ended != "exit":
            raise ToolFailure(f"{Path(argv[0]).name} was stopped after {ran.how.seconds:.0f} s: {ran.text[-500:]}")
        return ran

    async def _all(self, commands: Sequence[Sequence[str]], project: Project, ctx: CallContext) -> list[Ran]:
        """The outcomes of commands that only ask, which run side by side."""
        done: dict[int, Ran] = {}

        async def ask(at: int) -> None:
            done[at] = await self._run(commands[at], project, ctx, _QUICK)

        try:
            async with anyio.create_task_group() as tasks:
                for at in range(len(commands)):
                    tasks.start_soon(ask, at)
        except* ToolFailure as failures:
            raise failures.exceptions[0] from None
        return [done[at] for at in range(len(commands))]

    async def _installed(self, project: Project, ctx: CallContext) -> dict[str, str]:
        """Names and versions; those of an environment are read from its folder, no program is asked."""
        if project.env is not None and not self._is_npm(project):
            return await anyio.to_thread.run_sync(distributions, project.env)
        ran = await self._run(self._list_command(project, False), project, ctx, _QUICK)
        return npm_installed(ran.text) if self._is_npm(project) else pip_installed(ran)

    def _where(self, project: Project) -> str:
        if self._is_npm(project):
            return f"{self._projects.workspace.show(project.root)} (npm)"
        if project.env is not None:
            return self._projects.workspace.show(project.env)
        return f"the environment of {project.manager}" if project.manager else "the Python on PATH (no environment)"


def package_tools(workspace: Workspace, programs: Programs) -> Toolset:
    """The package tools of one session."""
    tools = PackageTools(workspace, programs)
    return (tools.package_check, tools.package_install, tools.package_list)


def _names(names: Sequence[str]) -> list[str]:
    if not names or len(names) > 20:
        raise ToolFailure("names must be 1 to 20 packages")
    if (bad := next((n for n in names if not re.fullmatch(rf"{_NAME}|{_NPM_NAME}", n)), None)) is not None:
        raise ToolFailure(f"names: {bad[:100]!r} is no name of a package; leave versions out")
    return list(names)


def _passed_on(option: str) -> bool:
    """Whether an option of the caller leaves the place as it is and names no file: installers take the beginning of
    a long option for the whole one."""
    if not option.startswith("--"):
        return re.fullmatch(_SHORT, option) is not None
    name, _, value = option.partition("=")
    if "\0" in option or len(name) < 4:
        return False
    if re.fullmatch(_INDEX, name):
        return True
    leads = any(name.startswith(bad) or (bad.startswith(name) and name != "--pre") for bad in _ELSEWHERE)
    return not leads and re.search(r"[/\\~]", value) is None


def _npm_hosts(options: Sequence[str]) -> tuple[str, ...]:
    given = [option.partition("=")[2] for option in options if option.startswith("--registry=")]
    found = [match for text in given for match in re.findall(r"(https?)://(?:[^@/\s]*@)?([^/:\s]+)(?::(\d+))?", text)]
    named = (f"{host}:{port or (443 if scheme == 'https' else 80)}" for scheme, host, port in found)
    return tuple(dict.fromkeys(named)) or _NPM
