"""Several files change together, or not at all."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from gongfu.workspace.together import Change, change_together
from gongfu.workspace.writing import StaleFile, digest


def change(path: Path, data: bytes | None, mode: int | None = None) -> Change:
    return Change(path=path, data=data, expect=digest(path.read_bytes()) if path.exists() else "", mode=mode)


def tree(folder: Path) -> dict[str, tuple[bytes, int]]:
    return {
        str(p.relative_to(folder)): (p.read_bytes() if p.is_file() else b"", p.stat().st_mode)
        for p in sorted(folder.rglob("*"))
    }


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    root = tmp_path.resolve() / "work"
    root.mkdir()
    for name in "abc":
        (root / name).write_text(name)
    (root / "a").chmod(0o640)
    return root


def test_all_change_and_nothing_is_left_beside_them(folder: Path) -> None:
    change_together([
        change(folder / "a", b"A"), change(folder / "b", None), change(folder / "x/y/new", b"new", 0o755),
        change(folder / "c", b"C", 0o700),
    ])  # fmt: skip
    found = {name: (raw, mode & 0o777) for name, (raw, mode) in tree(folder).items() if raw}
    assert found == {"a": (b"A", 0o640), "c": (b"C", 0o700), "x/y/new": (b"new", 0o755)}


def test_one_that_is_stale_keeps_all(folder: Path) -> None:
    before = tree(folder)
    stale = Change(path=folder / "c", data=b"C", expect=digest(b"older"))
    there = Change(path=folder / "c", data=b"C", expect="")
    gone = Change(path=folder / "d", data=b"D", expect=digest(b"d"))
    for last in (stale, there, gone):
        with pytest.raises(StaleFile):
            change_together(
                [change(folder / "a", b"A"), change(folder / "x/new", b"n"), change(folder / "b", None), last]
            )
        assert tree(folder) == before


def test_what_fails_at_the_last_step_is_taken_back(folder: Path) -> None:
    """A file that somebody puts there between looking and writing: the changes made before it are undone."""
    before = tree(folder)
    target = folder / "late"

    changes = [change(folder / "a", b"A"), change(folder / "b", None), Change(path=target, data=b"x", expect="")]
    real = os.fsync
    calls = 0

    def fsync(descriptor: int) -> None:
        nonlocal calls
        calls += 1
        real(descriptor)
        if calls == 2:  # both new files are written, none is in its place
            target.write_text("somebody's")

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(os, "fsync", fsync)
        with pytest.raises(StaleFile, match="late exists by now"):
            change_together(changes)
    assert target.read_text() == "somebody's"
    target.unlink()
    assert tree(folder) == before


@pytest.mark.skipif(sys.platform != "linux" or os.geteuid() != 0, reason="mounts a small file system")
def test_a_full_disk_keeps_all(folder: Path) -> None:
    disk = folder / "disk"
    disk.mkdir()
    if subprocess.run(["mount", "-t", "tmpfs", "-o", "size=64k", "tmpfs", disk], check=False).returncode:
        pytest.skip("may not mount here")
    try:
        (disk / "full").write_bytes(b"old")
        before = tree(folder)
        with pytest.raises(OSError, match="No space"):
            change_together([
                change(folder / "a", b"A"), change(folder / "b", None), change(disk / "new", b"n"),
                change(disk / "full", b"x" * 200_000),
            ])  # fmt: skip
        assert tree(folder) == before
    finally:
        subprocess.run(["umount", disk], check=True)
