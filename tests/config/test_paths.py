"""Where things of the user lie."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from gongfu.config.paths import Places, places
from gongfu.core.errors import UserError


def test_the_home_follows_the_environment(tmp_path: Path) -> None:
    assert places({"HOME": str(tmp_path), "USERPROFILE": str(tmp_path)}).home == tmp_path / ".gongfu"
    assert places({"HOME": "/nowhere", "GONGFU_HOME": str(tmp_path)}).home == tmp_path
    inside = places({"HOME": str(tmp_path), "USERPROFILE": str(tmp_path), "GONGFU_HOME": "~/x/../y"})
    assert inside.home == tmp_path / "y"
    assert places({"GONGFU_HOME": "relative"}).home == Path.cwd() / "relative"


def test_every_place_lies_in_the_home(home: Places) -> None:
    names = [name for name, kind in vars(Places).items() if isinstance(kind, property)]
    found = {getattr(home, name) for name in names}
    assert len(found) == len(names) >= 11
    assert all(place.parent == home.home for place in found)
    assert not home.home.exists()


def test_ensure_makes_private_folders_once(home: Places) -> None:
    for _ in range(2):
        assert home.ensure(home.artifacts) == home.artifacts
    assert home.ensure() == home.home
    if os.name == "posix":
        assert home.home.stat().st_mode & 0o777 == 0o700
        assert home.artifacts.stat().st_mode & 0o777 == 0o700


def test_a_home_that_cannot_be_made_is_told(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x")
    for home in (tmp_path / "file", tmp_path / "file" / "inside"):
        with pytest.raises(UserError) as raised:
            Places(home=home).ensure()
        assert raised.value.key == "config.no_home"
        assert str(home) in str(raised.value)
