"""A kill in the middle of an undo or a redo: nothing is lost, and doing it again ends where it was to end."""

from __future__ import annotations

import os
import random
import time
from contextlib import suppress
from pathlib import Path

import pytest

from gongfu.models.scripted import Call, Say
from tests.app.undoing import picture

from .conftest import Program, program, serve  # noqa: F401 - fixtures

COMMAND = (
    "for f in d*/f*; do case $f in *3) rm $f;; *5) mv $f $f.moved;; *7) rm $f; mkdir $f; echo in > $f/in;;"
    " *) echo new$f > $f;; esac; done; mkdir fresh; for i in $(seq 40); do echo $i > fresh/$i; done; chmod 700 d1"
)


def furnish(root: Path, chance: random.Random) -> None:
    for number in range(150):
        path = root / f"d{number % 7}/f{number}"
        path.parent.mkdir(exist_ok=True)
        path.write_text(f"old {number}\n" * chance.randint(1, 500))


def state(path: Path) -> object:
    try:
        return path.read_bytes()
    except OSError as error:
        return error.errno


def kill_midway(program: Program, what: str, watched: Path) -> None:  # noqa: F811
    """Start it and kill it as soon as `watched` changes, if it is not over by then."""
    first = state(watched)
    run = program.start(what, "--yes")
    while run.poll() is None and state(watched) == first:
        time.sleep(0.0005)
    with suppress(ProcessLookupError):
        os.killpg(run.pid, 9)
    run.communicate()


def play(program: Program, serve, seed: int) -> None:  # noqa: F811
    root, chance = program.folder, random.Random(seed)
    furnish(root, chance)
    before = picture(root)
    serve(Call("shell", {"command": COMMAND}), Say("Done."))
    assert program.run("run", "--permission", "full", "Change a lot.").code == 0
    after = picture(root)
    changed = sorted(name for name in {*before, *after} if before.get(name) != after.get(name))
    for what, goal in (("undo", before), ("redo", after), ("undo", before)):
        for _ in range(2):
            kill_midway(program, what, root / chance.choice(changed))
            for name, found in picture(root).items():
                if found[0] == "file" and not Path(name).name.startswith(".gongfu-"):
                    assert found in (before.get(name), after.get(name)), name
        ended = program.call(what, "--yes")  # it may be done already: then there is nothing more to do
        assert picture(root) == goal, ended


def test_it_is_done_to_the_end_when_it_is_done_again(program: Program, serve) -> None:  # noqa: F811
    play(program, serve, 1)


@pytest.mark.soak
@pytest.mark.parametrize("seed", range(2, 42))
def test_many_kills(program: Program, serve, seed: int) -> None:  # noqa: F811
    play(program, serve, seed)


def test_what_a_person_changed_after_the_kill_is_left(program: Program, serve) -> None:  # noqa: F811
    root = program.folder
    furnish(root, random.Random(0))
    before = picture(root)
    serve(Call("shell", {"command": COMMAND}), Say("Done."))
    assert program.run("run", "--permission", "full", "Change a lot.").code == 0
    kill_midway(program, "undo", root / "d3/f80")
    for name in ("d1/f1", "d6/f146"):
        (root / name).write_text("mine")
    assert program.call("undo", "--yes").code == 0
    left = picture(root)
    assert {name for name in {*before, *left} if before.get(name) != left.get(name)} == {"d1/f1", "d6/f146"}
    assert left["d1/f1"][2] == left["d6/f146"][2] == b"mine"
    program.call("redo", "--yes")
    again = picture(root)
    assert again["d1/f1"][2] == again["d6/f146"][2] == b"mine"
    assert again["d2/f2"][2] == b"newd2/f2\n"
