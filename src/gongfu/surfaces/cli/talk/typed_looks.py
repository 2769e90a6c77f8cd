"""How the text that is typed looks: pieces as their labels, commands by their marks."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable

from prompt_toolkit.formatted_text import StyleAndTextTuples
from prompt_toolkit.layout.processors import Processor, Transformation, TransformationInput

from gongfu.surfaces.cli.talk.pasting import Pieces

PIECE, COMMAND, SHELL, DIM = "fg:ansicyan", "fg:ansicyan", "fg:ansiyellow bold", "class:placeholder"


class Looks(Processor):
    """Shows a piece as its label, hides the `!` that the mark in front shows already, and colours a `/command`."""

    def __init__(self, pieces: Pieces) -> None:
        self._pieces = pieces

    def apply_transformation(self, transformation_input: TransformationInput) -> Transformation:
        first = transformation_input.lineno == 0
        text = "".join(fragment[1] for fragment in transformation_input.fragments)
        marked = first and text[:1] in ("!", "/")
        if not marked and all(char not in self._pieces for char in text if char > "\uffff"):
            return Transformation(transformation_input.fragments)
        hidden = 1 if first and text.startswith("!") else 0
        command = len(text.split(None, 1)[0]) if first and text.startswith("/") and not text[1:2].isspace() else 0
        shown: StyleAndTextTuples = []
        starts: list[int] = []  # where each character of the source is shown
        at = index = 0
        for fragment in transformation_input.fragments:
            for char in fragment[1]:
                starts.append(at)
                style, drawn = fragment[0], char
                if piece := self._pieces.get(char):
                    style, drawn = f"{style} {PIECE}", piece.label
                elif index < hidden:
                    drawn = ""
                elif index < command:
                    style = f"{style} {COMMAND}"
                if drawn:
                    shown.append((style, drawn))
                at += len(drawn)
                index += 1
        return Transformation(shown, *_maps(starts, at))


def _maps(starts: list[int], end: int) -> tuple[Callable[[int], int], Callable[[int], int]]:
    def to_shown(index: int) -> int:
        return starts[index] if index < len(starts) else end + index - len(starts)

    def to_source(index: int) -> int:
        if index >= end:
            return len(starts) + index - end
        return max(0, bisect_right(starts, index) - 1)

    return to_shown, to_source
