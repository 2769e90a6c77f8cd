"""The single checks of `gongfu doctor`."""

from __future__ import annotations

import os
import platform
import shutil
import sys
from importlib.util import find_spec
from pathlib import Path
from typing import Literal

from gongfu.app import App
from gongfu.config.paths import Places, places
from gongfu.core.base import Base
from gongfu.core.errors import ProviderFault, UserError
from gongfu.core.version import __version__
from gongfu.models.local.download import model_path
from gongfu.models.local.models import DEFAULT, find_model
from gongfu.surfaces.cli.cli import Cli
from gongfu.surfaces.cli.opening import opened
from gongfu.surfaces.cli.options import Opening
from gongfu.surfaces.cli.output import encodable
from gongfu.surfaces.cli.render.numbers import size, tokens
from gongfu.workspace.environment import search_path
from gongfu.workspace.names import show_name
from gongfu.workspace.process import run

Level = Literal["ok", "warn", "fail", "info"]
_SECONDS = 5.0


class Check(Base, frozen=True):
    """The outcome of one check. `fix` is the one command that puts it right, where there is one; `bytes` are sizes."""

    name: str
    level: Level
    detail: str
    fix: str = ""
    bytes: dict[str, int] = {}


async def run_checks(cli: Cli, opening: Opening) -> list[Check]:
    """All checks, those of this machine first. Never raises for what it is there to find."""
    checks = [_python(), _platform(), _terminal(cli)]
    try:
        async with opened(cli, opening) as app:
            settings = [_settings(cli, app, opening), _folder(cli, app)]
            programs = [await _git(cli), await _rg(cli), _sandbox(cli, app)]
            return [
                *checks,
                *programs,
                *_home(cli, app.places),
                *settings,
                await _model(cli, app),
                _embedded(cli, app),
                *_mcp(cli, app),
            ]
    except UserError as error:
        trouble = Check(name="settings", level="fail", detail=cli.say.told(error.key, error.values))
        return [*checks, await _git(cli), await _rg(cli), *_home(cli, places(cli.env)), trouble]


def _python() -> Check:
    found = f"{platform.python_version()} ({sys.executable}), gongfu {__version__}"
    return Check(name="python", level="ok", detail=found)


def _platform() -> Check:
    return Check(name="platform", level="ok", detail=f"{platform.system()} {platform.release()} {platform.machine()}")


def _terminal(cli: Cli) -> Check:
    unicode = encodable("功夫●", cli.out.encoding) == "功夫●"
    if unicode:
        return Check(name="terminal", level="ok", detail=cli.out.encoding)
    detail = cli.say("setup.terminal_ascii", encoding=cli.out.encoding)
    return Check(name="terminal", level="warn", detail=detail, fix="export PYTHONUTF8=1")


async def _version(cli: Cli, program: str) -> str:
    """The first line that `program --version` prints; "" when there is no such program."""
    path = shutil.which(program, path=search_path(cli.env))
    if not path:
        return ""
    finished = await run([path, "--version"], cwd=Path(path).parent, env=dict(cli.env), timeout=_SECONDS)
    return finished.output.decode("utf-8", "replace").partition("\n")[0].strip() or path


async def _git(cli: Cli) -> Check:
    found = await _version(cli, "git")
    if found:
        return Check(name="git", level="ok", detail=found)
    return Check(name="git", level="warn", detail=cli.say("setup.git_missing"), fix=install("git"))


async def _rg(cli: Cli) -> Check:
    found = await _version(cli, "rg")
    if found:
        return Check(name="rg", level="ok", detail=found)
    return Check(name="rg", level="info", detail=cli.say("setup.rg_missing"), fix=install("ripgrep"))


def _sandbox(cli: Cli, app: App) -> Check:
    from gongfu.surfaces.cli.sandboxed import detail
    from gongfu.workspace.environment import search_path

    text = detail(cli, app)
    if app.sandbox.kind == "bwrap":
        return Check(name="sandbox", level="ok", detail=text)
    found = shutil.which("bwrap", path=search_path(app.options.env))
    wanted = app.settings.sandbox.kind in ("auto", "bwrap") and sys.platform == "linux" and not found
    level: Level = "info" if app.settings.sandbox.kind == "off" or app.sandbox.kind == "landlock" else "warn"
    return Check(name="sandbox", level=level, detail=text, fix=install("bubblewrap") if wanted else "")


def _mcp(cli: Cli, app: App) -> list[Check]:
    """The MCP servers as far as can be told without starting one; nothing where there are none."""
    from gongfu.app.servers import servers_of

    servers = [server for server in servers_of(app) if not server.entry.disabled]
    if not servers:
        return []
    from gongfu.plugins.mcp.pipes import argv_of

    path = search_path(app.options.env)
    found: list[Check] = []
    for server in servers:
        why, entry = server.problem, server.entry
        if not why and entry.command and not argv_of(str(Path(entry.cwd) / entry.command), (), path):
            why = f"there is no program {entry.command}"
        if why:
            detail = cli.say("mcp.doctor_bad", names=show_name(server.name), why=show_name(why))
            found.append(Check(name="mcp", level="warn", detail=detail, fix=f"gongfu mcp test {server.name}"))
    detail = cli.say("mcp.doctor_fine", count=len(servers))
    return found or [Check(name="mcp", level="ok", detail=detail, fix="")]


