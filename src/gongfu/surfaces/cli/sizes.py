"""How much room the files of Gongfu take, and from when that is worth a word."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path

from gongfu.config.paths import Places

MUCH = 1_000_000_000
"""Bytes of sessions, outputs and checkpoints from which `gongfu doctor` names the command that helps."""

HELPS = "gongfu sessions prune --older-than 30 --everywhere"


def measured(places: Places) -> dict[str, int]:
    """Bytes of each kind of file by name, and of all below the home under "total"."""
    kinds = {
        "store": places.store,
        "artifacts": places.artifacts,
        "checkpoints": places.checkpoints,
        "logs": places.logs,
        "cache": places.cache,
        "models": places.models,
        "total": places.home,
    }
    return {name: weight(path) for name, path in kinds.items()}


def weight(path: Path) -> int:
    """Bytes of a file (with a database's log beside it) or of everything below a folder; 0 when it is not there."""
    files = path.rglob("*") if path.is_dir() else path.parent.glob(f"{path.name}*")
    found = 0
    for file in files:
        with suppress(OSError):  # it went while we looked
            if file.is_file() and not file.is_symlink():
                found += file.stat().st_size
    return found


def much(sizes: dict[str, int]) -> bool:
    """Whether old sessions take so much that their deletion helps."""
    return sum(sizes[name] for name in ("store", "artifacts", "checkpoints")) > MUCH
