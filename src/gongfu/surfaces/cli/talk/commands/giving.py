"""What leaves the conversation: the session as a file, the last answer to the clipboard."""

from __future__ import annotations

import base64
import os
import shlex
import shutil
import sys
from collections.abc import Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING

from anyio import to_thread

from gongfu.core.errors import UserError
from gongfu.surfaces.cli.talk.commands.paper import apart
from gongfu.surfaces.cli.talk.face import Option, Pick

if TYPE_CHECKING:
    from gongfu.app import App
    from gongfu.app.export.talk import Talk as Exportable
    from gongfu.surfaces.cli.talk.talk import Talk

_FORMATS = ("markdown", "html", "json", "pdf")
_SUFFIXES = {"markdown": "md", "html": "html", "json": "json", "pdf": "pdf"}
_MOST = 74_994  # bytes that terminals take in one OSC 52


# --- /export ---


async def export(talk: Talk, args: str) -> None:
    """Write the session to a file; one that is there is replaced only when the person says so."""
    from gongfu.app.export.export import export_talk, read_talk
    from gongfu.surfaces.cli.export import folder_of, format_of, free_name, size_of, write
    from gongfu.workspace.names import show_name

    session, say = talk.session, talk.cli.say
    if session.state.created is None:
        raise UserError("talk_tell.nothing_said")
    wanted, file = _split(args)
    kind = format_of(wanted or None, file or None)
    folder = talk.app.workspace.directory
    target = folder / _at_home(file) if file else None

    def read(app: App) -> Exportable:
        return read_talk(app, session.id)

    found = await apart(talk, read)
    if target is None:
        target = await to_thread.run_sync(free_name, session.title, _SUFFIXES[kind], folder)
    elif target.is_dir():
        target = await to_thread.run_sync(free_name, session.title, _SUFFIXES[kind], target)
    language = talk.cli.say.language
    beside = folder_of(target)
    made = await export_talk(found, kind, language=language, env=talk.app.options.env, folder=beside)
    there = target if target.exists() else target.parent / beside if made.beside else None
    if there is not None and there.exists() and not await _replace(talk, show_name(str(there))):
        talk.note(say("talk_tell.unchanged"))
        return
    await to_thread.run_sync(write, target, made)
    talk.note(say("export.written", path=show_name(str(target)), size=size_of(len(made.data))))


def complete_export(talk: Talk, args: str) -> Sequence[Option]:
    """The formats."""
    del talk, args
    return tuple(Option(value=name, label=name) for name in _FORMATS)


def _split(args: str) -> tuple[str, str]:
    """The format ("" for none) and the file."""
    first, _, rest = args.partition(" ")
    if first.lower() in _FORMATS:
        return first.lower(), _unquoted(rest.strip())
    return "", _unquoted(args)


def _unquoted(text: str) -> str:
    try:
        words = shlex.split(text)
    except ValueError:
        return text
    return words[0] if len(words) == 1 and os.sep != "\\" else text


def _at_home(file: str) -> str:
    return os.path.expanduser(file)  # noqa: PTH111 - its answer is joined to the folder


async def _replace(talk: Talk, path: str) -> bool:
    say = talk.cli.say
    options = (
        Option(value="no", label=say("talk_tell.keep_file"), key="n"),
        Option(value="yes", label=say("talk_tell.replace_file"), key="y"),
    )
    picked = await talk.face.pick(Pick(title=say("talk_tell.file_exists", path=path), options=options))
    return picked is not None and picked.value == "yes"


# --- /copy ---


async def copy(talk: Talk, args: str) -> None:
    """The last answer as Markdown: to the clipboard of the system where it has one, and to the terminal's."""
    del args
    say = talk.cli.say
    answers = (m.text for m in reversed(talk.session.state.transcript.messages) if m.role == "assistant")
    text = next((text for text in answers if text.strip()), "")
    if not text:
        talk.note(say("talk_tell.copy_nothing"))
        return
    data = text.encode("utf-8", "replace")
    ways: list[str] = []
    problem = ""
    try:
        if by := await to_thread.run_sync(partial(_to_system, data, talk.cli.env)):
            ways.append(by)
    except UserError as error:
        problem = say.told(error.key, error.values)
    if talk.face.drawn and len(data) <= _MOST and "tmux" not in ways:  # that hands it on itself
        sequence = f"\x1b]52;c;{base64.b64encode(data).decode()}\x07"
        await talk.face.outside(partial(talk.cli.out.write, sequence))
        ways.append(say("talk_tell.copy_terminal"))
    if not ways:
        talk.note(problem or say("talk_tell.copy_no_way"))
        return
    talk.note(say("talk_tell.copied", count=len(text), ways=say("permissions.and").join(ways)))


def _to_system(data: bytes, env: Mapping[str, str]) -> str:
    """Hand the text to a program that is there for it; its name, "" for none. UserError when it does not take it."""
    from gongfu.workspace.screen.clips import use_clipboard
    from gongfu.workspace.screen.orders import ScreenProblem, UseClipboard
    from gongfu.workspace.screen.programs import call

    try:
        if env.get("TMUX") and shutil.which("tmux"):
            call("tmux", "load-buffer", "-w", "-", stdin=data)
            return "tmux"
        far = env.get("SSH_CONNECTION") or env.get("SSH_TTY")  # the clipboard there is not the person's
        screen = sys.platform in ("darwin", "win32") or env.get("DISPLAY") or env.get("WAYLAND_DISPLAY")
        if far or not screen:
            return ""
        return use_clipboard(UseClipboard(text=data.decode())).by
    except ScreenProblem as problem:
        raise UserError("talk_tell.copy_failed", why=str(problem)) from problem
