"""Windows of a real terminal for the tests of conversations."""

from __future__ import annotations

from collections.abc import Callable, Generator

import pytest

from tests.surfaces.cli.conftest import Program

from .tmux import Window, need_tmux


@pytest.fixture
def window(program: Program) -> Generator[Callable[..., Window]]:
    """Opens windows; each is closed in the end."""
    need_tmux()
    opened: list[Window] = []

    def start(*args: str, **options: object) -> Window:
        opened.append(Window(program, *args, **options))  # type: ignore[arg-type]
        return opened[-1]

    yield start
    for one in opened:
        one.close()
