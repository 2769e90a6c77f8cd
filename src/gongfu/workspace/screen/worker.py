"""Started as a process with the environment of the session: reads one order, does it and tells what came of it.

Libraries of the screen look into the environment of their process and may end it; so they have one of their own.
"""

from __future__ import annotations

import sys
from typing import assert_never

import msgspec

from gongfu.workspace.screen.orders import (
    Order,
    ScreenProblem,
    TakeShot,
    Told,
    TryProgram,
    UseClipboard,
    UseKeys,
    UseMouse,
    UseNotice,
)

MARK = b"\n\x1eTOLD "  # what libraries print may stand before


def obey(order: Order) -> Told:
    """Do what is ordered. ScreenProblem when it cannot be done."""
    match order:
        case TakeShot():
            from gongfu.workspace.screen.shots import take

            return take(order)
        case UseMouse():
            from gongfu.workspace.screen.hands import use_mouse

            return use_mouse(order)
        case UseKeys():
            from gongfu.workspace.screen.hands import use_keys

            return use_keys(order)
        case UseClipboard():
            from gongfu.workspace.screen.clips import use_clipboard

            return use_clipboard(order)
        case UseNotice():
            from gongfu.workspace.screen.notices import show_notice

            return show_notice(order)
        case TryProgram():
            from gongfu.workspace.screen.trial import try_program

            return try_program(order)
        case _:
            assert_never(order)


def main() -> None:
    """Order in, answer out."""
    order = msgspec.json.decode(sys.stdin.buffer.read(), type=Order)
    try:
        told = obey(order)
    except ScreenProblem as problem:
        told = Told(problem=str(problem))
    except Exception as error:  # noqa: BLE001 - the edge of the process: libraries of the screen raise whatever they like
        told = Told(problem=f"{type(error).__name__}: {error}")
    sys.stdout.buffer.write(MARK + msgspec.json.encode(told) + b"\n")
    sys.stdout.flush()


if __name__ == "__main__":
    main()
