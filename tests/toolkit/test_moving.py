"""move_file, copy_file and delete_file: what is kept, what is refused, and how things come back."""

from __future__ import annotations

import os
import re
import sys
from pathlib import Path
from typing import Any

import pytest

from gongfu.core.errors import ToolFailure
from gongfu.toolkit.edit import edit_tools
from gongfu.toolkit.moving import MoveTools
from gongfu.toolkit.readlog import ReadLog
from gongfu.tools.protocol import Facts
from gongfu.workspace.files import digest
from gongfu.workspace.root import Workspace
from gongfu.workspace.trash import put_in_trash
from tests.app.cast import workplace
from tests.toolkit.kit import Ctx, Workbench
from tests.toolkit.loop import play

pytestmark = pytest.mark.anyio


class Bench(Workbench):
    """`kept` is what the tools are told of undo; there is a trash in the home folder when `trash`."""

    def __init__(self, folder: Path, *, kept: bool = True, trash: bool = False) -> None:
        self.root = (folder / "work").resolve()
        self.root.mkdir(exist_ok=True)
        self.home = folder / "home"
        self.trash = self.home / ".local/share/Trash"
        if trash:
            self.trash.mkdir(parents=True)
        self.reads = ReadLog()
        self.workspace = Workspace(self.root, self.root)
        tools = MoveTools(self.workspace, self.reads, env={"HOME": str(self.home)}, kept=lambda: kept)
        self.tools = {t.spec.name: t for t in (tools.move_file, tools.copy_file, tools.delete_file)}

    async def facts(self, name: str, **args: Any) -> Facts:
        return await self.tools[name].facts(args)

    def tree(self, folder: Path | None = None) -> dict[str, Any]:
        top = folder or self.root
        found: dict[str, Any] = {}
        for path in sorted(top.rglob("*")):
            status = path.lstat()
            what: Any = str(path.readlink()) if path.is_symlink() else path.read_bytes() if path.is_file() else None
            found[str(path.relative_to(top))] = (what, status.st_mode)
        return found

    def put(self, name: str, text: str = "text\n") -> Path:
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        return path


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    return Bench(tmp_path)


# --- move_file and copy_file ---------------------------------------------------------------------------------------


async def test_move_and_copy_through_the_loop(tmp_path: Path) -> None:
    work = workplace(tmp_path)
    played = await play(
        work,
        ("read_file", {"path": "a.txt"}),
        ("move_file", {"source": "a.txt", "target": "new/c.txt"}),
        ("write_file", {"path": "new/c.txt", "content": "gamma\n"}),
        ("copy_file", {"source": "new", "target": "copy"}),
        ("move_file", {"source": "b.txt", "target": "copy"}),
    )
    assert [r.text for r in played.results] == [
        "1|alpha", "Moved a.txt → new/c.txt (1 file, 6 bytes).", "Wrote new/c.txt (+1 -1).",
        "Copied new → copy (1 file, 1 folder, 6 bytes).", "Moved b.txt → copy/b.txt (1 file, 5 bytes).",
    ]  # fmt: skip
    assert sorted(p.name for p in (work / "copy").iterdir()) == ["b.txt", "c.txt"]
    assert not (work / "a.txt").exists()
    assert (work / "new/c.txt").read_text() == "gamma\n"


async def test_what_the_model_knows_goes_with_the_file(bench: Bench) -> None:
    path = bench.put("d/a.txt", "one\n")
    bench.reads.saw(path, digest(path.read_bytes()), 0, 1, 1, 1)
    await bench.call("move_file", source="d", target="e")
    moved = bench.root / "e/a.txt"
    assert bench.reads.seen(path) is None
    seen = bench.reads.seen(moved)
    assert seen is not None
    assert seen.whole
    (edit,) = edit_tools(bench.workspace, bench.reads)
    await edit.run({"path": "e/a.txt", "old": "one", "new": "two"}, Ctx())
    await bench.call("copy_file", source="e", target="f")
    assert bench.reads.seen(bench.root / "f/a.txt") == bench.reads.seen(moved)
    bench.reads.forget(path)  # the call that read it left the context
    assert bench.reads.seen(moved) is None