def install(package: str) -> str:
    """The command that installs a system package here; "" when no manager of packages is known."""
    managers = (
        ("brew", f"brew install {package}"),
        ("apt-get", f"sudo apt-get install {package}"),
        ("dnf", f"sudo dnf install {package}"),
        ("pacman", f"sudo pacman -S {package}"),
        ("apk", f"apk add {package}"),
        ("winget", f"winget install {package}"),
    )
    return next((command for program, command in managers if shutil.which(program)), "")


def _home(cli: Cli, found: Places) -> list[Check]:
    try:
        found.ensure()
        free = shutil.disk_usage(found.home).free
    except UserError as error:
        return [Check(name="home", level="fail", detail=cli.say.told(error.key, error.values))]
    except OSError as error:
        return [Check(name="home", level="fail", detail=str(error))]
    if not os.access(found.home, os.W_OK):
        return [Check(name="home", level="fail", detail=cli.say("setup.home_readonly", path=found.home))]
    level: Level = "ok" if free > 500_000_000 else "warn"
    here = cli.say("setup.home_free", path=found.home, free=size(free))
    checks = [Check(name="home", level=level, detail=here), _sizes(cli, found)]
    return [*checks, *_store(cli, found)]


def _store(cli: Cli, found: Places) -> list[Check]:
    """Nothing when the store can be used or is not there yet."""
    from gongfu.store.database import Database

    if not found.store.exists():
        return []
    try:
        with Database.open(found.store, busy_seconds=1) as store:
            store.read("SELECT count(*) FROM sqlite_master")
    except UserError as error:
        fix = "gongfu doctor --salvage" if error.key == "store.damaged" else ""
        return [Check(name="store", level="fail", detail=cli.say.told(error.key, error.values), fix=fix)]
    return []


def _sizes(cli: Cli, found: Places) -> Check:
    from gongfu.surfaces.cli.sizes import HELPS, measured, much

    bytes_of = measured(found)
    rows = (f"{cli.say(f'setup.size_{name}')} {size(count)}" for name, count in bytes_of.items())
    detail = cli.say("permissions.and").join(rows)
    if much(bytes_of):
        return Check(name="sizes", level="warn", detail=detail, fix=HELPS, bytes=bytes_of)
    return Check(name="sizes", level="info", detail=detail, bytes=bytes_of)


def _folder(cli: Cli, app: App) -> Check:
    root = show_name(str(app.workspace.root))
    state = app.options.trust.state
    if state in ("nothing", ""):
        return Check(name="folder", level="ok", detail=root)
    told = f"{root} ({cli.say(f'trust.state_{state}')})"
    return Check(name="folder", level="ok" if app.options.trust.trusted else "info", detail=told)


def _settings(cli: Cli, app: App, opening: Opening) -> Check:
    file = app.places.configs / f"{opening.config}.yaml" if opening.config else app.places.config
    notices = "; ".join(cli.say.told(notice.key, notice.values) for notice in app.options.notices)
    if notices:
        return Check(name="settings", level="warn", detail=notices)
    if not file.is_file():
        return Check(name="settings", level="info", detail=cli.say("setup.settings_none", path=file), fix="gongfu init")
    return Check(name="settings", level="ok", detail=str(file))


async def _model(cli: Cli, app: App) -> Check:
    """The main model: is there one, and does its endpoint answer with this key?"""
    try:
        provider = (await app.router.chain("main"))[0]
    except UserError as error:
        nothing = error.key == "router.nothing"
        text = cli.say("setup.model_none") if nothing else cli.say.told(error.key, error.values).replace("\n", " ")
        return Check(name="model", level="fail", detail=text, fix="gongfu init")
    info = provider.info
    window = tokens(info.window) if info.window else cli.say("unknown")
    name = cli.say("setup.model_window", ref=info.ref, window=window)
    if info.provider in ("local", "scripted"):
        return Check(name="model", level="ok", detail=name)
    level, said = await _reach(cli, app, info.provider)
    fix = "" if level == "ok" else f"gongfu models test {info.ref}"
    return Check(name="model", level=level, detail=f"{name}: {said}", fix=fix)


async def _reach(cli: Cli, app: App, name: str) -> tuple[Level, str]:
    import anyio

    from gongfu.models.build import transport_of

    try:
        endpoint = app.router.endpoint(name)
        transport = transport_of(endpoint, app.options.env)
    except UserError as error:
        return "fail", cli.say.told(error.key, error.values)
    try:
        with anyio.fail_after(_SECONDS):
            status, _, _ = await transport.get("/models")
    except (ProviderFault, TimeoutError) as error:
        return "fail", cli.say(
            "setup.model_unreachable", address=endpoint.base_url, reason=getattr(error, "detail", "")
        )
    finally:
        await transport.aclose()
    if status in (401, 403):
        return "fail", cli.say("setup.model_key_refused", address=endpoint.base_url, status=status)
    return "ok", cli.say("setup.model_reachable", address=endpoint.base_url)


def _embedded(cli: Cli, app: App) -> Check:
    model = find_model(DEFAULT)
    path = model_path(app.places)
    if path is None:
        detail = cli.say("setup.embedded_missing", name=model.name, size=size(model.size))
        return Check(name="embedded", level="info", detail=detail, fix="gongfu models pull")
    if find_spec("xllamacpp") is None:
        return Check(
            name="embedded",
            level="warn",
            detail=cli.say("setup.embedded_no_runtime"),
            fix="pip install 'gongfu[local]'",
        )
    return Check(name="embedded", level="ok", detail=str(path))
