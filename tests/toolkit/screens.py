"""A display for tests, and programs on it."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import time
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

CLIENT = """
import sys, tkinter
root = tkinter.Tk()
root.title(sys.argv[2])
root.geometry(sys.argv[3])
log = open(sys.argv[1], "w", buffering=1, encoding="utf-8")
box = tkinter.Text(root, bg="#ff0000", bd=0, highlightthickness=0)
box.pack(fill="both", expand=True)
said = {}
def tell(name, value):
    if said.get(name) != value or name != "text":
        said[name] = value
        print(name, repr(value), file=log)
box.bind("<KeyRelease>", lambda e: tell("text", box.get("1.0", "end-1c")))
box.bind("<Control-Key-s>", lambda e: tell("saved", e.keysym))
box.bind("<Button>", lambda e: tell("button", (e.num, e.x_root, e.y_root)))
box.bind("<Double-Button-1>", lambda e: tell("double", (e.x_root, e.y_root)))
box.bind("<B1-Motion>", lambda e: tell("drag", (e.x_root, e.y_root)))
box.bind("<ButtonRelease-1>", lambda e: tell("released", (e.x_root, e.y_root)))
box.bind("<Map>", lambda e: (box.focus_force(), root.after(50, tell, "ready", 1)))
root.mainloop()
"""


def needed(*programs: str, library: str = "") -> None:
    """Skip where a program or library is missing on somebody's machine; fail in CI, which has them all.

    It may lack what depends on how its Python was built (tkinter), and what is too large for it (rapidocr, 364 MB).
    """
    from importlib.util import find_spec

    missing = [p for p in programs if shutil.which(p) is None]
    missing += [library] if library and find_spec(library) is None else []
    if missing and library not in ("tkinter", "rapidocr") and os.environ.get("CI") == "true":
        pytest.fail(f"CI needs {', '.join(missing)}")
    if missing:
        pytest.skip(f"{', '.join(missing)} is missing here")


@contextmanager
def display(size: str = "1000x600x24") -> Iterator[str]:
    """A display that nobody sees; its name."""
    needed("Xvfb")
    ready, told = os.pipe()
    argv = ["Xvfb", "-displayfd", str(told), "-screen", "0", size, "-nolisten", "tcp", "-br", "-noreset"]
    process = subprocess.Popen(
        argv, pass_fds=(told,), stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    os.close(told)
    try:
        number = os.read(ready, 32).decode().strip()
        assert number, "Xvfb did not start"
        yield f":{number}"
    finally:
        process.terminate()
        process.wait(10)
        os.close(ready)


def until(holds: Callable[[], object], seconds: float = 10) -> object:
    """Wait until something holds, and give it back."""
    end = time.monotonic() + seconds
    while not (found := holds()):
        assert time.monotonic() < end, "it did not come in time"
        time.sleep(0.01)
    return found


@contextmanager
def client(folder: Path, shown: str, title: str = "A red window", at: str = "200x100+300+200") -> Iterator[Path]:
    """A red window with a text field that writes what it gets into the file."""
    needed(library="tkinter")
    log = folder / "client.log"
    env = {"DISPLAY": shown, "PATH": os.environ["PATH"], "LC_ALL": "C.UTF-8"}
    process = subprocess.Popen([sys.executable, "-c", CLIENT, str(log), title, at], env=env)
    try:
        until(lambda: log.exists() and "ready" in log.read_text("utf-8"))
        yield log
    finally:
        process.terminate()
        process.wait(10)


def pixels(png: bytes) -> tuple[int, int, Callable[[int, int], tuple[int, ...]]]:
    """Width, height and a function for the colour of a pixel of a PNG with plain rows of three bytes."""
    assert png.startswith(b"\x89PNG\r\n\x1a\n")
    at, data, width, height = 8, b"", 0, 0
    while at < len(png):
        length, kind = int.from_bytes(png[at : at + 4], "big"), png[at + 4 : at + 8]
        body = png[at + 8 : at + 8 + length]
        if kind == b"IHDR":
            width, height = int.from_bytes(body[:4], "big"), int.from_bytes(body[4:8], "big")
            assert body[8:10] == b"\x08\x02"
        data += body if kind == b"IDAT" else b""
        at += 12 + length
    raw = zlib.decompress(data)
    row = width * 3 + 1
    return width, height, lambda x, y: tuple(raw[y * row + 1 + 3 * x : y * row + 4 + 3 * x])


def env_of(folder: Path, shown: str = "") -> dict[str, str]:
    """The environment of a session on that display."""
    env = {"PATH": os.environ["PATH"], "HOME": str(folder)}
    return env | ({"DISPLAY": shown} if shown else {})
