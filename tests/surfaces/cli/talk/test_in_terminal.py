"""Whole conversations in a real terminal against a scripted server: what is seen, what is sent, what is left."""

from __future__ import annotations

import os
import re
import time
from collections.abc import Callable
from pathlib import Path

import psutil

from gongfu.models.scripted.script import Call, Say
from gongfu.models.scripted.server import Server
from tests.surfaces.cli.conftest import Program

from .tmux import Window

Serve = Callable[..., Server]
Open = Callable[..., Window]
WAIT = "for i in 1 2 3 4 5 6 7 8; do echo line $i; sleep 0.3; done"
LONG = "for i in $(seq 100); do echo tick $i; sleep 0.2; done"


def _rule(screen: str, columns: int) -> bool:
    """Whether the input stands under one rule as wide as the screen: the screen was drawn for this size."""
    return f"\n{'─' * columns}\n›" in screen and sum(row.startswith("────") for row in screen.split("\n")) == 1


def _golden(name: str, screen: str) -> None:
    """Compare a screen with how it should look; times and figures of tokens differ from run to run."""
    shown = re.sub(r"done in [\d.]+m?s", "done in 0.0s", screen.rstrip())
    shown = re.sub(r"  \d+(\.\d)?s$", "", re.sub(r"[\d.]+k (in|out|tokens)", r"1k \1", shown), flags=re.MULTILINE)
    shown = re.sub(r"\d+% of [\d.]+k", "1% of 100k", shown)
    path = Path(__file__).parent / "goldens" / f"{name}.txt"
    if os.environ.get("GOLDENS"):
        path.write_text(shown + "\n", "utf-8")
    assert shown == path.read_text("utf-8").rstrip("\n")


def test_a_conversation_from_hello_to_bye(program: Program, serve: Serve, window: Open) -> None:
    server = serve(
        Call("shell", {"command": WAIT}, text="I **look** first."),
        Call("write_file", {"path": "new.py", "content": "print('你好')\n"}),
        Say("# Done\n\nIt is `fixed`.\n\n- 中文\n- two\n"),
        Say("Second answer."),
    )
    (program.folder / "notes.md").write_text("The word is lighthouse.\n")
    terminal = window()
    terminal.ready()
    terminal.type("look at @no")
    terminal.until("› notes.md")
    terminal.press("Tab")
    terminal.type("你好 🙂")
    assert "› look at @notes.md 你好 🙂" in terminal.until("🙂")
    terminal.press("Enter")
    terminal.until("│ line 2")
    terminal.say("and be brief")
    terminal.until("for the next step: and be brief")
    terminal.type("second thing")
    terminal.press("Tab")
    terminal.until("queued 1. second thing")
    screen = terminal.until("Yes, once")
    assert "+ print('你好')" in screen
    assert not (program.folder / "new.py").exists()
    terminal.until(lambda s: "› y" in s)
    time.sleep(0.5)  # what is typed before somebody can have read a question is no answer
    terminal.type("y")
    terminal.until("Second answer.")
    screen = terminal.until(lambda s: s.count("done in") == 2)
    assert (program.folder / "new.py").read_text() == "print('你好')\n"
    whole = terminal.all
    for words in (
        "› look at @notes.md 你好 🙂",
        "I look first.",
        "» and be brief",
        "It is fixed.",
        "• 中文",
        "› second thing",
    ):
        assert whole.count(words) == 1, whole
    assert "│ line" not in whole, "what was alive has gone"
    first, *_, last = (r.raw.decode() for r in server.requests)
    assert "The word is lighthouse." in first
    assert "and be brief" not in first
    assert "and be brief" in last
    assert "second thing" in last
    terminal.press("C-d")
    assert terminal.end() == 0
    assert re.search(r"gongfu -s s_\w+", terminal.screen)
    again = window("-c")
    again.ready()
    assert "Second answer." in again.until("Second answer.")


def test_a_change_of_size_leaves_the_screen_right(serve: Serve, window: Open) -> None:
    serve(Say("\n\n".join(f"Line number {n} of the answer, which is not short at all." for n in range(40))))
    terminal = window()
    terminal.ready()
    terminal.say("tell me")
    terminal.until("done in")
    for columns, rows in ((50, 16), (120, 40), (40, 12), (200, 50), (80, 24)):
        terminal.resize(columns, rows)
        screen = terminal.until(lambda s, n=columns: _rule(s, n))
        lines = screen.rstrip("\n").split("\n")
        assert sum(line.startswith("›") and "tell me" not in line for line in lines) == 1, screen
        assert "Line number 39" in screen, screen
        assert len(lines) == rows or columns == 200, screen


