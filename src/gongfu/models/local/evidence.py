"""The last words of a small model's turn: its answer, and what the tools really showed."""

from __future__ import annotations

from gongfu.core.words import Language, say
from gongfu.models.local.story import Step, Turn, plain

_LINES = 12
_CHARS = 800


def final_text(turn: Turn, answer: str) -> str:
    """`answer` followed by the facts: the files that were written and the last output that a tool showed."""
    language = language_of_task(turn.task)
    facts: list[str] = []
    written = turn.written
    if written:
        facts.append(say("local.written", language, files=", ".join(written)))
    shown = _last_showing(turn)
    if shown is not None:
        facts.append(_shown(shown, language))
    if turn.to_run:
        facts.append(say("local.not_run", language, file=turn.to_run))
    return "\n\n".join(part for part in (answer.strip(), "\n".join(facts)) if part)


def language_of_task(task: str) -> Language:
    """Chinese when the task has Chinese characters, else English."""
    return "zh" if any("一" <= char <= "鿿" for char in task) else "en"


def _last_showing(turn: Turn) -> Step | None:
    for step in reversed(turn.steps):
        if step.action.name in ("run", "search", "read"):
            return step
    return None


def _shown(step: Step, language: Language) -> str:
    what = {"run": "command", "search": "pattern", "read": "path"}[step.action.name]
    key = "local.showed_failed" if step.failed else "local.showed"
    return say(
        key,
        language,
        what=_short(step.action.fields[what]),
        text=_tail(plain(step.result.text) if step.action.name == "read" else step.result.text),
    )


def _short(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= 120 else line[:119] + "…"


def _tail(text: str) -> str:
    rows = text.strip().split("\n")
    kept = "\n".join(rows[-_LINES:])[-_CHARS:]
    return kept if len(kept) == len(text.strip()) else f"…\n{kept}"
