"""What `gongfu init` does: find what there is, let the person choose, write it down."""

from __future__ import annotations

from pathlib import Path

from gongfu.app import open as open_app
from gongfu.config import edit
from gongfu.config.document import dotted
from gongfu.config.importer import Imported, import_file
from gongfu.config.load import Flags, load, settings_file
from gongfu.config.paths import Places, places
from gongfu.core.errors import UsageError, UserError
from gongfu.models.known import CLOUD, known
from gongfu.models.local.download import is_pulled
from gongfu.models.local.models import find_model
from gongfu.models.refs import resolve
from gongfu.surfaces.cli.cli import Cli
from gongfu.surfaces.cli.confirm import ask_line, can_ask, confirm
from gongfu.surfaces.cli.keyfile import write_key
from gongfu.surfaces.cli.model_ways import (
    Candidate,
    Way,
    address_of,
    check,
    find_models,
    free_name,
    keep,
    tell_of_servers,
    ways,
)
from gongfu.surfaces.cli.opening import run_async

_NO_KEYS = ("YOUR_API_KEY", "EMPTY", "none", "null")


def set_up(cli: Cli, *, source: str, model: str, yes: bool, config: str) -> int:
    """Write the settings: those of `source` taken over, `model` as named, or what the person chooses.

    With `yes` or without a terminal the first model that was found is taken. Raises UsageError when there is none.
    """
    found = places(cli.env)
    if source:
        _take_over(cli, found, import_file(Path(source).expanduser()), config)
    elif model:
        _known(found, model, cli)
        _set(cli, found, "models.main", model, config)
    else:
        _choose(cli, found, run_async(lambda: ways(cli, found)), yes=yes, config=config)
    _check(cli, config)
    tell_of_servers(cli, found, config)
    return 0


def _known(found: Places, model: str, cli: Cli) -> None:
    """UsageError for a model that no provider can have, before it is written down."""
    settings = load(found, project=None, project_trusted=False, env=cli.env, flags=Flags()).settings
    for ref in model.strip("[] ").split(","):
        if not ref.strip().startswith("scripted:"):
            resolve(ref.strip("\"' "), settings, cli.env)


def _set(cli: Cli, found: Places, name: str, value: str, config: str) -> None:
    path = edit.set_value(found, name, value, config=config)
    cli.note(cli.say("setup.set", name=name, path=path))


def _take_over(cli: Cli, found: Places, imported: Imported, config: str) -> None:
    """Set what another agent's file says; its keys go into the key file, not into the settings."""
    for path, value in imported.settings():
        if path[-1] != "api_key" or value.startswith("${"):
            _set(cli, found, dotted(path), value, config)
        elif value not in _NO_KEYS:
            write_key(found, str(path[1]), value)
            cli.note(cli.say("setup.key_written", provider=path[1], path=found.keys))
    for name in imported.not_taken:
        cli.note(cli.say("setup.not_taken", name=name))


def _choose(cli: Cli, found: Places, choices: list[Way], *, yes: bool, config: str) -> None:
    say = cli.say
    if yes or not can_ask(cli):
        if not choices:
            raise UsageError("setup.init_nothing")
        _set(cli, found, "models.main", choices[0].ref, config)
        return
    offered = [*choices, Way(ref="", text=say("setup.choice_other"))]
    if not is_pulled(found):
        offered.append(Way(ref="pull", text=say("setup.choice_pull", title=find_model("").title)))
    cli.err.line(say("setup.init_which"))
    for number, choice in enumerate(offered, 1):
        cli.err.line(f"  {number}. {choice.text}")
    chosen = _picked(cli, offered)
    if chosen.ref == "pull":
        from gongfu.surfaces.cli.model_pull import fetch

        fetch(cli, found, find_model(""))
        _set(cli, found, "models.main", "local", config)
    elif chosen.ref:
        _set(cli, found, "models.main", chosen.ref, config)
    else:
        _another(cli, found, config)


def _picked(cli: Cli, offered: list[Way]) -> Way:
    while True:
        line = ask_line(cli, "1 > ")
        if line is None:
            raise UsageError("cli.not_confirmed")
        text = line.strip() or "1"
        if text.isdecimal() and 0 < int(text) <= len(offered):
            return offered[int(text) - 1]


def _another(cli: Cli, found: Places, config: str) -> None:
    """A provider by name or address, its key and its model; checked, and written down when it works or all the same."""
    place = _answer(cli, "setup.ask_provider", ", ".join(provider.name for provider in CLOUD))
    builtin = known(place)
    if builtin is None and "://" not in place:
        raise UsageError("setup.no_address", text=place)
    base_url = "" if builtin else address_of(place)
    name = builtin.name if builtin else free_name(cli, found, base_url, config)
    usual = builtin.model if builtin else ""
    key = _secret(cli, name)
    model = _answer(cli, "setup.ask_model", usual) or usual
    candidate = Candidate(provider=name, model=model, key=key, base_url=base_url)
    try:
        candidate = run_async(lambda: _checked(cli, found, candidate))
    except UserError as error:
        cli.complain(cli.say.told(error.key, error.values))
        if not confirm(cli, cli.say("setup.first_keep")):
            raise UsageError("cli.not_confirmed") from error
    keep(found, candidate, config)
    if key:
        cli.note(cli.say("setup.key_written", provider=name, path=found.keys))
    cli.note(cli.say("setup.set", name="models.main", path=settings_file(found, config)))


async def _checked(cli: Cli, found: Places, candidate: Candidate) -> Candidate:
    candidate, listed = await find_models(cli, found, candidate)
    await check(cli, found, candidate, listed)
    return candidate


def _answer(cli: Cli, question: str, hint: str) -> str:
    line = ask_line(cli, cli.say(question, hint=hint) + " ")
    if line is None:
        raise UsageError("cli.not_confirmed")
    return line.strip()


def _secret(cli: Cli, name: str) -> str:
    """A key, typed without being shown; "" when none is needed."""
    from getpass import getpass

    return getpass(cli.say("setup.ask_key", provider=name) + " ").strip()


def _check(cli: Cli, config: str) -> None:
    """Say what a run would use now. Raises the error that it would meet."""

    async def work() -> str:
        async with open_app(env=cli.env, config=config, root=Path()) as app:
            return (await app.router.chain("main"))[0].info.ref

    ref = run_async(work)
    cli.out.line(cli.say("setup.init_done", ref=ref))
