"""A place with hooks: real programs, written into the settings of a home."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import anyio
from msgspec.structs import replace

import gongfu
from gongfu.core.events import TurnFinished
from gongfu.core.messages import Message
from gongfu.engine.session import Session
from gongfu.models.scripted import Scripted
from gongfu.models.scripted.provider import SCRIPTED

REF = "scripted/scripted"
HEAD = """\
import json, os, sys, time
event = json.load(sys.stdin)
open({log!r}, "a").write(json.dumps({{"hook": {name!r}, **event}}) + "\\n")
"""


class Place:
    """A workspace and a home whose settings name hooks. `log` has what each of them was told."""

    def __init__(self, folder: Path) -> None:
        self.home = folder / "home"
        self.work = folder / "work"
        self.home.mkdir()
        (self.work / ".git").mkdir(parents=True)
        (self.work / "a.txt").write_text("alpha\n")
        self.env = {"PATH": os.environ["PATH"], "HOME": str(folder), "MY_TOKEN": "of the person"}
        self._log = folder / "hooks.jsonl"
        self._hooks: Any = []

    def script(self, name: str, body: str = "") -> Path:
        """A program that notes what it is told and then runs `body`."""
        path = self.home / f"{name}.py"
        path.write_text(HEAD.format(log=str(self._log), name=name) + body)
        return path

    def hook(self, event: str, body: str = "", *, name: str = "", **more: Any) -> None:
        """One more hook of our own shape."""
        name = name or f"{event}{len(self._hooks)}"
        self._add({"event": event, "command": [sys.executable, "-S", str(self.script(name, body))], **more})

    def command(self, event: str, command: str | list[str], **more: Any) -> None:
        """One more hook with a command as it is."""
        self._add({"event": event, "command": command, **more})

    def _add(self, hook: dict[str, Any]) -> None:
        self._hooks.append(hook)
        self.settings(self._hooks)

    def claude(self, table: dict[str, list[tuple[str, str]]]) -> None:
        """Hooks in the shape of Claude Code: for each of its events, matchers and what is run."""
        made: dict[str, Any] = {}
        for event, entries in table.items():
            for matcher, body in entries:
                path = self.script(f"{event}{len(made)}", body)
                line = f"{sys.executable} -S {path}"
                group = {"hooks": [{"type": "command", "command": line, "timeout": 20}]}
                made.setdefault(event, []).append({"matcher": matcher, **group} if matcher else group)
        self.settings(made)

    def settings(self, hooks: Any, **more: Any) -> None:
        """Write the settings; JSON is YAML."""
        (self.home / "config.yaml").write_text(json.dumps({"hooks": hooks, **more}))

    @property
    def log(self) -> list[dict[str, Any]]:
        """What the hooks were told, in the order of their starts."""
        if not self._log.exists():
            return []
        return [json.loads(line) for line in self._log.read_text().splitlines()]

    def open(self, *steps: Any, **options: Any) -> tuple[gongfu.App, Scripted]:
        """An app that a script answers; whatever the policy would ask is allowed unless `options` say otherwise."""
        info = replace(SCRIPTED, window=options.pop("window", SCRIPTED.window), max_output=1000)
        model = Scripted(steps, info=info)
        given = {"home": self.home, "env": self.env, "permission": "full", "answers": "no"} | options
        return gongfu.open(self.work, providers={REF: model}, **given), model


async def prompt(session: Session, text: str = "Go") -> TurnFinished:
    """One turn."""
    with anyio.fail_after(30):
        return await (await session.prompt(text))


def stored(app: gongfu.App, session: Session, kind: type[Any]) -> list[Any]:
    """The durable events of one kind."""
    return [e.event for e in app.journal.read(session.id) if isinstance(e.event, kind)]


def shown(message: Message) -> str:
    """All text of a message, results among it."""
    return "\n".join([message.text, *(result.text for result in message.results)])


async def until(condition: Callable[[], bool]) -> None:
    """Wait for something that another process does."""
    with anyio.fail_after(20):
        while not condition():
            await anyio.sleep(0.01)


def lives(pid: int) -> bool:
    """Whether a process is there and is no zombie."""
    with suppress(OSError):
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    return False
