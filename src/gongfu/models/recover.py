"""Calls that a model wrote into its text: found while it streams, and no marker ever shown."""

from __future__ import annotations

import re
from functools import cache
from itertools import islice
from typing import Literal, TypeAlias

from msgspec import structs

from gongfu.models.markers import PAIRS, STRAY, Found, bare_name, meant_name

Style: TypeAlias = Literal["markers", "fenced", "off"]
"""Where written calls are looked for: "markers" (models with tools; never inside a code fence or inline code),
"fenced" (models without tools: also fenced JSON, and an answer that is nothing but JSON), or nowhere."""

_MARKS = (*PAIRS, *STRAY)
_STARTS = "<["
_ENDS = ">]`"
_CUTS = 8  # openers without a closer that are read to the end of the text
_MOST = 128  # openers in what one call may be
_TRIES = 100  # closers of one call that may turn out not to be its end
_SETTLED = 200  # characters after which it is clear that a call is being written
_LONGEST = max(map(len, _MARKS))
_FENCE = re.compile(r" {0,3}(`{3,}|~{3,})(.*)")
_WORD = re.compile(r"[\w.:-]*")
_NAMED = ("<tool_call>", "<tool_calls>", "<function_call>", "<function_calls>", "<TOOLCALL>")


@cache
def _opener() -> re.Pattern[str]:
    marks = sorted(_MARKS, key=len, reverse=True)
    return re.compile("|".join(map(re.escape, marks)))  # built when the first "<" or "[" comes


class _Fences:
    """Follows Markdown line by line and knows whether the next character stands in code."""

    def __init__(self) -> None:
        self._pieces: list[str] = []  # of the line: pieces are many and lines may be long
        self._fence = ""

    @property
    def _line(self) -> str:
        if len(self._pieces) > 1:
            self._pieces[:] = ["".join(self._pieces)]
        return self._pieces[0] if self._pieces else ""

    def add(self, text: str) -> None:
        if "\n" not in text:
            self._pieces.append(text)
            return
        first, *lines, rest = text.split("\n")
        self._close_line(self._line + first)
        for line in lines:
            self._close_line(line)
        self._pieces[:] = [rest]

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
        return bool(self._fence) or self._line.count("`") % 2 == 1 or self._line.endswith("`")

    @property
    def at_line_start(self) -> bool:
        return not self._line.strip(" ") and len(self._line) < 4 and not self._fence


