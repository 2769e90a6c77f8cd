"""The tools of the screen on a display that nobody sees, through the agent loop and by themselves."""

from __future__ import annotations

import base64
import os
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest

from gongfu.config.settings import Sandbox as SandboxSettings
from gongfu.config.settings import SandboxKind
from gongfu.core.errors import ToolFailure
from gongfu.toolkit.desk import Desk, told_by
from gongfu.toolkit.keynames import combination
from gongfu.workspace.root import Workspace
from gongfu.workspace.sandbox.sandbox import Sandbox
from gongfu.workspace.screen.orders import TakeShot, UseKeys, UseMouse
from tests.app.cast import workplace
from tests.toolkit.loop import Played, play
from tests.toolkit.screens import client, display, env_of, needed, pixels, until

pytestmark = pytest.mark.anyio
RED, BLACK = (255, 0, 0), (0, 0, 0)


@pytest.fixture(scope="module")
def shown() -> Iterator[str]:
    needed(library="mss")
    needed(library="pynput")
    with display() as name:
        yield name


@pytest.fixture
def work(tmp_path: Path) -> Path:
    return workplace(tmp_path)


def picture(played: Played) -> bytes:
    """The picture that the model was sent with the last result."""
    return base64.b64decode(played.results[-1].images[-1].data)


async def refused(work: Path, shown: str, name: str, bad: list[tuple[dict[str, object], str]]) -> None:
    """Each call fails and says why."""
    played = await play(work, *((name, args) for args, _ in bad), env=env_of(work, shown))
    for result, (args, why) in zip(played.results, bad, strict=True):
        assert result.status == "failed", args
        assert why in result.text, args


# --- pictures ---------------------------------------------------------------------------------------------------------


async def test_a_screenshot_shows_the_window_where_it_is(work: Path, shown: str) -> None:
    with client(work, shown):
        played = await play(work, ("screenshot", {}), env=env_of(work, shown))
    assert played.status == "done"
    assert played.text == "The screen 1000x600 at 0,0."
    width, height, at = pixels(picture(played))
    assert (width, height) == (1000, 600)
    assert at(450, 280) == RED
    assert at(290, 280) == BLACK
    kept = played.finished[-1].display
    assert (kept["kind"], kept["width"], kept["height"]) == ("image", 1000, 600)
    assert list((work.parent / "home").rglob(kept["artifact"]))


async def test_a_region_and_a_window_are_cut_and_say_where_they_lie(work: Path, shown: str) -> None:
    with client(work, shown):
        region = ("screenshot", {"region": [290, 190, 20, 20]})
        window = ("screenshot", {"window": "RED win"})
        one = await play(work, region, env=env_of(work, shown))
        two = await play(work, window, env=env_of(work, shown))
    width, height, at = pixels(picture(one))
    assert (width, height) == (20, 20)
    assert (at(9, 9), at(10, 10)) == (BLACK, RED)
    assert "x+290, y+190" in one.text
    width, height, at = pixels(picture(two))
    assert (width, height, at(0, 0), at(199, 99)) == (200, 100, RED, RED)
    assert two.text.startswith("The window 'A red window' 200x100 at 300,200; a point of it lies at x+300, y+200")


async def test_a_screenshot_goes_into_a_file_that_undo_knows(work: Path, shown: str) -> None:
    played = await play(work, ("screenshot", {"path": "shots/one.png"}), env=env_of(work, shown))
    assert played.text.endswith("Written to shots/one.png.")
    assert pixels((work / "shots/one.png").read_bytes())[:2] == (1000, 600)
    again = await play(work, ("screenshot", {"path": "shots/one.png", "monitor": 1}), env=env_of(work, shown))
    assert again.status == "done"


async def test_a_bad_wish_for_a_picture_is_told(work: Path, shown: str) -> None:
    bad: list[tuple[dict[str, object], str]] = [
        ({"path": "a.txt"}, "must end in .png"),
        ({"path": "b.png"}, "exists and is no PNG"),
        ({"region": [0, 0, 0, 5]}, "region is [left, top, width, height]"),
        ({"region": [1, 2]}, "region is [left, top, width, height]"),
        ({"region": [5000, 0, 10, 10]}, "lies outside the screen (1000x600 at 0,0)"),
        ({"monitor": 7}, "there is no monitor 7; there are 1"),
        ({"monitor": -1}, "counts from 1"),
        ({"monitor": 1, "window": "x"}, "give one of monitor, region and window"),
        ({"window": "nobody has this"}, "no window has 'nobody has this'"),
    ]
    (work / "b.png").write_text("no picture")
    before = sorted(p.name for p in work.iterdir())
    await refused(work, shown, "screenshot", bad)
    assert sorted(p.name for p in work.iterdir()) == before
    assert (work / "b.png").read_text() == "no picture"


