"""Commands of the conversation that show something."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path

import pytest

from gongfu.core.words import talk_help, talk_tell
from gongfu.models.scripted import Say
from gongfu.surfaces.cli.talk.commands.catalog import SLASHES, run_of
from gongfu.surfaces.cli.talk.commands.help import GROUPS, KEYS
from gongfu.surfaces.cli.width import width
from tests.app.cast import Cast, workplace

from .faces import Stub, conversation

pytestmark = pytest.mark.anyio
GOLDENS = Path(__file__).with_name("goldens")


# --- the catalogue ---


@pytest.mark.parametrize("name", SLASHES)
def test_every_command_is_there_with_help_in_both_languages(name: str) -> None:
    import_module(f"gongfu.surfaces.cli.talk.commands.{SLASHES[name].module}")
    assert callable(run_of(name, SLASHES[name]))
    english, chinese = talk_help.TEXT[name]
    assert english != chinese
    assert len(english) <= 60


def test_every_command_stands_in_one_group_and_every_key_is_told() -> None:
    grouped = [name for _, names in GROUPS for name in names]
    assert sorted(grouped) == sorted(SLASHES)
    assert set(talk_help.TEXT) == set(SLASHES)
    assert all(f"key_{key.name}" in talk_tell.TEXT for key in KEYS)


@pytest.mark.parametrize("language", ["en", "zh"])
@pytest.mark.parametrize("columns", [80, 40])
@pytest.mark.parametrize("command", ["help", "keys"])
async def test_help_and_keys_look_as_they_should(tmp_path: Path, command: str, columns: int, language: str) -> None:
    face = Stub(columns=columns)
    async with conversation(workplace(tmp_path), Cast([Say("x")]), face=face, language=language) as talk:
        shown = await talk.do(f"/{command}")
    assert max(map(width, shown.split("\n"))) <= columns
    golden = GOLDENS / f"{command}-{language}-{columns}.txt"
    assert shown + "\n" == golden.read_text("utf-8")
