"""What connections need of the run they belong to."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from gongfu.core.base import Base


class Surroundings(Base, frozen=True):
    """Where servers run: `directory` (the workspace) and the `roots` that they are told of, the environment that
    programs get (without secrets), and the folder where logins are kept.

    Times are seconds: `connect` for a connection with its lists, `pause` before the first new try after a fall.
    """

    directory: Path
    roots: tuple[Path, ...]
    env: Mapping[str, str]
    logins: Path
    connect: float = 30.0
    pause: float = 0.5
    tries: int = 5