def test_interrupt_suspend_and_the_window_that_closes(program: Program, serve: Serve, window: Open) -> None:
    server = serve(Call("shell", {"command": LONG}), Say("Went on."), Call("shell", {"command": LONG}))
    terminal = window("--permission", "full")
    terminal.ready()
    terminal.say("start")
    terminal.until("tick 2")
    terminal.type("half a thought")
    terminal.press("Escape")
    screen = terminal.until(lambda s: "half a thought" in s and "Esc stops" not in s)
    assert "half a thought" in screen, "what was typed stays"
    time.sleep(0.3)
    terminal.press("C-c")
    terminal.until("What shall be done?")
    terminal.say("/continue")
    terminal.until("Went on.")
    assert len(server.requests) == 2
    terminal.say("again")
    terminal.until("tick 2")
    ticking = [one for one in psutil.process_iter() if _runs(one, "seq 100")]
    assert ticking
    terminal.close()
    assert not psutil.wait_procs(ticking, timeout=20)[1], "the command lives on without its window"
    ours = [one for one in psutil.process_iter() if _is_ours(one, program)]
    assert not psutil.wait_procs(ours, timeout=20)[1], "the program lives on without its window"
    crashes = list((program.home / "logs").glob("crash*"))
    assert not crashes, crashes[0].read_text()


def _runs(process: psutil.Process, words: str) -> bool:
    try:
        return words in " ".join(process.cmdline())
    except psutil.Error:
        return False


def _is_ours(process: psutil.Process, program: Program) -> bool:
    try:
        here = process.environ().get("GONGFU_HOME") == str(program.home)
    except psutil.Error:
        return False
    return here and _runs(process, "-m gongfu") and not _runs(process, "sh -c")


def test_pasting_and_keys_never_send_more_than_was_meant(serve: Serve, window: Open) -> None:
    server = serve(Say("Got it."))
    terminal = window(LANG="zh_CN.UTF-8")
    terminal.ready()
    text = "\n".join(f"第 {n} 行 of the paste" for n in range(30))
    terminal.paste(text + "\n")
    screen = terminal.until(lambda s: "30" in s or "31" in s)
    assert "第 7 行" not in screen, "a long paste is one piece"
    terminal.press("M-Enter")
    terminal.type("结束")
    terminal.until("结束")
    assert not server.requests
    terminal.press("Enter")
    terminal.until("Got it.")
    sent = server.requests[0].raw.decode()
    assert "第 0 行 of the paste\\n第 1 行 of the paste" in sent
    assert "第 29 行 of the paste" in sent
    assert "结束" in sent
    terminal.press("C-d")
    assert terminal.end() == 0


ANSWER = """# What I found

The `total` in **cart.py** adds the wrong way:

| file | line |
|---|---|
| cart.py | 3 |
| 购物车.py | 12 |

1. Fix the sign.
2. 补一个测试 🙂.

```python
def total(items):
    return sum(items)
```
"""


def test_screens_look_as_they_should_without_colour_and_a_signal_ends_well(
    program: Program, serve: Serve, window: Open
) -> None:
    program.home.mkdir(exist_ok=True)
    (program.home / "config.yaml").write_text('sandbox: {kind: "off"}\n')  # the same on every machine
    (program.folder / "cart.py").write_text("def total(items):\n    s = 0\n    return s\n")
    serve(
        Call("read_file", {"path": "cart.py"}, text="I look at the file."),
        Call("edit_file", {"path": "cart.py", "old": "return s", "new": "return sum(items)"}),
        Call("shell", {"command": "echo nothing there; exit 2"}),
        Say(ANSWER),
    )
    terminal = window("--permission", "auto", rows=50, NO_COLOR="1")
    terminal.ready()
    terminal.say("fix the total 修正合计")
    terminal.until("done in")
    colours = {code for found in re.findall(r"\x1b\[([\d;]*)m", terminal.painted) for code in found.split(";")}
    assert not {c for c in colours if c and (30 <= int(c) <= 49 or 90 <= int(c) <= 107)}, colours
    _golden("conversation-80x50", terminal.screen)
    for columns, rows in ((80, 24), (200, 50), (40, 16)):
        terminal.resize(columns, rows)
        _golden(f"conversation-{columns}x{rows}", terminal.until(lambda s, n=columns: _rule(s, n)))
    next(one for one in psutil.process_iter() if _is_ours(one, program)).terminate()
    assert terminal.end() == 0
    assert "gongfu -s" in terminal.screen
