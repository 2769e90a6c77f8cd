"""Thinking that a server leaves in the content, between tags at its beginning."""

from __future__ import annotations

from typing import Literal

_TAGS = {
    "<think>": "</think>",
    "<thinking>": "</thinking>",
    "<thought>": "</thought>",
    "<reasoning>": "</reasoning>",
    "<seed:think>": "</seed:think>",
    "[THINK]": "[/THINK]",
    "◁think▷": "◁/think▷",
    "<|channel|>analysis<|message|>": "<|end|>",
}


class ThinkSplitter:
    """Tells thinking from text, whatever the pieces. Only tags at the very beginning of the content count."""

    def __init__(self) -> None:
        self._held = ""
        self._closer = ""
        self._state: Literal["start", "thinking", "text"] = "start"
        self._trim = False

    def feed(self, piece: str) -> list[tuple[bool, str]]:
        """Pieces of (is thinking, text), in order. What may be part of a tag is held back."""
        if self._state == "text" and not self._trim:
            return [(False, piece)]
        self._held += piece
        out: list[tuple[bool, str]] = []
        if self._state == "start" and not self._begin(out):
            return out
        if self._state == "thinking":
            self._think(out)
        if self._state == "text" and self._held:
            self._rest(out)
        return out

    def flush(self) -> list[tuple[bool, str]]:
        """The content has ended: what was held back, as it stands."""
        held, self._held = self._held, ""
        return [(self._state == "thinking", held)] if held else []

    def _begin(self, out: list[tuple[bool, str]]) -> bool:
        head = self._held.lstrip()
        opener = next((o for o in _TAGS if head.startswith(o)), "")
        if opener:
            self._closer = _TAGS[opener]
            self._held = head[len(opener) :]
            self._state, self._trim = "thinking", True
            return True
        if not head or any(o.startswith(head) for o in _TAGS):
            return False
        self._state = "text"
        out.append((False, self._held))
        self._held = ""
        return True

    def _think(self, out: list[tuple[bool, str]]) -> None:
        if self._trim and self._held:  # the line break behind the tag, which may come in a piece of its own
            self._held = self._held.removeprefix("\n")
            self._trim = False
        end = self._held.find(self._closer)
        if end >= 0:
            thought = self._held[:end]
            self._held = self._held[end + len(self._closer) :]
            self._state, self._trim = "text", True
        else:
            end = len(self._held) - _overlap(self._held, self._closer)
            thought, self._held = self._held[:end], self._held[end:]
        if thought:
            out.append((True, thought))

    def _rest(self, out: list[tuple[bool, str]]) -> None:
        if self._trim:  # the line breaks between thinking and answer belong to neither
            self._held = self._held.lstrip("\r\n")
            if not self._held:
                return
            self._trim = False
        out.append((False, self._held))
        self._held = ""


def split_unopened(text: str) -> tuple[str, str]:
    """(thinking, text) of a content whose opening tag was in the prompt, so that only the closing one is there."""
    head, closer, tail = text.partition("</think>")
    if not closer or "<think>" in head or "`" in head[-1:] or not (not tail or tail[0] in "\r\n"):
        return "", text
    return head, tail.lstrip("\r\n")


def _overlap(text: str, marker: str) -> int:
    """How many characters at the end of `text` are the beginning of `marker`."""
    for size in range(min(len(text), len(marker) - 1), 0, -1):
        if text.endswith(marker[:size]):
            return size
    return 0
