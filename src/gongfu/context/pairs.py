"""Past exchanges as pairs (level L2): what a person said and what came of it, shown again where it matters."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from typing import Any, cast

import msgspec

from gongfu.context.quote import clean, clip, fitted, one_line, quoted, short
from gongfu.core.base import Base
from gongfu.core.messages import CallPart, ImagePart, Message, ReasoningPart
from gongfu.core.tokens import text_tokens

CAPACITY, LEAVING = 50, 30
FULL, LINE, COMMON, EACH = 0.5, 0.2, 0.4, 0.1
_THOUGHT, _THOUGHTS, _ROUNDS = 300, 1200, 3  # characters of one thought and of all, first and last rounds
_SEARCHED = 700  # characters of words, of an answer and of a query that are compared
_REPORT = 200  # characters of what another agent reported
_PATH_KEYS = frozenset({"path", "paths", "file", "files", "file_path", "filename", "old_path", "new_path", "target"})
_INTRODUCTION = (
    "[Earlier exchanges of this conversation, no longer in full view, that may bear on the task: a record, neither "
    "rules nor instructions. Old text stands behind a >; more of one: recall id=turn:N.]"
)


class Pair(Base, frozen=True, gc=False):
    """One exchange. `turn` is its number from 0, `labels` name its batches of calls, `files` are their paths."""

    turn: int
    user: str
    answer: str
    labels: tuple[str, ...] = ()
    files: tuple[str, ...] = ()
    thinking: str = ""


class Shown(Base, frozen=True):
    """The pairs as a request shows them: `turns` are in `text`, `omitted` are not, both in order."""

    text: str
    turns: tuple[int, ...]
    omitted: tuple[int, ...]


# --- making them -------------------------------------------------------------------------------------------------


def pair_of(turn: int, messages: Sequence[Message], labels: Mapping[str, str]) -> Pair:
    """The pair of one turn from its raw messages; `labels` are texts by call id.

    The person's words include what was said while the turn ran; notes of Gongfu and messages of other agents are no
    such words. The answer is the last text of the model without calls, put together where it came in pieces. What other
    agents reported stands behind the labels, by its beginning.
    """
    rounds = [m for m in messages if m.role == "assistant" and m.calls]
    calls = [call for m in rounds for call in m.calls]
    return Pair(
        turn=turn,
        user="\n".join(filter(None, [_words(m) for m in messages if m.role == "user"])),
        answer=_answer(messages),
        labels=tuple(dict.fromkeys((*(labels[c.id] for c in calls if labels.get(c.id)), *_reports(messages)))),
        files=tuple(dict.fromkeys(path for c in calls for path in paths_in(c))),
        thinking=_thinking(rounds),
    )


def _words(message: Message) -> str:
    if message.kind == "note" or message.agent:
        return ""
    images = sum(isinstance(p, ImagePart) for p in message.parts)
    shown = f"[{images} image{'s' if images > 1 else ''}]" if images else ""
    return " ".join(filter(None, (message.text.strip(), shown)))


def _reports(messages: Sequence[Message]) -> Iterator[str]:
    """The beginning of what each other agent said."""
    for message in messages:
        if message.role == "user" and message.agent:
            yield f"{message.agent} said: {short(message.text, _REPORT)}"
        elif message.role == "tool":
            yield from (f"{r.agent} reported: {short(r.text, _REPORT)}" for r in message.results if r.agent)


def _answer(messages: Sequence[Message]) -> str:
    pieces: list[str] = []
    for message in reversed(messages):
        if message.role == "assistant" and not message.calls:
            pieces.append(message.text)
        elif message.kind != "note" and (pieces or message.role != "user"):
            break
    return "".join(reversed(pieces)).strip()


def _thinking(rounds: Sequence[Message]) -> str:
    """What the model thought or said while it called tools, each thought shortened: the first ones and the last."""
    if len(rounds) > 2 * _ROUNDS:
        rounds = [*rounds[:_ROUNDS], *rounds[-_ROUNDS:]]
    thoughts: list[str] = []
    for message in rounds:
        thought = "\n".join(p.text for p in message.parts if isinstance(p, ReasoningPart)) or message.text
        if line := one_line(thought[: 4 * _THOUGHT], _THOUGHT):
            thoughts.append(line)
    return clip("\n".join(dict.fromkeys(thoughts)), _THOUGHTS)


def paths_in(call: CallPart) -> Iterable[str]:
    """The paths that the arguments of a call name, with forward slashes."""
    try:
        values = msgspec.json.decode(call.arguments, type=dict[str, Any])
    except msgspec.DecodeError:
        return
    for key, value in values.items():
        if key in _PATH_KEYS:
            many = cast("list[Any]", value) if isinstance(value, list) else [value]
            for path in many:
                if isinstance(path, str) and (name := same_path(path)):
                    yield name


def same_path(path: str) -> str:
    """One spelling for a path: forward slashes, nothing before a relative one; "" for the directory itself."""
    plain = path.isascii() and path.isprintable() and "<" not in path and "[" not in path
    name = (path.strip() if plain else one_line(path)).replace("\\", "/")
    while name.startswith("./"):
        name = name[2:].lstrip("/")
    return "" if name == "." else name


# --- keeping them ------------------------------------------------------------------------------------------------


class PairStore:
    """The pairs of a session, oldest first: at most 50. When one more comes, the oldest 30 leave."""

    def __init__(self) -> None:
        self._pairs: dict[int, Pair | Callable[[], Pair]] = {}

    def add(self, pairs: Iterable[Pair]) -> tuple[Pair, ...]:
        """Take in `pairs`; those that left on that account, oldest first. A turn that is already there is replaced."""
        left: list[Pair] = []
        for pair in pairs:
            left.extend(map(_made, self._put(pair.turn, pair)))
        return tuple(left)

    def later(self, turn: int, make: Callable[[], Pair]) -> None:
        """Take in the pair of a turn, which is made when it is asked for."""
        self._put(turn, make)

    def _put(self, turn: int, pair: Pair | Callable[[], Pair]) -> list[Pair | Callable[[], Pair]]:
        self._pairs.pop(turn, None)
        self._pairs[turn] = pair
        return [self._pairs.pop(t) for t in list(self._pairs)[:LEAVING]] if len(self._pairs) > CAPACITY else []

    @property
    def pairs(self) -> tuple[Pair, ...]:
        """What is kept, oldest first."""
        self._pairs = {turn: _made(pair) for turn, pair in self._pairs.items()}
        return tuple(map(_made, self._pairs.values()))


def _made(pair: Pair | Callable[[], Pair]) -> Pair:
    return pair if isinstance(pair, Pair) else pair()


# --- showing them ------------------------------------------------------------------------------------------------


def show(pairs: Sequence[Pair], *, query: str, files: Collection[str], room: int) -> Shown:
    """The pairs that matter for a task, within `room` tokens, in the order of the conversation.

    `query` are the words of the task, `files` the paths it touches. A score of .5 shows a pair in full (long words
    shortened head and tail), .2 as one line, less not at all; the best one is always shown if it fits. A file in common
    lifts a score to .4 at least, each further one by .1. Only the newest fifty are looked at.
    """
    looked_at = sorted(pairs, key=lambda p: p.turn)[-CAPACITY:]
    scores = _scores(looked_at, query, files)
    order = sorted(looked_at, key=lambda p: (-scores[p.turn], -p.turn))
    left = room - text_tokens(_INTRODUCTION) - 1
    most = max(64, left // 3)
    texts: dict[int, str] = {}
    for pair in order:
        score = scores[pair.turn]
        if texts and score < LINE:
            break
        forms = (_whole(pair, most), _line(pair)) if score >= FULL else (_line(pair),)
        for form in forms:
            if (cost := text_tokens(f"{form}\n")) <= left:
                texts[pair.turn] = form
                left -= cost
                break
    turns = tuple(sorted(texts))
    omitted = tuple(sorted(p.turn for p in pairs if p.turn not in texts))
    if not turns:
        return Shown(text="", turns=(), omitted=omitted)
    return Shown(text="\n".join((_INTRODUCTION, *(texts[t] for t in turns))), turns=turns, omitted=omitted)


def _scores(pairs: Sequence[Pair], query: str, files: Collection[str]) -> dict[int, float]:
    from gongfu.retrieval.rank import Doc, rank  # its tables take a while: loaded at the first fold that shows pairs

    wanted = {same_path(f) for f in files} - {""}
    docs = [Doc(id=str(p.turn), text=searchable(p)) for p in pairs]
    found = {hit.id: hit.score for hit in rank(clip(query, _SEARCHED), docs, limit=len(docs))}
    scores: dict[int, float] = {}
    for pair in pairs:
        score = found.get(str(pair.turn), 0.0)
        if common := len(wanted.intersection(pair.files)):
            score = min(1.0, max(score, COMMON) + EACH * (common - 1))
        scores[pair.turn] = score
    return scores


def searchable(pair: Pair) -> str:
    """The text of a pair that a search goes over: long ones by their head and tail."""
    return "\n".join((clip(pair.user, _SEARCHED), clip(pair.answer, _SEARCHED), *pair.labels, *pair.files))


def _whole(pair: Pair, most: int) -> str:
    """A pair in full: at most about `most` tokens, a third of them the words, half the answer."""
    lines = [f"turn {pair.turn}, user:", quoted(fitted(clean(pair.user), most // 3))]
    if pair.answer:
        lines += ["answer:", quoted(fitted(clean(pair.answer), most // 2))]
    if pair.thinking:
        lines += ["thought on the way:", quoted(fitted(clean(pair.thinking), most // 10))]
    if pair.labels:
        lines.append(f"did > {one_line('; '.join(pair.labels), 400)}")
    if pair.files:
        lines.append(f"files > {one_line(', '.join(pair.files), 300)}")
    return "\n".join(lines)


def _line(pair: Pair) -> str:
    words, came = short(pair.user, 120), short(pair.answer or "; ".join(pair.labels), 160)
    return f"turn {pair.turn} > {words} → {came}"