async def test_modes_times_and_links_are_kept(bench: Bench) -> None:
    bench.put("d/run.sh").chmod(0o750)
    os.utime(bench.root / "d/run.sh", ns=(10**18, 10**18))
    (bench.root / "d/link").symlink_to("run.sh")
    (bench.root / "d/dead").symlink_to("nowhere")
    (bench.root / "d/empty").mkdir(mode=0o700)
    before = bench.tree(bench.root / "d")
    await bench.call("copy_file", source="d", target="e")
    await bench.call("move_file", source="d", target="f")
    assert bench.tree(bench.root / "e") == bench.tree(bench.root / "f") == before
    assert (bench.root / "e/run.sh").stat().st_mtime_ns == (bench.root / "f/run.sh").stat().st_mtime_ns == 10**18
    await bench.call("move_file", source="f/link", target="moved")
    assert (bench.root / "moved").readlink() == Path("run.sh")
    assert (bench.root / "f/run.sh").exists()


async def test_nothing_is_written_over_by_accident(bench: Bench) -> None:
    bench.put("a", "A")
    b = bench.put("b", "B")
    for tool in ("move_file", "copy_file"):
        said = await bench.fails(tool, source="a", target="b")
        assert "b exists already; nothing was changed" in said
    bench.reads.saw(b, digest(b"older"), 0, 1, 1, 1)
    assert "changed by someone else" in await bench.fails("copy_file", source="a", target="b", overwrite=True)
    bench.reads.forget(b)
    await bench.call("copy_file", source="a", target="b", overwrite=True)
    assert b.read_text() == "A"
    bench.put("d/x")
    bench.put("e/d/y")
    assert "exists already" in await bench.fails("move_file", source="d", target="e")
    await bench.call("move_file", source="d", target="e", overwrite=True)
    assert sorted(bench.tree(bench.root / "e")) == ["d", "d/x"]
    bench.put("f/a/z")
    assert "is a folder and is not replaced by a" in await bench.fails(
        "move_file", source="a", target="f", overwrite=True
    )


@pytest.mark.parametrize(
    ("source", "target", "words"),
    [
        ("nothing", "x", "nothing does not exist"),
        ("a", "a", "are both a"),
        ("a", "./b/../a", "are both a"),
        ("d", "d/e/f", "cannot go into itself"),
        ("d", "d", "are both d"),
        (".", "../elsewhere", "is not moved: the workspace or the home folder"),
        ("a", "a/b", "a part of the path is a file"),
        ("", "x", "the path is empty"),
        ("a", "\0", "NUL"),
        ("a", "\ud800", "lone surrogate"),
        ("a", "x" * 300, "longer than 255 bytes"),
    ],
)
async def test_moves_that_make_no_sense(bench: Bench, source: str, target: str, words: str) -> None:
    bench.put("a")
    bench.put("d/file")
    assert words in await bench.fails("move_file", source=source, target=target)


async def test_a_change_of_case_alone(bench: Bench) -> None:
    bench.put("readme")
    await bench.call("move_file", source="readme", target="README")
    assert [p.name for p in bench.root.iterdir()] == ["README"]
    await bench.call("move_file", source="README", target="new/sub/")
    assert (bench.root / "new/sub/README").exists()


