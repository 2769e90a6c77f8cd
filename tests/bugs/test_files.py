"""Public bug rows 40-43 and 46: files are changed byte for byte, never blindly, and secrets need consent on every path.

Each through the real agent loop: a scripted model calls the tools of a session.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

import gongfu
from gongfu.core.errors import ToolFailure
from gongfu.core.events import Event, ToolFinished, TurnFinished
from gongfu.core.messages import ResultPart
from gongfu.models.scripted import SCRIPTED, Call, Say, Scripted
from gongfu.toolkit.edit import edit_tools
from gongfu.toolkit.files import file_tools
from gongfu.toolkit.readlog import ReadLog
from gongfu.workspace.root import Workspace
from tests.toolkit.kit import Ctx

pytestmark = pytest.mark.anyio


async def session(root: Path, *calls: Call, permission: str = "edits") -> list[ResultPart]:
    """Let a scripted model make `calls` one after the other; their results. Questions are answered no.

    Without a `permission` everything inside the workspace runs, as with --yes.
    """
    root.mkdir(exist_ok=True)
    model = Scripted([*calls, Say("Done.")])
    events: list[Event] = []
    env = {"PATH": os.environ["PATH"], "HOME": str(root.parent)}
    async with gongfu.open(
        root, home=root.parent / "g", env=env, model=SCRIPTED.ref, permission=permission, yes=not permission,
        answers="no", providers={SCRIPTED.ref: model},
    ) as app:  # fmt: skip
        one = await app.session()
        await one.prompt("Go")
        async with one.stream.subscribe(after=0) as entries:
            async for entry in entries:
                events.append(entry.event)
                if isinstance(entry.event, TurnFinished):
                    break
    return [e.result for e in events if isinstance(e, ToolFinished)]


def read(path: str, **more: object) -> Call:
    return Call("read_file", {"path": path, **more})


def edit(path: str, old: str, new: str, **more: object) -> Call:
    return Call("edit_file", {"path": path, "old": old, "new": new, **more})


def write(path: str, content: str) -> Call:
    return Call("write_file", {"path": path, "content": content})


# --- 40: line ends ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("raw", "old", "new", "now"),
    [
        (b"a\r\nb\r\nc\r\n", "a\nb\n", "a\nB\nx\n", b"a\r\nB\r\nx\r\nc\r\n"),
        (b"a\r\nb\nc\r\nd\n", "b\nc\n", "b\nC\n", b"a\r\nb\nC\r\nd\n"),
        (b"a\nb\r\nc\n", "b", "b\nx", b"a\nb\nx\r\nc\n"),
        (b"a\nb\r\nc\n", "b\nc", "b\nx\nc", b"a\nb\r\nx\r\nc\n"),
        (b"a\rb\rc\r", "b\n", "b\nx\n", b"a\rb\rx\rc\r"),
        (b"a\nb\n", "a\r\nb", "a\r\nc", b"a\nc\n"),
        (b"a\r\n\r\n\n\r\nz", "\n\nz", "\nz", None),
    ],
)
async def test_40_only_the_span_changes(tmp_path: Path, raw: bytes, old: str, new: str, now: bytes | None) -> None:
    path = tmp_path / "w" / "f"
    path.parent.mkdir()
    path.write_bytes(raw)
    (result,) = await session(tmp_path / "w", edit("f", old, new))
    if now is None:
        assert path.read_bytes().startswith(b"a\r\n\r\n")
        assert path.read_bytes().endswith(b"z")
    else:
        assert result.status == "done", result.text
        assert path.read_bytes() == now


async def test_40_a_whole_new_text_keeps_the_line_ends(tmp_path: Path) -> None:
    path = tmp_path / "w" / "f"
    path.parent.mkdir()
    path.write_bytes(b"a\r\nb\r\n")
    results = await session(path.parent, read("f"), write("f", "x\ny\nz\n"))
    assert [r.status for r in results] == ["done", "done"]
    assert path.read_bytes() == b"x\r\ny\r\nz\r\n"


# --- 41: encodings ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("encoding", "text", "old", "new"),
    [
        ("utf-8-sig", "名称 = 1\n值 = 2\n", "名称 = 1", "名称 = 3"),
        ("gbk", "# 配置文件：名称\nname = 1\n", "配置文件", "设置文件"),
        ("gb18030", "# 你好，世界😀\nname = 1\n", "name = 1", "name = 2  # 完成"),
        ("big5", "# 設定檔，資料庫\nname = 1\n", "設定檔", "設定"),
        ("latin-1", "# café à la carte, élève\nx = 1\n", "x = 1", "x = 'é'"),
        ("utf-16", "名称 = 1\r\nb\r\n", "名称 = 1\nb", "名称 = 2\nb"),
        ("utf-16-be", "name = one\nvalue = two\n", "one", "três"),
    ],
)
async def test_41_bytes_outside_the_span_are_identical(
    tmp_path: Path, encoding: str, text: str, old: str, new: str
) -> None:
    path = tmp_path / "w" / "f"
    path.parent.mkdir()
    raw = text.encode(encoding)
    path.write_bytes(raw)
    shown, result = await session(path.parent, read("f"), edit("f", old, new))
    assert old.partition("\n")[0] in shown.text
    assert result.status == "done", result.text
    codec = {"utf-8-sig": "utf-8", "utf-16": "utf-16-le"}.get(encoding, encoding)
    wanted = old.replace("\n", "\r\n") if "\r\n" in text else old
    instead = new.replace("\n", "\r\n") if "\r\n" in text else new
    assert path.read_bytes() == raw.replace(wanted.encode(codec), instead.encode(codec))


@pytest.mark.parametrize(("encoding", "text", "bad"), [("gbk", "# 配置文件\n", "😀"), ("latin-1", "é\n", "中")])
async def test_41_what_the_encoding_cannot_hold_is_refused(tmp_path: Path, encoding: str, text: str, bad: str) -> None:
    path = tmp_path / "w" / "f"
    path.parent.mkdir()
    raw = text.encode(encoding)
    path.write_bytes(raw)
    _, edited, written = await session(
        path.parent, read("f"), edit("f", text.strip(), bad), write("f", f"{bad}\n")
    )  # fmt: skip
    for result in (edited, written):
        assert result.status == "failed"
        assert f"cannot hold {bad}" in result.text
    assert path.read_bytes() == raw


# --- 42: white space and typography -------------------------------------------------------------------------------


async def test_42_a_unique_match_but_for_white_space_takes_the_files_indent(tmp_path: Path) -> None:
    path = tmp_path / "w" / "f.py"
    path.parent.mkdir()
    path.write_text("def f(x):\n\tif x:\n\t\treturn “a”\n\treturn 2\n", encoding="utf-8")
    (result,) = await session(
        path.parent,
        edit("f.py", '    if x:\n        return "a"\n', '    if x:\n        log(x)\n        return "a"\n'),
    )
    assert result.status == "done", result.text
    assert path.read_text(encoding="utf-8") == "def f(x):\n\tif x:\n\t\tlog(x)\n\t\treturn “a”\n\treturn 2\n"


async def test_42_no_match_shows_the_nearest_lines_and_changes_nothing(tmp_path: Path) -> None:
    path = tmp_path / "w" / "f.py"
    path.parent.mkdir()
    raw = b"def f(x):\n\treturn one(x) \n"
    path.write_bytes(raw)
    missing, twice = await session(
        path.parent, edit("f.py", "    return two(x)", "    return 3"), edit("f.py", "x", "y")
    )  # fmt: skip
    assert missing.status == "failed"
    assert "2|→return one(x)·" in missing.text
    assert "2 times in f.py, at lines 1, 2" in twice.text
    assert path.read_bytes() == raw


# --- 43: stale files and full disks -------------------------------------------------------------------------------


@pytest.mark.parametrize("call", [edit("f", "A", "A2"), write("f", "A2\n")])
async def test_43_a_file_changed_by_someone_else_is_not_written(tmp_path: Path, call: Call) -> None:
    path = tmp_path / "w" / "f"
    path.parent.mkdir()
    path.write_bytes(b"A\nthe text of A\n")
    other = Call("shell", {"command": "printf 'A\\nthe text of B\\n' > f"})
    _, _, refused, _, done = await session(path.parent, read("f"), other, call, read("f"), call, permission="full")
    assert refused.status == "failed"
    assert "f was changed by someone else since you last read or wrote it; nothing was written." in refused.text
    assert done.status == "done"  # after it was read again
    assert path.read_bytes().startswith(b"A2\n")


async def test_43_two_sessions_on_one_file(tmp_path: Path) -> None:
    """B is a whole session of its own, which reads and writes between A's read and A's write."""
    path = tmp_path / "w" / "f"
    path.parent.mkdir()
    path.write_bytes(b"1\n")
    workspace = Workspace(path.parent, path.parent)
    a, b = (
        {t.spec.name: t for t in (*file_tools(workspace, reads), *edit_tools(workspace, reads))}
        for reads in (ReadLog(), ReadLog())
    )
    context = Ctx()
    await a["read_file"].run({"path": "f"}, context)
    await b["read_file"].run({"path": "f"}, context)
    await b["write_file"].run({"path": "f", "content": "of B\n"}, context)
    for tool, args in (("write_file", {"content": "of A\n"}), ("edit_file", {"old": "of B", "new": "of A"})):
        with pytest.raises(ToolFailure, match="changed by someone else"):
            await a[tool].run({"path": "f", **args}, context)
    assert path.read_bytes() == b"of B\n"
    await a["read_file"].run({"path": "f"}, context)
    await a["edit_file"].run({"path": "f", "old": "of B", "new": "of A"}, context)
    assert path.read_bytes() == b"of A\n"


@pytest.mark.skipif(
    sys.platform != "linux" or os.geteuid() != 0, reason="mounts a small tmpfs, for which it needs root"
)
async def test_43_a_full_disk_leaves_the_old_file(tmp_path: Path) -> None:
    disk = tmp_path / "w"
    disk.mkdir()
    if subprocess.run(["mount", "-t", "tmpfs", "-o", "size=32k", "tmpfs", disk], check=False).returncode:
        pytest.skip("may not mount here")
    try:
        (disk / "f").write_bytes(b"old\n" * 500)
        big = "new line of text\n" * 2_500
        _, written, edited = await session(
            disk, read("f"), write("f", big), edit("f", "old\n", "a line of text\n" * 10, all=True)
        )
        for result in (written, edited):
            assert result.status == "failed"
            assert "the disk is full; f was left as it was" in result.text
        assert (disk / "f").read_bytes() == b"old\n" * 500
        assert [p.name for p in disk.iterdir()] == ["f"]
    finally:
        subprocess.run(["umount", disk], check=True)


# --- 46: secrets, links, ignore files -----------------------------------------------------------------------------

SECRET = "TOKEN=hunter2"


def _secrets(root: Path) -> None:
    root.mkdir()
    (root / ".env").write_text(f"{SECRET}\n")
    (root / "alias").symlink_to(".env")
    outside = root.parent / "outside"
    outside.mkdir()
    (outside / "notes").write_text(f"{SECRET}\n")
    (root / "out").symlink_to(outside)
    (root / "file_out").symlink_to(outside / "notes")


@pytest.mark.parametrize(
    "call",
    [
        read(".env"),
        read("./alias"),
        read("out/notes"),
        read("file_out"),
        read("out/../outside/notes"),
        Call("search_text", {"pattern": "TOKEN", "path": ".env"}),
        Call("search_text", {"pattern": "TOKEN", "path": "out"}),
        Call("search_text", {"pattern": "TOKEN", "glob": ".*"}),
        Call("search_text", {"pattern": "TOKEN"}),
        Call("shell", {"command": "cat .env"}),
        Call("shell", {"command": "cat .e*v"}),
        Call("shell", {"command": "cat alias"}),
        Call("shell", {"command": "x=.env; cat $x"}),
        Call("shell", {"command": "bash -c 'cat .env'"}),
        Call("shell", {"command": "python3 -c \"print(open('.env').read())\""}),
        Call("shell", {"command": "grep -r TOKEN ."}),
        edit(".env", "TOKEN", "X"),
        edit(".env", "TOKEN = hunter", "X"),
        edit("alias", "nothing of it", "X"),
        edit("file_out", "TOKEN = hunter", "X"),
        write(".env", "X"),
    ],
    ids=lambda call: str(call.arguments),
)
async def test_46_secrets_and_what_lies_outside_need_consent(tmp_path: Path, call: Call) -> None:
    root = tmp_path / "w"
    _secrets(root)
    (result,) = await session(root, call, permission="")
    assert "hunter2" not in result.text
    assert (root / ".env").read_text() == f"{SECRET}\n"


@pytest.mark.parametrize(
    "call",
    [
        write("out/new", "x"),
        write("file_out", "x"),
        write("../x", "x"),
        edit("file_out", "TOKEN", "X"),
        write(".git/hooks/pre-commit", "x"),
        write(".bashrc", "x"),
        write(".gongfu/config.yaml", "x"),
    ],
    ids=lambda call: str(call.arguments),
)
async def test_46_nothing_is_written_outside_or_where_it_would_run(tmp_path: Path, call: Call) -> None:
    root = tmp_path / "w"
    _secrets(root)
    (root / ".git").mkdir()
    before = sorted(p.relative_to(tmp_path) for p in tmp_path.rglob("*") if "g" not in p.parts[-1:])
    (result,) = await session(root, call, permission="")
    assert result.status == "refused", result.text
    assert (root.parent / "outside" / "notes").read_text() == f"{SECRET}\n"
    after = sorted(p.relative_to(tmp_path) for p in (root, root.parent / "outside") for p in p.rglob("*"))
    assert set(after) <= set(before)


async def test_46_nested_ignore_files_and_a_swapped_link(tmp_path: Path) -> None:
    root = tmp_path / "w"
    _secrets(root)
    (root / "a" / "b").mkdir(parents=True)
    (root / ".gitignore").write_text("*.log\n!keep.log\n")
    (root / "a" / ".gitignore").write_text("keep.log\n/b/x.txt\n")
    for name in ("x.log", "keep.log", "a/keep.log", "a/b/x.txt", "a/b/y.txt"):
        (root / name).write_text("needle\n")
    found, files = await session(
        root,
        Call("search_text", {"pattern": "needle", "show": "files"}),
        Call("find_files", {"pattern": "*.{log,txt}"}),
    )
    assert found.text.split("\n")[:2] == ["a/b/y.txt", "keep.log"]
    assert files.text.split("\n")[:2] == ["a/b/y.txt", "keep.log"]


async def test_every_file_tool_through_the_loop(tmp_path: Path) -> None:
    root = tmp_path / "w"
    results = await session(
        root,
        write("src/a.py", "x = 1\n"),
        Call("list_files", {}),
        Call("find_files", {"pattern": "*.py"}),
        Call("search_text", {"pattern": "x ="}),
        read("src/a.py"),
        edit("src/a.py", "x = 1", "x = 2"),
        write("src/a.py", "x = 3\n"),
    )
    assert [r.status for r in results] == ["done"] * 7, [r.text for r in results]
    assert (root / "src" / "a.py").read_text() == "x = 3\n"
