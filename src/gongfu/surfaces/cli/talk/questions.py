"""Questions of the engine as dialogues: permissions with what would happen, questions, and plans."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gongfu.core.events import QuestionAsked
from gongfu.surfaces.cli.talk.face import Option, Pick

if TYPE_CHECKING:
    from gongfu.surfaces.cli.talk.screen import Screen


async def answering(screen: Screen, question: QuestionAsked) -> str:
    """The answer in the words that `Session.answer` takes; turning away is the default, or no."""
    options = question.options or (("allow", "session", "deny") if question.about == "permission" else ())
    pick = Pick(
        title=question.text,
        options=tuple(Option(value=one, label=one) for one in options),
        seconds=question.seconds,
    )
    picked = await screen.pick(pick)
    if picked is None:
        return "deny" if question.about == "permission" else question.default
    return picked.value or picked.text
