"""What `gongfu mcp` does."""

from __future__ import annotations

import json
import re
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from gongfu.app import App
from gongfu.app.servers import FILE, around_of, servers_of
from gongfu.config import edit
from gongfu.config.load import PROJECT_FILE, settings_file
from gongfu.config.paths import places
from gongfu.core.errors import EXIT_DONE, EXIT_FAILED, UsageError, UserError
from gongfu.core.secrets import redact
from gongfu.plugins.mcp.connection import Connection
from gongfu.plugins.mcp.hub import Hub
from gongfu.plugins.mcp.login import Callback
from gongfu.plugins.mcp.oauth import Store, provider
from gongfu.plugins.mcp.servers import Server
from gongfu.surfaces.cli.cli import Cli
from gongfu.surfaces.cli.opening import opened, run_async
from gongfu.surfaces.cli.options import Opening
from gongfu.surfaces.cli.render.table import table
from gongfu.surfaces.cli.result import to_json
from gongfu.surfaces.cli.style import one_line
from gongfu.workspace.names import show_name

if TYPE_CHECKING:
    import httpx2

_PATIENCE = 900.0  # seconds that a login waits for the browser
_WIDE = 80  # characters of a command or address in a table
_SHOWN = 40


def list_server(cli: Cli, *, as_json: bool, config: str | None, root: str | None, trust: bool) -> int:
    """Print the servers that count here. Nothing is started."""

    async def work() -> int:
        async with opened(cli, Opening(config=config or "", root=root, trust=trust)) as app:
            servers = servers_of(app)
            if as_json:
                rows = [_row(app, server) for server in servers]
                cli.out.line(to_json({"type": "mcp_servers", "servers": rows}))
                return EXIT_DONE
            lines = [
                (
                    server.name,
                    "/".join(server.kinds) if not server.problem else "",
                    _short(one_line(_target(server))),
                    cli.say(f"mcp.from_{'project' if server.project else 'user'}"),
                    _standing(cli, app, server),
                )
                for server in servers
            ]
            for line in table(lines, columns=cli.size()[0] if cli.out.tty else 0):
                cli.out.line(line)
            if not servers:
                cli.note(cli.say("mcp.none"))
            if not app.options.trusted and (app.workspace.root / FILE).is_file():
                cli.note(cli.say("mcp.untrusted", file=FILE))
            return EXIT_DONE

    return run_async(work)


def _row(app: App, server: Server) -> dict[str, Any]:
    return {
        "name": server.name, "kinds": list(server.kinds) if not server.problem else [], "target": _target(server),
        "from": "project" if server.project else "user", "disabled": server.entry.disabled, "problem": server.problem,
        "logged_in": _logged_in(app, server),
    }  # fmt: skip


def _short(text: str) -> str:
    return text if len(text) <= _WIDE else f"{text[: _WIDE - 1]}…"


def _target(server: Server) -> str:
    entry = server.entry
    return redact(entry.url or " ".join((entry.command, *entry.args)))


def _standing(cli: Cli, app: App, server: Server) -> str:
    if server.entry.disabled:
        return cli.say("mcp.state_off")
    if server.problem:
        return f"{cli.say('mcp.state_wrong')}: {server.problem}"
    return cli.say("mcp.logged_in") if _logged_in(app, server) else ""


def _logged_in(app: App, server: Server) -> bool:
    return bool(server.entry.url and Store(around_of(app).logins, server.entry.url).read().tokens)