@pytest.mark.skipif(not Path("/dev/shm").is_dir(), reason="needs a second file system")
async def test_to_another_file_system(bench: Bench, request: pytest.FixtureRequest) -> None:
    other = Path(f"/dev/shm/gongfu-test-{os.getpid()}")
    other.mkdir()
    request.addfinalizer(lambda: __import__("shutil").rmtree(other))
    if other.stat().st_dev == bench.root.stat().st_dev:
        pytest.skip("/dev/shm is no other file system here")
    bench.put("d/a").chmod(0o640)
    (bench.root / "d/l").symlink_to("a")
    before = bench.tree(bench.root / "d")
    await bench.call("move_file", source="d", target=str(other / "d"))
    assert bench.tree(other / "d") == before
    assert bench.tree() == {}
    os.mkfifo(other / "d/pipe")
    said = await bench.fails("move_file", source=str(other / "d"), target="back")
    assert "is a device, a pipe or a socket" in said
    assert sorted(p.name for p in (other / "d").iterdir()) == ["a", "l", "pipe"]


@pytest.mark.skipif(sys.platform != "linux" or os.geteuid() != 0, reason="mounts a small file system")
async def test_a_full_disk_leaves_nothing(bench: Bench, tmp_path: Path) -> None:
    disk = tmp_path / "disk"
    disk.mkdir()
    if os.system(f"mount -t tmpfs -o size=64k tmpfs {disk}"):
        pytest.skip("nothing may be mounted here")
    try:
        bench.put("big/file", "x" * 200_000)
        assert "the disk is full" in await bench.fails("move_file", source="big", target=str(disk / "sub/big"))
        assert [p.name for p in disk.iterdir()] == []
    finally:
        os.system(f"umount {disk}")


async def test_a_link_that_is_turned_between_the_look_and_the_move(bench: Bench, tmp_path: Path) -> None:
    bench.put("a")
    bench.put("d/x")
    link = bench.root / "in"
    for target in ("in", "in/b"):
        link.symlink_to("d")
        await bench.facts("move_file", source="a", target=target)
        link.unlink()
        link.symlink_to(tmp_path)
        with pytest.raises(ToolFailure, match="leads elsewhere than when the call was checked"):
            await bench.tools["move_file"].run({"source": "a", "target": target}, Ctx())
        link.unlink()
    assert (bench.root / "a").exists()


async def test_secrets_and_places_are_named_for_the_policy(bench: Bench) -> None:
    bench.put("d/.env", "KEY=1")
    bench.put("d/x/.git/config")
    moved = await bench.facts("move_file", source="d", target="e")
    root = str(bench.root)
    assert set(moved.writes) == {f"{root}/d", f"{root}/d/.env", f"{root}/d/x/.git", f"{root}/e"}
    copied = await bench.facts("copy_file", source="d", target="e")
    assert f"{root}/d/.env" in copied.paths
    assert set(copied.writes) == {f"{root}/e"}
    assert {f"{root}/e", f"{root}/e/.env", f"{root}/e/x"} <= set(copied.below)
    assert not any(path.startswith(f"{root}/d") for path in copied.below)
    assert f"{root}/d/.env" in moved.below
    deleted = await bench.facts("delete_file", paths=["d"])
    assert deleted.preview["items"][0].startswith("- d/ (")
    assert f"{root}/d/.env" in deleted.writes


# --- delete_file ---------------------------------------------------------------------------------------------------


async def test_deleting_through_the_loop_and_undo(tmp_path: Path) -> None:
    work = workplace(tmp_path)
    (work / "d/sub").mkdir(parents=True)
    (work / "d/sub/x.sh").write_text("true\n")
    (work / "d/sub/x.sh").chmod(0o755)
    played = await play(work, ("delete_file", {"paths": ["a.txt", "d"]}), permission="edits")
    assert played.text == "Deleted a.txt, d (2 files, 2 folders, 11 bytes); `gongfu undo` brings back all."
    assert sorted(p.name for p in work.iterdir()) == [".git", "b.txt"]


