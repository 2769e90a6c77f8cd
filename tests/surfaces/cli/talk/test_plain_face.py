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
    typist = Typist(("> ", command), ("number or name", "1"))
    face = talk.face = Plain(cli, talk, cast("Any", typist))
    async with opened(workplace(tmp_path), Cast([Say("x")])) as app, anyio.create_task_group() as tasks:
        talk.tasks = tasks
        talk.begin(app, await app.session())
        with anyio.fail_after(20):
            await face.run()
        tasks.cancel_scope.cancel()
    assert typist.lines == []
