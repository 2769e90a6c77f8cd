"""Calls that a model wrote into its text: found while it streams, and no marker ever shown."""

from __future__ import annotations

import re
import sys
from functools import cache
from itertools import groupby
from typing import TYPE_CHECKING, Literal, TypeAlias, cast

from msgspec import structs

from gongfu.models.markers import PAIRS, STRAY, Found, bare_name, meant_name

if TYPE_CHECKING:
    from gongfu.models.written import Strings

Style: TypeAlias = Literal["markers", "fenced", "off"]
"""Where written calls are looked for: "markers" (models with tools; never inside a code fence or inline code),
"fenced" (models without tools: also fenced JSON, and an answer that is nothing but JSON), or nowhere."""

_MARKS = (*PAIRS, *STRAY)
_LONGEST = max(map(len, _MARKS))
_ENDS = ">]`"
_SETTLED = 200  # characters after which it is clear that a call is being written
_OFTEN = 64  # looks into what is held before they get rare
_NAME = 100  # characters of a name, or of what stands behind the ticks of a fence
# What reading may cost that finds no call: so much, and so much for each character of the text. Beyond it the text is
# a flood of markers, and they are text. What was asked in vain depends on the text alone, whatever its pieces.
_COST = 100_000
_COST_EACH = 1
_COST_ASKED = 200
_COST_SEEN = 5  # less than a closer is long: a call that holds many in its strings is never too dear
_WALKED = 4  # characters of strings that cost as much as one that is read
_CHEAP = 256  # of what is not JSON only tags are counted to see whether it is whole
_FENCE = re.compile(r" {0,3}(`{3,}|~{3,})(.*)")
_WORD = re.compile(r"[\w.:-]*+")
_BLANK = re.compile(r"\s*+")
_NAMED = ("<tool_call>", "<tool_calls>", "<function_call>", "<function_calls>", "<TOOLCALL>")


@cache
def _opener(style: Style = "markers") -> re.Pattern[str]:
    """All markers, by their first character; built when the first such character comes."""
    marks = sorted(_MARKS, key=len, reverse=True)
    tails = {c: "|".join(re.escape(m[1:]) for m in marks if m[0] == c) for c in sorted({m[0] for m in marks})}
    kinds = [f"{re.escape(c)}(?:{tail})" for c, tail in tails.items()]
    return re.compile("|".join((*kinds, "```") if style == "fenced" else kinds))


@cache
def _halves(style: Style) -> frozenset[str]:
    """All beginnings of markers."""
    marks = (*_MARKS, "```") if style == "fenced" else _MARKS
    return frozenset(m[:size] for m in marks for size in range(1, len(m)))


class _Fences:
    """Follows Markdown line by line and knows whether the next character stands in code."""

    def __init__(self) -> None:
        self._pieces: list[str] = []  # of the line: pieces are many and lines may be long
        self._odd = False  # an odd number of ticks in the line
        self._fence = ""

    def add(self, text: str) -> None:
        first, *lines = text.split("\n")
        self._extend(first)
        for line in lines:
            self._close_line("".join(self._pieces))
            self._pieces.clear()
            self._odd = False
            self._extend(line)

    def _extend(self, text: str) -> None:
        if text:
            self._pieces.append(text)
            self._odd ^= text.count("`") % 2 == 1

    def _close_line(self, line: str) -> None:
        found = _FENCE.match(line)
        if not found:
            return
        mark, info = found.groups()
        if not self._fence:
            self._fence = "" if mark[0] == "`" and "`" in info else mark
        elif mark.startswith(self._fence) and not info.strip():
            self._fence = ""

    @property
    def in_code(self) -> bool:
        return bool(self._fence) or self._odd or (bool(self._pieces) and self._pieces[-1].endswith("`"))