def add_server(
    cli: Cli, *, name: str, words: tuple[str, ...], variables: tuple[str, ...], headers: tuple[str, ...],
    transport: str | None, cwd: str | None, config: str | None,
) -> int:  # fmt: skip
    """Put a server into the settings."""
    if not re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9_-]{0,63}", name):
        raise UsageError("mcp.bad_name", name=name)
    given = words[1:] if words[:1] == ("--",) else words
    if not given or given[0].startswith("-"):
        raise UsageError("mcp.needs_target")
    file = settings_file(places(cli.env), config or "")
    if name in _known(cli, config):
        raise UsageError("mcp.exists", name=name)
    remote = given[0].startswith(("http://", "https://"))
    if remote and given[1:]:
        raise UsageError("mcp.needs_target")
    entry: dict[str, Any] = {"url": given[0]} if remote else {"command": given[0], "args": list(given[1:])}
    entry |= {"env": _pairs(variables, "=", "NAME=VALUE")} if variables else {}
    entry |= {"headers": _pairs(headers, ":", "NAME:VALUE")} if headers else {}
    entry |= {"transport": transport} if transport and transport != "auto" else {}
    entry |= {"cwd": str(Path(cwd).expanduser().absolute())} if cwd else {}
    plain = {key: value for key, value in entry.items() if value != []}
    edit.set_value(places(cli.env), f'mcp.servers."{name}"', json.dumps(plain, ensure_ascii=False), config=config or "")
    cli.out.line(cli.say("mcp.added", name=name, file=show_name(str(file))))
    return EXIT_DONE


def _pairs(given: tuple[str, ...], sign: str, wanted: str) -> dict[str, str]:
    pairs: dict[str, str] = {}
    for one in given:
        key, found, value = one.partition(sign)
        if not found or not key.strip():
            raise UsageError("mcp.bad_pair", given=key, wanted=wanted)
        pairs[key.strip()] = value.strip() if sign == ":" else value
    return pairs


def _known(cli: Cli, config: str | None) -> dict[str, Any]:
    """The servers that stand in the person's settings file."""
    from gongfu.config.layer import parse_layer

    layer = parse_layer(settings_file(places(cli.env), config or ""))
    return layer.data.get("mcp", {}).get("servers", {}) if layer else {}


def remove_server(cli: Cli, *, name: str, config: str | None) -> int:
    """Take a server out of the settings."""
    found = places(cli.env)
    known = _known(cli, config)
    if name not in known:
        here = [PROJECT_FILE.as_posix(), FILE]
        theirs = next((file for file in here if _names(Path(file), name)), "")
        if theirs:
            raise UsageError("mcp.not_yours", name=name, file=theirs)
        raise _unknown(name, known)
    edit.unset_value(found, f'mcp.servers."{name}"', config=config or "")
    cli.out.line(cli.say("mcp.removed", name=name, file=show_name(str(settings_file(found, config or "")))))
    return EXIT_DONE


def _names(file: Path, name: str) -> bool:
    try:
        text = file.read_text("utf-8")
        return f'"{name}"' in text or f"{name}:" in text
    except (OSError, UnicodeDecodeError):
        return False


def _unknown(name: str, known: Any) -> UsageError:
    if not known:
        return UsageError("mcp.none")
    return UsageError("mcp.unknown", name=name, known=", ".join(known))


def _server(app: App, name: str) -> Server:
    servers = servers_of(app)
    found = next((server for server in servers if server.name == name), None)
    if found is None:
        raise _unknown(name, [server.name for server in servers])
    entry = msgspec.structs.replace(found.entry, disabled=False)
    return msgspec.structs.replace(found, entry=entry)


@asynccontextmanager
async def _connected(app: App, server: Server, **more: Any) -> AsyncGenerator[Connection]:
    """The connection to one server after one try."""
    around = msgspec.structs.replace(around_of(app), tries=1, **more.pop("times", {}))
    hub = Hub([server], around, **more)
    hub.start(app.group)
    try:
        await hub.settled(around.connect + 5)
        yield hub.connections[server.name]
    finally:
        await hub.close()


def test_server(cli: Cli, *, name: str, as_json: bool, config: str | None, root: str | None, trust: bool) -> int:
    """Connect to a server and show what it is and has."""

    async def work() -> int:
        async with opened(cli, Opening(config=config or "", root=root, trust=trust)) as app:
            server = _server(app, name)
            async with _connected(app, server) as connection:
                if as_json:
                    cli.out.line(to_json(_told(connection)))
                else:
                    _print(cli, connection)
                return EXIT_DONE if connection.state == "ready" else EXIT_FAILED

    return run_async(work)


