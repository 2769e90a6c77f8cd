"""Hands orders to the process that uses the screen, with the environment of the session."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from pathlib import Path

import msgspec

from gongfu.core.errors import ToolFailure
from gongfu.workspace.apart import run_apart
from gongfu.workspace.screen.orders import Order, Told
from gongfu.workspace.screen.worker import MARK

WORKER = [sys.executable, "-P", "-m", "gongfu.workspace.screen.worker"]  # -P: nothing is imported from where it starts
HOME = Path(__file__).parent
_KEEP = 64 * 1024 * 1024  # bytes: two pictures of a large screen
_SECONDS = 20.0


class Desk:
    """The screen that the environment `env` leads to (DISPLAY, WAYLAND_DISPLAY)."""

    def __init__(self, env: Mapping[str, str]) -> None:
        self.env = env

    async def do(self, order: Order, seconds: float = _SECONDS) -> Told:
        """Have an order done, in at most so many seconds. ToolFailure when it cannot be."""
        try:
            ended = await run_apart(
                WORKER, cwd=HOME, env=self.env, stdin=msgspec.json.encode(order), seconds=seconds, mark="", keep=_KEEP
            )
        except (OSError, ValueError) as error:
            raise ToolFailure(f"the process that uses the screen could not be started: {error}") from error
        if ended.code is None:
            raise ToolFailure(f"the screen did not answer in {seconds:.0f} s")
        return told_by(ended.out, ended.err)


def told_by(out: bytes, more: bytes = b"") -> Told:
    """What the process says at the end of `out`. ToolFailure for a problem that it tells, or when it says nothing."""
    _, mark, said = out.rpartition(MARK)
    if not mark:
        words = (more or out).decode("utf-8", "replace").strip().splitlines()
        raise ToolFailure(f"the process that uses the screen ended: {(words or ['it said nothing'])[-1][:300]}")
    told = msgspec.json.decode(said.partition(b"\n")[0], type=Told)
    if told.problem:
        raise ToolFailure(told.problem)
    return told
