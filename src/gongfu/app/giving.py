"""Which files an undo gives back, and which it leaves because somebody else changed them since."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from typing import Literal, Protocol

from gongfu.core.base import Base

Mark = Literal["+", "-", "~"]


class Thing(Base, frozen=True):
    """What is at a path: two are equal when giving back either comes to the same. `folder`: others may lie below."""

    key: tuple[object, ...]
    folder: bool = False
    size: int = 0


class Files(Protocol):
    """Files by path relative to the root, with forward slashes."""

    def get(self, path: str, /) -> Thing | None:
        """What is at a path; None for nothing."""
        ...

    def below(self, path: str, /) -> Iterable[str]:
        """All paths below a folder."""
        ...


class Plan(Base, frozen=True):
    """Paths below the root: `give` is given back, `kept` is left as it is."""

    give: tuple[str, ...] = ()
    kept: tuple[str, ...] = ()


class Overlaid:
    """`files` with some paths as they are elsewhere."""

    def __init__(self, files: Files) -> None:
        self._files = files
        self._over: dict[str, Thing | None] = {}

    def lay(self, want: Files, paths: Iterable[str]) -> None:
        """From now on `paths` are as in `want`."""
        self._over.update((path, want.get(path)) for path in paths)

    def get(self, path: str, /) -> Thing | None:
        return self._over[path] if path in self._over else self._files.get(path)

    def below(self, path: str, /) -> Iterable[str]:
        start = f"{path}/"
        names = dict.fromkeys((*self._files.below(path), *(name for name in self._over if name.startswith(start))))
        return [name for name in names if self.get(name) is not None]


def plan(
    names: Iterable[str],
    was: Files,
    want: Files,
    now: Files,
    *,
    force: bool = False,
    theirs: Collection[str] = (),
    left: Callable[[str], bool] | None = None,
) -> Plan:
    """How to bring `names` from how they are held to be (`was`) to what is wanted, where they really are as `now`.

    A path that still is as it `was` is given back, one that is as wanted already is passed over, any other is kept
    unless `force`, as are `theirs`. What cannot be there beside something that stays is kept as well; a folder in which
    something stays is passed over. `left` tells of a path that is no longer as it `was` whether that is only because
    giving it back was cut off.
    """
    give: list[str] = []
    kept: list[str] = []
    for path in sorted(names):
        target, here = want.get(path), now.get(path)
        if here == target:
            continue
        mine = (here == was.get(path) or (left is not None and left(path))) and path not in theirs
        (give if force or mine else kept).append(path)
    kept += _blocked(give, want, now)
    return Plan(give=tuple(give), kept=tuple(sorted(kept)))


def marks_of(names: Iterable[str], now: Files, then: Files) -> dict[str, Mark]:
    """What becomes of each of `names` that is not the same in both: it comes ("+"), goes ("-") or changes ("~")."""
    return {p: _mark(now.get(p), then.get(p)) for p in sorted(names) if now.get(p) != then.get(p)}


def _blocked(give: list[str], want: Files, now: Files) -> list[str]:
    """Take out of `give` what something that stays is in the way of; those among it that are to come back."""
    blocked: list[str] = []
    while True:
        given = set(give)
        found = [path for path in give if _in_the_way(path, given, want, now)]
        if not found:
            return blocked
        blocked += [path for path in found if want.get(path) is not None]
        give[:] = [path for path in give if path not in found]


def _in_the_way(path: str, given: set[str], want: Files, now: Files) -> bool:
    target, here = want.get(path), now.get(path)
    if here is not None and here.folder and (target is None or not target.folder):
        return any(below not in given or want.get(below) is not None for below in now.below(path))
    if target is None:
        return False
    for above in _above(path):
        there = want.get(above) if above in given else now.get(above)
        if there is not None and not there.folder:
            return True
    return False


def _above(path: str) -> Sequence[str]:
    parts = path.split("/")
    return ["/".join(parts[:count]) for count in range(1, len(parts))]


def _mark(here: Thing | None, target: Thing | None) -> Mark:
    return "+" if here is None else "-" if target is None else "~"
