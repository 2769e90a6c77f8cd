"""Finds places of a session's history by words."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice

from gongfu.core.base import Base
from gongfu.core.display import text_display
from gongfu.core.lexical.terms import terms
from gongfu.core.messages import Message
from gongfu.retrieval.rank import Doc, rank
from gongfu.toolkit.past import Past, Place, arguments
from gongfu.tools.protocol import Outcome

_SCAN = 256 << 20  # bytes of spilled outputs that one search reads, the newest first
_DIGEST = 6000  # characters of a place that are ranked
_FILLER = 300  # and of one that holds no word of the query, in a long history
_TOTAL = 2_000_000
_PLACES = 5000
_RANKED = 200
_SNIPPET = 240
_BLOCK = 1 << 20
_LOOKED_AT = 2000  # lines of a place in which words are compared by their stems
_WORDS = r"[a-z0-9]+|[^\x00-\x7f\W]+"


class _Candidate(Base, frozen=True):
    """A place that may hold what is looked for. `held` are the needles that it has."""

    id: str
    text: str
    held: tuple[str, ...] = ()
    shown: bool = False


class _Budget:
    """Bytes of outputs that may still be read."""

    def __init__(self) -> None:
        self.left = _SCAN


def search(past: Past, shown: Sequence[Message], query: str, start: int, limit: int, room: int) -> Outcome:
    """The places that hold words of `query`, those that requests do not show in full first, from hit `start` on.

    Each with its id, what it is, the lines around the best match and how to recall the rest, in `room` bytes.
    """
    needles = _needles(query)
    budget = _Budget()
    candidates = _spread(list(_candidates(past, shown, needles, budget)))
    unread = "; the oldest outputs were not searched, there is too much of them" if budget.left <= 0 else ""
    by_id = {c.id: c for c in candidates}
    spread = Counter(needle for c in candidates for needle in c.held)
    telling = {needle: 1 / spread[needle] for needle in needles if needle in spread}
    hits = [h.id for h in rank(query, [Doc(id=c.id, text=c.text) for c in candidates], limit=_RANKED)]
    hits.sort(key=lambda name: by_id[name].shown)
    total = len(hits)
    if start > total:
        none = f"there is no hit {start}: " if hits else ""
        text = f"[{none}{_places(total)} of this session's history for: {query[:200]}{unread}]"
        return Outcome(text=text, display=text_display("", _places(total)))
    blocks: list[str] = []
    room -= 300 + len(query[:200].encode("utf-8", "replace"))
    for name in hits[start - 1 : start - 1 + limit]:
        block = _block(past, name, query, telling, seen=by_id[name].shown)
        room -= len(block.encode("utf-8", "replace")) + 1
        if room < 0 and blocks:
            break
        blocks.append(block)
    last = start + len(blocks) - 1
    more = f"; offset={last + 1} goes on" if last < total else ""
    head = f"[recalled, as it was then: {_places(total)} for: {query[:200]}; {start}-{last}, best first{more}{unread}]"
    return Outcome(text="\n".join((head, *blocks)), display=text_display("", _places(total)))


def _places(count: int) -> str:
    return "1 place" if count == 1 else f"{count or 'no'} places"


def _needles(query: str) -> tuple[str, ...]:
    """Pieces of text, in lower case, by which matching lines are found: words without their ends, pairs of signs."""
    found: list[str] = []
    for word in re.findall(_WORDS, query.lower()):
        if word.isascii():
            found.append(word[:-1] if len(word) > 4 and word.isalpha() else word)
        else:
            found += [word[at : at + 2] for at in range(max(1, len(word) - 1))]
    telling = [word for word in found if len(word) > 2 or not word.isascii()]
    return tuple(dict.fromkeys(telling or found or [query.lower()]))


def _count(text: str, needles: Iterable[str]) -> int:
    return sum(needle in text for needle in needles)


def _candidates(past: Past, shown: Sequence[Message], needles: Sequence[str], budget: _Budget) -> Iterator[_Candidate]:
    """Every place of the history, the newest first."""
    whole = {id(m) for m in shown}
    results = {r.call_id for m in shown for r in m.results if past.results.get(r.call_id) is r}
    calls = {c.id for m in shown for c in m.calls if past.calls[c.id][1] is c} if results else set[str]()
    filler = max(_FILLER, min(_DIGEST, _TOTAL // max(1, len(past.messages))))
    made = set(past.makers)
    for name in past.outputs:
        if name not in made:  # of a background command
            text = _scanned(past.find(name), needles, budget)
            yield _candidate(name, text, needles, filler, shown=False)
    for at in range(len(past.messages) - 1, -1, -1):
        message = past.messages[at]
        for call in message.calls:
            result = past.results.get(call.id)
            if call.name == "recall" or result is None:
                continue
            label = past.labels.get(call.id, "")
            text = f"{past.brief(call.id)}\n{label}\n{arguments(call)}\n{result.text}"
            if result.artifact in past.outputs:
                text = f"{text}\n{_scanned(past.find(result.artifact), needles, budget)}"
            seen = call.id in results and call.id in calls and not result.artifact
            yield _candidate(call.id, text, needles, filler, shown=seen)
        if message.text and message.role != "tool" and (message.kind != "note" or message.agent):
            yield _candidate(f"u{at}", message.text, needles, filler, shown=id(message) in whole)


def _candidate(id: str, text: str, needles: Sequence[str], filler: int, *, shown: bool) -> _Candidate:
    low = text.lower()
    held = tuple(needle for needle in needles if needle in low)
    return _Candidate(id=id, text=_digest(text, needles) if held else text[:filler], held=held, shown=shown)


def _digest(text: str, needles: Sequence[str]) -> str:
    """A long text as its beginning and the lines that match."""
    if len(text) <= _DIGEST:
        return text
    kept, room = [text[:_FILLER]], _DIGEST - _FILLER
    for line in text.splitlines():
        if room > 0 and _count(line.lower(), needles):
            kept.append(_around(line, needles)[:room])
            room -= len(kept[-1])
    return "\n".join(kept)


def _scanned(place: Place, needles: Sequence[str], budget: _Budget) -> str:
    """The lines of a spilled output that match."""
    kept: list[str] = []
    room = _DIGEST
    raw = [needle.encode("utf-8", "replace") for needle in needles]
    for block in _blocks(place):
        if budget.left <= 0 or room <= 0:
            break
        budget.left -= len(block)
        low = block.lower()
        if not any(needle in low for needle in raw):
            continue
        for row in block.split(b"\n"):
            low = row.lower()
            if room > 0 and any(needle in low for needle in raw):
                kept.append(_around(place.decode(row), needles)[:room])
                room -= len(kept[-1])
    return "\n".join(kept)


def _blocks(place: Place) -> Iterator[bytes]:
    """The text of a place in large pieces that end at line ends, where there are some."""
    if place.file is None:
        yield b"\n".join(place.open())
        return
    try:
        with place.file.open("rb") as file:
            while block := file.read(_BLOCK):
                yield block + file.readline(_BLOCK)
    except OSError:
        return  # gone meanwhile: there is nothing to find


def _spread(candidates: list[_Candidate]) -> list[_Candidate]:
    """Of very many those that hold the most words, then the newest."""
    if len(candidates) <= _PLACES:
        return candidates
    order = sorted(range(len(candidates)), key=lambda at: (-len(candidates[at].held), at))[:_PLACES]
    return [candidates[at] for at in sorted(order)]


def _block(past: Past, id: str, query: str, telling: Mapping[str, float], *, seen: bool) -> str:
    """What is told of one hit."""
    place = past.find(id)
    result = past.results.get(id)
    source = past.find(result.artifact) if result is not None and result.artifact in past.outputs else place
    at, lines = _best(source, telling)
    if not lines and source is not place:
        source = place
        at, lines = _best(source, telling)
    if not lines:
        at, lines = _nearest(source, query)
    here = " (in view)" if seen else ""
    more = f"recall id={source.id}{f' offset={at}' if at > 1 else ''}"
    return "\n".join((f"- {place.about}{here}: {more}", *(f"  {line}" for line in lines)))


def _best(place: Place, telling: Mapping[str, float]) -> tuple[int, list[str]]:
    """The number of the line to read from, and up to three lines around the one whose words tell the most."""
    best, at, most = 0.0, 1, sum(telling.values())
    before, kept, wanted = b"", list[bytes](), 0
    raw = {needle.encode("utf-8", "replace"): value for needle, value in telling.items()}
    for number, row in enumerate(place.open(), 1):
        low = row.lower()
        weight = sum([value for needle, value in raw.items() if needle in low])
        if weight > best:
            best, at = weight, max(1, number - 1)
            kept, wanted = ([before] if before.strip() else []) + [row], 1
        elif wanted:
            kept.append(row)
            wanted -= 1
        before = row
        if best >= most and not wanted:
            break
    return at, [_around(place.decode(row), telling) for row in kept if row.strip()]


def _nearest(place: Place, query: str) -> tuple[int, list[str]]:
    """The same by stems, for words that are written otherwise: the one line that shares the most."""
    wanted = set(terms(query))
    best, at, found = 0, 1, ""
    for number, line in enumerate(islice(place.lines(), _LOOKED_AT), 1):
        shared = len(wanted.intersection(terms(line)))
        if shared > best:
            best, at, found = shared, number, line
    return at, [_around(found, ())] if best else []


def _around(line: str, needles: Iterable[str]) -> str:
    """A line, or of a long one what stands around its first match."""
    line = line.strip()
    if len(line) <= _SNIPPET:
        return line
    low = line.lower()
    first = min((at for needle in needles if (at := low.find(needle)) >= 0), default=0)
    begin = max(0, min(first - _SNIPPET // 3, len(line) - _SNIPPET))
    cut = line[begin : begin + _SNIPPET]
    return f"{'…' if begin else ''}{cut}{'…' if begin + _SNIPPET < len(line) else ''}"
