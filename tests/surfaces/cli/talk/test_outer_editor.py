"""The editor of the person."""

from __future__ import annotations

import os
import stat
import sys
from pathlib import Path

import pytest

from gongfu.core.errors import UserError
from gongfu.surfaces.cli.talk.outer_editor import edit_outside
from gongfu.workspace.editors import editor_of

from .faces import Stub
from .typing import a_cli, typing

pytestmark = [pytest.mark.anyio, pytest.mark.skipif(os.name != "posix", reason="editors are shell scripts here")]

ENTER = "\r"


def script(tmp_path: Path, line: str) -> dict[str, str]:
    """Variables that name an editor which runs a line of the shell; the file is $1."""
    path = tmp_path / "my editor"
    path.write_text(f"#!/bin/sh\n{line}\n")
    path.chmod(0o755)
    return {"EDITOR": f"'{path}' --flag", "PATH": os.environ["PATH"], "OUT": str(tmp_path / "out")}


async def test_the_text_goes_out_and_comes_back(tmp_path: Path) -> None:
    env = script(tmp_path, 'cat "$2" > $OUT; stat -c "%a %n" "$2" >> $OUT; echo "更多" >> "$2"')
    assert await edit_outside(Stub(), "one\ntwo", env) == "one\ntwo\n更多"
    shown = (tmp_path / "out").read_text()
    if sys.platform == "linux":
        assert "600 " in shown
    assert shown.startswith("one\ntwo\n")
    name = Path(shown.split("\n")[2].split(" ", 1)[1])
    assert name.suffix == ".md"
    assert not name.parent.exists()


async def test_nothing_changed_gives_none(tmp_path: Path) -> None:
    assert await edit_outside(Stub(), "one", script(tmp_path, "true")) is None
    assert await edit_outside(Stub(), "one", script(tmp_path, ': > "$2"')) == ""


async def test_what_failed_loses_nothing(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="code 3"):
        await edit_outside(Stub(), "one", script(tmp_path, "exit 3"))
    with pytest.raises(UserError, match="What was written lies in") as caught:
        await edit_outside(Stub(), "one", script(tmp_path, 'echo mine > "$2"; exit 1'))
    kept = caught.value.values["path"]
    assert isinstance(kept, Path)
    assert kept.read_text() == "mine\n"
    assert stat.S_IMODE(kept.parent.stat().st_mode) == 0o700
    kept.unlink()
    kept.parent.rmdir()
    with pytest.raises(UserError, match="could not be read"):
        await edit_outside(Stub(), "one", script(tmp_path, 'rm "$2"'))
    with pytest.raises(UserError, match="named in VISUAL"):
        await edit_outside(Stub(), "one", {"VISUAL": "/no/such/editor", "PATH": "/nowhere"})
    with pytest.raises(UserError, match="No editor was found"):
        await edit_outside(Stub(), "one", {"PATH": "/nowhere"})


async def test_ctrl_c_in_the_editor_is_its_own(tmp_path: Path) -> None:
    assert await edit_outside(Stub(), "one", script(tmp_path, 'kill -INT $PPID; echo two >> "$2"')) == "one\ntwo"


def test_windows_of_their_own_are_waited_for() -> None:
    assert editor_of({"VISUAL": "code", "EDITOR": "vi"}) == (["code", "--wait"], "VISUAL")
    assert editor_of({"EDITOR": "code -w"}) == (["code", "-w"], "EDITOR")
    assert editor_of({"EDITOR": "subl -n"})[0] == ["subl", "--wait", "-n"]
    assert editor_of({"EDITOR": "vim -X", "VISUAL": " "})[0] == ["vim", "-X"]
    assert editor_of({"EDITOR": "it's"})[0] == ["it's"]


@pytest.mark.parametrize("keys", ["\x07", "\x18\x05"])
async def test_from_the_input(tmp_path: Path, keys: str) -> None:
    long = "row\n" * 50
    env = script(tmp_path, 'cat "$2" > $OUT; echo end >> "$2"')
    async with typing(a_cli(**env), face=Stub) as typist:
        await typist.type("see ")
        await typist.paste(long)
        await typist.type(".", keys)
        await typist.until(lambda: typist.text.endswith("end"))
        assert (tmp_path / "out").read_text() == f"see {long}.\n"
        assert typist.text == "see [pasted #1, 50 lines].\nend"
        await typist.type("\x1f", ENTER)
        assert typist.sent[0].text == f"see {long}."


async def test_a_missing_editor_is_told(tmp_path: Path) -> None:
    async with typing(a_cli(PATH=str(tmp_path), EDITOR="nope"), face=Stub) as typist:
        await typist.type("precious", "\x07")
        await typist.until(lambda: "nope could not be started" in typist.hint)
        assert typist.text == "precious"
