"""`gongfu mcp import`: take over the servers that other agents of this person know."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, cast

from gongfu.config import edit
from gongfu.config.layer import parse_layer
from gongfu.config.load import settings_file
from gongfu.config.other_agents import NAMES, Foreign, find_servers
from gongfu.config.paths import places
from gongfu.core.errors import EXIT_DONE, UserError
from gongfu.surfaces.cli.cli import Cli
from gongfu.surfaces.cli.style import clean, one_line
from gongfu.workspace.names import show_name
from gongfu.workspace.root import find_root


def import_server(cli: Cli, *, names: tuple[str, ...], yes: bool, as_json: bool, config: str | None) -> int:
    """Show the servers of Claude Code, Codex and Qwen Code, and put those that the person wants into the settings.

    `names` picks some. Nothing is written without a yes, and no server of the person's own is replaced.
    """
    home = Path(cli.env.get("HOME") or cli.env.get("USERPROFILE") or "~").expanduser()
    found = places(cli.env)
    layer = parse_layer(settings_file(found, config or ""))
    there: dict[str, Any] = layer.data.get("mcp", {}).get("servers", {}) if layer else {}
    fresh = [one for one in find_servers(home, find_root(Path.cwd())) if one.name not in there]
    if missing := [name for name in names if name not in {one.name for one in fresh}]:
        raise UserError("mcp.import_unknown", names=", ".join(missing))
    wanted = [one for one in fresh if not names or one.name in names]
    if as_json:
        from gongfu.surfaces.cli.result import to_json

        rows: list[dict[str, Any]] = [
            {"name": one.name, "agent": one.agent, "left": list(one.left), "secrets": list(one.secrets)}
            for one in wanted
        ]
        cli.out.line(to_json({"type": "mcp_import", "servers": rows}))
        return EXIT_DONE
    if not wanted:
        cli.out.line(cli.say("mcp.import_none"))
        return EXIT_DONE
    for one in wanted:
        _show(cli, one)
    if not yes:
        from gongfu.surfaces.cli.confirm import can_ask, confirm

        if not can_ask(cli):
            cli.note(cli.say("mcp.import_how"))
            return EXIT_DONE
        if not confirm(cli, cli.say("mcp.import_question", count=len(wanted))):
            cli.note(cli.say("mcp.import_nothing"))
            return EXIT_DONE
    for one in wanted:
        text = json.dumps(one.entry, ensure_ascii=False)
        edit.set_value(found, f'mcp.servers."{one.name}"', text, config=config or "")
    file = show_name(str(settings_file(found, config or "")))
    cli.out.line(cli.say("mcp.imported", names=", ".join(one.name for one in wanted), file=file))
    return EXIT_DONE


def _show(cli: Cli, one: Foreign) -> None:
    entry = one.entry
    args = entry.get("args")
    words = map(str, cast("list[Any]", args) if isinstance(args, list) else [args] * (args is not None))
    target = entry.get("url") or " ".join([str(entry["command"]), *words])
    cli.out.line(f"{cli.out_style.bold(one.name)}  {cli.out_style.dim(NAMES[one.agent])}")
    cli.out.line(f"  {one_line(clean(str(target)), 200)}")
    if one.secrets:
        cli.out.line(f"  {cli.out_style.yellow(cli.say('mcp.import_secrets', names=', '.join(one.secrets)))}")
    if one.left:
        cli.out.line(f"  {cli.out_style.dim(cli.say('mcp.import_left', names=', '.join(one.left)))}")
