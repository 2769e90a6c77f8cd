"""The difference of two trees."""

from __future__ import annotations

from collections.abc import Iterator

from gongfu.workspace.checkpoint.kept import Changes
from gongfu.workspace.checkpoint.tree import ABSENT, FOLDER, IGNORED, UNKEPT, Item, Tree, inside, to_text


def compare(before: bytes, after: bytes) -> Changes:
    """What must be done to make `after` of `before`. UserError when one of them cannot be read."""
    return changes_of(Tree(before), Tree(after))


def changes_of(before: Tree, after: Tree) -> Changes:
    """See `compare`."""
    found: dict[str, list[str]] = {name: [] for name in ("added", "removed", "changed", "uncovered", "ignored")}
    for path, old, new in differences(before, after):
        kinds = {item.kind for item in (old, new) if item is not None}
        shown = to_text(path) + ("/" if FOLDER in kinds and len(kinds) == 1 else "")
        if UNKEPT in kinds or lost_repository(path, old, new):
            found["uncovered"].append(shown)
        elif IGNORED in kinds:
            found["ignored"].append(shown)
        elif old is None:
            if before.knows(path):
                found["added"].append(shown)
        elif new is None:
            if after.knows(path):
                found["removed"].append(shown)
        else:
            found["changed"].append(shown)
    return Changes(**{name: tuple(sorted(paths)) for name, paths in found.items()})


def differences(before: Tree, after: Tree) -> Iterator[tuple[bytes, Item | None, Item | None]]:
    """Each path that is not the same in both trees, with what it was and is; None where it is not told of."""
    for folder in dict.fromkeys((*before.folders, *after.folders)):
        if before.folders.get(folder) == after.folders.get(folder):
            continue
        old, new = before.listing(folder), after.listing(folder)
        if folder and (old is None or new is None):
            yield from _differ(folder, _present(before.item(folder)), _present(after.item(folder)))
        elif old is not None and new is not None and old.mode != new.mode:
            yield folder, Item(FOLDER, old.mode, 0, b""), Item(FOLDER, new.mode, 0, b"")
        olds, news = before.items(folder), after.items(folder)
        for name in dict.fromkeys((*olds, *news)):
            path = inside(folder, name)
            if path not in before.folders and path not in after.folders:  # a folder on one side is told of above
                yield from _differ(path, olds.get(name), news.get(name))


def lost_repository(path: bytes, old: Item | None, new: Item | None) -> bool:
    """Whether git's own data at a path, which no checkpoint holds, is gone."""
    return old is not None and old.kind == IGNORED and new is None and path.rpartition(b"/")[2] == b".git"


def _differ(path: bytes, old: Item | None, new: Item | None) -> Iterator[tuple[bytes, Item | None, Item | None]]:
    if old is None or new is None:
        if old is not new:
            yield path, old, new
    elif not old.same(new):
        yield path, old, new


def _present(item: Item | None) -> Item | None:
    return None if item is None or item.kind == ABSENT else item
