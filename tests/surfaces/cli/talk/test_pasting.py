"""What is pasted: long texts and images as pieces, cleaned, and never sent by itself."""

from __future__ import annotations

import base64
import os
import random
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gongfu.surfaces.cli.images import LARGEST
from gongfu.surfaces.cli.talk import clip_piece
from gongfu.surfaces.cli.talk.pasting import Pieces, cleaned, image_paths, is_long

from .typing import PASTE, a_cli, typing

pytestmark = pytest.mark.anyio

ENTER, BACK, LEFT, UNDO, WORD = "\r", "\x7f", "\x1b[D", "\x1f", "\x17"
LONG = "".join(f"line {n}\n" for n in range(120))


PNG = base64.b64decode(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
)


async def test_a_long_text_is_one_piece() -> None:
    async with typing() as typist:
        await typist.type("look: ")
        await typist.paste(LONG.replace("\n", "\r\n"))
        await typist.paste("short\rtwo")
        assert typist.text == "look: [pasted #1, 120 lines]short\ntwo"
        assert not typist.sent
        await typist.type(ENTER)
        assert typist.sent[0].text == f"look: {LONG}short\ntwo"
        assert typist.sent[0].shown == "look: [pasted #1, 120 lines]short\ntwo"


async def test_what_looks_like_a_piece_is_none() -> None:
    async with typing() as typist:
        await typist.paste(LONG)
        await typist.paste("\U0010f000")  # the character that stands for the first piece
        await typist.type(ENTER)
        assert typist.sent[0].text == LONG + "\U0010f000"


async def test_random_keys_among_pieces() -> None:
    """What is sent is what a model of the same keys holds: each piece counts as one character."""
    chance = random.Random(7)
    async with typing() as typist:
        for _ in range(6):
            meant: list[str] = []
            at, keys = 0, list[str]()
            for number in range(60):
                match chance.randrange(6):
                    case 0:
                        text = f"{number}:" + "界\n" * chance.randint(8, 30)
                        keys.append(PASTE.format(text.replace("\n", "\r\n")))
                        meant.insert(at, text)
                        at += 1
                    case 1 | 2:
                        keys.append("w")
                        meant.insert(at, "w")
                        at += 1
                    case 3:
                        keys.append(BACK)
                        if at:
                            at -= 1
                            del meant[at]
                    case 4:
                        keys.append(LEFT)
                        at = max(0, at - 1)
                    case _:
                        keys.append("\x1b[3~")
                        del meant[at : at + 1]
            await typist.type("".join(keys), "!", ENTER)
            meant.insert(at, "!")
            assert typist.sent[-1].text == "".join(meant)


async def test_a_paste_in_many_small_parts() -> None:
    async with typing() as typist:
        parser = typist.app.input.vt100_parser  # type: ignore[attr-defined]
        whole = "a\x1b[200~" + LONG + "\x1b[20x" + "\x1b[201~" + "z\x1b[200~\x1b[201~"
        for start in range(0, len(whole), 3):
            parser.feed(whole[start : start + 3])
        for press in typist.app.input.read_keys():
            typist.app.key_processor.feed(press)
        typist.app.key_processor.process_keys()
        assert typist.editor.pieces.expanded(typist.editor.buffer.text) == "a" + LONG + "z"


async def test_backspace_takes_a_piece_at_once_and_undo_brings_it_back() -> None:
    async with typing() as typist:
        await typist.type("a")
        await typist.paste("x" * 900)
        assert typist.text == "a[pasted #1, 900 characters]"
        await typist.type(BACK)
        assert typist.text == "a"
        await typist.type(UNDO, ENTER)
        assert typist.sent[0].text == "a" + "x" * 900


async def test_a_piece_is_drawn_as_its_label() -> None:
    async with typing() as typist:
        await typist.type("see ")
        await typist.paste(LONG)
        await typist.type(" there", LEFT, LEFT)
        typist.app._redraw()
        assert "› see [pasted #1, 120 lines] there" in typist.screen
        cursor = typist.app.renderer._cursor_pos
        assert cursor.x == len("› see [pasted #1, 120 lines] the")


async def test_what_was_laid_back_is_whole_again() -> None:
    async with typing() as typist:
        await typist.paste(LONG)
        await typist.type(" fix", ENTER)
        typist.editor.put(typist.sent[0].shown)
        await typist.type(ENTER)
        assert typist.sent[1].text == typist.sent[0].text == f"{LONG} fix"


def test_what_steers_a_terminal_is_dropped() -> None:
    assert cleaned("a\x1b[31mred\x1b[0m\x07\r\nb\x9b\tc\x00\x1b]0;title\x07d\ud800") == "ared\nb\tcd"


@settings(max_examples=150, deadline=None)
@given(st.text(max_size=1200))
def test_cleaned_text_holds_no_control_characters(text: str) -> None:
    done = cleaned(text)
    assert cleaned(done) == done
    assert not any((ord(char) < 32 and char not in "\n\t") or 127 <= ord(char) < 160 for char in done)


