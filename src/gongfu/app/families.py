"""The families of tools on the shelf of a session; their code is loaded when one of them is first asked for."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING

from gongfu.core.base import Base
from gongfu.toolkit.catalog import SHELF
from gongfu.toolkit.programs import Programs
from gongfu.toolkit.readlog import ReadLog
from gongfu.tools.families import Family
from gongfu.tools.protocol import Toolset

if TYPE_CHECKING:
    from gongfu.app.app import App
    from gongfu.engine.session import Session


class Parts(Base, frozen=True):
    """What the tools of one session are made of. `closing` takes what ends with the session, `shared` holds what
    several families use."""

    app: App
    session: Session
    programs: Programs
    reads: ReadLog
    closing: list[Callable[[], Awaitable[object]]] = []
    shared: dict[str, object] = {}


def _git(parts: Parts) -> Toolset:
    from gongfu.toolkit.git_tools import git_tools  # only when asked for

    return git_tools(parts.app.workspace, parts.programs)


def _code(parts: Parts) -> Toolset:
    from gongfu.app.knowledge import index_for
    from gongfu.toolkit.code import code_tools
    from gongfu.toolkit.symbols import knowledge_tools

    return (*code_tools(parts.app.workspace, parts.programs, parts.closing), *knowledge_tools(index_for(parts)))


def _search(parts: Parts) -> Toolset:
    from gongfu.app.knowledge import index_for  # only when asked for
    from gongfu.toolkit.symbols import search_symbols_tools

    return search_symbols_tools(index_for(parts))


def _desktop(parts: Parts) -> Toolset:
    from gongfu.toolkit.desktop_family import desktop_family  # only when asked for

    app, session = parts.app, parts.session

    def keep(data: bytes) -> str:
        return app.artifacts.put(session.id, data)

    return desktop_family(app.workspace, parts.programs, keep, app.settings.desktop)


def _export(parts: Parts) -> Toolset:
    from gongfu.app.export.for_tools import SessionExporter  # only when asked for
    from gongfu.toolkit.export import ExportTools

    return ExportTools(parts.app.workspace, SessionExporter(parts.app, parts.session))


def _edit(parts: Parts) -> Toolset:
    from gongfu.app.file_families import edit_family  # only when asked for

    return edit_family(parts)


def _local(parts: Parts) -> Toolset:
    from gongfu.toolkit.local import LocalTools  # only when asked for

    app, settings = parts.app, parts.app.settings
    chinese = app.language == "zh"
    return (*LocalTools(settings.local, app.options.env, allow=settings.web.allow_hosts, chinese=chinese),)


def _notify(parts: Parts) -> Toolset:
    from gongfu.toolkit.notify import NotifyTools  # only when asked for

    app, env = parts.app, parts.app.options.env
    return (*NotifyTools(app.workspace, app.settings.email, parts.programs.env, env, app.language),)


def _mcp(parts: Parts) -> Toolset:
    from gongfu.toolkit.mcp import mcp_tools  # only when asked for

    if parts.app.hub is not None:
        parts.app.hub.start(parts.app.group)
    return mcp_tools(parts.app.hub)


def _web(parts: Parts) -> Toolset:
    from gongfu.app.online import web_tools  # the same

    return web_tools(parts)


def _files(parts: Parts) -> Toolset:
    from gongfu.app.file_families import files_family  # only when asked for

    return files_family(parts)


def _clock(_parts: Parts) -> Toolset:
    from gongfu.toolkit.clock import clock_tools

    return clock_tools()


def _recall(parts: Parts) -> Toolset:
    from gongfu.app.past import AppPast  # only when asked for
    from gongfu.knowledge.notes import Notes
    from gongfu.store.versions import Versions
    from gongfu.toolkit.notebook import NotebookTools

    app = parts.app

    def notes(shared: bool) -> Notes:
        return Notes(Versions(app.database, "note", "" if shared else str(app.workspace.root)))

    return NotebookTools(notes, AppPast(app, parts.session.id))


def _plan(parts: Parts) -> Toolset:
    from gongfu.app.past import AppPast  # only when asked for
    from gongfu.store.versions import Versions
    from gongfu.toolkit.modes import ModeTools
    from gongfu.toolkit.plans import PlanTools

    app = parts.app
    past = AppPast(app, parts.session.id)
    plans = PlanTools(
        lambda: Versions(app.database, "plan", str(app.workspace.root)), parts.programs, past.unfinished, parts.session
    )
    return (*plans, *ModeTools(parts.session, app.modes))


def _settings(parts: Parts) -> Toolset:
    from gongfu.app.own_tools import settings_tools  # only when asked for

    return settings_tools(parts)


def _python(parts: Parts) -> Toolset:
    from gongfu.toolkit.python_tools import python_tools  # only when asked for

    return python_tools(parts.app.workspace, parts.programs)


def _packages(parts: Parts) -> Toolset:
    from gongfu.toolkit.packages import package_tools  # only when asked for

    return package_tools(parts.app.workspace, parts.programs)


def _browser(parts: Parts) -> Toolset:
    from gongfu.app.online import browser_family  # the same

    return browser_family(parts)


def _shell(parts: Parts) -> Toolset:
    from gongfu.toolkit.machine import MachineTools  # only when asked for

    tools = MachineTools(parts.programs, limit=parts.app.settings.context.max_tool_output)
    return (tools.os_info, tools.run_as_admin)


def families(parts: Parts) -> tuple[Family, ...]:
    """All families that there are, none of them loaded."""
    makers: dict[str, Callable[[Parts], Toolset]] = {
        "web": _web,
        "browser": _browser,
        "edit": _edit,
        "files": _files,
        "shell": _shell,
        "export": _export,
        "clock": _clock,
        "code": _code,
        "search": _search,
        "desktop": _desktop,
        "git": _git,
        "python": _python,
        "packages": _packages,
        "mcp": _mcp,
        "local": _local,
        "notify": _notify,
        "recall": _recall,
        "plan": _plan,
        "settings": _settings,
    }
    return tuple(Family(name, SHELF[name], lambda make=make: make(parts)) for name, make in makers.items())
