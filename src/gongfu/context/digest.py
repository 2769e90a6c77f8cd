"""A summary as sections of one-line items: read from a model's words or our own, merged, cut to a room."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from functools import cache

from gongfu.context.quote import clip, one_line
from gongfu.core.tokens import text_tokens

SECTIONS = (
    "Constraints",
    "Preferences",
    "Decisions",
    "Open work",
    "Changes done",
    "Errors and fixes",
    "Background",
)
"""In the order in which they are written and, from the end, given up when the room is short."""

SAID = 3  # so many of the first sections hold the person's own words
_ALIASES = {
    "constraint": 0, "rules": 0, "requirements": 0, "约束": 0, "限制": 0, "要求": 0, "制約": 0,
    "constraints and preferences": 0,
    "preference": 1, "偏好": 1, "好み": 1,
    "decision": 2, "决定": 2, "决策": 2, "決定": 2,
    "open": 3, "open items": 3, "todo": 3, "to do": 3, "next steps": 3, "pending": 3,
    "未完成": 3, "待办": 3, "未完成的工作": 3, "残作業": 3,
    "changes": 4, "done": 4, "work done": 4,
    "已完成": 4, "更改": 4, "已做的更改": 4, "变更": 4, "完成的更改": 4, "変更": 4,
    "errors": 5, "fixes": 5, "errors & fixes": 5, "错误与修复": 5, "错误和修复": 5, "错误": 5, "エラーと修正": 5,
    "context": 6, "goal": 6, "背景": 6, "目标": 6,
}  # fmt: skip
_LONGEST = 600  # characters of one item
_LEAST = 6  # tokens of any item
_SHORTEST = 24  # tokens; an item is not shortened to less
_SHARES = {3: 30, 4: 60, 5: 60, 6: 100}  # percent of what is left, by section, while all of them need room


class Digest:
    """Items by section, each once, oldest first, each with a strength that tells what goes first within its section."""

    def __init__(self) -> None:
        self._items: list[dict[str, tuple[str, int]]] = [{} for _ in SECTIONS]

    def add(self, section: int, text: str, strength: int = 2) -> None:
        """Put an item at the end of a section; one that says the same stays where it is, with the greater strength."""
        if len(text) > _LONGEST:  # half a secret is not known for one
            text = _redacted(clip(text, 2 * _LONGEST + 800))
        line = one_line(text, _LONGEST)
        key = _key(line)
        if not key:
            return
        for other in self._items[:SAID]:
            if section < SAID and key in other:  # said before, if perhaps as another kind
                other[key] = (other[key][0], max(strength, other[key][1]))
                return
        was = self._items[section].get(key)
        self._items[section][key] = (was[0], max(strength, was[1])) if was else (line, strength)

    def read(self, text: str, rate: Callable[[str], int]) -> None:
        """Take in a summary; `rate` tells the strength of an item. What stands under no known heading is background."""
        section = len(SECTIONS) - 1
        for line in text.splitlines():
            found = _heading(line)
            if found is not None:
                section = found
            elif line.strip():
                self.add(section, item := _bare(line), rate(item))

    def items(self, section: int) -> tuple[tuple[str, int], ...]:
        """The items of a section with their strengths, oldest first."""
        return tuple(self._items[section].values())

    def newest(self, section: int, count: int) -> None:
        """Forget all but the newest `count` items of a section."""
        items = self._items[section]
        for key in list(items)[: max(0, len(items) - count)]:
            del items[key]

    def write(self, room: int) -> str:
        """The summary within `room` tokens when each line is quoted (`> `).

        The person's words come first, section by section: nothing else is left where one of them had to go. Of the rest
        no section takes more than its share while another needs room. In a section the weakest and oldest items go
        first, and the last one that is kept may be shortened. Secrets are left out.
        """
        text = self._written(room)
        if _redacted(text) == text:
            return text
        for section in self._items:
            section.update({key: (_redacted(line), strength) for key, (line, strength) in section.items()})
        return _redacted(self._written(room))

    def _written(self, room: int) -> str:
        chosen: list[dict[str, str]] = [{} for _ in SECTIONS]
        left, whole = room, True
        for section in range(SAID):
            if whole:
                left, whole = self._fill(section, chosen[section], left)
        for shares in (_SHARES, dict.fromkeys(_SHARES, 100)) if whole else ():
            for section, percent in shares.items():
                most = left * percent // 100
                spare, _ = self._fill(section, chosen[section], most)
                left -= most - spare
        return "\n".join(_lines(self._items, chosen))

    def _fill(self, section: int, chosen: dict[str, str], left: int) -> tuple[int, bool]:
        """Choose items of a section within `left` tokens; what is left then and whether all of them are there whole."""
        items = self._items[section]
        if not items:
            return left, True
        start, head = left, 0 if chosen else _cost(f"## {SECTIONS[section]}")
        left -= head
        newest = {key: n for n, key in enumerate(items)}
        whole = True
        for key in sorted(items, key=lambda k: (-items[k][1], -newest[k])):
            if chosen.get(key) == items[key][0]:
                continue
            left += _cost(f"- {chosen.pop(key)}") if key in chosen else 0
            text = items[key][0]
            cost = _cost(f"- {text}")
            if cost > left:
                whole = False
                if left < _LEAST:
                    break
                text = _redacted(text)
                text = clip(text, len(text) * max(0, left - 8) // cost)
                cost = _cost(f"- {text}")
                if cost > left or left < _SHORTEST:
                    continue
            chosen[key] = text
            left -= cost
        return (left, whole) if chosen else (start, whole)


def _redacted(text: str) -> str:
    from gongfu.core.secrets import redact  # only where a fold or a summary is made

    return redact(text)


def _lines(items: list[dict[str, tuple[str, int]]], chosen: list[dict[str, str]]) -> Iterator[str]:
    for section, picked in enumerate(chosen):
        if picked:
            yield f"## {SECTIONS[section]}"
            yield from (f"- {picked[key]}" for key in items[section] if key in picked)


def _cost(line: str) -> int:
    return text_tokens(f"> {line}\n")


def _key(text: str) -> str:
    """What two items that say the same have in common."""
    return _sundry().sub("", text[:400].casefold()).strip(".-_")


@cache
def _sundry() -> re.Pattern[str]:
    return re.compile(r"[^\w+\-*/<>=%$#@.]+")


def _bare(line: str) -> str:
    return _marks().sub("", line, count=1).strip()


@cache
def _marks() -> re.Pattern[str]:
    return re.compile(r"^\s*(?:>\s*)*(?:[-*+•·]\s+|\d{1,3}[.)]\s+)?")


def _heading(line: str) -> int | None:
    """The section that a line opens. A heading of no known name opens the last one."""
    bare = line.strip().lstrip(">").strip()
    name = bare.lstrip("#*0123456789.、() ").rstrip(":：*# ").casefold()
    marked = bare.startswith("#") or (bare.startswith("**") and bare.rstrip(":：").endswith("**"))
    for number, section in enumerate(SECTIONS):
        if name == section.casefold() and (marked or bare.endswith((":", "：")) or bare.casefold() == name):
            return number
    if not marked:
        return None
    if (alias := _ALIASES.get(name, _ALIASES.get(name.rstrip("s")))) is not None:
        return alias
    return len(SECTIONS) - 1 if bare.startswith("#") else None
