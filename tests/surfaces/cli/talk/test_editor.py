"""The input: keys, pieces, history, search and the editor of the person."""

from __future__ import annotations

from collections.abc import Iterable

import pytest
from prompt_toolkit.completion import CompleteEvent, Completer, Completion
from prompt_toolkit.document import Document

from .typing import a_cli, typing

pytestmark = pytest.mark.anyio

ENTER, UP, DOWN, LEFT, RIGHT, BACK, DEL, TAB = "\r", "\x1b[A", "\x1b[B", "\x1b[D", "\x1b[C", "\x7f", "\x1b[3~", "\t"


async def test_enter_sends_and_tab_queues_while_a_turn_runs() -> None:
    running = [False]
    async with typing(running=lambda: running[0]) as typist:
        await typist.type("hello", ENTER, "   ", ENTER)
        running[0] = True
        await typist.type("\x15", "more", TAB, "now", ENTER, TAB, ENTER)
        assert [(one.text, one.how) for one in typist.sent] == [
            ("hello", "steer"), ("more", "queue"), ("now", "steer"),
        ]  # fmt: skip
        assert typist.text == ""


async def test_a_new_line() -> None:
    async with typing() as typist:
        for key in ("\x1b\r", "\n", "\x1b[13;2u", "\x1b[27;2;13~", "\x1b[13;5u", "\\\r"):
            await typist.type("one", key, "two")
            assert (typist.text, typist.sent) == ("one\ntwo", []), key
            await typist.type(ENTER)
            assert typist.sent.pop().text == "one\ntwo"


async def test_an_even_number_of_backslashes_sends() -> None:
    async with typing() as typist:
        await typist.type("C:\\\\", ENTER)
        assert typist.sent[0].text == "C:\\\\"


async def test_keys_of_emacs() -> None:
    async with typing() as typist:
        await typist.type("one two three", "\x17", "\x01", "\x1bf", "\x0b")
        assert typist.text == "one"
        await typist.type("\x19", "\x1bb", "\x1bd")
        assert typist.text == "one  "
        await typist.type("\x1f")
        assert typist.text == "one two "


async def test_what_looks_like_one_character_is_one() -> None:
    async with typing() as typist:
        for char in ("👨‍👩‍👧", "e\u0301", "🇨🇳", "👍🏽", "字", "\u1100\u1161\u11a8"):
            await typist.type(f"a{char}b", LEFT, BACK)
            assert typist.text == "ab", char
            typist.editor.clear()
            await typist.type(f"a{char}b", LEFT, LEFT, "x", RIGHT, "y", LEFT, LEFT, DEL)
            assert typist.text == "axyb", char
            typist.editor.clear()


async def test_joined_emoji_take_the_cells_of_one() -> None:
    async with typing() as typist:
        await typist.type("a👨‍👩‍👧b👍🏽c")
        typist.app._redraw()
        assert "› a👨" in typist.screen
        assert typist.app.renderer._cursor_pos.x == len("› a__b__c")
        await typist.type(ENTER)
        assert typist.sent[0].text == "a👨‍👩‍👧b👍🏽c"


async def test_at_most_half_the_screen() -> None:
    async with typing() as typist:
        await typist.type("".join(f"line {number}\n" for number in range(30)))
        typist.app._redraw()
        assert typist.screen.count("line ") == 11
        assert "line 29" in typist.screen


async def test_marks_and_hints() -> None:
    running = [False]
    async with typing(running=lambda: running[0]) as typist:
        await typist.until(lambda: "› What shall be done?" in typist.screen)
        await typist.type("!")
        assert "command of your own" in typist.hint
        await typist.type("ls")
        await typist.until(lambda: "! ls" in typist.screen)
        await typist.type("\x15")
        running[0] = True
        typist.app.invalidate()
        await typist.until(lambda: "Tab: after it" in typist.screen)


async def test_undo_brings_back_what_was_cleared() -> None:
    async with typing() as typist:
        await typist.type("precious")
        typist.editor.clear()
        assert typist.text == ""
        assert typist.hint == "Ctrl-_ brings it back"
        await typist.type("\x1f")
        assert typist.hint == ""
        assert typist.text == "precious"
        typist.editor.clear()
        await typist.type("new")
        typist.editor.take_back("old")
        assert typist.text == "old\nnew"


async def test_words_in_chinese() -> None:
    async with typing(a_cli("zh")) as typist:
        await typist.until(lambda: "要做什么" in typist.screen.replace(" ", ""))
        await typist.paste("行\n" * 120)
        assert typist.text == "[粘贴 #1，120 行]"


async def test_up_and_down_go_by_the_rows_that_are_seen() -> None:
    async with typing() as typist:
        wide = "界" * 50  # two rows of 39 and 11
        await typist.type("old", ENTER, wide, "\n", "ab", "\n", "x" * 100)
        buffer = typist.editor.buffer
        places = []
        for _ in range(5):
            await typist.type(UP)
            places.append(buffer.document.translate_index_to_position(buffer.cursor_position))
        assert places == [(2, 22), (1, 2), (0, 50), (0, 11), (0, 3)]


class Offering(Completer):
    """Offers commands; a space at the end says that words are to follow."""

    def get_completions(self, document: Document, complete_event: CompleteEvent) -> Iterable[Completion]:
        typed = document.text_before_cursor
        for name in ("/clear", "/clean ", "/cost"):
            if name.startswith(typed) and typed.startswith("/") and name != typed:
                yield Completion(name, -len(typed))
        if "@" in typed:
            yield Completion("@src/", typed.rindex("@") - len(typed))
            yield Completion("@src/a.py", typed.rindex("@") - len(typed))


async def test_the_menu_has_the_keys_while_it_is_open() -> None:
    running = [False]
    async with typing(completer=Offering(), running=lambda: running[0]) as typist:
        menu_open = typist.editor.menu_open
        await typist.type("/cl")
        await typist.until(menu_open)
        await typist.type(ENTER)
        assert [one.text for one in typist.sent] == ["/clear"]
        await typist.type("/cl")
        await typist.until(menu_open)
        await typist.type(DOWN, ENTER)
        assert typist.text == "/clean "
        await typist.type("\x15", "/cost")
        await typist.type(ENTER)
        assert typist.sent[1].text == "/cost"
        running[0] = True
        await typist.type("see @")
        await typist.until(menu_open)
        await typist.type(DOWN, TAB)
        assert typist.text == "see @src/a.py"
        await typist.until(menu_open)
        await typist.type("\x1b")
        assert not menu_open()
        await typist.type(TAB)
        assert (typist.sent[2].text, typist.sent[2].how) == ("see @src/a.py", "queue")
        await typist.type("/co")
        await typist.until(menu_open)
        await typist.type(UP, TAB)
        assert typist.text == "/cost"


async def test_tab_asks_for_the_menu() -> None:
    async with typing(completer=Offering()) as typist:
        typist.editor.put("/co")
        await typist.type(TAB)
        await typist.until(lambda: typist.text == "/cost")
