"""The question about project rules, once in a project: which must every request carry?"""

from __future__ import annotations

from typing import TYPE_CHECKING

from gongfu.core.events import QuestionAsked
from gongfu.surfaces.cli.cli import Cli

if TYPE_CHECKING:
    from gongfu.app import App
    from gongfu.app.rule_words import Answer
    from gongfu.context.rules.found import Found

ANSWERS: tuple[Answer, ...] = ("mandatory-root", "mandatory-all", "optional")


async def ask_about_rules(cli: Cli, app: App) -> None:
    """Ask the person at the terminal when nothing was said of the rules of this project yet, and remember the answer.

    The end of input or a mere Enter means that none is mandatory.
    """
    from gongfu.app.rule_words import note_answer, unasked  # only where somebody can be asked

    found = unasked(app) if cli.person is not None else None
    if found is None or cli.person is None:
        return
    question, options = rules_question(cli, found)
    known = dict(zip(options, ANSWERS, strict=True))
    answer = await cli.person.answer(question)
    while answer and answer not in known:  # a slip is no word on the rules
        answer = await cli.person.answer(question)
    note_answer(app, known.get(answer, "optional"), found)


def rules_question(cli: Cli, found: Found) -> tuple[QuestionAsked, tuple[str, ...]]:
    """The question as any dialogue may put it, and its options in the order of `ANSWERS`."""
    from gongfu.core.tokens import text_tokens

    options = tuple(cli.say(f"rules.answer_{answer}") for answer in ANSWERS)
    names = ", ".join(d.path for d in found.drafts[:8]) + (", …" if len(found.drafts) > 8 else "")
    tokens = sum(text_tokens(d.text) for d in found.drafts)
    text = cli.say("rules.question", rules=names, tokens=tokens)
    return QuestionAsked(question="rules", about="question", text=text, options=options, default=options[-1]), options
