"""`gongfu tools`: what there is, what each takes, what is missing, and running one."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from gongfu.core.errors import UsageError
from gongfu.surfaces.cli.cli import Cli
from gongfu.surfaces.cli.command import Command, Group, flag, option
from gongfu.surfaces.cli.options import Opening, opening_of, places_options, run_options
from gongfu.surfaces.cli.style import clean, one_line

if TYPE_CHECKING:
    from gongfu.app.inventory import Entry


def build(cli: Cli) -> click.Command:
    """The command and its subcommands."""
    where = places_options(cli)
    as_json = flag(cli, "--json", "as_json", key="json")
    listed: list[click.Parameter] = [click.Argument(["words"], nargs=-1, metavar="[WORDS]"), as_json, *where]

    def alone(**values: Any) -> int:
        return show_list(cli, words=(), **values)

    def by_words(**values: Any) -> int:
        return show_list(cli, **values)

    def one(**values: Any) -> int:
        return show_one(cli, **values)

    def run(**values: Any) -> int:
        from gongfu.surfaces.cli.tools_run import run_one  # the whole engine comes with it

        return run_one(cli, values.pop("name"), values.pop("values"), values.pop("as_json"), values.pop("arguments"),
                       opening_of(values, answers="no"))  # fmt: skip

    def check(**values: Any) -> int:
        return doctor(cli, **values)

    name = click.Argument(["name"], metavar="NAME")
    return Group(
        cli,
        "tools",
        {
            "list": lambda: Command(cli, "list", by_words, listed, key="tools_list"),
            "show": lambda: Command(cli, "show", one, [name, as_json, *where], key="tools_show"),
            "run": lambda: Command(cli, "run", run, _run_params(cli), key="tools_run"),
            "doctor": lambda: Command(cli, "doctor", check, [as_json, *where], key="tools_doctor"),
        },
        [as_json, *where],
        alone=alone,
    )


def _run_params(cli: Cli) -> list[click.Parameter]:
    return [
        click.Argument(["name"], metavar="NAME"),
        click.Argument(["values"], nargs=-1, metavar="[PARAMETER=VALUE]..."),
        option(cli, "--arguments", metavar="JSON", key="tool_arguments"),
        flag(cli, "--json", "as_json", key="json"),
        *(p for p in run_options(cli) if p.name not in ("model", "max_cost", "max_steps")),
    ]


def entries_of(cli: Cli, config: str | None, root: str | None) -> list[Entry]:
    """All tools of a session here, family by family."""
    from gongfu.surfaces.cli.opening import opened, run_async

    async def work() -> list[Entry]:
        from gongfu.app.inventory import inventory

        async with opened(cli, Opening(config=config or "", root=root)) as app:
            return await inventory(app)

    return run_async(work)


def show_list(cli: Cli, *, words: tuple[str, ...], as_json: bool, config: str | None, root: str | None) -> int:
    """One line a tool, family by family; with `words` those that serve a need, best first."""
    entries = entries_of(cli, config, root)
    if words:
        from gongfu.app.inventory import best

        entries = best(entries, " ".join(words))
    if as_json:
        from gongfu.surfaces.cli.result import to_json

        cli.out.line(to_json({"type": "tools", "tools": [fields(entry) for entry in entries]}))
        return 0
    if not entries:
        cli.out.line(cli.say("tools.none_fits"))
        return 0
    from gongfu.surfaces.cli.width import pad, width

    longest = max(width(entry.name) for entry in entries)
    family = ""
    for entry in entries:
        if entry.family != family and not words:
            family = entry.family
            cli.out.line(cli.out_style.bold(cli.say(f"tools.family_{family}") if entry.known else family))
        mark = "●" if entry.core else "✗" if entry.lacks else " "
        cli.out.line(f"{mark} {pad(entry.name, longest)}  {_brief(cli, entry)}")
    lacking = sum(bool(entry.lacks) for entry in entries)
    cli.note(cli.say("tools.counts", count=len(entries), core=sum(entry.core for entry in entries), lacking=lacking))
    return 0


def _brief(cli: Cli, entry: Entry) -> str:
    """What a tool does, cut to the row of a terminal."""
    text = one_line(clean(told(cli, entry)))
    if not cli.out.tty:
        return text
    from gongfu.surfaces.cli.width import clip

    return clip(text, max(20, cli.size()[0] - 24))


def told(cli: Cli, entry: Entry) -> str:
    """What a tool does, in the person's language where that is known: its first sentence."""
    if cli.say.language == "zh" and entry.spec.zh:
        return entry.spec.zh
    return first_sentence(entry.spec.description)


def first_sentence(text: str) -> str:
    """The text up to its first full stop before a space."""
    at = text.find(". ")
    return text if at < 0 else text[: at + 1]


def fields(entry: Entry) -> dict[str, Any]:
    """A tool as JSON."""
    return {
        "name": entry.name,
        "family": entry.family,
        "core": entry.core,
        "description": entry.spec.description,
        "zh": entry.spec.zh,
        "access": list(entry.spec.access),
        "available": not entry.lacks,
        "lacks": entry.lacks,
        "install": entry.install,
        "parameters": entry.spec.parameters,
    }


def find(entries: list[Entry], name: str) -> Entry:
    """The tool of that name. UsageError with the nearest one when there is none."""
    found = next((entry for entry in entries if entry.name == name), None)
    if found is not None:
        return found
    from difflib import get_close_matches

    near = get_close_matches(name, [entry.name for entry in entries], n=1, cutoff=0.5)
    raise UsageError("tools.unknown_near", name=name, near=near[0]) if near else UsageError("tools.unknown", name=name)


def show_one(cli: Cli, *, name: str, as_json: bool, config: str | None, root: str | None) -> int:
    """What a tool does, its parameters, what it touches and what it needs."""
    entry = find(entries_of(cli, config, root), name)
    if as_json:
        from gongfu.surfaces.cli.result import to_json

        cli.out.line(to_json({"type": "tool", **fields(entry)}))
        return 0
    from gongfu.surfaces.cli.tools_page import page

    for line in page(cli, entry):
        cli.out.line(line)
    return 0


def doctor(cli: Cli, *, as_json: bool, config: str | None, root: str | None) -> int:
    """What is missing, for which tools, and the one command that brings it."""
    entries = entries_of(cli, config, root)
    lacking: dict[tuple[str, str], list[str]] = {}
    for entry in entries:
        if entry.lacks:
            lacking.setdefault((entry.lacks, entry.install), []).append(entry.name)
    works = sum(not entry.lacks for entry in entries)
    if as_json:
        from gongfu.surfaces.cli.result import to_json

        rows = [{"lacks": what, "install": how, "tools": names} for (what, how), names in lacking.items()]
        cli.out.line(to_json({"type": "tools_doctor", "tools": len(entries), "works": works, "missing": rows}))
        return 0
    from gongfu.surfaces.cli.tools_page import lacking as told_lacking

    for (what, how), names in lacking.items():
        said = cli.say("tools.lacks", what=told_lacking(cli, what), tools=", ".join(names))
        cli.out.line(f"{cli.out_style.yellow('!')} {said}")
        if how:
            cli.out.line(f"    {cli.out_style.cyan(how)}")
    cli.out.line(cli.say("tools.works", works=works, count=len(entries)))
    return 0
