"""`gongfu show`: a session as it was, and what it used."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import click
import msgspec

from gongfu.surfaces.cli.cli import Cli
from gongfu.surfaces.cli.command import Command, flag
from gongfu.surfaces.cli.options import Opening, places_options

if TYPE_CHECKING:
    from gongfu.app import App
    from gongfu.core.events import AgentFinished, AgentStarted, Entry
    from gongfu.engine.state import SessionState
    from gongfu.store.sessions import SessionRow


def build(cli: Cli) -> click.Command:
    """The command."""

    def callback(**values: Any) -> int:
        return show(cli, **values)

    params: list[click.Parameter] = [
        click.Argument(["session"], required=False, metavar="[SESSION]"),
        flag(cli, "--usage"),
        flag(cli, "--compact"),
        flag(cli, "--json", "as_json", key="json"),
        flag(cli, "--redact"),
        *places_options(cli),
    ]
    return Command(cli, "show", callback, params)


def show(
    cli: Cli,
    *,
    session: str | None,
    usage: bool,
    compact: bool,
    as_json: bool,
    redact: bool,
    config: str | None,
    root: str | None,
) -> int:
    """Print one session: what was said and done, or with `usage` requests, tokens and money by purpose.

    Nothing is locked or changed: a session that another process works on can be read too. A person sees the own session
    as it is; with `redact` it is printed for others, without secrets.
    """
    from gongfu.engine.state import SessionState
    from gongfu.surfaces.cli.opening import with_app

    def read(app: App) -> tuple[SessionRow, list[Entry], Callable[[str], str] | None]:
        row = _find(app, session or "")
        return row, list(app.journal.read(row.id)), _redactor(app) if redact else None

    row, entries, without = with_app(cli, Opening(config=config or "", root=root), read)
    state = SessionState()
    for entry in entries:
        state.apply(entry.event)
    if as_json:
        from gongfu.surfaces.cli.result import to_json

        fields = _fields(row, state, whole=not usage)
        if not usage and (labels := _labels(entries)):
            fields["tool_use_summaries"] = labels
        if without:
            from gongfu.app.redacted import cleaned

            fields = cleaned(fields, without)
        cli.out.line(to_json(fields))
    elif usage:
        _print_usage(cli, state)
    else:
        _print_history(cli, row, entries, compact=compact, without=without)
    return 0


def _redactor(app: App) -> Callable[[str], str]:
    from gongfu.app.faults import redactor

    return redactor(app.options.env, app.places, app.settings)


def _find(app: App, id: str) -> SessionRow:
    from gongfu.core.errors import UserError

    if id:
        return app.rows.get(id)
    row = app.rows.latest(str(app.workspace.root))
    if row is None:
        raise UserError("app.no_session_here", root=str(app.workspace.root))
    return row


def _fields(row: SessionRow, state: SessionState, *, whole: bool) -> dict[str, Any]:
    from gongfu.surfaces.cli.result import purposes
    from gongfu.surfaces.cli.sessions import row_fields

    fields: dict[str, Any] = {"type": "session", **row_fields(row), "usage": purposes(state.usage)}
    if state.agents:
        fields["agents"] = [_agent_fields(started, state.reports.get(name)) for name, started in state.agents.items()]
    if whole:
        fields["messages"] = msgspec.to_builtins(list(state.transcript.messages))
    return fields


def _agent_fields(started: AgentStarted, finished: AgentFinished | None) -> dict[str, Any]:
    from gongfu.surfaces.cli.result import usage_fields

    fields = {name: getattr(started, name) for name in ("agent", "session", "call", "task", "role", "background")}
    if finished is None:
        return {**fields, "status": "running"}
    usage = {"requests": finished.requests, **usage_fields(finished.usage), "cost": finished.cost}
    return {**fields, "status": finished.status, "calls": finished.calls, "usage": usage}


def _print_usage(cli: Cli, state: SessionState) -> None:
    from gongfu.surfaces.cli.render.numbers import money
    from gongfu.surfaces.cli.render.table import table

    names = ("purpose", "requests", "input", "cached", "output", "reasoning", "cost")
    rows = [[cli.say(f"head_{name}") for name in names]]
    for purpose, line in state.usage.items():
        used = line.usage
        figures = (line.requests, used.input, used.cached, used.output, used.reasoning)
        cost = money(line.cost) if line.cost is not None else cli.say("unknown")
        rows.append([purpose, *(f"{figure:,}" for figure in figures), cost])
    columns = cli.size()[0] if cli.out.tty else 0
    shown = table(rows, columns=columns, right=(1, 2, 3, 4, 5, 6), spare=(5, 3, 1, 4, 2))
    cli.out.line("\n".join([cli.out_style.dim(shown[0]), *shown[1:]]))


def _labels(entries: list[Entry]) -> list[dict[str, Any]]:
    from gongfu.surfaces.cli.render.groups import labels_of
    from gongfu.surfaces.cli.result import label_fields

    return [label_fields(label) for label in labels_of(entries).values()]


def _print_history(
    cli: Cli, row: SessionRow, entries: list[Entry], *, compact: bool, without: Callable[[str], str] | None
) -> None:
    from gongfu.surfaces.cli.render.history import History
    from gongfu.surfaces.cli.render.lines import Lines

    columns, _ = cli.size()
    pretty = cli.out.tty and not cli.dumb
    lines = Lines(style=cli.out_style, speech=cli.say, verbose=cli.verbose, columns=columns if pretty else 0)

    def markdown(text: str) -> str:
        if not pretty:
            return text
        from gongfu.surfaces.cli.render.markdown import draw

        return draw(text, columns, color=cli.out_style.color)

    if without:
        from gongfu.app.redacted import cleaned_struct

        entries = [msgspec.structs.replace(e, event=cleaned_struct(e.event, without)) for e in entries]
    cli.out.line(cli.out_style.dim(f"{row.id}  {row.directory}"))
    if row.parent:
        cli.out.line(cli.out_style.dim(cli.say("agents.parent", session=row.parent)))
    for block in History(lines, markdown, compact=compact).blocks(entries):
        cli.out.write(without(block) if without else block, flush=False)
    cli.out.flush()
