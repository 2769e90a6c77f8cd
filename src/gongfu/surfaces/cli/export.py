"""`gongfu export`: a session as Markdown, HTML, JSON or PDF."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import click

from gongfu.core.base import Base
from gongfu.core.errors import ToolFailure, UsageError, UserError
from gongfu.surfaces.cli.cli import Cli
from gongfu.surfaces.cli.command import Choice, Command, flag, option
from gongfu.surfaces.cli.options import Opening, places_options

if TYPE_CHECKING:
    from gongfu.app.export.export import Exported, Format


class Taken(Base, frozen=True):
    """What is taken of a session, and where it is looked for."""

    opening: Opening
    last: bool = False
    everything: bool = False
    redact: bool = False


def build(cli: Cli) -> click.Command:
    """The command."""

    def callback(*, session: str | None, output: str | None, wanted: str | None, force: bool, **values: Any) -> int:
        where = Opening(config=values.pop("config") or "", root=values.pop("root"))
        return export(cli, session or "", output, wanted, force, Taken(opening=where, **values))

    params: list[click.Parameter] = [
        click.Argument(["session"], required=False, metavar="[SESSION]"),
        option(cli, "-f", "--format", "wanted", type=Choice(["markdown", "html", "json", "pdf"]), key="export_format"),
        option(cli, "-o", "--output", metavar="FILE", key="export_output"),
        flag(cli, "--last", key="export_last"),
        flag(cli, "--everything", key="export_everything"),
        flag(cli, "--redact"),
        flag(cli, "--force", key="export_force"),
        *places_options(cli),
    ]
    return Command(cli, "export", callback, params)


def export(cli: Cli, session: str, output: str | None, wanted: str | None, force: bool, how: Taken) -> int:
    """Write a session to a file, or to standard output where no file is named and the format is text.

    An existing file is left alone unless `force`. UserError when it cannot be made or written.
    """
    from gongfu.surfaces.cli.opening import opened, run_async

    kind = format_of(wanted, output)
    target = Path(output).expanduser() if output and output != "-" else None
    if target is not None and target.exists() and not force:
        raise UserError("export.exists", path=target)

    async def work() -> Exported:
        from gongfu.app.export.export import export_talk, read_talk

        async with opened(cli, how.opening) as app:
            talk = read_talk(app, session, last=how.last, everything=how.everything, redact=how.redact)
            folder = folder_of(target) if target is not None else ""
            return await export_talk(talk, kind, language=app.language, env=app.options.env, folder=folder)

    made = run_async(work)
    if target is None and kind != "pdf":
        cli.out.write(made.data.decode("utf-8"))
        return 0
    place = target or free_name(made.title, "pdf")
    if target is not None and made.beside and not force and (beside := target.parent / folder_of(target)).exists():
        raise UserError("export.exists", path=beside)
    write(place, made)
    cli.note(cli.say("export.written", path=place, size=size_of(len(made.data))))
    return 0


def folder_of(target: Path) -> str:
    """The name of the folder beside a Markdown file that its pictures go into."""
    return f"{target.stem}-images"


def format_of(wanted: str | None, output: str | None) -> Format:
    """The format that is named, or that a file's name tells; Markdown for neither. UsageError for another suffix."""
    from gongfu.app.export.export import SUFFIXES

    if wanted:
        return cast("Format", wanted)
    if not output or output == "-":
        return "markdown"
    found = SUFFIXES.get(Path(output).suffix.lower())
    if found is None:
        raise UsageError("export.suffix", path=output)
    return found


def free_name(title: str, suffix: str, folder: Path | None = None) -> Path:
    """A name for an export in `folder` (default: the current one) that no file has."""
    stem = re.sub(r"[^\w-]+", "-", title).strip("-")[:60] or "session"
    names = (f"{stem}{f'-{number}' if number > 1 else ''}.{suffix}" for number in range(1, 10_000))
    return next(path for name in names if not (path := (folder or Path()) / name).exists())


def write(place: Path, made: Exported) -> None:
    """Write an export with what goes beside it. UserError when that cannot be done."""
    from gongfu.workspace.writing import write_atomic

    try:
        place.parent.mkdir(parents=True, exist_ok=True)
        for name, data in made.beside.items():
            file = place.parent / name
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_bytes(data)
        write_atomic(place.resolve(), made.data)
    except OSError as error:
        raise UserError("export.not_written", path=place, reason=error.strerror or error) from error
    except ToolFailure as failure:  # a device, or a link that leads elsewhere by now
        raise UserError("export.not_written", path=place, reason=str(failure).rstrip(".")) from failure


def size_of(count: int) -> str:
    """A size for people."""
    return f"{count / 1_000_000:.1f} MB" if count >= 1_000_000 else f"{count / 1000:.1f} kB"
