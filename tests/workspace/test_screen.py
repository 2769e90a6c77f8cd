"""Pictures without a library, and the programs that stand in where the libraries of the screen are missing."""

from __future__ import annotations

import struct
import subprocess
from pathlib import Path

import pytest

from gongfu.workspace.screen import hands, shots
from gongfu.workspace.screen.orders import LONGEST_SIDE, Area, ScreenProblem, TakeShot, TryProgram, UseKeys, UseMouse
from gongfu.workspace.screen.png import Pixels, from_bgrx, from_ppm, from_xwd
from gongfu.workspace.screen.trial import try_program
from tests.toolkit.screens import client, display, needed, pixels, until

RED, GREEN, BLUE, GREY = (255, 0, 0), (0, 255, 0), (0, 0, 255), (127, 127, 127)


def painted(width: int, height: int, left: tuple[int, ...], right: tuple[int, ...]) -> Pixels:
    row = bytes(left) * (width // 2) + bytes(right) * (width - width // 2)
    return Pixels(width=width, height=height, rgb=row * height)


def test_a_png_holds_what_was_painted() -> None:
    width, height, at = pixels(painted(5, 3, RED, BLUE).png())
    assert (width, height) == (5, 3)
    assert [at(x, 1) for x in range(5)] == [RED, RED, BLUE, BLUE, BLUE]


@pytest.mark.parametrize(("width", "height"), [(1, 1), (3000, 2), (2, 3000), (1569, 7), (3136, 9), (4000, 300)])
def test_a_smaller_picture_keeps_its_colours_and_proportions(width: int, height: int) -> None:
    small = painted(width, height, RED, BLUE).smaller(LONGEST_SIDE)
    assert max(small.width, small.height) <= LONGEST_SIDE
    assert len(small.rgb) == small.width * small.height * 3
    if width > 10:
        assert tuple(small.rgb[:3]) == RED
        assert tuple(small.rgb[-3:]) == BLUE
        assert abs(width / small.width - max(width, height) / max(small.width, small.height)) < 0.1


def test_thin_lines_stay_visible() -> None:
    white, line = bytes((255,) * 3), bytes(3)
    row = white * 1500 + line + white * 1499
    small = Pixels(width=3000, height=4, rgb=row * 4).smaller(1568)
    assert min(small.rgb) < 200


def test_a_cut_stays_inside() -> None:
    whole = painted(10, 10, RED, BLUE)
    assert whole.cut(4, 0, 2, 1).rgb == bytes(RED + BLUE)
    far = whole.cut(8, 8, 100, 100)
    assert (far.width, far.height, far.rgb) == (2, 2, bytes(BLUE) * 4)


def test_pictures_of_other_programs_are_read() -> None:
    assert from_bgrx(1, 2, b"\0\0\xff\0pad!\xff\0\0\0pad!", 8).rgb == bytes(RED + BLUE)
    assert from_ppm(b"P6\n2 1\n255\n" + bytes(RED + BLUE)).rgb == bytes(RED + BLUE)
    for bad in (b"", b"P5\n1 1\n255\n\0", b"P6\n1"):
        with pytest.raises(ValueError, match="picture"):
            from_ppm(bad)
    for bad in (b"", bytes(50), struct.pack(">25I", *[100, 7, *[1] * 23])):
        with pytest.raises(ValueError, match="screen"):
            from_xwd(bad)


# --- programs that stand in -------------------------------------------------------------------------------------------


@pytest.fixture
def shown(monkeypatch: pytest.MonkeyPatch) -> object:
    with display("800x500x24") as name:
        monkeypatch.setenv("DISPLAY", name)
        monkeypatch.delenv("WAYLAND_DISPLAY", raising=False)
        monkeypatch.delenv("XAUTHORITY", raising=False)
        yield name


@pytest.fixture
def bare(monkeypatch: pytest.MonkeyPatch) -> None:
    """No library of the screen is installed."""
    monkeypatch.setattr(hands, "find_spec", lambda name: None)
    real = shots.import_module

    def missing(name: str) -> object:
        if name == "mss":
            raise ImportError(name)
        return real(name)

    monkeypatch.setattr(shots, "import_module", missing)


def test_xwd_takes_the_picture_without_the_library(tmp_path: Path, shown: str, bare: None) -> None:
    needed("xwd")
    with client(tmp_path, shown):
        told = shots.take(TakeShot(part=Area(left=290, top=190, width=20, height=20)))
    assert told.by == "xwd"
    assert told.picture is not None
    _, _, at = pixels(told.picture.png)
    assert (at(9, 9), at(10, 10)) == ((0, 0, 0), RED)


def test_xdotool_moves_and_types_without_the_library(tmp_path: Path, shown: str, bare: None) -> None:
    needed("xdotool")
    with client(tmp_path, shown) as log:
        told = hands.use_mouse(UseMouse(deed="click", x=350, y=250))
        assert (told.by, told.at) == ("xdotool", (350, 250))
        hands.use_mouse(UseMouse(deed="scroll", wheel=(0, -1)))
        hands.use_mouse(UseMouse(deed="drag", to=(400, 260)))
        hands.use_keys(UseKeys(text="ok 12"))
        hands.use_keys(UseKeys(presses=(("ctrl", "s"),)))
        hands.use_keys(UseKeys(presses=(("a",),), hold=0.01))
        for said in ("button (1, 350, 250)", "button (4,", "released (400, 260)", "'ok 12'", "saved", "'ok 12a'"):
            until(lambda said=said: said in log.read_text("utf-8"))
        with pytest.raises(ScreenProblem, match="lies outside the screen"):
            hands.use_mouse(UseMouse(deed="move", x=900, y=5))


def test_without_any_of_them_it_says_what_to_install(shown: str, bare: None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "/nowhere")
    with pytest.raises(ScreenProblem, match=r"package mss.*pip install 'gongfu\[desktop\]'"):
        shots.take(TakeShot())
    with pytest.raises(ScreenProblem, match=r"package pynput.*pip install 'gongfu\[desktop\]'"):
        hands.use_keys(UseKeys(text="a"))


# --- a program on the person's screen ---------------------------------------------------------------------------------


def test_a_program_tried_on_the_screen_is_told_from_what_was_there(tmp_path: Path, shown: str) -> None:
    needed("xclock", library="mss")
    needed(library="Xlib")
    with client(tmp_path, shown):
        argv = ["xclock", "-geometry", "90x90+500+50"]
        told = try_program(TryProgram(argv=argv, screen=True, seconds=5, settle=0.2))
    assert [w.title for w in told.windows] == ["xclock"]
    assert told.picture is not None
    assert (told.picture.width, told.picture.height) == (90, 90)
    assert told.picture.area.left in (500, 501)
    assert told.code is None


def test_a_trial_ends_what_the_program_started(tmp_path: Path) -> None:
    needed("Xvfb", "xclock")
    script = f"sleep 321 & echo $! > {tmp_path}/child; trap '' TERM; xclock & wait; wait"
    told = try_program(TryProgram(argv=["sh", "-c", script], seconds=5, settle=0.1))
    assert told.picture is not None
    child = int((tmp_path / "child").read_text())
    until(lambda: not _lives(child))


def test_much_output_is_kept_at_both_ends() -> None:
    needed("Xvfb")
    told = try_program(TryProgram(argv=["sh", "-c", "echo first; yes | head -c 3000000; echo last"], seconds=10))
    assert told.output.startswith("first\n")
    assert told.output.endswith("last\n")
    assert len(told.output) < 70_000
    assert told.code == 0


def test_a_program_that_cannot_start_is_told() -> None:
    needed("Xvfb")
    with pytest.raises(ScreenProblem, match="could not be started"):
        try_program(TryProgram(argv=["/not/there"]))


def _lives(pid: int) -> bool:
    done = subprocess.run(["ps", "-o", "stat=", "-p", str(pid)], capture_output=True, text=True, check=False)
    return bool(done.stdout.strip()) and not done.stdout.startswith("Z")
