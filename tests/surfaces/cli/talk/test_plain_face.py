"""The face that only takes lines: who reads them."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any, cast

import anyio
import pytest

from gongfu.models.scripted import Say
from gongfu.surfaces.cli.cli import Cli
from gongfu.surfaces.cli.options import Opening
from gongfu.surfaces.cli.talk.plain import Plain
from gongfu.surfaces.cli.talk.talk import Talk
from tests.app.cast import Cast, opened, workplace

pytestmark = pytest.mark.anyio


class Typist:
    """Types the next line when it is asked for one of the prompts that it waits for."""

    def __init__(self, *lines: tuple[str, str]) -> None:
        self.lines = list(lines)

    async def line(self, prompt: str) -> str | None:
        if not self.lines:
            return None
        wanted, text = self.lines[0]
        if wanted not in prompt:
            await anyio.sleep_forever()
        await anyio.lowlevel.checkpoint()
        self.lines.pop(0)
        return text


@pytest.mark.parametrize("command", ["/permission", "/think", "/mode"])
async def test_a_dialogue_gets_the_line_that_is_typed_next(tmp_path: Path, command: str) -> None:
    cli = Cli([], {}, stdin=None, stdout=io.StringIO(), stderr=io.StringIO())
    talk = Talk(cli, Opening())
    typist = Typist(("", command), ("number or name", "1"))
    face = talk.face = Plain(cli, talk, cast("Any", typist))
    async with opened(workplace(tmp_path), Cast([Say("x")])) as app, anyio.create_task_group() as tasks:
        talk.tasks = tasks
        talk.begin(app, await app.session())
        with anyio.fail_after(20):
            await face.run()
        tasks.cancel_scope.cancel()
    assert typist.lines == []


class Slow(Typist):
    """Types the next line once words were written, as somebody does who reads."""

    def __init__(self, out: io.StringIO, *lines: tuple[str, str]) -> None:
        super().__init__(*lines)
        self.out, self.at = out, 0

    async def line(self, prompt: str) -> str | None:
        self.out.write(prompt)
        with anyio.fail_after(10):
            while self.lines and f"\n{self.lines[0][0]}" not in "\n" + self.out.getvalue()[self.at :]:
                await anyio.sleep(0.005)
        if not self.lines:
            return None
        self.at = len(self.out.getvalue())
        typed = self.lines.pop(0)[1]
        self.out.write(f"{typed}\n")  # the terminal does so
        return typed


async def test_what_is_said_never_stands_behind_the_prompt(tmp_path: Path) -> None:
    out = io.StringIO()
    cli = Cli([], {}, stdin=None, stdout=out, stderr=io.StringIO())
    talk = Talk(cli, Opening())
    lines = [("> ", "go"), ("> ", "?"), ("> ", "a \\"), (". ", "b"), ("> ", "/status"), ("> ", "／title x"), ("> ", "")]
    typist = Slow(out, *lines)
    face = talk.face = Plain(cli, talk, cast("Any", typist))
    async with (
        opened(workplace(tmp_path), Cast([Say("first"), Say("second")])) as app,
        anyio.create_task_group() as tasks,
    ):
        talk.tasks = tasks
        talk.begin(app, await app.session())
        with anyio.fail_after(20):
            await face.run()
        tasks.cancel_scope.cancel()
    said = out.getvalue()
    assert typist.lines == []
    assert [line for line in said.splitlines() if line.startswith(("> ", ". "))] == [f"{a}{b}" for a, b in lines]
    assert all(word in said for word in ("first\n", "second\n", "/rewind", "Gongfu", "x\n"))


def test_words_on_lines_of_their_own() -> None:
    out = io.StringIO()
    cli = Cli([], {}, stdin=None, stdout=out, stderr=io.StringIO())
    face = Plain(cli, Talk(cli, Opening()), cast("Any", Typist()))
    face.write("part of ")
    face.write("an answer")
    face.show("a note")
    face.write("\n")  # what would end the line of the answer
    face.write("more")
    face.show("")
    face.show("end\n")
    assert out.getvalue() == "part of an answer\na note\nmore\nend\n"
