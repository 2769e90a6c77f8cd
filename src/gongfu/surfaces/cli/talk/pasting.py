"""What is pasted: cleaned, long texts and images as one piece each, which is one character of the text typed."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from pathlib import Path

from gongfu.core.messages import ImagePart
from gongfu.core.words import Language, say

LINES, LENGTH = 6, 800  # a paste of more is one piece
_KEPT = 48_000_000  # characters of pieces that are kept for what was typed before
_FIRST, _COUNT = 0x10F000, 0xF00  # private characters: each stands for a piece
_ANY = re.compile(f"[{chr(_FIRST)}-{chr(_FIRST + _COUNT - 1)}]")
_SEQUENCE = r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)?|[@-_])"
_CONTROL = r"[\x00-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff]"
_KINDS = (".png", ".jpg", ".jpeg", ".gif", ".webp")


class Piece:
    """A text or an image that is shown as its `label`. An image is None while it is being read."""

    def __init__(self, char: str, number: int, *, label: str, text: str = "", path: str = "") -> None:
        self.char = char
        self.number = number
        self.label = label
        self.text = text
        self.path = path
        self.image: ImagePart | None = None
        self.is_image = False

    @property
    def size(self) -> int:
        return len(self.text) + (len(self.image.data) if self.image else 0)

    @property
    def words(self) -> str:
        """What the model is to read in its place."""
        if not self.is_image:
            return self.text
        return f"{self.label[:-1]}: {self.path}]" if self.path else self.label


class Pieces:
    """The pieces of a conversation. Numbers are given once each."""

    def __init__(self) -> None:
        self._of: dict[str, Piece] = {}
        self._number = {True: 0, False: 0}
        self._next = 0

    def add_text(self, text: str, language: Language) -> str:
        """The character that stands for a long text from now on; the same one for the same text."""
        for piece in self._of.values():
            if not piece.is_image and piece.text == text:
                return piece.char
        lines, number = text.rstrip("\n").count("\n") + 1, self._take(image=False)
        key = "talk_edit.pasted" if lines > 1 else "talk_edit.pasted_long"
        label = f"[{say(key, language, number=number, lines=lines, size=len(text))}]"
        return self._keep(Piece(self._char(), number, label=label, text=text))

    def add_image(self, path: str, language: Language) -> Piece:
        """A piece for the image in a file, or, with the path "", one of the clipboard; its image is set later."""
        number, name = self._take(image=True), _plain(re.split(r"[/\\]", path)[-1])
        key = "talk_edit.image_named" if name else "talk_edit.image"
        label = f"[{say(key, language, number=number, name=name)}]"
        piece = Piece(self._char(), number, label=label, path=path)
        piece.is_image = True
        self._keep(piece)
        return piece

    def _take(self, *, image: bool) -> int:
        self._number[image] += 1
        return self._number[image]

    def _char(self) -> str:
        while (char := chr(_FIRST + self._next % _COUNT)) in self._of:
            self._next += 1
        self._next += 1
        return char

    def _keep(self, piece: Piece) -> str:
        self._of[piece.char] = piece
        return piece.char

    def __contains__(self, char: str) -> bool:
        return char in self._of

    def get(self, char: str) -> Piece | None:
        """The piece that a character stands for."""
        return self._of.get(char)

    def used(self, text: str) -> Iterator[Piece]:
        """The pieces in `text`, in their order, each once."""
        for char in dict.fromkeys(_ANY.findall(text)):
            if piece := self._of.get(char):
                yield piece

    def expanded(self, text: str) -> str:
        """`text` as the model is to have it."""
        return _ANY.sub(lambda match: piece.words if (piece := self._of.get(match[0])) else "", text)

    def shown(self, text: str) -> str:
        """`text` as it looks."""
        return _ANY.sub(lambda match: piece.label if (piece := self._of.get(match[0])) else "", text)

    def taken_back(self, text: str, *, whole: bool = False) -> str:
        """The other way round: labels become the pieces they stand for; with `whole` long texts become theirs, too."""
        for piece in tuple(self._of.values()):
            if whole and piece.is_image and piece.words in text:
                text = text.replace(piece.words, piece.char)
            elif whole and piece.text and piece.text in text:
                text = text.replace(piece.text, piece.char, 1)
            elif piece.label in text:
                text = text.replace(piece.label, piece.char)
        return text

    def forget(self, live: str) -> None:
        """Let go of the oldest pieces beyond what is kept, but of none in `live`."""
        total = sum(piece.size for piece in self._of.values())
        for piece in tuple(self._of.values()):
            crowded = len(self._of) > _COUNT // 2
            if (total <= _KEPT and not crowded) or piece.char in live:
                continue
            total -= piece.size
            del self._of[piece.char]


def cleaned(text: str) -> str:
    """`text` with line feeds as its only ends of lines, and without what steers a terminal."""
    if text.isascii() and text.replace("\n", "").isprintable():
        return text
    text = re.sub(_SEQUENCE, "", text.replace("\r\n", "\n").replace("\r", "\n"))
    return re.sub(_CONTROL, "", text)


def without_marks(text: str) -> str:
    """`text` without the characters that could be taken for pieces."""
    return _ANY.sub("", text)


def is_long(text: str) -> bool:
    """Whether a pasted text becomes a piece."""
    return len(text) > LENGTH or text.rstrip("\n").count("\n") >= LINES or _ANY.search(text) is not None


def _plain(name: str) -> str:
    name = re.sub(r"[\[\]\s]+|" + _CONTROL, " ", without_marks(name)).strip()
    return name if len(name) <= 40 else f"{name[:18]}…{name[-20:]}"


def image_paths(text: str) -> list[str]:
    """The paths of image files that `text` consists of, as terminals write them when files are dropped; else none.

    Quotes, escaped spaces and file:// are understood. Only the names are looked at, not the disk.
    """
    text = text.strip()
    if not text or len(text) > 8_000 or not any(kind in text.lower() for kind in _KINDS):
        return []
    found = [path for line in text.split("\n") if line.strip() for path in _paths(line.strip())]
    return found if all(_is_image(path) for path in found) else []


def _paths(line: str) -> list[str]:
    if _is_image(line) and "\\ " not in line and not re.search(r"\.\w{3,4}\s+(?:[/~'\"]|file:)", line):
        return [line]  # one path, which may hold spaces as they are
    words: list[str] = []
    windows = os.name == "nt"
    for match in re.finditer(r"""'([^']*)'|"([^"]*)"|((?:\\.|[^\s'"\\]|\\)+)""", line):
        quoted, bare = match[1] or match[2], match[3]
        if quoted is not None:
            words.append(quoted)
        elif bare.startswith("file://"):
            words.append(_of_url(bare))
        else:
            words.append(bare if windows else re.sub(r"\\(.)", r"\1", bare))
    return words


def _of_url(url: str) -> str:
    from urllib.parse import unquote, urlsplit

    try:
        parts = urlsplit(url)
    except ValueError:
        return url
    path = unquote(parts.path)
    return path[1:] if re.match(r"/[A-Za-z]:", path) else path


def _is_image(path: str) -> bool:
    rooted = path.startswith(("/", "~/", "./", "../", "\\\\")) or re.match(r"[A-Za-z]:[\\/]", path)
    return bool(rooted) and path.lower().endswith(_KINDS)


def read_piece(piece: Piece) -> None:
    """Read the image of a piece from its file; where there is none it stays without.

    UserError for what is no image, is too large or cannot be read.
    """
    from gongfu.surfaces.cli.images import read_image

    path = os.path.expanduser(piece.path)  # noqa: PTH111 - pathlib raises where there is no home
    if not os.path.isfile(path):  # noqa: PTH113 - for names that no path can have, too
        return
    piece.image = read_image(path)
    piece.path = str(Path(path).absolute())
