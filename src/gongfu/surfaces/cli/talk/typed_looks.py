"""How the text that is typed looks: pieces as their labels, commands by their marks."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable

from prompt_toolkit.formatted_text import StyleAndTextTuples
from prompt_toolkit.layout.processors import Processor, Transformation, TransformationInput

from gongfu.core.graphemes import after
from gongfu.surfaces.cli.talk.pasting import Pieces

PIECE, COMMAND, SHELL, DIM = "fg:ansicyan", "fg:ansicyan", "fg:ansiyellow bold", "class:placeholder"

_JOINED = "\u200d(?=[\u2190-\U0001faff])|[\U0001f3fb-\U0001f3ff]|[\U000e0020-\U000e007f]"


class Looks(Processor):
    """Shows a piece as its label, hides the `!` that the mark in front shows already, and colours a `/command`."""

    def __init__(self, pieces: Pieces) -> None:
        self._pieces = pieces

    def drawn(self, text: str, line: int) -> list[str]:
        """How each character of a line of the text is shown."""
        shown = [piece.label if (piece := self._pieces.get(char)) else char for char in text]
        if line == 0 and text.startswith("!"):
            shown[0] = ""
        if re.search(_JOINED, text):
            _hide_joined(text, shown)
        return shown

    def apply_transformation(self, transformation_input: TransformationInput) -> Transformation:
        first = transformation_input.lineno == 0
        text = "".join(fragment[1] for fragment in transformation_input.fragments)
        marked = (first and text[:1] in ("!", "/")) or re.search(_JOINED, text)
        if not marked and all(char not in self._pieces for char in text if char > "\uffff"):
            return Transformation(transformation_input.fragments)
        command = len(text.split(None, 1)[0]) if first and text.startswith("/") and not text[1:2].isspace() else 0
        drawn = iter(self.drawn(text, transformation_input.lineno))
        shown: StyleAndTextTuples = []
        starts: list[int] = []  # where each character of the source is shown
        at = index = 0
        for fragment in transformation_input.fragments:
            for char in fragment[1]:
                starts.append(at)
                style, words = fragment[0], next(drawn)
                if char in self._pieces:
                    style = f"{style} {PIECE}"
                elif index < command:
                    style = f"{style} {COMMAND}"
                if words:
                    shown.append((style, words))
                at += len(words)
                index += 1
        return Transformation(shown, *_maps(starts, at))


def _hide_joined(text: str, shown: list[str]) -> None:
    """Terminals do not agree on the cells of emoji that are joined or coloured: the first of them stands for all."""
    start = 0
    while start < len(text):
        end = after(text, start)
        if re.search(_JOINED, text[start:end]):
            shown[start + 1 : end] = [""] * (end - start - 1)
        start = end


def _maps(starts: list[int], end: int) -> tuple[Callable[[int], int], Callable[[int], int]]:
    def to_shown(index: int) -> int:
        return starts[index] if index < len(starts) else end + index - len(starts)

    def to_source(index: int) -> int:
        if index >= end:
            return len(starts) + index - end
        return max(0, bisect_right(starts, index) - 1)

    return to_shown, to_source
