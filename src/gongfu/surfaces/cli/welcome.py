"""`gongfu` alone: what it is, what is configured and what to type."""

from __future__ import annotations

from gongfu.surfaces.cli.cli import Cli


def welcome(cli: Cli) -> int:
    """Print it; with text piped in, that is the task."""
    del cli
    return 0