@settings(max_examples=80, deadline=None)
@given(st.integers(0, 2**32))
def test_pieces_give_back_what_was_pasted_whatever_is_edited(seed: int) -> None:
    """A text of pieces and words is cut, joined, doubled and moved about at random; a model of it does the same."""
    chance, pieces = random.Random(seed), Pieces()
    typed: list[str] = []  # as it stands in the input
    meant: list[str] = []  # what each of its characters stands for
    for number in range(30):
        at = chance.randint(0, len(typed))
        match chance.randrange(5):
            case 0:
                text = f"{number}" + chance.choice(["ab\n", "界", "\U0010f005"]) * chance.randint(801, 1500)
                assert is_long(text)
                typed.insert(at, pieces.add_text(text, "en"))
                meant.insert(at, text)
            case 1:
                typed.insert(at, "w")
                meant.insert(at, "w")
            case 2 if typed:
                del typed[at : at + 2], meant[at : at + 2]
            case 3 if typed:
                end = min(len(typed), at + 3)
                typed[0:0], meant[0:0] = typed[at:end], meant[at:end]
            case _:
                pieces.forget("".join(typed))
    line = "".join(typed)
    assert len(line) == len(typed)
    assert pieces.expanded(line) == "".join(meant)
    assert pieces.taken_back(pieces.shown(line)) == line


@pytest.mark.parametrize(("text", "paths"), [
    ("/a/b.png", ["/a/b.png"]),
    ("/a/it's mine.PNG ", ["/a/it's mine.PNG"]),
    ("'/a/b c.jpg'", ["/a/b c.jpg"]),
    ('"/a/b c.jpeg"', ["/a/b c.jpeg"]),
    (r"/a/b\ c\ \(1\).webp", ["/a/b c (1).webp"]),
    ("file:///a/b%20%E5%9B%BE.gif", ["/a/b 图.gif"]),
    ("~/x.png", ["~/x.png"]),
    ("/a/1.png /b/2.png", ["/a/1.png", "/b/2.png"]),
    ("'/a/1 1.png' '/b/2.png'\n", ["/a/1 1.png", "/b/2.png"]),
    ("/a/1.png\n/b/2.png\n", ["/a/1.png", "/b/2.png"]),
    ("icon.png", []),
    ("see /a/b.png", []),
    ("/a/b.py", []),
    ("/a/b.png and more", []),
    ("", []),
])  # fmt: skip
@pytest.mark.skipif(os.name == "nt", reason="paths of POSIX")
def test_paths_as_terminals_write_them(text: str, paths: list[str]) -> None:
    assert image_paths(text) == paths


async def test_a_dropped_image_is_sent_with_the_text(tmp_path: Path) -> None:
    path = tmp_path / "my shot.png"
    path.write_bytes(PNG)
    async with typing() as typist:
        await typist.paste(str(path).replace(" ", r"\ "))
        await typist.type("what is it", ENTER)
        await typist.until(lambda: bool(typist.sent))
        sent = typist.sent[0]
        assert sent.shown == "[image #1 my shot.png] what is it"
        assert str(path) in sent.text
        assert base64.b64decode(sent.images[0].data) == path.read_bytes()
        assert sent.images[0].media_type == "image/png"
        await typist.paste(f"'{path}'")
        await typist.type("x", BACK, BACK, BACK, "gone", ENTER)
        assert typist.sent[1].images == ()
        assert typist.sent[1].text == "gone"


async def test_what_is_no_image_is_told_and_stays_a_path(tmp_path: Path) -> None:
    for name, content in (("text.png", b"hello"), ("big.png", b"")):
        path = tmp_path / name
        path.write_bytes(content)
        if name == "big.png":
            os.truncate(path, LARGEST + 1)
        async with typing() as typist:
            await typist.paste(str(path))
            await typist.until(lambda: bool(typist.hint))
            assert typist.text.strip() == str(path)
            assert name in typist.hint
    if os.name == "posix":
        os.mkfifo(tmp_path / "pipe.png")
    for path in (tmp_path / "pipe.png", tmp_path / "at all.png"):
        async with typing() as typist:
            await typist.paste(str(path))
            assert typist.text.strip() == str(path)
            assert typist.hint == ""


@pytest.mark.skipif(os.name != "posix", reason="a program of its own stands in")
async def test_the_image_of_the_clipboard(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "image").write_bytes(PNG)
    program = tmp_path / "wl-paste"
    program.write_text(
        f'#!/bin/sh\ncase "$*" in *list-types*) cat {tmp_path}/kinds;; *image/png*) cat {tmp_path}/image;;'
        " *) printf words;; esac\n"
    )
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    monkeypatch.setenv("WAYLAND_DISPLAY", "wayland-0")
    monkeypatch.setattr("sys.platform", "linux")
    (tmp_path / "kinds").write_text("text/html\nimage/png\n")
    async with typing() as typist:
        await typist.type("see ", "\x16")
        await typist.until(lambda: typist.text == "see [image #1] ")
        await typist.type(ENTER)
        assert base64.b64decode(typist.sent[0].images[0].data) == PNG
        assert typist.sent[0].text == "see [image #1] "
    (tmp_path / "kinds").write_text("text/plain\n")
    async with typing() as typist:
        await typist.type("\x16")
        await typist.until(lambda: typist.text == "words")
    program.unlink()
    monkeypatch.setenv("PATH", str(tmp_path))
    async with typing(a_cli("zh")) as typist:
        await typist.type("\x16")
        await typist.until(lambda: "wl-clipboard" in typist.hint)
        assert "未安装 wl-paste" in typist.hint


def test_without_a_screen_there_is_no_clipboard(monkeypatch: pytest.MonkeyPatch) -> None:
    from gongfu.core.errors import UserError

    for name in ("DISPLAY", "WAYLAND_DISPLAY"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr("sys.platform", "linux")
    with pytest.raises(UserError, match="Paste the path"):
        clip_piece.from_clipboard()
