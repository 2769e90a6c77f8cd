"""A line that starts with a slash: a command of the conversation, or a prompt that a file or a server makes."""

from __future__ import annotations

from difflib import get_close_matches
from typing import TYPE_CHECKING

from gongfu.plugins.commands import is_command
from gongfu.surfaces.cli.style import one_line
from gongfu.surfaces.cli.talk.commands.catalog import SLASHES, run_of, slash_of
from gongfu.surfaces.cli.width import clip

if TYPE_CHECKING:
    from gongfu.surfaces.cli.talk.face import Typed
    from gongfu.surfaces.cli.talk.talk import Talk


_ELSEWHERE = {
    "approvals": "permission", "bashes": "jobs", "checkpoint": "rewind", "effort": "think", "login": "model",
    "memory": "rules", "new-session": "clear", "output-style": "view", "ps": "jobs", "reset": "clear",
    "restore": "rewind", "sandbox": "permission", "shortcuts": "keys", "stats": "cost", "tasks": "agents",
    "terminal-setup": "keys", "theme": "view", "thinking": "think", "tokens": "context", "tree": "agents",
}  # fmt: skip
"""How people who come from elsewhere may call what is here."""


async def slashed(talk: Talk, text: str, typed: Typed) -> None:
    """Run it. What is no command is told and laid back into the input; a path is a prompt like any other."""
    name, _, args = text[1:].partition(" ")
    found = slash_of(name) if name else None
    if found is None:
        await _prompt(talk, name, args, typed)
        return
    known, slash = found
    if not slash.beside and talk.session.running:
        talk.note(talk.cli.say("talk.busy", name=known))
        talk.face.put(typed.shown or typed.text)
        return
    if talk.face.drawn:  # else it stands where it was typed
        talk.face.show("\n" + talk.cli.out_style.dim(clip(f"› {one_line(text)}", talk.face.size[0] - 1)))
        talk.view.aside()
    await run_of(known, slash)(talk, args.strip())


async def _prompt(talk: Talk, name: str, args: str, typed: Typed) -> None:
    if ":" in name:
        from gongfu.surfaces.cli.talk.commands.custom import run_prompt  # only for prompts of servers

        if await run_prompt(talk, name, args, typed):
            return
    files = talk.app.command_files.found()
    if name.lower() not in files and is_command(f"/{name}") and not _is_path(name):
        _unknown(talk, name, typed, [*files])
        return
    await talk.send(typed)


def _unknown(talk: Talk, name: str, typed: Typed, files: list[str]) -> None:
    aliases = (alias for one in SLASHES.values() for alias in one.aliases)
    elsewhere = _ELSEWHERE.get(name.lower())
    close = [elsewhere] if elsewhere else get_close_matches(name.lower(), [*SLASHES, *aliases, *files], 1, 0.7)
    key = "talk.unknown_command_but" if close else "talk.unknown_command"
    talk.note(talk.cli.say(key, name=one_line(name, 60), close=close[0] if close else ""))
    talk.face.put(typed.shown or typed.text)


def _is_path(name: str) -> bool:
    import os

    return os.path.lexists(f"/{name.partition('/')[0]}")
