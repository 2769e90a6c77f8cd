"""The status line: facts in, one painted line out."""

from __future__ import annotations

from collections.abc import Callable

from gongfu.core.base import Base
from gongfu.surfaces.cli.render.numbers import money, tokens
from gongfu.surfaces.cli.speech import Speech
from gongfu.surfaces.cli.style import Style, one_line
from gongfu.surfaces.cli.width import clip, width

_ROOM = 12  # cells that a title needs at least
_HIGH, _FULL = 70, 90  # percent of the context from which on it is told louder


class Facts(Base, frozen=True):
    """What the status line tells. Tokens are counts, `cost` US dollars (None: not known).

    `context` and `budget` are those of the newest request (0: none yet), `cached` of `read` tokens came from a cache.
    `sandbox` is "none" for none.
    """

    model: str = ""
    mode: str = ""
    permission: str = ""
    sandbox: str = "none"
    online: bool = False
    context: int = 0
    budget: int = 0
    read: int = 0
    cached: int = 0
    written: int = 0
    cost: float | None = 0.0
    title: str = ""
    queued: int = 0
    compact: bool = False
    verbose: bool = False


class _Part(Base, frozen=True):
    text: str
    painted: str
    weight: int  # the greater, the longer it stays


def status(facts: Facts, columns: int, style: Style, speech: Speech) -> str:
    """One line of at most `columns` cells; what does not fit is left out, the least important first."""
    parts = [part for part in _parts(facts, style, speech) if part.text]
    while len(parts) > 1 and _cells(parts) > columns:
        parts.remove(min(parts, key=lambda part: part.weight))
    if _cells(parts) > columns:
        return style.dim(" " + clip(parts[0].text, columns - 1))
    line = " " + style.dim(" · ").join(part.painted for part in parts)
    room = columns - _cells(parts) - 3
    title = one_line(facts.title)
    if not title or room < min(_ROOM, width(title)):
        return line
    title = clip(title, room)
    return line + " " * (room - width(title) + 2) + style.dim(title)


def _cells(parts: list[_Part]) -> int:
    return 1 + sum(width(part.text) for part in parts) + 3 * (len(parts) - 1)


def _parts(facts: Facts, style: Style, speech: Speech) -> list[_Part]:
    model = one_line(facts.model.rpartition("/")[2]) or speech("talk_view.no_model")
    marks = [
        (speech("talk_view.queued", count=facts.queued) if facts.queued else "", 65),
        (speech("talk_view.compact") if facts.compact else "", 30),
        (speech("talk_view.verbose") if facts.verbose else "", 25),
    ]
    return [
        _Part(text=model, painted=model, weight=100),
        _plain(one_line(facts.mode), 80, style.cyan),
        _permission(facts.permission, style),
        _sandbox(facts, style, speech),
        _context(facts, style, speech),
        _plain(_cache(facts, speech), 40, style.dim),
        _plain(_money(facts, speech), 60, style.dim),
        *(_plain(text, weight, style.cyan) for text, weight in marks),
    ]


def _plain(text: str, weight: int, paint: Callable[[str], str]) -> _Part:
    return _Part(text=text, painted=paint(text), weight=weight)


def _permission(mode: str, style: Style) -> _Part:
    paint = {"plan": style.cyan, "ask": style.green, "auto": style.yellow, "full": style.red}.get(mode)
    return _Part(text=mode, painted=paint(mode) if paint else mode, weight=90)


def _sandbox(facts: Facts, style: Style, speech: Speech) -> _Part:
    if facts.sandbox == "none":
        text = speech("talk_view.unconfined")
        return _Part(text=text, painted=style.yellow(text), weight=50)
    text = speech("talk_view.online", kind=facts.sandbox) if facts.online else facts.sandbox
    return _Part(text=text, painted=style.dim(text), weight=35)


def _context(facts: Facts, style: Style, speech: Speech) -> _Part:
    if not (facts.budget and facts.context):
        return _Part(text="", painted="", weight=70)
    percent = round(100 * facts.context / facts.budget)
    text = speech("talk_view.used", percent=percent, budget=_short(facts.budget))
    paint = style.red if percent >= _FULL else style.yellow if percent >= _HIGH else style.dim
    return _Part(text=text, painted=paint(text), weight=70)


def _cache(facts: Facts, speech: Speech) -> str:
    if not (facts.read and facts.cached):
        return ""
    return speech("talk_view.cache", percent=min(100, round(100 * facts.cached / facts.read)))


def _money(facts: Facts, speech: Speech) -> str:
    if not (facts.read or facts.written):
        return ""
    if not facts.cost:  # not known, or a model that costs nothing
        return speech("talk_view.tokens", tokens=tokens(facts.read + facts.written))
    return money(facts.cost)


def _short(count: int) -> str:
    """A budget, rounded: "128k", "1M"."""
    if count >= 1_000_000:
        return f"{count / 1_000_000:.3g}M"
    return f"{round(count / 1000)}k" if count >= 1000 else str(count)
