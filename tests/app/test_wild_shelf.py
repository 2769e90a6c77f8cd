"""Arguments that no schema foresees, for every tool on the shelf, through the whole loop.

Each tool gets about 16 calls: fixed ones (everything missing, NUL, a megabyte of text, paths outside, wrong types in
every place) and random ones. Each gets one result in words, no tool fails through a fault of its own, nothing hangs,
what failed has changed nothing, and nothing outside the workspace is touched.
"""

from __future__ import annotations

import hashlib
import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import anyio
import pytest

from gongfu.core.events import AnswerReceived, ToolFinished, ToolStarted, WarningRaised
from gongfu.models.protocol import Request
from gongfu.models.scripted import Call, Say, Scripted
from gongfu.models.scripted.script import Step
from gongfu.toolkit.catalog import SHELF
from gongfu.tools.disclosure import USE

from .cast import Run, opened, results, workplace
from .test_wild_arguments import arguments

pytestmark = pytest.mark.anyio

RANDOM = 8
ALIKE = ["\0", "x" * 1_000_000, "/etc/passwd", "../../outside", -1, {"a": [None]}, ["\0", 1, {}], ""]
FREELY = ("web", "desktop")  # where nothing harmful can be reached here these run without being asked for


def fixed(schema: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """Each of a few values in every place at once, or where the schema has a choice its first one."""
    for value in ALIKE:
        yield {n: s["enum"][0] if "enum" in s else value for n, s in schema.get("properties", {}).items()}
    yield {}


def state(work: Path) -> str:
    """A digest of everything in the workspace but what git keeps."""
    found = hashlib.sha256()
    for path in sorted(work.rglob("*")):
        if ".git" not in path.parts and path.is_file():
            found.update(str(path).encode() + b"\0" + path.read_bytes() + b"\0")
    return found.hexdigest()


class Wild:
    """A model that calls one tool after the other; every eighth call is one that works, so that it goes on."""

    def __init__(self, tools: list[Any], work: Path) -> None:
        self._work = work
        self._plans: list[tuple[str, dict[str, Any]]] = []
        for tool in tools:
            dice = random.Random(tool.spec.name)
            self._plans += [(tool.spec.name, given) for given in fixed(tool.spec.parameters)]
            self._plans += [(tool.spec.name, arguments(dice, tool.spec.parameters)) for _ in range(RANDOM)]
        unique = {f"{name} {given}": (name, given) for name, given in self._plans}
        self._plans = list(unique.values())  # the same call again and again is stopped, and rightly
        self.wrong: list[str] = []
        self._last = ""
        self.model = Scripted(self._endless())

    def _endless(self) -> Iterator[Any]:
        count = 0
        while True:
            count += 1
            yield self._answer if count % 8 else Call("list_files", {"path": ".", "depth": count})

    def _answer(self, request: Request) -> Step:
        now = state(self._work)
        last = results(request)[-1:]
        if self._last and last and last[0].status in ("failed", "refused") and now != self._last and self._named:
            self.wrong.append(self._named)
        self._last, self._named = now, ""
        if not self._plans:
            return Say("The end.")
        name, given = self._plans.pop(0)
        self._named = f"{name} {str(given)[:300]}"
        return Call(USE, {"name": name, "arguments": given})

    _named = ""


@pytest.mark.parametrize("family", sorted(SHELF))
async def test_every_call_ends_in_words_and_what_failed_changed_nothing(tmp_path: Path, family: str) -> None:
    work = workplace(tmp_path)
    (work / "m.py").write_text("import os\n\n\ndef f(x):\n    return x  # same\n")
    async with opened(work, Wild([], work), answers="no") as app:
        session = await app.session()
        tools = [tool for found in session.kit.registry.shelf.families if found.name == family for tool in found]
        await session.close()
    wild = Wild(tools, work)
    how: dict[str, Any] = {"permission": "full", "answers": "no"} if family in FREELY else {"yes": True}
    async with opened(work, wild, max_steps=2000, **how) as app:
        session = await app.session()
        with anyio.fail_after(110):
            end = await (await session.prompt("Go"))
        ran = Run(app, session, end, [])
        assert end.status == "done", (end.reason, end.values)
        assert not [w for w in ran.of(WarningRaised) if w.key == "engine.tool_bug"], (home_log(tmp_path), wild.wrong)
        calls = [c for e in ran.of(AnswerReceived) if e.purpose == "main" for c in e.message.calls]
        ended = ran.of(ToolFinished)
        assert sorted(e.call for e in ended) == sorted(c.id for c in calls)
        assert {c.name for c in calls if not c.problem} == {tool.spec.name for tool in tools} | {"list_files"}
        assert all(e.result.text.strip() for e in ended), [e for e in ended if not e.result.text.strip()]
        assert all(len(e.result.text) < 40_000 for e in ended)
        assert len(ran.of(ToolStarted)) <= len(ended)
    assert wild.wrong == []
    assert {p.name for p in tmp_path.iterdir()} == {"work", "home"}


def home_log(tmp_path: Path) -> str:
    log = tmp_path / "home" / "logs" / "faults.log"
    return log.read_text()[-3000:] if log.exists() else ""
