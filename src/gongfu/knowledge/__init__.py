"""What is known of a code base: its symbols, who calls whom, what a change touches, and what its modules offer."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from gongfu.config.paths import Places
    from gongfu.knowledge.index import Index

__all__ = ["open_index"]


def open_index(root: Path, places: Places | None, *, env: Mapping[str, str] | None = None) -> Index:
    """The index of the workspace at `root`, kept below the cache of `places` (None: not at all).

    Nothing is read before it is asked. `env` is the environment of the processes that read many files.
    """
    from gongfu.knowledge import index  # the processes that read files need none of it

    return index.make_index(root, places, env=env)