async def test_a_large_screen_is_made_smaller_and_says_by_how_much(tmp_path: Path) -> None:
    with display("3200x1000x24") as wide:
        told = await Desk(env_of(tmp_path, wide)).do(TakeShot())
    assert told.picture is not None
    width, height, _ = pixels(told.picture.png)
    assert (width, height) == (told.picture.width, told.picture.height)
    assert max(width, height) <= 1568
    assert pixels(told.picture.whole)[:2] == (3200, 1000)
    assert abs(told.picture.area.width / width - told.picture.area.height / height) < 0.02


# --- the mouse and the keyboard ---------------------------------------------------------------------------------------


async def test_the_mouse_moves_clicks_drags_and_scrolls(work: Path, shown: str) -> None:
    with client(work, shown) as log:
        seen = lambda text: until(lambda: text in log.read_text("utf-8"))  # noqa: E731
        played = await play(
            work,
            ("mouse", {"action": "move", "x": 350, "y": 250}),
            ("mouse", {"action": "position"}),
            ("mouse", {"action": "click"}),
            ("mouse", {"action": "right", "x": 360, "y": 255}),
            ("mouse", {"action": "double", "x": 370, "y": 260}),
            ("mouse", {"action": "drag", "x": 380, "y": 265, "to_x": 440, "to_y": 285}),
            ("mouse", {"action": "scroll", "down": 2}),
            env=env_of(work, shown),
        )
        assert [r.status for r in played.results] == ["done"] * 7
        assert "350,250" in played.results[1].text
        for text in ("button (1, 350, 250)", "button (3, 360, 255)", "double (370, 260)", "released (440, 285)"):
            seen(text)
        seen("button (5, 440, 285)")
        assert log.read_text("utf-8").count("button (5,") == 2
        assert "drag (" in log.read_text("utf-8")


async def test_the_mouse_stays_on_the_screen(work: Path, shown: str) -> None:
    bad: list[tuple[dict[str, object], str]] = [
        ({"action": "click", "x": 1000, "y": 10}, "1000,10 lies outside the screen (1000x600 at 0,0)"),
        ({"action": "click", "x": -1, "y": 10}, "lies outside the screen"),
        ({"action": "click", "x": 10**30, "y": 10}, "outside"),
        ({"action": "drag", "x": 5, "y": 5, "to_x": 9000, "to_y": 5}, "9000,5 lies outside"),
        ({"action": "drag", "x": 5, "y": 5}, "drag needs to_x and to_y"),
        ({"action": "move"}, "move needs x and y"),
        ({"action": "click", "x": 5}, "belong together"),
        ({"action": "scroll"}, "scroll needs down"),
        ({"action": "scroll", "down": 100000}, "at most 100"),
    ]
    desk = Desk(env_of(work, shown))
    await desk.do(UseMouse(deed="move", x=77, y=88))
    await refused(work, shown, "mouse", bad)
    assert (await desk.do(UseMouse(deed="position"))).at == (77, 88)


async def test_typed_text_arrives_in_english_and_chinese(work: Path, shown: str) -> None:
    text = "Hello, World! {x} ~ 功夫是练出来的：你好"
    with client(work, shown) as log:
        played = await play(
            work,
            ("mouse", {"action": "click", "x": 350, "y": 250}),
            ("keyboard", {"text": text}),
            ("keyboard", {"keys": ["ctrl+s", "enter"]}),
            env=env_of(work, shown),
        )
        assert [r.status for r in played.results] == ["done"] * 3
        until(lambda: "saved" in log.read_text("utf-8"))
        until(lambda: f"text {text + chr(10)!r}" in log.read_text("utf-8"))