async def test_into_the_trash(tmp_path: Path) -> None:
    bench = Bench(tmp_path, trash=True)
    bench.put("名 a.txt")
    bench.put("d/x/y")
    done = await bench.call("delete_file", paths=["名 a.txt", "d"])
    assert (
        done.text == "Deleted 名 a.txt, d (2 files, 2 folders, 10 bytes); in the trash; `gongfu undo` brings back all."
    )
    assert bench.tree() == {}
    assert (bench.trash / "files/d/x/y").read_text() == "text\n"
    note = (bench.trash / "info/名 a.txt.trashinfo").read_text()
    path = re.escape(f"{bench.root}/%E5%90%8D%20a.txt")
    assert re.fullmatch(rf"\[Trash Info\]\nPath={path}\nDeletionDate=\d{{4}}-\d\d-\d\dT\d\d:\d\d:\d\d\n", note)
    bench.put("d/again")
    await bench.call("delete_file", paths=["d"])
    assert (bench.trash / "files/d.2/again").exists()
    assert (bench.trash / "info/d.2.trashinfo").exists()


async def test_a_desktop_has_a_trash_and_so_has_another_disk(tmp_path: Path, request: pytest.FixtureRequest) -> None:
    home = tmp_path / "home"
    one = tmp_path / "one"
    one.write_text("1")
    assert put_in_trash(one, {"HOME": str(home)}) == ""
    assert one.exists()
    assert (
        put_in_trash(one, {"HOME": str(home), "XDG_CURRENT_DESKTOP": "GNOME"}) == f"{home}/.local/share/Trash/files/one"
    )
    assert (home / ".local/share/Trash").stat().st_mode & 0o777 == 0o700
    other = Path("/dev/shm")
    if not other.is_dir() or other.stat().st_dev == tmp_path.stat().st_dev:
        pytest.skip("there is no second file system")
    there = other / f"gongfu test {os.getpid()}"
    there.write_text("2")
    place = put_in_trash(there, {"HOME": str(home)})
    request.addfinalizer(lambda: [path.unlink(missing_ok=True) for path in (Path(place), note, there)])
    assert place == f"/dev/shm/.Trash-{os.getuid()}/files/{there.name}"
    note = Path(f"/dev/shm/.Trash-{os.getuid()}/info/{there.name}.trashinfo")
    assert f"Path=gongfu%20test%20{os.getpid()}\n" in note.read_text()


async def test_without_trash_and_undo_it_takes_a_word_more(tmp_path: Path) -> None:
    bench = Bench(tmp_path, kept=False)
    bench.put("a")
    said = await bench.fails("delete_file", paths=["a"])
    assert "there is no trash here, and an undo would not bring it back. forever=true" in said
    facts = await bench.facts("delete_file", paths=["a"], forever=True)
    assert "execute" in facts.access
    assert facts.command == f"rm -rf -- {bench.root}/a"
    done = await bench.call("delete_file", paths=["a"], forever=True)
    assert done.text == "Deleted a (1 file, 5 bytes); for good: a."
    assert bench.tree() == {}


async def test_links_are_deleted_not_what_they_lead_to(bench: Bench) -> None:
    target = bench.put("d/a")
    (bench.root / "link").symlink_to("d")
    (bench.root / "dead").symlink_to("nowhere")
    await bench.call("delete_file", paths=["link", "dead"])
    assert target.exists()
    assert [p.name for p in bench.root.iterdir()] == ["d"]


@pytest.mark.parametrize(
    ("paths", "words"),
    [
        ([], "there is nothing to delete"),
        (["."], "is not deleted: the workspace or the home folder"),
        (["/"], "is not deleted"),
        (["~"], "is not deleted"),
        ([".."], "is not deleted"),
        (["a", "b"], "b does not exist"),
        (["a"] * 501, "at most 500 paths"),
        (["\0"], "NUL"),
        ([""], "the path is empty"),
    ],
)
async def test_what_is_never_deleted(bench: Bench, paths: list[str], words: str) -> None:
    bench.put("a")
    assert words in await bench.fails("delete_file", paths=paths)


async def test_a_large_file_is_not_deleted_on_the_word_of_undo(bench: Bench) -> None:
    with bench.put("big").open("wb") as file:
        file.truncate(11 * 1024 * 1024)
    assert "an undo would not bring it back" in await bench.fails("delete_file", paths=["big"])
