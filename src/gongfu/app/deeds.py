"""What the turns of a session did to the files, and what of it was undone: read from its log and its checkpoints."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Literal

from msgspec.structs import replace

from gongfu.core.base import Base
from gongfu.core.events import Entry, PromptQueued, SessionCreated, ToolFinished, ToolStarted, TurnStarted
from gongfu.core.guarded import FilesRestored

_TITLE = 72
_LASTING = frozenset(
    ["git_branch", "git_commit", "git_push", "git_worktree", "package_install", "run_as_admin", "send_email"]
)


class Turn(Base, frozen=True):
    """One turn of a person. `number` counts from 1, `seq` is the sequence of its start, `time` when that was.

    `text` is the whole prompt, of a command what was typed; a turn that goes on where another stopped has none and the
    number of that one.
    `lasting` are the titles of calls that did well and whose effect is more than files here: commits, pushes, mails.
    """

    turn: str
    number: int
    seq: int
    time: float
    text: str = ""
    lasting: tuple[str, ...] = ()

    @property
    def title(self) -> str:
        """The prompt on one line, cut."""
        line = " ".join(self.text.split())
        return line if len(line) <= _TITLE else f"{line[: _TITLE - 1].rstrip()}…"


class Deed(Base, frozen=True):
    """A turn that changed files, with the ids of its checkpoints; `after` is "" when it was killed."""

    turn: Turn
    before: str
    after: str = ""
    undone: bool = False


class Giving(Base, frozen=True):
    """Files that were given back at once: the turns whose changes it took away, and the checkpoint from before it."""

    action: Literal["undo", "redo", "rewind"]
    before: str
    turns: tuple[str, ...]


class Story(Base, frozen=True):
    """All of it, the oldest first. `givings` are those that can still be taken back, the newest last.

    `fresh` tells that a turn changed files after the newest of them.
    """

    turns: tuple[Turn, ...]
    deeds: tuple[Deed, ...]
    givings: tuple[Giving, ...]
    fresh: bool
    origins: tuple[str, ...] = ()


class Pair(Base, frozen=True):
    """The checkpoints of one turn, by id."""

    before: str
    after: str = ""


def story(entries: Iterable[Entry], pairs: Mapping[str, Pair]) -> Story:
    """Tell it from the log of a session and the checkpoints of its turns (by turn)."""
    prompts: dict[str, str] = {}
    turns: list[Turn] = []
    undone: set[str] = set()
    givings: list[Giving] = []
    fresh = False
    begun: dict[str, str] = {}
    of = {pair.before: turn for turn, pair in pairs.items()}
    origins: list[str] = []
    for entry in entries:
        match entry.event:
            case SessionCreated(forked_from=origin) if origin:
                origins.append(origin)
            case PromptQueued(prompt=prompt) as queued:
                prompts[prompt] = queued.typed
            case TurnStarted():
                turns.append(_turn(entry, entry.event, prompts, turns))
                fresh = fresh or entry.event.turn in pairs
            case ToolStarted(call=call, name=name) if (
                name in _LASTING and entry.event.arguments.get("action") != "list"
            ):
                begun[call] = entry.event.title or name
            case ToolFinished(call=call, result=result) if result.status == "done" and call in begun and turns:
                turns[-1] = replace(turns[-1], lasting=(*turns[-1].lasting, begun.pop(call)))
            case FilesRestored():
                turn = of.get(entry.event.checkpoint, "")
                _give(entry.event, turn, givings, undone)
                fresh = False
            case _:
                pass
    deeds = tuple(
        Deed(turn=t, before=pair.before, after=pair.after, undone=t.turn in undone)
        for t in turns
        if (pair := pairs.get(t.turn)) is not None
    )
    return Story(turns=tuple(turns), deeds=deeds, givings=tuple(givings), fresh=fresh, origins=tuple(origins))


def _turn(entry: Entry, event: TurnStarted, prompts: Mapping[str, str], before: list[Turn]) -> Turn:
    number = (before[-1].number if before else 0) + bool(event.prompt)
    return Turn(turn=event.turn, number=number, seq=entry.seq, time=entry.time, text=prompts.get(event.prompt, ""))


def _give(event: FilesRestored, turn: str, givings: list[Giving], undone: set[str]) -> None:
    if event.action == "redo":
        while givings and givings[-1].before != event.checkpoint:
            givings.pop()
        if givings:
            undone.difference_update(givings.pop().turns)
        return
    if turn:
        undone.add(turn)
    if givings and givings[-1].before == event.before:  # several turns at once
        givings[-1] = Giving(action=event.action, before=event.before, turns=(*givings[-1].turns, turn))
    else:
        givings.append(Giving(action=event.action, before=event.before, turns=(turn,)))
