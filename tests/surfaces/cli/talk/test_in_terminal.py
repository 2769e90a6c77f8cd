"""Whole conversations in a real terminal against a scripted server: what is seen, what is sent, what is left."""

from __future__ import annotations

import time
from collections.abc import Callable

from gongfu.models.scripted.script import Call, Say
from gongfu.models.scripted.server import Server

from ..conftest import Program
from .tmux import Window

Serve = Callable[..., Server]
Open = Callable[..., Window]


def test_a_conversation_from_hello_to_bye(program: Program, serve: Serve, window: Open) -> None:
    server = serve(
        Call("shell", {"command": "for i in 1 2 3; do echo line $i; sleep 0.3; done"}, text="I **look** first."),
        Call("write_file", {"path": "new.py", "content": "print('你好')\n"}),
        Say("# Done\n\nIt is `fixed`.\n\n- 中文\n- two\n"),
        Say("Again."),
    )
    terminal = window()
    terminal.ready()
    terminal.type("look around 你好 🙂")
    assert "› look around 你好 🙂" in terminal.until("你好 🙂")
    terminal.press("Enter")
    terminal.until("│ line 2")
    terminal.until("new.py")
    terminal.until("yes")
    terminal.type("y") if False else terminal.press("Enter")
    screen = terminal.until("done in")
    assert (program.folder / "new.py").read_text() == "print('你好')\n"
    for words in ("› look around 你好 🙂", "I look first.", "It is fixed.", "• 中文"):
        assert words in screen, screen
    assert "│ line" not in screen, "what was alive has gone"
    terminal.say("and again")
    terminal.until("Again.")
    last = server.seen[-1].body.decode()
    assert "and again" in last
    assert "look around 你好 🙂" in last
    terminal.press("C-d")
    assert terminal.end() == 0
    assert "gongfu -s s_" in terminal.screen


def test_a_change_of_size_leaves_the_screen_right(serve: Serve, window: Open) -> None:
    serve(Say("\n\n".join(f"Line number {n} of the answer, which is not short at all." for n in range(40))))
    terminal = window()
    terminal.ready()
    terminal.say("tell me")
    terminal.until("done in")
    for columns, rows in ((50, 16), (120, 40), (40, 12), (80, 24)):
        terminal.resize(columns, rows)
        time.sleep(0.3)
        screen = terminal.until(lambda s, n=columns: f"\n{'─' * n}\n›" in s)
        lines = screen.rstrip("\n").split("\n")
        assert screen.count("───") >= 1
        assert sum(line.startswith("────") for line in lines) == 1, screen
        assert sum(line.startswith("›") and "tell" not in line for line in lines) == 1, screen
        assert "Line number 39" in screen, screen
