"""The conversation as a small model needs it: turns of a task, the files at its start, and steps."""

from __future__ import annotations

import re
from collections.abc import Sequence

import msgspec

from gongfu.core.base import Base
from gongfu.core.messages import CallPart, Message, ResultPart
from gongfu.models.local.actions import Action, from_call

OPENING = '{"action": "open"}'
_CODE = re.compile(r"\.(py|pyw|js|mjs|ts|rb|sh|pl|php|lua|go|rs|c|cc|cpp|java|kt|r)$", re.IGNORECASE)
_NOTE = re.compile(r"^\[.*\]$|^\(no output\)$", re.MULTILINE)
_LOOKING = re.compile(r"\s*(grep|egrep|fgrep|rg|git grep|diff|cmp|test|\[|pgrep|which)\b")
_NUMBERED = re.compile(r"\d+\|")


class Step(Base, frozen=True):
    """One action and what came of it."""

    action: Action
    result: ResultPart

    @property
    def failed(self) -> bool:
        """Whether the tool failed or was refused; a command fails with any exit code but 0."""
        return self.result.status != "done"

    @property
    def looks_for(self) -> bool:
        """Whether this is a command whose failure without output only says that nothing was found."""
        silent = not _NOTE.sub("", self.result.text).strip()
        return self.action.name == "run" and silent and bool(_LOOKING.match(self.action.fields["command"]))

    @property
    def changed(self) -> str:
        """The path of the file that it wrote; "" when it wrote none."""
        return self.action.fields["path"] if self.action.name in ("write", "replace") and not self.failed else ""


class File(Base, frozen=True):
    """A file as it was when the task began."""

    path: str
    text: str


class Turn(Base, frozen=True):
    """One task of the person: what is asked, what the folder held, what was done, and the answer once there is one."""

    task: str
    listing: str = ""
    files: tuple[File, ...] = ()
    openings: int = 0
    steps: tuple[Step, ...] = ()
    answer: str = ""

    @property
    def to_run(self) -> str:
        """The program that was changed last and has not been run since; "" when there is none."""
        path = ""
        for step in self.steps:
            if step.action.name == "run":
                path = ""
            elif _CODE.search(step.changed):
                path = step.changed
        return path

    @property
    def written(self) -> tuple[str, ...]:
        """The files that were written, each once, in order."""
        return tuple(dict.fromkeys(step.changed for step in self.steps if step.changed))

    @property
    def texts(self) -> tuple[str, ...]:
        """The texts of files that were shown."""
        read = (step.result.text for step in self.steps if step.action.name == "read")
        return (*(file.text for file in self.files), *read)

    def repeats(self, count: int) -> int:
        """How often step number `count - 1` had been done before with nothing changed in between."""
        last = self.steps[count - 1]
        times = 0
        for step in reversed(self.steps[: count - 1]):
            if step.action.deed == last.action.deed:
                times += 1
            elif step.changed:
                break
        return times


def turns(messages: Sequence[Message]) -> tuple[Turn, ...]:
    """Read a conversation. Words of the person open a turn; a steering message, or words before it began, add to it.

    Gongfu's own notes are left out: they are written for larger models.
    """
    found: list[Turn] = []
    results = {result.call_id: result for message in messages for result in message.results}
    for message in messages:
        if message.role == "user":
            if message.kind != "note" and message.text.strip():
                _asked(found, message)
        elif message.role == "assistant" and found:
            found[-1] = _told(found[-1], message, results)
    return tuple(found)


def _asked(found: list[Turn], message: Message) -> None:
    last = found[-1] if found else None
    if last is not None and not last.answer and (message.kind == "steer" or not (last.openings or last.steps)):
        found[-1] = _replace(last, task=f"{last.task}\n\n{message.text.strip()}")
    else:
        found.append(Turn(task=message.text.strip()))


def _told(turn: Turn, message: Message, results: dict[str, ResultPart]) -> Turn:
    if not message.calls:
        return _replace(turn, answer=message.text.strip()) if message.text.strip() else turn
    if message.calls[0].raw == OPENING:
        return _opened(turn, message.calls, results)
    steps = list(turn.steps)
    for call in message.calls:
        action = from_call(call)
        if action is not None and call.id in results:
            steps.append(Step(action=action, result=results[call.id]))
    return _replace(turn, steps=tuple(steps))


class _Path(Base, frozen=True):
    path: str = ""


def _opened(turn: Turn, calls: Sequence[CallPart], results: dict[str, ResultPart]) -> Turn:
    listing, files = turn.listing, list[File]()
    for call in calls:
        result = results.get(call.id)
        if result is None or result.status != "done":
            continue
        if call.name == "read_file":
            path = msgspec.json.decode(call.arguments, type=_Path).path
            files.append(File(path=path, text=plain(result.text)))
        else:
            listing = result.text
    return _replace(turn, listing=listing, files=(*turn.files, *files), openings=turn.openings + 1)


def plain(text: str) -> str:
    """The text of a file out of what `read_file` shows: numbered lines, remarks in brackets after them."""
    rows = text.split("\n")
    if not _NUMBERED.match(rows[0]):
        return "" if text.startswith("[the file is empty]") else text
    return "\n".join(row.partition("|")[2] for row in rows if _NUMBERED.match(row))


def _replace(turn: Turn, **changes: object) -> Turn:
    return msgspec.structs.replace(turn, **changes)