def _told(connection: Connection) -> dict[str, Any]:
    return {
        "type": "mcp_test", "name": connection.server.name, "ok": connection.state == "ready",
        "state": connection.state, "protocol": connection.protocol, "title": connection.title,
        "tools": [offer.spec.name for offer in connection.offers.tools], "refused": connection.offers.refused,
        "error": connection.error, "stderr": connection.said,
    }  # fmt: skip


def _print(cli: Cli, connection: Connection) -> None:
    name, style = one_line(connection.server.name), cli.out_style
    if connection.state == "ready":
        cli.out.line(f"{style.green('✓')} {name}: {cli.say('mcp.tools_count', count=len(connection.offers.tools))}")
        cli.out.line("  " + cli.say("mcp.speaks", version=connection.protocol, title=connection.title or "-"))
        for offer in connection.offers.tools[:_SHOWN]:
            about = one_line(offer.spec.description.partition(") ")[2])
            cli.out.line(f"  {offer.spec.name}  {style.dim(about[:100])}")
        for tool, why in list(connection.offers.refused.items())[:_SHOWN]:
            cli.out.line("  " + style.yellow(cli.say("mcp.tool_refused", name=one_line(tool), why=why)))
        return
    why = cli.say("mcp.login_hint", name=name) if connection.state == "login" else connection.error
    cli.complain(cli.say("mcp.test_failed", name=name, why=one_line(why)))
    if connection.said.strip():
        cli.note(cli.say("mcp.stderr"))
        for row in connection.said.strip().splitlines()[-12:]:
            cli.note(f"  {one_line(row)}")


def login_server(cli: Cli, *, name: str, config: str | None, root: str | None, trust: bool) -> int:
    """Log in to a server through the person's browser."""

    async def work() -> int:
        async with opened(cli, Opening(config=config or "", root=root, trust=trust)) as app:
            server = _server(app, name)
            if not server.entry.url or server.problem:
                raise UserError("mcp.login_no_url", name=name)
            return await _login(cli, app, server)

    return run_async(work)


async def _login(cli: Cli, app: App, server: Server) -> int:
    store = Store(around_of(app).logins, server.entry.url)
    before = store.taken()  # a new login registers anew: the way back has another port each time
    asked = False

    async def show(url: str) -> None:
        nonlocal asked
        asked = True
        cli.out.line(cli.say("mcp.login_open", name=one_line(server.name)))
        cli.out.line(f"\n  {one_line(url)}\n")
        cli.note(cli.say("mcp.login_wait"))

    done, why, count = False, "", 0
    try:
        async with Callback(cli.say("mcp.login_page")) as back:

            def auth(_url: str) -> httpx2.Auth:
                return provider(store, callback=back.url, show=show, answer=back.code)

            async with _connected(app, server, auth=auth, times={"connect": _PATIENCE}) as connection:
                done = connection.state == "ready"
                why, count = connection.error, len(connection.offers.tools)
    finally:
        if not done or not asked:
            store.put_back(before)
    if not done:
        raise UserError("mcp.login_failed", name=server.name, why=one_line(why).rstrip("."))
    key = "mcp.login_done" if asked else "mcp.login_not_needed"
    cli.out.line(cli.say(key, name=one_line(server.name), count=count))
    return EXIT_DONE


def logout_server(cli: Cli, *, name: str, config: str | None, root: str | None, trust: bool) -> int:
    """Forget the login at a server."""

    async def work() -> int:
        async with opened(cli, Opening(config=config or "", root=root, trust=trust)) as app:
            server = _server(app, name)
            gone = bool(server.entry.url) and Store(around_of(app).logins, server.entry.url).forget()
            cli.out.line(cli.say("mcp.logout_done" if gone else "mcp.logout_none", name=name))
            return EXIT_DONE

    return run_async(work)