async def test_what_no_keyboard_can_do_is_told(work: Path, shown: str) -> None:
    bad: list[tuple[dict[str, object], str]] = [
        ({}, "give text to type it, or keys"),
        ({"text": "a", "keys": ["b"]}, "give text to type it, or keys"),
        ({"text": "x" * 2001}, "at most 2000 characters"),
        ({"text": "a\0b"}, "which no key types"),
        ({"keys": ["ctrl+nonsense"]}, "is no combination of keys"),
        ({"keys": [""]}, "is no combination of keys"),
        ({"keys": ["a"], "hold": 60}, "hold is between 0 and 10"),
        ({"keys": ["a"] * 101}, "100 combinations"),
    ]
    await refused(work, shown, "keyboard", bad)


async def test_text_longer_than_the_keyboard_has_keys_for_arrives_whole(work: Path, shown: str) -> None:
    text = "".join(chr(0x4E00 + 7 * n) for n in range(80))
    with client(work, shown) as log:
        desk = Desk(env_of(work, shown))
        await desk.do(UseMouse(deed="click", x=350, y=250))
        await desk.do(UseKeys(text=text), 30)
        until(lambda: f"text {text!r}" in log.read_text("utf-8"))


def test_combinations_are_read_as_people_write_them() -> None:
    assert combination("Ctrl+Shift+S") == ("ctrl", "shift", "S")
    assert combination("control + return") == ("ctrl", "enter")
    assert combination("ctrl++") == ("ctrl", "+")
    assert combination("+") == ("+",)
    assert combination(" ") == ("space",)
    assert combination("F5") == ("f5",)


# --- the clipboard ----------------------------------------------------------------------------------------------------


async def test_the_clipboard_keeps_chinese_after_the_call(work: Path, shown: str) -> None:
    needed("xclip")
    text = "剪贴板里的文字\nsecond line 🎉"
    set_it = await play(work, ("clipboard", {"action": "set", "text": text}), env=env_of(work, shown))
    assert set_it.status == "done"
    got = await play(work, ("clipboard", {"action": "get"}), env=env_of(work, shown))  # another session
    assert got.text == text


async def test_a_secret_in_the_clipboard_is_not_told(work: Path, shown: str) -> None:
    needed("xclip")
    token = "ghp_" + "a8Kd93jXq0" * 3 + "Zz81Qx"
    await play(work, ("clipboard", {"action": "set", "text": f"token {token}"}), env=env_of(work, shown))
    got = await play(work, ("clipboard", {"action": "get"}), env=env_of(work, shown))
    assert got.status == "done"
    assert token not in got.text


async def test_an_empty_clipboard_is_no_error(work: Path) -> None:
    needed("xclip")
    with display("300x200x24") as fresh:
        got = await play(work, ("clipboard", {"action": "get"}), env=env_of(work, fresh))
    assert got.text == "The clipboard holds no text."


async def test_a_bad_call_leaves_the_clipboard_alone(work: Path, shown: str) -> None:
    bad: list[tuple[dict[str, object], str]] = [
        ({"action": "set"}, "set needs a text"),
        ({"action": "set", "text": "a\0"}, "set needs a text"),
        ({"action": "get", "text": "x"}, "get takes no text"),
    ]
    await refused(work, shown, "clipboard", bad)


# --- what is not there ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["screenshot", "read_screen"])
async def test_without_a_display_it_says_so(work: Path, name: str) -> None:
    played = await play(work, (name, {}), env=env_of(work))
    assert played.status == "failed"
    assert "needs a display and there is none here" in played.text


async def test_a_display_that_is_not_there_is_a_clear_failure(work: Path) -> None:
    env = env_of(work, ":4711")
    for order in (TakeShot(), UseMouse(deed="position"), UseKeys(text="a")):
        with pytest.raises(ToolFailure, match=":4711"):
            await Desk(env).do(order)


@pytest.mark.skipif(os.name == "nt", reason="Wayland is of Linux")
async def test_wayland_is_told_as_it_is(work: Path, shown: str) -> None:
    env = env_of(work, shown) | {"WAYLAND_DISPLAY": "wayland-0"}
    with pytest.raises(ToolFailure, match="Wayland session"):
        await Desk(env).do(UseKeys(text="a"))
    with pytest.raises(ToolFailure, match="Wayland session"):
        await Desk(env | {"PATH": str(work)}).do(TakeShot())