class MarkerFilter:
    """Splits text into what may be shown and the calls written into it. `names` are the tools offered.

    `feed` and `flush` give, in order, pieces of text to show and calls. Whatever the pieces that were fed, the
    result is the same.
    """

    def __init__(self, names: tuple[str, ...], style: Style = "markers") -> None:
        self._names = frozenset(names)
        self._style: Style = style if names else "off"
        self._held = ""
        self._waiting: list[str] = []
        self._opener = ""
        self._searched = 0
        self._tries = 0
        self._cuts = 0  # openers without a closer that were read to the end of the text
        self._quoted = 0  # up to there the call was last seen to be inside a string
        self._fences = _Fences()
        self._nested = False  # reads what stands between the markers of another
        self._seen_call = False
        self._begun = False

    def feed(self, piece: str) -> list[str | Found]:
        """More text in; what can be decided by now comes out."""
        if self._style == "off":
            return [piece] if piece else []
        if not self._held and self._style == "markers" and "<" not in piece and "[" not in piece:
            self._fences.add(piece)  # nearly every piece
            return [piece] if piece else []
        if self._opener and len(self._held) > _SETTLED:  # long arguments: look only where they may end
            self._waiting.append(piece)
            if not any(c in piece for c in _ENDS):
                return []
        self._gather(piece)
        out: list[str | Found] = []
        while self._step(out, final=False):
            pass
        return out

    def flush(self) -> list[str | Found]:
        """The text has ended: everything that was held back comes out, as a call or as text."""
        self._gather("")
        out: list[str | Found] = []
        while self._held and self._step(out, final=True):
            pass
        return out

    def drop_half(self) -> str:
        """The stream broke off: the text that was held back, unless it is the beginning of a call."""
        self._gather("")
        held, self._held = self._held, ""
        opener, self._opener = self._opener, ""
        return "" if opener or any(o.startswith(held) for o in PAIRS) else held

    def _gather(self, piece: str) -> None:
        self._held += "".join(self._waiting) if self._waiting else piece
        self._waiting.clear()

    # --- one step: True while there may be more to decide ------------------------------------------------------

    def _step(self, out: list[str | Found], *, final: bool) -> bool:
        if self._opener:
            return self._capture(out, final=final)
        if self._style == "fenced" and self._begin_json(final=final):
            return bool(self._opener)
        found = self._next_opener()
        if found is None:
            keep = 0 if final else self._undecided()
            self._show(out, len(self._held) - keep)
            return False
        start, opener = found
        self._show(out, start)
        if opener in STRAY and opener not in PAIRS:
            return self._stray(out, opener)
        if self._fences.in_code and opener != "```" and self._style != "fenced":
            self._show(out, len(opener))
            return True
        self._opener, self._searched, self._tries, self._quoted = opener, len(opener), 0, 0
        return True

    def _begin_json(self, *, final: bool) -> bool:
        """An answer that starts with JSON is held to its end. True when that is decided or cannot be yet."""
        if self._begun:
            return False
        head = self._held.lstrip()
        if not head and not final:
            return True
        self._begun = True
        if head[:1] in ("{", "["):
            self._opener, self._searched, self._tries, self._quoted = "\0", 0, 0, 0
            return True
        return False

    def _next_opener(self) -> tuple[int, str] | None:
        best = _opener().search(self._held) if any(c in self._held for c in _STARTS) else None
        start = best.start() if best else len(self._held)
        if self._style == "fenced":
            fence = self._held.find("```")
            if 0 <= fence < start:
                return fence, "```"
        return (start, best.group()) if best else None

    def _undecided(self) -> int:
        """How many characters at the end could be the start of a marker."""
        tail = self._held[-_LONGEST:]
        if "<" not in tail and "[" not in tail and "`" not in tail:
            return 0
        marks = (*_MARKS, "```") if self._style == "fenced" else _MARKS
        for start, character in enumerate(tail):
            if character in "<[`" and any(m.startswith(tail[start:]) for m in marks):
                return len(tail) - start
        return 0

    def _stray(self, out: list[str | Found], token: str) -> bool:
        if self._seen_call and not self._fences.in_code:
            self._held = self._held[len(token) :]
        else:
            self._show(out, len(token))
        return True

    def _show(self, out: list[str | Found], size: int) -> None:
        if not size:
            return
        text, self._held = self._held[:size], self._held[size:]
        self._fences.add(text)
        self._begun = self._begun or bool(text.strip())
        if out and isinstance(out[-1], str):
            out[-1] += text
        else:
            out.append(text)

    # --- between an opener and its closer ----------------------------------------------------------------------

    def _capture(self, out: list[str | Found], *, final: bool) -> bool:
        opener = self._opener
        start = 0 if opener == "\0" else len(opener)
        if not self._plausible(opener, final=final):
            return self._release(out)
        for closer in ("\n```",) if opener == "```" else PAIRS.get(opener, ()):
            found = self._held.find(closer, max(start, self._searched - len(closer) + 1))
            while found >= 0:
                if self._take(out, start, found, found + len(closer)):
                    return True
                found = self._held.find(closer, found + len(closer))
        self._searched = len(self._held)
        if not final:
            return False
        self._cuts += 1
        if self._cuts > _CUTS:  # each is read to the end: a flood of openers is text
            return self._release(out)
        return self._take(out, start, len(self._held), len(self._held), cut=True) or self._release(out)

    def _take(self, out: list[str | Found], start: int, end: int, after: int, *, cut: bool = False) -> bool:
        """Read the calls between `start` and `end`; False when there are none or when the end is not the end."""
        from gongfu.models.written import has_tail, inside_string, is_whole  # only where a marker was seen

        if not cut and self._quoted and '"' not in self._held[self._quoted : end]:
            self._quoted = end
            return False
        opener = self._opener
        inside = opener if opener[-1] not in ">]`\0" else ""
        body = inside + self._held[start:end]
        if inside and not cut:
            body += self._held[end:after]
        self._quoted = end if not cut and inside_string(body) else 0
        if not cut and (self._quoted or not self._is_end(body)):
            return False
        if cut and PAIRS.get(opener) and has_tail(body):
            return False
        meant = [structs.replace(f, name=meant_name(f.name, self._names)) for f in self._read(body, cut=cut)]
        calls = [f for f in meant if f.name in self._names]
        if not calls:
            return False
        unfinished = cut and not is_whole(body) and bool(PAIRS.get(opener) or opener == "\0")
        source, self._held = self._held[:after], self._held[after:]
        for number, call in enumerate(calls):
            half = call.cut or (unfinished and number == len(calls) - 1)
            out.append(structs.replace(call, source=source if number == 0 else "", cut=half))
        self._opener, self._seen_call = "", True
        return True

    def _is_end(self, body: str) -> bool:
        """Whether the call is whole at this closer. It is no call when that was asked too often."""
        from gongfu.models.written import is_whole

        self._tries += 1
        return self._tries <= _TRIES and is_whole(body)

    def _read(self, body: str, *, cut: bool) -> list[Found]:
        from gongfu.models.written import read_calls

        if sum(1 for _ in islice(_opener().finditer(body), _MOST + 1)) > _MOST:
            return []  # a flood of openers: the readers would take for ever, and nobody calls so much at once
        if self._opener == "```":
            body = body.partition("\n")[2]
        found = read_calls(body, cut=cut)
        if not found and not self._nested and _opener().search(body):
            inner = MarkerFilter(tuple(self._names))
            inner._nested = True
            found = [f for f in (*inner.feed(body), *inner.flush()) if isinstance(f, Found)]
        return found

    def _plausible(self, opener: str, *, final: bool) -> bool:
        """Whether what follows the opener can still become a call; prose about markers is let go early."""
        body = self._held[len(opener) :] if opener != "\0" else ""
        if opener == "```":
            info, line, rest = body.partition("\n")
            if not line:
                return len(info) < 40
            return not rest.strip() or rest.lstrip()[0] in "{[<" or info.strip().startswith("tool")
        body = body.lstrip()
        if opener not in _NAMED or not body or body[0] in "{[<":
            return True
        word = _WORD.match(body)
        name = bare_name(word.group()) if word else ""
        if word and word.end() == len(body) and not final:
            return any(n.startswith(name) or "functions.".startswith(name) for n in self._names)
        return meant_name(name, self._names) in self._names

    def _release(self, out: list[str | Found]) -> bool:
        """It is no call: show the opener and look at the rest again."""
        opener, self._opener = self._opener, ""
        if opener == "\0":
            self._begun = True
            return True
        self._show(out, len(opener))
        return True
