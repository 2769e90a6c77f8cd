"""Gives files back from checkpoints: reckoned first, shown, then done, recorded and told to the model."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Literal

import anyio.to_thread
from msgspec.structs import replace

from gongfu.app.deeds import Turn
from gongfu.app.giving import Files, Mark, Overlaid, Plan, marks_of, plan
from gongfu.app.halfway import Halfway, towards
from gongfu.app.shelf import Place, Shelf, View, names_of
from gongfu.core.base import Base
from gongfu.core.events import AnyEvent, MessageAdded
from gongfu.core.guarded import FilesRestored
from gongfu.core.ids import new_id
from gongfu.core.messages import user
from gongfu.workspace.checkpoint import Restored, Taken, compare
from gongfu.workspace.names import show_name

Action = Literal["undo", "redo", "rewind"]
Agree = Callable[["Given"], bool]
Steps = Callable[[Shelf], "list[Step]"]
NAMED = 20
"""Paths that an event and the note for the model name."""


class Given(Base, frozen=True):
    """What was given back, or would be (`done` tells). Paths are below the root of the workspace.

    `turns` are those whose changes went (undo, rewind) or came again (redo), the newest first. `marks` says of each
    path what becomes of it: "+" it comes back, "-" it goes, "~" it changes. `kept` were changed by somebody else since
    and stay as they are; `uncovered` are not in the checkpoints; `failed` could not be written, with the reason.
    `before` is the checkpoint of how the files were until then, `session` the one
    that goes on. A rewind names the prompt that it took back, its `number`, and where the talk came from (`origin`).
    `cut`: one of the turns was cut off, so that all that changed since it began counts as its own.
    """

    action: Action
    session: str
    turns: tuple[Turn, ...] = ()
    marks: Mapping[str, Mark] = {}
    kept: tuple[str, ...] = ()
    uncovered: tuple[str, ...] = ()
    failed: tuple[tuple[str, str], ...] = ()
    before: str = ""
    prompt: str = ""
    number: int = 0
    origin: str = ""
    cut: bool = False
    done: bool = False

    @property
    def paths(self) -> tuple[str, ...]:
        """The paths that change."""
        return tuple(self.marks)


class Step(Base, frozen=True):
    """Something to take back: the tree `was` of how the files are held to be now, `want` of how they shall be.

    `checkpoint` is the id of what is given back, `marks` those from before the turns that are undone by it, where they
    are others. `theirs` are paths that somebody else may have changed meanwhile: they are kept.
    """

    checkpoint: str
    was: bytes
    want: bytes
    marks: tuple[str, ...] = ()
    theirs: frozenset[str] = frozenset()


async def preview(place: Place, steps: Steps, given: Given, *, force: bool, cut_off: str = "") -> Given:
    """What `give_back` would do to the files as they are now."""
    return await anyio.to_thread.run_sync(partial(_preview, place, steps, given, force, cut_off))


async def give_back(
    place: Place, steps: Steps, given: Given, *, force: bool, cut_off: str = ""
) -> tuple[Given, list[AnyEvent]]:
    """Give the files back; what was done, and the events that record it in the session `given.session`.

    There are none when nothing could be given back without `force`. How the files were is kept first. `cut_off` is the
    checkpoint from before an earlier giving that was killed: this one takes up what it left.
    """
    return await anyio.to_thread.run_sync(partial(_carry_out, place, given.session, steps, given, force, cut_off))


def told(given: Given) -> MessageAdded:
    """The note that tells the model."""
    return MessageAdded(message=user(note(given), kind="note", id=new_id("m")))


def _preview(place: Place, steps: Steps, given: Given, force: bool, cut_off: str) -> Given:
    """The steps one after the other, without doing any."""
    with Shelf(place) as shelf:
        half = Halfway(shelf, cut_off) if cut_off else None
        todo = steps(shelf)
        names = [names_of(compare(step.was, step.want)) for step in todo]
        now = _now(shelf, todo, names)
    here = View(now.tree)
    then, kept = Overlaid(here), set[str]()
    for step, some in zip(todo, names, strict=True):
        want = View(step.want)
        one = _planned(step, some, then, force, half)
        then.lay(want, one.give)
        kept.update(one.kept)
    marks = marks_of({name for some in names for name in some}, here, then)
    return replace(given, marks=marks, kept=tuple(sorted(kept)), uncovered=_uncovered(todo))


def _planned(step: Step, names: Sequence[str], now: Files, force: bool, half: Halfway | None) -> Plan:
    was = View(step.was)

    def left(path: str) -> bool:
        return half is not None and half.left(path, was, now)

    return plan(names, was, View(step.want), now, force=force, theirs=step.theirs, left=left)


def _carry_out(
    place: Place, session: str, steps: Steps, given: Given, force: bool, cut_off: str
) -> tuple[Given, list[AnyEvent]]:
    with Shelf(place) as shelf:
        half = Halfway(shelf, cut_off) if cut_off else None
        todo = steps(shelf)
        names = [names_of(compare(step.was, step.want)) for step in todo]
        first = now = _now(shelf, todo, names)
        before, ways = "", towards(step.checkpoint for step in todo)
        events: list[FilesRestored] = []
        failed: dict[str, str] = {}
        kept = set[str]()
        for step, some in zip(todo, names, strict=True):
            one = _planned(step, some, View(now.tree), force, half)
            kept.update(one.kept)
            if not one.give and one.kept:
                continue  # nothing of this turn can be given back: it is not undone
            before = before or _kept_first(shelf, now, session, ways, half)
            done = shelf.give(step.want, now.tree, one.give)
            now = _now(shelf, todo, names)
            failed.update(done.failed)
            kept.update(done.kept)
            events.append(_event(given.action, step, before, one, done))
            others = (mark for mark in step.marks if mark != step.checkpoint)
            events += [FilesRestored(action=given.action, checkpoint=mark, before=before) for mark in others]
        if events:
            shelf.save(now, session, before, "restore")
    marks = marks_of({name for some in names for name in some}, View(first.tree), View(now.tree))
    whole = replace(
        given, marks=marks, kept=tuple(sorted(kept)), uncovered=_uncovered(todo), failed=tuple(sorted(failed.items())),
        before=before, done=bool(events),
    )  # fmt: skip
    return whole, [*events]


def _kept_first(shelf: Shelf, now: Taken, session: str, ways: str, half: Halfway | None) -> str:
    """Keep how the files are; the checkpoint that a redo leads back to: after a giving that was killed the one from
    before that."""
    if half is not None and half.session == session:
        shelf.save(now, session, half.id, "restore")
        return half.id
    return shelf.save(now, session, ways, "restore")


def _now(shelf: Shelf, steps: Sequence[Step], names: Sequence[Sequence[str]]) -> Taken:
    """The files as they are, also the ignored ones that the steps are about."""
    return shelf.now({name for some in names for name in some}, beside=steps[0].was)


def _uncovered(steps: Sequence[Step]) -> tuple[str, ...]:
    """What changed in between and is in no checkpoint."""
    found = [compare(step.was, step.want) for step in steps]
    return tuple(sorted({path for changes in found for path in (*changes.uncovered, *changes.ignored)}))


def _event(action: Action, step: Step, before: str, one: Plan, done: Restored) -> FilesRestored:
    return FilesRestored(
        action=action,
        checkpoint=step.checkpoint,
        before=before,
        written=done.written,
        deleted=done.deleted,
        paths=one.give[:NAMED],
        kept=tuple(sorted({*one.kept, *done.kept}))[:NAMED],
        uncovered=_uncovered([step])[:NAMED],
    )


def note(given: Given) -> str:
    """What the model is told: which files are not as it left them."""
    turns = ", ".join(f'"{turn.title}"' if turn.title else "the one that went on" for turn in reversed(given.turns))
    what = {
        "undo": f"undid the file changes of this turn of yours: {turns}",
        "redo": "took back the undo: your file changes are there again",
        "rewind": "gave the files of the workspace back to an earlier state",
    }[given.action]
    words = {"+": " (back again)", "-": " (deleted)", "~": ""}
    failed = {path for path, _ in given.failed}
    names = [f"{show_name(path)}{words[mark]}" for path, mark in given.marks.items() if path not in failed]
    lines = [f"[The user {what}."]
    lines.append(f"Changed by this: {_some(names)}." if names else "No file had to be changed for this.")
    if given.kept:
        lines.append(f"Left as they are, since somebody else changed them: {_some([*map(show_name, given.kept)])}.")
    return " ".join([*lines, "Read files again before you rely on what they hold.]"])


def _some(names: Sequence[str]) -> str:
    more = len(names) - NAMED
    return ", ".join(names[:NAMED]) + (f" and {more} more" if more > 0 else "")
