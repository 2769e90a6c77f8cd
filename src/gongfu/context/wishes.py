"""Finds in a person's words what must not be forgotten: constraints, preferences, decisions. And, in answers, what went
wrong and what is still open.

The words are those that people use in English and in Chinese, and the plainest of a few other languages.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from typing import Literal, TypeAlias

from gongfu.context.quote import clean, clip

Kind: TypeAlias = Literal["constraint", "preference", "decision", "wish"]

SENTENCE = 400  # characters; longer ones are cut around what makes them matter
_LOOKED_AT = 24_000  # characters of one person's turn, half of them its head
_LIST = 300  # characters of list items that are kept behind the line that leads them in

_CONSTRAINT = (
    r"\b(?:must|mustn'?t|never|always|only|don'?t|do not|doesn'?t need|cannot|can'?t|shall|forbid(?:den)?|prohibit\w*|"
    r"not allowed|no longer|at (?:most|least)|no more than|no less than|"
    r"under no circumstances|without (?:fail|exception)|"
    r"make sure|ensure|require[ds]?|requirement|mandatory|constraints?|remember|important|critical|keep in mind|"
    r"may not|needs? to|has to|have to|leave .{1,60} (?:alone|untouched|as (?:it|they))|not to be (?:touched|changed)|"
    r"off[- ]limits|exactly|except|unless|stays?|remains?)\b|"
    r"必须|务必|不要|不得|不能|不许|不准|不可|不应|禁止|严禁|切勿|请勿|千万|绝不|绝对|从不|决不|永远|总是|始终|一律|一直|只能|只用|"
    r"只允许|只有|仅限|仅允许|只(?=[在用要读写改看做])|别(?!的|人|处|名|样)|最多|最少|至少|至多|不超过|不少于|不低于|确保|保证|"
    r"记住|牢记|要求|约束|限制|规定|除非|除了|保持|保留|不变|"
    r"必ず|絶対に|常に|しないで|してはいけ|ではなく|禁止|だけ|のみ|以内|"
    r"\b(?:niemals|immer|muss|müssen|darf nicht|jamais|toujours|doit|doivent|interdit|nunca|siempre|debe|prohibido)\b|"
    r"никогда|всегда|должн|нельзя|только|반드시|절대|항상|하지 ?마"
)
_PREFERENCE = (
    r"\b(?:prefer\w*|would rather|rather than|instead of|avoid|like (?:it|to|them|my|our)|favou?r|should(?:n'?t)?|"
    r"conventions?|style|default to|want|wish|please (?:use|keep|write|answer|reply|call|name))\b|"
    r"优先|尽量|最好|偏好|喜欢|希望|想要|请用|请使用|使用|采用|而不是|避免|应该|应当|应(?=[在用为当])|宁可|习惯|风格|约定|规范|统一|默认|"
    r"優先|好み|べき|ください|使って|避け|"
    r"\b(?:bevorzug\w*|lieber|bitte|préfér\w*|plutôt|évite\w*|prefier\w*|evita\w*)\b|предпочит|лучше|избега"
)
_DECISION = (
    r"\b(?:decid\w+|decision|agreed?|let'?s|we(?:'ll| will| are going to)|go(?:ing)? with|settled?|chosen?|chose|"
    r"stick (?:to|with)|from now on|the plan is|approved?)\b|"
    r"决定|就用|就这么|定为|定下|选用|选择|改用|同意|从现在起|以后|今后|方案|に決め|にします|решил|entschieden|décid\w*"
)
_WISH = (
    r"\b(?:use|using|keep|need\w*|expect\w*|target|limit\w*|support\w*|compatib\w*|follow|write|name[ds]?|call(?:ed)?|"
    r"version|is (?:called|named)|our|my)\b|需要|用(?!户)|叫|命名|版本|支持|兼容|目标|遵循|我们的|我的"
)
_ERROR = (
    r"\b(?:errors?|bugs?|fail(?:s|ed|ure|ing)?|fix(?:ed|es)?|broken?|crash\w*|exception|traceback|"
    r"wrong|caused? by|root cause|"
    r"regression|workaround|resolved)\b|错误|报错|失败|修复|修正|崩溃|异常|原因是|根因|バグ|エラー|修正"
)
_OPEN = (
    r"\b(?:remain(?:s|ing)|to-?do|not (?:yet|done|finished)|still (?:to|need\w*|open|missing)|next steps?|"
    r"unfinished|pending|"
    r"left to do|follow[- ]up|later|could not|couldn'?t|was not able|blocked)\b|"
    r"未完成|尚未|还没|还需|剩余|剩下|下一步|待办|后续|残り|まだ"
)


STRENGTH: dict[Kind, int] = {"constraint": 3, "preference": 3, "decision": 3, "wish": 2}
_SIGNS: dict[Kind, str] = {
    "constraint": _CONSTRAINT,
    "preference": _PREFERENCE,
    "decision": _DECISION,
    "wish": _WISH,
}


@cache
def _pattern(source: str) -> re.Pattern[str]:
    return re.compile(source, re.IGNORECASE)


@cache
def _breaks() -> re.Pattern[str]:
    return re.compile(r"(?<=[.!?])(?<!\be\.g\.)(?<!\bi\.e\.)(?<!\bvs\.)(?<!\betc\.)\s+(?=[^a-z\s])|(?<=[。！？；])\s*")


@cache
def _bullet() -> re.Pattern[str]:
    return re.compile(r"\s*(?:[-*+•·]|\(?\d{1,3}[.)、]|[一二三四五六七八九十]{1,3}、)\s*")


def wishes(words: str) -> Iterator[tuple[Kind, int, str]]:
    """What a person's words hold: (kind, strength 1 to 3, the sentence as it was said, on one line), in order.

    Code blocks and quotations are passed over, also the middle of very long texts. Questions count a step less.
    """
    for sentence in _sentences(words):
        for kind, strength in STRENGTH.items():
            if found := _pattern(_SIGNS[kind]).search(sentence):
                asked = sentence.endswith(("?", "？"))
                yield kind, strength - asked, _around(sentence, found.start())
                break


def first_sentence(words: str) -> str:
    """What a text begins with."""
    return next(iter(_sentences(words)), "")


def troubles(answer: str) -> Iterator[str]:
    """Sentences of an answer on what went wrong and what cured it."""
    return _matching(answer, _ERROR)


def openings(answer: str) -> Iterator[str]:
    """Sentences of an answer on what is still open."""
    return _matching(answer, _OPEN)


def _matching(text: str, source: str) -> Iterator[str]:
    for sentence in _sentences(text):
        if found := _pattern(source).search(sentence):
            yield _around(sentence, found.start(), SENTENCE // 2)


def _around(sentence: str, at: int, size: int = SENTENCE) -> str:
    """A long sentence cut to what stands around position `at`."""
    if len(sentence) <= size:
        return sentence
    if at < size // 2:
        return clip(sentence, size)
    start = max(0, at - size // 3)
    end = start + size
    return f"…{sentence[start:end].strip()}{'…' if end < len(sentence) else ''}"


def _sentences(text: str) -> Iterator[str]:
    if len(text) > _LOOKED_AT:
        text = f"{text[: _LOOKED_AT // 2]}\n{text[-_LOOKED_AT // 2 :]}"
    lead, items = "", ""
    for line in _prose(text):
        bullet = _bullet().match(line)
        if lead and bullet and line.strip():  # a list belongs to the line that leads it in
            item = line[bullet.end() :].strip()
            if items and len(items) + len(item) > _LIST:
                yield f"{lead} {items}"
                items = ""
            items = f"{items}; {item}" if items else item
            continue
        if lead and line:
            yield f"{lead} {items}".strip()
            lead = items = ""
        body = line[bullet.end() :] if bullet else line
        parts = [" ".join(p.split()) for p in _breaks().split(body)]
        parts = [p for p in parts if p]
        if (
            parts
            and parts[-1].endswith((":", "："))
            and _pattern(f"{_CONSTRAINT}|{_PREFERENCE}|rules?|规则").search(parts[-1])
        ):
            lead = parts.pop()
        yield from parts
    if lead:
        yield f"{lead} {items}".strip()


def _prose(text: str) -> Iterator[str]:
    fenced = ""
    for line in clean(text).split("\n"):
        bare = line.strip()
        if fenced:
            fenced = "" if bare.startswith(fenced) else fenced
        elif bare.startswith(("```", "~~~")):
            fenced = bare[:3]
        elif not bare.startswith(">"):
            yield bare
