"""Values that a name gives away, as in `password = "…"`, `export FOO_TOKEN=…`, `--api-key …`; and what is none."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

_NAME: Final = (
    r"(?:pass(?:word|wd|phrase|code)|pwd|secret|token|credential|kennwort|passwort|client-key-data"
    r"|(?:api|app|application|access|auth|private|account|signing|encryption|master|license|licence)[_\- ]?key)"
)
_HINTS: Final = ("pass", "pwd", "secret", "token", "credential", "key", "kennwort")
NAMED: Final = (
    rf"({_NAME})([\w\-]{{0,40}})\\{{0,3}}[\"'`]?\]?"
    r"(?::[ ]{0,4}[a-z_][\w.\[\]]{0,40}(?: ?\| ?\w{1,20})?[ ]{1,4}(?==))?"  # a type between the name and the value
    r"([ \t]{0,8}(?:=>|:=|[:=](?![:=]))[ \t]{0,8}|(?<=[a-z])[ \t]{1,4}(?![:=]))"
)
"""A name and a sign behind it, in a text of lower case; the value follows. A blank is a sign only behind `--name`."""

_QUOTED: Final = r"[bfru]{0,2}([\"'`])((?:\\.|(?!\1)[^\\\n]){0,1000})"
_ESCAPED: Final = r"\\{1,3}([\"'])((?:(?!\\{1,3}\1)[^\n\"']){0,1000})"
_PLAIN: Final = r"[^\s\"'`;]{1,1000}"
_REST: Final = r"[^\s\"'`;\\]*"
"""What follows of a value that is longer than what is looked at to judge it."""

_NOT_BEFORE: Final = (
    r"(?:max|min|num|eos|bos|pad|unk|mask|sep|cls|stop|special|input|output|prompt|total|per|cached|reasoning|completion"
    r"|image|audio|text|vocab|used|next|prev|count|n|no|of|new|extra|bad|next_page|page|continuation|cancellation|cancel)"
    r"[_\-]?"
)
_NOT_BEHIND: Final = (
    r"(?:i[sz]|less|ary|ari|ly\b|s?[_\-]?(?:count|limit|budget|usage|type|kind|name|file|path|dir|url|uri|endpoint|length"
    r"|len|size|field|label|policy|prompt|expir|ttl|env|var|class|ref|keyref|required|enabled|min|max|reset|strength|hint"
    r"|help|input|form|manager|store|provider|service|source|version|format|pattern|regex|rotation|per|used|id\b|index"
    r"|stream|error|valid|check|at\b|in\b|text|title|description|placeholder|mode|scope|spec|model|kwargs|args|column))"
)
_WORDS: Final = (
    "str string bytes int integer bool boolean float number any none null nil undefined true false optional required "
    "yes no on off inherit empty text password passwd pwd passphrase token secret key value self this object void "
    "char varchar unknown never default unset missing invalid expired wrong incorrect hidden masked redacted removed "
    "changeme changeit example test bearer basic basic_auth jwt oauth oauth2 api_key apikey access_token "
    "refresh_token id_token csrf_token auth_token and or is not was the a an if else for return await new let const "
    "var option options flag flags argument arguments parameter parameters switch sets"
)
_STANDS_FOR: Final = (
    r"(?i)[$<%{*•.…(&@]|:\*|\[secret|\[redacted|\[filtered|\[hidden"
    r"|(?:[a-z.]+[\-_ ])*(?:your|my|example|placeholder|insert|replace|redacted|changeme|dummy|fake|sample|x{4,})"
    r"(?:[\-_ ][a-z.]+)*\Z"
)
_CODE: Final = r"[A-Za-z_][\w]*(?:(?:\.|::|->|\?\.)[A-Za-z_]\w*)*[(\[{]"
_DOTTED: Final = r"[A-Za-z_]\w*(?:(?:\.|::|->)[A-Za-z_]\w*)+[),\]}:]*"
_PLACE: Final = r"(?:\.{0,2}/|~/?)[A-Za-z._\-]*(?:/|\Z)|[#|=!]"
_LETTERS: Final = r"[A-Za-z_]+"


def stands_for(value: str) -> bool:
    """Whether a value only stands for a secret: a variable, a gap to fill, a row of crosses, or "changeme"."""
    return (
        not value
        or len(set(value)) <= (2 if len(value) > 5 else 1)
        or f" {value.lower()} " in f" {_WORDS} "
        or bool(re.match(_STANDS_FOR, value[:200]))
    )


def named(text: str, low: str) -> Iterator[tuple[int, int, str]]:
    """(start, end, kind) of the values in `text` that stand behind names of secrets; `low` is `text` in lower case."""
    if not any(hint in low for hint in _HINTS):
        return
    at = 0
    pattern = re.compile(NAMED)
    while found := pattern.search(low, at):
        at = found.end()
        value = _value(text, low, found)
        if value is None:
            at = found.end(1)  # another name may stand in what was taken for a sign
            continue
        start, end = value
        if end - start >= 900 and (rest := re.compile(_REST).match(text, end)):
            end = rest.end()
        at = max(end, at)
        word = found[1]
        yield start, end, "password" if word.startswith(("pass", "pwd", "kenn")) else _kind(word)


def _kind(word: str) -> str:
    return "key" if word.endswith(("key", "data")) else word


def _value(text: str, low: str, found: re.Match[str]) -> tuple[int, int] | None:
    """Where the value behind a name is, None when there is none or it is no secret."""
    before = re.search(r"[\w\-.]*\Z", low[max(0, found.start() - 40) : found.start()])
    head = before[0] if before else ""
    sign = found[3]
    flag = "--" in head or text[max(0, found.start() - 2) : found.start()] == "--"
    if not sign.strip() and not flag:
        return None
    if _harmless_name(found[1], head, found[2]):
        return None
    place = found.end()
    quoted = re.compile(_QUOTED).match(text, place) or re.compile(_ESCAPED).match(text, place)
    many = found[1] == "token" and found[2] == "s"  # mostly a count of them
    if quoted:
        good = _quoted_secret(quoted[2], found[1]) and not (many and len(quoted[2]) < 16)
        return quoted.span(2) if good else None
    plain = re.compile(_PLAIN).match(text, place)
    if plain is None or many:
        return None
    start, end = plain.span()
    name = text[found.start() - len(head) : found.end(2)]
    literal = flag or (sign == "=" and name.isupper())
    return _plain_secret(text, start, end, found[1], sign, literal=literal)


def _harmless_name(word: str, head: str, tail: str) -> bool:
    if word == "pwd" and not tail and not head:
        return True
    if word == "token" and re.search(rf"(?:\A|[_\-.]){_NOT_BEFORE}\Z", head):
        return True
    return bool(re.match(_NOT_BEHIND, tail))


def _quoted_secret(value: str, word: str) -> bool:
    value = value.strip()
    if stands_for(value):
        return False
    if word.startswith("pass"):
        return True
    if " " in value:  # tokens have no blanks; a sentence has
        return bool(re.match(r"(?i)(?:bearer|basic|token) \S+\Z", value))
    return not (re.fullmatch(_LETTERS, value) and (len(value) < 8 or re.search(_NAME, value.lower())))


def _plain_secret(text: str, start: int, end: int, word: str, sign: str, *, literal: bool) -> tuple[int, int] | None:
    """The part of text[start:end] that is a secret, by what its surroundings make of it."""
    value = text[start:end]
    if not literal:
        if re.match(_CODE, value) or value[0] in "[({":
            return None
        cut = re.match(r"[^,)\]}]+", value)
        if cut is None:
            return None
        whole = value
        value = cut[0]
        if re.fullmatch(_DOTTED, value) or (re.fullmatch(_LETTERS, value) and not _bare_word(text, start, whole, sign)):
            return None
        rest = whole[len(value) :].rstrip(",)]}")
        end = start + len(value) if not rest else start + len(whole.rstrip(",)]}"))
    if "&" in value and "=" in value.partition("&")[2]:  # one of several in an address
        end = start + value.index("&")
    value = text[start:end]
    if stands_for(value) or re.match(_PLACE, value) or len(value) < 3:
        return None
    if re.fullmatch(r"[\d.,_]+", value) and not (word.startswith("pass") and len(value) >= 4):
        return None
    return start, end


def _bare_word(text: str, start: int, value: str, sign: str) -> bool:
    """Whether letters alone are a value rather than a variable, a type or the next word of a sentence."""
    end = start + len(value)
    ends_line = end >= len(text) or text[end] in "\r\n"
    if sign == "=":
        return not value.endswith((")", ",", "]", "}")) and (ends_line or text[end] in " \t;&\"'`")
    if sign.strip() == ":" and value.islower():
        line = text.rfind("\n", max(0, start - 100), start) + 1
        key = text[line:start] if line or start <= 100 else " x "
        return ends_line and bool(re.fullmatch(r"[ \t\-]*[\w\-.\"']+[ \t]*:[ \t]*", key))
    return False
