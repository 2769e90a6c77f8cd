"""`gongfu` alone: what it is, what is configured and what to type."""

from __future__ import annotations

from pathlib import Path

from gongfu.config.load import Flags, load
from gongfu.config.paths import Places, places
from gongfu.config.settings import Settings
from gongfu.core.version import __version__
from gongfu.core.words import language_of
from gongfu.surfaces.cli.cli import Cli
from gongfu.surfaces.cli.speech import locale_of
from gongfu.surfaces.cli.standing import project_trusted
from gongfu.surfaces.cli.width import pad, width
from gongfu.workspace.root import find_root


def welcome(cli: Cli) -> int:
    """Print it. Nothing is sent and no server is asked. Raises ConfigError for settings that cannot be used."""
    found = places(cli.env)
    root = find_root(Path())
    flags = Flags(language=cli.wanted_language)
    trusted = project_trusted(found, root)
    settings = load(found, project=root, project_trusted=trusted, env=cli.env, flags=flags).settings
    cli.speak(language_of(settings.language, locale_of(cli.env)))
    say, style = cli.say, cli.out_style
    rows = [
        (say("welcome_folder"), str(root)),
        (say("welcome_model"), _model(cli, settings, found)),
        (say("welcome_settings"), str(found.config) if found.config.is_file() else say("welcome_no_settings")),
    ]
    cli.out.line(f"{style.bold('Gongfu')} {__version__} · {say('welcome_what')}\n")
    from gongfu.surfaces.cli.render.table import table

    cli.out.line("\n".join(f"  {line}" for line in table(rows)))
    examples = [(command.format(say(f"welcome_say_{name}")), say(f"welcome_{name}")) for name, command in _EXAMPLES]
    longest = max(width(command) for command, _ in examples)
    cli.out.line("\n" + "\n".join(f"  {style.cyan(pad(command, longest))}  {what}" for command, what in examples))
    return 0


_EXAMPLES = (
    ("task", 'gongfu "{}"'),
    ("continue", 'gongfu -c "{}"'),
    ("pipe", 'git diff | gongfu "{}"'),
    ("doctor", "gongfu {}"),
    ("help", "gongfu {}"),
)


def _model(cli: Cli, settings: Settings, found: Places) -> str:
    """The model that would be used, as far as can be told without asking anybody."""
    if settings.models.main:
        return ", ".join(settings.models.main)
    from gongfu.models.keys import find_key
    from gongfu.models.known import CLOUD, model_in

    for provider in CLOUD:
        key = find_key(provider.name, settings.providers.get(provider.name), cli.env, found, keyring=False)
        if key:
            return cli.say("welcome_key", ref=f"{provider.name}/{model_in(cli.env, provider)}", place=key.place)
    return cli.say("welcome_no_model")
