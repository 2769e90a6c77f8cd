"""The tools that there are, and the MCP servers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import anyio
from anyio import to_thread

from gongfu.core.errors import ToolFailure
from gongfu.surfaces.cli.style import clean, one_line
from gongfu.surfaces.cli.talk.commands.paper import columns_of, give, wrapped
from gongfu.surfaces.cli.talk.face import Option
from gongfu.surfaces.cli.width import clip, pad, width

if TYPE_CHECKING:
    from gongfu.app.inventory import Entry
    from gongfu.plugins.mcp.connection import Connection
    from gongfu.plugins.mcp.hub import Hub, Thing
    from gongfu.surfaces.cli.talk.talk import Talk

_SETTLE = 10.0  # seconds that servers are waited for
_LISTS = 5.0  # seconds for the lists of prompts and resources
_SHOWN = 12  # prompts and resources of a server that are named


# --- /tools ---


async def tools(talk: Talk, args: str) -> None:
    """All tools family by family, the page of one, or those that fit the words."""
    from gongfu.app.inventory import best
    from gongfu.surfaces.cli.tools_page import page

    entries = await _entries(talk)
    one = next((entry for entry in entries if entry.name == args), None)
    if one is not None:
        await give(talk, list(page(talk.cli, one, columns_of(talk) - 1)))
        return
    shown = best(entries, args) if args else entries
    if not shown:
        talk.note(talk.cli.say("tools.none_fits"))
        return
    await give(talk, _listed(talk, shown, entries, grouped=not args))


def complete_tools(talk: Talk, args: str) -> Sequence[Option]:
    """The tools of every request; the others load with the list."""
    del args
    from gongfu.surfaces.cli.tools import first_sentence

    return tuple(
        Option(value=spec.name, label=spec.name, detail=one_line(first_sentence(spec.description), 80))
        for spec in talk.session.kit.registry.specs
    )


async def _entries(talk: Talk) -> list[Entry]:
    """The inventory of an app of its own in a thread, since much is loaded for it; servers as they are here."""

    def run() -> list[Entry]:
        from gongfu.app import App
        from gongfu.app.inventory import inventory

        async def work() -> list[Entry]:
            async with App(talk.app.options) as app:
                return await inventory(app)

        return anyio.run(work)

    found = await to_thread.run_sync(run)
    return [*(entry for entry in found if not entry.family.startswith("mcp:")), *_of_servers(talk)]


def _of_servers(talk: Talk) -> list[Entry]:
    from gongfu.app.inventory import Entry

    hub = talk.app.hub
    if hub is None:
        return []
    return [
        Entry(name=tool.spec.name, family=f"mcp:{one.server.label}", spec=tool.spec, known=False)
        for name, one in hub.connections.items()
        for tool in hub.tools(name)
    ]


def _listed(talk: Talk, shown: Sequence[Entry], entries: Sequence[Entry], *, grouped: bool) -> list[str]:
    from gongfu.surfaces.cli.tools import told

    style, say, columns = talk.cli.out_style, talk.cli.say, columns_of(talk) - 1
    longest = min(max(width(entry.name) for entry in shown), max(12, columns // 2 - 3))
    lines: list[str] = []
    family = ""
    for entry in shown:
        if grouped and entry.family != family:
            family = entry.family
            title = say(f"tools.family_{family}") if entry.known else _family(talk, family)
            lines += ["", style.bold(title)] if lines else [style.bold(title)]
        mark = style.green("●") if entry.core else style.yellow("✗") if entry.lacks else " "
        about = told(talk.cli, entry)
        about = about if entry.known else about.removeprefix("(MCP server").partition(") ")[2] or about
        brief = clip(one_line(clean(about)), max(8, columns - longest - 4))
        lines.append(f"{mark} {pad(clip(entry.name, longest), longest)}  {style.dim(brief)}")
    core, lacking = sum(entry.core for entry in entries), sum(bool(entry.lacks) for entry in entries)
    counts = say("talk_tell.tools_counts", count=len(entries), core=core, lacking=lacking)
    return [*lines, "", *wrapped(talk, counts, style.dim)]


def _family(talk: Talk, family: str) -> str:
    if family.startswith("mcp:"):
        return talk.cli.say("talk_tell.family_server", name=one_line(family[4:], 40))
    return one_line(family, 60)


# --- /mcp ---


async def mcp(talk: Talk, args: str) -> None:
    """The servers with what they offer; they are connected for it."""
    del args
    from gongfu.app.servers import FILE

    say, app = talk.cli.say, talk.app
    hub = app.hub
    untrusted = not app.options.trusted and (app.workspace.root / FILE).is_file()
    more = wrapped(talk, say("mcp.untrusted", file=FILE), talk.cli.out_style.dim) if untrusted else []
    if hub is None:
        await give(talk, [*wrapped(talk, say("mcp.none"), talk.cli.out_style.dim), *more])
        return
    if not hub.started:
        talk.note(say("talk_tell.mcp_connecting"))
        hub.start(app.group)
    await hub.settled(_SETTLE)
    blocks: list[list[str]] = []
    async with anyio.create_task_group() as tasks:
        for connection in hub.connections.values():
            block: list[str] = []
            blocks.append(block)
            tasks.start_soon(_server, talk, hub, connection, block)
    lines = [line for block in blocks for line in ("", *block)][1:]
    await give(talk, [*lines, *(["", *more] if more else [])])


async def _server(talk: Talk, hub: Hub, one: Connection, block: list[str]) -> None:
    say, style = talk.cli.say, talk.cli.out_style
    name, state = one_line(one.server.name, 60), say(f"talk_tell.server_{one.state}")
    origin = say(f"mcp.from_{'project' if one.server.project else 'user'}")
    if one.state != "ready":
        mark = style.dim("○") if one.state in ("off", "idle", "connecting") else style.red("✗")
        block.append(f"{mark} {style.bold(name)}  {state}  {style.dim(origin)}")
        if one.error:
            block += wrapped(talk, one_line(one.error), style.yellow, indent=2)
        if fix := _fix(one):
            block += wrapped(talk, fix, style.cyan, indent=2)
        return
    prompts, resources = await _lists(hub, one)
    block.append(f"{style.green('●')} {style.bold(name)}  {state}  {style.dim(origin)}")
    tools = [tool.spec.name for tool in hub.tools(one.server.name)]
    block += _names(talk, "tools", tools)
    block += _names(talk, "prompts", [_call(thing) for thing in prompts])
    block += _names(talk, "resources", [f"@{thing.server}:{thing.id}" for thing in resources])
    for tool, why in list(one.offers.refused.items())[:_SHOWN]:
        block += wrapped(talk, say("mcp.tool_refused", name=one_line(tool), why=why), style.yellow, indent=2)


def _fix(one: Connection) -> str:
    """The command that helps."""
    name = one_line(one.server.name, 60)
    match one.state:
        case "login":
            return f"gongfu mcp login {name}"
        case "off":
            return f"/settings mcp.servers.{name}.disabled false" if not one.server.project else ""
        case "wrong" | "failed" | "waiting":
            return f"gongfu mcp test {name}"
        case _:
            return ""


def _call(thing: Thing) -> str:
    """How a prompt is typed."""
    given = (f"[{name[:-1]}]" if name.endswith("?") else f"<{name}>" for name in thing.arguments)
    return " ".join([f"/{thing.server}:{thing.id}", *given])


def _names(talk: Talk, kind: str, names: Sequence[str]) -> list[str]:
    if not names:
        return []
    shown = ", ".join(one_line(name, 80) for name in names[:_SHOWN])
    if len(names) > _SHOWN:
        shown += f" {talk.cli.say('talk_tell.and_more', count=len(names) - _SHOWN)}"
    text = talk.cli.say(f"talk_tell.mcp_{kind}", count=len(names), names=shown)
    return wrapped(talk, text, talk.cli.out_style.dim, indent=2, more=4)


async def _lists(hub: Hub, one: Connection) -> tuple[tuple[Thing, ...], tuple[Thing, ...]]:
    """The prompts and resources of a server; what it does not tell in time or at all counts as none."""
    prompts: tuple[Thing, ...] = ()
    resources: tuple[Thing, ...] = ()
    with anyio.move_on_after(_LISTS):
        try:
            prompts = await hub.prompts(one.server.name)
            resources = await hub.resources(one.server.name)
        except ToolFailure:
            pass  # its tools may work all the same
    return prompts, resources
