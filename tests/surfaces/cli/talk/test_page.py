"""The page about the conversation names every command and every key, in both languages."""

from __future__ import annotations

from pathlib import Path

import pytest

from gongfu.surfaces.cli.talk.commands.catalog import SLASHES
from gongfu.surfaces.cli.talk.commands.help import KEYS

DOCS = Path(__file__).parents[4] / "docs"


@pytest.mark.parametrize("page", ["terminal.md", "zh/terminal.md"])
def test_every_command_is_on_the_page(page: str) -> None:
    text = (DOCS / page).read_text("utf-8")
    missing = [name for name, slash in SLASHES.items() if f"`/{name}" not in text and f"/{name} " not in text]
    assert not missing


@pytest.mark.parametrize("page", ["terminal.md", "zh/terminal.md"])
def test_every_key_is_on_the_page(page: str) -> None:
    text = (DOCS / page).read_text("utf-8")
    keys = {name for key in KEYS for name in key.keys if not name.startswith("\\")}
    assert not sorted(name for name in keys if name not in text)
