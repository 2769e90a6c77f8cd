"""What a question shows and which answers it takes: the same for a line that is typed and for a drawn dialogue."""

from __future__ import annotations

import re
from typing import Any, Protocol, cast
from unicodedata import normalize

from gongfu.core.base import Base
from gongfu.core.events import QuestionAsked
from gongfu.surfaces.cli.render.lines import Lines
from gongfu.surfaces.cli.speech import Speech
from gongfu.surfaces.cli.style import laid_open, one_line
from gongfu.surfaces.cli.width import clip

WORDS = {
    "y": "allow", "yes": "allow", "是": "allow", "好": "allow",
    "s": "session", "session": "session", "本次": "session",
    "p": "project", "project": "project", "项目": "project", "本项目": "project",
    "n": "deny", "no": "deny", "否": "deny", "不": "deny", "": "deny",
}  # fmt: skip
"""What may be typed as the answer to a permission."""


class Answerer(Protocol):
    """Somebody who can be asked: by lines that they type, or by dialogues."""

    async def answer(self, question: QuestionAsked) -> str:
        """Show the question and wait for an answer, in the words that `Session.answer` takes."""
        ...


class Asked(Base, frozen=True):
    """A permission question laid open: its title (plain), why it is asked, what would happen (painted), its parts.

    `parts` counts what can be granted one by one: 0 when it is all or nothing.
    """

    title: str
    reason: str
    preview: tuple[str, ...]
    needs: tuple[dict[str, Any], ...]
    parts: int

    @property
    def grave(self) -> bool:
        """Whether a part is remembered for the session at most, beside others."""
        return len(self.needs) > 1 and any(need.get("grave") for need in self.needs)


def asked(question: QuestionAsked, lines: Lines, columns: int, *, limit: int = 60) -> Asked:
    """What a permission is about, for a screen of so many `columns`; a preview of at most about `limit` lines."""
    preview = question.preview
    command = preview.get("kind") == "command"
    text = one_line(laid_open(question.text), 0 if command else 2_000)
    text = title = clip(text, max(40, columns - len(question.tool) - 6)) if command else text
    if question.tool and not title.startswith(question.tool):
        title = f"{question.tool}  {title}"
    needs = tuple(cast("list[dict[str, Any]]", preview.get("needs") or []))
    reason = ""
    if question.reason and len(needs) < 2:
        reason = one_line(lines.speech.told(question.reason, {"about": preview.get("about", "")}), 300)
    # a short command stands in the title already, whole
    shown = tuple(line for line in lines.preview(preview, limit=limit) if line.strip() != f"$ {text}")
    parts = len(needs) if preview.get("apart", True) and len(needs) > 1 else 0
    return Asked(title=named(question, title), reason=reason, preview=shown, needs=needs, parts=parts)


def allowed(options: tuple[str, ...]) -> tuple[str, ...]:
    """The decisions that a permission with these options takes, in the order in which they are shown."""
    far = tuple(one for one in ("session", "project") if one in (options or ("session",)))
    return ("allow", *far, "deny")


def decided(line: str, options: tuple[str, ...], parts: int) -> str:
    """What was typed as the answer to a permission; "" for what is none. Numbers after s or p pick some of `parts`."""
    word, rest = [*re.split(r"[\s,:，：]+", line.strip(), maxsplit=1), ""][:2]
    answer = WORDS.get(normalize("NFKC", word).lower(), "")
    if answer == "deny":
        return f"deny: {rest}" if rest else answer
    if answer and answer not in allowed(options):
        return ""
    numbers = re.split(r"[\s,，、]+", rest) if rest else []
    if not numbers:
        return answer
    if answer == "allow" or not all(n.isdecimal() and 0 < int(n) <= parts for n in numbers):
        return ""  # "yes, but ..." is not a yes to all of it
    return f"{answer}:{','.join(str(int(n)) for n in numbers)}"


def named(question: QuestionAsked, text: str) -> str:
    """The words of a question with the sub-agent that asks, if it is one."""
    return f"{one_line(question.agent, 60)}: {text}" if question.agent else text


def said(question: QuestionAsked, line: str) -> str:
    """What was typed as the answer to a question: the number of an option, own words, or nothing for the default."""
    text = line.strip()
    if text.isdecimal() and 0 < int(text) <= len(question.options):
        return question.options[int(text) - 1]
    return text or question.default


def plan_of(question: QuestionAsked, speech: Speech, columns: int, *, color: bool) -> tuple[str, list[str]]:
    """The title of a plan that is to be approved, and the plan as painted lines of at most `columns` cells."""
    from gongfu.surfaces.cli.render.markdown import draw  # only where there is Markdown

    title = one_line(laid_open(str(question.preview.get("title") or question.text)), 200)
    drawn = draw(str(question.preview.get("markdown") or ""), max(20, columns), color=color)
    return named(question, speech("talk_ask.plan_title", title=title)), drawn.split("\n")


def plan_answers(question: QuestionAsked, speech: Speech) -> dict[str, str]:
    """The answers that approve a plan, each with its words. Any other answer says what is to be changed."""
    return {one: speech.told(f"talk_ask.plan_{one}", {}) for one in question.options if one != "no"}
