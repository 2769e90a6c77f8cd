"""Texts for the model that ship with Gongfu."""

from __future__ import annotations

from pathlib import Path


def text(name: str) -> str:
    """The text of a resource such as "prompts/system.md"."""
    return (Path(__file__).parent / name).read_text(encoding="utf-8")