async def test_only_full_permission_uses_the_screen_unasked(work: Path, shown: str) -> None:
    for mode in ("plan", "auto", "edits", "ask"):
        played = await play(
            work, ("mouse", {"action": "move", "x": 5, "y": 5}), env=env_of(work, shown), permission=mode, yes=True
        )
        assert played.status == "refused", mode


def test_a_process_that_dies_is_a_failure_and_no_traceback() -> None:
    with pytest.raises(ToolFailure, match="ended: last words"):
        told_by(b"first\nlast words\n")
    with pytest.raises(ToolFailure, match="it said nothing"):
        told_by(b"")


# --- try_gui ----------------------------------------------------------------------------------------------------------


def running(name: str) -> list[int]:
    return [
        p.pid
        for p in psutil.process_iter(["name", "status"])
        if p.info["name"] == name and p.info["status"] != "zombie"
    ]


async def test_a_graphical_program_is_tried_where_nobody_sees_it(work: Path, shown: str) -> None:
    needed("Xvfb", "xclock")
    before = running("Xvfb"), running("xclock")
    command = "echo started; xclock -geometry 120x120 & sleep 300"
    played = await play(work, ("try_gui", {"command": command, "settle": 0.2}), env=env_of(work, shown))
    assert played.status == "done", played.text
    assert "'xclock' (120x120" in played.text
    assert "It was stopped." in played.text
    assert "started" in played.text
    width, height, at = pixels(picture(played))
    assert (width, height) == (120, 120)
    assert at(2, 2) == (255, 255, 255)
    assert (running("Xvfb"), running("xclock")) == before


@pytest.mark.parametrize("kind", ["bwrap", "landlock"])
async def test_it_is_tried_in_the_sandbox_too(work: Path, kind: SandboxKind) -> None:
    needed("Xvfb", "xclock", *(["bwrap"] if kind == "bwrap" else []))
    if Sandbox(SandboxSettings(kind=kind), Workspace(work, work), env_of(work)).kind != kind:
        pytest.skip(f"{kind} is missing here")
    home = work.parent / "home"
    home.mkdir()
    (home / "config.yaml").write_text(f"sandbox: {{kind: {kind}}}\n")
    outside = work.parent / "outside"
    (work / "tryit").write_text(f"echo x > {outside}; exec xclock -geometry 120x120\n")
    call = ("try_gui", {"command": "sh tryit", "settle": 0.2})
    played = await play(work, call, env=env_of(work), permission="auto")
    assert played.status == "done", played.text
    assert "'xclock' (120x120" in played.text
    assert not outside.exists()


async def test_what_ends_or_shows_nothing_is_told(work: Path) -> None:
    needed("Xvfb")
    env = env_of(work)
    ended = await play(work, ("try_gui", {"command": "echo no display today >&2; exit 3"}), env=env)
    assert ended.status == "failed"
    assert (
        "It ended before a window came.\nIt had ended by itself with code 3.\nOutput:\nno display today" in ended.text
    )
    silent = await play(work, ("try_gui", {"command": "sleep 50", "seconds": 0.3}), env=env)
    assert "No window came in 0.3 s.\nIt was stopped.\nIt said nothing." in silent.text


async def test_a_bad_trial_runs_nothing(work: Path) -> None:
    needed("Xvfb")
    bad: list[dict[str, object]] = [
        {"command": " "},
        {"command": "a\0b"},
        {"command": "true", "seconds": 0},
        {"command": "true", "seconds": 1e9},
        {"command": "true", "settle": -1},
        {"command": "true", "width": 10**9},
        {"command": "true", "cwd": "not/there"},
        {"command": "true", "cwd": "a\0"},
    ]
    await refused(work, "", "try_gui", [(args, "nothing was run") for args in bad])


async def test_without_any_display_the_trial_says_what_brings_one(work: Path) -> None:
    (work / "bin").mkdir()
    env = {"PATH": str(work / "bin"), "HOME": str(work)}
    played = await play(work, ("try_gui", {"command": "xclock"}), env=env)
    assert played.status == "failed"
    assert (
        "try_gui needs Xvfb / a display, none of which is here; nothing was done. It is installed with: " in played.text
    )