class MarkerFilter:
    """Splits text into what may be shown and the calls written into it. `names` are the tools offered.

    `feed` and `flush` give, in order, pieces of text to show and calls. Whatever the pieces that were fed, the
    result is the same: each decision rests on the text up to the first place where it can be taken, and on nothing
    behind it. The time is in proportion to the text.
    """

    def __init__(self, names: tuple[str, ...], style: Style = "markers") -> None:
        self._names = frozenset(names)
        self._style: Style = style if names else "off"
        self._text = ""  # what is held; from `_at` on it is undecided, and an opener begins there
        self._at = 0
        self._base = 0  # characters before `_text`
        self._waiting: list[str] = []
        self._more = 0  # characters that wait
        self._looks = 0
        self._opener = ""
        self._tried = 0  # up to there in `_text` no closer can begin any more
        self._strings: Strings | None = None
        self._closers: dict[str, tuple[int, int]] = {}  # looked for up to there, found there or -1: from the very start
        self._cost = 0
        self._furthest = 0
        self._fences = _Fences()
        self._nested = False  # reads what stands between the markers of another
        self._seen_call = False
        self._begun = style != "fenced"

    def feed(self, piece: str) -> list[str | Found]:
        """More text in; what can be decided by now comes out."""
        if self._style == "off":
            return [piece] if piece else []
        if not self._text and self._begun and not self._may_begin(piece):
            self._fences.add(piece)  # nearly every piece
            return [piece] if piece else []
        self._waiting.append(piece)
        self._more += len(piece)
        return [] if self._may_wait(piece) else self._decide(final=False)

    def flush(self) -> list[str | Found]:
        """The text has ended: everything that was held back comes out, as a call or as text."""
        return self._decide(final=True)

    def drop_half(self) -> str:
        """The stream broke off: the text that was held back, unless it is the beginning of a call."""
        self._gather()
        held, self._text = self._text, ""
        opener, self._opener = self._opener, ""
        return "" if opener or any(o.startswith(held) for o in PAIRS) else held

    def _may_begin(self, piece: str) -> bool:
        return "<" in piece or "[" in piece or (self._style == "fenced" and "`" in piece)

    def _may_wait(self, piece: str) -> bool:
        """Whether nothing is decided by this piece, or too little for another look at all that is held."""
        if not self._opener:
            return not self._begun and not piece.strip()
        held = len(self._text)
        if held <= _SETTLED:
            return False
        if not any(c in piece for c in _ENDS):  # long arguments: look only where they may end
            return True
        self._looks += 1
        return self._looks > _OFTEN and self._more < held // _OFTEN

    def _gather(self) -> None:
        self._text = "".join((self._text, *self._waiting))
        self._waiting.clear()
        self._more = 0

    def _decide(self, *, final: bool) -> list[str | Found]:
        self._gather()
        out: list[str | Found] = []
        while (self._at < len(self._text) or not final) and self._step(out, final=final):
            pass
        self._drop()
        return _joined(out)

    def _drop(self) -> None:
        """Forget what was decided."""
        if by := self._at:
            self._text = self._text[by:]
            self._base += by
            self._tried -= by
            self._at = 0
            if self._strings is not None:
                self._strings.move(by)

    # --- one step: True while there may be more to decide ------------------------------------------------------

    def _step(self, out: list[str | Found], *, final: bool) -> bool:
        if self._opener:
            return self._capture(out, final=final)
        if not self._begun and self._begin_json(final=final):
            return bool(self._opener)
        found = _opener(self._style).search(self._text, self._at)
        if found is None:
            self._show(out, len(self._text) - (0 if final else self._undecided()))
            return False
        self._show(out, found.start())
        opener = found.group()
        if opener in STRAY and opener not in PAIRS:
            if self._seen_call and not self._fences.in_code:
                self._at = found.end()
            else:
                self._show(out, found.end())
        elif self._style != "fenced" and self._fences.in_code:
            self._show(out, found.end())
        else:
            self._open(opener)
        return True

    def _open(self, opener: str) -> None:
        self._opener, self._tried, self._strings, self._looks = opener, self._at + _size(opener), None, 0

    def _begin_json(self, *, final: bool) -> bool:
        """An answer that starts with JSON is held to its end. True when that is decided or cannot be yet."""
        first = _end(_BLANK, self._text, self._at)
        if first == len(self._text) and not final:
            return True
        self._begun = True
        if self._text[first : first + 1] in ("{", "["):
            self._open("\0")
            return True
        return False

    def _undecided(self) -> int:
        """How many characters at the end could be the start of a marker."""
        start = max(self._at, len(self._text) - _LONGEST)
        tail = self._text[start:]
        if "<" not in tail and "[" not in tail and "`" not in tail:
            return 0
        halves = _halves(self._style)
        return next((len(tail) - n for n, c in enumerate(tail) if c in "<[`" and tail[n:] in halves), 0)

    def _show(self, out: list[str | Found], end: int) -> None:
        if end > self._at:
            text = self._text[self._at : end]
            self._at = end
            self._fences.add(text)
            out.append(text)

    # --- between an opener and its closer ----------------------------------------------------------------------

    def _capture(self, out: list[str | Found], *, final: bool) -> bool:
        while True:
            closer = self._next_closer()
            end = closer[1] if closer else len(self._text)
            if not self._plausible(end, final=final):
                return self._release(out)
            if closer is None:
                break
            self._tried = end
            ended = self._ends_at(*closer)
            if ended:
                return self._take(out, *closer) or self._release(out)
            if ended is None:
                return self._release(out)
        if not final:
            return False
        end = len(self._text)
        return (self._affordable(end) and self._take(out, end, end, cut=True)) or self._release(out)

    def _next_closer(self) -> tuple[int, int] | None:
        """Where the next closer of the opener begins and ends."""
        found: tuple[int, int] | None = None
        for closer in ("\n```",) if self._opener == "```" else PAIRS.get(self._opener, ()):
            start = self._find(closer)
            if start >= 0 and (found is None or start < found[0]):
                found = start, start + len(closer)
        return found

    def _find(self, closer: str) -> int:
        """The first place of `closer` that was not tried; what was looked through is not looked through again."""
        upto, at = self._closers.get(closer, (0, -1))
        if at >= self._base + self._tried:
            return at - self._base
        start = max(self._tried, upto - self._base - len(closer) + 1)
        place = self._text.find(closer, start)
        at = place + self._base if place >= 0 else -1
        self._closers[closer] = (at + len(closer) if at >= 0 else self._base + len(self._text), at)
        return place

    def _affordable(self, end: int) -> bool:
        self._furthest = max(self._furthest, self._base + end)
        return self._cost <= _COST + _COST_EACH * self._furthest

    def _body(self, end: int, after: int) -> str:
        if self._opener[-1] in ">]`\0":
            return self._text[self._at + _size(self._opener) : end]
        return self._text[self._at : after]

    def _ends_at(self, start: int, end: int) -> bool | None:
        """Whether the call ends with the closer at `start`; None when nothing more may be asked."""
        from gongfu.models.written import Strings, is_whole  # only where a marker was seen

        if not self._affordable(end):
            return None
        is_json = False
        if self._opener[-1] in ">]":
            body = self._at + _size(self._opener)
            self._strings = self._strings or Strings(self._text, body, start)
            is_json = self._strings.is_json
            self._cost += self._strings.left(start) // _WALKED + _COST_SEEN
            if self._strings.open_at(self._text, start):
                return False
        if is_whole(self._body(start, end)):
            return True
        self._cost += (end - self._at) // (1 if is_json else _CHEAP) + _COST_ASKED
        return False

    def _take(self, out: list[str | Found], end: int, after: int, *, cut: bool = False) -> bool:
        """Read the calls up to `end`; False when there are none."""
        from gongfu.models.written import has_tail, is_whole  # only where a marker was seen

        opener, body = self._opener, self._body(end, after)
        self._cost += len(body) + _COST_ASKED
        if not body.strip() or (cut and PAIRS.get(opener) and has_tail(body)):
            return False
        meant = [structs.replace(f, name=meant_name(f.name, self._names)) for f in self._read(body, cut=cut)]
        calls = [f for f in meant if f.name in self._names]
        if not calls:
            return False
        self._cost -= len(body) + _COST_ASKED
        unfinished = cut and not is_whole(body) and bool(PAIRS.get(opener) or opener == "\0")
        source, self._at = self._text[self._at : after], after
        for number, call in enumerate(calls):
            half = call.cut or (unfinished and number == len(calls) - 1)
            out.append(structs.replace(call, source=source if number == 0 else "", cut=half))
        self._opener, self._seen_call = "", True
        return True

    def _read(self, body: str, *, cut: bool) -> list[Found]:
        from gongfu.models.written import read_calls

        if self._opener == "```":
            body = body.partition("\n")[2]
        found = read_calls(body, cut=cut)
        if not found and not self._nested and _opener().search(body):
            inner = MarkerFilter(tuple(self._names))
            inner._nested = True
            found = [f for f in (*inner.feed(body), *inner.flush()) if isinstance(f, Found)]
            self._cost += inner._cost
        return found

    def _plausible(self, end: int, *, final: bool) -> bool:
        """Whether what follows the opener up to `end` can still become a call; prose about markers is let go early.

        What is no longer so is not so again however the text goes on.
        """
        opener, text, start = self._opener, self._text, self._at + _size(self._opener)
        if opener == "```":
            line = text.find("\n", start, min(end, start + _NAME))
            if line < 0:
                return end - start < _NAME
            first = _end(_BLANK, text, line, end)
            return first == end or text[first] in "{[<" or text[start:line].strip().startswith("tool")
        if opener not in _NAMED:
            return True
        first = _end(_BLANK, text, start, end)
        if first == end or text[first] in "{[<":
            return True
        word = _end(_WORD, text, first, min(end, first + _NAME))
        if word == end == len(text) and not final:
            return word - first < _NAME
        return word - first < _NAME and meant_name(bare_name(text[first:word]), self._names) in self._names

    def _release(self, out: list[str | Found]) -> bool:
        """It is no call: show the opener and look at the rest again."""
        opener, self._opener = self._opener, ""
        self._show(out, self._at + _size(opener))
        return True


def _size(opener: str) -> int:
    return 0 if opener == "\0" else len(opener)


def _end(pattern: re.Pattern[str], text: str, start: int, end: int = sys.maxsize) -> int:
    found = pattern.match(text, start, end)
    return found.end() if found else start


def _joined(out: list[str | Found]) -> list[str | Found]:
    """The same with texts that follow each other put together."""
    if len(out) < 2:
        return out
    joined: list[str | Found] = []
    for is_text, group in groupby(out, key=lambda found: isinstance(found, str)):
        several = list(group)
        joined += ["".join(cast("list[str]", several))] if is_text else several
    return joined
