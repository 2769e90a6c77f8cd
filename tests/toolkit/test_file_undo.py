"""What the file tools changed comes back with an undo, to the byte, and goes again with a redo."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from gongfu.models.scripted import Call, Say
from gongfu.toolkit.written import paths_written
from tests.app.cast import Cast, opened, results, run

pytestmark = pytest.mark.anyio

PATCH = """diff --git a/a.txt b/moved.txt
similarity index 50%
rename from a.txt
rename to moved.txt
--- a/a.txt
+++ b/moved.txt
@@ -1,2 +1,2 @@
 alpha
-beta
+BETA
--- a/gone.txt
+++ /dev/null
@@ -1 +0,0 @@
-gone
--- /dev/null
+++ b/new/n.txt
@@ -0,0 +1 @@
+new
"""
CALLS: list[tuple[str, dict[str, Any]]] = [
    ("delete_file", {"paths": ["a.txt", "d", "link"]}),
    ("delete_file", {"paths": ["build"]}),
    ("move_file", {"source": "d", "target": "e/f"}),
    ("move_file", {"source": "build", "target": "plain"}),
    ("move_file", {"source": "a.txt", "target": "gone.txt", "overwrite": True}),
    ("copy_file", {"source": "d", "target": "copy"}),
    ("copy_file", {"source": "d", "target": "build/copy"}),
    ("apply_patch", {"patch": PATCH}),
    (
        "multi_file_edit",
        {
            "files": [
                {"path": "a.txt", "edits": [{"old": "alpha", "new": "A"}]},
                {"path": "build/out.bin", "edits": [{"old": "made", "new": "MADE"}]},
            ]
        },
    ),
    ("edit_lines", {"path": "a.txt", "edits": [{"action": "delete", "line": 1, "expect": "alpha"}]}),
    ("append_file", {"path": "a.txt", "text": "more"}),
    ("write_chunk", {"path": "a.txt", "part": 1, "data": "x", "finish": True, "overwrite": True}),
]


def workplace(tmp_path: Path) -> Path:
    work = tmp_path / "work"
    for folder in (".git/objects", "d/empty", "build"):
        (work / folder).mkdir(parents=True)
    (work / ".git/HEAD").write_text("ref: refs/heads/main\n")
    (work / ".gitignore").write_text("build/\n")
    (work / "a.txt").write_bytes(b"alpha\r\nbeta\r\n")
    (work / "gone.txt").write_text("gone\n")
    (work / "d/run.sh").write_text("true\n")
    (work / "d/run.sh").chmod(0o750)
    (work / "build/out.bin").write_text("made\n")
    (work / "link").symlink_to("d/run.sh")
    return work


def tree(work: Path) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for path in sorted(work.rglob("*")):
        name = str(path.relative_to(work))
        if not name.startswith(".git/"):
            what: Any = str(path.readlink()) if path.is_symlink() else path.read_bytes() if path.is_file() else None
            found[name] = (what, path.lstat().st_mode if not path.is_symlink() else 0)
    return found


@pytest.mark.parametrize(("tool", "arguments"), CALLS, ids=[f"{name}-{at}" for at, (name, _) in enumerate(CALLS)])
async def test_it_comes_back(tmp_path: Path, tool: str, arguments: dict[str, Any]) -> None:
    work = workplace(tmp_path)
    before = tree(work)
    cast = Cast([Call("use_tool", {"name": tool, "arguments": arguments}), Say("Done.")])
    async with opened(work, cast, permission="full") as app:
        turn = await run(app)
        (result,) = results(cast.asked[""][-1])
        assert result.status == "done", result.text
        after = tree(work)
        assert after != before
        given = await app.undo(turn.session.id)
        assert given.done
        assert tree(work) == before
        await app.redo(turn.session.id)
        assert tree(work) == after


@pytest.mark.parametrize(
    ("tool", "arguments", "paths"),
    [
        ("delete_file", {"paths": ["a", "b"]}, ["a", "b"]),
        ("move_file", {"source": "a", "target": "b"}, ["a", "b"]),
        ("copy_file", {"source": "a", "target": "b"}, ["b"]),
        ("multi_file_edit", {"files": [{"path": "a", "edits": []}, 3]}, ["a"]),
        ("apply_patch", {"patch": PATCH}, ["a.txt", "moved.txt", "gone.txt", "new/n.txt"]),
        ("apply_patch", {"patch": "nothing"}, []),
        ("apply_patch", {}, []),
        ("edit_file", {"path": "a"}, ["a"]),
        ("read_file", {"path": "a"}, []),
    ],
)
def test_what_a_call_was_to_write(tool: str, arguments: dict[str, Any], paths: list[str]) -> None:
    assert paths_written(tool, arguments) == paths
