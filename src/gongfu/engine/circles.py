"""Going in circles: the same call with the same arguments and result again and again, or a few that alternate."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from typing import Literal, NamedTuple, TypeAlias

from gongfu.core.messages import CallPart, ResultPart

Judgement: TypeAlias = Literal["run", "tell", "stop"]

LONGEST_PERIOD = 6
IN_VAIN = 30
"""Calls in a row of which none succeeds, whatever their arguments: then the turn ends."""
TOLD = (
    "Not run: you are repeating yourself. This call was made twice just now with the same arguments and result. "
    "Do something else, or say what keeps you from finishing."
)


class _Run(NamedTuple):
    key: str
    result: str
    wire_id: str


def _key(call: CallPart) -> str:
    return f"{call.name}\0{call.arguments}\0{call.raw}"


class Circles:
    """Watches the calls of one turn.

    When the last 2p calls were twice the same p calls with the same results, and the next one begins that again, it is
    not run: the model is told, once in a turn; the next repetition ends the turn. A repetition that carries the same id
    from the provider each time is a replay and ends the turn at once. Other work in between starts the count anew.
    """

    def __init__(self) -> None:
        self._runs: list[_Run] = []
        self._told = False
        self.in_vain = 0  # calls in a row that failed or were refused

    def judge(self, calls: Sequence[CallPart]) -> list[Judgement]:
        """What to do with each call of a batch before any of them runs."""
        runs = list(self._runs)
        verdicts: list[Judgement] = []
        for call in calls:
            again = _repeats(runs, _key(call))
            if again is None:
                verdicts.append("run")
                runs.append(_Run(_key(call), "", call.wire_id))
                continue
            replayed = bool(call.wire_id) and again.wire_id == call.wire_id
            verdicts.append("stop" if self._told or replayed else "tell")
            runs.append(again)
            self._runs.append(again)  # as if it had run: the one that alternates with it is recognised too
        if "tell" in verdicts:
            self._told = True
        return verdicts

    def note(self, call: CallPart, result: ResultPart) -> None:
        """Remember a call that ran, and what came of it."""
        digest = hashlib.sha256(f"{result.status}\0{result.text}".encode("utf-8", "replace")).hexdigest()
        self._runs.append(_Run(_key(call), digest, call.wire_id))
        self.in_vain = 0 if result.status == "done" else self.in_vain + 1
        del self._runs[: -2 * LONGEST_PERIOD]


def _repeats(runs: Sequence[_Run], key: str) -> _Run | None:
    """The earlier run that `key` would repeat for the third time, or None."""
    for period in range(1, LONGEST_PERIOD + 1):
        if len(runs) < 2 * period or runs[-period].key != key:
            continue
        newer, older = runs[-period:], runs[-2 * period : -period]
        if all(a.key == b.key and a.result == b.result for a, b in zip(newer, older, strict=True)):
            return newer[0]
    return None
