"""Questions with their answers, as one line each where no other line says the same."""

from __future__ import annotations

from gongfu.core import events as ev
from gongfu.surfaces.cli.render.lines import Lines
from gongfu.surfaces.cli.style import clean, one_line

_LASTING = ("session", "project")
_GRANTS = ("allow", "session", "project")


class Asked:
    """Pairs questions with their answers.

    The line of a call tells what was answered to the model's question, and why the call was refused, so an answer has a
    line of its own only when there is no such line: for a consent, for what a sub-agent asks, and for one that time
    decided. With `live` what a person answers is left out, since they saw it as they typed it; where it is `gone` then
    again with its dialogue, what reaches further than one call is told, and what a sub-agent was told.
    """

    def __init__(self, lines: Lines, *, live: bool, gone: bool = False) -> None:
        self.lines = lines
        self._live = live
        self._gone = gone
        self._open: dict[str, ev.QuestionAsked] = {}

    def follow(self, event: ev.AnyEvent) -> str:
        """Take in an event; the line of an answer, else ""."""
        match event:
            case ev.QuestionAsked():
                self._open[event.question] = event
            case ev.QuestionAnswered():
                asked = self._open.pop(event.question, None)
                return self._line(asked, event) if self._tells(asked, event) else ""
            case _:
                pass
        return ""

    def _tells(self, asked: ev.QuestionAsked | None, answered: ev.QuestionAnswered) -> bool:
        if self._live and answered.by == "person":
            far = answered.answer.partition(":")[0] in _LASTING and asked is not None and asked.about == "permission"
            return self._gone and asked is not None and (far or bool(asked.agent))
        if asked is None or asked.agent or answered.by == "timeout":
            return True
        return asked.about == "permission" and answered.answer.partition(":")[0] in _GRANTS

    def _line(self, asked: ev.QuestionAsked | None, answered: ev.QuestionAnswered) -> str:
        speech = self.lines.speech
        answer = one_line(clean(answered.answer), 160)
        text = ""
        if asked is not None:
            words = one_line(clean(asked.text).partition("\n")[0], 160)
            named = asked.about == "permission" and asked.tool and not words.startswith(asked.tool)
            text = f"{one_line(asked.tool, 60)}  {words}" if named else words
            text = f"{one_line(asked.agent, 60)}: {text}" if asked.agent else text
            answer = self._decision(answer) if asked.about == "permission" else answer
        by = speech("labels.in_brackets", what=speech(f"by_{answered.by}"))
        return self.lines.style.dim(f"? {text} → {answer or speech('sum_no_answer')}{by}")

    def _decision(self, answer: str) -> str:
        """The word of a permission, which the log holds as see `QuestionAsked`."""
        word, _, said = answer.partition(":")
        said = said.strip()
        if word not in (*_GRANTS, "deny"):
            return answer
        decided = self.lines.speech(f"decided_{word}")
        if word in ("session", "project") and said:
            name = "decided_part" if said.isdecimal() else "decided_parts"
            return self.lines.speech(name, decided=decided, parts=said)
        return self.lines.speech("because", what=decided, why=said) if said else decided
