"""How Gongfu looks and speaks, its settings, and whether everything works."""

from __future__ import annotations

import copy
from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

from anyio import to_thread

from gongfu.core.errors import UsageError
from gongfu.surfaces.cli.output import Output
from gongfu.surfaces.cli.style import one_line
from gongfu.surfaces.cli.talk.commands.paper import columns_of, facts, give, wrapped
from gongfu.surfaces.cli.talk.face import Option

if TYPE_CHECKING:
    from gongfu.config.load import Loaded
    from gongfu.surfaces.cli.checks import Check
    from gongfu.surfaces.cli.talk.talk import Talk

_VIEWS = ("full", "compact")
_LANGUAGES = {"en": "English", "zh": "简体中文"}
_NOW = {"models.main": "/model", "permission.mode": "/permission", "language": "/language"}


async def view(talk: Talk, args: str) -> None:
    """The full view or the compact one; without a word the other one."""
    wanted = args or _VIEWS[not talk.view.compact]
    if wanted not in _VIEWS:
        raise UsageError("talk_tell.unknown_word", given=one_line(args, 40), known=", ".join(_VIEWS))
    talk.view.set_view(compact=wanted == "compact")
    talk.note(talk.cli.say(f"talk_tell.view_{wanted}"))
    talk.face.wake()


def complete_view(talk: Talk, args: str) -> Sequence[Option]:
    """Both views."""
    del args
    return tuple(Option(value=name, label=name, detail=talk.cli.say(f"talk_tell.view_{name}")) for name in _VIEWS)


async def verbose(talk: Talk, args: str) -> None:
    """Show details, or no longer."""
    del args
    talk.view.set_view(verbose=not talk.view.verbose)
    talk.note(talk.cli.say(f"talk_tell.verbose_{'on' if talk.view.verbose else 'off'}"))
    talk.face.wake()


async def language(talk: Talk, args: str) -> None:
    """Speak a language from now on; without a word the other one."""
    wanted = args.lower() or ("en" if talk.cli.say.language == "zh" else "zh")
    if wanted not in ("en", "zh"):
        raise UsageError("talk_tell.unknown_word", given=one_line(args, 40), known=", ".join(_LANGUAGES))
    talk.cli.speak(wanted)
    talk.view.set_view()  # it draws with the new words
    talk.note(talk.cli.say("talk_tell.language_now"))
    talk.face.wake()


def complete_language(talk: Talk, args: str) -> Sequence[Option]:
    """Both languages."""
    del talk, args
    return tuple(Option(value=name, label=name, detail=detail) for name, detail in _LANGUAGES.items())


# --- /settings ---


async def settings(talk: Talk, args: str) -> None:
    """What is set and where; one setting; or another value for it."""
    name, _, value = args.partition(" ")
    if not name:
        await _list(talk)
    elif not value.strip():
        await _get(talk, name)
    else:
        await _set(talk, name, value.strip())


def complete_settings(talk: Talk, args: str) -> Sequence[Option]:
    """The names of the settings."""
    if " " in args:
        return ()
    from gongfu.core.words.settings import TEXT

    at = talk.cli.say.language == "zh"
    plain = {name: text for name, text in TEXT.items() if not name.startswith("docs_") and "NAME" not in name}
    leaves = (name for name in plain if not any(other.startswith(f"{name}.") for other in plain))
    return tuple(Option(value=name, label=name, detail=one_line(plain[name][at], 80)) for name in leaves)


def _load(talk: Talk) -> Loaded:
    from gongfu.config.load import Flags, load

    app = talk.app
    flags = Flags(language=talk.cli.wanted_language)
    return load(
        app.places, project=app.workspace.root, project_trusted=app.options.trusted, env=app.options.env, flags=flags,
        name=talk.opening.config,
    )  # fmt: skip


async def _list(talk: Talk) -> None:
    from gongfu.config.load import settings_file
    from gongfu.surfaces.cli.render.table import table
    from gongfu.surfaces.cli.settings import rows_of
    from gongfu.workspace.names import show_name

    say, style = talk.cli.say, talk.cli.out_style
    loaded = await to_thread.run_sync(_load, talk)
    rows = rows_of(talk.cli, loaded)
    file = show_name(str(settings_file(talk.app.places, talk.opening.config)))
    if not rows:
        talk.note(say("setup.nothing_set", path=file))
        return
    lines = table([(name, value) for name, value, _ in rows], columns=columns_of(talk) - 1)
    how = wrapped(talk, say("talk_tell.settings_how", path=file), style.dim)
    await give(talk, [*lines, "", *how])


async def _get(talk: Talk, name: str) -> None:
    from gongfu.config import edit
    from gongfu.config.document import dotted
    from gongfu.surfaces.cli.settings import shown

    say = talk.cli.say
    loaded = await to_thread.run_sync(_load, talk)
    path = edit.resolve(name)
    value: Any = edit.masked(edit.get_value(loaded.settings, name), path)
    known = dotted(path)
    try:
        about = say(f"settings.{known}")
    except KeyError:
        about = ""  # of an entry that the person named
    told = facts(
        talk,
        [
            (say("talk_tell.setting_value"), shown(value) or "-"),
            (say("talk_tell.setting_origin"), loaded.origins.get(known, say("setup.default"))),
        ],
    )
    await give(talk, [talk.cli.out_style.bold(one_line(known)), *wrapped(talk, about), *told])


async def _set(talk: Talk, name: str, value: str) -> None:
    from gongfu.config import edit
    from gongfu.config.document import dotted
    from gongfu.workspace.names import show_name

    say = talk.cli.say
    path = await to_thread.run_sync(partial(edit.set_value, talk.app.places, name, value, config=talk.opening.config))
    known = dotted(edit.resolve(name))
    lines = wrapped(talk, say("setup.set", name=one_line(known), path=show_name(str(path))))
    key = "talk_tell.setting_now" if known in _NOW else "talk_tell.setting_later"
    lines += wrapped(talk, say(key, command=_NOW.get(known, "")), talk.cli.out_style.dim)
    await give(talk, lines)


# --- /doctor ---


async def doctor(talk: Talk, args: str) -> None:
    """Check everything, with an app of its own in a thread: some of it takes seconds."""
    del args
    from gongfu.surfaces.cli.doctor import drawn

    with talk.underway(talk.cli.say("talk_tell.doctor_runs")):
        checks = await to_thread.run_sync(_checks, talk)
    await give(talk, list(drawn(talk.cli, checks, columns_of(talk))))


def _checks(talk: Talk) -> list[Check]:
    import anyio

    from gongfu.surfaces.cli.checks import run_checks

    quiet = copy.copy(talk.cli)  # it speaks to nobody, and the language of this one stays
    quiet.person, quiet.shows, quiet.err = None, None, Output(None)
    quiet.wanted_language = talk.cli.say.language
    return anyio.run(run_checks, quiet, talk.opening)
