"""`gongfu tools run`: one call of one tool, with permissions, checkpoint and hooks as when a model makes it."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, cast

import anyio

from gongfu.core.errors import EXIT_DONE, EXIT_FAILED, EXIT_INTERRUPTED, EXIT_REFUSED, UsageError, UserError
from gongfu.core.events import QuestionAsked, ToolFinished, ToolOutput, TurnFinished
from gongfu.store.sessions import BY_HAND
from gongfu.surfaces.cli.cli import Cli
from gongfu.surfaces.cli.drive import Signals, end_now
from gongfu.surfaces.cli.opening import opened, run_async
from gongfu.surfaces.cli.options import Opening
from gongfu.surfaces.cli.style import clean, one_line
from gongfu.surfaces.cli.tools import find

if TYPE_CHECKING:
    from gongfu.app import App, Session
    from gongfu.app.inventory import Entry

_EXITS = {"done": EXIT_DONE, "failed": EXIT_FAILED, "refused": EXIT_REFUSED, "cancelled": EXIT_INTERRUPTED}


def run_one(cli: Cli, name: str, values: Sequence[str], as_json: bool, arguments: str | None, opening: Opening) -> int:
    """Run a tool; its result goes to standard output. The exit code says how it ended.

    UsageError for a tool that there is not, and for arguments that are no JSON object or are given twice.
    """
    if not as_json and not opening.yes and (cli.out.tty or cli.err.tty):
        from gongfu.surfaces.cli.ask import somebody

        cli.person = somebody(cli)
    if cli.person is not None:
        from msgspec.structs import replace

        opening = replace(opening, answers="ask")

    async def work() -> ToolFinished | None:
        with Signals(lambda: end_now(cli.mark)) as signals:
            async with opened(cli, opening) as app:
                from gongfu.app.inventory import inventory
                from gongfu.app.tool_run import app_for_call

                entry = find(await inventory(app), name)
                given = _given(cli, entry, values, arguments)
                async with app_for_call(app, name, given) as alone:
                    return await _run(cli, alone, name, signals, live=not as_json)

    finished = run_async(work)
    if finished is None:
        raise UserError("engine.cancelled", exit_code=EXIT_INTERRUPTED)
    _show(cli, finished, as_json)
    return _EXITS.get(finished.result.status, EXIT_FAILED)


def _given(cli: Cli, entry: Entry, values: Sequence[str], arguments: str | None) -> dict[str, Any]:
    given = _object(cli, arguments) if arguments is not None else {}
    known = cast("dict[str, dict[str, Any]]", entry.spec.parameters.get("properties", {}))
    for value in values:
        name, equals, text = value.partition("=")
        if not equals:
            raise UsageError("tools.no_pair", value=value, name=entry.name)
        if name in given:
            raise UsageError("tools.twice", name=name)
        given[name] = _typed(text, known.get(name, {}))
    return given


def _object(cli: Cli, text: str) -> dict[str, Any]:
    if text == "-":
        from gongfu.surfaces.cli.stdin import piped_text

        text = piped_text(cli, optional=False)
    try:
        value = cast("object", json.loads(text))
    except (ValueError, RecursionError) as error:
        raise UsageError("tools.no_json", reason=error) from error
    if not isinstance(value, dict):
        raise UsageError("tools.no_object")
    return cast("dict[str, Any]", value)


def _typed(text: str, schema: dict[str, Any]) -> Any:
    """A value as its parameter wants it: text as it is, everything else as JSON where it is some."""
    if schema.get("type") == "string":
        return text
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return text


async def _run(cli: Cli, app: App, name: str, signals: Signals, *, live: bool) -> ToolFinished | None:
    session = await app.session()
    finished: ToolFinished | None = None
    async with session.stream.subscribe() as entries, anyio.create_task_group() as tasks:

        def stop() -> None:
            tasks.start_soon(session.cancel)

        with signals.calling(stop):
            await session.prompt(f"{BY_HAND}{name}")
            async for entry in entries:
                match entry.event:
                    case QuestionAsked() if cli.person is not None:
                        tasks.start_soon(_answer, cli, session, entry.event)
                    case ToolOutput(text=text) if live and cli.err.tty:
                        cli.err.write(clean(text))
                    case ToolFinished() as event:
                        finished = event
                    case TurnFinished():
                        break
                    case _:
                        pass
            tasks.cancel_scope.cancel()
    return finished


async def _answer(cli: Cli, session: Session, question: QuestionAsked) -> None:
    assert cli.person is not None
    await session.answer(question.question, await cli.person.answer(question))


def _show(cli: Cli, finished: ToolFinished, as_json: bool) -> None:
    result = finished.result
    if as_json:
        from gongfu.surfaces.cli.result import to_json

        cli.out.line(
            to_json(
                {
                    "type": "tool_result",
                    "tool": finished.name,
                    "status": result.status,
                    "text": result.text,
                    "images": len(result.images),
                    "display": finished.display,
                    "seconds": finished.seconds,
                }
            )
        )
        return
    if result.status == "refused":
        raise UserError(_refused(finished), tool=finished.name, why=_why(cli, finished), exit_code=EXIT_REFUSED)
    cli.out.line(clean(result.text.rstrip("\n")))
    if result.images:
        cli.note(cli.say("tools.images", count=len(result.images)))


def _refused(finished: ToolFinished) -> str:
    return "tools.needs_consent" if finished.display.get("by") == "nobody" else "tools.refused"


def _why(cli: Cli, finished: ToolFinished) -> str:
    """Why the call was not let through, in the person's language where the policy says it."""
    display = finished.display
    why = str(display.get("why") or "")
    said = cli.say.told(why, {"about": clean(str(display.get("about") or ""))}) if why else finished.result.text
    return one_line(said, 500).rstrip(".。")
